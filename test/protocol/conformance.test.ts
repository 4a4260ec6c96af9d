import { expect, test } from "vitest";
import { isOpen } from "../../src/approvals/action.ts";
import type { Draft } from "../../src/core/entry.ts";
import { fold } from "../../src/journal/fold.ts";
import { emptyThread, type Thread } from "../../src/journal/thread.ts";
import { nextStep, type Step } from "../../src/worker/next.ts";
import { createFold, next, type Next } from "./fold.mjs";
import { createModel, RULES, type Scenario, type State } from "./protocol-model.mjs";

/**
 * The model checks the protocol; this holds the product's fold and next step against the model's, on journals that the
 * model reaches. What the product has in addition (cards, words to late clickers) is answered before comparing.
 */

const EXPIRES_AT = 1_000_000;
const CLICKS: Record<string, { id: string; who: string; approve: boolean }> = {
  a: { id: "a", who: "ana", approve: true },
  c: { id: "c", who: "ana", approve: true },
  b: { id: "b", who: "bob", approve: true },
  d: { id: "d", who: "bob", approve: false },
};
const VOTES: Record<string, string> = { A: "a", C: "c", B: "b", X: "d" };

/** The entries that a letter of the model's stands for. */
function draftsOf(letter: string, quorum: number): Draft[] {
  const click = CLICKS[letter];
  if (click !== undefined) {
    const actor = { account: click.who, name: click.who };
    const choice = click.approve ? ({ kind: "approve" } as const) : ({ kind: "deny" } as const);
    return [{ id: letter, kind: "click", actor, action: "a1", revision: 1, choice, via: "button" }];
  }
  const vote = CLICKS[VOTES[letter] ?? ""];
  if (vote !== undefined) {
    const { id, who, approve } = vote;
    const voter = { account: who, person: who, name: who };
    return [
      {
        id: letter,
        kind: "vote",
        action: "a1",
        revision: 1,
        click: id,
        ...voter,
        approve,
        basis: "test",
      },
    ];
  }
  const actor = { account: "eve", name: "eve" };
  const call = { run: "r1", call: "r1.t1" };
  switch (letter) {
    case "m":
      return [
        {
          id: "m",
          kind: "command",
          actor,
          text: "",
          command: { name: "run", tool: "act", args: {} },
        },
        {
          id: "r",
          kind: "run_started",
          run: "r1",
          answers: ["m"],
          principals: [],
          calls: [{ call: "r1.t1", tool: "act", args: {} }],
        },
      ];
    case "s":
      return [{ id: "s", kind: "stop", actor }];
    case "t":
      return [{ id: "t", kind: "timer", action: "a1" }];
    case "P": {
      const preview = { lines: [], blastRadius: "", undo: "" };
      const shown = { tool: "act", effect: "write" as const, args: {}, digest: "", preview };
      const electorate = {
        approvers: { kind: "anyone" as const },
        quorum,
        barred: [],
        expiresAt: EXPIRES_AT,
      };
      return [
        {
          id: "P",
          kind: "action_proposed",
          ...call,
          action: "a1",
          revision: 1,
          ...shown,
          ...electorate,
        },
      ];
    }
    case "S":
      return [
        {
          id: "S",
          kind: "tool_started",
          ...call,
          tool: "act",
          effect: "write",
          digest: "",
          action: "a1",
        },
      ];
    case "F":
      return [{ id: "F", kind: "tool_finished", ...call, outcome: "ok", text: "" }];
    case "U":
      return [
        { id: "U", kind: "tool_finished", ...call, outcome: "unknown", text: "", recovered: true },
      ];
    case "R":
      return [{ id: "R", kind: "run_ended", run: "r1", status: "completed" }];
    case "D":
      return [{ id: "D", kind: "delivered", view: "main", entry: "R", stage: "final", ref: "1" }];
    default:
      throw new Error(`no entry for ${letter}`);
  }
}

class Replay {
  readonly thread: Thread = emptyThread();
  #seq = 0;

  add(drafts: Draft[], at: number): void {
    for (const draft of drafts) fold(this.thread, [{ seq: ++this.#seq, at, ...draft }]);
  }
}

function replay(letters: string, lateAt: number, quorum: number): Thread {
  const journal = new Replay();
  for (const [i, letter] of letters.split("").entries()) {
    const late = lateAt >= 0 && i >= lateAt;
    const at = late ? EXPIRES_AT : 1;
    if (letter === "R") journal.add(unrun(journal.thread), at);
    journal.add(draftsOf(letter, quorum), at);
  }
  const now = lateAt >= 0 ? EXPIRES_AT : 1;
  for (let guard = 0; guard < 50; guard++) {
    const step = nextStep(journal.thread, {
      now,
      busy: new Set(),
      draining: false,
      showAfterMs: undefined,
    });
    const extra = extraDrafts(step, journal.thread);
    if (extra === undefined) break;
    journal.add(extra, now);
  }
  return journal.thread;
}

/** Before it answers, the product writes down that the action was closed, and a result for its call. */
function unrun(thread: Thread): Draft[] {
  const closed = thread.actions.get("a1")?.closed;
  const call = thread.runs.get("r1")?.calls.get("r1.t1");
  if (call === undefined || call.finished !== undefined) return [];
  const outcome = closed === undefined || closed.outcome === "void" ? "cancelled" : closed.outcome;
  const close: Draft[] = closed
    ? [{ id: "close", kind: "action_closed", action: "a1", outcome }]
    : [];
  return [
    ...close,
    { id: "end", kind: "tool_finished", run: "r1", call: "r1.t1", outcome, text: "" },
  ];
}

/** What the product does besides the model: cards, and words for clicks that cannot count any more. */
function extraDrafts(step: Step, thread: Thread): Draft[] | undefined {
  if (step.do === "deliver" && step.owed.kind === "card") {
    const entry = `a1@${step.owed.action.touched}`;
    return [{ id: entry, kind: "delivered", view: step.view, entry, stage: "final", ref: "1" }];
  }
  if (step.do === "deliver" && step.owed.kind === "debt" && step.owed.debt.kind === "notice") {
    const entry = step.owed.debt.id;
    return [
      { id: `d${entry}`, kind: "delivered", view: step.view, entry, stage: "final", ref: "1" },
    ];
  }
  if (step.do === "tell") {
    return [{ id: `n${step.word.id}`, kind: "notice", text: "", answers: step.word.id }];
  }
  if (step.do !== "judge") return undefined;
  const action = thread.actions.get("a1");
  const counts = action !== undefined && isOpen(action) && step.click.at < EXPIRES_AT;
  return counts
    ? undefined
    : [{ id: `w${step.click.id}`, kind: "notice", text: "", answers: step.click.id }];
}

function word(step: Step): string {
  switch (step.do) {
    case "judge":
      return `judge ${step.click.id}`;
    case "prepare":
      return "propose";
    case "dispatch":
      return "start";
    case "close":
    case "cancel":
    case "end":
      return "answer";
    case "deliver":
      return "send";
    case "wait":
      return step.until === undefined ? "release never" : "release expiry";
    case "begin":
    case "expire":
    case "recover":
    case "tell":
    case "show":
    // A model's run, which the model of the protocol does not have.
    case "think":
    case "reply":
    case "hint":
    case "lapse":
    // People are warned before an expiry; to the protocol that is a word like any other.
    case "warn":
    case "write":
      return step.do;
  }
}

function modelWord(step: Next, late: boolean): string {
  // The model asks to start, is told that it is late, and then expires the action; the product sees that beforehand.
  if (step.do === "start" && late) return "expire";
  if (step.do === "release") return `release ${step.at}`;
  if (step.do === "judge") return `judge ${step.clicks[0]}`;
  if (step.do !== "append") return step.do;
  return step.entry === "P" ? "propose" : "answer";
}

/** Every journal that random walks through the model come by. */
function* walks(scenario: Scenario, count: number): Iterable<State["journal"]> {
  const model = createModel(scenario);
  const seen = new Set<string>();
  let seed = 7;
  const random = (n: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * n);
  };
  for (let walk = 0; walk < count; walk++) {
    let state = model.initial;
    for (let length = 0; length < 40; length++) {
      const steps = [...model.steps(state)];
      const step = steps[random(steps.length)];
      if (step === undefined) break;
      state = step.to;
      const { entries, lateAt } = state.journal;
      const name = `${entries} ${lateAt}`;
      if (entries === "" || seen.has(name)) continue;
      seen.add(name);
      yield state.journal;
    }
  }
}

test.each([
  ["one approval", { posts: "mabdst", quorum: 1, action: true }],
  ["two approvals", { posts: "macbdst", quorum: 2, action: true }],
])("with %s the worker's next step is the model's, on every journal it comes by", (_, scenario) => {
  const folded = createFold(scenario, RULES);
  let compared = 0;
  for (const { entries, lateAt } of walks(scenario, 4_000)) {
    if (!entries.startsWith("m")) continue;
    const late = lateAt >= 0;
    const judging = { ...scenario, judge: "flaky" } as const;
    const expected = next(folded(entries, lateAt), late, judging, RULES);
    const thread = replay(entries, lateAt, scenario.quorum);
    const step = nextStep(thread, {
      now: late ? EXPIRES_AT : 1,
      busy: new Set(),
      draining: false,
      showAfterMs: undefined,
    });
    expect(`${entries} ${lateAt}: ${word(step)}`).toBe(
      `${entries} ${lateAt}: ${modelWord(expected, late)}`,
    );
    compared++;
  }
  expect(compared).toBeGreaterThan(1_000);
});
