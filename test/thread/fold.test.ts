import { serialize } from "node:v8";
import fc from "fast-check";
import { expect, test } from "vitest";
import { NO_USAGE } from "../../src/core/block.ts";
import type { Draft, Entry } from "../../src/core/entry.ts";
import { BotError } from "../../src/core/errors.ts";
import { noticeId } from "../../src/thread/entry-ids.ts";
import { fold, pastAction } from "../../src/thread/fold.ts";
import { Thread } from "../../src/thread/state.ts";
import { decide } from "../../src/thread/decide.ts";
import { createQueries } from "../../src/queries/queries.ts";
import { createStage, fakeTool, KEY } from "../fakes/stage.ts";
import { began, message, wrote } from "./entries.ts";

const PEOPLE = ["test:ana", "test:bob", "test:cy"];

/** What people may do to a thread, in any order. */
const move = fc.oneof(
  fc.constantFrom(
    "run look name=web",
    "run act name=web",
    "run nothing",
    "stop",
    "hello",
    "approvals",
  ),
  fc.record({
    who: fc.constantFrom(...PEOPLE),
    approve: fc.boolean(),
    action: fc.constantFrom("a1", "a2", "a3"),
  }),
  fc.constant("work" as const),
);

async function play(
  moves: (string | { who: string; approve: boolean; action: string })[],
): Promise<Entry[]> {
  const stage = await createStage({
    tools: [fakeTool({ name: "look" }), fakeTool({ name: "act", effect: "write" })],
  });
  for (const step of moves) {
    if (step === "work") await stage.settle();
    else if (typeof step === "string") await stage.say(step);
    else await stage.click(step.action, { kind: step.approve ? "approve" : "deny" }, step.who);
  }
  await stage.settle();
  const entries = await stage.entries();
  await stage.journal.close();
  return entries;
}

const situation = { now: 0, busy: new Set<string>(), draining: false, showAfterMs: undefined };

test("every prefix of every journal folds to a valid thread, entry by entry as in one go", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(move, { maxLength: 14 }), async (moves) => {
      const entries = await play(moves);
      const grown: Thread = new Thread();
      for (const [i, entry] of entries.entries()) {
        fold(grown, [entry]);
        expect(grown).toEqual(fold(new Thread(), entries.slice(0, i + 1)));
        // An answer that a slow chat is owed is no part of what every step looks at.
        const unended = [...grown.runs.values()].filter(({ ended }) => ended === undefined);
        expect([...grown.going]).toEqual(unended);
        expect(() => decide(grown, situation)).not.toThrow();
      }
      expect(decide(grown, situation).do).toBe("wait");
      expect(grown.pending.size + grown.clicks.size + grown.untold.size + grown.outbox.size).toBe(
        0,
      );
    }),
    { numRuns: 80 },
  );
});

test("entries in a senseless order do not break the fold: it never throws, and says how far it came", async () => {
  const entries = await play([
    "run act name=web",
    "work",
    { who: "test:bob", approve: true, action: "a1" },
    "run look name=x",
  ]);
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(entries, { minLength: 1 }), async (some) => {
      const shuffled = some.map((entry, i) => ({ ...entry, seq: i + 1 }));
      const thread = fold(new Thread(), shuffled);
      expect(thread.last).toBe(shuffled.length);
      expect(() => decide(thread, situation)).not.toThrow();
    }),
    { numRuns: 500 },
  );
});

test("what has ended and was shown is forgotten, so a long thread stays small", async () => {
  const entries = await play(Array.from({ length: 40 }, () => "run look name=web"));
  const thread = fold(new Thread(), entries);
  expect(thread.counts).toMatchObject({ runs: 40, calls: 40 });
  expect(thread.runs.size + thread.live.size + thread.outbox.size).toBe(0);
});

test("closed actions and settled unknowns leave its memory but for the newest, and can be found again", async () => {
  const act = fakeTool({
    name: "act",
    effect: "write",
    run: async ({ name }) => {
      if (name === "lost") throw new BotError("TIMEOUT", "It took too long.");
      return { text: "done ".repeat(2_000) };
    },
  });
  const { chat, say, click, settle, entries, thread, journal } = await createStage({
    tools: [act],
    approvals: { singleOperator: true },
  });
  const sizes: number[] = [];
  const rounds = 60;
  for (let round = 1; round <= rounds; round++) {
    const kind = round === 2 ? "denied" : round % 4 === 1 ? "well" : "lost";
    await say(`run act name=${kind}`);
    await settle();
    await click(`a${round}`, { kind: kind === "denied" ? "deny" : "approve" }, "test:bob");
    await settle();
    if (kind === "lost") await click(`a${round}`, { kind: "settle", happened: true }, "test:bob");
    await settle();
    if (round % 30 === 0) sizes.push(serialize(await thread()).byteLength);
  }
  const [half = 0, whole = 0] = sizes;
  expect(whole / half).toBeLessThan(1.05);
  const { actions, unknown, counts } = await thread();
  expect([actions.size <= 21, unknown.size <= 21, counts.actions]).toEqual([true, true, rounds]);
  expect(pastAction(await entries(), "a2")?.closed).toMatchObject({ outcome: "denied" });
  const found = await createQueries(journal, [act], (text) => text).action(KEY, "a1");
  expect(found).toMatchObject({ phase: "done" });
  await click("a2", { kind: "approve" }, "test:ana");
  await settle();
  expect(chat.whispers().at(-1)).toBe("bob already denied a2.");
  await click(`a${rounds + 1}`, { kind: "approve" }, "test:ana");
  await settle();
  expect(chat.whispers().at(-1)).toBe(`There is no action a${rounds + 1} here.`);
});

test("of what models' calls came to the newest thousand are remembered", () => {
  const thread = new Thread();
  const add = (...drafts: Draft[]) =>
    fold(
      thread,
      drafts.map((draft, at) => ({ ...draft, seq: thread.last + 1 + at, at: 1 })),
    );
  const budget = { steps: 9_999, tokens: 9_999, minutes: 1 };
  const talk = { model: "m", prefix: "p", budget };
  const run = "r1";
  add({ id: "r", kind: "run_started", run, answers: [], principals: [], calls: [], talk });
  for (let step = 1; step <= 1_100; step++) {
    const call = `r1.t${step}`;
    const use = { kind: "tool_use" as const, id: `u${step}`, name: "look", input: "{}" };
    const said = { step, seen: 1, content: [use], stop: "tool_use" as const, usage: NO_USAGE };
    const by = { model: "m", request: "q", ms: 1 };
    add({ id: `s${step}`, kind: "assistant", run, ...said, ...by });
    add({ id: call, kind: "tool_finished", run, call, outcome: "ok", text: "fine" });
  }
  expect([...thread.evidence.keys()]).toEqual(Array.from({ length: 1_000 }, (_, at) => at + 101));
});

/** A thread in which m2 came beside the card a1, and m3 beside the card a2, to the side run of m2. */
function beside() {
  const thread = new Thread();
  const write = (draft: Draft) => fold(thread, [{ seq: thread.last + 1, at: 1, ...draft }]);
  const say = (id: string) => write(message(id));
  const start = (...of: Parameters<typeof began>) => write(began(...of));
  const turn = (run: string, step: number, seen: number, calls: string[]) =>
    write(
      wrote(
        run,
        step,
        seen,
        calls.map((name) => ({ kind: "tool_use", id: `${run}.${step}`, name, input: "{}" })),
      ),
    );
  const propose = (action: string, call: string) =>
    write({
      id: `proposed:${action}.1`,
      kind: "action_proposed",
      run: "r1",
      call,
      action,
      revision: 1,
      tool: "act",
      effect: "write",
      args: {},
      digest: "d",
      preview: { lines: [], blastRadius: "", undo: "" },
      approvers: { kind: "anyone" },
      quorum: 1,
      barred: [],
      expiresAt: 5_000,
    });
  say("m1");
  start("r1", ["m1"]);
  turn("r1", 1, 2, ["act"]);
  propose("a1", "r1.t1");
  say("m2");
  start("r2", ["m2"], true);
  write({ id: "closed:a1", kind: "action_closed", action: "a1", outcome: "denied" });
  write({
    id: "finished:r1.t1",
    kind: "tool_finished",
    run: "r1",
    call: "r1.t1",
    outcome: "denied",
    text: "no",
  });
  // Both models are asked; then Ana writes to the first run, and a second card hands what she wrote to the side run.
  const asked = thread.last;
  say("m3");
  turn("r1", 2, asked, ["act"]);
  propose("a2", "r1.t2");
  turn("r2", 1, thread.last - 1, ["act"]);
  return { thread, write };
}

test("what comes to a side run while it thinks is not in the request under way, so it still waits", () => {
  const side = beside().thread.runs.get("r2")?.modelRun;
  expect(side?.told.map(({ id }) => id)).toEqual(["m2"]);
  expect(side?.unseen.map(({ id }) => id)).toEqual(["m3"]);
});

test("who was told that a question waits is told as well that a card holds what they asked for", () => {
  const { thread, write } = beside();
  write({ id: noticeId.told("m2"), kind: "notice", text: "It waits.", answers: "m2" });
  const [call] = thread.runs.get("r2")?.calls.keys() ?? [];
  write({
    id: "finished:r2",
    kind: "tool_finished",
    run: "r2",
    call: call ?? "",
    outcome: "blocked",
    text: "no",
    handsOver: true,
  });
  const due = [...thread.untold.values()].map((untold) => [noticeId.told(untold.id), untold.about]);
  expect(due).toEqual([["told:held:m2", { kind: "held", actions: ["a2"] }]]);
});
