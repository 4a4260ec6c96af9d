import { BotError, isBotError } from "../../core/errors.ts";
import type { Api } from "./api.ts";
import type { Workspace } from "./place.ts";

/** The app whose bot it is; undefined where Slack does not say. @throws BotError PLATFORM_UNREACHABLE, PLATFORM_RATE_LIMITED */
export async function appOf(api: Api, { botId: bot }: Workspace): Promise<string | undefined> {
  return unlessRefused(async () => {
    const found = await api.ask("bots.info", (client) => client.bots.info({ bot }));
    return found.bot?.app_id;
  });
}

/** The app that an app-level token is of; as `appOf`. */
export async function appOfToken(api: Api): Promise<string | undefined> {
  return unlessRefused(async () => {
    const found = await api.ask("auth.test", (client) => client.auth.test());
    return found.app_id;
  });
}

async function unlessRefused<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (isBotError(error, "PLATFORM_REFUSED")) return undefined;
    throw error;
  }
}

/** @throws BotError PLATFORM_REFUSED when the two tokens belong to different apps */
export function checkApp(ofSocket: string | undefined, ofBot: string | undefined): void {
  if (ofSocket === undefined || ofBot === undefined || ofSocket === ofBot) return;
  const text = `SLACK_APP_TOKEN is of the app ${ofSocket}, SLACK_BOT_TOKEN of ${ofBot}; copy both from one app.`;
  throw new BotError("PLATFORM_REFUSED", text);
}

/** Who the token belongs to, and what it may do; scopes are undefined where the server does not say. */
export async function identify(
  api: Api,
): Promise<{ workspace: Workspace; scopes: readonly string[] | undefined }> {
  const found = await api.ask("auth.test", (client) => client.auth.test());
  const { team_id, team, url, user_id, user, bot_id, response_metadata } = found;
  if (team_id === undefined || url === undefined || user_id === undefined || bot_id === undefined) {
    throw new BotError(
      "PLATFORM_REFUSED",
      "SLACK_BOT_TOKEN is not the token of a bot in a workspace; it begins with xoxb-.",
    );
  }
  const workspace = {
    team: team_id,
    name: team ?? team_id,
    url,
    botUser: user_id,
    botId: bot_id,
    botName: user ?? user_id,
  };
  return { workspace, scopes: response_metadata?.scopes };
}
