import { describe, expect, test, vi } from "vitest";
import { BotError } from "../../src/core/errors.ts";
import { createChat } from "../fakes/chat.ts";
import { createStage, fakeTool, KEY, type Stage } from "../fakes/stage.ts";

const ALLOW = { rules: [{ match: { tool: "act" }, decide: "allow" as const }] };

/** The time that has passed for this process's clock and for the store's, beside the real one. */
function createPause() {
  const real = performance.now.bind(performance);
  const pause = { ms: 0 };
  vi.spyOn(performance, "now").mockImplementation(() => real() + pause.ms);
  return { pause, store: () => 1_000_000 + Math.floor(real()) + pause.ms };
}

/** Another worker takes the thread right after this one has written that it starts. */
function takenAtStart({ journal }: Stage, pauseMs: () => void): void {
  const { append, lease } = journal;
  journal.append = async (...asked) => {
    const reply = await append(...asked);
    if (asked[2].some(({ kind }) => kind === "tool_started")) {
      pauseMs();
      expect(await lease(KEY, 60_000)).toBeDefined();
    }
    return reply;
  };
}

describe("between `tool_started` and its first byte", () => {
  test("a worker that was frozen past its lease asks whether it still has it, and does nothing when it has not", async () => {
    const { pause, store } = createPause();
    const act = fakeTool({ name: "act", effect: "write" });
    const stage = await createStage({ tools: [act], approvals: ALLOW, now: store });
    takenAtStart(stage, () => {
      pause.ms += 10_000;
    });
    await stage.say("run act name=web");
    await stage.settle();
    expect(await stage.kinds()).toContain("tool_started");
    expect(act.runs).toEqual([]);
  });

  test.each(["lease", "renew"] as const)(
    "a lease ends so long after it was asked for, however late the reply to %s came",
    async (verb) => {
      const { pause, store } = createPause();
      const checking = Promise.withResolvers<void>();
      const letGo = Promise.withResolvers<void>();
      const act = fakeTool({
        name: "act",
        effect: "write",
        precheck: async () => {
          checking.resolve();
          await letGo.promise;
        },
      });
      const leaseMs = 300;
      const stage = await createStage({ tools: [act], approvals: ALLOW, now: store, leaseMs });
      let isTaken = false;
      takenAtStart(stage, () => {
        isTaken = true;
      });
      const { lease, renew } = stage.journal;
      const cameLate = Promise.withResolvers<void>();
      let replies = 0;
      // The first reply takes long, and later requests get none until the worker asks before it acts.
      const late = async <T>(reply: T): Promise<T> => {
        replies += 1;
        if (replies > 1 && !isTaken) return new Promise(() => {});
        if (replies === 1) {
          pause.ms += leaseMs - 10;
          cameLate.resolve();
        }
        return reply;
      };
      stage.journal.renew = async (held) => late(await renew(held));
      if (verb === "lease") stage.journal.lease = async (...asked) => late(await lease(...asked));
      await stage.say("run act name=web");
      const work = stage.settle();
      await checking.promise;
      await cameLate.promise;
      pause.ms += 20;
      letGo.resolve();
      await work;
      expect(await stage.kinds()).toContain("tool_started");
      expect(act.runs).toEqual([]);
    },
  );
});

test.each([
  ["ok", async () => ({ text: "did it" })],
  ["error", async () => Promise.reject(new Error("no such service"))],
  ["unknown", async () => Promise.reject(new BotError("TIMEOUT", "cut"))],
] as const)(
  "a worker that lost its thread while its write ran says late that the outcome was %s",
  async (outcome, ending) => {
    const running = Promise.withResolvers<void>();
    const letGo = Promise.withResolvers<void>();
    const act = fakeTool({
      name: "act",
      effect: "write",
      run: async () => {
        running.resolve();
        await letGo.promise;
        return ending();
      },
    });
    const clock = { now: 1_000_000 };
    const chat = createChat();
    const shared = { tools: [act], approvals: ALLOW, chat, now: () => clock.now };
    const stage = await createStage(shared);
    const other = await createStage({ ...shared, journal: stage.journal });
    await stage.say("run act name=web");
    const work = stage.settle();
    await running.promise;
    clock.now += 10_000;
    await other.settle();
    letGo.resolve();
    await work;
    await expect.poll(async () => (await stage.kinds()).includes("signal")).toBe(true);
    await other.settle();
    const said = (await stage.entries()).filter((entry) => entry.kind === "signal");
    expect(said).toMatchObject([{ id: "late:r1.t1", call: "r1.t1", outcome }]);
    expect(chat.notices().map(({ text }) => text)).toEqual([
      expect.stringContaining("UNKNOWN"),
      expect.stringContaining(`r1.t1 reported back late: ${outcome}.`),
    ]);
    expect(act.runs).toEqual(["web"]);
  },
);
