import { HELPER_PROMPT } from "../../src/agent/prompt.ts";
import type { JsonObject } from "../../src/core/entry.ts";
import type { Journal } from "../../src/journal/journal.ts";
import type { GenerateOptions, Model, ModelRequest } from "../../src/models/model.ts";
import { delegate } from "../../src/tools/delegate/delegate.ts";
import { askUser } from "../../src/tools/thread/ask-user.ts";
import { createStage, fakeTool, type StageOptions } from "../fakes/stage.ts";
import { responseOf, type Turn } from "./scripted-turn.ts";
import { wordsIn } from "./talking.ts";

/** What each run says, by a word of its task or, for the main run, `main`; the first key that its request holds. */
export type Parts = Readonly<
  Record<string, readonly (Turn | ((options: GenerateOptions) => Promise<Turn>))[]>
>;

export function isHelpers({ system }: ModelRequest): boolean {
  return system === HELPER_PROMPT;
}

/** Says the same to the same request, as a model that is asked again after a crash. */
function playing(parts: Parts, requests: ModelRequest[]): Model {
  return {
    id: "test/parts",
    contextWindow: 100_000,
    async generate(request, options) {
      requests.push(request);
      const said = wordsIn(request).join("\n");
      const names = Object.keys(parts).filter((name) => name !== "main");
      const part = isHelpers(request) ? names.find((name) => said.includes(name)) : "main";
      const done = request.turns.filter(({ role }) => role === "tool").length;
      const next = parts[part ?? ""]?.[done];
      if (next === undefined) throw new Error(`nothing is left to say for ${part} after ${done}`);
      return responseOf(typeof next === "function" ? await next(options) : next);
    },
  };
}

export const HELPERS = { helper: { system: HELPER_PROMPT, depth: 2, perRun: 8 } };

/** A stage whose model may have helpers, with a tool `look` that reads and a tool `act` that writes. */
export async function helping(parts: Parts, options: StageOptions & { journal?: Journal } = {}) {
  const requests: ModelRequest[] = [];
  const look = fakeTool({ name: "look" });
  const act = fakeTool({ name: "act", effect: "write" });
  const stage = await createStage({
    tools: [look, act, askUser, delegate],
    model: playing(parts, requests),
    ...options,
    talk: { modes: HELPERS, ...options.talk },
  });
  const ask = async (text: string, account?: string) => {
    await stage.say(text, account);
    await stage.settle();
  };
  return { ...stage, look, act, requests, ask };
}

/** A call for a helper. */
export function helper(task: string, more: JsonObject = {}) {
  return ["delegate", { task, ...more }] as const;
}
