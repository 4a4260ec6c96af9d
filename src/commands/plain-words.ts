import { readCostWords } from "./cost-words.ts";
import { readHandOver } from "./hand-over.ts";
import { readIncidentWords } from "./incident-words.ts";
import { type Reading, toolCall } from "./reading.ts";
import { readStats } from "./stats-words.ts";

/** The tools that plain words ask for, where they ask for nothing else. */
const ASKED = [
  ["handoff", readHandOver],
  ["incident_stats", readStats],
  ["incident_search", readIncidentWords],
] as const;

/** The call that a few plain words ask for; undefined: they may be a command, or prose. */
export function readPlainWords(text: string): Reading | undefined {
  for (const [tool, read] of ASKED) {
    const args = read(text);
    if (args !== undefined) return toolCall(tool, { ...args });
  }
  const about = readCostWords(text);
  if (about === "thread") return { kind: "command", command: { name: "cost" } };
  return about === "today" ? toolCall("cost_per_day", { days: "1" }) : undefined;
}
