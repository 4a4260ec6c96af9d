import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { JournalKey } from "../../src/core/journal-key.ts";
import type { Granted, Journal } from "../../src/journal/journal.ts";
import { openRedisJournal } from "../../src/journal/redis/journal.ts";
import { message } from "../contracts/journal.ts";
import { RedisServer } from "../fakes/redis-server.ts";

const SECRET = "a secret of the tests, 32 long or more";
const KEY: JournalKey = "test:marks";

/** What stands in Redis beside the entries and is not signed: whoever can write there can say anything in it. */
describe("somebody without the secret who changes what Redis says of a journal is not believed", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });

  async function filled() {
    server.cli("FLUSHALL");
    const journal = await openRedisJournal({ address: server.address, secret: SECRET });
    ends.push(() => journal.close());
    for (const i of Array(6).keys()) await journal.post(KEY, message(`m${i}`));
    return journal;
  }
  async function take(journal: Journal): Promise<Granted> {
    const granted = await journal.lease(KEY, 60_000);
    if (granted === undefined) throw new Error("the lease was not granted");
    return granted;
  }
  const named = (part: string) => server.cli("--scan", "--pattern", `*:${part}:${KEY}`);
  const altered = { code: expect.stringMatching(/^(?:JOURNAL_ALTERED|ENTRY_INVALID)$/) };

  describe("by ids of what is yet to be written: none counts as there, and nothing is written", () => {
    const call = { run: "r1", call: "r1.t1" };
    const tool = { tool: "act", effect: "write", digest: "" } as const;
    const STARTED = { id: "started:r1.t1", kind: "tool_started", ...call, ...tool } as const;
    const ended = { outcome: "ok", text: "" } as const;
    const FINISHED = { id: "finished:r1.t1", kind: "tool_finished", ...call, ...ended } as const;
    const NOTE = { id: "n", kind: "notice", text: "n" } as const;

    test.each([
      ["as many ids as entries", ["m0", "m1"]],
      ["more ids than entries", []],
    ])("%s", async (_, dropped) => {
      const journal = await filled();
      const { lease } = await take(journal);
      const head = (await journal.read(KEY)).at(-1)?.head;
      const ids = named("ids");
      const numbers = ["1", "7", "-1", "theirs"];
      for (const id of dropped) server.cli("HDEL", ids, id);
      for (const number of numbers) {
        server.cli("HSET", ids, STARTED.id, number, FINISHED.id, number);
        for (const [after, appended] of [
          [{ last: 6, head }, [STARTED]],
          [2, [STARTED]],
          [{ last: 6, head }, [FINISHED]],
          [2, [FINISHED]],
          [6, [NOTE, STARTED]],
        ] as const) {
          await expect(journal.append(lease, after, appended)).rejects.toMatchObject(altered);
        }
        await expect(journal.post(KEY, message(STARTED.id))).rejects.toMatchObject(altered);
      }
      expect(server.cli("LLEN", named("entries"))).toBe("6");
    });
  });

  test("by a snapshot: whatever is changed of it or put in its place is as if there were none", async () => {
    const journal = await filled();
    const { head = "" } = (await journal.read(KEY)).at(-1) ?? {};
    const snapshot = { version: "v 1", last: 6, head, bytes: Buffer.from("approved by nobody") };
    await journal.keepSnapshot(KEY, snapshot);
    const hash = named("journal");
    const ours = server.cli("HGET", hash, "snapshot");
    expect(await journal.snapshot(KEY, "v 1")).toMatchObject({ last: 6 });
    const { head: earlier = "" } = (await journal.read(KEY)).at(4) ?? {};
    const forged = [
      ours.replace("nobody", "anybod"),
      ours.replace(/^\S+/, "A".repeat(22)),
      ours.replace(" 6 ", " 5 "),
      ours.replace(` 6 ${head}`, ` 5 ${earlier}`),
      ours.slice(0, -1),
      "",
      "theirs",
    ];
    for (const each of forged) {
      server.cli("HSET", hash, "snapshot", each);
      expect(await journal.snapshot(KEY, "v 1")).toBeUndefined();
      expect(await journal.snapshot(KEY, "")).toBeUndefined();
    }
    server.cli("HSET", hash, "snapshot", ours.replace("v 1", "v 2"));
    expect(await journal.snapshot(KEY, "v 2")).toBeUndefined();
    server.cli("HSET", hash, "snapshot", ours);
    expect(await journal.snapshot(KEY, "v 1")).toMatchObject({ last: 6, head });
  });

  test("by its last time: nothing is dated by it, and what is said of the time is not believed", async () => {
    const journal = await filled();
    const { lease } = await take(journal);
    const note = { id: "n", kind: "notice", text: "n" } as const;
    const far = Date.now() + 86_400_000;
    server.cli("HSET", named("journal"), "lastAt", String(far));
    await expect(journal.post(KEY, message("more"))).rejects.toMatchObject(altered);
    await expect(journal.append(lease, 6, [note])).rejects.toMatchObject(altered);
    await expect(journal.append(lease, 6, [note], { before: far - 1 })).rejects.toMatchObject(
      altered,
    );
    const last = server.cli("LINDEX", named("entries"), "5");
    server.cli("LSET", named("entries"), "5", last.replace(/^s\d+/, `s${far}`));
    await expect(journal.append(lease, 6, [note])).rejects.toMatchObject(altered);
    server.cli("LSET", named("entries"), "5", last);
    server.cli("HSET", named("journal"), "lastAt", /^s(\d+)/.exec(last)?.[1] ?? "");
    expect(await journal.append(lease, 6, [note])).toMatchObject({ kind: "ok" });
  });

  test("by what was left for lists: what is not signed, or was signed for another moment or journal, is not shown", async () => {
    const journal = await filled();
    const listed = async () => {
      for await (const each of journal.owed()) return each.listed;
      return "none";
    };
    const leave = async (text: string, after: number) => {
      const { lease } = await take(journal);
      const head = (await journal.read(KEY)).at(-1)?.head;
      await journal.release(lease, { last: after, head }, Date.now() + 60_000, undefined, text);
      return server.cli("HGET", named("journal"), "listed");
    };
    const first = await leave("first", 6);
    await journal.post(KEY, message("more"));
    const second = await leave("second", 7);
    expect(await listed()).toBe("second");
    for (const forged of [first, second.replace("second", "theirs"), "theirs", ""]) {
      server.cli("HSET", named("journal"), "listed", forged);
      expect(await listed()).toBeUndefined();
    }
  });

  test("by a counter below zero: nothing more is set aside from it, and that is said once", async () => {
    server.cli("FLUSHALL");
    const said: string[] = [];
    const warn = (text: string) => void said.push(text);
    const journal = await openRedisJournal({ address: server.address, secret: SECRET, warn });
    ends.push(() => journal.close());
    expect(await journal.reserve("day", 5, 10)).toBeDefined();
    const counter = server.cli("--scan", "--pattern", "*:counter:day");
    for (const used of ["-1000000000000", "-1", "1.5", "theirs"]) {
      server.cli("SET", counter, used);
      expect(await journal.reserve("day", 1, 10)).toBeUndefined();
    }
    expect(said.filter((text) => text.includes(counter))).toHaveLength(1);
    server.cli("DEL", counter);
    expect(await journal.reserve("day", 10, 10)).toBeDefined();
  });
});
