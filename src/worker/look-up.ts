import type { People } from "../adapters/adapter.ts";
import type { Place } from "../approvals/eligibility.ts";
import { BotError, isBotError, messageOf } from "../core/errors.ts";
import { within } from "../tools/time-limit.ts";
import type { Drive } from "./drive.ts";

const LOOK_UP_MS = 10_000;

/**
 * The thread as a place where people decide. Each look-up ends within `lookUpMs` (10 s), or with `signal`.
 * Its look-ups throw BotError PEOPLE_UNAVAILABLE: that is neither yes nor no.
 */
export function placeOf({ key, adapter, parts }: Drive, signal: AbortSignal): Place {
  const { personOf, lookUpMs = LOOK_UP_MS } = parts;
  const limited = async <T>(look: () => Promise<T>): Promise<T> => {
    try {
      return await within(lookUpMs, signal, look, 0);
    } catch (error) {
      throw failureOf(error);
    }
  };
  const { people } = adapter;
  const limitedPeople: People = {
    standing: (account, place) => limited(() => people.standing(account, place)),
    members: (group) => limited(() => people.members(group)),
    everyone: (place) => limited(() => people.everyone(place)),
    timezone: (account) => limited(() => people.timezone(account)),
  };
  return { key, people: limitedPeople, personOf };
}

function failureOf(error: unknown): BotError {
  const retryAfterMs = isBotError(error) ? error.retryAfterMs : undefined;
  const text = `The platform could not say who somebody is: ${messageOf(error)}`;
  return new BotError("PEOPLE_UNAVAILABLE", text, { cause: error, retryAfterMs });
}

/** A look-up of people that failed; asking again may help. */
export function isLookUpFailure(error: unknown): error is BotError {
  return isBotError(error, "PEOPLE_UNAVAILABLE");
}

/** The platform will not answer until somebody changes its rights or settings. */
export function isForGood({ cause }: BotError): boolean {
  return isBotError(cause, "PLATFORM_REFUSED");
}
