import { expect, test } from "vitest";
import { createStage, fakeTool, KEY } from "../fakes/stage.ts";

test("a direct read is run at once and answered with its result", async () => {
  const look = fakeTool({ name: "look" });
  const stage = await createStage({ tools: [look] });
  await stage.say("run look name=web");
  await stage.settle();
  expect(look.runs).toEqual(["web"]);
  expect(stage.chat.answers()).toMatchObject([
    { status: "completed", results: [{ outcome: "ok", text: "did web" }] },
  ]);
  expect(await stage.kinds()).toEqual([
    "command",
    "run_started",
    "tool_finished",
    "run_ended",
    "delivered",
  ]);
});

test("a write is asked about and runs once it is approved", async () => {
  const act = fakeTool({ name: "act", effect: "write" });
  const stage = await createStage({ tools: [act] });
  await stage.say("run act name=web");
  await stage.settle();
  expect(act.runs).toEqual([]);
  expect(stage.chat.cards()).toMatchObject([
    { action: "a1", phase: "open", canonical: '{"name":"web"}' },
  ]);
  await stage.click("a1", { kind: "approve" });
  await stage.settle();
  expect(act.runs).toEqual(["web"]);
  expect(stage.chat.cards()).toMatchObject([{ action: "a1", phase: "done" }]);
  expect(stage.chat.answers()).toMatchObject([{ status: "completed" }]);
});

test("a Stop that finds nothing says so", async () => {
  const stage = await createStage();
  await stage.say("stop");
  await stage.settle();
  expect(stage.chat.whispers()).toEqual(["Nothing was running."]);
});

test("where threads are kept nowhere as cases, who wants one is told what is missing", async () => {
  const stage = await createStage();
  await stage.say("run save_eval");
  await stage.settle();
  expect(stage.chat.answers().at(-1)?.text).toContain("evals: { folder: /srv/evals }");
});

test("help, status, tools, approvals and cost are answered from the thread and the tools", async () => {
  const act = fakeTool({ name: "act", effect: "write" });
  const stage = await createStage({ tools: [act] });
  await stage.say("run act name=web");
  await stage.settle();
  // Some wait until it is known who reads the answer, so commands typed at once may be answered in another order.
  for (const command of ["help", "status", "tools", "approvals", "cost"]) {
    await stage.say(command);
    await stage.settle();
  }
  const texts = stage.chat.answers().map((answer) => answer.text);
  expect(texts).toEqual([
    expect.stringContaining("incidents last week"),
    expect.stringMatching(
      /^Model: none.*\nTools: 1 tool, 1 needs approval\nOpen approvals in this thread: a1\nRunning in this thread: none$/,
    ),
    expect.stringMatching(/^Need approval:\n {2}act – The fake act$/m),
    expect.stringMatching(/^a1: act \(write\), expires .*approve a1/),
    expect.stringMatching(/runs, 0 tool calls in 0\.0 s, 1 proposed action\. 0 tokens\.$/),
  ]);
});

test("a tool that nobody has, arguments that do not fit and policy's deny are answers, not crashes", async () => {
  const act = fakeTool({ name: "act", effect: "write" });
  const approvals = { rules: [{ match: { tool: "act" }, decide: "deny" as const }] };
  const stage = await createStage({ tools: [act], approvals });
  await stage.say("run atc name=web");
  await stage.say("run act nmae=web");
  await stage.say("run act name=web");
  await stage.settle();
  const said = stage.chat
    .answers()
    .map(({ status, text, results }) => `${status} ${text ?? results[0]?.text}`);
  expect(said).toEqual([
    expect.stringMatching(/^failed .*Did you mean `act`\?/s),
    expect.stringMatching(/^failed .*did you mean name\?/s),
    expect.stringMatching(/^failed Policy denies it/),
  ]);
  expect(act.runs).toEqual([]);
});

test("an action too long to be shown whole cannot be approved", async () => {
  const act = fakeTool({ name: "act", effect: "write" });
  const stage = await createStage({ tools: [act] });
  await stage.say(`run act name=${"x".repeat(5_000)}`);
  await stage.settle();
  expect(stage.chat.cards()).toEqual([]);
  expect(stage.chat.answers()).toMatchObject([
    { results: [{ text: expect.stringContaining("too long to be shown whole") }] },
  ]);
});

test("a result of megabytes is cut in the answer and kept whole as an artifact", async () => {
  const whole = Array.from({ length: 50_000 }, (_, i) => `line ${i}`).join("\n");
  const look = fakeTool({ name: "look", run: async () => ({ text: whole }) });
  const stage = await createStage({ tools: [look] });
  await stage.say("run look name=web");
  await stage.settle();
  const [result] = stage.chat.answers()[0]?.results ?? [];
  expect(Buffer.byteLength(result?.text ?? "")).toBeLessThanOrEqual(16_000);
  const [artifact] = result?.artifacts ?? [];
  const bytes = await stage.journal.readArtifact(KEY, artifact?.id ?? "");
  expect(Buffer.from(bytes).toString()).toBe(whole);
});

test("many tools are listed by system, and one system's tools by its name", async () => {
  const names = Array.from({ length: 40 }, (_, at) => `cloud_do_${at}`);
  const tools = [
    ...names.map((name, at) => fakeTool({ name, effect: at < 3 ? "write" : "read" })),
    fakeTool({ name: "look" }),
  ];
  const stage = await createStage({ tools });
  for (const text of ["tools", "tools cloud", "tools clowd"]) {
    await stage.say(text);
    await stage.settle();
  }
  const [all = "", one = "", none] = stage.chat.answers().map(({ text }) => text);
  expect(all).toContain(
    "  cloud – 40 tools, 3 need approval\n\nRead-only, run at once:\n  look – ",
  );
  expect(all).not.toContain("cloud_do_7");
  expect(one).toContain("Need approval:\n  cloud_do_0 – ");
  expect(one).not.toContain("look");
  expect(none).toBe("I have no tools for clowd. Did you mean `tools cloud`?");
});
