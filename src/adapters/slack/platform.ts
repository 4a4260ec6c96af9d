import * as z from "zod";
import { baseUrl, fromEnv, fromYaml, secretText } from "../../core/settings.ts";
import { definePlatform } from "../platform.ts";

/** Slack: turned on by its bot's token. */
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
      "Ids of Slack apps (`A…`) and bots (`B…`, a webhook has one too, or `U…`) whose messages start an investigation that only reads. See [Alerts that start an investigation](slack.md#alerts-that-start-an-investigation).",
      { unset: "none" },
    ),
  }),
  check(isSet): Record<string, string> {
    const takesEvents = isSet("SLACK_APP_TOKEN") || isSet("SLACK_SIGNING_SECRET");
    if (isSet("SLACK_BOT_TOKEN") === takesEvents) return {};
    if (takesEvents)
      return { SLACK_BOT_TOKEN: "missing; with the other SLACK_ variables it is needed" };
    const text = "missing; SLACK_BOT_TOKEN needs it (Socket Mode) or SLACK_SIGNING_SECRET (HTTP)";
    return { SLACK_APP_TOKEN: text };
  },
  later: {
    SLACK_CLIENT_ID: "installing it in several Slack workspaces",
    SLACK_CLIENT_SECRET: "installing it in several Slack workspaces",
  },
  names: {
    account: { shown: "slack:<team>:<user>", pattern: /^slack:[TE][A-Z0-9]*:[UW][A-Z0-9]*$/ },
    group: { shown: "slack:group:<id>", pattern: /^slack:group:[A-Z0-9]+$/ },
    channels: [
      { shown: "slack:<team>:<channel>", pattern: /^slack:[TE][A-Z0-9]*:[A-Z0-9]+$/ },
      { shown: "slack:<team>", pattern: /^slack:[TE][A-Z0-9]*$/ },
    ],
  },
  serves: ({ botToken }) => botToken !== undefined,
  async setUp() {
    const { manifestLink } = await import("./manifest.ts");
    return `to create the app with everything filled in, open ${await manifestLink()}`;
  },
  async create({ botToken = "", ...settings }, log) {
    const { createSlack } = await import("./adapter.ts");
    return createSlack({ ...settings, botToken, log });
  },
});
