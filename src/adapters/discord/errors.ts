import { DiscordAPIError, HTTPError, RateLimitError, RESTJSONErrorCodes as Code } from "discord.js";
import { BotError, isBotError, messageOf, type Refused } from "../../core/errors.ts";
import { commandLine } from "../../core/installation.ts";
import { rootOf } from "../shared/fetch.ts";

const INVITE = `\`${commandLine("doctor")}\` prints the invite link with every permission that is needed`;

/**
 * Discord's codes that mean "not like this", and what to do. A code that is missing here is shown in Discord's own words.
 * From https://discord.com/developers/docs/topics/opcodes-and-status-codes#json
 */
const REFUSALS: Readonly<Partial<Record<number, string>>> = {
  [Code.UnknownChannel]: "the channel or thread is gone.",
  [Code.UnknownGuild]: `the bot is not in this server; ${INVITE}.`,
  [Code.UnknownMember]: "the person is not in this server.",
  [Code.UnknownMessage]: "the message is gone.",
  [Code.UnknownUser]: "there is no such account.",
  [Code.UnknownInteraction]: "more than 3 s had passed; try again.",
  [Code.UnknownWebhook]: "too much time had passed since the click.",
  [Code.MissingAccess]: `the bot can't see this channel; let it view the channel (${INVITE}).`,
  [Code.MissingPermissions]: `the bot lacks a permission here; ${INVITE}.`,
  [Code.CannotSendMessagesToThisUser]: "the person takes no direct messages from the bot.",
  [Code.CannotExecuteActionOnThisChannelType]: "this kind of channel has no threads.",
  [Code.InvalidWebhookToken]: "more than 15 min had passed since the click.",
  [Code.InvalidFormBodyOrContentType]: "Discord does not accept this form of message.",
  [Code.CannotSendAMessageInAForumChannel]: "a forum takes posts only; write in one of its posts.",
  [Code.CannotExecuteActionOnSystemMessage]: "this is one of Discord's own messages.",
  [Code.MaximumNumberOfApplicationCommandsReached]:
    "the application has as many commands as it may; delete some of the others.",
  [Code.MaximumDailyApplicationCommandCreatesReached]:
    "the application's commands were made too often today (200 times); start again tomorrow.",
  [Code.ThreadAlreadyCreatedForMessage]: "the message has a thread already.",
  [Code.ThreadLocked]: "the thread is locked; a moderator can unlock it.",
  [Code.InvalidActionOnArchivedThread]:
    "the thread is archived and can't be reopened; unarchive it.",
  [Code.MaximumActiveThreads]: "the server has as many active threads as it may; close some.",
  [Code.InteractionHasAlreadyBeenAcknowledged]: "the click was already answered.",
};

const BAD_TOKEN =
  "the token in DISCORD_TOKEN is not valid; copy it again from the application's page (Bot, Reset Token) at discord.com/developers/applications.";

/** Codes for limits that come without a time, each with how long to wait, in ms. */
const LIMITS: Readonly<Partial<Record<number, number>>> = {
  // Edits of messages older than an hour; no number is documented.
  [Code.MaximumNumberOfEditsToMessagesOlderThanOneHourReached]: 60_000,
  [Code.ActionCannotBePerformedDueToSlowmodeRateLimit]: 10_000,
  [Code.ChannelWriteRateLimit]: 10_000,
  [Code.APIResourceOverloaded]: 10_000,
};

/** Codes that the same message, or the same place, gets every time. */
const FOR_GOOD: Readonly<Partial<Record<number, Refused>>> = {
  [Code.InvalidFormBodyOrContentType]: "content",
  [Code.CannotSendAnEmptyMessage]: "content",
  [Code.RequestEntityTooLarge]: "content",
  [Code.UnknownChannel]: "place",
  [Code.MissingAccess]: "place",
  [Code.MissingPermissions]: "place",
  [Code.CannotExecuteActionOnThisChannelType]: "place",
  [Code.CannotSendMessagesInNonTextChannel]: "place",
  [Code.CannotSendAMessageInAForumChannel]: "place",
  [Code.InvalidActionOnArchivedThread]: "place",
  [Code.ThreadLocked]: "place",
};

/**
 * A refused request is left alone for so long: it needs a person. 10 000 refusals in ten minutes get the whole address banned
 * (discord.com/developers/docs/topics/rate-limits, "Invalid Request Limit").
 */
export const REFUSED_MS = 60_000;

/**
 * Turns a failed request into an error. Only the caller knows whether to repeat it: one that got no answer
 * may still have taken effect.
 */
export function platformError(error: unknown, what: string): BotError {
  if (error instanceof BotError) return error;
  const cause = { cause: error };
  const limited = (retryAfterMs: number) =>
    new BotError("PLATFORM_RATE_LIMITED", `Discord asks to wait before ${what}.`, {
      ...cause,
      retryAfterMs,
    });
  const away = (why: string) =>
    new BotError("PLATFORM_UNREACHABLE", `Discord did not answer ${what}: ${why}.`, cause);
  if (error instanceof RateLimitError) {
    return limited(Math.ceil(Math.max(error.retryAfter, error.timeToReset)));
  }
  if (error instanceof HTTPError) return away(`HTTP ${error.status}`);
  if (error instanceof DiscordAPIError) {
    const { code, status } = error;
    const waitMs = LIMITS[Number(code)];
    if (waitMs !== undefined) return limited(waitMs);
    const words = status === 401 && code === 0 ? BAD_TOKEN : REFUSALS[Number(code)];
    const text = `Discord refused ${what} (${code}): ${words ?? `${error.message.split("\n")[0]}.`}`;
    const refused = FOR_GOOD[Number(code)];
    return new BotError("PLATFORM_REFUSED", text, { ...cause, retryAfterMs: REFUSED_MS, refused });
  }
  const isLate = error instanceof Error && /^(?:Abort|Timeout)Error$/.test(error.name);
  return away(isLate ? "it took too long" : messageOf(rootOf(error)));
}

/** True for an error that means that Discord is away. It answers 500 to a message that it cannot read, too. */
export function isSilence(error: unknown): boolean {
  if (!isBotError(error, "PLATFORM_UNREACHABLE")) return false;
  return !(error.cause instanceof HTTPError && error.cause.status === 500);
}

/** True when Discord refused or limited it with one of these codes of its own. */
export function isCode(error: unknown, ...codes: number[]): boolean {
  if (!(error instanceof BotError) || !(error.cause instanceof DiscordAPIError)) return false;
  return codes.includes(Number(error.cause.code));
}
