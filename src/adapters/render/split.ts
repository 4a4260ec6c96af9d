import { characterEnd } from "../../core/characters.ts";
import { BotError } from "../../core/errors.ts";
import { basicBlocks } from "./basic.ts";
import { type BasicBlock, type Block, type Inline, isWhole, textOf } from "./rich-text.ts";

/**
 * The blocks as messages, each of which `fits`; at least one. They are cut between blocks, else at line ends, else between
 * words, else between characters; a cut block goes on as one of its kind, a line of a list as text. Joined they are the
 * same text. `fits` is true of a block's beginning when it is true of more of it.
 * @throws BotError PLATFORM_REFUSED when an exact block, an address or a character does not fit by itself
 */
export function splitBlocks(
  blocks: readonly Block[],
  fits: (blocks: readonly BasicBlock[]) => boolean,
): BasicBlock[][] {
  const messages: BasicBlock[][] = [];
  let now: BasicBlock[] = [];
  for (const whole of basicBlocks(blocks)) {
    let block = whole;
    while (!fits([...now, block])) {
      const before = now;
      const cut = fits([block]) ? undefined : cutPart(block, (head) => fits([...before, head]));
      if (now.length === 0 && cut === undefined) throw tooLong(block);
      // Rather a new message than a broken line.
      const isBroken = now.length > 0 && cut?.atLineEnd !== true;
      if (isBroken || cut === undefined) {
        // A heading stays with what it is the heading of.
        const end = endOfBody(now);
        messages.push(now.slice(0, end));
        now = now.slice(end);
      } else {
        messages.push([...now, cut.head]);
        block = cut.tail;
        now = [];
      }
    }
    now.push(block);
  }
  return now.length > 0 || messages.length === 0 ? [...messages, now] : messages;
}

/** Where the headings at the end begin; the end where there is nothing else. */
function endOfBody(blocks: readonly BasicBlock[]): number {
  const end = blocks.findLastIndex(({ kind }) => kind !== "heading") + 1;
  return end === 0 ? blocks.length : end;
}

function tooLong(block: BasicBlock): BotError {
  const { length } = textOf(block);
  return new BotError(
    "PLATFORM_REFUSED",
    `A block of ${length} characters cannot be shown whole in one message here; ask for something shorter.`,
  );
}

/** The longest beginning that fits and what follows it; undefined when the block may not be cut so. */
function cutPart(
  block: BasicBlock,
  fits: (head: BasicBlock) => boolean,
): { head: BasicBlock; tail: BasicBlock; atLineEnd: boolean } | undefined {
  if (block.kind === "rule" || block.kind === "exact") return undefined;
  const text = breakable(block);
  let low = 0;
  let high = text.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(between(block, 0, middle))) low = middle;
    else high = middle - 1;
  }
  const lineEnd = text.lastIndexOf("\n", low - 1) + 1;
  const wordEnd = text.lastIndexOf(" ", low - 1) + 1;
  const best = lineEnd > 0 ? lineEnd : wordEnd > 0 ? wordEnd : low;
  const at = outsideOf(block, best);
  if (at < 1 || low < 1) return undefined;
  const head = between(block, 0, at);
  const tail = between(block, at, text.length);
  if (!fits(head)) return undefined;
  const rest: BasicBlock = tail.kind === "item" ? { kind: "text", inlines: tail.inlines } : tail;
  return { head, tail: rest, atLineEnd: at === lineEnd };
}

/** The block's text, with no break in what is never cut. */
function breakable(block: BasicBlock): string {
  if (block.kind === "rule") return "";
  if (!("inlines" in block)) return block.text;
  return block.inlines
    .map((inline) => (isWhole(inline) ? "x".repeat(inline.text.length) : inline.text))
    .join("");
}

/** The next place before `at` that is neither inside a character nor inside an address or a time. */
function outsideOf(block: BasicBlock, at: number): number {
  let start = 0;
  const pieces: Inline[] =
    "inlines" in block ? block.inlines : block.kind === "rule" ? [] : [block];
  for (const inline of pieces) {
    const end = start + inline.text.length;
    if (at > start && at < end) {
      return isWhole(inline) ? start : start + characterEnd(inline.text, at - start);
    }
    start = end;
  }
  return at;
}

function between(block: BasicBlock, from: number, to: number): BasicBlock {
  if (block.kind === "rule") return block;
  if (!("inlines" in block)) return { ...block, text: block.text.slice(from, to) };
  const inlines: Inline[] = [];
  let start = 0;
  for (const inline of block.inlines) {
    const text = inline.text.slice(Math.max(0, from - start), Math.max(0, to - start));
    if (text !== "") inlines.push({ ...inline, text });
    start += inline.text.length;
  }
  return { ...block, inlines: inlines };
}
