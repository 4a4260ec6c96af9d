import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { JournalKey } from "../../src/core/journal-key.ts";
import type { Journal } from "../../src/journal/journal.ts";
import { openRedisJournal } from "../../src/journal/redis/journal.ts";
import { openSqliteJournal, readSqliteJournal } from "../../src/journal/sqlite/journal.ts";
import { message } from "../contracts/journal.ts";
import { RedisServer } from "../fakes/redis-server.ts";

const SECRET = "a secret of the tests, 32 long or more";
const MINUTE = 60_000;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

describe("a store of an older version", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  function restore(file: string): void {
    server.cli("FLUSHALL");
    const dump = readFileSync(join(import.meta.dirname, file), "utf8");
    for (const command of JSON.parse(dump) as string[][]) server.cli(...command);
  }

  test.each([
    ["0.3", "version-1-redis.json", "3", false],
    // Where a process of 0.4 may be at work it stays 0.4's.
    ["0.4", "version-2-redis.json", "2", true],
  ])(
    "of %s in Redis is read and gone on with, also by two at once",
    async (_, file, version, isSealed) => {
      restore(file);
      const options = { address: server.address, secret: SECRET };
      const opened = await Promise.all([openRedisJournal(options), openRedisJournal(options)]);
      for (const each of opened) ends.push(() => each.close());
      expect(await goesOn(...opened)).toEqual([isSealed, isSealed, isSealed, true, true]);
      expect(server.cli("GET", "wk:store")).toMatch(new RegExp(`^${version} \\S+ \\S+$`));
    },
  );

  test.each([
    ["0.3's", "version-2.sql", false],
    ["0.4's", "version-3.sql", true],
  ])("and so is %s SQLite file", async (_, file, isSealed) => {
    const folder = mkdtempSync(join(tmpdir(), "wk-seal-"));
    const path = join(folder, "watchkeeper.db");
    const db = new DatabaseSync(path);
    db.exec(readFileSync(join(import.meta.dirname, file), "utf8"));
    const version = () => db.prepare("PRAGMA user_version").get()?.["user_version"];
    const before = version();
    const reader = await readSqliteJournal({ path });
    const keys: JournalKey[] = [];
    for await (const { key } of reader.list({ prefix: "terminal:" })) keys.push(key);
    expect(keys).toEqual(["terminal:old"]);
    await reader.close();
    expect(version()).toBe(before);
    db.close();
    const now = () => 1_790_000_200_000;
    const opened = await Promise.all([
      openSqliteJournal({ path, now }),
      openSqliteJournal({ path, now }),
    ]);
    ends.push(() => rmSync(folder, { recursive: true }));
    for (const each of opened) ends.push(() => each.close());
    expect(await goesOn(...opened)).toEqual([isSealed, isSealed, isSealed, true, true]);
  });

  /** Goes on in the journal of an older version's store; returns which of its entries are sealed then. */
  async function goesOn(journal: Journal, other: Journal): Promise<boolean[]> {
    const key = "terminal:old";
    const old = await journal.read(key);
    expect(old.map(({ id }) => id)).toEqual(["msg:1", "msg:2", "run:r1"]);
    const kept = await journal.readArtifact(key, "68ac09b529b4a9db");
    expect(Buffer.from(kept).toString()).toBe("kept whole\n");
    expect(await journal.reserve("day", 6, 10)).toBeUndefined();
    expect(await other.post(key, message("msg:1"))).toMatchObject({ duplicate: true });
    const granted = await journal.lease(key, MINUTE);
    if (granted === undefined) throw new Error("the lease was not granted");
    await other.post(key, message("msg:3"));
    const note = { id: "n", kind: "notice", text: "n" } as const;
    const folded = { last: 3, head: old.at(-1)?.head };
    const refused = await journal.append(granted.lease, folded, [note]);
    expect(refused).toMatchObject({ kind: "unseen", unseen: [{ id: "msg:3" }] });
    const [third] = refused.kind === "unseen" ? refused.unseen : [];
    const known = { last: 4, head: third?.head };
    expect(await journal.append(granted.lease, known, [note])).toMatchObject({ kind: "ok" });
    expect(await journal.check()).toBeUndefined();
    return (await other.read(key)).map(({ head }) => head !== undefined);
  }

  test("one of 0.4 in Redis is written as 0.4 reads it, until no process of 0.4 has been heard of for ten minutes", async () => {
    restore("version-2-redis.json");
    const clock = { now: 1_790_000_000_000 };
    const said: string[] = [];
    const options = { address: server.address, secret: SECRET, now: () => clock.now };
    const first = await openRedisJournal({ ...options, warn: (text) => said.push(text) });
    const second = await openRedisJournal(options);
    const marker = () => server.cli("GET", "wk:store");
    const before = marker();
    /** Both beat in these minutes, on one host and another; on one of them a process of 0.4 too, if `old`. */
    const pass = async (minutes: number, old: boolean) => {
      for (let i = 0; i < minutes; i++) {
        clock.now += MINUTE;
        if (old) server.cli("ZADD", "wk:hosts", String(clock.now - 1), "a");
        await first.beat("a");
        await second.beat("b");
      }
    };
    const kinds = async () => {
      await first.post("test:forms", message(`m${clock.now}`));
      const stored = server.cli(
        "LRANGE",
        server
          .cli("--scan", "--pattern", "*:test:forms")
          .split("\n")
          .find((name) => name.includes(":entries:")) ?? "",
        "0",
        "-1",
      );
      return [...stored.matchAll(/^s\d+ \S+ \S+ (\S+) /gm)].map(([, kind]) => kind);
    };
    await pass(30, true);
    expect(await kinds()).toEqual(["message"]);
    await pass(9, false);
    expect(await kinds()).toEqual(["message", "message"]);
    expect(marker()).toBe(before);
    await pass(2, false);
    expect(await kinds()).toEqual(["message", "message", "m"]);
    expect(marker()).toMatch(/^3 /);
    expect(marker().split(" ")[1]).toBe(before.split(" ")[1]);
    expect(said.at(-1)).toMatch(/store upgraded from 2 to 3; 0\.4 cannot read it any more/);
    // The other process goes on in the store that this one made its own, and both forms are read.
    expect(await second.post("test:forms", message("n"))).toMatchObject({ duplicate: false });
    expect(await second.read("test:forms")).toHaveLength(4);
    expect(await second.read("terminal:old")).toHaveLength(3);
    for (const each of [first, second]) await each.close();
  });
});
