import type { Embedder } from "../core/embedder.ts";
import { atMost } from "../core/time-limit.ts";
import type { MemoryIndex } from "./index-port.ts";
import { itemOf, textOf } from "./item.ts";

/** Texts of one request. */
const AT_ONCE = 64;
/** Requests of one feed: after a change of the model the rest follows with the next questions. */
const MOST_REQUESTS = 8;
/** A question is not held up by it for longer: then words alone are compared. */
const QUESTION_MS = 2_000;
const ITEMS_MS = 20_000;
/** After a failure: words alone are compared meanwhile. */
const REST_MS = 60_000;

interface EmbeddingParts {
  readonly embedder?: Embedder | undefined;
  readonly index: MemoryIndex;
  /** Whether words of this thread may go to the provider; undefined: of a thread that nobody named. Default: all may. */
  maySend?(thread: string | undefined): boolean;
  warn?(error: unknown): void;
  now?(): number;
}

/** Vectors for what is remembered and asked. A provider that fails is told to operators, and stops nothing. */
export function createEmbedding({
  embedder,
  index,
  warn = () => {},
  maySend = () => true,
  now = Date.now,
}: EmbeddingParts) {
  let restsUntil = 0;
  let atWork: Promise<void> | undefined;

  async function guarded<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (now() < restsUntil) return undefined;
    try {
      return await work();
    } catch (error) {
      restsUntil = now() + REST_MS;
      warn(error);
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

  return {
    /** Makes the vectors that are missing; it goes on by itself after a second. */
    async items(): Promise<void> {
      if (embedder === undefined) return;
      atWork ??= guarded(() => embedItems(embedder)).finally(() => (atWork = undefined));
      await atMost(1_000, atWork, () => undefined);
    },
    question: async (text: string, thread: string | undefined): Promise<Float32Array | undefined> =>
      embedder !== undefined && maySend(thread)
        ? guarded(async () => (await embedder.embed([text], AbortSignal.timeout(QUESTION_MS)))[0])
        : undefined,
  };
}

export type Embedding = ReturnType<typeof createEmbedding>;
