import type { StoredEntry } from "../core/entry.ts";
import { type JournalKey, transportOf } from "../core/journal-key.ts";
import { withoutRemoved } from "../core/removed.ts";
import type { Journal } from "../journal/journal.ts";
import { createFeedback } from "../team/feedback.ts";
import { fold } from "../thread/fold.ts";
import { Thread } from "../thread/state.ts";
import { TRANSPORTS } from "./platforms.ts";

/** How skills were used and what came of it: a fold over the threads' journals, with no counter beside them. */

/** Of a span, from `from` until just before `to`. */
export interface SkillUse {
  skill: string;
  /** Runs that took it up. */
  taken: number;
  /** Runs of its checks. */
  checked: number;
  /** Threads that used it, and those of them in which a change was seen to have helped. */
  threads: number;
  fixed: number;
  /** What people said of the answers of those runs. */
  good: number;
  bad: number;
}

interface Span {
  from: number;
  to: number;
}

/** The newest threads of the span: more would take minutes. */
const MAX_THREADS = 5_000;
/** Threads that are read at once. */
const PAGE = 16;

/** The skills that were used, the most used first. `transports`: whose threads count. */
export async function skillUse(
  journal: Pick<Journal, "read" | "list">,
  span: Span,
  transports: readonly string[],
): Promise<SkillUse[]> {
  const keys: JournalKey[] = [];
  for await (const { key } of journal.list({ since: span.from })) {
    if (!transports.includes(transportOf(key))) continue;
    keys.push(key);
    if (keys.length === MAX_THREADS) break;
  }
  const words = await createFeedback(journal).list({ audience: undefined, tenants: "all" });
  const found = new Map<string, SkillUse>();
  for (let at = 0; at < keys.length; at += PAGE) {
    const page = keys.slice(at, at + PAGE).map(async (key) => {
      const used = usedIn(await journal.read(key), span);
      return { used, words: words.filter(({ thread }) => thread === key) };
    });
    for (const { used, words: said } of await Promise.all(page)) addThread(found, used, said);
  }
  const weight = ({ taken, checked }: SkillUse) => taken + checked;
  return [...found.values()].toSorted(
    (a, b) => weight(b) - weight(a) || (a.skill < b.skill ? -1 : 1),
  );
}

interface ThreadUse {
  /** Of each skill the runs that took it up, and those of its checks. */
  skills: ReadonlyMap<string, { taken: ReadonlySet<string>; checked: ReadonlySet<string> }>;
  isFixed: boolean;
}

function usedIn(entries: readonly StoredEntry[], { from, to }: Span): ThreadUse {
  const thread = fold(
    new Thread({ keepsAll: true }),
    withoutRemoved(entries.filter(({ at }) => at < to)),
  );
  const skills = new Map<string, { taken: Set<string>; checked: Set<string> }>();
  const of = (skill: string) => {
    const known = skills.get(skill) ?? { taken: new Set(), checked: new Set() };
    skills.set(skill, known);
    return known;
  };
  for (const { started, calls } of thread.runs.values()) {
    if (started.at < from) continue;
    for (const skill of started.checks?.skills ?? []) of(skill).checked.add(started.run);
    for (const {
      tool,
      args: { name },
      finished,
    } of calls.values())
      if (tool === "activate_skill" && finished?.outcome === "ok" && typeof name === "string")
        of(name).taken.add(started.run);
  }
  const isFixed = entries.some(
    (each) =>
      (each.kind === "notice" || each.kind === "run_ended") &&
      each.verifies?.verdict === "done" &&
      each.at >= from &&
      each.at < to,
  );
  return { skills, isFixed };
}

function addThread(
  found: Map<string, SkillUse>,
  { skills, isFixed }: ThreadUse,
  words: readonly { run: string; helpful: boolean }[],
): void {
  for (const [skill, { taken, checked }] of skills) {
    const none = { skill, taken: 0, checked: 0, threads: 0, fixed: 0, good: 0, bad: 0 };
    const sum = found.get(skill) ?? none;
    const said = words.filter(({ run }) => taken.has(run) || checked.has(run));
    sum.taken += taken.size;
    sum.checked += checked.size;
    sum.threads += 1;
    sum.fixed += isFixed ? 1 : 0;
    sum.good += said.filter(({ helpful }) => helpful).length;
    sum.bad += said.filter(({ helpful }) => !helpful).length;
    found.set(skill, sum);
  }
}

const WEEK_MS = 7 * 86_400_000;
/** A Monday. */
const MONDAY = Date.UTC(1970, 0, 5);

/**
 * The four weeks before the one that it is. Every replica sees the same in them, and until the week is over what requests begin with
 * stays the same.
 */
export function weeksBefore(now: number): Span {
  const to = now - ((((now - MONDAY) % WEEK_MS) + WEEK_MS) % WEEK_MS);
  return { from: to - 4 * WEEK_MS, to };
}

/** By name, the most used first, in those weeks. */
export async function mostUsed(journal: Pick<Journal, "read" | "list">): Promise<string[]> {
  const found = await skillUse(journal, weeksBefore(Date.now()), TRANSPORTS);
  return found.map(({ skill }) => skill);
}
