import { characterEnd } from "../../core/characters.ts";
import { BotError } from "../../core/errors.ts";
import { type BasicBlock, type Inline, isWhole, type ShownBlock, textOf } from "./rich-text.ts";

/**
 * The blocks as messages, each of which `fits`; at least one. They are cut between blocks, else at line ends, else behind
 * sentences, else between words, else between characters, tables between rows; a cut block goes on as one of its kind, a line of a list as text. Joined they are the
 * same text. `fits` is true of a block's beginning when it is true of more of it.
 * @throws BotError PLATFORM_REFUSED when an exact block, an address or a character does not fit by itself
 */
export function splitBlocks<B extends ShownBlock>(
  blocks: readonly B[],
  fits: (blocks: readonly NoInfer<B | BasicBlock>[]) => boolean,
): (B | BasicBlock)[][] {
  const messages: (B | BasicBlock)[][] = [];
  let rest: (B | BasicBlock)[] = [...blocks];
  for (;;) {
    const count = mostThatFit(rest, fits);
    const now = rest.slice(0, count);
    const block = rest[count];
    if (block === undefined)
      return now.length > 0 || messages.length === 0 ? [...messages, now] : messages;
    const cut = fits([block]) ? undefined : cutPart(block, (head) => fits([...now, head]));
    if (count === 0 && cut === undefined) throw tooLong(block);
    // Rather a new message than a broken line.
    const isBroken = count > 0 && cut?.atLineEnd !== true;
    if (isBroken || cut === undefined) {
      // A heading stays with what it is the heading of.
      const end = endOfBody(now);
      messages.push(now.slice(0, end));
      rest = rest.slice(end);
    } else {
      messages.push([...now, cut.head]);
      rest = [cut.tail, ...rest.slice(count + 1)];
    }
  }
}

/** How many from the beginning fit together; looked for in steps that double, since each look reads all of them. */
function mostThatFit<B>(blocks: readonly B[], fits: (some: readonly B[]) => boolean): number {
  let low = 0;
  let high = 1;
  while (high <= blocks.length && fits(blocks.slice(0, high))) {
    low = high;
    high *= 2;
  }
  high = Math.min(high, blocks.length + 1);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(blocks.slice(0, middle))) low = middle;
    else high = middle;
  }
  return low;
}

/** Where the headings at the end begin; the end where there is nothing else. */
function endOfBody(blocks: readonly ShownBlock[]): number {
  const end = blocks.findLastIndex(({ kind }) => kind !== "heading") + 1;
  return end === 0 ? blocks.length : end;
}

function tooLong(block: ShownBlock): BotError {
  const { length } = textOf(block);
  return new BotError(
    "PLATFORM_REFUSED",
    `A block of ${length} characters cannot be shown whole in one message here; ask for something shorter.`,
  );
}

/** The longest beginning that fits and what follows it; undefined when the block may not be cut so. */
function cutPart<B extends ShownBlock>(
  block: B,
  fits: (head: B) => boolean,
): { head: B; tail: B | BasicBlock; atLineEnd: boolean } | undefined {
  if (block.kind === "rule" || block.kind === "exact" || block.kind === "fold") return undefined;
  const { length } = block.kind === "table" ? block.rows : breakable(block);
  let low = 0;
  let high = length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(between(block, 0, middle))) low = middle;
    else high = middle - 1;
  }
  const at = block.kind === "table" ? low : outsideOf(block, breakIn(breakable(block), low));
  if (at < 1 || low < 1) return undefined;
  const head = between(block, 0, at);
  if (!fits(head)) return undefined;
  const atLineEnd = block.kind === "table" || breakable(block).charAt(at - 1) === "\n";
  return { head, tail: restOf(between(block, at, length)), atLineEnd };
}

/** Where text is best broken, at `most` at the latest. */
function breakIn(text: string, most: number): number {
  const lineEnd = text.lastIndexOf("\n", most - 1) + 1;
  if (lineEnd > 0) return lineEnd;
  const sentenceEnd = /[^]*[.!?]\s/.exec(text.slice(0, most))?.[0].length ?? 0;
  // Little text would be left in front of it.
  if (sentenceEnd > most / 3) return sentenceEnd;
  return text.lastIndexOf(" ", most - 1) + 1 || most;
}

/** A list's line goes on as text. */
function restOf<B extends ShownBlock>(tail: B): B | BasicBlock {
  return tail.kind === "item" ? { kind: "text", inlines: tail.inlines } : tail;
}

/** The block's text, with no break in what is never cut. */
function breakable(block: ShownBlock): string {
  if (!("inlines" in block)) return "text" in block ? block.text : "";
  return block.inlines
    .map((inline) => (isWhole(inline) ? "x".repeat(inline.text.length) : inline.text))
    .join("");
}

/** The next place before `at` that is neither inside a character nor inside an address or a time. */
function outsideOf(block: ShownBlock, at: number): number {
  let start = 0;
  const pieces: Inline[] = "inlines" in block ? block.inlines : "text" in block ? [block] : [];
  for (const inline of pieces) {
    const end = start + inline.text.length;
    if (at > start && at < end) {
      return isWhole(inline) ? start : start + characterEnd(inline.text, at - start);
    }
    start = end;
  }
  return at;
}

function between<B extends ShownBlock>(block: B, from: number, to: number): B {
  if (block.kind === "rule" || block.kind === "fold") return block;
  if (block.kind === "table") return { ...block, rows: block.rows.slice(from, to) };
  if (!("inlines" in block)) return { ...block, text: block.text.slice(from, to) };
  const inlines: Inline[] = [];
  let start = 0;
  for (const inline of block.inlines) {
    const text = inline.text.slice(Math.max(0, from - start), Math.max(0, to - start));
    if (text !== "") inlines.push({ ...inline, text });
    start += inline.text.length;
  }
  return { ...block, inlines };
}
