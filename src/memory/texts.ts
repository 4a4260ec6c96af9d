import { chunksOf, sectionsIn } from "../core/text-chunks.ts";
import { byTerms, type Ranked } from "./ranking.ts";
import { termsIn } from "../core/terms.ts";

/** A part of a text that stands in the program's own folders, such as a skill's section. */
export interface TextPart {
  /** Where it stands, for people and models. */
  readonly at: string;
  readonly text: string;
}

/** A sentence at the end of one part begins the next, so that what belongs together is found together. */
const SIZE = { tokens: 500, overlap: 50 };

/** Parts of texts, ranked as memory is: for what does not change while the program runs. */
export function createTextSearch(parts: readonly TextPart[]) {
  const candidates = parts.map(({ at, text }, i) => ({
    id: String(i),
    journal: "",
    at: 0,
    space: "",
    item: at,
    terms: termsIn(`${at} ${text}`).join(" "),
  }));
  const having = new Map<string, number>();
  let length = 0;
  for (const { terms } of candidates) {
    const words = terms.split(" ");
    length += words.length;
    for (const term of new Set(words)) having.set(term, (having.get(term) ?? 0) + 1);
  }

  return (text: string, limit: number, threshold: number): TextPart[] => {
    const asked = [...new Set(termsIn(text))];
    const statistics = {
      texts: candidates.length,
      terms: length,
      having: asked.map((term) => having.get(term) ?? 0),
    };
    const ranked: Ranked[] = byTerms(asked, statistics, candidates);
    return ranked
      .filter(({ words }) => words > 0 && words >= threshold)
      .slice(0, limit)
      .flatMap(({ candidate }) => parts[Number(candidate.id)] ?? []);
  };
}

/** A Markdown text by its sections, each with its heading; what is long in several. */
export function sectionsOf(at: string, markdown: string): TextPart[] {
  return sectionsIn(markdown, 3)
    .filter(({ text }) => text.trim() !== "")
    .flatMap(({ heading = "", text }) =>
      chunksOf(text, SIZE).map((chunk) => ({
        at: heading === "" ? at : `${at}: ${heading}`,
        text: chunk.text,
      })),
    );
}
