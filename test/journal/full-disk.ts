import { isBotError } from "../../src/core/errors.ts";
import { openSqliteJournal } from "../../src/journal/sqlite/journal.ts";

/** Posts until the disk refuses, then says how many posts were accepted and what the refusal was. */
const [path = ""] = process.argv.slice(2);
const journal = await openSqliteJournal({ path });
let written = 0;
let code = "none";
try {
  for (; written < 10_000; written++) {
    const actor = { account: "test:ana", name: "ana" };
    const text = "x".repeat(4_000);
    await journal.post("test:file", { id: `m${written}`, kind: "message", actor, text });
  }
} catch (error) {
  code = isBotError(error) ? error.code : String(error);
}
process.stdout.write(JSON.stringify({ written, code }));
