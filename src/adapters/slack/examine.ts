import type { Logger } from "pino";
import { isBotError } from "../../core/errors.ts";
import type { PlatformFinding as Finding } from "../adapter.ts";
import { type Api, createApi } from "./api.ts";
import { appOf, appOfToken, checkApp, identify } from "./identity.ts";
import type { EventSource } from "./receiver.ts";

/** Scopes of the bot token, all of which slack-manifest.yaml asks for; docs/slack.md says what each is for. */
const SCOPES = [
  "app_mentions:read",
  "channels:history",
  "channels:read",
  "chat:write",
  "commands",
  "files:read",
  "files:write",
  "groups:history",
  "groups:read",
  "im:history",
  "im:read",
  "mpim:history",
  "mpim:read",
  "reactions:write",
  "usergroups:read",
  "users:read",
];

export interface ExamineOptions {
  appToken?: string | undefined;
  apiUrl?: string | undefined;
  log: Logger;
  /** The way by which events come where there is no app token. */
  source(): EventSource;
}

/** What Slack says of the tokens, for `doctor`. @throws BotError what `Api.ask` throws */
export async function examine(
  api: Api,
  { appToken, apiUrl, log, source }: ExamineOptions,
): Promise<Finding[]> {
  const { workspace, scopes } = await identify(api);
  const who = `Slack: @${workspace.botName} in the workspace ${workspace.name} (${workspace.team}, ${workspace.url}).`;
  const found = [{ ok: true, text: who }, examineScopes(scopes)];
  if (appToken === undefined) return [...found, { ok: true, text: source().describe() }];
  const appApi = createApi({ apiUrl, log, token: appToken, variable: "SLACK_APP_TOKEN" });
  return [...found, await examineSocket(appApi, await appOf(api, workspace))];
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
