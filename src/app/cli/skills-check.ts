import type { Config } from "../../config/config.ts";
import { counted } from "../../core/text.ts";
import { createEncoder } from "../../security/encoder.ts";
import { loadSkills } from "../../skills/load.ts";
import { checkProblems } from "../check-tools.ts";
import { lookAtTools } from "./look-at-tools.ts";

/** What is wrong with the skills that are loaded here, or with one folder's, and with what their checks ask of the tools; then a count. */
export async function* checkSkills(
  config: Config,
  named: string | undefined,
): AsyncIterable<{ line: string; isMistake?: boolean }> {
  const { encode } = createEncoder(config.secrets);
  yield* lookAtTools(config, async function* ({ toolset }) {
    const { skills, problems } = named === undefined ? toolset : await loadSkills([named], encode);
    const found = [
      ...problems.map((each) => ({ ...each, isMistake: true })),
      ...checkProblems(skills, toolset.tools, toolset.unavailable),
    ];
    for (const { at, text, isMistake } of found)
      yield { line: `${at}: ${encode(text)}`, isMistake };
    const checked = skills.filter(({ checks }) => checks !== undefined).length;
    const mistakes = found.filter(({ isMistake }) => isMistake).length;
    const verdict = mistakes === 0 ? "no mistake" : counted(mistakes, "mistake");
    yield { line: `${counted(skills.length, "skill")}, ${checked} with checks: ${verdict}` };
  });
}
