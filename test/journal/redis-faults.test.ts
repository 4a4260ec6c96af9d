import { createServer } from "node:net";
import { afterAll, describe, expect, test } from "vitest";
import type { JournalKey } from "../../src/core/journal-key.ts";
import type { Granted, Journal } from "../../src/journal/journal.ts";
import { openRedisJournal } from "../../src/journal/redis/journal.ts";
import type { RedisAddress } from "../../src/journal/redis/address.ts";
import { confirm } from "../../src/journal/redis/server.ts";
import { message } from "../contracts/journal.ts";
import { createCuttingProxy } from "../fakes/cutting-proxy.ts";
import { RedisServer } from "../fakes/redis-server.ts";
import { insist, until } from "../until.ts";

const SECRET = "a secret of the tests, 32 long or more";
const KEY: JournalKey = "test:fault";
const started = {
  id: "started:c1",
  kind: "tool_started",
  run: "r1",
  call: "c1",
  tool: "act",
  args: {},
  digest: "d",
  effect: "write",
} as const;

const ends: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

async function serve(...settings: string[]): Promise<RedisServer> {
  const server = await RedisServer.start(...settings);
  ends.push(() => server.stop());
  return server;
}

async function open(
  address: RedisAddress,
  replicas = 0,
  warn: (text: string) => void = () => {},
): Promise<Journal> {
  const journal = await openRedisJournal({ address, secret: SECRET, replicas, warn });
  ends.push(() => journal.close());
  return journal;
}

async function take(journal: Journal, key = KEY): Promise<Granted> {
  const granted = await journal.lease(key, 5_000);
  if (granted === undefined) throw new Error("the lease was not granted");
  return granted;
}

/** A lease whose reply was lost runs out. */
async function takeAtLast(journal: Journal, key: JournalKey): Promise<Granted> {
  for (;;) {
    const granted = await insist(() => journal.lease(key, 10));
    if (granted !== undefined) return granted;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe("a Redis that is killed", () => {
  test("with appendfsync always has everything that was acknowledged, and is used again by itself", async () => {
    const server = await serve("--appendonly", "yes", "--appendfsync", "always");
    const journal = await open(server.address);
    const acknowledged: string[] = [];
    const posts = Array.from({ length: 200 }, async (_, i) => {
      await journal.post(KEY, message(`m${i}`));
      acknowledged.push(`m${i}`);
    });
    const settled = Promise.allSettled(posts);
    await until(() => acknowledged.length > 0);
    await server.kill();
    await settled;
    await server.restart();
    const kept = (await journal.read(KEY)).map(({ id }) => id);
    expect(kept).toEqual(expect.arrayContaining(acknowledged));
    expect(await journal.check()).toBeUndefined();
    expect(await take(journal)).toMatchObject({ attempts: 1 });
  });

  test("keeps a lease and its token, so a paused worker is fenced after it too", async () => {
    const server = await serve("--appendonly", "yes", "--appendfsync", "always");
    const journal = await open(server.address);
    await journal.post(KEY, message("a"));
    const { lease } = await take(journal);
    await server.kill();
    await server.restart();
    expect(await journal.lease(KEY, 1_000)).toBeUndefined();
    expect(await journal.renew({ ...lease, token: "another" })).toEqual({ kind: "fenced" });
    expect(await journal.append(lease, 1, [started])).toMatchObject({ kind: "ok" });
  });

  test("and lost entries that it had acknowledged says so instead of going on from what is not there", async () => {
    const server = await serve();
    const journal = await open(server.address);
    for (const id of ["a", "b", "c"]) await journal.post(KEY, message(id));
    const { lease } = await take(journal);
    const hash = server.cli("--scan", "--pattern", "*:journal:*");
    const heard: number[] = [];
    journal.watch(KEY, (last) => heard.push(last));
    await until(() => heard.at(-1) === 3);
    server.cli("HSET", hash, "last", "2");
    await until(() => heard.at(-1) === 2);
    expect(await journal.append(lease, 3, [started])).toEqual({ kind: "lost" });
    expect(await journal.release(lease, 3)).toEqual({ kind: "lost" });
    await expect(journal.read(KEY, 3)).rejects.toMatchObject({ code: "JOURNAL_LOST" });
  });

  test("is waited for while it restarts: what was not sent yet is sent then", async () => {
    const server = await serve("--appendonly", "yes", "--appendfsync", "always");
    const journal = await open(server.address);
    await journal.post(KEY, message("a"));
    await server.kill();
    const posted = insist(() => journal.post(KEY, message("b")));
    await server.restart();
    expect(await posted).toMatchObject({ entry: { seq: 2 } });
  });
});

test("a Redis that was away is said to answer again, once", async () => {
  const server = await serve("--appendonly", "yes", "--appendfsync", "always");
  const said: string[] = [];
  const journal = await open(server.address, 0, (text) => said.push(text));
  said.length = 0;
  await server.kill();
  const code = "STORE_UNAVAILABLE";
  await expect(journal.post(KEY, message("a"))).rejects.toMatchObject({ code });
  await expect(journal.post(KEY, message("a"))).rejects.toMatchObject({ code });
  expect(said).toEqual([]);
  await server.restart();
  await insist(() => journal.post(KEY, message("a")));
  await journal.post(KEY, message("b"));
  expect(said).toEqual([expect.stringMatching(/^Redis at .* answers again, after \d+\.\d s\.$/)]);
});

describe("a connection that is cut", () => {
  test("at any byte of a reply leaves each post and each append written once when it is asked again", async () => {
    const server = await serve();
    let cuts = 0;
    const from = async (first: number) => {
      const proxy = await createCuttingProxy(server.path);
      ends.push(() => proxy.close());
      const journal = await open(proxy.address);
      for (let cut = first; cut < first + 6; cut++) {
        const key: JournalKey = `test:cut${cut}`;
        proxy.cutAfter(cut);
        await insist(() => journal.post(key, message("a")));
        await insist(() => journal.post(key, message("b")));
        proxy.cutAfter(cut);
        const { lease } = await takeAtLast(journal, key);
        proxy.cutAfter(cut * 8);
        const appended = await insist(() => journal.append(lease, 2, [started]));
        expect(appended).toMatchObject({ kind: "ok" });
        const ids = await insist(() => journal.read(key));
        expect(ids.map(({ id }) => id)).toEqual(["a", "b", started.id]);
      }
      expect(await insist(() => journal.check())).toBeUndefined();
      cuts += proxy.cuts();
    };
    await Promise.all([0, 6, 12, 18].map(from));
    expect(cuts).toBeGreaterThan(60);
  });
});

// All wait for 2 s and more: at the same time.
describe("a connection", () => {
  test.concurrent("to a server that no longer answers costs 2 s and no more, blocks nothing else, and is kept for when it does", async () => {
    const server = await serve();
    const journal = await open(server.address);
    await journal.post(KEY, message("a"));
    const connections = () => {
      const each = server.cli("CLIENT", "LIST").split("\n");
      return each.flatMap((one) => /^id=(\d+) .* name=watchkeeper /.exec(one)?.[1] ?? []);
    };
    const before = connections();
    server.freeze();
    let ticks = 0;
    const timer = setInterval(() => ticks++, 10);
    const gaveUp: number[] = [];
    const verbs = [journal.read(KEY), journal.post(KEY, message("b")), journal.lease(KEY, 1_000)];
    for (const verb of verbs) verb.catch(() => gaveUp.push(performance.now()));
    for (const each of await Promise.allSettled(verbs)) {
      expect(each).toMatchObject({ status: "rejected", reason: { code: "STORE_UNAVAILABLE" } });
    }
    clearInterval(timer);
    // One after the other it would be 2 s from each to the next.
    expect(Math.max(...gaveUp) - Math.min(...gaveUp)).toBeLessThan(2_000);
    expect(ticks).toBeGreaterThan(5);
    server.thaw();
    expect(await insist(() => journal.post(KEY, message("b")))).toMatchObject({
      entry: { seq: 2 },
    });
    await until(() => connections().length === 2);
    expect(before).toHaveLength(2);
    expect(connections()).toEqual(before);
  });

  test.concurrent("that the network has forgotten costs 2 s, and then the store is there again by a new one", async () => {
    const server = await serve();
    const proxy = await createCuttingProxy(server.path);
    ends.push(() => proxy.close());
    const journal = await open(proxy.address);
    await journal.post(KEY, message("a"));
    proxy.swallow();
    const [posted, leased] = await Promise.all([
      insist(() => journal.post(KEY, message("b"))),
      insist(() => journal.lease(KEY, 1_000)),
    ]);
    expect(posted).toMatchObject({ entry: { seq: 2 } });
    expect(leased).toMatchObject({ attempts: 1 });
  });

  test.concurrent("on which answers come, only late, is kept, and what waits its turn for longer than 2 s is done", async () => {
    const server = await serve();
    const proxy = await createCuttingProxy(server.path);
    ends.push(() => proxy.close());
    const journal = await open(proxy.address);
    proxy.delay(100);
    const began = performance.now();
    const asked = Array.from({ length: 22 }, (_, i) => journal.post(KEY, message(`m${i}`)));
    const posted = await Promise.all(asked);
    expect(performance.now() - began).toBeGreaterThan(2_000);
    expect(posted.map(({ entry }) => entry.seq)).toEqual(asked.map((_, i) => i + 1));
    expect(server.cli("CLIENT", "LIST").match(/name=watchkeeper/g)).toHaveLength(2);
  });
});

describe("a Redis that is full", () => {
  test("is a clear error, leaves nothing half-written and still answers", async () => {
    const server = await serve("--maxmemory", "4mb", "--maxmemory-policy", "noeviction");
    const journal = await open(server.address);
    let written = 0;
    const fill = async () => {
      for (;;) {
        await journal.post(KEY, message(`m${written}`, "x".repeat(20_000)));
        written += 1;
      }
    };
    await expect(fill()).rejects.toMatchObject({ code: "STORE_FULL" });
    expect(await journal.read(KEY)).toHaveLength(written);
    expect(await journal.check()).toBeUndefined();
    server.cli("CONFIG", "SET", "maxmemory", "0");
    expect(await journal.post(KEY, message("after"))).toMatchObject({ duplicate: false });
  });
});

describe("a Redis with replicas", () => {
  /** Two servers, the second the first's replica, and the way to say that they are the other way round. */
  async function pair() {
    const ports = [await freePort(), await freePort()] as const;
    const [one, two] = await Promise.all(
      ports.map((port) =>
        serve("--port", String(port), "--bind", "127.0.0.1", "--repl-diskless-sync", "no"),
      ),
    );
    if (one === undefined || two === undefined) throw new Error("no servers");
    const follow = async () => {
      two.cli("REPLICAOF", "127.0.0.1", String(ports[0]));
      await until(() => /slave0:.*state=online/.test(one.cli("INFO", "replication")));
    };
    const promote = () => {
      two.cli("REPLICAOF", "NO", "ONE");
      one.cli("REPLICAOF", "127.0.0.1", String(ports[1]));
    };
    await follow();
    return { primary: one, replica: two, follow, promote };
  }
  const lengthIn = (server: RedisServer) =>
    server.cli("LLEN", server.cli("--scan", "--pattern", "*:entries:*"));

  test("has what is flushed on one of them before it says so, whoever wrote it, and each use that is set aside", async () => {
    const { primary, replica } = await pair();
    const [journal, other] = [await open(primary.address), await open(primary.address)];
    for (let i = 0; i < 5; i++) {
      await journal.post(KEY, message(`m${i}`));
      expect(await other.flush(KEY, i + 1)).toBe("ok");
      expect(lengthIn(replica)).toBe(String(i + 1));
    }
    const { lease } = await take(journal);
    await journal.append(lease, 5, [started]);
    expect(await journal.flush(KEY, 6)).toBe("ok");
    expect(lengthIn(replica)).toBe("6");
    const use = await journal.reserve("uses", 1, 1);
    if (use === undefined) throw new Error("nothing was set aside");
    expect(await other.flushReservation(use)).toBe("ok");
    expect(replica.cli("GET", replica.cli("--scan", "--pattern", "*:counter:uses"))).toBe("1");
  });

  test("those that wait for them together wait once", async () => {
    const { primary } = await pair();
    const journal = await open(primary.address);
    const keys = Array.from({ length: 50 }, (_, i): JournalKey => `test:burst${i}`);
    await Promise.all(keys.map((key) => journal.post(key, message("a"))));
    const waits = () =>
      Number(/cmdstat_wait:calls=(\d+)/.exec(primary.cli("INFO", "commandstats"))?.[1] ?? 0);
    const before = waits();
    const flushed = await Promise.all(keys.map((key) => journal.flush(key, 1)));
    expect(new Set(flushed)).toEqual(new Set(["ok"]));
    expect(waits() - before).toBeLessThanOrEqual(2);
  });

  test("a flush says what a failover has lost, though the new primary has replicated all that it has", async () => {
    const { primary, replica, promote } = await pair();
    const proxy = await createCuttingProxy(primary.path);
    ends.push(() => proxy.close());
    const journal = await open(proxy.address);
    const { entry } = await journal.post(KEY, message("a"));
    expect(await journal.flush(KEY, { last: 1, head: entry.head })).toBe("ok");
    replica.cli("REPLICAOF", "NO", "ONE");
    const late = await journal.post(KEY, message("b"));
    proxy.leadTo(replica.path);
    promote();
    const said = await insist(() => journal.flush(KEY, { last: 2, head: late.entry.head }));
    expect(said).toBe("lost");
  });

  test("counts as away for a flush while no replica confirms; the rest goes on, and asking again is harmless", async () => {
    const { primary, replica } = await pair();
    const journal = await open(primary.address);
    await journal.post(KEY, message("a"));
    const { lease } = await take(journal);
    replica.freeze();
    expect(await journal.append(lease, 1, [started])).toMatchObject({ kind: "ok" });
    const refused = journal.flush(KEY, 2);
    expect(await journal.renew(lease)).toMatchObject({ kind: "ok" });
    await expect(refused).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("replica"),
    });
    await expect(journal.flush(KEY, 2)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    replica.thaw();
    expect(await insist(() => journal.flush(KEY, 2))).toBe("ok");
    expect(lengthIn(replica)).toBe("2");
    expect((await journal.read(KEY)).map(({ id }) => id)).toEqual(["a", started.id]);
  });

  test("that it is expected to have and has lost flushes nothing; the rest goes on", async () => {
    const { primary, replica, follow } = await pair();
    const journal = await open(primary.address, 1);
    await journal.post(KEY, message("a"));
    const { lease } = await take(journal);
    replica.cli("REPLICAOF", "NO", "ONE");
    await until(() => primary.cli("INFO", "replication").includes("connected_slaves:0"));
    const alone = {
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("has 0 of its 1 replicas (redis.replicas)"),
    };
    await expect(journal.flush(KEY, 1)).rejects.toMatchObject(alone);
    expect(await journal.renew(lease)).toMatchObject({ kind: "ok", last: 1 });
    const note = { id: "n", kind: "notice", text: "n" } as const;
    expect(await journal.append(lease, 1, [note])).toMatchObject({ kind: "ok" });
    await expect(journal.flush(KEY, 2)).rejects.toMatchObject(alone);
    await follow();
    expect(await insist(() => journal.flush(KEY, 2))).toBe("ok");
    expect(lengthIn(replica)).toBe("2");
  });

  test("is followed to the one that takes its place behind the same address, though the connection stays with the old one", async () => {
    const { primary, replica, promote } = await pair();
    const proxy = await createCuttingProxy(primary.path);
    ends.push(() => proxy.close());
    const journal = await open(proxy.address);
    await journal.post(KEY, message("a"));
    const { lease } = await take(journal);
    proxy.leadTo(replica.path);
    promote();
    // The one connection and then the other.
    expect(await insist(() => journal.renew(lease))).toMatchObject({ kind: "ok", last: 1 });
    const posted = await insist(() => journal.post(KEY, message("b")));
    expect(posted).toMatchObject({ entry: { seq: 2 } });
    expect(await insist(() => journal.append(lease, 2, [started]))).toMatchObject({ kind: "ok" });
    expect(await insist(() => journal.flush(KEY, 3))).toBe("ok");
    expect(lengthIn(replica)).toBe("3");
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const at = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof at === "object" && at !== null ? at.port : 0;
}

test("where replicas are expected and the server can tell, both disks are waited for", async () => {
  const asked: unknown[] = [];
  const says = (reply: unknown) => ({
    wait: async () => Promise.reject(new Error("WAIT says nothing of disks")),
    sendCommand: async (command: readonly string[]) => {
      asked.push(command);
      return reply as never;
    },
  });
  await confirm(says([1, 2]), "Redis", 2, true);
  expect(asked).toEqual([["WAITAOF", "1", "2", "1000"]]);
  for (const reply of [[0, 2], [1, 1], []]) {
    await expect(confirm(says(reply), "Redis", 2, true)).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("disks"),
    });
  }
});
