import { chunksOf, sectionsIn } from "../core/text-chunks.ts";
import type { Embedding } from "./embedding.ts";
import type { Floor } from "./policy.ts";
import { byNearness, byTerms, fuse, isAlike, type Ranked } from "./ranking.ts";
import { termsIn } from "../core/terms.ts";

/** Parts of each ranking: of these the best are chosen. */
const CANDIDATES = 64;

/** A part of a text that stands in the program's own folders, such as a skill's section. */
export interface TextPart {
  /** Where it stands, for people and models. */
  readonly at: string;
  readonly text: string;
}

/** A sentence at the end of one part begins the next, so that what belongs together is found together. */
const SIZE = { tokens: 500, overlap: 50 };

/** The parts that are alike and reach the floor, the best first. `thread`: where it is asked. */
export type TextSearch = (
  text: string,
  wanted: Floor & { thread: string | undefined; limit: number },
) => Promise<TextPart[]>;

interface Compared {
  readonly embedding: Pick<Embedding, "question" | "texts">;
  /** What a text passes before it goes to the provider of vectors. */
  encode(text: string): string;
}

/** Parts of texts, ranked as memory is, by words and by vectors: for what does not change while the program runs. */
export function createTextSearch(
  parts: readonly TextPart[],
  { embedding, encode }: Compared,
): TextSearch {
  const byWords = createWordSearch(parts);
  let known: readonly (Float32Array | undefined)[] = [];

  /** What may not be asked of the provider is no reason to send it anything. */
  async function nearest(question: string, thread: string | undefined): Promise<Ranked[]> {
    const asked = await embedding.question(encode(question), thread);
    if (asked === undefined) return [];
    if (known.length === 0 || known.includes(undefined))
      known = await embedding.texts(parts.map(({ at, text }) => encode(`${at}\n${text}`)));
    const near = known.map((vector) => (vector === undefined ? 0 : cosineOf(asked, vector)));
    return byNearness(byWords.candidates.map((each, at) => ({ ...each, near: near[at] ?? 0 })));
  }

  return async (text, { thread, limit, threshold, nearness }) => {
    const near = await nearest(text, thread);
    const rankings = [byWords.ranked(text), near.slice(0, CANDIDATES)];
    return fuse(rankings.filter((ranking) => ranking.length > 0))
      .filter((each) => isAlike(each, { threshold, nearness }))
      .slice(0, limit)
      .flatMap(({ candidate }) => parts[Number(candidate.id)] ?? []);
  };
}

function createWordSearch(parts: readonly TextPart[]) {
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
  return {
    candidates,
    ranked(text: string): Ranked[] {
      const asked = [...new Set(termsIn(text))];
      const statistics = {
        texts: candidates.length,
        terms: length,
        having: asked.map((term) => having.get(term) ?? 0),
      };
      const ranked = byTerms(asked, statistics, candidates);
      return ranked.filter(({ words }) => words > 0).slice(0, CANDIDATES);
    },
  };
}

/** Vectors of two models have different lengths: they say nothing of each other. */
function cosineOf(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return 0;
  let [product, square, other] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [a[i] ?? 0, b[i] ?? 0];
    product += x * y;
    square += x * x;
    other += y * y;
  }
  return product / (Math.sqrt(square * other) || 1);
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
