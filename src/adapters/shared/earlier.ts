import type { Earlier, EarlierMessage } from "../view.ts";
import { isBotError } from "../../core/errors.ts";

/** An answer waits so long for what stands above the question. */
const READ_MS = 3_000;

/** Reads in pages: adds what came to `found`, with `left` of the time it has. */
export type ReadPages = (
  found: EarlierMessage[],
  left: () => number,
) => Promise<Omit<Earlier, "messages"> | undefined>;

/**
 * What could be read in time, and why not more. `explain` has the platform's words for a refusal; `platform` is its name.
 * Never throws.
 */
export async function readEarlier(
  platform: string,
  explain: (error: unknown) => string | undefined,
  read: ReadPages,
  readMs = READ_MS,
): Promise<Earlier> {
  const messages: EarlierMessage[] = [];
  const end = performance.now() + readMs;
  try {
    const more = await read(messages, () => Math.max(0, end - performance.now()));
    return { messages, ...more };
  } catch (error) {
    return { messages, why: explain(error) ?? whyNot(platform, error) };
  }
}

function whyNot(platform: string, error: unknown): string {
  if (isBotError(error, "PLATFORM_RATE_LIMITED")) return `${platform} asked me to slow down`;
  if (isBotError(error, "PLATFORM_REFUSED")) return `${platform} doesn't let me`;
  return `${platform} didn't answer in time`;
}

/** The newest, and of a thread the first too, which it is about. */
export function newestOf<T>(messages: readonly T[], most: number, isThread: boolean): T[] {
  const [first, ...rest] = messages;
  if (first === undefined || messages.length <= most) return [...messages];
  return isThread ? [first, ...rest.slice(-most + 1)] : messages.slice(-most);
}

/** Of messages whose words are told already, what they forward. */
export function carriedBy(messages: readonly EarlierMessage[]): EarlierMessage[] {
  return messages.flatMap((each) => (each.attached === undefined ? [] : [{ ...each, text: "" }]));
}
