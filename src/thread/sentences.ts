/** A sentence of a Markdown text, without the marks that begin its line; `text` is what stands from `start` to `end`. */
export interface Sentence {
  start: number;
  end: number;
  text: string;
}

const FENCE = /^\s{0,3}(?:`{3,}|~{3,})/;
/** What begins a line of a list, a quote or a heading. */
const LINE_MARK = /^\s*(?:(?:[-*+>]|#{1,6}|\d{1,9}[.)])\s+)*/;
/** Up to a mark that ends it before a space or the line's end, with the references that follow; dots within words end nothing. */
const SENTENCE =
  /\S[^\n]*?(?:(?:(?<![.!?])[.!?]+["”*_)\]]*(?=\s|$)|[。！？]["”」』）*_)\]]*)(?:\s*\[T\d+(?:\s*,\s*T?\d+)*\][.!?。]?)*|$)/g;

/** `[T3]`, also several in one: `[T1, T4]`. */
export const REFERENCE = /\[T\d+(?:\s*,\s*T?\d+)*\]/g;

/** The numbers of the calls that a text refers to, each once. */
export function numbersIn(text: string): number[] {
  const references = [...text.matchAll(REFERENCE)].flatMap(([found]) => digitsIn(found));
  return [...new Set(references)];
}

/** The numbers of one reference. */
export function digitsIn(reference: string): number[] {
  return [...reference.matchAll(/\d+/g)].map(([digits]) => Number(digits));
}

/** Every sentence outside of code blocks, in order. */
export function sentencesIn(text: string): Sentence[] {
  const found: Sentence[] = [];
  let at = 0;
  let isCode = false;
  for (const line of text.split("\n")) {
    const isFence = FENCE.test(line);
    if (isFence) isCode = !isCode;
    if (!isFence && !isCode) {
      const from = LINE_MARK.exec(line)?.[0].length ?? 0;
      for (const { 0: sentence, index } of line.slice(from).matchAll(SENTENCE)) {
        const start = at + from + index;
        found.push({ start, end: start + sentence.length, text: sentence });
      }
    }
    at += line.length + 1;
  }
  return found;
}

/** Leaves of each reference one per number that `keep` returns; where none is left the space before it goes too. */
export function removeReferences(
  text: string,
  reference: RegExp,
  keep: (found: string) => number[],
): string {
  const spaced = new RegExp(`[ \\t]*${reference.source}`, "g");
  return text.replaceAll(spaced, (found) => {
    const kept = keep(found).map((number) => `[T${number}]`);
    if (kept.length === 0) return "";
    return found.slice(0, found.indexOf("[")) + kept.join("");
  });
}
