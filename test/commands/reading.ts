import { readText } from "../../src/commands/grammar.ts";

/** A command that calls this tool. */
export function run(tool: string, args: Record<string, string> = {}) {
  return { kind: "command", command: { name: "run", tool, args } };
}

/** The problem of an invalid command, or what else the text was read as. */
export function problemOf(text: string): string {
  const reading = readText(text);
  if (reading.kind !== "command") return `a ${reading.kind}`;
  return reading.command.name === "invalid" ? reading.command.problem : reading.command.name;
}
