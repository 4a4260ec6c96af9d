import { BotError } from "../src/core/errors.ts";
import { isJsonObject } from "../src/core/json.ts";
import { settingsOf } from "../src/core/settings.ts";
import type { FrozenOutput } from "../src/evals/case.ts";
import { createFrozenWorld } from "../src/evals/frozen.ts";
import { UNFROZEN } from "../src/evals/score.ts";
import { INTEGRATIONS, NOTHING_LENT } from "../src/tools/registry.ts";
import type { Tool } from "../src/tools/tool.ts";

/** What tools of these do is in the program itself, so they do it. */
const OWN = new Set([
  "thread",
  "incidents",
  "approvals",
  "handoff",
  "people",
  "freeze",
  "costs",
  "feedback",
  "mirror",
  "memory",
  "skills",
]);

/** Puts what a case says in place of whatever reaches out of the program: the names, arguments and effects stay. */
export async function freezeTools(outputs: readonly FrozenOutput[]) {
  const world = createFrozenWorld(outputs);
  const own = new Set(await ownTools());

  function freeze(tool: Tool): Tool {
    if (own.has(tool.name)) return tool;
    return {
      name: tool.name,
      description: tool.description,
      input: tool.input,
      effect: tool.effect,
      timeoutMs: tool.timeoutMs,
      ...(tool.kinds && { kinds: tool.kinds }),
      ...(tool.say && { say: tool.say }),
      ...(tool.diagnoses && { diagnoses: tool.diagnoses }),
      ...(tool.hostBound && { hostBound: tool.hostBound }),
      ...(tool.effectOf && { effectOf: (input: unknown) => tool.effectOf?.(input) ?? tool.effect }),
      preview: async () => ({
        lines: [{ label: "Call", value: tool.name }],
        blastRadius: "A frozen case: nothing is changed.",
        undo: "There is nothing to undo.",
      }),
      async run(input) {
        const found = world.answer(tool.name, isJsonObject(input) ? input : {});
        if (found === undefined)
          throw new BotError("NOT_AVAILABLE", `${UNFROZEN}: the case has no output of it.`);
        const { text, outcome, findings } = found;
        return { text, findings, ...(outcome === "error" && { failed: true }) };
      },
    };
  }

  return (tools: readonly Tool[]) => tools.map(freeze);
}

async function ownTools(): Promise<string[]> {
  const own = INTEGRATIONS.filter(({ name }) => OWN.has(name));
  const tools = await Promise.all(
    own.map(async (each) => each.tools(settingsOf(each, {}), NOTHING_LENT)),
  );
  return tools.flat().map(({ name }) => name);
}
