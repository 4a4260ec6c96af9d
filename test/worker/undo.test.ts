import { describe, expect, test } from "vitest";
import { BotError } from "../../src/core/errors.ts";
import { auditLines } from "../../src/app/cli/audit.ts";
import { createQueries } from "../../src/queries/queries.ts";
import { createChat } from "../fakes/chat.ts";
import { card, dial, turned } from "../fakes/dial.ts";
import { createStage, fakeTool, KEY, workerOf } from "../fakes/stage.ts";

describe("what is done", () => {
  test("offers its undo; pressed, that is an action of its own, which says what it takes back", async () => {
    const stage = await turned();
    expect(stage.world.level).toBe(5);
    expect(card(stage, "a1")).toMatchObject({ phase: "done", undo: { state: "offered" } });
    expect(stage.chat.answers()[0]?.results).toMatchObject([{ undo: "a1" }]);

    await stage.undo("test:cy");
    await stage.settle();
    expect(stage.world.turns).toEqual([5]);
    expect(card(stage, "a1")?.undo).toEqual({ state: "asked", by: "cy" });
    const open = card(stage, "a2");
    expect(open).toMatchObject({ phase: "open", undoes: "a1", args: { level: 2, from: 5 } });
    expect(open?.preview.lines[0]).toEqual({ label: "Undo of", value: "a1 (turn)" });
    expect(open?.digest).not.toBe(card(stage, "a1")?.digest);

    await stage.click("a2", { kind: "approve" }, "test:bob");
    await stage.settle();
    expect(stage.world.turns).toEqual([5, 2]);
    expect(card(stage, "a1")?.undo).toEqual({ state: "undone", by: "a2" });
    const results = stage.chat.answers().at(-1)?.results;
    expect(results).toMatchObject([{ isPressed: true, args: { level: 2 } }]);
    expect(results?.[0]?.args).not.toHaveProperty("from");
    // What took it back can be taken back.
    expect(card(stage, "a2")).toMatchObject({ phase: "done", undo: { state: "offered" } });
  });

  test("is taken back by typing it too, never without a card, and the undo itself can be undone", async () => {
    const stage = await turned();
    stage.parts.policy.rules.unshift({ match: { tool: ["turn"] }, decide: "allow" } as never);
    for (const [action, next] of [
      ["a1", "a2"],
      ["a2", "a3"],
    ] as const) {
      await stage.say(`undo ${action}`, "test:cy");
      await stage.settle();
      expect(card(stage, next)?.phase).toBe("open");
      // Where policy would not ask, who asked for it may say so.
      await stage.click(next, { kind: "approve" }, "test:cy");
      await stage.settle();
    }
    expect(stage.world.turns).toEqual([5, 2, 5]);
    expect(card(stage, "a1")?.undo).toEqual({ state: "undone", by: "a2" });
    expect(card(stage, "a2")?.undo).toEqual({ state: "undone", by: "a3" });
  });

  test("is listed and audited as what it takes back", async () => {
    const stage = await turned();
    await stage.undo("test:cy");
    await stage.settle();
    await stage.say("approvals", "test:cy");
    await stage.settle();
    expect(stage.chat.answers().at(-1)?.text).toMatch(/^a2: turn \(write, undo of a1\), expires/);
    const lines = [];
    for await (const line of auditLines(stage.journal, { key: KEY, since: 0 })) lines.push(line);
    expect(lines.find((line) => line.includes('"undoes":"a1"'))).toContain('"kind":"run_started"');
  });
});

describe("an undo happens once", () => {
  test("however many press it on two workers, and whoever comes later is told who asked, and where", async () => {
    const { undo, settle, world, chat, worker, parts, started, click } = await turned();
    const other = workerOf(parts, chat.adapter);
    await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        await undo(i % 2 === 0 ? "test:ana" : "test:cy");
        await Promise.all([worker.work(KEY), other.work(KEY)]);
      }),
    );
    await settle();
    expect((await started()).filter(({ undoes }) => undoes === "a1")).toHaveLength(1);
    expect(chat.cards()).toHaveLength(2);
    expect(chat.whispers()).toHaveLength(39);
    expect(chat.whispers().at(-1)).toMatch(
      /^(ana|cy) already asked for the undo of a1\. It is a2: decide on its card\.$/,
    );
    await click("a2", { kind: "approve" }, "test:bob");
    await settle();
    await undo("test:bob");
    await settle();
    expect(world.turns).toEqual([5, 2]);
    expect(chat.whispers().at(-1)).toMatch(
      /^a1 was already undone by a2, which (ana|cy) asked for/,
    );
  });

  test.each([
    ["it had begun", []],
    [
      "there was a card",
      [
        {
          id: "run:r2",
          kind: "run_started" as const,
          run: "r2",
          answers: ["click:3"],
          principals: ["test:cy"],
          calls: [{ call: "r2.t1", tool: "turn", args: { level: 2, from: 5 } }],
          undoes: "a1",
        },
      ],
    ],
  ])("also where the worker died before %s", async (_, written) => {
    const stage = await turned();
    await stage.undo("test:cy");
    const granted = await stage.journal.lease(KEY, 2_000);
    if (granted === undefined) throw new Error("not granted");
    const last = (await stage.entries()).length;
    expect((await stage.entries()).at(-1)).toMatchObject({ id: "click:3", kind: "click" });
    if (written.length > 0) await stage.journal.append(granted.lease, last, written);
    stage.clock.now += 3_000;
    await stage.settle();
    await stage.click("a2", { kind: "approve" }, "test:bob");
    await stage.settle();
    expect(stage.world.turns).toEqual([5, 2]);
    expect(stage.chat.cards()).toHaveLength(2);
  });

  test("and can be asked for again where it came to nothing", async () => {
    const stage = await turned();
    await stage.undo("test:cy");
    await stage.settle();
    await stage.click("a2", { kind: "deny" }, "test:bob");
    await stage.settle();
    expect(card(stage, "a1")?.undo).toEqual({ state: "offered" });
    await stage.undo("test:cy");
    await stage.settle();
    await stage.click("a3", { kind: "approve" }, "test:bob");
    await stage.settle();
    expect(stage.world.turns).toEqual([5, 2]);
    expect(card(stage, "a1")?.undo).toEqual({ state: "undone", by: "a3" });
  });

  test("and not again while nobody knows whether it did, until somebody says that it did not", async () => {
    const stage = await turned();
    await stage.undo("test:cy");
    await stage.settle();
    const cut = stage.tool.run;
    Object.assign(stage.tool, {
      run: async () => {
        throw new BotError("TIMEOUT", "cut");
      },
    });
    await stage.click("a2", { kind: "approve" }, "test:bob");
    await stage.settle();
    expect(card(stage, "a1")?.undo).toEqual({ state: "unknown", by: "a2" });
    expect(card(stage, "a2")?.undo).toBeUndefined();
    await stage.undo("test:bob");
    await stage.undo("test:bob", "a2");
    await stage.settle();
    expect(stage.chat.whispers()).toEqual([
      "cy already asked for the undo of a1, and nobody knows what a2 did.",
      "Nobody knows what a2 did, so it has no undo.",
    ]);
    await stage.click("a2", { kind: "settle", happened: false }, "test:bob");
    await stage.settle();
    expect(card(stage, "a1")?.undo).toEqual({ state: "offered" });
    Object.assign(stage.tool, { run: cut });
    await stage.undo("test:cy");
    await stage.settle();
    await stage.click("a3", { kind: "approve" }, "test:bob");
    await stage.settle();
    expect(stage.world.turns).toEqual([5, 2]);
  });

  test("also of an action that the thread's fold has forgotten", async () => {
    const allow = {
      rules: [{ match: { tool: "turn" }, decide: "ask" as const, requesterMayApprove: true }],
    };
    const { tool } = dial();
    const other = fakeTool({ name: "act", effect: "write" });
    const stage = await turned({ tools: [tool, other], approvals: allow });
    for (let action = 2; action < 24; action++) {
      await stage.say(`run act name=n${action}`);
      await stage.settle();
      await stage.click(`a${action}`, { kind: "deny" }, "test:bob");
      await stage.settle();
    }
    expect((await stage.thread()).actions.has("a1")).toBe(false);
    const { queries, press } = pressingOld(stage);
    expect((await queries.action(KEY, "a1"))?.undo).toEqual({ state: "offered" });
    await press("test:cy");
    await press("test:ana");
    expect(stage.chat.whispers()).toEqual([
      "cy already asked for the undo of a1. It is a24: decide on its card.",
    ]);
    expect(card(stage, "a24")).toMatchObject({ undoes: "a1", phase: "open" });
  });
});

/** Presses a1's button on a card that is far up. */
function pressingOld(stage: Awaited<ReturnType<typeof turned>>) {
  const queries = createQueries(stage.journal, [], (text) => text);
  return {
    queries,
    async press(account: string) {
      const digest = (await queries.action(KEY, "a1"))?.digest.slice(0, 12) ?? "";
      await stage.post({
        id: `click:old:${account}`,
        kind: "click",
        actor: { account, name: account.replace("test:", "") },
        action: "a1",
        revision: 1,
        choice: { kind: "undo" },
        via: "button",
        digest,
      });
      await stage.settle();
    },
  };
}

describe("an undo is refused", () => {
  test("when the world has moved on, before anybody is asked and again before it is done", async () => {
    const stage = await turned();
    stage.world.level = 7;
    await stage.undo("test:cy");
    await stage.settle();
    expect(stage.chat.answers().at(-1)?.results).toMatchObject([
      {
        outcome: "blocked",
        text: "a1 was not undone. The dial is at 7 by now, not at 5.",
      },
    ]);
    expect(card(stage, "a1")?.undo).toEqual({ state: "offered" });
    stage.world.level = 5;
    await stage.undo("test:cy");
    await stage.settle();
    stage.world.level = 8;
    await stage.click("a2", { kind: "approve" }, "test:bob");
    await stage.settle();
    expect(stage.world.turns).toEqual([5]);
    expect(card(stage, "a2")).toMatchObject({ phase: "void" });
  });

  test("to guests and outsiders, alone and without using it up; policy's word counts as of any call", async () => {
    const standings = { "test:ana": "member", "test:bob": "member", "test:gus": "guest" } as const;
    const stage = await turned({ chat: createChat({ standings }) });
    await stage.undo("test:gus");
    await stage.undo("test:nobody");
    await stage.settle();
    expect(stage.chat.whispers()).toHaveLength(2);
    expect(stage.chat.cards()).toHaveLength(1);
    stage.parts.policy.rules.unshift({ match: { tool: ["turn"] }, decide: "deny" } as never);
    await stage.undo("test:ana");
    await stage.settle();
    expect(stage.chat.whispers().at(-1)).toMatch(/^Policy denies it/);
    stage.parts.policy.rules.shift();
    await stage.undo("test:bob");
    await stage.settle();
    expect(card(stage, "a2")).toMatchObject({ phase: "open" });
    // Who asked for it does not approve it alone where policy says so.
    expect(card(stage, "a1")?.undo).toEqual({ state: "asked", by: "bob" });
  });

  test.each([
    ["a9", "There is no action a9 here."],
    ["a2", "a2 isn't done, so there is nothing to undo."],
    ["a3", "a3 was denied, so there is nothing to undo."],
    ["a4", "a4 has no undo."],
    ["a5", "a5 failed, so there is nothing to undo."],
  ])("for %s, and says why", async (action, why) => {
    const { tool } = dial();
    const act = fakeTool({
      name: "act",
      effect: "write",
      run: async ({ name }) => ({ text: name, failed: name === "bad" }),
    });
    const stage = await turned({ tools: [tool, act] });
    for (const name of ["open", "denied", "good", "bad"]) await stage.say(`run act name=${name}`);
    await stage.settle();
    await stage.click("a3", { kind: "deny" }, "test:bob");
    await stage.click("a4", { kind: "approve" }, "test:bob");
    await stage.click("a5", { kind: "approve" }, "test:bob");
    await stage.settle();
    await stage.say(`undo ${action}`, "test:cy");
    await stage.settle();
    expect(stage.chat.whispers()).toEqual([why]);
  });

  test("by a button of another action with the same number, or of another thread", async () => {
    const stage = await turned();
    const forged = {
      kind: "click",
      actor: { account: "test:cy", name: "cy" },
      action: "a1",
      revision: 1,
      choice: { kind: "undo" },
      via: "button",
    } as const;
    await stage.post({ id: "click:x", ...forged, digest: "000000000000" });
    await stage.post({ id: "click:y", ...forged });
    await stage.settle();
    expect(stage.chat.whispers()).toEqual([
      expect.stringContaining("You pressed Undo on an old card of a1"),
      expect.stringContaining("You pressed Undo on an old card of a1"),
    ]);
    expect(stage.chat.cards()).toHaveLength(1);
  });

  test("by an edit: it takes back exactly what was done", async () => {
    const stage = await turned();
    await stage.undo("test:cy");
    await stage.settle();
    await stage.click("a2", { kind: "edit", args: { level: 9 } }, "test:bob");
    await stage.settle();
    expect(stage.chat.whispers()).toEqual([
      "Couldn't apply your edit to a2: it takes a1 back exactly. Deny it, and ask for what you want instead.",
    ]);
    expect(card(stage, "a2")).toMatchObject({ revision: 1, phase: "open" });
  });

  test("when a Stop came after the press, and its card is closed by one", async () => {
    const stage = await turned();
    await stage.undo("test:cy");
    await stage.say("stop", "test:bob");
    await stage.settle();
    expect(stage.chat.whispers()).toEqual([
      "Nothing was running.",
      "Everything was stopped after you asked for the undo of a1, so it didn't begin.",
    ]);
    await stage.undo("test:cy");
    await stage.settle();
    await stage.say("stop", "test:bob");
    await stage.settle();
    expect(card(stage, "a2")).toMatchObject({ phase: "cancelled" });
    expect(card(stage, "a1")?.undo).toEqual({ state: "offered" });
  });
});

test("what a tool says of its own call can be asked for by nobody else: a typed call has no such arguments", async () => {
  const stage = await turned();
  await stage.say("run turn level=2 from=5", "test:cy");
  await stage.settle();
  expect(stage.chat.answers().at(-1)?.text).toContain("from");
  expect(stage.chat.cards()).toHaveLength(1);
});

test("a reverse that would hold a secret is never written down, and there is no undo", async () => {
  const { tool } = dial();
  Object.assign(tool, {
    run: async () => ({ text: "done", undo: { tool: "turn", args: { level: 2, was: "hunter2" } } }),
  });
  const hide = (text: string) => text.replaceAll("hunter2", "[secret:x]");
  const stage = await turned({ tools: [tool], hide });
  expect(card(stage, "a1")?.undo).toBeUndefined();
  expect(JSON.stringify(await stage.entries())).not.toContain("hunter2");
  expect(stage.chat.answers()[0]?.results[0]?.text).toContain("would hold a secret");
});

test("a call whose worker died can be taken back where its read-back knows how", async () => {
  const { tool } = dial();
  const back = { tool: "turn", args: { level: 2, from: 5 } };
  Object.assign(tool, {
    verify: async () => ({ verdict: "done", evidence: "it is at 5.", undo: back }),
  });
  const clock = { now: 1_000_000 };
  const stage = await createStage({ tools: [tool], now: () => clock.now });
  await stage.say("run turn level=5");
  await stage.settle();
  const [proposed] = stage.chat.cards();
  const granted = await stage.journal.lease(KEY, 2_000);
  if (granted === undefined || proposed === undefined) throw new Error("nothing to start");
  const { digest } = proposed;
  await stage.journal.append(granted.lease, (await stage.entries()).length, [
    {
      id: "started:r1.t1",
      kind: "tool_started",
      run: "r1",
      call: "r1.t1",
      tool: "turn",
      effect: "write",
      digest,
      action: "a1",
      revision: 1,
    },
  ]);
  clock.now += 2_000;
  await stage.settle();
  expect(stage.chat.cards()).toMatchObject([{ phase: "done", undo: { state: "offered" } }]);
  expect((await stage.entries()).find(({ kind }) => kind === "tool_finished")).toMatchObject({
    recovered: true,
    undo: back,
  });
});
