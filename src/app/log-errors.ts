import { LRUCache } from "lru-cache";
import { type LogFn, pino } from "pino";
import { isBotError, messageOf } from "../core/errors.ts";
import { isRecord } from "../core/json.ts";

/** A store that is away is told of so often at most. */
const EVERY_MS = 60_000;
const MAX_KINDS = 1_000;
/** pino's number. */
const ERROR = 50;

/** `serializers.err` of a log: an error that somebody foresaw says in words what is wrong; only any other has a stack. */
export function shownError(error: unknown): unknown {
  if (!isBotError(error)) return error instanceof Error ? pino.stdSerializers.err(error) : error;
  const { code, message, cause } = error;
  const because = cause === undefined ? "" : messageOf(cause);
  return { type: "BotError", code, message, ...(because !== "" && { cause: because }) };
}

/**
 * While the store is away every thread and each look for work says so, again and again: a minute of it is one warning of each
 * text, and one error of each thing that it concerns. `times` says how many lines the next one stands for.
 */
export function createRepeats() {
  const told = new LRUCache<string, { at: number; left: number }>({ max: MAX_KINDS });

  return (args: Parameters<LogFn>, level: number): Parameters<LogFn> | undefined => {
    const [about, text] = args;
    if (!isRecord(about) || !isBotError(about["err"], "STORE_UNAVAILABLE", "STORE_FULL"))
      return args;
    const { err, ...rest } = about;
    const concerns = level >= ERROR ? JSON.stringify(rest) : "";
    const key = `${err.code} ${text} ${concerns}`;
    const last = told.get(key);
    if (last !== undefined && performance.now() - last.at < EVERY_MS) {
      last.left += 1;
      return undefined;
    }
    told.set(key, { at: performance.now(), left: 0 });
    const times = (last?.left ?? 0) + 1;
    return times === 1 ? args : [{ ...about, times }, text];
  };
}
