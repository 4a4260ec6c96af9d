import { messageOf } from "../core/errors.ts";
import type { Journal } from "../journal/journal.ts";
import type { Tool } from "../tools/tool.ts";

/** One thing that was looked at. `absent`: not here, and only what needs it will not work. */
export interface Finding {
  state: "ok" | "absent" | "broken";
  subject: string;
  text: string;
}

export interface DoctorParts {
  nodeVersion: string;
  dataDir: string;
  warnings: readonly string[];
  /** Opens the store as a start would. */
  openJournal(): Promise<Journal>;
  tools: readonly Tool[];
}

/** Looks at everything a start depends on, and goes on after what is broken. */
export async function* examine(parts: DoctorParts): AsyncIterable<Finding> {
  yield { state: "ok", subject: "node", text: parts.nodeVersion };
  yield await examineStore(parts);
  for (const text of parts.warnings) yield { state: "absent", subject: "configuration", text };
  yield { state: "absent", subject: "model", text: "none configured: direct commands only" };
  for (const tool of parts.tools) {
    const missing = await tool.unavailable?.();
    const state = missing === undefined ? "ok" : "absent";
    yield { state, subject: tool.name, text: missing ?? tool.effect };
  }
}

async function examineStore({ openJournal, dataDir }: DoctorParts): Promise<Finding> {
  try {
    const journal = await openJournal();
    try {
      const damage = await journal.check();
      let threads = 0;
      for await (const _ of journal.list()) threads += 1;
      return damage === undefined
        ? {
            state: "ok",
            subject: "store",
            text: `SQLite in ${dataDir}, ${threads} journals, intact`,
          }
        : { state: "broken", subject: "store", text: damage };
    } finally {
      await journal.close();
    }
  } catch (error) {
    return { state: "broken", subject: "store", text: messageOf(error) };
  }
}
