import { answerWithoutModel } from "../../src/app/no-model.ts";
import { readTyped } from "../../src/commands/typed.ts";
import type { Plan } from "../../src/thread/checking.ts";
import type { Tool } from "../../src/tools/tool.ts";

/** What comes of a line that somebody types where there is no model: each call as it is typed, or `says:` and each line of the answer. */
export function answersTo(
  text: string,
  tools: readonly Tool[],
  planOf: (question: string) => Plan,
): string[] {
  const reading = readTyped(text, tools);
  if (reading.kind === "command") {
    const { command } = reading;
    if (command.name === "run") return [typed(command)];
    return [command.name === "invalid" ? `says:${command.problem}` : command.name];
  }
  if (reading.kind !== "message") return [reading.kind];
  const { calls } = planOf(text);
  if (calls.length > 0) return calls.map(typed);
  const said = answerWithoutModel(text, tools, ({ name }) => name);
  return said.split("\n").map((line) => `says:${line.trim()}`);
}

function typed({ tool, args }: { tool: string; args: Readonly<Record<string, unknown>> }): string {
  const words = Object.entries(args).map(([name, value]) =>
    [name, typeof value === "string" ? value : JSON.stringify(value)].join("="),
  );
  return [tool, ...words].join(" ");
}
