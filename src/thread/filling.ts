import { estimateTokens, totalTokens } from "../core/block.ts";
import type { Entry, FileRef } from "../core/entry.ts";

/** How full the window of a run's model is, folded; and how much of it what is told may take. */

export type ModelWindow = NonNullable<NonNullable<Entry<"run_started">["talk"]>["window"]>;

/** What of the window is used before a run is condensed (CORE 002.5). */
const FULL = 0.8;
/** What a condensed request may use of what is used then: the rest is for what follows. */
const CONDENSED = 0.75;
/** With fewer turns there is nothing to condense (CORE 002.5R). */
const MIN_TURNS = 6;
/** What has to come before it is condensed once more, of the window. */
const AGAIN = 0.25;
/** What stays at most: these groups with a turn before them. */
export const TAIL_GROUPS = 4;

export class Filling {
  readonly window: ModelWindow | undefined;
  /** Tokens of the next request: counted for the newest one and its response, estimated for what came since. */
  size: number;
  /** What the newest request was counted as; undefined where none was, or where it was condensed since. */
  counted: number | undefined;
  /** How many turns it has, about. */
  turns: number;
  /** Something in the thread made the last run fail: it is condensed before anything is asked. */
  isForced: boolean;
  /** How often it was condensed, or was to be. */
  tries = 0;
  /** Tokens of the next request then. */
  sizeThen = -Infinity;
  /** Results that came since. */
  fresh = 0;
  overflows = 0;
  /** The request was refused as too long, and not condensed since. */
  isRefused = false;
  /** Tokens of the shortest request that was refused. */
  refused = Infinity;
  /** The newest one. */
  summary: string | undefined;
  /** The thread was told that the run was condensed. */
  isTold = false;

  constructor(
    window: ModelWindow | undefined,
    { size, turns, isForced }: Pick<Filling, "size" | "turns" | "isForced">,
  ) {
    this.window = window;
    this.size = size;
    this.turns = turns;
    this.isForced = isForced;
  }
}

/** About what providers count an image as. */
const IMAGE_TOKENS = 1_500;
/**
 * A PDF's pages are not known here. 25 of them, with text and picture, are about this; taken for more, one that is mostly pictures would be
 * refused by our own limits, though its model could read it. The provider's own count replaces it with the next answer.
 */
const MOST_PDF_TOKENS = 75_000;

/** Tokens of a message with its files, estimated. */
export function tokensIn({ text, files = [] }: Pick<Entry<"message">, "text" | "files">): number {
  return files.reduce((sum, file) => sum + tokensOfFile(file), estimateTokens(text));
}

export function tokensOfFile({ mediaType, artifact }: FileRef): number {
  if (mediaType.startsWith("image/")) return IMAGE_TOKENS;
  const tokens = Math.ceil(artifact.bytes / 4);
  return mediaType === "application/pdf" ? Math.min(tokens, MOST_PDF_TOKENS) : tokens;
}

/** How many turns follow from one of the model's: what it answers, and itself. */
export const TURNS_EACH = 2;

export function fillTurn(filling: Filling, { usage }: Entry<"assistant">): void {
  filling.size = totalTokens(usage);
  filling.counted = filling.size - usage.output;
  filling.turns += TURNS_EACH;
  filling.isRefused = false;
}

export function fillResult(filling: Filling, tokens: number): void {
  filling.size += tokens;
  filling.fresh += 1;
}

export function fillCondensed(filling: Filling, { text, after }: Entry<"condensed">): void {
  filling.tries += 1;
  filling.fresh = 0;
  filling.sizeThen = text === undefined ? filling.size : after;
  if (text === undefined) return;
  filling.summary = text;
  filling.isForced = false;
  filling.isRefused = false;
  filling.size = after;
  filling.counted = undefined;
  filling.turns = condensedTurns(filling.turns);
}

export function fillOverflow(filling: Filling, { tokens }: Entry<"overflow">): void {
  filling.overflows += 1;
  filling.isRefused = true;
  filling.refused = Math.min(filling.refused, tokens);
}

/** Turns that are left of so many. */
export function condensedTurns(turns: number): number {
  return Math.min(turns, 1 + TURNS_EACH * TAIL_GROUPS);
}

/**
 * Tokens from which on a request is condensed: a response has to fit too, and what was refused once is refused again. Never less
 * than half of the window.
 */
function limitOf({ tokens, output }: ModelWindow, refused = Infinity): number {
  const own = Math.max(tokens / 2, Math.min(tokens * FULL, tokens - output));
  return Math.floor(Math.min(own, refused * FULL));
}

/** Tokens that a condensed request has for everything but the system prompt and the tools. */
export function roomOf({ window, refused }: Pick<Filling, "window" | "refused">): number {
  if (window === undefined) return 0;
  const limit = limitOf(window, refused);
  return Math.floor(Math.max(limit * CONDENSED - window.fixed, limit / 4));
}

/** Something is left to condense, and an earlier try has not just left it as it is. */
export function mayCondense({ window, turns, tries, fresh }: Filling): boolean {
  return window !== undefined && turns >= MIN_TURNS && (tries === 0 || fresh > 0);
}

/** Each summary costs a whole request: a new one is worth it when much has come, or when the response would not fit. */
function isWorthIt({ size, sizeThen }: Filling, { tokens, output }: ModelWindow): boolean {
  return size - sizeThen >= tokens * AGAIN || size + output > tokens;
}

/** What its next request needs before it is made; undefined: nothing. `give_up`: it was refused, and cannot be made shorter. */
export function needOf(filling: Filling): "condense" | "give_up" | undefined {
  const { window, isRefused, isForced, size, refused } = filling;
  if (window === undefined) return undefined;
  if (isRefused) return mayCondense(filling) ? "condense" : "give_up";
  const isFull = isForced || size >= limitOf(window, refused);
  return isFull && mayCondense(filling) && isWorthIt(filling, window) ? "condense" : undefined;
}

/** A failure whose cause may stand in the thread, where every later request would meet it again. */
export function isOfThread(error: string | undefined): boolean {
  return error !== undefined && OF_THREAD.has(error);
}

const OF_THREAD: ReadonlySet<string> = new Set([
  "MODEL_CONTEXT_TOO_LONG",
  "MODEL_CONTENT_UNSUPPORTED",
  "MODEL_FILTERED",
  "MODEL_REQUEST_INVALID",
]);

/** Bytes that results of one turn may have together: a quarter of the window, at four to a token. */
export function resultBytes(window: ModelWindow | undefined): number {
  return window === undefined ? Infinity : window.tokens;
}

/** And one of them. The rest of it is kept as an artifact. */
export function oneResultBytes(window: ModelWindow | undefined): number {
  return window === undefined ? Infinity : Math.floor(resultBytes(window) / 2);
}
