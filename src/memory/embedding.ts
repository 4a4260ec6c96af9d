import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Embedder } from "../core/embedder.ts";
import { atMost } from "../core/time-limit.ts";
import { createTurns } from "../core/turns.ts";
import { type Publisher, SILENT } from "../events/bus.ts";
import type { MemoryIndex } from "./index-port.ts";
import { itemOf, textOf } from "./item.ts";

/** Texts of one request. */
const AT_ONCE = 64;
/** Requests of one feed: after a change of the model the rest follows with the next questions. */
const MOST_REQUESTS = 8;
/** A question is not held up by it for longer: then words alone are compared. */
const QUESTION_MS = 2_000;
const ITEMS_MS = 20_000;
/** Questions whose vectors are kept. */
const MOST_QUESTIONS = 100;
/** After a failure: words alone are compared meanwhile. */
const REST_MS = 60_000;

interface EmbeddingParts {
  readonly embedder?: Embedder | undefined;
  readonly index: MemoryIndex;
  /** Whether words of this thread may go to the provider; undefined: of a thread that nobody named. Default: all may. */
  maySend?(thread: string | undefined): boolean;
  /** Is told of a provider that fails. */
  readonly events?: Publisher | undefined;
  now?(): number;
}

type Vector = Float32Array | undefined;

/** Vectors for what is remembered and asked, and for texts in the program's own folders. A provider that fails is told to operators, and stops nothing. */
export function createEmbedding({
  embedder,
  index,
  events = SILENT,
  maySend = () => true,
  now = Date.now,
}: EmbeddingParts) {
  let restsUntil = 0;
  let atWork: Promise<void> | undefined;
  /** One search after another asks the same, such as with a lower floor. */
  const questions = new LRUCache<string, Float32Array>({ max: MOST_QUESTIONS });
  const turns = createTurns<"texts">();

  async function guarded<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (now() < restsUntil) return undefined;
    try {
      return await work();
    } catch (error) {
      restsUntil = now() + REST_MS;
      const failed = { kind: "memory", did: "failed", doing: "embed", error } as const;
      events.publish({ ...failed, ...(embedder !== undefined && { model: embedder.id }) });
      return undefined;
    }
  }

  async function embedItems({ embed }: Embedder): Promise<void> {
    let kept = 0;
    for (let i = 0; i < MOST_REQUESTS; i++) {
      // What stays here comes first each time.
      const limit = AT_ONCE + kept;
      const all = (await index.unembedded(limit)).map((each) => ({
        ...each,
        found: itemOf(each),
      }));
      const missing = all.filter(({ found }) => maySend(found.thread));
      kept = all.length - missing.length;
      if (missing.length === 0 && all.length < limit) return;
      if (missing.length === 0) continue;
      const texts = missing.map(({ found }) => textOf(found));
      const vectors = await embed(texts, AbortSignal.timeout(ITEMS_MS));
      const made = missing.flatMap(({ id, journal, seq }, at) => {
        const vector = vectors[at];
        return vector === undefined ? [] : [{ id, journal, seq, vector }];
      });
      await index.embed(made);
    }
  }

  async function embedQuestion({ embed }: Embedder, text: string): Promise<Vector> {
    const known = questions.get(text);
    if (known !== undefined) return known;
    const [vector] = await embed([text], AbortSignal.timeout(QUESTION_MS));
    if (vector !== undefined) questions.set(text, vector);
    return vector;
  }

  return {
    /** Makes the vectors that are missing; it goes on by itself after a second. */
    async items(): Promise<void> {
      if (embedder === undefined) return;
      atWork ??= guarded(() => embedItems(embedder)).finally(() => (atWork = undefined));
      await atMost(1_000, atWork, () => undefined);
    },
    question: async (text: string, thread: string | undefined): Promise<Float32Array | undefined> =>
      embedder !== undefined && maySend(thread)
        ? guarded(() => embedQuestion(embedder, text))
        : undefined,
    /**
     * Vectors of texts that nobody said in a thread, such as sections of skills, as far as they are made. What is missing is made
     * meanwhile, which is waited for for a second.
     */
    async texts(texts: readonly string[]): Promise<readonly Vector[]> {
      if (embedder === undefined || texts.length === 0) return [];
      const names = texts.map(hashOf);
      const named = new Map(names.map((name, at) => [name, texts[at] ?? ""]));
      const made = turns("texts", () => guarded(() => embedTexts(index, embedder, named)));
      await atMost(1_000, made, () => undefined);
      const known = await index.textVectors([...named.keys()]);
      return names.map((name) => known.get(name));
    },
  };
}

/** The index has those that were ever made: what is missing is asked for once, by one after the other. */
async function embedTexts(
  index: MemoryIndex,
  { embed }: Embedder,
  texts: ReadonlyMap<string, string>,
) {
  const known = await index.textVectors([...texts.keys()]);
  const missing = [...texts].filter(([name]) => !known.has(name));
  for (let i = 0; i < Math.min(missing.length, MOST_REQUESTS * AT_ONCE); i += AT_ONCE) {
    const some = missing.slice(i, i + AT_ONCE);
    const vectors = await embed(
      some.map(([, text]) => text),
      AbortSignal.timeout(ITEMS_MS),
    );
    const made = some.flatMap(([name], at) => {
      const vector = vectors[at];
      return vector === undefined ? [] : [[name, vector] as const];
    });
    await index.keepTextVectors(made);
  }
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

export type Embedding = ReturnType<typeof createEmbedding>;
