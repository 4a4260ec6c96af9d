import { expect, test } from "vitest";
import type { Step } from "../../src/thread/steps.ts";
import { workKey } from "../../src/thread/work-keys.ts";
import { createFold, type Folded, next } from "./fold.mjs";
import {
  createModel,
  type ModelStep,
  RULES,
  type Scenario,
  type State,
} from "./protocol-model.mjs";
import { CALL, Replay } from "./replay.ts";

/**
 * The model checks the protocol; this holds the product's fold and next step against the model's, on journals that the
 * model reaches, with every set of work in progress. What the product has in addition (cards, words to late clickers) is
 * done before comparing.
 */

const CALL_KEY = workKey.call(CALL);
const VIEW_KEY = workKey.view("main");

/** The product's steps that the model has other words for. */
const WORDS: Partial<Record<Step["do"], string>> = {
  prepare: "propose",
  dispatch: "start",
  deliver: "send",
};

/** The product's next step in the model's words. */
function word(step: Step): string {
  if (step.do === "judge") return `judge ${step.click.id}`;
  if (step.do === "wait") return step.until === undefined ? "release never" : "release expiry";
  return WORDS[step.do] ?? step.do;
}

/** What the model does next, where `busy` is in progress or put off. */
function modelWord(
  folded: Folded,
  late: boolean,
  scenario: Scenario,
  entries: string,
  busy: ReadonlySet<string>,
): string {
  const isCallBusy = busy.has(CALL_KEY);
  // It runs here: nothing else can be done for it, and nothing was lost.
  if (folded.started && folded.outcome === "" && isCallBusy) return "release never";
  // The model ends the run with what was void; the product asks again.
  if (entries.endsWith("V")) return isCallBusy ? "release never" : "propose";
  const f = busy.has(VIEW_KEY) ? { ...folded, delivered: folded.answers } : folded;
  const step = next(f, late, { ...scenario, judge: "flaky" }, RULES);
  if (step.do === "judge") {
    const click = step.clicks.find((id) => !busy.has(workKey.click(id)));
    return click === undefined || busy.has("judge") ? "release expiry" : `judge ${click}`;
  }
  // The model asks to start, is told that it is late, and then expires the action; the product sees that beforehand.
  if (step.do === "start" && late) return "expire";
  if (step.do === "start") return isCallBusy ? "release expiry" : "start";
  if (step.do === "append" && step.entry === "P") return isCallBusy ? "release never" : "propose";
  if (step.do === "append") return answering(folded)[0] ?? "answer";
  return step.do === "release" ? `release ${step.at}` : step.do;
}

/** The product's steps to an answer. */
function answering({ closed, proposed, answers }: Folded): string[] {
  if (answers > 0) return ["tell"]; // of a late word
  if (!closed) return ["end"];
  return [proposed ? "close" : "cancel", "end"];
}

/** Every set of these. */
function subsets(items: readonly string[]): Set<string>[] {
  return items.reduce<Set<string>[]>(
    (sets, item) => [...sets, ...sets.map((set) => new Set([...set, item]))],
    [new Set()],
  );
}

/**
 * How likely a step is, against the others that are possible. Evenly drawn, a walk is all posts, crashes and leases, and
 * hardly one comes to a start: what goes on by itself comes first, what ends an action early last.
 */
const WEIGHTS: readonly [RegExp, number][] = [
  [/expiry passes|waited long/, 0.1],
  [/^post: .*(approve|message)/, 3],
  [/^post:/, 0.4],
  [/one is none/, 20],
  [/crashes \((start|ran)/, 1.5],
  [/lease's end passes/, 1],
  [/crashes|renews|look-up fails|turned away|reply is lost|cannot look/, 0.2],
];

function weightOf({ label, kind }: ModelStep): number {
  const found = WEIGHTS.find(([pattern]) => pattern.test(label));
  return found?.[1] ?? (kind === "system" ? 6 : 1);
}

/** Journals that walks through the model come by, each once. */
function* walks(scenario: Scenario, count: number): Iterable<State["journal"]> {
  const model = createModel(scenario);
  const seen = new Set<string>();
  let seed = 7;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed / 2 ** 31;
  };
  for (let walk = 0; walk < count; walk++) {
    let state = model.initial;
    for (let length = 0; length < 60; length++) {
      const step = pick([...model.steps(state)], random());
      if (step === undefined) break;
      state = step.to;
      const { entries, lateAt } = state.journal;
      const name = `${entries} ${lateAt}`;
      if (!entries.startsWith("m") || seen.has(name)) continue;
      seen.add(name);
      yield state.journal;
    }
  }
}

function pick(steps: ModelStep[], at: number): ModelStep | undefined {
  let left = at * steps.reduce((sum, step) => sum + weightOf(step), 0);
  return steps.find((step) => (left -= weightOf(step)) < 0) ?? steps.at(-1);
}

/** What the journals must hold often enough, so that comparing them says something. */
const KINDS: Record<string, (entries: string) => boolean> = {
  started: (entries) => entries.includes("S"),
  votes: (entries) => /[ABCX]/.test(entries),
  "second votes": (entries) => /[ABC].*[ABCX]/.test(entries),
  "a deny after an approve": (entries) => /[ABC].*X/.test(entries),
  "a Stop after the start": (entries) => /S.*s/.test(entries),
  unknown: (entries) => entries.includes("U"),
  "late words": (entries) => entries.includes("l"),
  "words in place of votes": (entries) => /[efgh]/.test(entries),
};
const visited = new Map<string, number>();
let compared = 0;

const one = (posts: string): [string, Scenario] => [
  `quorum 1, ${posts}`,
  { posts, quorum: 1, action: true },
];
const two = (posts: string): [string, Scenario] => [
  `quorum 2, ${posts}`,
  { posts, quorum: 2, action: true },
];
const LEAVING = { judge: "flaky" as const, leaves: ["Ana", "Bob"] };

test.each<[string, Scenario]>([
  ...["mab", "mabd", "mabs", "mabt", "mads", "mabdst"].map(one),
  ...["macb", "macbd", "macbs", "macbt", "macbdst"].map(two),
  ["quorum 1, people leave", { posts: "mads", quorum: 1, action: true, ...LEAVING }],
  ["quorum 2, people leave", { posts: "mabd", quorum: 2, action: true, ...LEAVING }],
])("with %s the worker's next step is the model's, on every journal it comes by", (_, scenario) => {
  const folded = createFold(scenario, RULES);
  for (const { entries, lateAt } of walks(scenario, 120)) {
    // After a void the product has another action, which the model has not.
    if (entries.slice(0, -1).includes("V")) continue;
    const late = lateAt >= 0;
    const f = folded(entries, lateAt);
    const replay = new Replay(entries, lateAt, scenario.quorum);
    replay.tidy(late);
    const clicks = [...replay.thread.clicks.keys()].map(workKey.click);
    for (const busy of subsets([CALL_KEY, VIEW_KEY, "judge", ...clicks])) {
      const where = `${entries} ${lateAt} [${[...busy].join()}]`;
      const should = modelWord(f, late, scenario, entries, busy);
      expect(`${where}: ${word(replay.next(late, busy))}`).toBe(`${where}: ${should}`);
      compared++;
    }
    const answers = [...replay.answering(late)];
    if (answers.length > 0) {
      expect(`${entries}: ${answers.join()}`).toBe(`${entries}: ${answering(f).join()}`);
    }
    for (const [name, has] of Object.entries(KINDS)) {
      if (has(entries)) visited.set(name, (visited.get(name) ?? 0) + 1);
    }
  }
});

test("the walks come by every kind of journal that matters, often", () => {
  expect(visited.get("started")).toBeGreaterThan(1_000);
  const rare = Object.keys(KINDS).filter((name) => (visited.get(name) ?? 0) < 100);
  expect(rare).toEqual([]);
  expect(compared).toBeGreaterThan(20_000);
});
