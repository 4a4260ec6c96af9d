import { gradeIn, withWarning } from "../evidence.ts";
import type { CallEffect } from "../model-run.ts";
import * as phrases from "../phrases.ts";
import { digitsIn, numbersIn, REFERENCE, removeReferences } from "../sentences.ts";

/**
 * The answer of a goal, held against the thread's calls: it cites only what ran, and says where it is sure of something that it cites
 * nothing for. Its planner sees notes alone, so this is not sent back to it.
 */
export function heldToCalls(text: string, evidence: ReadonlyMap<number, CallEffect>): string {
  const cited = numbersIn(text);
  const ran = cited.filter((number) => evidence.has(number));
  const kept =
    ran.length === cited.length
      ? text
      : removeReferences(text, REFERENCE, (found) =>
          digitsIn(found).filter((number) => evidence.has(number)),
        );
  const grade = gradeIn(text);
  const isUnfounded = ran.length === 0 && grade !== undefined && grade !== "INCONCLUSIVE";
  const warnings = [
    ...(ran.length < cited.length ? [phrases.doubts.neverRan] : []),
    ...(isUnfounded ? [phrases.doubts.noCheck(grade)] : []),
  ];
  return warnings.length === 0 ? kept : withWarning(kept, warnings.join("\n> ⚠ "));
}
