import { isBotError } from "../../core/errors.ts";
import type { PlatformFinding as Finding, Vault } from "../adapter.ts";
import { type Api, createApi } from "./api.ts";
import { appOf, appOfToken, checkApp, identify } from "./identity.ts";
import { INSTALLATION } from "./errors.ts";
import { createInstallations } from "./installations.ts";
import { createPeople } from "./people.ts";
import type { EventSource } from "./receiver.ts";
import { INSTALL_PATH, SCOPES } from "./scopes.ts";
import type { SlackOptions } from "./workspaces.ts";

export interface ExamineOptions extends Omit<SlackOptions, "ackMs"> {
  vault: Vault | undefined;
  /** The way by which events come where there is no app token. */
  source(): EventSource;
}

/** What Slack says of the tokens, for `doctor`. @throws BotError what `Api.ask` throws */
export async function examine(options: ExamineOptions): Promise<Finding[]> {
  const { botToken, appToken, apiUrl, log, source } = options;
  const found: Finding[] = [];
  let ofBot: string | undefined;
  if (botToken !== undefined) {
    const api = createApi({ apiUrl, log, token: botToken, variable: "SLACK_BOT_TOKEN" });
    const { workspace, findings } = await examineBot(api);
    found.push(...findings);
    ofBot = await appOf(api, workspace);
  }
  if (appToken === undefined) {
    found.push({ ok: true, text: source().describe() });
  } else {
    const appApi = createApi({ apiUrl, log, token: appToken, variable: "SLACK_APP_TOKEN" });
    found.push(await examineSocket(appApi, ofBot));
  }
  return [...found, ...(await examineInstalled(options))];
}

/** Why the bot can say nothing in the channel. @throws BotError what `Api.ask` throws */
export async function examineChannel(
  options: Omit<ExamineOptions, "source">,
  named: string,
): Promise<string | undefined> {
  const [, team = "", id = ""] = named.split(":");
  for (const api of await apisFor(options, team)) {
    const { workspace } = await identify(api);
    if (workspace.team !== team) continue;
    if (await createPeople(api, workspace).isHere(id)) return undefined;
    return `Slack: the bot isn't in ${named}. Invite it there.`;
  }
  return `Slack: ${named} is in no workspace that is served.`;
}

/** The tokens that may be the workspace's. */
async function apisFor(options: Omit<ExamineOptions, "source">, team: string): Promise<Api[]> {
  const { botToken, install, vault, apiUrl, log } = options;
  const apis: Api[] = [];
  if (botToken !== undefined)
    apis.push(createApi({ apiUrl, log, token: botToken, variable: "SLACK_BOT_TOKEN" }));
  if (install === undefined || vault === undefined) return apis;
  const installations = createInstallations({ ...options, ...install, vault, apiUrl });
  if (!(await installations.all()).some((each) => each.team === team)) return apis;
  const token = () => installations.tokenOf(team);
  return [...apis, createApi({ apiUrl, log, token, variable: INSTALLATION })];
}

async function examineBot(api: Api) {
  const { workspace, scopes } = await identify(api);
  const who = `Slack: @${workspace.botName} in the workspace ${workspace.name} (${workspace.team}, ${workspace.url}).`;
  return { workspace, findings: [{ ok: true, text: who }, examineScopes(scopes)] };
}

/** Each workspace that installed the app, or may and did not. */
async function examineInstalled(options: ExamineOptions): Promise<Finding[]> {
  const { install, vault, apiUrl, log } = options;
  if (install === undefined || vault === undefined) return [];
  const installations = createInstallations({ ...options, ...install, vault, apiUrl });
  const all = await installations.all();
  const found = await Promise.all(
    all.map(async ({ team, name }): Promise<Finding[]> => {
      const isServed = install.workspaces.includes(team);
      if (!isServed) {
        const text = `Slack: ${name} (${team}) has the app installed and isn't in SLACK_WORKSPACES, so it isn't served.`;
        return [{ ok: true, weak: true, text }];
      }
      try {
        const token = () => installations.tokenOf(team);
        const api = createApi({ apiUrl, log, token, variable: INSTALLATION });
        return (await examineBot(api)).findings;
      } catch (error) {
        if (!isBotError(error)) throw error;
        return [{ ok: false, text: `Slack, ${name} (${team}): ${error.message}` }];
      }
    }),
  );
  const missing = install.workspaces.filter((id) => !all.some(({ team }) => team === id));
  const text = `Slack: not installed yet in ${missing.join(", ")}; its administrator opens https://<your host>${INSTALL_PATH}.`;
  return [
    ...found.flat(),
    ...(missing.length === 0 ? [] : [{ ok: true, weak: true as const, text }]),
  ];
}

function examineScopes(scopes: readonly string[] | undefined): Finding {
  const missing = SCOPES.filter((scope) => scopes?.includes(scope) === false);
  if (missing.length === 0) return { ok: true, text: "Slack: the bot token has every scope." };
  const text = `Slack: the bot token lacks ${missing.join(", ")}; add it under "OAuth & Permissions" and reinstall the app.`;
  return { ok: false, text };
}

/** Whether the app token opens Socket Mode, and is of the bot's app. */
async function examineSocket(api: Api, ofBot: string | undefined): Promise<Finding> {
  try {
    await api.ask("apps.connections.open", (client) => client.apps.connections.open({}));
    checkApp(await appOfToken(api), ofBot);
    return { ok: true, text: "Slack: the app token opens Socket Mode." };
  } catch (error) {
    if (!isBotError(error)) throw error;
    return { ok: false, text: error.message };
  }
}
