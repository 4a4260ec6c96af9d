import * as z from "zod";
import { BotError, isBotError, messageOf } from "../../core/errors.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type { JournalReader } from "../../journal/journal.ts";
import type { StoredEntry } from "../../core/entry.ts";

/** What is known of one journal's seal; a line of it can be kept elsewhere, and compared later. */
const sealLine = z.object({
  thread: z.templateLiteral([z.string(), ":", z.string()]),
  entries: z.int().min(0),
  /** The first entry that is sealed; null: none is yet. */
  sealedFrom: z.int().nullable(),
  /** The running hash over all of them. */
  head: z.string().nullable(),
  problem: z.string().optional(),
});
export type SealLine = z.infer<typeof sealLine>;

/** Lines of a file as `verifySeals` gave them. @throws BotError USAGE */
export function readSealLines(file: string, text: string): SealLine[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.map((line, i) => {
    try {
      return sealLine.parse(JSON.parse(line));
    } catch (error) {
      const problem = `${file}, line ${i + 1}: not a line that audit --verify prints.`;
      throw new BotError("USAGE", problem, { cause: error });
    }
  });
}

/** Reads each journal whole and says whether it is what was written, and what was `kept` of it elsewhere. */
export async function* verifySeals(
  journal: JournalReader,
  { key, kept }: { key: JournalKey | undefined; kept: readonly SealLine[] },
): AsyncIterable<SealLine> {
  const known = new Map(kept.map((line) => [line.thread, line]));
  const keys = new Set<JournalKey>(key === undefined ? known.keys() : [key]);
  if (key === undefined) for await (const summary of journal.list()) keys.add(summary.key);
  for (const thread of keys) yield await verifySeal(journal, thread, known.get(thread));
}

async function verifySeal(
  journal: JournalReader,
  thread: JournalKey,
  kept: SealLine | undefined,
): Promise<SealLine> {
  try {
    const entries = await journal.read(thread);
    const line = lineOf(thread, entries);
    const problem = kept && differenceOf(entries, kept);
    return problem === undefined ? line : { ...line, problem };
  } catch (error) {
    if (!isBotError(error, "JOURNAL_ALTERED", "ENTRY_INVALID")) throw error;
    return { ...lineOf(thread, []), problem: messageOf(error) };
  }
}

function lineOf(thread: JournalKey, entries: readonly StoredEntry[]): SealLine {
  const first = entries.find(({ head }) => head !== undefined);
  const head = entries.at(-1)?.head ?? null;
  return { thread, entries: entries.length, sealedFrom: first?.seq ?? null, head };
}

function differenceOf(entries: readonly StoredEntry[], kept: SealLine): string | undefined {
  if (kept.problem !== undefined || kept.entries === 0) return undefined;
  const then = entries[kept.entries - 1];
  if (then === undefined) return `it had ${kept.entries} entries, and has ${entries.length}`;
  if ((then.head ?? null) === kept.head) return undefined;
  return `entry ${kept.entries} differs from the head you kept`;
}
