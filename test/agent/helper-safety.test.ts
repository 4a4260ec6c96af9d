import { describe, expect, test } from "vitest";
import type { GateTerms } from "../../src/core/gates.ts";
import { Conversation, foldConversation } from "../../src/worker/thread/conversation.ts";
import { snapshots } from "../../src/worker/thread/snapshot.ts";
import { delegate } from "../../src/tools/delegate/delegate.ts";
import { fakeTool } from "../fakes/stage.ts";
import { helper, helping, HELPERS, isHelpers, type Parts } from "./helping.ts";
import { lastAnswer, ofKind, resultsIn } from "./talking.ts";

const look = (name: string) => ["look", { name }] as const;
const act = (name: string) => ["act", { name }] as const;
const NOTHING = { text: "INCONCLUSIVE: nothing." };

describe("a helper may do no more than the run that asked for it", () => {
  test("what that one read from outside counts: a write to our own records is asked about", async () => {
    const own = fakeTool({ name: "own", effect: "write", own: true });
    const tools = [fakeTool({ name: "look" }), own, delegate];
    const parts: Parts = {
      main: [{ calls: [look("web")] }, { calls: [helper("write it down")] }, NOTHING],
      "write it down": [{ calls: [["own", { name: "web" }]] }, { text: "Done." }],
    };
    const tainted = await helping(parts, { tools });
    await tainted.ask("look, and write it down");
    expect(own.runs).toEqual([]);
    expect(tainted.chat.cards()).toHaveLength(1);

    const fresh = await helping(
      { ...parts, main: [{ calls: [helper("write it down")] }, NOTHING] },
      { tools },
    );
    await fresh.ask("write it down");
    expect(fresh.chat.cards()).toEqual([]);
    expect(own.runs).toEqual(["web"]);
  });

  test("its phase holds for helpers, and theirs, until its own calls end it", async () => {
    const gates: GateTerms = {
      on: ["phases"],
      phases: [
        { name: "triage", tools: ["look"], reads: true, after: ["look"] },
        { name: "act", tools: ["*"] },
      ],
    };
    const approvals = { rules: [{ match: { tool: "act" }, decide: "allow" as const }] };
    const stage = await helping(
      {
        main: [
          { calls: [helper("mend web")] },
          { calls: [look("web")] },
          { calls: [helper("start db")] },
          NOTHING,
        ],
        "mend web": [{ calls: [look("web")] }, { calls: [helper("repair it")] }, NOTHING],
        "repair it": [{ calls: [act("web")] }, { text: "It was refused." }],
        "start db": [{ calls: [act("db")] }, { text: "Done." }],
      },
      { talk: { gates }, approvals },
    );
    await stage.ask("what is wrong?");
    expect(stage.act.runs).toEqual(["db"]);
    const refused = ofKind(await stage.entries(), "tool_finished").filter(
      ({ gate }) => gate === "phases",
    );
    expect(refused).toMatchObject([{ outcome: "blocked", call: "r3.t4" }]);
  });

  test("a helper that asks a third time for what its phase refuses is ended", async () => {
    const gates: GateTerms = {
      on: ["phases"],
      phases: [{ name: "triage", tools: ["look"], reads: true }],
    };
    const stage = await helping(
      {
        main: [{ calls: [helper("mend web")] }, NOTHING],
        "mend web": ["a", "b", "c"].map((name) => ({ calls: [act(name)] })),
      },
      { talk: { gates } },
    );
    await stage.ask("what is wrong?");
    expect(stage.act.runs).toEqual([]);
    expect(stage.chat.cards()).toEqual([]);
    const ends = ofKind(await stage.entries(), "run_ended");
    expect(ends[0]?.text).toContain("triage");
  });

  test("a skill that it follows narrows the helper's calls too", async () => {
    const skill = fakeTool({ name: "activate_skill", ours: true });
    const stage = await helping(
      {
        main: [
          { calls: [["activate_skill", { name: "web" }]] },
          { calls: [helper("mend web")] },
          NOTHING,
        ],
        "mend web": [{ calls: [act("web"), look("web")] }, { text: "I may not." }],
      },
      {
        tools: [
          skill,
          fakeTool({ name: "look" }),
          fakeTool({ name: "act", effect: "write" }),
          delegate,
        ],
        talk: { modes: HELPERS, allowed: { web: [{ tool: "look" }] } },
      },
    );
    await stage.ask("mend it by the skill");
    expect(stage.chat.cards()).toEqual([]);
    const results = stage.requests.filter(isHelpers).flatMap((each) => resultsIn(each));
    expect(results.map(({ text }) => text.split("\n")[0])).toEqual([
      expect.stringContaining("act: blocked"),
      expect.stringContaining("look: ok"),
    ]);
  });

  test("a tool's limit for one run is that of the run and its helpers together", async () => {
    const rare = fakeTool({ name: "rare", limits: { perRun: 1, perPersonHour: 10 } });
    const stage = await helping(
      {
        main: [{ calls: [["rare", { name: "a" }]] }, { calls: [helper("once more")] }, NOTHING],
        "once more": [{ calls: [["rare", { name: "b" }]] }, { text: "I may not." }],
      },
      { tools: [rare, delegate] },
    );
    await stage.ask("look twice");
    expect(rare.runs).toEqual(["a"]);
  });

  test("nobody asked for what an app's message began, so its helpers only read", async () => {
    const stage = await helping({
      main: [{ calls: [helper("mend web")] }, NOTHING],
      "mend web": [{ calls: [look("web"), act("web")] }, { text: "I may only look." }],
    });
    const actor = { account: "test:pager", name: "pager" };
    await stage.post({ id: "msg:alert", kind: "message", actor, text: "web is down", app: true });
    await stage.settle();
    expect(stage.look.runs).toEqual(["web"]);
    expect(stage.act.runs).toEqual([]);
    expect(stage.chat.cards()).toEqual([]);
  });

  test("a side run's helpers only read too", async () => {
    const stage = await helping({
      main: [{ calls: [act("db")] }, NOTHING, NOTHING],
      "look into web": [{ calls: [act("web")] }, { text: "I may only look." }],
    });
    await stage.ask("mend db");
    const model = stage.parts.models;
    stage.parts.models = {
      ...model,
      generate: async (request, ...rest) => {
        const isFirst = !isHelpers(request) && request.turns.at(-1)?.role === "user";
        const asked = await model.generate(request, ...rest);
        if (!isFirst) return asked;
        const [name, args] = helper("look into web");
        const input = JSON.stringify(args);
        const content = [{ kind: "tool_use" as const, id: "s0", name, input }];
        return { ...asked, response: { ...asked.response, content, stop: "tool_use" as const } };
      },
    };
    await stage.ask("and how is web?");
    const began = ofKind(await stage.entries(), "run_started");
    expect(began.map(({ run, reads, parent }) => [run, reads === true, parent?.run])).toEqual([
      ["r1", false, undefined],
      ["r2", true, undefined],
      ["r3", true, "r2"],
    ]);
    expect(stage.chat.cards()).toHaveLength(1);
    expect(stage.act.runs).toEqual([]);
  });

  test("a report is no evidence: an answer that is sure has to cite the calls that it rests on", async () => {
    const stage = await helping({
      main: [{ calls: [helper("look into web")] }, { text: "CONFIRMED: it hangs [T1]." }],
      "look into web": [{ calls: [look("web")] }, { text: "It hangs [T2]." }],
    });
    await stage.ask("what is wrong?");
    const [gate] = ofKind(await stage.entries(), "gate");
    expect(gate?.text).toContain("CONFIRMED without a reference");
  });

  test("a person's command has no helper, and a rule may hold helpers back", async () => {
    const parts: Parts = { main: [{ calls: [helper("look")] }, NOTHING] };
    const stage = await helping(parts);
    await stage.ask("run delegate task=look");
    expect(ofKind(await stage.entries(), "tool_finished")[0]).toMatchObject({ outcome: "blocked" });
    const held = await helping(parts, {
      approvals: { rules: [{ match: { tool: "delegate" }, decide: "deny" }] },
    });
    await held.ask("look");
    expect(ofKind(await held.entries(), "run_started")).toHaveLength(1);
  });
});

test("nobody decides on a helper's card in time: it is told so, reports, and its parent goes on", async () => {
  let now = Date.parse("2026-11-28T06:00:00Z");
  const stage = await helping(
    {
      main: [{ calls: [helper("mend web")] }, { text: "INCONCLUSIVE: nobody decided." }],
      "mend web": [{ calls: [act("web")] }, { text: "Nobody decided." }],
    },
    { now: () => now },
  );
  await stage.ask("mend it");
  now += 61 * 60_000;
  await stage.settle();
  expect(stage.act.runs).toEqual([]);
  expect(lastAnswer(stage)).toBe("INCONCLUSIVE: nobody decided.");
});

test("a Stop of one run leaves the helpers of another alone", async () => {
  const stage = await helping({
    main: [{ calls: [helper("mend web")] }, { text: "CONFIRMED: mended [T2]." }],
    "mend web": [{ calls: [act("web")] }, { text: "Mended [T2]." }],
  });
  await stage.ask("mend it");
  await stage.ask("run act name=db");
  const actor = { account: "test:ana", name: "ana" };
  await stage.post({ id: "stop:1", kind: "stop", run: "r3", actor });
  await stage.ask("approve a1", "test:bob");
  expect(stage.act.runs).toEqual(["web"]);
  expect(lastAnswer(stage)).toBe("CONFIRMED: mended [T2].");
});

test("two workers at one thread make no helper and no write twice", async () => {
  const parts: Parts = {
    main: [
      { calls: [helper("mend web"), helper("look into db")] },
      { text: "CONFIRMED: mended [T3]." },
    ],
    "mend web": [{ calls: [act("web")] }, { text: "Mended." }],
    "look into db": [{ calls: [look("db")] }, { text: "All well." }],
  };
  const one = await helping(parts);
  const other = await helping(parts, { journal: one.journal, chat: one.chat });
  await one.say("mend it");
  await Promise.all([one.settle(), other.settle()]);
  await one.say("approve a1", "test:bob");
  await Promise.all([other.settle(), one.settle()]);
  await one.settle();
  expect([...one.act.runs, ...other.act.runs]).toEqual(["web"]);
  expect(ofKind(await one.entries(), "run_started")).toHaveLength(3);
  expect(one.chat.answers().map(({ text }) => text)).toEqual(["CONFIRMED: mended [T3]."]);
});

test("a snapshot that is taken after a helper has reported comes to the same as all entries", async () => {
  const stage = await helping({
    main: [{ calls: [helper("look into web")] }, { calls: [look("db")] }, NOTHING],
    "look into web": [{ calls: [look("web")] }, { text: "All well." }],
  });
  await stage.ask("how is it?");
  const entries = await stage.entries();
  const at = entries.findIndex(({ id }) => id === "finished:r1.t1") + 1;
  const half = foldConversation(new Conversation(), entries.slice(0, at));
  const bytes = snapshots.encode(half);
  expect(bytes).toBeDefined();
  const kept = snapshots.decode(bytes ?? new Uint8Array());
  foldConversation(kept, entries.slice(at));
  const whole = foldConversation(new Conversation(), entries);
  expect(structuredClone<object>(kept)).toEqual(structuredClone<object>(whole));
});
