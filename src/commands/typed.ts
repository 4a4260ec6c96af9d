import { readSaid } from "../tools/say.ts";
import type { Tool } from "../tools/tool.ts";
import { readText } from "./grammar.ts";
import type { Reading } from "./reading.ts";

/** What a typed text is, where tools have sentences of their own (`Tool.say`). No sentence takes a command's place. */
export function readTyped(text: string, tools: readonly Tool[]): Reading {
  const reading = readText(text);
  if (reading.kind !== "message" && !isUnknown(reading)) return reading;
  const said = readSaid(text, tools);
  return said === undefined
    ? reading
    : { kind: "command", command: { name: "run", tool: said.tool, args: said.args } };
}

/** A slash and a word that no command has. */
function isUnknown(reading: Reading): boolean {
  return reading.kind === "command" && reading.command.name === "invalid";
}
