import { expect, test } from "vitest";
import { createStage, fakeTool } from "../fakes/stage.ts";

test("a direct read is run at once and answered with its result", async () => {
  const look = fakeTool({ name: "look" });
  const stage = await createStage({ tools: [look] });
  await stage.say("run look name=web");
  await stage.settle();
  expect(look.runs).toEqual(["web"]);
  expect(stage.chat.answers()).toMatchObject([{ status: "completed", results: [{ outcome: "ok", text: "did web" }] }]);
  expect(await stage.kinds()).toEqual([
    "command",
    "run_started",
    "tool_started",
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
  expect(stage.chat.cards()).toMatchObject([{ action: "a1", phase: "open", canonical: '{"name":"web"}' }]);
  await stage.click("a1", { kind: "approve" });
  await stage.settle();
  expect(act.runs).toEqual(["web"]);
  expect(stage.chat.cards()).toMatchObject([{ action: "a1", phase: "done" }]);
  expect(stage.chat.answers()).toMatchObject([{ status: "completed" }]);
});
