import { isBotError } from "../core/errors.ts";
import type { Publisher } from "../events/bus.ts";
import type { Memory } from "./memory.ts";

/** Says of each thing that memory did, or could not do, what it was: names and counts, no words of anybody. */
export function telling(memory: Memory, { publish }: Publisher): Memory {
  async function tried<T>(doing: "remember" | "recall", work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      // The asker's own fault is told to the asker.
      const isRefused = isBotError(error, "INPUT_INVALID") || isBotError(error, "PRECHECK_FAILED");
      if (!isRefused) publish({ kind: "memory", did: "failed", doing, error });
      throw error;
    }
  }

  async function recalled<T>(work: () => Promise<readonly T[]>): Promise<T[]> {
    const began = performance.now();
    const found = await tried("recall", work);
    const ms = performance.now() - began;
    publish({ kind: "memory", did: "recalled", found: found.length, ms });
    return [...found];
  }

  return {
    ...memory,
    async note(saying, text) {
      const noted = await tried("remember", () => memory.note(saying, text));
      const { id, thread } = noted.item;
      if (noted.isNew) publish({ kind: "memory", did: "remembered", what: "note", id, thread });
      return noted;
    },
    async forget(saying, id) {
      const item = await tried("remember", () => memory.forget(saying, id));
      publish({ kind: "memory", did: "forgotten", id: item.id, thread: saying.thread });
      return item;
    },
    async record(of, task) {
      const kept = await tried("remember", () => memory.record(of, task));
      const { thread } = of;
      const { id } = kept;
      if (kept.saved) publish({ kind: "memory", did: "remembered", what: "task", id, thread });
      else publish({ kind: "memory", did: "merged", id, thread });
      return kept;
    },
    search: (...asked) => recalled(() => memory.search(...asked)),
    alike: (...asked) => recalled(() => memory.alike(...asked)),
    notesWith: (...asked) => recalled(() => memory.notesWith(...asked)),
    newest: (...asked) => recalled(() => memory.newest(...asked)),
  };
}
