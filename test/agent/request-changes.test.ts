import { inspect } from "node:util";
import { expect, test } from "vitest";
import { requestOf } from "../../src/agent/request.ts";
import { foldTranscript, tellingOf } from "../../src/agent/transcript.ts";
import { Transcript } from "../../src/agent/transcript-turns.ts";
import type { GateTerms } from "../../src/core/gates.ts";
import { UPDATE_PLAN, UPDATE_PLAN_SPEC } from "../../src/core/tool-spec.ts";
import { fold } from "../../src/thread/fold.ts";
import { Thread } from "../../src/thread/state.ts";
import { toolSpec } from "../../src/tools/input-schema.ts";
import { countingModel } from "../fakes/counting-model.ts";
import { fakeTool } from "../fakes/stage.ts";
import { investigating } from "./investigating.ts";
import { call, lastAnswer, ofKind, talking, wordsIn } from "./talking.ts";

/** What changes a request before it is sent: each is an entry, applied in one order, to a copy. */
async function changed() {
  const gates: GateTerms = {
    on: ["evidence", "required", "verification"],
    requires: { "*": ["look"] },
  };
  const approvals = { rules: [{ match: { tool: "act" }, decide: "allow" as const }] };
  const script = [
    { calls: [call("act")] },
    { text: "It works now [T9]." },
    { calls: [call("look")] },
    { text: "CONFIRMED: it works [T2]." },
  ];
  const stage = await talking(script, { approvals, talk: { gates } });
  await stage.ask("restart web");
  return stage;
}

test("what changes a request is applied in order, behind all that was sent before, and each change is an entry of its own", async () => {
  const stage = await changed();
  const { requests } = stage.model;
  const said = ofKind(await stage.entries(), "gate").map(({ text }) => text);
  expect(said).toHaveLength(3);
  const now = wordsIn(requests[2]).slice(-3);
  expect(now).toEqual(said.map((text) => `[watchkeeper] ${text.replaceAll("\n", "\n  ")}`));
  const [before, after] = [JSON.stringify(requests[1]?.turns), JSON.stringify(requests[2]?.turns)];
  expect(after.startsWith(before.slice(0, -1))).toBe(true);
});

test("it changes a copy: what the thread holds stays, and any process makes the same request of the same entries", async () => {
  const stage = await changed();
  const entries = await stage.entries();
  const turn = ofKind(entries, "assistant")[2];
  const { terms } = stage.parts.run;
  if (turn === undefined || terms === undefined) throw new Error("no third turn");
  const until = entries.filter(({ seq }) => seq <= turn.seen);
  const transcript = new Transcript();
  for (const entry of until) foldTranscript(transcript, entry);
  const modelRun = fold(new Thread(), until).runs.get(turn.run)?.modelRun;
  if (modelRun === undefined) throw new Error("no run");
  const held = inspect(transcript, { depth: Infinity });
  const made = () =>
    requestOf(transcript, { run: turn.run, modelRun }, terms, tellingOf(transcript, turn));
  expect(made().hash.slice(0, 32)).toBe(turn.request);
  expect(made()).toEqual(made());
  expect(inspect(transcript, { depth: Infinity })).toBe(held);
});

test("what a run notes to itself stands in its later requests and the next run's, also once all before it was condensed and after a restart", async () => {
  const noted = "web-3 is drained on Sundays";
  const model = countingModel(10_000, (n) => {
    if (n === 1)
      return {
        calls: [{ name: UPDATE_PLAN, args: { tasks: [{ content: noted, status: "completed" }] } }],
      };
    return n <= 24 ? { calls: [call("look", `web-${n}`)] } : { text: "CONFIRMED: well [T9]." };
  });
  const tools = [toolSpec(fakeTool({ name: "look" })), UPDATE_PLAN_SPEC];
  const stage = await investigating(model, { talk: { tools } });
  await stage.ask("why is web slow?");
  expect(model.summaries.length).toBeGreaterThan(0);
  const holds = model.requests.map((request) => JSON.stringify(request.turns).includes(noted));
  expect(holds.indexOf(true)).toBe(1);
  expect(holds.lastIndexOf(false)).toBe(0);
  // The journal alone: nothing of it was in this process's memory.
  const again = await investigating(model, { journal: stage.journal, talk: { tools } });
  const actor = { account: "test:ana", name: "ana" };
  await again.post({ id: "later", kind: "message", actor, text: "and since when?" });
  await again.settle();
  expect(lastAnswer(again)).toContain("CONFIRMED");
  expect(JSON.stringify(model.requests.at(-1)?.turns)).toContain(noted);
});
