import type { People } from "../../../core/people.ts";
import type { ThreadPeople } from "../../../approvals/eligibility.ts";
import { BotError, isBotError, messageOf } from "../../../core/errors.ts";
import { waitFor } from "../../../core/time-limit.ts";
import { askedWaitMs } from "../../../core/retry-wait.ts";
import type { ThreadContext } from "../parts.ts";
import { channelsOf, peopleAround, viewerFor } from "../places.ts";
import type { Viewer } from "../../../core/viewer.ts";

const LOOK_UP_MS = 10_000;

/** For look-ups that only their time limit ends. */
export const NEVER_ABORTED = new AbortController().signal;

/**
 * The people of the thread, who decide in it. Each look-up ends within `lookUpMs` (10 s), or with `signal`.
 * Its look-ups throw BotError PEOPLE_UNAVAILABLE: that is neither yes nor no.
 */
export function peopleOf(ctx: ThreadContext, signal: AbortSignal): ThreadPeople {
  const { key, parts } = ctx;
  const limited = <T>(look: () => Promise<T>) => lookUp(ctx, signal, look);
  const people = peopleAround(ctx);
  const limitedPeople: People = {
    membership: (account, place) => limited(() => people.membership(account, place)),
    members: (group) => limited(() => people.members(group)),
    everyone: (place) => limited(() => people.everyone(place)),
    timezone: (account) => limited(() => people.timezone(account)),
  };
  return { key, people: limitedPeople, personOf: parts.personOf };
}

/** The thread's channels (`Adapter.channel`), its own first. @throws BotError PEOPLE_UNAVAILABLE */
export function channelsIn(ctx: ThreadContext, signal: AbortSignal): Promise<string[]> {
  return lookUp(ctx, signal, () => channelsOf(ctx));
}

/** Who reads along, and whose public things an account is shown there. @throws BotError PEOPLE_UNAVAILABLE */
export function viewerIn(
  ctx: ThreadContext,
  account: string,
  signal: AbortSignal,
): Promise<Viewer> {
  return lookUp(ctx, signal, () => viewerFor(ctx, account));
}

async function lookUp<T>(
  { parts: { lookUpMs = LOOK_UP_MS } }: ThreadContext,
  signal: AbortSignal,
  look: () => Promise<T>,
): Promise<T> {
  try {
    return await waitFor(lookUpMs, signal, look);
  } catch (error) {
    throw failureOf(error);
  }
}

function failureOf(error: unknown): BotError {
  const retryAfterMs = askedWaitMs(error);
  const text = `The platform could not say who someone is: ${messageOf(error)}`;
  return new BotError("PEOPLE_UNAVAILABLE", text, { cause: error, retryAfterMs });
}

/** True where asking again may help. */
export function isLookUpFailure(error: unknown): error is BotError {
  return isBotError(error, "PEOPLE_UNAVAILABLE");
}

/** True where the platform will refuse until somebody changes the bot's rights or settings. */
export function isForGood({ cause }: BotError): boolean {
  return isBotError(cause, "PLATFORM_REFUSED");
}
