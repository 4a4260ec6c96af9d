import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isDeepStrictEqual } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { JournalKey } from "../../src/core/journal-key.ts";
import type { Granted, Journal } from "../../src/journal/journal.ts";
import {
  createSigner,
  decodeStored,
  signEntries,
  type StoredTail,
} from "../../src/journal/redis/entries.ts";
import { openRedisJournal } from "../../src/journal/redis/journal.ts";
import { checkChain, followed, type SealedRow, sealOf } from "../../src/journal/seal.ts";
import { openSqliteJournal } from "../../src/journal/sqlite/journal.ts";
import { seededRandom } from "../chaos/random.ts";
import { message } from "../contracts/journal.ts";
import { RedisServer } from "../fakes/redis-server.ts";

const SECRET = "a secret of the tests, 32 long or more";
const KEY: JournalKey = "test:seal";
const ENTRIES = 8;
const drafts = Array.from({ length: ENTRIES }, (_, i) => message(`m${i}`, `what ${i} says`));

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function take(journal: Journal, key = KEY): Promise<Granted> {
  const granted = await journal.lease(key, 60_000);
  if (granted === undefined) throw new Error("the lease was not granted");
  return granted;
}

/** Changes what is stored as one who knows its form and not the secret may; false when nothing changed. */
type Tamper<T> = (items: T[], pick: (below: number) => number) => boolean;

function place(items: unknown[], from: number, to: number): boolean {
  const [item] = items.splice(from, 1);
  if (item !== undefined) items.splice(to, 0, item);
  return from !== to;
}

const REARRANGED: readonly Tamper<unknown>[] = [
  (items, pick) => items.splice(pick(items.length), 1 + pick(3)).length > 0,
  (items, pick) => place(items, pick(items.length), pick(items.length)),
  (items, pick) => {
    const copied = items[pick(items.length)];
    items.splice(pick(items.length), 0, copied);
    return true;
  },
  (items, pick) => {
    const [at, from] = [pick(items.length), pick(items.length)];
    items[at] = items[from];
    return at !== from;
  },
];

describe("10 000 changes by one who can write to the store", () => {
  test("of entries in Redis, without the secret, are all noticed", async () => {
    const signer = createSigner(SECRET);
    const from = { last: 0, head: "", at: 1_790_000_000_000 };
    const signed = signEntries(signer, KEY, from, drafts, "tuple");
    const other = signEntries(signer, "test:other", from, drafts, "tuple").elements;
    const head = signed.heads.at(-1) ?? "";
    const read = (elements: string[], end: StoredTail["end"]) =>
      decodeStored(signer, KEY, { first: 1, elements, previous: "", end });
    const whole = { last: ENTRIES, head, tail: signed.tail };
    expect(await read(signed.elements, whole)).toHaveLength(ENTRIES);
    const changed: readonly Tamper<string>[] = [
      ...REARRANGED,
      (items, pick) => {
        const [i, text] = [pick(items.length), items.map(String)];
        const line = text[i] ?? "";
        const at = pick(line.length);
        items[i] = `${line.slice(0, at)}${line[at] === "x" ? "y" : "x"}${line.slice(at + 1)}`;
        return true;
      },
      (items, pick) => {
        const i = pick(items.length);
        items[i] = (items[i] ?? "").replace(/^s\d+/, `s${1_790_000_000_000 + 1 + pick(9_999)}`);
        return true;
      },
      (items, pick) => {
        const i = pick(items.length);
        items[i] = other[pick(other.length)] ?? "";
        return true;
      },
      // Cut short, with its number and head made to fit.
      (items, pick) => items.splice(1 + pick(items.length - 1)).length > 0,
    ];
    const random = seededRandom(8);
    const pick = (below: number) => Math.floor(random() * below);
    let [tried, noticed] = [0, 0];
    while (tried < 10_000) {
      const elements = [...signed.elements];
      if (!changed[tried % changed.length]?.(elements, pick)) continue;
      const last = elements.length;
      const [, shown = ""] = / (\S{43}) /.exec(elements.at(-1) ?? "") ?? [];
      const fitting = { last, head: shown, tail: signed.tail };
      tried += 1;
      try {
        await read(elements, pick(2) === 0 ? whole : fitting);
      } catch {
        noticed += 1;
      }
    }
    expect([tried, noticed]).toEqual([10_000, 10_000]);
  });

  test("of rows in SQLite that leave a later head as it was are all noticed", () => {
    let head = followed(KEY, 0, null);
    const rows = drafts.map(({ id, text }, i): SealedRow => {
      const row = { seq: i + 1, id, at: 1_000 + i, kind: "message", version: 1, body: text };
      head = sealOf(head, row);
      return { ...row, head };
    });
    const check = (found: readonly SealedRow[]) =>
      checkChain(KEY, found, { after: 0, previous: null });
    expect(() => check(rows)).not.toThrow();
    const FIELDS = ["seq", "at", "version"] as const;
    const changed: readonly Tamper<SealedRow>[] = [
      ...REARRANGED,
      // The same, with new numbers.
      ...REARRANGED.map((tamper): Tamper<SealedRow> => (items, pick) => {
        const did = tamper(items, pick);
        for (const [i, row] of items.entries()) items[i] = { ...row, seq: i + 1 };
        return did;
      }),
      (items, pick) => {
        const [i, field] = [pick(items.length), FIELDS[pick(3)] ?? "at"];
        const row = items[i];
        if (row !== undefined) items[i] = { ...row, [field]: row[field] + 1 + pick(50) };
        return true;
      },
      (items, pick) => {
        const i = pick(items.length);
        const row = items[i];
        const field = (["id", "kind", "body", "head"] as const)[pick(4)] ?? "body";
        if (row !== undefined) items[i] = { ...row, [field]: pick(9) === 0 ? "" : "theirs" };
        return true;
      },
      (items, pick) => {
        const i = pick(items.length);
        const row = items[i];
        if (row !== undefined) items[i] = { ...row, head: null };
        return true;
      },
    ];
    const random = seededRandom(8);
    const pick = (below: number) => Math.floor(random() * below);
    let [tried, noticed] = [0, 0];
    while (tried < 10_000) {
      const found = [...rows];
      if (!changed[tried % changed.length]?.(found, pick)) continue;
      // What is only cut short is told by the journal's own row.
      if (isDeepStrictEqual(found, rows.slice(0, found.length))) continue;
      tried += 1;
      try {
        check(found);
      } catch {
        noticed += 1;
      }
    }
    expect([tried, noticed]).toEqual([10_000, 10_000]);
  });
});

describe("a SQLite file that somebody changed", () => {
  async function filled() {
    const folder = mkdtempSync(join(tmpdir(), "wk-seal-"));
    const path = join(folder, "watchkeeper.db");
    const journal = await openSqliteJournal({ path });
    const db = new DatabaseSync(path);
    ends.push(
      () => rmSync(folder, { recursive: true }),
      () => journal.close(),
      () => db.close(),
    );
    for (const draft of drafts.slice(0, 6)) await journal.post(KEY, draft);
    return { journal, db };
  }

  test.each([
    ["an entry's text", `UPDATE entry SET body = replace(body, 'what 2', 'what 9') WHERE seq = 3`],
    ["an entry's time", "UPDATE entry SET at = at - 60000 WHERE seq = 3"],
    ["an entry taken out", "DELETE FROM entry WHERE seq = 3"],
    [
      "two that changed places",
      "UPDATE entry SET seq = CASE seq WHEN 3 THEN -4 ELSE -3 END WHERE seq IN (3, 4); UPDATE entry SET seq = -seq WHERE seq < 0",
    ],
    ["its end cut off", "DELETE FROM entry WHERE seq > 4"],
    [
      "its end cut off, and its number made to fit",
      "DELETE FROM entry WHERE seq > 4; UPDATE journal SET last = 4",
    ],
    ["a seal taken off", "UPDATE entry SET head = NULL WHERE seq = 3"],
  ])("is noticed on read: %s", async (_, change) => {
    const { journal, db } = await filled();
    expect(await journal.read(KEY)).toHaveLength(6);
    db.exec(change);
    await expect(journal.read(KEY)).rejects.toMatchObject({
      code: "JOURNAL_ALTERED",
      message: expect.stringContaining(KEY),
    });
  });

  test("and set back is lost to whoever had read more, and new to everybody else", async () => {
    const { journal, db } = await filled();
    const [, , third] = await journal.read(KEY);
    const sixth = (await journal.read(KEY)).at(-1);
    const { lease } = await take(journal);
    db.exec(
      "DELETE FROM entry WHERE seq > 3; UPDATE journal SET last = 3, head = (SELECT head FROM entry WHERE seq = 3)",
    );
    for (const id of ["a", "b", "c", "d"]) await journal.post(KEY, message(id));
    const knew = { last: 6, head: sixth?.head };
    const note = { id: "n", kind: "notice", text: "n" } as const;
    await expect(journal.read(KEY, knew)).rejects.toMatchObject({ code: "JOURNAL_LOST" });
    expect(await journal.append(lease, knew, [note])).toEqual({ kind: "lost" });
    expect(await journal.release(lease, knew)).toEqual({ kind: "lost" });
    const still = { last: 3, head: third?.head };
    expect((await journal.read(KEY, still)).map(({ id }) => id)).toEqual(["a", "b", "c", "d"]);
    expect(await journal.append(lease, still, [note])).toMatchObject({ kind: "unseen" });
    expect(await journal.read(KEY)).toHaveLength(7);
  });

  test.each([
    ["a row before the first", "UPDATE entry SET seq = -5, id = 'n' WHERE seq = 3"],
    ["a row's id", "UPDATE entry SET id = 'n' WHERE seq = 3"],
    ["a row behind the last", "UPDATE entry SET seq = 99, id = 'n' WHERE seq = 3"],
  ])("does not make an entry count as written that is not: %s", async (_, change) => {
    const { journal, db } = await filled();
    const head = (await journal.read(KEY)).at(-1)?.head;
    const { lease } = await take(journal);
    db.exec(change);
    const notes = [
      { id: "new", kind: "notice", text: "new" },
      { id: "n", kind: "notice", text: "n" },
    ] as const;
    const altered = { code: "JOURNAL_ALTERED" };
    const append = journal.append(lease, { last: 6, head }, notes);
    await expect(append).rejects.toMatchObject(altered);
    await expect(journal.append(lease, 6, notes.slice(1))).rejects.toMatchObject(altered);
    await expect(journal.post(KEY, message("n"))).rejects.toMatchObject(altered);
    expect(db.prepare("SELECT count(*) AS n FROM entry").get()).toEqual({ n: 6 });
  });

  test("or an artifact of it: what is no longer what was put there is not given out whole", async () => {
    const { journal, db } = await filled();
    const { id } = await journal.putArtifact(KEY, Buffer.from("all well"));
    db.exec("UPDATE artifact SET bytes = CAST('all hell' AS BLOB)");
    await expect(journal.readArtifact(KEY, id)).rejects.toMatchObject({ code: "JOURNAL_ALTERED" });
  });

  test("is not written to by a 0.3 that was running when it was upgraded", async () => {
    const { db } = await filled();
    const insert = db.prepare(
      "INSERT INTO entry (journal, seq, id, at, kind, version, body) VALUES (1, 7, 'x', 0, 'message', 2, '{}')",
    );
    expect(() => insert.run()).toThrow(/newer version has taken this store over/);
  });
});

describe("a Redis that somebody changed, without the secret", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  async function filled(secret = SECRET) {
    server.cli("FLUSHALL");
    const journal = await openRedisJournal({ address: server.address, secret });
    ends.push(() => journal.close());
    for (const draft of drafts.slice(0, 6)) await journal.post(KEY, draft);
    return journal;
  }
  const named = (part: string) => server.cli("--scan", "--pattern", `*:${part}:${KEY}`);
  const elements = () =>
    Array.from({ length: 6 }, (_, i) => server.cli("LINDEX", named("entries"), String(i)));
  const cut = (left: number) => {
    const all = elements();
    server.cli("LTRIM", named("entries"), "0", String(left - 1));
    for (const draft of drafts.slice(left, 6)) server.cli("HDEL", named("ids"), draft.id);
    const [, head = ""] = / (\S{43}) /.exec(all[left - 1] ?? "") ?? [];
    server.cli("HSET", named("journal"), "last", String(left), "head", head);
  };
  const altered = { code: expect.stringMatching(/^(?:JOURNAL_ALTERED|ENTRY_INVALID)$/) };

  test("is noticed on read and not written to: its end cut off, with number, head and ids made to fit", async () => {
    const journal = await filled();
    cut(4);
    await expect(journal.read(KEY)).rejects.toMatchObject(altered);
    await expect(journal.post(KEY, message("more"))).rejects.toMatchObject(altered);
    expect(server.cli("LLEN", named("entries"))).toBe("4");
  });

  test("is noticed on read: two that changed places and times, one repeated at the end, one with another time", async () => {
    const journal = await filled();
    const [, two = "", three = ""] = elements();
    const put = (at: number, element: string) =>
      server.cli("LSET", named("entries"), String(at), element);
    put(1, three);
    put(2, two);
    await expect(journal.read(KEY)).rejects.toMatchObject(altered);
    put(1, two);
    put(2, three);
    expect(await journal.read(KEY)).toHaveLength(6);
    put(2, three.replace(/^s\d+/, "s1790000000000"));
    await expect(journal.read(KEY)).rejects.toMatchObject(altered);
    put(2, three);
    server.cli("RPUSH", named("entries"), two);
    await expect(journal.post(KEY, message("more"))).rejects.toMatchObject(altered);
    server.cli("HSET", named("journal"), "last", "7");
    await expect(journal.read(KEY)).rejects.toMatchObject(altered);
  });

  test("does not get a message twice by losing its id: nothing more is written, and a copy is refused", async () => {
    const journal = await filled();
    server.cli("HDEL", named("ids"), "m2");
    const again = () => journal.post(KEY, drafts[2] ?? message("m2"));
    await expect(again()).rejects.toMatchObject({ code: "JOURNAL_ALTERED" });
    expect(server.cli("LLEN", named("entries"))).toBe("6");
    server.cli("HSET", named("ids"), "theirs", "3");
    await again();
    await expect(journal.read(KEY)).rejects.toMatchObject({
      code: "JOURNAL_ALTERED",
      message: expect.stringContaining("repeats the id"),
    });
  });

  test("or an artifact of it: what is no longer what was put there is not given out whole", async () => {
    const journal = await filled();
    const { id } = await journal.putArtifact(KEY, Buffer.from("all well"));
    server.cli("SET", server.cli("--scan", "--pattern", `*artifact:${id}*`), "all hell");
    await expect(journal.readArtifact(KEY, id)).rejects.toMatchObject({ code: "JOURNAL_ALTERED" });
  });

  test("or took its marker away is refused, whatever the secret, at the next start and while it runs", async () => {
    const journal = await filled();
    server.cli("DEL", "wk:store");
    const gone = { code: "STORE_CORRUPT", message: expect.stringContaining("wk:store is gone") };
    await expect(journal.post(KEY, message("more"))).rejects.toMatchObject(gone);
    for (const secret of [SECRET, "another secret of the tests, long enough"]) {
      await expect(openRedisJournal({ address: server.address, secret })).rejects.toMatchObject(
        gone,
      );
    }
    expect(server.cli("EXISTS", "wk:store")).toBe("0");
  });

  test("emptied it while it was in use: nothing is written there, and an empty store that is begun is another one", async () => {
    const journal = await filled();
    const { lease } = await take(journal);
    server.cli("FLUSHALL");
    const gone = { code: "STORE_CORRUPT", message: expect.stringContaining("FLUSHDB") };
    await expect(journal.post(KEY, message("more"))).rejects.toMatchObject(gone);
    const note = { id: "n", kind: "notice", text: "n" } as const;
    await expect(journal.append(lease, 6, [note])).rejects.toMatchObject(gone);
    const due = async () => {
      for await (const key of journal.due()) return key;
      return undefined;
    };
    await expect(due()).rejects.toMatchObject(gone);
    const second = await openRedisJournal({ address: server.address, secret: SECRET });
    ends.push(() => second.close());
    await second.post(KEY, message("first"));
    await expect(journal.post(KEY, message("more"))).rejects.toMatchObject(gone);
    expect((await second.read(KEY)).map(({ id }) => id)).toEqual(["first"]);
  });
});
