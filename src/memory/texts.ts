import { byTerms, type Ranked } from "./ranking.ts";
import { termsIn } from "./terms.ts";

/** A part of a text that stands in the program's own folders, such as a skill's section. */
export interface TextPart {
  /** Where it stands, for people and models. */
  readonly at: string;
  readonly text: string;
}

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
export function sectionsOf(at: string, markdown: string, maxLength = 2_000): TextPart[] {
  const sections = markdown.split(/^(?=#{1,3} )/m).filter((text) => text.trim() !== "");
  return sections.flatMap((text) => {
    const heading = /^#{1,3} +(.+)/.exec(text)?.[1]?.trim();
    const name = heading === undefined ? at : `${at}: ${heading}`;
    const count = Math.ceil(text.length / maxLength);
    return Array.from({ length: count }, (_, i) => ({
      at: name,
      text: text.slice(i * maxLength, (i + 1) * maxLength),
    }));
  });
}
