import { expect, test } from "vitest";
import { createQueries } from "../../src/queries/queries.ts";
import { readArtifact } from "../../src/tools/thread/read-artifact.ts";
import { createStage, fakeTool, KEY } from "../fakes/stage.ts";

test("a tool that keeps failing is blocked, and no call of it is written down as started", async () => {
  const run = () => Promise.reject(new Error("it broke"));
  const look = fakeTool({ name: "look", run });
  const act = fakeTool({ name: "act", effect: "write", run });
  const approvals = { rules: [{ match: { tool: "act" }, decide: "allow" as const }] };
  const stage = await createStage({ tools: [look, act], approvals });
  for (const tool of [look, act]) {
    for (let i = 0; i < 6; i++) {
      await stage.say(`run ${tool.name} name=web`);
      await stage.settle();
    }
    expect(tool.runs).toHaveLength(5);
  }
  const started = (await stage.entries()).filter(
    (entry) =>
      entry.kind === "tool_started" || (entry.kind === "tool_finished" && entry.tool !== undefined),
  );
  expect(started).toHaveLength(10);
  const answers = stage.chat.answers().map(({ results }) => results[0]?.outcome);
  const failed = Array.from({ length: 5 }, () => "error");
  expect(answers).toEqual([...failed, "blocked", ...failed, "blocked"]);
});

test("an approved action whose tool broke meanwhile is void, not started", async () => {
  const act = fakeTool({
    name: "act",
    effect: "write",
    run: () => Promise.reject(new Error("it broke")),
  });
  const approvals = {
    rules: [{ match: { args: { name: "quick" } }, decide: "allow" as const }],
  };
  const stage = await createStage({ tools: [act], approvals });
  await stage.say("run act name=web");
  await stage.settle();
  for (let i = 0; i < 5; i++) {
    await stage.say("run act name=quick");
    await stage.settle();
  }
  await stage.click("a1", { kind: "approve" });
  await stage.settle();
  expect(act.runs).not.toContain("web");
  const closed = (await stage.entries()).find(({ kind }) => kind === "action_closed");
  expect(closed).toMatchObject({ outcome: "void", reason: expect.stringContaining("left alone") });
});

test("an image is in the journal with its result, and a cut text can be read on", async () => {
  const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 1, 2, 3]);
  const lines = Array.from({ length: 4_000 }, (_, i) => `line ${i + 1}`);
  const draw = fakeTool({
    name: "draw",
    run: async () => ({
      text: lines.join("\n"),
      images: [{ name: "chart.png", mediaType: "image/png", bytes: png }],
    }),
  });
  const stage = await createStage({ tools: [draw, readArtifact] });
  await stage.say("run draw name=web");
  await stage.settle();
  const finished = (await stage.entries()).find((entry) => entry.kind === "tool_finished");
  expect(finished?.files).toMatchObject([{ name: "chart.png", mediaType: "image/png" }]);
  const [file] = finished?.files ?? [];
  expect(await stage.journal.readArtifact(KEY, file?.artifact.id ?? "")).toEqual(png);
  const [whole] = finished?.artifacts ?? [];
  await stage.say(`run read_artifact id=${whole?.id} fromLine=2000 lines=2`);
  await stage.settle();
  expect(stage.chat.answers().at(-1)?.results).toMatchObject([
    {
      outcome: "ok",
      text: `Lines 2000 to 2001 of the 4000 of ${whole?.id}; fromLine=2002 goes on.\nline 2000\nline 2001`,
    },
  ]);
});

test("a thread counts the calls that could not see everything, by what would help", async () => {
  const gap = (help: string) => ({ what: "pods", why: "forbidden", help });
  const look = fakeTool({
    name: "look",
    run: async ({ name }) => ({
      text: "some",
      gaps: name === "all" ? [] : [gap("Grant list on pods."), gap(`Set ${name}.`)],
    }),
  });
  const stage = await createStage({ tools: [look] });
  const calls = ["LOKI_URL", "all", "LOKI_URL", "A_B"];
  for (const name of calls) await stage.say(`run look name=${name}`);
  await stage.settle();
  await stage.say("cost");
  await stage.settle();
  expect(stage.chat.answers().at(-1)?.text?.split("\n").slice(1)).toEqual([
    "3 calls couldn't see everything. What would help:",
    "- Grant list on pods. (3 calls)",
    "- Set LOKI_URL. (2 calls)",
    "- Set A_B. (1 call)",
  ]);
  const queries = createQueries(stage.journal, [], (text) => text);
  expect((await queries.thread(KEY))?.gaps).toEqual({
    calls: 3,
    helps: [
      { help: "Grant list on pods.", calls: 3 },
      { help: "Set LOKI_URL.", calls: 2 },
      { help: "Set A_B.", calls: 1 },
    ],
  });
});
