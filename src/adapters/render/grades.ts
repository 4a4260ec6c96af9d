import { GRADED, GRADES } from "./phrases.ts";
import { type Block, type Inline, isWhole, joinInlines } from "./rich-text.ts";

const GRADE = /\b(?:CONFIRMED|LIKELY|INCONCLUSIVE)\b/g;
/** Begins a sentence about what was changed, as a grade begins a conclusion. */
const ACTED = /\bDONE(?=\s*[:：,–—-]|\s*\[T\d|\s*$)/g;
const SEPARATOR = /^\s*[:,–—-]?\s*/;
const REFERENCE = /(\[T\d+(?:\s*,\s*T?\d+)*\])/;
const CITED = new RegExp(`^${REFERENCE.source}\\s*[:,–—-]\\s*`);
/** A longer sentence in bold is not read faster. */
const MAX_BOLD = 200;

/**
 * A model's conclusion as a sentence: `CONFIRMED: nginx is down.` is read as `Confirmed: nginx is down.`, its first sentence
 * bold. A grade elsewhere is a word like any other.
 */
export function gradedBlocks(blocks: readonly Block[]): Block[] {
  return blocks.map((block, at) => {
    if (!("inlines" in block)) return block;
    const conclusion = at === 0 ? tryConclusion(block.inlines) : undefined;
    return { ...block, inlines: (conclusion ?? block.inlines).map(withoutCapitals) };
  });
}

function tryConclusion(inlines: readonly Inline[]): Inline[] | undefined {
  const [first, ...others] = inlines;
  const [mark = "", word = ""] = GRADED.exec(first?.text ?? "") ?? [];
  if (first === undefined || first.code || word === "") return undefined;
  // `CONFIRMED [T1]: it is down`: one colon is enough.
  const told = first.text.slice(mark.length).replace(CITED, "$1 ");
  const rest = [{ ...first, text: told }, ...others];
  // What stands between the grade and the sentence may be in the next piece: `**LIKELY** – a lock`.
  const [head, next, ...more] = rest;
  const said =
    head?.text === "" && next !== undefined
      ? [{ ...next, text: next.text.replace(SEPARATOR, "") }, ...more]
      : rest;
  return joinInlines([{ text: `${GRADES[word]}: `, strong: true }, ...boldSentence(said)]);
}

/** The first sentence bold, references and addresses apart. */
function boldSentence(inlines: readonly Inline[]): Inline[] {
  const text = inlines.map((inline) => inline.text).join("");
  const end = /^[^\n]*?[.!?](?=\s|$)/.exec(text)?.[0].length ?? text.indexOf("\n");
  const until = end < 0 ? text.length : end;
  if (until > MAX_BOLD) return [...inlines];
  let start = 0;
  return inlines.flatMap((inline) => {
    const at = Math.max(0, until - start);
    start += inline.text.length;
    if (at === 0 || isWhole(inline) || inline.code) return [inline];
    const bold = inline.text.slice(0, at);
    const plain = inline.text.slice(at);
    return [
      { ...inline, text: bold, strong: true as const },
      { ...inline, text: plain },
    ];
  });
}

function withoutCapitals(inline: Inline): Inline {
  if (inline.code || isWhole(inline)) return inline;
  const text = inline.text.replaceAll(GRADE, (word) => word.toLowerCase());
  return { ...inline, text: text.replaceAll(ACTED, "Done") };
}

/** References such as `[T3]` as small code: `T3`. */
export function withReferences(blocks: readonly Block[]): Block[] {
  return blocks.map((block) =>
    "inlines" in block ? { ...block, inlines: block.inlines.flatMap(referencesIn) } : block,
  );
}

function referencesIn(inline: Inline): Inline[] {
  if (inline.code || isWhole(inline)) return [inline];
  return inline.text
    .split(REFERENCE)
    .filter((piece) => piece !== "")
    .flatMap((piece): Inline[] => {
      if (!REFERENCE.test(piece)) return [{ ...inline, text: piece }];
      const numbers = [...piece.matchAll(/\d+/g)].map(([digits]) => digits);
      return numbers.flatMap((number, at): Inline[] => [
        ...(at > 0 ? [{ text: " ", cites: true } as const] : []),
        { text: `T${number}`, code: true, cites: true },
      ]);
    });
}
