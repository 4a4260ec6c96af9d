import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Journal } from "../../src/journal/journal.ts";
import { openRedisJournal } from "../../src/journal/redis/journal.ts";
import { asked, TWO } from "../fakes/asked.ts";
import { grantContract } from "../contracts/grants.ts";
import { RedisServer } from "../fakes/redis-server.ts";
import { createStage, KEY } from "../fakes/stage.ts";
import { insist } from "../until.ts";

const SECRET = "a secret of the tests, 32 long or more";

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

describe("two workers on one Redis", () => {
  const journals: Journal[] = [];
  beforeEach(() => void server.cli("FLUSHALL"));
  afterEach(async () => {
    for (const each of journals.splice(0)) await each.close();
  });
  const open = async () => {
    const journal = await openRedisJournal({ address: server.address, secret: SECRET });
    journals.push(journal);
    return journal;
  };

  test("an approval that was asked for by one is decided by the other, and carried out once", async () => {
    const { act, chat, click, settle, entries } = await asked({
      journal: await open(),
      approvals: TWO,
    });
    const other = await createStage({ tools: [act], journal: await open(), chat, approvals: TWO });
    await other.click("a1", { kind: "approve" }, "test:bob");
    await other.settle();
    expect(act.runs).toEqual([]);
    await click("a1", { kind: "approve" }, "test:cy");
    await other.settle();
    await settle();
    expect(act.runs).toEqual(["web"]);
    expect(chat.cards()).toMatchObject([{ phase: "done" }]);
    expect((await entries()).filter(({ kind }) => kind === "tool_started")).toHaveLength(1);
  });

  test("a hundred clicks that race on both cause one effect, and every click its vote or its word", async () => {
    const { act, chat, post, settle, kinds, worker } = await asked({ journal: await open() });
    const other = await createStage({ tools: [act], journal: await open(), chat });
    await Promise.all(
      Array.from({ length: 100 }, async (_, i) => {
        const name = i % 2 === 0 ? "ana" : "bob";
        const click = {
          id: `click:race${i}`,
          kind: "click",
          actor: { account: `test:${name}`, name },
          action: "a1",
          revision: 1,
          choice: { kind: "approve" },
          via: "typed",
        } as const;
        // A store that is slow for a while is asked again, as adapters and wake-ups do.
        await insist(() => (i % 3 === 0 ? other.post : post)(click));
        await Promise.all([worker, other.worker].map((each) => insist(() => each.work(KEY))));
      }),
    );
    await settle();
    await other.settle();
    expect(act.runs).toEqual(["web"]);
    const votes = (await kinds()).filter((kind) => kind === "vote").length;
    expect(votes + chat.whispers().length).toBe(100);
  });

  test("a Stop that the other hears of reaches the one that works", async () => {
    const { act, chat, click, settle, say } = await asked({
      journal: await open(),
      approvals: TWO,
    });
    const other = await createStage({ tools: [act], journal: await open(), chat, approvals: TWO });
    await click("a1", { kind: "approve" }, "test:bob");
    await settle();
    await other.post({ id: "stop:1", kind: "stop", actor: { account: "test:cy", name: "cy" } });
    await click("a1", { kind: "approve" }, "test:cy");
    await settle();
    await say("status");
    await other.settle();
    expect(act.runs).toEqual([]);
    expect(chat.cards()).toMatchObject([{ phase: "cancelled" }]);
  });

  test.each([
    ["the start and the result", ["started:r1.t1", "finished:r1.t1"]],
    ["the start", ["started:r1.t1"]],
    ["the result", ["finished:r1.t1"]],
  ])(
    "an approved action is not run when somebody without the secret makes them believe that they wrote: %s",
    async (_, forged) => {
      const { act, chat, click, worker, entries } = await asked({ journal: await open() });
      const other = await createStage({ tools: [act], journal: await open(), chat });
      const ids = server.cli("--scan", "--pattern", `*:ids:${KEY}`);
      const known = server.cli("HKEYS", ids).split("\n");
      await click("a1", { kind: "approve" }, "test:bob");
      // As many fields as there are entries: their number gives nothing away.
      server.cli("HDEL", ids, ...known.slice(0, forged.length));
      for (const id of forged) server.cli("HSET", ids, id, "1");
      const altered = { code: "JOURNAL_ALTERED" };
      await expect(worker.work(KEY)).rejects.toMatchObject(altered);
      server.cli("HSET", server.cli("--scan", "--pattern", `*:journal:${KEY}`), "dueAt", "1");
      await expect(other.worker.work(KEY)).rejects.toMatchObject(altered);
      const isStartForged = forged.includes("started:r1.t1");
      expect(act.runs).toEqual(isStartForged ? [] : ["web"]);
      const started = (await entries()).filter(({ kind }) => kind === "tool_started");
      expect(started).toHaveLength(isStartForged ? 0 : 1);
    },
  );

  test("a deny that somebody without the secret keeps from being written is not lost: nothing goes on", async () => {
    const { act, click, settle, entries, worker } = await asked({ journal: await open() });
    await click("a1", { kind: "deny" }, "test:bob");
    const clicked = (await entries()).find(({ kind }) => kind === "click")?.id ?? "";
    const ids = server.cli("--scan", "--pattern", `*:ids:${KEY}`);
    server.cli("HDEL", ids, "msg:1");
    server.cli("HSET", ids, `vote:${clicked}`, "1");
    await expect(worker.work(KEY)).rejects.toMatchObject({ code: "JOURNAL_ALTERED" });
    server.cli("HDEL", ids, `vote:${clicked}`);
    server.cli("HSET", ids, "msg:1", "1");
    server.cli("HSET", server.cli("--scan", "--pattern", `*:journal:${KEY}`), "dueAt", "1");
    await settle();
    expect(act.runs).toEqual([]);
    expect((await entries()).map(({ id }) => id)).toContain(`vote:${clicked}`);
  });
});

grantContract(
  "Redis",
  async () => {
    server.cli("FLUSHALL");
    const journal = await openRedisJournal({ address: server.address, secret: SECRET });
    return { journal, close: () => journal.close() };
  },
  8,
);
