import { createHash } from "node:crypto";
import { stringify } from "yaml";
import type { Entry } from "../core/entry.ts";
import { usesOf } from "../thread/model-run.ts";
import {
  CASE_FILE,
  type FrozenOutput,
  OUTPUTS_FILE,
  SCRIPT_FILE,
  type ScriptedTurn,
} from "./case.ts";
import { factsOf } from "./facts.ts";

export interface SavedCase {
  /** A folder's name, the same for the same thread. */
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
}

/**
 * A thread's run of a model, the last one if none is named, as a case: what was asked, what the tools said, and what the model did. What it expects is what
 * came out: whoever keeps it makes that what should have. The journal's texts are redacted; `encode` takes out what became a secret
 * since. Undefined: no model has answered in it.
 */
export function caseOf(
  key: string,
  entries: readonly Entry[],
  encode: (text: string) => string,
  wanted?: string,
): SavedCase | undefined {
  const started = entries.findLast(
    (entry) =>
      entry.kind === "run_started" &&
      entry.talk !== undefined &&
      entry.parent === undefined &&
      entry.run === (wanted ?? entry.run),
  );
  if (started?.kind !== "run_started") return undefined;
  const { run, answers } = started;
  const question = questionIn(entries, answers);
  const end = entries.findIndex((entry) => entry.kind === "run_ended" && entry.run === run);
  const until = end === -1 ? entries : entries.slice(0, end + 1);
  const own = until.filter((entry) => !("run" in entry) || entry.run === run);
  const { answer, verdict, calls, cited } = factsOf(until);
  if (question === "" || answer === undefined) return undefined;
  const outputs: FrozenOutput[] = calls
    .filter(({ call }) => call.startsWith(`${run}.`))
    .flatMap(({ tool, args, outcome, text, findings }) =>
      outcome === "ok" || outcome === "error"
        ? [{ tool, args, outcome, text, findings: [...findings] }]
        : [],
    );
  const script = own.flatMap((entry): ScriptedTurn[] => {
    if (entry.kind !== "assistant") return [];
    const say = entry.content.flatMap((block) => (block.kind === "text" ? [block.text] : []));
    const uses = usesOf(entry, 0).map(({ tool, args }) => ({ tool, args }));
    return [{ say: say.join("\n\n"), calls: uses }];
  });
  const about = {
    about: `Saved from a thread on ${new Date(started.at).toISOString().slice(0, 10)}. Say here what it is about.`,
    kind: "fault",
    question,
    answered: answer,
    expect: {
      ...(verdict !== undefined && { verdict: [verdict] }),
      finds: [],
      cites: [...new Set(cited)],
    },
  };
  // Each text by itself: what takes control characters out of a whole file would make lines of them.
  const encoded = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (_, inner: unknown) =>
      typeof inner === "string" ? encode(inner) : inner,
    );
  const json = (value: unknown) => `${JSON.stringify(encoded(value), undefined, 2)}\n`;
  const name = `saved-${createHash("sha256").update(`${key} ${run}`).digest("hex").slice(0, 12)}`;
  return {
    name,
    files: {
      [CASE_FILE]: `# Make "finds" and "never" what a good answer says and does not say.\n${stringify(encoded(about))}`,
      [OUTPUTS_FILE]: json(outputs),
      [SCRIPT_FILE]: json(script),
    },
  };
}

/** What was asked, as its authors left it. */
function questionIn(entries: readonly Entry[], answers: readonly string[]): string {
  const texts = new Map<string, string>();
  for (const entry of entries) {
    if (entry.kind === "message" && answers.includes(entry.id)) texts.set(entry.id, entry.text);
    if (entry.kind === "edited" && texts.has(entry.of)) texts.set(entry.of, entry.text);
  }
  return [...texts.values()].join("\n\n");
}
