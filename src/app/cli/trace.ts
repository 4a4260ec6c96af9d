import type { StoredEntry } from "../../core/entry.ts";
import { withoutRemoved } from "../../core/removed.ts";
import { exactText } from "../../security/sanitize.ts";
import { EXIT, findThread, printLines, type CliCommand, withStore } from "./command.ts";

export const trace: CliCommand = {
  name: "trace",
  forms: {
    "trace <thread>": "a thread's journal",
  },
  words: { min: 1, max: 1 },
  async run({ config, words: [thread = ""] }) {
    await withStore(config, async (journal) => {
      const key = await findThread(journal, thread);
      await printLines([key, ...withoutRemoved(await journal.read(key)).map(traceLine)]);
    });
    return EXIT.answered;
  },
};

function traceLine(entry: StoredEntry): string {
  const { seq, at, id, kind, head: _, ...fields } = entry;
  const said = Object.entries(fields).map(
    ([name, value]) =>
      `${name}=${typeof value === "string" ? quoted(value) : exactText(JSON.stringify(value))}`,
  );
  const time = new Date(at).toISOString();
  const isSilent = entry.kind === "run_ended" && entry.status === "silent";
  const words = isSilent ? "  (stayed silent: nobody waits for an answer)" : "";
  return `${String(seq).padStart(4)}  ${time}  ${kind.padEnd(15)} ${id}  ${said.join(" ")}${words}`;
}

function quoted(text: string): string {
  return exactText(/^[\w.:/@-]+$/.test(text) ? text : JSON.stringify(text));
}
