import { CHARACTERS_PER_TOKEN } from "./block.ts";
import { characterEnd, characterStart } from "./characters.ts";
import { lazily } from "./lazily.ts";

/** Texts in parts: a Markdown text by its headings, what is long by its sentences, what has none by words and characters. */

/** A part of a text: what stands there from `start` to `end`. */
export interface Chunk {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A section of a Markdown text, with the heading that begins it; what stands before the first one has none. */
export interface Section extends Chunk {
  readonly heading?: string;
}

export interface ChunkSize {
  /** Of each chunk, as `estimateTokens` counts them; at least 64. */
  readonly tokens: number;
  /** What each chunk repeats of the end of the one before it, at the most; up to half of `tokens`. Default: 0. */
  readonly overlap?: number;
}

/** Smaller chunks might not get past a repeated part and one long character. */
const FEWEST_TOKENS = 64;

const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*\r?$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;

const segmenter = lazily(() => new Intl.Segmenter("en", { granularity: "sentence" }));

/**
 * The sections of a Markdown text: joined they are the text. A heading of more than `deepest` signs begins none, nor does a
 * line in a code block that looks like one. A section of blanks alone is there too.
 */
export function sectionsIn(markdown: string, deepest = 6): Section[] {
  const sections: { start: number; heading?: string }[] = [];
  let fence: string | undefined;
  let at = 0;
  for (const line of markdown.split("\n")) {
    const [, marks, rest = ""] = FENCE.exec(line) ?? [];
    const [, signs, heading = ""] = HEADING.exec(line) ?? [];
    if (fence !== undefined) {
      if (marks?.startsWith(fence) === true && rest.trim() === "") fence = undefined;
    } else if (marks !== undefined && !(marks.startsWith("`") && rest.includes("`"))) fence = marks;
    else if (signs !== undefined && signs.length <= deepest) sections.push({ start: at, heading });
    at += line.length + 1;
  }
  if (markdown !== "" && sections[0]?.start !== 0) sections.unshift({ start: 0 });
  return sections.map((section, i) => {
    const end = sections[i + 1]?.start ?? markdown.length;
    return { ...section, end, text: markdown.slice(section.start, end) };
  });
}

/**
 * The text in chunks of at most so many tokens; each ends behind a sentence where one ends in it, else behind a word, else
 * between two characters, and so does what it repeats. Without the repeated parts they are the text.
 * @throws RangeError for sizes that are not allowed
 */
export function chunksOf(text: string, { tokens, overlap = 0 }: ChunkSize): Chunk[] {
  if (!(tokens >= FEWEST_TOKENS && overlap >= 0 && overlap <= tokens / 2))
    throw new RangeError(`Chunks of ${tokens} tokens that repeat ${overlap} cannot be made.`);
  const most = Math.floor(tokens) * CHARACTERS_PER_TOKEN;
  const repeated = Math.floor(overlap) * CHARACTERS_PER_TOKEN;
  if (text.length <= most) return text === "" ? [] : [{ start: 0, end: text.length, text }];
  const sentences = [...segmenter().segment(text)].map(({ index }) => index);
  const chunks: Chunk[] = [];
  let start = 0;
  for (let told = 0; told < text.length;) {
    const end = endOfChunk(text, sentences, { told, limit: start + most });
    chunks.push({ start, end, text: text.slice(start, end) });
    told = end;
    const from = Math.max(start + 1, end - repeated);
    start = repeated === 0 ? end : startOfRepeat(text, sentences, { from, end });
  }
  return chunks;
}

/** The last good end up to the limit that leaves no chunk with little in it. */
function endOfChunk(
  text: string,
  sentences: readonly number[],
  { told, limit }: { told: number; limit: number },
): number {
  if (limit >= text.length) return text.length;
  const least = told + Math.floor((limit - told) / 3);
  const sentence = sentences[firstFrom(sentences, limit + 1) - 1] ?? 0;
  if (sentence > least) return sentence;
  const blank = /\s\S*$/.exec(text.slice(least, limit));
  const word = blank === null ? 0 : characterEnd(text, least + blank.index + 1);
  return word > least ? word : characterEnd(text, limit);
}

/** The first good start from a place on, before the end. */
function startOfRepeat(
  text: string,
  sentences: readonly number[],
  { from, end }: { from: number; end: number },
): number {
  const sentence = sentences[firstFrom(sentences, from)] ?? end;
  if (sentence < end) return sentence;
  const blank = /\s(?=\S)/.exec(text.slice(from, end));
  const word = blank === null ? from : from + blank.index + 1;
  return Math.min(characterStart(text, word), end);
}

/** The index of the first number that is not below `least`; the numbers rise. */
function firstFrom(numbers: readonly number[], least: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((numbers[middle] ?? 0) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
