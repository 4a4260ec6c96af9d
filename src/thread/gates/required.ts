import { globMatches } from "../../core/glob.ts";
import { gradeIn, withWarning } from "../evidence.ts";
import { callsOf } from "../family.ts";
import { HOUSEKEEPING } from "../housekeeping.ts";
import { followed } from "../narrowed.ts";
import * as phrases from "../phrases.ts";
import type { Answer, Gate } from "./gate.ts";

/**
 * A kind of task may need calls before it is done: what a followed skill, or the configuration for it, requires. An answer that
 * says itself that it settles nothing needs none.
 */
export const required: Gate = {
  name: "required",
  about:
    "sends back a conclusion before the calls were made that a followed skill (`metadata.requires`) or `agent.requires` asks for",
  beforeAnswer(answer) {
    const missing = missingIn(answer);
    if (missing.length === 0) return undefined;
    return `Your answer was not shown yet: this kind of task needs calls that were not made, or did not go well: ${missing.join(", ")}. Make them and answer, or answer INCONCLUSIVE and say what kept you.`;
  },
  marked(answer) {
    const missing = missingIn(answer);
    return missing.length === 0
      ? answer.text
      : withWarning(answer.text, phrases.doubts.notCalled(missing));
  },
};

function missingIn({ text, run, modelRun }: Answer): string[] {
  const { requires } = modelRun.terms.gates ?? {};
  if (requires === undefined || gradeIn(text) === "INCONCLUSIVE") return [];
  const calls = callsOf(run);
  const hasLooked = calls.some(
    ({ started, tool }) => started !== undefined && !HOUSEKEEPING.test(tool),
  );
  const skills = [...followed(calls)];
  const asked = Object.entries(requires).flatMap(([glob, tools]) => {
    const isKind = glob === "*" ? hasLooked : skills.some((skill) => globMatches(glob, skill));
    return isKind ? tools : [];
  });
  const well = calls.filter(({ finished }) => finished?.outcome === "ok");
  return [...new Set(asked)].filter((glob) => !well.some(({ tool }) => globMatches(glob, tool)));
}
