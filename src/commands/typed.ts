import { readSaid } from "../tools/say.ts";
import type { Tool } from "../tools/tool.ts";
import { readText } from "./grammar.ts";
import { asksWhatFires } from "./hand-over.ts";
import { readKubectl } from "./kubectl.ts";
import { noKubernetes } from "./phrases.ts";
import { invalid, type Reading, toolCall } from "./reading.ts";

/** Systems that say themselves what fires. Without any, what threads know of alerts is the answer. */
const ALERTING = ["prometheus_alerts", "alertmanager_alerts"];

/** What a typed text is, where tools have sentences of their own (`Tool.say`). No sentence takes a command's place. */
export function readTyped(text: string, tools: readonly Tool[]): Reading {
  const reading = readText(text);
  if (reading.kind !== "message" && !isInvalid(reading)) return reading;
  const said = readSaid(text, tools);
  if (said !== undefined) return toolCall(said.tool, said.args);
  if (reading.kind !== "message") return reading;
  const has = (name: string) => tools.some((tool) => tool.name === name);
  if (asksWhatFires(text) && !ALERTING.some(has) && has("handoff")) return toolCall("handoff", {});
  const kubectl = readKubectl(text);
  if (kubectl === undefined) return reading;
  return has(kubectl.tool) ? toolCall(kubectl.tool, kubectl.args) : invalid(noKubernetes());
}

/** It was meant as a command and is none. */
function isInvalid(reading: Reading): boolean {
  return reading.kind === "command" && reading.command.name === "invalid";
}
