import { expect, onTestFinished, test } from "vitest";
import type { Journal } from "../../src/journal/journal.ts";
import { BotError } from "../../src/core/errors.ts";
import { ANSWER, call, ofKind, talking } from "../agent/talking.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import { fakeTool, KEY } from "../fakes/stage.ts";

type Append = Journal["append"];

/** A store whose appends pass `around`. */
function around(append: (given: Parameters<Append>, next: Append) => ReturnType<Append>): Journal {
  const journal = openMemoryJournal();
  onTestFinished(() => journal.close());
  return { ...journal, append: (...given) => append(given, journal.append) };
}

const idsIn = ([, , drafts]: Parameters<Append>) => drafts.map(({ id }) => id);

test("a read runs while what asked for it is on its way to the store; a write waits until it is there", async () => {
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  const journal = around(async (given, next) => {
    if (idsIn(given).includes("assistant:r1.1")) await held;
    return next(...given);
  });
  const { promise: seen, resolve: see } = Promise.withResolvers<void>();
  const look = fakeTool({
    name: "look",
    run: async () => {
      see();
      return { text: "seen" };
    },
  });
  const act = fakeTool({ name: "act", effect: "write" });
  const stage = await talking([{ calls: [call("look")] }, { calls: [call("act")] }, ANSWER], {
    tools: [look, act],
    journal,
    approvals: { default: { read: "allow", write: "allow", destructive: "ask" } },
  });
  const asked = stage.ask("look, then act");
  await seen;
  expect(await stage.kinds()).not.toContain("assistant");
  expect(act.runs).toEqual([]);
  letGo();
  await asked;
  expect(act.runs).toEqual(["web"]);
  const kinds = await stage.kinds();
  expect(kinds.filter((kind) => kind === "assistant")).toHaveLength(3);
  expect(kinds.indexOf("assistant")).toBeLessThan(kinds.indexOf("tool_started"));
});

test("who writes before it is there is heard: the thread is taken up again as the store has it", async () => {
  let isFirst = true;
  const journal: Journal = around(async (given, next) => {
    if (isFirst && idsIn(given).includes("assistant:r1.1")) {
      isFirst = false;
      await stage.say("and look at db too");
    }
    return next(...given);
  });
  const stage: Awaited<ReturnType<typeof talking>> = await talking(
    [{ calls: [call("look")] }, ANSWER, ANSWER],
    { journal },
  );
  await stage.ask("look at web");
  // As the next wake would.
  await stage.settle();
  const entries = await stage.entries();
  const posted = ofKind(entries, "message");
  const turns = ofKind(entries, "assistant");
  expect(posted).toHaveLength(2);
  // No request that did not hold the second message says that it did.
  expect(turns[0]?.seen).toBeLessThan(posted[1]?.seq ?? 0);
  expect(
    stage.model.requests.at(-1)?.turns.some((turn) => JSON.stringify(turn).includes("look at db")),
  ).toBe(true);
  expect(stage.chat.answers()).toHaveLength(1);
  expect(ofKind(entries, "tool_finished")).toHaveLength(1);
  expect((await journal.read(KEY)).map(({ seq }) => seq)).toEqual(entries.map((_, i) => i + 1));
});

test("turns that go to the store together are refused where somebody wrote first, and the first call's end is kept", async () => {
  const { promise: twice, resolve: isTwice } = Promise.withResolvers<void>();
  const look = fakeTool({
    name: "look",
    run: async ({ name }) => {
      if (name === "db") isTwice();
      return { text: `saw ${name}` };
    },
  });
  const sent: boolean[] = [];
  const journal: Journal = around(async (given, next) => {
    if (idsIn(given).includes("assistant:r1.1")) await twice;
    if (idsIn(given).includes("assistant:r1.2") && sent.push(given[3]?.ifLast === true) === 1)
      await stage.say("and look at mail too");
    return next(...given);
  });
  const stage: Awaited<ReturnType<typeof talking>> = await talking(
    [{ calls: [call("look", "web")] }, { calls: [call("look", "db")] }, ANSWER, ANSWER],
    { journal, tools: [look] },
  );
  await stage.ask("look at web and db");
  await stage.settle();
  expect(sent[0]).toBe(true);
  const entries = await stage.entries();
  const [, second] = ofKind(entries, "message");
  const [, ...turns] = ofKind(entries, "assistant");
  const held = stage.model.requests.findIndex(({ turns: told }) =>
    JSON.stringify(told).includes("look at mail"),
  );
  expect(held).toBeGreaterThan(1);
  expect(turns.every(({ seen }) => seen > (second?.seq ?? Infinity))).toBe(true);
  expect(ofKind(entries, "tool_finished").map(({ id }) => id)).toEqual(["finished:r1.t1"]);
  expect(stage.chat.answers()).toHaveLength(1);
});

test("what a worker could not write before it lost its lease, it does not take for written when it has the thread again", async () => {
  const store = openMemoryJournal();
  onTestFinished(() => store.close());
  let [isAway, isBack] = [false, false];
  const journal: Journal = {
    ...store,
    async append(...given) {
      isAway ||= !isBack && idsIn(given).includes("assistant:r1.1");
      if (isAway) throw new BotError("STORE_UNAVAILABLE", "The store is away.");
      return store.append(...given);
    },
    async renew(lease) {
      if (!isAway) return store.renew(lease);
      // Another worker took it, and gave it back.
      await store.release(lease, (await store.read(KEY)).length);
      return { kind: "fenced" };
    },
  };
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  const look = fakeTool({
    name: "look",
    async run() {
      await held;
      return { text: "seen" };
    },
  });
  const stage = await talking([{ calls: [call("look")] }, { calls: [call("look")] }, ANSWER], {
    journal,
    tools: [look],
    leaseMs: 150,
  });
  await stage.ask("look at web");
  letGo();
  [isAway, isBack] = [false, true];
  await stage.say("and look at db too");
  await stage.say("and at mail");
  await stage.settle();
  const entries = await stage.entries();
  expect(ofKind(entries, "assistant").map(({ step }) => step)).toEqual([1, 2]);
  expect(JSON.stringify(stage.model.requests.at(-1)?.turns)).toContain("look at db");
  expect(stage.chat.answers()).toHaveLength(1);
});

test("a lease that begins again is given back also when somebody writes just then", async () => {
  let [isOvertaken, isLate] = [false, false];
  const store = around(async (given, next) => {
    if (!isOvertaken && idsIn(given).includes("assistant:r1.1")) {
      isOvertaken = true;
      await stage.say("and look at db too");
    }
    return next(...given);
  });
  const journal: Journal = {
    ...store,
    async release(...given) {
      if (isOvertaken && !isLate) {
        isLate = true;
        await stage.say("and at mail");
      }
      return store.release(...given);
    },
  };
  const stage: Awaited<ReturnType<typeof talking>> = await talking(
    [{ calls: [call("look")] }, ANSWER, ANSWER],
    { journal },
  );
  await stage.ask("look at web");
  expect(isLate).toBe(true);
  expect((await store.summary(KEY))?.leased).toBe(false);
  await stage.settle();
  const entries = await stage.entries();
  expect(ofKind(entries, "message")).toHaveLength(3);
  expect(JSON.stringify(stage.model.requests.at(-1)?.turns)).toContain("at mail");
  expect(stage.chat.answers()).toHaveLength(1);
});
