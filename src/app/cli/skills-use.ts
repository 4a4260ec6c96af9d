import type { Config } from "../../config/config.ts";
import { readPeriod, showPeriod } from "../../incidents/period.ts";
import { createEncoder } from "../../security/encoder.ts";
import { alignedRows } from "../../tools/columns.ts";
import { TRANSPORTS } from "../platforms.ts";
import { type SkillUse, skillUse } from "../skill-use.ts";
import { loadToolset } from "../toolset.ts";
import { storedForms } from "./stored-team.ts";
import { withStore } from "./command.ts";

/** A line for each skill, the most used first; those that nobody used come last, in one line. */
export async function skillUseLines(config: Config, text: string, now: number): Promise<string[]> {
  const period = await readPeriod(text, { zone: config.timezone ?? "UTC", now });
  const { encode } = createEncoder(config.secrets);
  const used = await withStore(config, (journal) => skillUse(journal, period, TRANSPORTS));
  const { skills } = await loadToolset(config, { forms: () => storedForms(config) });
  const unused = skills
    .map(({ name }) => name)
    .filter((name) => !used.some((each) => each.skill === name));
  const rows = used.map(rowOf).map((row) => row.map(encode));
  return [
    `${showPeriod(period)}:`,
    ...(used.length === 0 ? [] : alignedRows([HEAD, ...rows])),
    ...(unused.length === 0 ? [] : [`Not used: ${unused.join(", ")}`]),
  ];
}

const HEAD = ["skill", "taken up", "checks run", "threads", "fixed", "helpful", "not helpful"];

function rowOf({ skill, taken, checked, threads, fixed, good, bad }: SkillUse): string[] {
  return [skill, ...[taken, checked, threads, fixed, good, bad].map(String)];
}
