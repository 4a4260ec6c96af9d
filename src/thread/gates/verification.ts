import type { Json } from "../../core/entry.ts";
import { argsOf, type Call } from "../call.ts";
import { citationOf } from "../entry-ids.ts";
import { gradeIn, withWarning } from "../evidence.ts";
import { callsOf } from "../family.ts";
import { HOUSEKEEPING } from "../housekeeping.ts";
import * as phrases from "../phrases.ts";
import { numbersIn } from "../sentences.ts";
import type { Answer, Gate } from "./gate.ts";

/**
 * That something was done does not show that it helped: after an act that went well its own read-back, or a later read of the
 * same thing, has to stand in the journal. Goes by what was called, never by words: answers come in every language.
 */
export const verification: Gate = {
  name: "verification",
  about:
    "sends back a conclusion after a change that nothing has read back since, or with less evidence than `agent.minEvidence`",
  beforeAnswer(answer) {
    const unread = unreadIn(answer);
    const least = leastOf(answer);
    const problems = [
      ...(unread.length === 0
        ? []
        : [
            `Nothing was looked at after ${namesOf(unread)}. Read what it was to change, then say what you see; or answer INCONCLUSIVE.`,
          ]),
      ...(least === undefined
        ? []
        : [
            `It cites fewer than ${least} calls that went well. Look further, or say INCONCLUSIVE.`,
          ]),
    ];
    return problems.length === 0
      ? undefined
      : `Your answer was not shown yet. ${problems.join(" ")}`;
  },
  marked(answer) {
    const unread = unreadIn(answer);
    const least = leastOf(answer);
    if (unread.length > 0)
      return withWarning(
        answer.text,
        phrases.doubts.notReadBack(unread.map(({ call }) => citationOf(call))),
      );
    return least === undefined
      ? answer.text
      : withWarning(answer.text, phrases.doubts.thinEvidence(least));
  },
};

function namesOf(calls: readonly Call[]): string {
  return calls.map(({ call, tool }) => `[${citationOf(call)}] ${tool}`).join(", ");
}

/** Acts that went well and that nothing has read back. */
function unreadIn({ text, run }: Answer): Call[] {
  if (gradeIn(text) === "INCONCLUSIVE") return [];
  const calls = callsOf(run).filter(
    ({ tool, finished }) => finished?.outcome === "ok" && !HOUSEKEEPING.test(tool),
  );
  const reads = calls.filter(({ started }) => started?.effect === "read");
  return calls.filter(
    (act) =>
      act.started !== undefined &&
      act.started.effect !== "read" &&
      act.finished?.readBack !== "done" &&
      !reads.some((read) => isReadOf(act, read)),
  );
}

/** The read began after the act ended, on no other machine, and names something that the act names, if that names anything. */
function isReadOf(act: Call, read: Call): boolean {
  if ((read.started?.seq ?? 0) < (act.finished?.seq ?? Infinity)) return false;
  const [there, here] = [act.started?.host, read.started?.host];
  if (there !== undefined && here !== undefined && there !== here) return false;
  const named = namesIn(argsOf(act));
  const also = new Set(namesIn(argsOf(read)));
  return named.length === 0 || named.some((name) => also.has(name));
}

/** What arguments name: their texts, also as parts of an address or a path. A machine's name says nothing more than the machine. */
function namesIn(args: Readonly<Record<string, Json>>): string[] {
  return Object.entries(args).flatMap(([key, value]) =>
    key === "host" || key === "pinned" ? [] : textsIn(value),
  );
}

function textsIn(value: Json): string[] {
  if (typeof value === "string")
    return [value, ...value.split(/[/:\s]+/)].filter((part) => part.length > 1);
  if (typeof value === "number") return [`${value}`];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** How much evidence a sure answer needs, where it has less. */
function leastOf({ text, modelRun }: Answer): number | undefined {
  const { minEvidence = 0 } = modelRun.terms.gates ?? {};
  const grade = gradeIn(text);
  if (minEvidence === 0 || grade === undefined || grade === "INCONCLUSIVE") return undefined;
  const cited = new Set(numbersIn(text));
  const well = [...cited].filter((number) => {
    const effect = modelRun.evidence.get(number);
    return effect === "ok" || effect === "changed" || effect === "unmet";
  });
  return well.length < minEvidence ? minEvidence : undefined;
}
