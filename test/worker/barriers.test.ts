import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turnOfLoop } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Entry } from "../../src/core/entry.ts";
import type { View } from "../../src/adapters/view.ts";
import { readText } from "../../src/commands/grammar.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import type { Journal } from "../../src/journal/journal.ts";
import type { Sync } from "../../src/journal/sqlite/flush.ts";
import { openSqliteJournal } from "../../src/journal/sqlite/journal.ts";
import { createInbox } from "../../src/worker/thread/inbox.ts";
import { createChat } from "../fakes/chat.ts";
import { encoderOf } from "../fakes/encoder.ts";
import { createMemory, openMemoryJournal } from "../fakes/memory-journal.ts";
import { type Line, scriptedModel } from "../fakes/scripted-model.ts";
import { createStage, fakeTool, KEY, type Stage, type StageOptions } from "../fakes/stage.ts";

const ACTOR = { account: "test:ana", name: "ana" };

async function openFile(sync: Sync): Promise<Journal> {
  const folder = mkdtempSync(join(tmpdir(), "wk-barriers-"));
  const journal = await openSqliteJournal({ path: join(folder, "watchkeeper.db"), sync });
  onTestFinished(async () => {
    await journal.close();
    rmSync(folder, { recursive: true });
  });
  return journal;
}

/** Everything but the platform on a real file, whose flushes are counted. */
async function counted(options: StageOptions) {
  let flushes = 0;
  const journal = await openFile(async () => void (flushes += 1));
  const stage = await createStage({ ...options, journal, showAfterMs: 60_000 });
  const inbox = inboxOf(stage);
  return {
    ...stage,
    say: (id: string, text: string) => inbox.post(KEY, id, { kind: "text", actor: ACTOR, text }),
    /** How often the disk was waited for since the last time. */
    flushes() {
      const count = flushes;
      flushes = 0;
      return count;
    },
  };
}

function inboxOf({ journal }: Pick<Stage, "journal">) {
  const encoder = encoderOf((text) => text);
  return createInbox({ journal, read: readText, encoder, wake: () => {} });
}

const looking = (steps: number): Line[] => [
  ...Array.from({ length: steps }, (_, i) => ({
    calls: [{ name: "look", args: { name: `n${i}` } }],
  })),
  { text: "All is well." },
];

test.each([0, 1, 8])(
  "a mention is flushed before it is acknowledged and before its answer is shown; its %i steps wait for no disk",
  async (steps) => {
    const look = fakeTool({ name: "look" });
    const stage = await counted({ tools: [look], model: scriptedModel(looking(steps)) });
    await stage.say("msg:1", "is all well?");
    expect(stage.flushes()).toBe(1);
    await stage.settle();
    expect(look.runs).toHaveLength(steps);
    expect(stage.chat.answers()).toHaveLength(1);
    expect(stage.flushes()).toBe(1);
  },
);

test("a click is flushed before it is acknowledged; a write before it begins, when it has ended, and for what people see", async () => {
  const act = fakeTool({ name: "act", effect: "write" });
  const stage = await counted({ tools: [act] });
  await stage.say("msg:1", "run act name=web");
  await stage.settle();
  expect(stage.chat.cards()).toMatchObject([{ phase: "open" }]);
  stage.flushes();
  await stage.say("msg:2", "approve a1");
  expect(stage.flushes()).toBe(1);
  await stage.settle();
  expect(act.runs).toEqual(["web"]);
  expect(stage.chat.answers()).toHaveLength(1);
  // The vote on the card, the start, the outcome, and the answer at the end.
  expect(stage.flushes()).toBeLessThanOrEqual(5);
});

/** A file on a disk that ends a flush when all others have got as far as they can without it, so that counts say nothing of speed. */
async function onSlowestDisk() {
  let [flushes, asked, inFlight] = [0, 0, 0];
  async function othersWait(): Promise<void> {
    for (let [turns, seen] = [0, asked]; turns < 20; turns += 1) {
      await turnOfLoop();
      if (asked !== seen || inFlight > 0) [turns, seen] = [0, asked];
    }
  }
  const file = await openFile(async () => {
    flushes += 1;
    await othersWait();
  });
  const journal = new Proxy(file, {
    get(target, verb: keyof Journal) {
      const work: unknown = target[verb];
      if (typeof work !== "function" || verb === "flush") return work;
      return (...given: unknown[]) => {
        asked += 1;
        const reply: unknown = Reflect.apply(work, target, given);
        if (!(reply instanceof Promise)) return reply;
        inFlight += 1;
        return reply.finally(() => (inFlight -= 1));
      };
    },
  });
  return { journal, flushes: () => flushes };
}

test("a burst of mentions shares its flushes: fewer than one for ten on a slow disk", async () => {
  const { journal, flushes } = await onSlowestDisk();
  const keys = Array.from({ length: 100 }, (_, i): JournalKey => `test:burst${i}`);
  const model = scriptedModel(keys.map(() => ({ text: "All is well." })));
  const stage = await createStage({ journal, model, showAfterMs: 60_000 });
  const { post } = inboxOf(stage);
  await Promise.all(
    keys.map((key) => post(key, "msg:1", { kind: "text", actor: ACTOR, text: "is all well?" })),
  );
  expect(flushes()).toBeLessThanOrEqual(2);
  await Promise.all(keys.map((key) => stage.worker.work(key)));
  expect(stage.chat.answers()).toHaveLength(keys.length);
  expect(flushes()).toBeLessThanOrEqual(keys.length / 10);
});

/** A stage whose machine may die at any moment: `left` is what would be there then. */
async function mortal(options: StageOptions, chat = createChat()) {
  let safe = createMemory();
  const memory = createMemory({
    flushed: () => {
      safe = memory.copy();
    },
  });
  const journal = memory.open();
  onTestFinished(() => journal.close());
  const left = async (): Promise<Entry[]> => {
    const journalLeft = safe.open();
    const entries = await journalLeft.read(KEY);
    await journalLeft.close();
    return entries as Entry[];
  };
  const broken: string[] = [];
  const needs = async (what: string, isThere: (entry: Entry) => boolean) => {
    if (!(await left()).some(isThere)) broken.push(what);
  };
  const view = chat.adapter.view(KEY);
  if (view === undefined) throw new Error("the chat has no view");
  const shown: View = {
    ...view,
    async postCard(card, delivery) {
      await needs("a card", ({ kind }) => kind === "action_proposed");
      return view.postCard(card, delivery);
    },
    async updateCard(ref, card, said) {
      for (const vote of card.votes)
        await needs("a vote", (entry) => entry.kind === "vote" && entry.name === vote.name);
      return view.updateCard(ref, card, said);
    },
    async post(message, delivery) {
      if (message.kind === "answer")
        await needs(
          "an answer",
          (entry) => entry.kind === "run_ended" && entry.run === message.run,
        );
      return view.post(message, delivery);
    },
  };
  const act = fakeTool({
    name: "act",
    effect: "write",
    run: async () => {
      await needs("a write", ({ kind }) => kind === "tool_started");
      return { text: "done" };
    },
  });
  const adapter = { ...chat.adapter, view: () => shown };
  const stage = await createStage({ ...options, chat, adapter, journal, tools: [act] });
  return { stage, act, broken, left, inbox: inboxOf({ journal }) };
}

test("what people are shown and what a write rests on is what the machine would have after it died", async () => {
  const { stage, act, broken, left, inbox } = await mortal({});
  await inbox.post(KEY, "msg:1", { kind: "text", actor: ACTOR, text: "run act name=web" });
  expect(await left()).toMatchObject([{ id: "msg:1" }]);
  await stage.settle();
  await inbox.post(KEY, "msg:2", { kind: "text", actor: ACTOR, text: "approve a1" });
  expect((await left()).at(-1)).toMatchObject({ id: "msg:2", kind: "click" });
  await stage.settle();
  expect(act.runs).toEqual(["web"]);
  expect(broken).toEqual([]);
});

test("a store that has lost a call's start before it was kept for good has it run by nobody", async () => {
  const act = fakeTool({ name: "act", effect: "write" });
  const whole = openMemoryJournal();
  onTestFinished(() => whole.close());
  const approvals = { rules: [{ match: { tool: "act" }, decide: "allow" as const }] };
  const stage = await createStage({
    tools: [act],
    approvals,
    journal: {
      ...whole,
      flush: async (key, after) =>
        (await whole.read(key)).some(({ kind }) => kind === "tool_started")
          ? "lost"
          : whole.flush(key, after),
    },
  });
  await stage.say("run act name=web");
  await stage.settle();
  expect(act.runs).toEqual([]);
});
