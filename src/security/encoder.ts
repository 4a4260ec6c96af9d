import { BotError } from "../core/errors.ts";
import { cleanText, encodeText } from "./sanitize.ts";
import { callMethod, type EncoderCall, type EncoderMethods } from "./encoder-methods.ts";
import { createAside } from "./encoder-thread.ts";
import type { HeldSecret } from "./redaction-encodings.ts";
import { createRedactor } from "./redaction.ts";

/**
 * The one encoder, for whole texts and for pieces of longer ones. A piece is encoded with what stands around it in
 * view: whoever cuts, matches or counts raw text does so on what this gives, so that half a secret never shows.
 */
export interface Encoder extends EncoderMethods {
  /** The same for texts that may be long: those are worked on beside the event loop. */
  readonly aside: {
    [Method in keyof EncoderMethods]: (
      ...args: Parameters<EncoderMethods[Method]>
    ) => Promise<string>;
  };
  /** Characters that the longest held value takes up when it is written down at length. */
  readonly reach: number;
  /**
   * Holds one more value from now on, such as a token that a tool got at run time; the newest 20 of them are held.
   * @throws BotError NOT_AVAILABLE for one that is too long to be looked for: then it must not be used
   */
  learn(secret: HeldSecret): void;
  /** Every value that is held, for a thread that has to make its own encoder. */
  readonly held: readonly HeldSecret[];
}

/** Output that is encoded aside, or words in its place where that failed: how a call ended must not be lost with its text. */
export async function orUnchecked(encoding: Promise<string>): Promise<string> {
  try {
    return await encoding;
  } catch {
    return "The result could not be checked for secrets, so it is not shown.";
  }
}

/** Of one character of a value: `\\\u0061`, `, 0x61`, `&#x61;`, a dump with its offsets. */
const MOST_PER_CHARACTER = 12;
/** A token that is known by its shape is shorter; what is longer than the most is cut with less in view. */
const LEAST_REACH = 1_024;
const MOST_REACH = 32 * 1_024;

/** The rules take up to 2 ms for 1 KiB of a text that was made to be slow, and nothing may hold the loop for 100 ms. */
const MAX_AT_ONCE = 16 * 1_024;

/** Of a value that is learned. To look for one takes time with its length, and no header takes more. */
export const MAX_LEARNED_LENGTH = 8 * 1_024;

/** A token that is renewed is learned each time; older ones have ended. */
const MAX_LEARNED = 20;

export function createEncoder(given: readonly HeldSecret[]): Encoder {
  let learned: readonly HeldSecret[] = [];
  let held = given;
  let methods = methodsFor(held);
  let reach = reachOf(held);
  const inThread = createAside(() => held);
  const aside = async (call: EncoderCall): Promise<string> =>
    call[1].length > MAX_AT_ONCE ? inThread(call) : callMethod(methods, call);
  return {
    encode: (text) => methods.encode(text),
    hide: (text) => methods.hide(text),
    encodeWithin: (text, from, to) => methods.encodeWithin(text, from, to),
    encodeCut: (text, cut) => methods.encodeCut(text, cut),
    aside: {
      encode: (text) => aside(["encode", text]),
      hide: (text) => aside(["hide", text]),
      encodeWithin: (text, from, to) => aside(["encodeWithin", text, from, to]),
      encodeCut: (text, cut) => aside(["encodeCut", text, cut]),
    },
    learn(secret) {
      if (secret.value.length > MAX_LEARNED_LENGTH) {
        const text = `The value of ${secret.name} is longer than 8 KiB, so it could not be kept out of texts.`;
        throw new BotError("NOT_AVAILABLE", text);
      }
      const others = learned.filter(({ value }) => value !== secret.value);
      const isHeld = held.some(({ value }) => value === secret.value);
      // Used again, it outlasts those that are not.
      if (others.length < learned.length || !isHeld)
        learned = [...others, secret].slice(-MAX_LEARNED);
      if (isHeld) return;
      held = [...given, ...learned];
      methods = methodsFor(held);
      reach = reachOf(held);
    },
    get reach() {
      return reach;
    },
    get held() {
      return held;
    },
  };
}

function reachOf(held: readonly HeldSecret[]): number {
  const longest = Math.max(0, ...held.map(({ value }) => value.length));
  return Math.min(MOST_REACH, Math.max(LEAST_REACH, MOST_PER_CHARACTER * longest));
}

function methodsFor(held: readonly HeldSecret[]): EncoderMethods {
  const redactor = createRedactor(held);
  const reach = reachOf(held);
  return {
    encode: (text) => encodeText(text, redactor),
    hide: (text) => redactor.redact(text),
    encodeWithin: (text, from, to) => redactor.redactWithin(text, from, to),
    encodeCut(text, { before, behind }) {
      const clean = cleanText(text);
      const from = before ? characterEnd(clean, reach) : 0;
      const to = behind ? characterEnd(clean, clean.length - reach) : clean.length;
      return from >= to ? "" : redactor.redactWithin(clean, from, to);
    },
  };
}

/** The next place that does not part a surrogate pair. */
function characterEnd(text: string, at: number): number {
  return /[\udc00-\udfff]/.test(text.charAt(at)) ? at + 1 : at;
}
