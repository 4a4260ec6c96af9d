import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Entry } from "../core/entry.ts";
import { BotError } from "../core/errors.ts";
import { makeFolder } from "../core/folder.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { inPages } from "../core/pages.ts";
import { withoutRemoved } from "../core/removed.ts";
import { caseOf } from "../evals/save.ts";
import type { JournalReader } from "../journal/journal.ts";

/**
 * Keeps a thread as a case of an evaluation, in a folder of its own; the same thread again is the same folder. Returns that.
 * @throws BotError NOT_AVAILABLE where no model has answered in it
 */
export async function saveCase(
  journal: Pick<JournalReader, "read">,
  key: JournalKey,
  { into, encode, run }: { into: string; encode(text: string): string; run?: string | undefined },
): Promise<string> {
  const entries: Entry[] = [];
  for await (const page of inPages(withoutRemoved(await journal.read(key))))
    entries.push(...page.filter((entry) => entry.kind !== "newer"));
  const saved = caseOf(key, entries, encode, run);
  if (saved === undefined)
    throw new BotError(
      "NOT_AVAILABLE",
      `No model has answered ${run === undefined ? "in this thread yet" : `in ${run} of this thread`}.`,
    );
  const folder = join(into, saved.name);
  makeFolder(folder);
  for (const [file, text] of Object.entries(saved.files)) await replace(join(folder, file), text);
  return folder;
}

/** A link that stands there is replaced, not followed. */
async function replace(path: string, text: string): Promise<void> {
  const aside = `${path}.new`;
  await rm(aside, { force: true });
  await writeFile(aside, text, { mode: 0o600, flag: "wx" });
  await rename(aside, path);
}
