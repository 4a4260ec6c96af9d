import { deserialize, serialize } from "node:v8";
import { describe, expect, test } from "vitest";
import type { GateTerms } from "../../src/core/gates.ts";
import { UPDATE_PLAN, UPDATE_PLAN_SPEC } from "../../src/core/tool-spec.ts";
import { fold } from "../../src/thread/fold.ts";
import { Thread } from "../../src/thread/state.ts";
import { toolSpec } from "../../src/tools/input-schema.ts";
import type { Saying } from "../fakes/scripted-model.ts";
import { fakeTool, type Stage, type StageOptions } from "../fakes/stage.ts";
import { call, lastAnswer, ofKind, talking } from "./talking.ts";

const failing = () =>
  fakeTool({ name: "look", run: async ({ name }) => ({ text: `${name} is away`, failed: true }) });

/** `web` fails, everything else goes well. */
const half = () =>
  fakeTool({
    name: "look",
    run: async ({ name }) => ({ text: `saw ${name}`, failed: name === "web" }),
  });

/** With writes that nobody is asked about. */
function held(gates: GateTerms, script: readonly Saying[], options: StageOptions = {}) {
  const approvals = { rules: [{ match: { tool: "act" }, decide: "allow" as const }] };
  return talking(script, { approvals, ...options, talk: { gates, ...options.talk } });
}

const words = async (stage: Stage) => ofKind(await stage.entries(), "gate");
const results = async (stage: Stage) => ofKind(await stage.entries(), "tool_finished");

describe("verification", () => {
  const gates: GateTerms = { on: ["verification"] };

  test("sends back, in any language, a conclusion after a change that nothing read back", async () => {
    const stage = await held(gates, [
      { calls: [call("act")] },
      { text: "CONFIRMED: web läuft wieder [T1]." },
      { calls: [call("look")] },
      { text: "CONFIRMED: web läuft wieder [T2]." },
    ]);
    await stage.ask("starte web neu");
    expect(await words(stage)).toMatchObject([
      {
        gate: "verification",
        text: expect.stringContaining("Nothing was looked at after [T1] act"),
      },
    ]);
    expect(stage.model.left()).toBe(0);
    expect(lastAnswer(stage)).toBe("CONFIRMED: web läuft wieder [T2].");
  });

  test.each([
    ["a read before the act", [{ calls: [call("look")] }, { calls: [call("act")] }]],
    ["a read beside the act", [{ calls: [call("act"), call("look", "web")] }]],
    ["a read of something else", [{ calls: [call("act")] }, { calls: [call("look", "db")] }]],
  ])("does not count %s, and says so when the model insists", async (_name, script) => {
    const answer = { text: "CONFIRMED: it works [T1]." };
    const stage = await held(gates, [...script, answer, answer]);
    await stage.ask("restart web");
    expect(await words(stage)).toMatchObject([{ gate: "verification" }]);
    expect(lastAnswer(stage)).toMatch(/> ⚠ Nothing was looked at after T\d/);
    expect(stage.model.left()).toBe(0);
  });

  test.each([
    ["the tool read back itself", "done", "CONFIRMED"],
    ["the answer is INCONCLUSIVE", "unknown", "INCONCLUSIVE"],
  ] as const)("says nothing where %s", async (_name, verdict, grade) => {
    const act = fakeTool({
      name: "act",
      effect: "write",
      verify: async () => ({ verdict, evidence: "as seen" }),
    });
    const stage = await held(gates, [{ calls: [call("act")] }, { text: `${grade} [T1].` }], {
      tools: [act],
    });
    await stage.ask("restart web");
    expect(await words(stage)).toEqual([]);
    expect(stage.model.requests).toHaveLength(2);
  });

  test("wants as many calls behind a sure answer as the terms say", async () => {
    const stage = await held({ on: ["verification"], minEvidence: 2 }, [
      { calls: [call("look")] },
      { text: "LIKELY [T1]" },
      { calls: [call("look", "db")] },
      { text: "LIKELY [T1] [T2]" },
    ]);
    await stage.ask("how is web?");
    expect(await words(stage)).toMatchObject([{ text: expect.stringContaining("fewer than 2") }]);
    expect(lastAnswer(stage)).toBe("LIKELY [T1] [T2]");
  });
});

describe("required", () => {
  const gates: GateTerms = { on: ["required"], requires: { "*": ["look"], "kube-*": ["pods"] } };

  test("sends back a conclusion until the calls were made and went well", async () => {
    const stage = await held(gates, [
      { calls: [call("act")] },
      { text: "CONFIRMED [T1]" },
      { calls: [call("look")] },
      { text: "CONFIRMED [T2]" },
    ]);
    await stage.ask("restart web");
    expect(await words(stage)).toMatchObject([
      { gate: "required", text: expect.stringMatching(/did not go well: look\. /) },
    ]);
    expect(stage.model.left()).toBe(0);
  });

  test("marks an answer that insists, and leaves alone what settles nothing or looked at nothing", async () => {
    const sure = { text: "CONFIRMED [T1]\n\nMore." };
    const stage = await held(gates, [{ calls: [call("act")] }, sure, sure]);
    await stage.ask("restart web");
    expect(lastAnswer(stage)).toMatch(/^CONFIRMED \[T1\]\n\n> ⚠ Not checked as it should be: look/);
    const open = await held(gates, [{ calls: [call("act")] }, { text: "INCONCLUSIVE [T1]" }]);
    await open.ask("restart web");
    const chat = await held(gates, [{ text: "You are welcome." }]);
    await chat.ask("thanks");
    expect([...(await words(open)), ...(await words(chat))]).toEqual([]);
  });

  test("holds for the skills that the run follows", async () => {
    const skill = fakeTool({ name: "activate_skill" });
    const stage = await held(
      { on: ["required"], requires: { "kube-*": ["look"] } },
      [
        { calls: [call("activate_skill", "kube-pods"), call("act")] },
        { text: "CONFIRMED [T2]" },
        { calls: [call("look")] },
        { text: "CONFIRMED [T3]" },
      ],
      { tools: [skill, fakeTool({ name: "look" }), fakeTool({ name: "act" })] },
    );
    await stage.ask("restart web");
    expect(await words(stage)).toMatchObject([{ gate: "required" }]);
    expect(stage.model.left()).toBe(0);
  });
});

describe("recovery", () => {
  const gates: GateTerms = { on: ["recovery"] };

  test("refuses a tool that failed until the model has written something, in whatever words", async () => {
    const stage = await held(
      gates,
      [
        { calls: [call("look")] },
        { calls: [call("look", "db")] },
        { text: "Der Name war falsch, also db.", calls: [call("look", "db")] },
        { text: "CONFIRMED [T3]" },
      ],
      { tools: [half()] },
    );
    await stage.ask("how is it?");
    expect(await results(stage)).toMatchObject([
      { outcome: "error" },
      { outcome: "blocked", gate: "recovery", text: expect.stringContaining("[T1] look failed") },
      { outcome: "ok" },
    ]);
    expect(await words(stage)).toEqual([]);
    expect(stage.model.left()).toBe(0);
  });

  test("sends back a sure answer that leaves an unresolved failure out; naming it or a later success resolves it", async () => {
    const other = fakeTool({ name: "ping" });
    const stage = await held(
      gates,
      [
        { calls: [call("look"), call("ping")] },
        { text: "CONFIRMED: all is well [T2]." },
        { text: "CONFIRMED: it answers [T2]; its logs could not be read [T1]." },
      ],
      { tools: [failing(), other] },
    );
    await stage.ask("how is it?");
    expect(await words(stage)).toMatchObject([
      { gate: "recovery", text: expect.stringContaining("[T1] look") },
    ]);
    expect(lastAnswer(stage)).not.toContain("⚠");
    const insists = await held(
      gates,
      [
        { calls: [call("look"), call("ping")] },
        { text: "CONFIRMED [T2]" },
        { text: "CONFIRMED [T2]" },
      ],
      { tools: [failing(), fakeTool({ name: "ping" })] },
    );
    await insists.ask("how is it?");
    expect(lastAnswer(insists)).toContain(
      "> ⚠ It leaves out what failed and was not resolved: T1.",
    );
  });

  test("is off unless a run's terms have it: a failure alone costs nothing", async () => {
    const stage = await talking(
      [{ calls: [call("look")] }, { calls: [call("look", "db")] }, { text: "CONFIRMED [T2]" }],
      { tools: [half()] },
    );
    await stage.ask("how is it?");
    expect(stage.model.requests).toHaveLength(3);
  });
});

const plan = (...steps: [content: string, status: string][]) => ({
  name: UPDATE_PLAN,
  args: { tasks: steps.map(([content, status]) => ({ content, status })) },
});

/** A run whose model may keep a plan. */
function planned(gates: GateTerms, script: readonly Saying[], look = fakeTool({ name: "look" })) {
  const tools = [toolSpec(look), UPDATE_PLAN_SPEC];
  return held(gates, script, { tools: [look], talk: { tools } });
}

describe("planning", () => {
  test("sends back an answer before the plan was kept, and then lets nothing else be called first", async () => {
    const stage = await planned({ on: ["planning"], minRevisions: 2 }, [
      { calls: [plan(["Look", "in_progress"])] },
      { calls: [call("look")] },
      { text: "CONFIRMED [T2]" },
      { calls: [call("look", "db")] },
      { calls: [plan(["Look", "completed"])] },
      { calls: [call("look", "db")] },
      { text: "CONFIRMED [T2]" },
    ]);
    await stage.ask("look into it");
    expect(await words(stage)).toMatchObject([
      { gate: "planning", text: expect.stringContaining("written down 1 times, of at least 2") },
    ]);
    const done = await results(stage);
    expect(done.map(({ outcome }) => outcome)).toEqual(["ok", "ok", "blocked", "ok", "ok"]);
    expect(done[2]).toMatchObject({
      gate: "planning",
      text: expect.stringContaining("up to date first"),
    });
    expect(stage.model.left()).toBe(0);
  });

  test("refuses a fourth revision with nothing done between, until the model writes what keeps it", async () => {
    const revise = (n: number) => ({ calls: [plan([`Look ${n}`, "in_progress"])] });
    const stage = await planned({ on: ["planning"] }, [
      revise(1),
      revise(2),
      revise(3),
      revise(4),
      { text: "I do not know its name.", ...revise(5) },
      { calls: [call("look")] },
      { calls: [plan(["Look", "completed"])] },
      { text: "CONFIRMED [T6]" },
    ]);
    await stage.ask("look into it");
    expect((await results(stage)).map(({ outcome }) => outcome)).toEqual(
      "ok ok ok blocked ok ok ok".split(" "),
    );
    expect(stage.model.left()).toBe(0);
  });
});

test("replan: a step whose calls fail is planned another way, said once for each revision", async () => {
  const stage = await planned(
    { on: ["replan"] },
    [
      { calls: [plan(["Look", "in_progress"])] },
      { calls: [call("look", "a"), call("look", "b")] },
      { calls: [call("look", "c")] },
      { text: "INCONCLUSIVE" },
    ],
    failing(),
  );
  await stage.ask("look into it");
  expect(await words(stage)).toMatchObject([
    { gate: "replan", text: expect.stringContaining("Step 1 of your plan fails: 2 calls failed") },
  ]);
  expect(stage.model.left()).toBe(0);
});

test("synthesis: the first answer after several observations goes back once", async () => {
  const stage = await held({ on: ["synthesis"] }, [
    { calls: [call("look"), call("look", "db")] },
    { text: "First." },
    { text: "Second." },
  ]);
  await stage.ask("how is it?");
  expect(await words(stage)).toMatchObject([{ gate: "synthesis" }]);
  expect(lastAnswer(stage)).toBe("Second.");
  const short = await held({ on: ["synthesis"] }, [{ calls: [call("look")] }, { text: "First." }]);
  await short.ask("how is it?");
  expect(await words(short)).toEqual([]);
});

describe("phases", () => {
  const gates: GateTerms = {
    on: ["phases"],
    phases: [
      { name: "triage", tools: ["look"], reads: true, calls: 2, fallback: "ask" },
      { name: "act", tools: ["look", "act"] },
      { name: "ask", tools: ["ping"] },
    ],
  };

  test("refuse what does not belong to them under one list of tools, and the next begins once its grounds are there", async () => {
    const stage = await held(gates, [
      { calls: [call("act")] },
      { calls: [call("look"), call("look", "db")] },
      { calls: [call("act")] },
      { text: "CONFIRMED [T4]" },
    ]);
    await stage.ask("restart web");
    expect(await results(stage)).toMatchObject([
      {
        outcome: "blocked",
        gate: "phases",
        text: "act is not available in this phase, triage: only look that changes nothing. It ends once 2 calls of it went well.",
      },
      { outcome: "ok" },
      { outcome: "ok" },
      { outcome: "ok" },
    ]);
    const { requests } = stage.model;
    expect(new Set(requests.map(({ tools }) => JSON.stringify(tools))).size).toBe(1);
    expect(requests.map(({ allowed }) => allowed)).toEqual([
      ["look"],
      ["look"],
      ["look", "act"],
      ["look", "act"],
    ]);
  });

  test("end a run loudly that asks for the same a third time", async () => {
    const again = [1, 2, 3].map((n) => ({ calls: [call("act", `${n}`)] }));
    const stage = await held(gates, again);
    await stage.ask("restart web");
    expect(stage.model.left()).toBe(0);
    expect(stage.chat.answers()).toMatchObject([
      {
        status: "failed",
        text: expect.stringContaining(
          'The model called act again and again, which the phase "triage"',
        ),
      },
    ]);
    expect(stage.act.runs).toEqual([]);
  });

  test("give way to their fallback after three failures in a row", async () => {
    const ping = fakeTool({ name: "ping" });
    const stage = await held(
      gates,
      [
        { calls: [call("look", "a"), call("look", "b"), call("look", "c")] },
        { calls: [call("look", "d")] },
        { calls: [call("ping")] },
        { text: "INCONCLUSIVE" },
      ],
      { tools: [failing(), ping] },
    );
    await stage.ask("how is web?");
    expect((await results(stage)).map(({ outcome }) => outcome)).toEqual(
      "error error error blocked ok".split(" "),
    );
  });

  test("hold where a write hides behind an allowed name", async () => {
    const mixed = fakeTool({
      name: "look",
      effect: "write",
      effectOf: ({ name }) => (name === "web" ? "read" : "write"),
    });
    const stage = await held(
      gates,
      [{ calls: [call("look"), call("look", "delete")] }, { text: "INCONCLUSIVE" }],
      { tools: [mixed] },
    );
    await stage.ask("how is web?");
    expect(await results(stage)).toMatchObject([
      { call: "r1.t2", outcome: "blocked", gate: "phases" },
      { call: "r1.t1", outcome: "ok" },
    ]);
  });
});

test("what gates go by is in the journal alone: folded anew by another process after each entry it is the same", async () => {
  const look = half();
  const act = fakeTool({ name: "act" });
  const tools = [toolSpec(look), toolSpec(act), UPDATE_PLAN_SPEC];
  const gates: GateTerms = {
    on: ["recovery", "planning", "phases"],
    phases: [{ name: "all", tools: ["look"], calls: 3 }],
  };
  const seen: string[] = [];
  const stage = await held(
    gates,
    [
      { calls: [plan(["Look", "in_progress"]), call("look"), call("act")] },
      { text: "Wrong name.", calls: [call("look", "db")] },
      async () => {
        const entries = await stage.entries();
        let thread = new Thread();
        for (const entry of entries) {
          thread = fold(Object.assign(new Thread(), deserialize(serialize(thread))), [entry]);
        }
        for (const each of [thread, fold(new Thread(), entries)]) {
          const { phase, plan: kept, wroteAt, denials } = each.runs.get("r1")?.modelRun ?? {};
          seen.push(JSON.stringify({ phase, kept, wroteAt, denials }));
        }
        return { calls: [plan(["Look", "completed"])] };
      },
      { text: "CONFIRMED [T4]" },
    ],
    { tools: [look, act], talk: { tools } },
  );
  await stage.ask("look into it");
  expect(seen[0]).toBe(seen[1]);
  expect(seen[0]).toContain('"refused":{"act":1}');
  expect(seen[0]).toContain('"revision":1');
});
