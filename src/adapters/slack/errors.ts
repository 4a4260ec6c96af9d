import { webApi } from "@slack/bolt";
import { BotError, isBotError, messageOf, type Refused } from "../../core/errors.ts";
import { rootOf } from "../shared/fetch.ts";
import { INSTALL_PATH } from "./scopes.ts";

/** What a refusal of Slack's means and what to do about it. `token` names the variable that the token comes from. */
type Meaning = string | ((token: string, needed: string) => string);

const IN_THE_APP = "in the app's settings at api.slack.com/apps";
/** In the place of a variable's name: the token of a workspace that installed the app by itself. */
export const INSTALLATION = "this workspace's installation";
const reinstall = (token: string) =>
  token === INSTALLATION
    ? `install it again at ${INSTALL_PATH}`
    : `reinstall the app (${IN_THE_APP}, "Install App") and put the new token into ${token}`;
const COMPARE_CLIENT =
  'compare SLACK_CLIENT_ID and SLACK_CLIENT_SECRET with "Basic Information" in the app\'s settings.';
const INVITE = "Invite the bot: /invite @Watchkeeper in the channel.";

/**
 * Slack's error codes that mean "not like this", in words, where the words say more than the code: every other
 * code is shown as it is. From the "Errors" of each method at docs.slack.dev/reference/methods.
 */
const REFUSALS: Readonly<Record<string, Meaning>> = {
  not_authed: (token) => `no token was sent; set ${token}.`,
  invalid_auth: (token) => `the token in ${token} is not valid; copy it again from the app's page.`,
  account_inactive: (token) =>
    `the token in ${token} belongs to a bot that was removed; ${reinstall(token)}.`,
  token_revoked: (token) => `the token in ${token} was revoked; ${reinstall(token)}.`,
  token_expired: (token) => `the token in ${token} has expired; ${reinstall(token)}.`,
  not_allowed_token_type: (token) =>
    `the token in ${token} is of the wrong kind; SLACK_BOT_TOKEN begins with xoxb-, SLACK_APP_TOKEN with xapp-.`,
  missing_scope: (token, needed) =>
    `the token in ${token} lacks the scope ${needed}; add it under "OAuth & Permissions", then ${reinstall(token)}.`,
  no_permission: (token) =>
    `the token in ${token} isn't allowed to do this; compare slack-manifest.yaml.`,
  team_access_not_granted: "the app is not approved for this workspace; ask its administrators.",
  thread_not_found: "the first message of the thread is gone.",
  msg_blocks_too_long: "the message is too long.",
  access_denied: "the workspace's administrators do not allow it.",
  ekm_access_denied: "the workspace's administrators have suspended access to messages.",
  not_in_channel: `the bot is not in this channel. ${INVITE}`,
  channel_not_found: `this channel does not exist, or it is private and the bot is not in it. ${INVITE}`,
  is_archived: "the channel is archived; unarchive it to go on here.",
  restricted_action: "a setting of the workspace or channel does not let the bot post here.",
  restricted_action_read_only_channel: "only some people may post in this channel; let the bot.",
  restricted_action_non_threadable_channel: "this channel has no threads; ask elsewhere.",
  messages_tab_disabled: `direct messages are turned off ("App Home", ${IN_THE_APP}).`,
  expired_trigger_id: "more than 3 s had passed since the click; press again.",
  exchanged_trigger_id: "the click was already answered; press again.",
  invalid_code: "the code of this installation was used already, or is older than ten minutes.",
  bad_redirect_uri: "the app's settings need the address of this page as their first Redirect URL.",
  invalid_client_id: COMPARE_CLIENT,
  bad_client_secret: COMPARE_CLIENT,
  invalid_refresh_token: `this workspace's tokens can't be renewed any more; install it again at ${INSTALL_PATH}.`,
  unknown_method: "this server does not know the method; check SLACK_API_URL.",
  method_deprecated: "Slack no longer offers this method; update Watchkeeper.",
};

/** Codes for Slack's own trouble: the same request may come through later. */
const TROUBLE: ReadonlySet<string> = new Set([
  "internal_error",
  "fatal_error",
  "service_unavailable",
  "request_timeout",
  "team_added_to_org",
]);

/** Codes that the same message, or the same place, gets every time. What is missing here may be mended in the app's settings. */
const FOR_GOOD: Readonly<Record<string, Refused>> = {
  invalid_blocks: "content",
  invalid_blocks_format: "content",
  msg_blocks_too_long: "content",
  msg_too_long: "content",
  no_text: "content",
  channel_not_found: "place",
  is_archived: "place",
  not_in_channel: "place",
  restricted_action: "place",
  restricted_action_read_only_channel: "place",
  restricted_action_thread_only_channel: "place",
  restricted_action_thread_locked: "place",
  restricted_action_non_threadable_channel: "place",
  thread_not_found: "place",
};

/** A refused request is left alone for so long: it needs a person, such as one who invites the bot or unarchives a channel. */
export const REFUSED_MS = 60_000;

const LIMITED: ReadonlySet<string> = new Set(["ratelimited", "rate_limited"]);

/**
 * Turns a failed request into an error. Only the caller knows whether to repeat it: one that got no answer
 * may still have taken effect.
 */
export function platformError(error: unknown, method: string, token: string): BotError {
  if (error instanceof BotError) return error;
  const cause = { cause: error };
  const refused = (text: string, forGood?: Refused) =>
    new BotError("PLATFORM_REFUSED", text, {
      ...cause,
      retryAfterMs: REFUSED_MS,
      refused: forGood,
    });
  const away = (why: string) =>
    new BotError("PLATFORM_UNREACHABLE", `Slack did not answer ${method}: ${why}.`, cause);
  if (error instanceof webApi.WebAPIRateLimitedError) {
    return limited(method, { ...cause, retryAfterMs: error.retryAfter * 1_000 });
  }
  if (error instanceof webApi.WebAPIHTTPError) {
    const { statusCode } = error;
    if (statusCode >= 500 || statusCode === 408) return away(`HTTP ${statusCode}`);
    return refused(`Slack refused ${method}: HTTP ${statusCode}; look at SLACK_API_URL.`);
  }
  if (error instanceof webApi.WebAPIPlatformError) {
    const { error: code } = error.data;
    if (LIMITED.has(code)) return limited(method, cause);
    // Not a code but a page, such as a proxy's.
    if (!/^[a-z0-9_]{1,100}$/.test(code)) return away("its answer was no JSON");
    if (TROUBLE.has(code)) return away(code);
    const forGood = Object.hasOwn(FOR_GOOD, code) ? FOR_GOOD[code] : undefined;
    return refused(refusalText(code, error.data, method, token), forGood);
  }
  // The library throws a plain Error for a 429 that does not say how long to wait.
  if (error instanceof Error && error.message.startsWith("Retry header")) {
    return limited(method, cause);
  }
  const root = rootOf(error, (each) =>
    each instanceof webApi.WebAPIRequestError ? each.original : each.cause,
  );
  return away(messageOf(root));
}

function limited(method: string, options: ErrorOptions & { retryAfterMs?: number }): BotError {
  return new BotError("PLATFORM_RATE_LIMITED", `Slack asks to wait before ${method}.`, options);
}

function refusalText(
  code: string,
  data: webApi.WebAPICallResult,
  method: string,
  token: string,
): string {
  const meaning = Object.hasOwn(REFUSALS, code) ? REFUSALS[code] : undefined;
  const needed = "needed" in data ? String(data["needed"]) : "that this needs";
  const words = typeof meaning === "function" ? meaning(token, needed) : meaning;
  if (words === undefined) return `Slack refused ${method} (${code}).`;
  // People read it too, where a thread can't be shown: what to do comes first.
  return `${words.charAt(0).toUpperCase()}${words.slice(1)} (Slack refused ${method}: ${code})`;
}

/** True for an error that means that Slack is away, and not that it does not like this one request. */
export function isSilence(error: unknown): boolean {
  if (!isBotError(error, "PLATFORM_UNREACHABLE")) return false;
  const { cause } = error;
  if (cause instanceof webApi.WebAPIHTTPError) return cause.statusCode !== 500;
  return !(cause instanceof webApi.WebAPIPlatformError);
}

/** Slack's own code of an error that `platformError` made, such as `message_not_found`. */
export function refusalCode(error: unknown): string | undefined {
  if (!(error instanceof BotError)) return undefined;
  return error.cause instanceof webApi.WebAPIPlatformError ? error.cause.data.error : undefined;
}
