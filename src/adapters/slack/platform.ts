import * as z from "zod";
import { baseUrl, fromEnv, fromYaml, secretText } from "../../core/settings.ts";
import { definePlatform } from "../platform.ts";

const INSTALLING = ["SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET", "SLACK_WORKSPACES"];

const workspaceList = z
  .string()
  .transform((text) => [...new Set(text.split(",").map((id) => id.trim()))])
  .refine(
    (ids) => ids.every((id) => /^T[A-Z0-9]+$/.test(id)),
    "expected the ids of workspaces with commas between, such as T0123,T0456",
  );

/** Slack: turned on by its bot's token, or by what workspaces install it with. */
export const slack = definePlatform({
  name: "slack",
  title: "Slack",
  settings: z.object({
    botToken: fromEnv(
      "SLACK_BOT_TOKEN",
      secretText(/^xoxb-[\w-]+$/, "the bot's token, which begins with xoxb-").optional(),
      "The bot's token, `xoxb-…`; turns Slack on. Set one of the next two with it. See [Slack](slack.md).",
    ),
    appToken: fromEnv(
      "SLACK_APP_TOKEN",
      secretText(/^xapp-[\w-]+$/, "the app-level token, which begins with xapp-").optional(),
      "The app-level token, `xapp-…`: events arrive through Socket Mode, and no address has to be reachable from outside.",
    ),
    signingSecret: fromEnv(
      "SLACK_SIGNING_SECRET",
      secretText(
        /^[!-~]{8,}$/,
        "the signing secret from the app's Basic Information, without spaces",
      ).optional(),
      "Without `SLACK_APP_TOKEN`: events arrive over HTTP at `/slack/events`, signed with this secret.",
    ),
    clientId: fromEnv(
      "SLACK_CLIENT_ID",
      secretText(/^[\d.]+$/, "the app's Client ID, digits with a dot").optional(),
      "The app's Client ID: workspaces install the app by themselves at `/slack/install`. With the next two. See [several workspaces](slack.md#several-workspaces).",
    ),
    clientSecret: fromEnv(
      "SLACK_CLIENT_SECRET",
      secretText(/^[!-~]{8,}$/, "the app's Client Secret, without spaces").optional(),
      "The app's Client Secret, from its Basic Information.",
    ),
    workspaces: fromEnv(
      "SLACK_WORKSPACES",
      workspaceList.optional(),
      "Ids of the workspaces that may install it, separated by commas, such as `T0123,T0456`. Any other is refused.",
    ),
    apiUrl: fromEnv(
      "SLACK_API_URL",
      // The SDK puts method names right behind it.
      baseUrl.transform((url) => url.replace(/\/*$/, "/")).optional(),
      "The API's address, if not Slack's own.",
    ),
    bots: fromYaml(
      "slack.bots",
      z
        .array(
          z
            .string()
            .regex(
              /^[ABUW][A-Z0-9]+$/,
              "expected the id of an app or bot, such as A0ALERT or B0ALERT",
            ),
        )
        .optional(),
      "Ids of Slack apps (`A…`) and bots (`B…`, a webhook has one too, or `U…`) whose alerts are looked into in their own threads, and whose other messages start an investigation that only reads. See [Alert bots](slack.md#alert-bots).",
      { unset: "none" },
    ),
  }),
  check(isSet): Record<string, string> {
    const takesEvents = isSet("SLACK_APP_TOKEN") || isSet("SLACK_SIGNING_SECRET");
    const isInstalled = INSTALLING.some(isSet);
    const missing = isInstalled ? INSTALLING.filter((name) => !isSet(name)) : [];
    const together = `missing; ${INSTALLING.join(", ")} go together`;
    const problems = new Map(missing.map((name) => [name, together]));
    const isServed = isSet("SLACK_BOT_TOKEN") || isInstalled;
    if (takesEvents && !isServed)
      problems.set(
        "SLACK_BOT_TOKEN",
        "missing; with the other SLACK_ variables it is needed, or SLACK_CLIENT_ID",
      );
    if (!takesEvents && isServed) {
      const by = isSet("SLACK_BOT_TOKEN") ? "SLACK_BOT_TOKEN needs" : "SLACK_CLIENT_ID needs";
      const text = `missing; ${by} it (Socket Mode) or SLACK_SIGNING_SECRET (HTTP)`;
      problems.set("SLACK_APP_TOKEN", text);
    }
    return Object.fromEntries(problems);
  },
  names: {
    account: { shown: "slack:<team>:<user>", pattern: /^slack:[TE][A-Z0-9]*:[UW][A-Z0-9]*$/ },
    group: { shown: "slack:group:<id>", pattern: /^slack:group:[A-Z0-9]+$/ },
    channels: [
      { shown: "slack:<team>:<channel>", pattern: /^slack:[TE][A-Z0-9]*:[A-Z0-9]+$/ },
      { shown: "slack:<team>", pattern: /^slack:[TE][A-Z0-9]*$/ },
    ],
  },
  serves: ({ botToken, clientId }) => botToken !== undefined || clientId !== undefined,
  async setUp() {
    const { manifestLink } = await import("./manifest.ts");
    return `to create the app with everything filled in, open ${await manifestLink()}`;
  },
  async create({ clientId, clientSecret = "", workspaces = [], ...settings }, log) {
    const { createSlack } = await import("./adapter.ts");
    const install = clientId === undefined ? undefined : { clientId, clientSecret, workspaces };
    return createSlack({ ...settings, install, log });
  },
});
