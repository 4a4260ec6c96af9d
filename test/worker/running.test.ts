import { describe, expect, test, vi } from "vitest";
import { BotError } from "../../src/core/errors.ts";
import { createQueries } from "../../src/queries/queries.ts";
import { asked } from "../fakes/asked.ts";
import { createStage, fakeTool, KEY } from "../fakes/stage.ts";

describe("while a tool runs", () => {
  const slow = (effect: "read" | "write") => {
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const tool = fakeTool({
      name: "act",
      effect,
      run: async (_, ctx) => {
        begun.resolve();
        const aborted = new Promise<never>((_resolve, reject) => {
          ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason as Error));
        });
        await Promise.race([gate.promise, aborted]);
        return { text: "done" };
      },
    });
    return { tool, gate, begun };
  };
  const approvals = { rules: [{ match: { tool: "act" }, decide: "allow" as const }] };

  test("other commands are answered, and a Stop ends a read within a second", async () => {
    const { tool, begun } = slow("read");
    const look = fakeTool({ name: "look" });
    const stage = await createStage({ tools: [tool, look], approvals });
    await stage.say("run act name=slow");
    const work = stage.settle();
    await begun.promise;
    await stage.say("run look name=web");
    await expect.poll(() => stage.chat.answers().length).toBe(1);
    const began = performance.now();
    await stage.say("stop");
    await work;
    expect(performance.now() - began).toBeLessThan(20_000);
    expect(stage.chat.answers()).toMatchObject([
      { results: [{ tool: "look", outcome: "ok" }] },
      { status: "cancelled", results: [{ tool: "act", outcome: "cancelled" }] },
    ]);
  });

  test("a Stop waits for a write, whose outcome is then told", async () => {
    const { tool, gate, begun } = slow("write");
    const stage = await createStage({ tools: [tool], approvals });
    await stage.say("run act name=slow");
    const work = stage.settle();
    await begun.promise;
    await stage.say("stop");
    await expect.poll(async () => (await stage.thread()).runs.get("r1")?.stopped).toBe(true);
    gate.resolve();
    await work;
    expect(stage.chat.answers()).toMatchObject([{ results: [{ outcome: "ok" }] }]);
  });

  test("a shutdown leaves a read for the next start and waits for a write", async () => {
    for (const effect of ["read", "write"] as const) {
      const { tool, gate, begun } = slow(effect);
      const stage = await createStage({ tools: [tool], approvals });
      await stage.say("run act name=slow");
      const work = stage.settle();
      await begun.promise;
      const stopped = stage.worker.stop(3_000);
      if (effect === "write") gate.resolve();
      await stopped;
      await work;
      const next = await createStage({
        tools: [tool],
        approvals,
        journal: stage.journal,
        chat: stage.chat,
      });
      gate.resolve();
      await next.settle();
      expect(tool.runs).toHaveLength(effect === "read" ? 2 : 1);
      expect(stage.chat.answers()).toMatchObject([{ results: [{ outcome: "ok", text: "done" }] }]);
    }
  });

  test("a write that outlasts the shutdown is written down as unknown", async () => {
    const { tool, begun } = slow("write");
    const stage = await createStage({ tools: [tool], approvals });
    await stage.say("run act name=slow");
    const work = stage.settle();
    await begun.promise;
    await stage.worker.stop(600);
    await work;
    expect((await stage.thread()).unknown.size).toBe(1);
  });

  test("a write that takes longer than it may has an unknown outcome, a read an error", async () => {
    for (const effect of ["read", "write"] as const) {
      const { tool } = slow(effect);
      const stage = await createStage({ tools: [{ ...tool, timeoutMs: 30 }], approvals });
      await stage.say("run act name=slow");
      await stage.settle();
      const outcome = effect === "read" ? "error" : "unknown";
      expect(stage.chat.answers()).toMatchObject([
        { results: [{ outcome, text: expect.stringContaining("0.03 s") }] },
      ]);
    }
  });
});

const TIMERS = ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] as const;

describe("a store that is away", () => {
  const away = async (ms: number) => {
    const look = fakeTool({ name: "look" });
    const stage = await createStage({ tools: [look] });
    const { append } = stage.journal;
    const until = performance.now() + ms;
    const refused = Promise.withResolvers<void>();
    stage.journal.append = async (...wanted) => {
      refused.resolve();
      if (performance.now() < until) throw new BotError("STORE_UNAVAILABLE", "locked");
      return append(...wanted);
    };
    await stage.say("run look name=web");
    return { ...stage, look, refused: refused.promise };
  };

  test("stops everything until it is back, and then the thread is told", async () => {
    const { settle, look, chat } = await away(2_100);
    await settle();
    expect(look.runs).toEqual(["web"]);
    expect(chat.notices()).toMatchObject([
      { text: expect.stringMatching(/did not answer for \d+ s.*It is back/) },
    ]);
    expect(chat.answers()).toHaveLength(1);
  });

  test("for 20 seconds is waited for by the worker that has the thread: it is no crash", async () => {
    vi.useFakeTimers({ toFake: [...TIMERS, "performance"] });
    try {
      const { settle, look, chat, journal } = await away(20_000);
      const { lease } = journal;
      const attempts: (number | undefined)[] = [];
      journal.lease = async (...wanted) => {
        const granted = await lease(...wanted);
        attempts.push(granted?.attempts);
        return granted;
      };
      const work = settle();
      for (let second = 0; second < 25; second++) await vi.advanceTimersByTimeAsync(1_000);
      await work;
      await settle();
      expect(attempts).toEqual([1, 1]);
      expect(look.runs).toEqual(["web"]);
      expect(chat.answers()).toHaveLength(1);
    } finally {
      vi.useRealTimers();
    }
  });

  test("does not hold up a shutdown", async () => {
    const { settle, worker, look, refused } = await away(60_000);
    const work = settle().catch((error: unknown) => error);
    await refused;
    const began = performance.now();
    await worker.stop(600);
    expect(performance.now() - began).toBeLessThan(20_000);
    expect(await work).toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(look.runs).toEqual([]);
  });
});

test("a thread is open as long as anything is owed that needs no person, and no longer", async () => {
  const act = fakeTool({ name: "act", effect: "write" });
  const stage = await createStage({ tools: [act] });
  const queries = createQueries(stage.journal, [act], (text) => text);
  const seen = async () => {
    const { open, openActions } = (await queries.thread(KEY)) ?? {};
    return { open, openActions };
  };
  await stage.say("run act name=web");
  expect(await seen()).toEqual({ open: true, openActions: [] });
  await stage.settle();
  expect(await seen()).toEqual({ open: false, openActions: ["a1"] });
  await stage.click("a1", { kind: "approve" });
  expect(await seen()).toEqual({ open: true, openActions: ["a1"] });
  await stage.settle();
  expect(await seen()).toEqual({ open: false, openActions: [] });
});

test("a list goes by the store's clock: what has not expired there is not said to be owed", async () => {
  const stage = await asked({ now: () => 1_000_000 });
  const queries = createQueries(stage.journal, [stage.act], (text) => text);
  expect(await queries.thread(KEY)).toMatchObject({ openActions: ["a1"], open: false });
});
