import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createLabWorlds, withAddresses } from "../../eval/lab-world.ts";
import type { Entry } from "../../src/core/entry.ts";
import { NO_MONEY } from "../../src/core/money.ts";
import { casesAt, type FrozenOutput, readCase } from "../../src/evals/case.ts";
import { factsOf } from "../../src/evals/facts.ts";
import { createFrozenWorld } from "../../src/evals/frozen.ts";
import { judge } from "../../src/evals/judge.ts";
import { shareInterval } from "../../src/evals/interval.ts";
import { type Result, reportText, summarise } from "../../src/evals/report.ts";
import { caseOf } from "../../src/evals/save.ts";
import { scoreOf } from "../../src/evals/score.ts";
import { createSaveEval } from "../../src/tools/evals/save-eval.ts";
import { ANSWER, call, talking, wordsIn } from "../agent/talking.ts";
import { createChat } from "../fakes/chat.ts";
import { fakeTool } from "../fakes/stage.ts";
import { scriptedModel } from "../fakes/scripted-model.ts";

async function thread(answer = "CONFIRMED: web is down, as seen in [T1]."): Promise<Entry[]> {
  const stage = await talking([
    { text: "I look.", calls: [call("look", "web")] },
    { calls: [call("look", "db")] },
    { text: answer },
  ]);
  await stage.ask("Why is web down?");
  return stage.entries();
}

const expectation = { finds: [], never: [], sees: [], cites: [], calls: [], neverRuns: [] };

test("the facts of a thread are what was called, cited, answered and used", async () => {
  const facts = factsOf(await thread());
  expect(facts).toMatchObject({
    status: "completed",
    verdict: "CONFIRMED",
    steps: 3,
    cited: ["look"],
  });
  expect(
    facts.calls.map(({ call: name, tool, args, outcome }) => [name, tool, args, outcome]),
  ).toEqual([
    ["r1.t1", "look", { name: "web" }, "ok"],
    ["r1.t2", "look", { name: "db" }, "ok"],
  ]);
  expect(facts.answer).toContain("web is down");
  expect(facts.tokens).toBeGreaterThan(0);
});

test("a score is met only where everything is that was asked for, and says what was not", async () => {
  const facts = factsOf(await thread());
  const score = (expect_: object, limits = {}) =>
    scoreOf({ kind: "fault", expect: { ...expectation, ...expect_ }, limits }, facts);
  const wrong = (expect_: object, limits = {}) =>
    score(expect_, limits).checks.flatMap(({ name, wrong: why }) =>
      why === undefined ? [] : [`${name}: ${why}`],
    );
  expect(
    wrong(
      {
        verdict: ["CONFIRMED"],
        finds: [["is DOWN", "dead"]],
        cites: ["look"],
        calls: ["look", "look"],
      },
      { steps: 3 },
    ),
  ).toEqual([]);
  expect(
    wrong(
      {
        verdict: ["INCONCLUSIVE"],
        finds: ["disk"],
        never: ["web is down"],
        cites: ["act"],
        calls: ["look", "act"],
        neverRuns: ["look"],
      },
      { steps: 2, calls: 1 },
    ),
  ).toEqual([
    "verdict: CONFIRMED instead of INCONCLUSIVE",
    "finds: it does not say disk",
    "never says: it says web is down",
    "cites: it does not rest on act",
    "calls: it called look, look instead of look, act",
    "never runs: look ran",
    "steps: 3 of at most 2",
    "calls made: 2 of at most 1",
  ]);
  const wrongly = (kind: "fault" | "healthy" | "ambiguous", ...finds: string[]) =>
    scoreOf({ kind, expect: { ...expectation, finds }, limits: {} }, facts).wronglyConfirmed;
  expect([
    wrongly("fault"),
    wrongly("healthy", "all is well"),
    wrongly("healthy", "web is down"),
    wrongly("ambiguous", "web is down"),
  ]).toEqual([false, true, false, true]);
  expect(wrong({ sees: ["did web", ["nothing", "did db"]] })).toEqual([]);
  expect(wrong({ sees: ["saw the moon"] })).toEqual(["sees: no call returned saw the moon"]);
  const silent = scoreOf({ kind: "fault", expect: expectation, limits: {} }, factsOf([]));
  expect([silent.passed, silent.checks[0]?.wrong]).toEqual([
    false,
    "there is no answer (unfinished)",
  ]);
});

test("a saved thread is a case that its own answer passes, without what has become a secret", async () => {
  const entries = await thread("CONFIRMED: web is down with key hunter2hunter2, as seen in [T1].");
  const saved = caseOf("slack:T1:C1:1", entries, (text) =>
    text.replaceAll("hunter2hunter2", "[secret]"),
  );
  const folder = mkdtempSync(join(tmpdir(), "wk-case-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [file, text] of Object.entries(saved?.files ?? {}))
    writeFileSync(join(folder, file), text);
  expect(Object.values(saved?.files ?? {}).join()).not.toContain("hunter2");
  const read = readCase(folder);
  expect(read).toMatchObject({
    question: "Why is web down?",
    expect: { verdict: ["CONFIRMED"], cites: ["look"] },
  });
  expect(read.outputs.map(({ tool, args }) => [tool, args])).toEqual([
    ["look", { name: "web" }],
    ["look", { name: "db" }],
  ]);
  expect(read.script?.map(({ calls }) => calls.length)).toEqual([1, 1, 0]);
  expect(scoreOf(read, factsOf(entries)).passed).toBe(true);
  const again = caseOf("slack:T1:C1:1", entries, (text) => text);
  expect(again?.name).toBe(saved?.name);
  expect(caseOf("slack:T1:C1:1", entries.slice(0, 1), (text) => text)).toBeUndefined();
});

test("an earlier answer of a thread is kept as it was asked and answered then", async () => {
  const stage = await talking([
    { calls: [call("look", "web")] },
    { text: "CONFIRMED: web is down, as seen in [T1]." },
    { calls: [call("look", "db")] },
    { text: "CONFIRMED: db is well, as seen in [T2]." },
  ]);
  await stage.ask("Why is web down?");
  await stage.ask("And db?");
  const entries = await stage.entries();
  const caseIn = (run?: string) => caseOf("k", entries, (text) => text, run);
  const files = Object.values(caseIn("r1")?.files ?? {}).join();
  expect(files).toContain("web is down");
  expect(files).not.toContain("db");
  expect(Object.values(caseIn()?.files ?? {}).join()).toContain("db is well");
  expect(caseIn("r1")?.name).not.toBe(caseIn()?.name);
  expect(caseIn("r9")).toBeUndefined();
});

test("answers offer to be kept where that is set up, full members may, and guests may not", async () => {
  const kept: unknown[] = [];
  const save = createSaveEval(async (_, run) => {
    kept.push(run);
    return "/srv/evals/saved-1";
  });
  const look = fakeTool({ name: "look" });
  const standings = { "test:ana": "member", "test:gus": "guest" } as const;
  const script = [{ calls: [call("look", "web")] }, ANSWER];
  const tools = [look, save];
  const stage = await talking(script, {
    tools,
    chat: createChat({ channel: "slack:T1:C1", standings }),
  });
  await stage.ask("Why is web down?", "test:ana");
  expect(stage.chat.answers().at(-1)).toMatchObject({ canSave: true });
  await stage.ask("/run save_eval run=r1", "test:gus");
  expect(kept).toEqual([]);
  await stage.ask("/run save_eval run=r1", "test:ana");
  expect(kept).toEqual(["r1"]);
  const plain = await talking([{ calls: [call("look", "web")] }, ANSWER]);
  await plain.ask("Why is web down?");
  expect(plain.chat.answers().at(-1)).not.toHaveProperty("canSave");
});

test("a mistake in a case is told with its file and key", () => {
  const folder = mkdtempSync(join(tmpdir(), "wk-case-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(
    join(folder, "case.yaml"),
    "about: a\nkind: odd\nquestion: b\nexpect: { finds: [c], wants: 1 }\n",
  );
  writeFileSync(join(folder, "outputs.json"), "[]");
  expect(() => readCase(folder)).toThrow(/case\.yaml: .*\n?.*kind/s);
  expect(() => readCase(folder)).toThrow(/wants/);
  // Named by its path it is told as well, and is not taken for an empty folder of cases.
  expect(() => casesAt(folder)).toThrow(/wants/);
  expect(() => casesAt(join(folder, "missing"))).toThrow(
    /missing is no case: there is no case\.yaml/,
  );
});

test("a case may name a lab's servers in place of outputs, nothing else that is started or asked", () => {
  const folder = mkdtempSync(join(tmpdir(), "wk-case-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const caseWith = (world: string) => {
    const head = 'about: a\nkind: fault\nquestion: $SHOP_URL fails\nexpect: { sees: ["502"] }';
    writeFileSync(join(folder, "case.yaml"), `${head}\nworld: ${world}\n`);
    return readCase(folder);
  };
  const read = caseWith("{ lab: { parts: [shop], fault: upstream-down } }");
  expect(read).toMatchObject({ outputs: [], world: { lab: { fault: "upstream-down" } } });
  for (const bad of [
    "{ lab: { parts: [] } }",
    "{ lab: { parts: [shop], run: [sh] } }",
    "{ lab: { parts: [shop], until: { url: 'https://evil.example', has: a } } }",
  ])
    expect(() => caseWith(bad), bad).toThrow("case.yaml");
  const { missing } = createLabWorlds();
  expect(() => missing({ parts: ["moon"] })).toThrow("The lab has no part moon.");
  expect(() => missing({ parts: ["shop"], fault: "rain" })).toThrow("The lab has no fault rain.");
  expect(withAddresses("$SHOP_URL and $HOME", { SHOP_URL: "http://127.0.0.1:1/" })).toBe(
    "http://127.0.0.1:1/ and $HOME",
  );
});

test("a frozen world answers the calls that fit, and another once an action ran", () => {
  const look: Omit<FrozenOutput, "args" | "text"> = { tool: "look", outcome: "ok", findings: [] };
  const world = createFrozenWorld([
    { ...look, args: { name: "web" }, text: "down" },
    { ...look, args: { name: "web" }, after: "act", text: "up" },
    { ...look, tool: "act", args: {}, text: "done" },
  ]);
  const asked = () => world.answer("look", { name: "web", deep: true })?.text;
  expect([asked(), world.answer("look", { name: "db" })]).toEqual(["down", undefined]);
  expect([world.answer("act", {})?.text, asked()]).toEqual(["done", "up"]);
});

test("a share's interval is Wilson's", () => {
  // R's binom::binom.confint(x, n, methods = "wilson"), and the rule that it never leaves 0 to 1.
  const rounded = (passed: number, runs: number) => {
    const { low, high } = shareInterval(passed, runs);
    return [low.toFixed(4), high.toFixed(4)];
  };
  expect(rounded(0, 10)).toEqual(["0.0000", "0.2775"]);
  expect(rounded(8, 10)).toEqual(["0.4902", "0.9433"]);
  expect(rounded(10, 10)).toEqual(["0.7225", "1.0000"]);
  expect(rounded(0, 0)).toEqual(["0.0000", "1.0000"]);
});

test("variants stand side by side, with what was wrong and how often they wrongly confirmed", () => {
  const result = (variant: string, passed: boolean, kind: Result["kind"]): Result => ({
    variant,
    case: "one",
    kind,
    score: {
      passed,
      checks: [{ name: "finds", wrong: passed ? undefined : "it does not say disk" }],
      wronglyConfirmed: !passed,
      unfrozen: 0,
    },
    steps: 3,
    calls: 2,
    tokens: 1_000,
    money: passed ? { microdollars: 20_000, unpriced: 0 } : { microdollars: 0, unpriced: 1_000 },
    gates: { evidence: 1 },
    beyond: 0,
    ms: 1,
  });
  const results = [
    result("a", true, "healthy"),
    result("a", false, "healthy"),
    result("b", true, "fault"),
  ];
  expect(summarise(results)).toMatchObject([
    {
      variant: "a",
      runs: 2,
      passed: 1,
      wronglyConfirmed: 1,
      nothingToConfirm: 2,
      gates: { evidence: 2 },
    },
    { variant: "b", runs: 1, passed: 1, wronglyConfirmed: 0, nothingToConfirm: 0 },
  ]);
  expect(reportText(results)).toContain(
    "| a | 1 of 2 | 50 % (9 % to 91 %) | 1 of 2 | 6 | 4 | 2000 | $0.02 and 1,000 tokens at an unknown price | evidence 2 |",
  );
  expect(reportText(results)).toContain(
    "| b | 1 of 1 | 100 % (21 % to 100 %) | 0 of 0 | 3 | 2 | 1000 | $0.02 | evidence 1 |",
  );
  expect(reportText(results)).toContain(
    "| case | kind | a | b |\n| --- | --- | --- | --- |\n| one | healthy | 1 of 2, 2000 tokens, $0.02 and 1,000 tokens at an unknown price | 1 of 1, 1000 tokens, $0.02 |",
  );
  expect(reportText(results)).toContain("- a, one (healthy): finds: it does not say disk");
});

test("a judge is told what is so, what was found and what was answered, and its word stands beside the score", async () => {
  const facts = factsOf(await thread());
  const value = { right: false, unsupported: ["web is down"], why: "Nothing shows it." };
  const model = scriptedModel([{ text: JSON.stringify(value) }]);
  const { signal } = new AbortController();
  const about = { about: "Nothing is broken.", kind: "healthy", question: "Is web down?" } as const;
  const opinion = await judge(model, about, facts, signal);
  expect(opinion).toMatchObject(value);
  const [request] = model.requests;
  const asked = wordsIn(request).join();
  for (const part of [
    "Nothing is broken. (healthy)",
    "Is web down?",
    '"tool": "look"',
    "CONFIRMED: web is down",
  ])
    expect(asked).toContain(part);
  const text = reportText([
    {
      variant: "a",
      case: "one",
      kind: "healthy",
      score: { passed: true, checks: [], wronglyConfirmed: false, unfrozen: 0 },
      steps: 1,
      calls: 1,
      tokens: 1,
      money: NO_MONEY,
      gates: {},
      beyond: 0,
      ms: 1,
      opinion,
    },
  ]);
  expect(text).toContain("judged 1 answers found 0 right, and claims without support in 1");
  expect(text).toContain("| a | 1 of 1 |");
});

test("what condensing used counts as the turns do", async () => {
  const entries = await thread();
  const usage = { input: 100, output: 20, cacheRead: 0, cacheWrite: 0 };
  const one: Entry<"condensed"> = {
    seq: 99,
    at: 1,
    id: "condensed:r1.1",
    kind: "condensed",
    run: "r1",
    from: 1,
    to: 3,
    room: 0,
    before: 200,
    after: 100,
    text: "Goal",
    usage,
    ms: 1,
  };
  const [before, after] = [factsOf(entries), factsOf([...entries, one])];
  expect(after.tokens - before.tokens).toBe(120);
  // What has no price is told as unknown, never as nothing.
  expect(after.money.unpriced - before.money.unpriced).toBe(120);
  const priced = factsOf([...entries, { ...one, microdollars: 700 }]).money;
  expect(priced).toEqual({ ...before.money, microdollars: before.money.microdollars + 700 });
});
