import { cleanText, encodeText } from "./display.ts";
import { type AsideRequest, createAside } from "./encoder-thread.ts";
import { createRedactor, type HeldSecret } from "./secrets.ts";

/**
 * The one encoder, for whole texts and for pieces of longer ones. A piece is encoded with what stands around it in
 * view: whoever cuts, matches or counts raw text does so on what this gives, so that half a secret never shows.
 */
export interface Encoder {
  /** As `encodeText`. */
  encode(text: string): string;
  /** Without secrets and otherwise as it is: for what people type and models write, before anything is made of it. */
  hide(text: string): string;
  /** As `encode` and `hide`, for texts that may be long: those are worked on beside the event loop. */
  encodeAside(text: string): Promise<string>;
  hideAside(text: string): Promise<string>;
  /**
   * The clean text between two places of it. What is found across one of them stands whole in the answer, as its
   * placeholder; with `reach` characters more on both sides no held value is overlooked, however it is written.
   * `text` has to be what `cleanText` gives.
   */
  encodeWithin(text: string, from: number, to: number): string;
  /** A text of which more stood before or behind and is gone: less `reach` characters at each such end. */
  encodeCut(text: string, cut: { before: boolean; behind: boolean }): string;
  /** Characters that the longest held value takes up when it is written down at length. */
  readonly reach: number;
  /** What `createEncoder` was given, for a thread that has to make its own. */
  readonly held: readonly HeldSecret[];
}

/** Of one character of a value: `\\\u0061`, `, 0x61`, `&#x61;`, a dump with its offsets. */
const MOST_PER_CHARACTER = 12;
/** A token that is known by its shape is shorter; what is longer than the most is cut with less in view. */
const LEAST_REACH = 1_024;
const MOST_REACH = 32 * 1_024;

/** The rules take up to 2 ms for 1 KiB of a text that was made to be slow, and nothing may hold the loop for 100 ms. */
const MAX_AT_ONCE = 16 * 1_024;

export function createEncoder(held: readonly HeldSecret[]): Encoder {
  const redactor = createRedactor(held);
  const longest = Math.max(0, ...held.map(({ value }) => value.length));
  const reach = Math.min(MOST_REACH, Math.max(LEAST_REACH, MOST_PER_CHARACTER * longest));
  const aside = createAside(held);
  const here: Pick<Encoder, "encode" | "hide"> = {
    encode: (text) => encodeText(text, redactor),
    hide: (text) => redactor.redact(text),
  };
  const orAside =
    (how: AsideRequest["how"]) =>
    async (text: string): Promise<string> =>
      text.length > MAX_AT_ONCE ? aside({ how, text }) : here[how](text);
  return {
    ...here,
    encodeAside: orAside("encode"),
    hideAside: orAside("hide"),
    encodeWithin: (text, from, to) => redactor.redactWithin(text, from, to),
    encodeCut(text, { before, behind }) {
      const clean = cleanText(text);
      const from = before ? characterEnd(clean, reach) : 0;
      const to = behind ? characterEnd(clean, clean.length - reach) : clean.length;
      return from >= to ? "" : redactor.redactWithin(clean, from, to);
    },
    reach,
    held,
  };
}

/** The next place that does not part a surrogate pair. */
function characterEnd(text: string, at: number): number {
  return /[\udc00-\udfff]/.test(text.charAt(at)) ? at + 1 : at;
}
