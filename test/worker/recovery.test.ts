import { describe, expect, test } from "vitest";
import type { Entry, StoredEntry } from "../../src/core/entry.ts";
import { createChat } from "../fakes/chat.ts";
import { createStage, fakeTool, KEY } from "../fakes/stage.ts";

/** Leaves the journal as a worker does that is killed right after it wrote `tool_started`. */
async function killed(options: {
  effect: "read" | "write";
  verify?: () => Promise<{ verdict: "done" | "not done" | "unknown"; evidence: string }>;
}) {
  const act = fakeTool({ name: "act", ...options });
  const clock = { now: 1_000_000 };
  const approvals = { rules: [{ match: { tool: "act" }, decide: "allow" as const }] };
  const stage = await createStage({ tools: [act], approvals, now: () => clock.now });
  await stage.say("run act name=web");
  const granted = await stage.journal.lease(KEY, 2_000);
  if (granted === undefined) throw new Error("not granted");
  const { lease } = granted;
  await stage.journal.append(lease, 1, [
    {
      id: "run:r1",
      kind: "run_started",
      run: "r1",
      answers: ["msg:1"],
      principals: ["test:ana"],
      calls: [{ call: "r1.t1", tool: "act", args: { name: "web" } }],
    },
  ]);
  await stage.journal.append(lease, 2, [
    {
      id: "started:r1.t1",
      kind: "tool_started",
      run: "r1",
      call: "r1.t1",
      tool: "act",
      effect: options.effect,
      digest: "d",
    },
  ]);
  clock.now += 2_000;
  return { ...stage, act, lease, clock };
}

describe("after a worker was killed while a tool ran", () => {
  test("a read is simply run again", async () => {
    const { act, settle, chat } = await killed({ effect: "read" });
    await settle();
    expect(act.runs).toEqual(["web"]);
    expect(chat.answers()).toMatchObject([{ status: "completed" }]);
  });

  test("a read that was stopped or denied, or has to be approved by now, is not run again", async () => {
    const stopped = await killed({ effect: "read" });
    await stopped.say("stop");
    await stopped.settle();
    expect(stopped.act.runs).toEqual([]);
    expect(stopped.chat.answers()).toMatchObject([
      { status: "cancelled", results: [{ outcome: "cancelled" }] },
    ]);
    const denied = await killed({ effect: "read" });
    denied.parts.policy.rules.unshift({ match: { tool: ["act"] }, decide: "deny" } as never);
    await denied.settle();
    expect(denied.act.runs).toEqual([]);
    expect(denied.chat.answers()).toMatchObject([{ results: [{ outcome: "blocked" }] }]);
    const asks = await killed({ effect: "read" });
    asks.parts.policy.rules.unshift({ match: { tool: ["act"] }, decide: "ask" });
    await asks.settle();
    expect(asks.act.runs).toEqual([]);
    const [answer] = asks.chat.answers();
    expect(answer?.results).toMatchObject([
      { outcome: "blocked", text: expect.stringMatching(/cut off.*needs approval by now/) },
    ]);
    await asks.say("run act name=web");
    await asks.settle();
    expect(asks.chat.cards()).toMatchObject([{ phase: "open" }]);
  });

  test("a write is never run again: its outcome is unknown, and people are told", async () => {
    const { act, settle, chat } = await killed({ effect: "write" });
    await settle();
    expect(act.runs).toEqual([]);
    expect(chat.notices()).toMatchObject([
      { settles: "r1.t1", text: expect.stringContaining("UNKNOWN outcome of r1.t1") },
    ]);
    expect(chat.answers()).toMatchObject([{ status: "failed", results: [{ outcome: "unknown" }] }]);
  });

  test("a verifier may say that it was done", async () => {
    const verify = async () => ({ verdict: "done" as const, evidence: "started 3 s ago" });
    const { act, settle, chat } = await killed({ effect: "write", verify });
    await settle();
    expect(act.runs).toEqual([]);
    const [answer] = chat.answers();
    expect(answer).toMatchObject({ status: "completed", results: [{ outcome: "ok" }] });
    expect(answer?.results[0]?.text).toContain("Checked afterwards: it was done. started 3 s ago");
  });

  test("a verifier's 'not done' is evidence, not an outcome", async () => {
    const verify = async () => ({
      verdict: "not done" as const,
      evidence: "still the old process",
    });
    const { settle, chat } = await killed({ effect: "write", verify });
    await settle();
    const [answer] = chat.answers();
    expect(answer?.results[0]).toMatchObject({
      outcome: "unknown",
      text: expect.stringContaining("still the old process"),
    });
    expect(answer?.results[0]?.text).not.toMatch(/not executed|didn't run/);
  });

  test("a person settles what is unknown, once", async () => {
    const { settle, click, kinds, chat } = await killed({ effect: "write" });
    await settle();
    await click("r1.t1", { kind: "settle", happened: true, reason: "I looked" }, "test:bob");
    await click("r1.t1", { kind: "settle", happened: false }, "test:cy");
    await settle();
    expect((await kinds()).filter((kind) => kind === "settled")).toHaveLength(1);
    expect(chat.whispers()).toEqual([expect.stringContaining("no unknown outcome to settle")]);
  });

  test("the old worker, if it wakes up, can write nothing; its late word reaches the thread", async () => {
    const { settle, journal, lease, post, chat } = await killed({ effect: "write" });
    await settle();
    const finished = {
      id: "finished:r1.t1",
      kind: "tool_finished",
      run: "r1",
      call: "r1.t1",
      outcome: "ok",
      text: "did it",
    } as const;
    expect(await journal.append(lease, 3, [finished])).toEqual({ kind: "fenced" });
    await post({ id: "late:r1.t1", kind: "signal", call: "r1.t1", outcome: "ok", text: "did it" });
    await settle();
    const told = chat.notices().map((notice) => notice.text);
    expect(told).toEqual([
      expect.stringContaining("UNKNOWN"),
      expect.stringMatching(/r1.t1 reported back late.*ok\. did it/),
    ]);
  });
});

test("a late word is told also when a person has already said what happened", async () => {
  const { settle, click, post, chat } = await killed({ effect: "write" });
  await settle();
  await click("r1.t1", { kind: "settle", happened: false }, "test:bob");
  await settle();
  await post({ id: "late:r1.t1", kind: "signal", call: "r1.t1", outcome: "ok", text: "did it" });
  await settle();
  const last = chat.notices().at(-1);
  expect(last).toMatchObject({
    text: expect.stringContaining("r1.t1 reported back late"),
    settles: undefined,
  });
});

describe("work that crashes again and again", () => {
  test("is put aside after two crashes, with a word to the thread, and taken up when someone writes", async () => {
    const { settle, journal, clock, act, chat, say } = await killed({ effect: "read" });
    await journal.lease(KEY, 2_000);
    clock.now += 2_000;
    await settle();
    expect(act.runs).toEqual([]);
    expect(chat.notices()).toMatchObject([{ text: expect.stringContaining("crashed twice") }]);
    await settle();
    expect(act.runs).toEqual([]);
    await say("hello?");
    await settle();
    expect(act.runs).toEqual(["web"]);
  });

  test("written by a newer program, a thread is left alone", async () => {
    const { journal, settle, entries } = await killed({ effect: "read" });
    const before = (await entries()).length;
    const read = journal.read;
    journal.read = async (key, after) => {
      const seen = await read(key, after);
      return [
        ...seen.slice(0, 1),
        { seq: 2, at: 0, id: "n", kind: "newer", written: "hologram/1" },
        ...seen.slice(2),
      ];
    };
    await settle();
    journal.read = read;
    expect(await entries()).toHaveLength(before);
  });
});

describe("a newer program that writes while this one works", () => {
  test("ends it: what runs is written down, nothing else is decided, and the lease is given back", async () => {
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const act = fakeTool({
      name: "act",
      effect: "write",
      run: async () => {
        begun.resolve();
        await gate.promise;
        return { text: "done" };
      },
    });
    const approvals = { rules: [{ match: { tool: "act" }, decide: "allow" as const }] };
    const stage = await createStage({ tools: [act], approvals });
    const { read, append } = stage.journal;
    const alien = (seen: StoredEntry[]): StoredEntry[] =>
      seen.map((entry) => {
        if (entry.kind !== "message") return entry;
        return { seq: entry.seq, at: entry.at, id: entry.id, kind: "newer", written: "hologram/1" };
      });
    stage.journal.read = async (...asked) => alien(await read(...asked));
    stage.journal.append = async (...asked) => {
      const reply = await append(...asked);
      return "unseen" in reply ? { ...reply, unseen: alien(reply.unseen) } : reply;
    };
    await stage.say("run act name=web");
    const work = stage.settle();
    await begun.promise;
    await stage.say("what a newer program wrote");
    gate.resolve();
    await work;
    expect((await stage.kinds()).slice(-2)).toEqual(["newer", "tool_finished"]);
    const now = Date.now();
    for await (const { leased, dueAt } of stage.journal.list()) {
      expect(leased).toBe(false);
      expect(dueAt).toBeGreaterThan(now);
    }
  });
});

test("a shutdown that comes while the lease is being taken begins nothing", async () => {
  const look = fakeTool({ name: "look" });
  const stage = await createStage({ tools: [look] });
  const { lease } = stage.journal;
  stage.journal.lease = async (...asked) => {
    await stage.worker.stop(0);
    return lease(...asked);
  };
  await stage.say("run look name=web");
  await stage.settle();
  expect(look.runs).toEqual([]);
  expect(await stage.kinds()).toEqual(["command"]);
  for await (const { leased } of stage.journal.list()) expect(leased).toBe(false);
});

test("a view whose progress fails takes nothing with it", async () => {
  const look = fakeTool({ name: "look" });
  const chat = createChat();
  const view = chat.adapter.view(KEY);
  if (view === undefined) throw new Error("no view");
  view.progress = () => {
    throw new Error("screen gone");
  };
  const stage = await createStage({ tools: [look], chat });
  await stage.say("run look name=web");
  await stage.settle();
  expect(chat.answers()).toMatchObject([{ status: "completed" }]);
});

describe("a chat that refuses", () => {
  test("is tried again later, and nothing owed is forgotten", async () => {
    let down = true;
    const chat = createChat({
      refuse: () => {
        if (down) throw new Error("429");
      },
    });
    const look = fakeTool({ name: "look" });
    const clock = { now: 1_000_000 };
    const stage = await createStage({ tools: [look], chat, now: () => clock.now });
    await stage.say("run look name=web");
    await stage.settle();
    expect(chat.answers()).toEqual([]);
    const due = async () => {
      for await (const key of stage.journal.due()) return key;
      return undefined;
    };
    expect(await due()).toBeUndefined();
    clock.now += 6_000;
    expect(await due()).toBe(KEY);
    down = false;
    await stage.settle();
    expect(chat.answers()).toHaveLength(1);
    expect(look.runs).toEqual(["web"]);
  });
});

test("two views of one thread are both shown everything from then on", async () => {
  const look = fakeTool({ name: "look" });
  const stage = await createStage({ tools: [look] });
  await stage.say("run look name=a");
  await stage.settle();
  const granted = await stage.journal.lease(KEY, 2_000);
  if (granted === undefined) throw new Error("not granted");
  const { last } = await stage.thread();
  await stage.journal.append(granted.lease, last, [
    { id: "view:x", kind: "view_added", view: "test:elsewhere" },
  ]);
  await stage.journal.release(granted.lease, last + 1);
  await stage.say("run look name=b");
  await stage.settle();
  const delivered = (await stage.entries()).filter(
    (entry) => entry.kind === "delivered" && entry.entry.startsWith("ended:"),
  ) as Entry<"delivered">[];
  expect(delivered.map(({ view, entry }) => `${view} ${entry}`)).toEqual([
    "main ended:r1",
    "main ended:r2",
    "test:elsewhere ended:r2",
  ]);
});

test("a decision that is written and changes nothing is a fault, and is not taken again for ever", async () => {
  const stage = await createStage({ tools: [fakeTool({ name: "look" })] });
  const { append } = stage.journal;
  stage.journal.append = async (...asked) => {
    const reply = await append(...asked);
    return reply.kind === "ok" ? { ...reply, unseen: [] } : reply;
  };
  await stage.say("run look name=web");
  await expect(stage.settle()).rejects.toThrow("run:r1 was decided again though it is written.");
});
