import { createStage, fakeTool, type StageOptions } from "./stage.ts";

/** A stage on which Ana has asked for an action that waits for approval, and a clock that the test moves. */
export async function asked(options: StageOptions = {}, effect: "write" | "destructive" = "write") {
  const act = fakeTool({ name: "act", effect });
  const clock = { now: 1_000_000 };
  const stage = await createStage({ tools: [act], now: () => clock.now, ...options });
  await stage.say("run act name=web");
  await stage.settle();
  return { ...stage, act, clock };
}

/** The action needs two people. */
export const TWO = { rules: [{ match: { tool: "act" }, decide: "ask" as const, quorum: 2 }] };
