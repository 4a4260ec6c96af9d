import type { Tool } from "../../src/tools/tool.ts";
import type { CountingModel } from "../fakes/counting-model.ts";
import type { Line } from "../fakes/scripted-model.ts";
import { createStage, fakeTool, type StageOptions } from "../fakes/stage.ts";
import { ANSWER, call } from "./talking.ts";

/** A stage whose tool `look` returns so many characters, and a model that looks so often before it answers. */
export async function investigating(
  model: CountingModel,
  options: StageOptions & { chars?: number; more?: readonly Tool[] } = {},
) {
  const { chars = 2_000, more = [], ...rest } = options;
  const look = fakeTool({
    name: "look",
    run: async ({ name }) => ({ text: `${name} ${"x".repeat(chars)}` }),
  });
  const stage = await createStage({
    tools: [look, ...more],
    model,
    ...rest,
    talk: {
      system: "You are on call.",
      maxOutputTokens: 1_000,
      budget: { steps: 200, tokens: 10_000_000, minutes: 15 },
      ...rest.talk,
    },
  });
  const ask = async (text: string, account?: string) => {
    await stage.say(text, account);
    await stage.settle();
  };
  return { ...stage, look, ask };
}

/** Looks at something new each time, and answers after so many calls. */
export const looking =
  (calls: number) =>
  (n: number): Line =>
    n <= calls ? { calls: [call("look", `web-${n}`)] } : ANSWER;
