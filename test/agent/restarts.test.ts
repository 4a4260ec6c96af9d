import { expect, test } from "vitest";
import { isPost } from "../../src/core/entry.ts";
import type { Journal } from "../../src/journal/journal.ts";
import type { Model, ModelRequest } from "../../src/models/model.ts";
import { askUser } from "../../src/tools/thread/ask-user.ts";
import { NO_USAGE } from "../../src/core/block.ts";
import { createStage, fakeTool } from "../fakes/stage.ts";
import { goOn, journalOf } from "./cut.ts";
import { expectPaired, ofKind, wordsIn } from "./talking.ts";

const use = (id: string, name: string, args: object) => ({
  kind: "tool_use" as const,
  id,
  name,
  input: JSON.stringify(args),
});

/** Says the same to the same request, as a model that is asked again after a crash. */
function steadyModel(requests: ModelRequest[]): Model {
  const sayings = [
    [
      { kind: "text" as const, text: "It hangs." },
      use("c1", "look", { name: "web" }),
      use("c2", "act", { name: "web" }),
    ],
    [use("c1", "look", { name: "db" }), use("c2", "ask_user", { question: "Since when?" })],
    [{ kind: "text" as const, text: "CONFIRMED: it hung [T1]." }],
  ];
  return {
    id: "test/steady",
    contextWindow: 100_000,
    async generate(request) {
      requests.push(request);
      const thanked = wordsIn(request).at(-1)?.includes("thanks") === true;
      const done = request.turns.filter(({ role }) => role === "tool").length;
      const content = thanked
        ? [{ kind: "text" as const, text: "Welcome." }]
        : (sayings[done] ?? []);
      return { content, stop: "end_turn", usage: { ...NO_USAGE, input: 10, output: 1 } };
    },
  };
}

async function stageOn(journal?: Journal) {
  const requests: ModelRequest[] = [];
  const look = fakeTool({ name: "look" });
  const act = fakeTool({ name: "act", effect: "write" });
  const options = { tools: [look, act, askUser], model: steadyModel(requests) };
  const stage = await createStage(journal === undefined ? options : { ...options, journal });
  return { ...stage, look, act, requests };
}

test("a conversation that is cut after any of its entries comes to the same end: one result per call, one answer per run, no effect twice", async () => {
  const whole = await stageOn();
  await whole.say("fix web");
  await whole.settle();
  await whole.say("approve a1", "test:bob");
  await whole.settle();
  await whole.say("since noon");
  await whole.settle();
  await whole.say("thanks");
  await whole.settle();
  const entries = await whole.entries();
  expect(entries.filter(isPost)).toHaveLength(4);
  expect(whole.chat.answers().map(({ text }) => text)).toEqual([
    "CONFIRMED: it hung [T1].",
    "Welcome.",
  ]);

  for (let cut = 1; cut < entries.length; cut += 1) {
    const past = entries.slice(0, cut);
    const stage = await stageOn(await journalOf(past));
    await goOn(stage, entries.slice(cut));
    const now = await stage.entries();
    const where = `cut after ${cut}, ${entries[cut - 1]?.id}`;
    const startedBefore = past.some(({ id }) => id === "started:r1.t2");
    expect(stage.act.runs.length + (startedBefore ? 1 : 0), where).toBe(1);
    const finished = ofKind(now, "tool_finished");
    expect(finished.map(({ call }) => call).toSorted(), where).toEqual([
      "r1.t1",
      "r1.t2",
      "r1.t3",
      "r1.t4",
    ]);
    const act = finished.find(({ call }) => call === "r1.t2");
    const wasCut = startedBefore && !past.some(({ id }) => id === "finished:r1.t2");
    expect(act?.outcome, where).toBe(wasCut ? "unknown" : "ok");
    expect(
      ofKind(now, "run_ended").map(({ run, status }) => [run, status]),
      where,
    ).toEqual([
      ["r1", "completed"],
      ["r2", "completed"],
    ]);
    expect(
      ofKind(now, "assistant").map(({ id }) => id),
      where,
    ).toEqual(["assistant:r1.1", "assistant:r1.2", "assistant:r1.3", "assistant:r2.1"]);
    const answered = ofKind(now, "delivered").filter(({ entry }) => entry.startsWith("ended:"));
    expect(
      answered.map(({ entry }) => entry),
      where,
    ).toEqual(["ended:r1", "ended:r2"]);
    for (const request of stage.requests) expectPaired(request);
    await stage.journal.close();
  }
});
