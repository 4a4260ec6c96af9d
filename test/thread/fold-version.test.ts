import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { decodeRow } from "../../src/journal/entries.ts";
import type { SealedRow } from "../../src/journal/seal.ts";
import { FOLD_VERSION } from "../../src/thread/fold.ts";
import { Conversation, foldConversation } from "../../src/worker/thread/conversation.ts";

/** An evening's thread: answers of a model, an incident, an approved, a denied and an open command. */
const DUMP = join(import.meta.dirname, "../journal/store-0.4.sql");

function eveningsThread(): SealedRow[] {
  const db = new DatabaseSync(":memory:");
  db.exec(readFileSync(DUMP, "utf8"));
  const rows = db.prepare("SELECT * FROM entry WHERE journal = 1 ORDER BY seq").all();
  db.close();
  return rows as unknown as SealedRow[];
}

/** When this fails, entries come to something else than before: raise FOLD_VERSION, and write down the new digest with it. */
test("what entries come to is what FOLD_VERSION says", () => {
  const conversation = new Conversation();
  const hash = createHash("sha256");
  for (const row of eveningsThread()) {
    foldConversation(conversation, [decodeRow(row)]);
    hash.update(inspect(conversation, { depth: Infinity, maxArrayLength: null }));
  }
  expect(conversation.last).toBeGreaterThan(30);
  expect({ version: FOLD_VERSION, digest: hash.digest("base64url") }).toEqual({
    version: 3,
    digest: "TUEeiGa-AX8AGfQY7RxxwqwHiwwgY0GIWsluYoaLD1k",
  });
});
