import { crc32 } from "node:zlib";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { fold } from "../../src/thread/fold.ts";
import { type Journal, MAX_IDLE_MS } from "../../src/journal/journal.ts";
import { openRedisJournal, type RedisOptions } from "../../src/journal/redis/journal.ts";
import { createSigner } from "../../src/journal/redis/entries.ts";
import { Thread } from "../../src/thread/state.ts";
import { journalContract, message } from "../contracts/journal.ts";
import { RedisServer } from "../fakes/redis-server.ts";
import { until } from "../until.ts";

const SECRET = "a secret of the tests, 32 long or more";
const KEY: JournalKey = "test:redis";
const TAG = `{wk${crc32(KEY) % 64}}`;

let server: RedisServer;
let shard: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
  shard = await RedisServer.start("--cluster-enabled", "yes", "--cluster-port", "1");
  shard.cli("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
});
afterAll(async () => {
  await server.stop();
  await shard.stop();
});

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function underTest(on: RedisServer) {
  on.cli("FLUSHALL");
  const clock = { now: 1_000 };
  const options = { address: on.address, secret: SECRET, now: () => clock.now };
  const first = await openRedisJournal(options);
  const second = await openRedisJournal(options);
  return {
    first,
    second,
    clock,
    async close() {
      await first.close();
      await second.close();
    },
  };
}

journalContract("the Redis store", () => underTest(server));

// In cluster mode Redis refuses a script whose keys are not all in one slot.
journalContract("the Redis store on a cluster's shard", async () => {
  // A new shard waits for 2 s before it takes writes; by now it has.
  await until(() => shard.cli("CLUSTER", "INFO").includes("cluster_state:ok"));
  return underTest(shard);
});

describe("what is kept in Redis", () => {
  let journal: Journal;
  beforeEach(async () => {
    server.cli("FLUSHALL");
    journal = await openRedisJournal({ address: server.address, secret: SECRET });
  });
  afterEach(() => journal.close());
  const named = (part: string) => server.cli("--scan", "--pattern", `*:${part}:*`);

  test("has Redis' own time", async () => {
    const before = Date.now();
    const { entry } = await journal.post(KEY, message("a"));
    const granted = await journal.lease(KEY, 60_000);
    const after = Date.now();
    for (const at of [entry.at, granted?.now ?? 0]) {
      expect(at).toBeGreaterThanOrEqual(before);
      expect(at).toBeLessThanOrEqual(after);
    }
    await journal.post("test:brief", message("b"));
    await journal.lease("test:brief", 50);
    await expect.poll(() => collect(journal.due())).toEqual(["test:brief"]);
  });

  test("is spread over partitions and found in all of them", async () => {
    const keys = Array.from({ length: 300 }, (_, i): JournalKey => `test:thread${i}`);
    await Promise.all(keys.map((key) => journal.post(key, message("a"))));
    expect((await collect(journal.due())).toSorted()).toEqual(keys.toSorted());
    const listed = await collect(journal.list({ prefix: "test:" }));
    expect(listed.map(({ key }) => key).toSorted()).toEqual(keys.toSorted());
    expect(listed.every(({ last, leased }) => last === 1 && !leased)).toBe(true);
    const indexes = server.cli("--scan", "--pattern", "{wk*}:due").split("\n");
    expect(indexes.length).toBeGreaterThan(55);
  });

  test("is known to be whole, and where it is not that is said", async () => {
    for (const id of ["a", "b"]) await journal.post(KEY, message(id));
    expect(await journal.check()).toBeUndefined();
    server.cli("RPOP", named("entries"));
    expect(await journal.check()).toMatch(/damaged: test:redis: the number of entries 1 is not 2/);
  });

  test("is signed: an entry that another wrote, changed or moved to another thread is never read", async () => {
    const other: JournalKey = "test:other";
    await journal.post(KEY, message("a", "yes"));
    const [entries = ""] = named("entries").split("\n");
    const stored = server.cli("LINDEX", entries, "0");
    const invalid = { code: expect.stringMatching(/^(?:ENTRY_INVALID|JOURNAL_ALTERED)$/) };
    for (const forged of [
      stored.replace('"yes"', '"no!"'),
      stored.replace("test:ana", "test:eve"),
      stored.replace(/ m \d+ /, " m 1 "),
      stored.replace(/ \S+ /, ` ${createSigner("another secret").sign("")} `),
      stored.replace(/ \S+ /, " "),
      "",
    ]) {
      expect(forged).not.toBe(stored);
      server.cli("LSET", entries, "0", forged);
      await expect(journal.read(KEY)).rejects.toMatchObject(invalid);
      await expect(journal.post(KEY, message("a"))).rejects.toMatchObject(invalid);
    }
    server.cli("LSET", entries, "0", stored);
    expect(await journal.read(KEY)).toMatchObject([{ text: "yes" }]);
    await journal.post(other, message("a"));
    server.cli("LSET", server.cli("--scan", "--pattern", `*:entries:${other}`), "0", stored);
    await expect(journal.read(other)).rejects.toMatchObject(invalid);
  });

  test("by a newer program stops the fold there, and what does not fit its kind is an error", async () => {
    await journal.post(KEY, message("a"));
    await journal.close();
    server.cli("FLUSHALL");
    journal = await openRedisJournal({ address: server.address, secret: SECRET });
    // As 0.3 wrote: without a seal.
    const put = (text: string) => {
      const signature = createSigner(SECRET).sign(`${KEY} ${text}`);
      server.cli("RPUSH", `${TAG}:entries:${KEY}`, `5 ${signature} ${text}`);
      const last = server.cli("HINCRBY", `${TAG}:journal:${KEY}`, "last", "1");
      server.cli("HSET", `${TAG}:ids:${KEY}`, text, last);
    };
    put('message 1 "a"\n{"actor":{"account":"test:ana","name":"ana"},"text":"a"}');
    put('hologram 1 "n"\n{}');
    put('message 99 "o"\n{}');
    const thread = fold(new Thread(), await journal.read(KEY));
    expect(thread).toMatchObject({ last: 1, newer: { seq: 2, written: "hologram/1" } });
    put('message 1 "p"\n{}');
    await expect(journal.read(KEY)).rejects.toMatchObject({ code: "ENTRY_INVALID" });
  });

  test("by a worker takes one script per append, and the entries do not come back", async () => {
    await journal.post(KEY, message("a"));
    const granted = await journal.lease(KEY, 60_000);
    if (granted === undefined) throw new Error("the lease was not granted");
    let [known] = await journal.read(KEY);
    const stat = (section: string, name: string) =>
      Number(new RegExp(`${name}[:=](\\d+)`).exec(server.cli("INFO", section))?.[1] ?? 0);
    const calls = () => stat("commandstats", "cmdstat_evalsha:calls");
    const sent = () => stat("stats", "total_net_output_bytes");
    const [before, sentBefore] = [calls(), sent()];
    const text = "x".repeat(10_000);
    for (let i = 0; i < 5; i++) {
      const after = { last: known?.seq ?? 0, head: known?.head };
      const reply = await journal.append(granted.lease, after, [
        { id: `n${i}`, kind: "notice", text },
      ]);
      if (reply.kind !== "ok") throw new Error(reply.kind);
      expect(reply.unseen).toMatchObject([{ seq: i + 2, id: `n${i}`, kind: "notice", text }]);
      [known] = reply.unseen;
    }
    expect(calls() - before).toBe(5);
    // What it said to us, and to the looks at its own counters.
    expect(sent() - sentBefore).toBeLessThan(20_000);
    const stored = await journal.read(KEY);
    expect(stored.at(-1)).toEqual(known);
    const times = stored.map(({ at }) => at);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  test("takes ids and texts of any kind", async () => {
    const key: JournalKey = "test:{wk1}:a b\n*é";
    const id = 'quote" new\nline \u2028';
    await journal.post(key, message(id, `${id} $ ^ \0 \ud800`));
    const [entry] = await journal.read(key);
    expect(entry).toMatchObject({ text: expect.stringContaining("new\nline") });
    expect(await journal.post(key, message(id))).toMatchObject({ duplicate: true });
    expect(await collect(journal.due())).toEqual([key]);
  });

  test("of a budget is forgotten when nobody has used it for 40 days", async () => {
    const made = await journal.reserve("day", 5, 10);
    const left = (part: string) => Number(server.cli("PTTL", named(part)));
    for (const part of ["counter", "reservation"]) {
      expect(left(part)).toBeGreaterThan(MAX_IDLE_MS - 5_000);
      expect(left(part)).toBeLessThanOrEqual(MAX_IDLE_MS);
    }
    server.cli("PEXPIRE", named("counter"), "100000");
    if (made !== undefined) await journal.commitReservation(made, 3);
    expect(left("counter")).toBeGreaterThan(MAX_IDLE_MS - 5_000);
    expect(named("reservation")).toBe("");
  });

  test("of another type where ours should be is a clear error", async () => {
    await journal.post(KEY, message("a"));
    const entries = named("entries");
    server.cli("DEL", entries);
    server.cli("SET", entries, "theirs");
    await expect(journal.read(KEY)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    await expect(journal.post(KEY, message("b"))).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  });
});

describe("opening a store on Redis", () => {
  const servers: RedisServer[] = [];
  afterEach(async () => {
    for (const each of servers.splice(0)) await each.stop();
  });

  async function serve(...settings: string[]): Promise<RedisServer> {
    const each = await RedisServer.start(...settings);
    servers.push(each);
    return each;
  }

  /** What is warned of. */
  async function warnings(on: RedisServer, changes: Partial<RedisOptions> = {}): Promise<string[]> {
    const said: string[] = [];
    const warn = (text: string) => said.push(text);
    const journal = await openRedisJournal({
      address: on.address,
      secret: SECRET,
      warn,
      ...changes,
    });
    await journal.close();
    return said;
  }

  test("warns of what may be lost with the server, and of nothing where that is nothing", async () => {
    const always = await serve("--appendonly", "yes", "--appendfsync", "always");
    expect(await warnings(always)).toEqual([]);
    const each = await serve("--appendonly", "yes", "--appendfsync", "everysec");
    expect(await warnings(each)).toEqual([
      expect.stringMatching(/appendfsync everysec: .*set always/),
    ]);
    expect(await warnings(await serve("--save", "60 1"))).toEqual([
      expect.stringMatching(/only a snapshot now and then/),
    ]);
    expect(await warnings(server)).toEqual([expect.stringMatching(/keeps nothing over a restart/)]);
  });

  test("warns where the server may not be asked, as with a hosted one", async () => {
    const hosted = await serve(..."--user bot on >pass-word-1 ~* &* +@all -config".split(" "));
    const address = { ...hosted.address, username: "bot", password: "pass-word-1" };
    expect(await warnings(hosted, { address })).toEqual([
      expect.stringMatching(/CONFIG is forbidden/),
    ]);
  });

  test.each([
    ["volatile-lru", "100mb"],
    ["allkeys-random", "100mb"],
  ])("refuses a server that drops keys: %s", async (policy, memory) => {
    const on = await serve("--maxmemory", memory, "--maxmemory-policy", policy);
    await expect(warnings(on)).rejects.toMatchObject({
      code: "STORE_UNSAFE",
      message: expect.stringContaining(policy),
    });
    expect(on.cli("DBSIZE")).toBe("0");
    on.cli("CONFIG", "SET", "maxmemory", "0");
    expect(await warnings(on)).toHaveLength(1);
  });

  test("refuses a replica, a store of a newer version, another program's, and one with another secret", async () => {
    const replica = await serve("--replicaof", "127.0.0.1", "1");
    await expect(warnings(replica)).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("replica"),
    });
    server.cli("FLUSHALL");
    await warnings(server);
    await expect(
      warnings(server, { secret: "another secret of the tests, long enough" }),
    ).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    server.cli("SET", "wk:store", "4 x");
    await expect(warnings(server)).rejects.toMatchObject({ code: "STORE_NEWER" });
    server.cli("SET", "wk:store", "theirs");
    await expect(warnings(server)).rejects.toMatchObject({ code: "STORE_FOREIGN" });
    expect(server.cli("GET", "wk:store")).toBe("theirs");
    server.cli("FLUSHALL");
  });

  test("a wrong password and a server that is not there are clear errors at once, without the password", async () => {
    const locked = await serve(..."--user bot on >right-password ~* &* +@all".split(" "));
    const address = { ...locked.address, username: "bot", password: "wrong-password" };
    const refused: unknown = await warnings(locked, { address }).catch((error: unknown) => error);
    expect(locked.cli("INFO", "errorstats")).toContain("errorstat_WRONGPASS:count=1");
    expect(refused).toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(String(refused)).toMatch(/WRONGPASS/);
    expect(String(refused)).not.toContain("wrong-password");
    await locked.kill();
    await expect(warnings(locked)).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringMatching(/ECONNREFUSED|ENOENT/),
    });
  });
});
