import { isOpen } from "../../src/thread/action.ts";
import type { Draft } from "../../src/core/entry.ts";
import { fold } from "../../src/thread/fold.ts";
import { emptyThread, type Thread } from "../../src/thread/state.ts";
import { decide, type Step } from "../../src/thread/decide.ts";

/** The model's letters as the product's entries, and what the product writes besides. */

const EXPIRES_AT = 1_000_000;
export const CALL = "r1.t1";

interface Click {
  id: string;
  who: string;
  approve: boolean;
}
const CLICKS: Record<string, Click> = {
  a: { id: "a", who: "test:ana", approve: true },
  c: { id: "c", who: "test:ana", approve: true },
  b: { id: "b", who: "test:bob", approve: true },
  d: { id: "d", who: "test:bob", approve: false },
};
/** The click that a vote, or a word in place of one, answers. */
const VOTES: Record<string, string> = { A: "a", C: "c", B: "b", X: "d" };
const WORDS: Record<string, string> = { e: "a", f: "c", g: "b", h: "d" };

const REF = { run: "r1", call: CALL };
const EVE = { account: "test:eve", name: "eve" };

function clickDraft({ id, who, approve }: Click): Draft {
  const choice = approve ? ({ kind: "approve" } as const) : ({ kind: "deny" } as const);
  const actor = { account: who, name: who };
  return { id, kind: "click", actor, action: "a1", revision: 1, choice, via: "typed" };
}

function voteDraft(letter: string, { id, who, approve }: Click): Draft {
  const voter = { account: who, person: who, name: who, basis: "test" };
  const vote = { action: "a1", revision: 1, click: id, approve };
  return { id: letter, kind: "vote", ...vote, ...voter };
}

function proposed(quorum: number): Draft {
  const preview = { lines: [], blastRadius: "", undo: "" };
  const shown = { tool: "act", effect: "write" as const, args: {}, digest: "", preview };
  const approvers = { kind: "anyone" as const };
  const electorate = { approvers, quorum, barred: [], expiresAt: EXPIRES_AT };
  const which = { action: "a1", revision: 1 };
  return { id: "P", kind: "action_proposed", ...REF, ...which, ...shown, ...electorate };
}

function asked(): Draft[] {
  const command = { name: "run" as const, tool: "act", args: {} };
  const calls = [{ call: CALL, tool: "act", args: {} }];
  return [
    { id: "m", kind: "command", actor: EVE, text: "", command },
    { id: "r", kind: "run_started", run: "r1", answers: ["m"], principals: [], calls },
  ];
}

/** The entries that a letter stands for, but for answers and deliveries. */
function draftsOf(letter: string, quorum: number): Draft[] {
  const click = CLICKS[letter];
  if (click !== undefined) return [clickDraft(click)];
  const vote = CLICKS[VOTES[letter] ?? ""];
  if (vote !== undefined) return [voteDraft(letter, vote)];
  const word = WORDS[letter];
  if (word !== undefined) return [{ id: letter, kind: "notice", text: "", answers: word }];
  switch (letter) {
    case "m":
      return asked();
    case "s":
      return [{ id: "s", kind: "stop", actor: EVE }];
    case "t":
      return [{ id: "t", kind: "timer", action: "a1" }];
    case "l":
      return [{ id: "l", kind: "signal", call: CALL, outcome: "ok", text: "" }];
    case "P":
      return [proposed(quorum)];
    case "V":
      return [{ id: "V", kind: "action_closed", action: "a1", outcome: "void" }];
    case "S": {
      const what = { tool: "act", effect: "write" as const, digest: "", action: "a1" };
      return [{ id: "S", kind: "tool_started", ...REF, ...what }];
    }
    case "F":
      return [{ id: "F", kind: "tool_finished", ...REF, outcome: "ok", text: "" }];
    case "U":
      return [
        { id: "U", kind: "tool_finished", ...REF, outcome: "unknown", text: "", recovered: true },
        { id: "unknown", kind: "notice", text: "", settles: "a1" },
      ];
    default:
      throw new Error(`no entry for ${letter}`);
  }
}

/** A word of the late worker's that comes when the run is over has an answer of its own, this notice. */
const OWN_ANSWER = "told:l";

const CALLING = new Set([`call:${CALL}`]);
const SENDING = new Set([...CALLING, "view:main"]);

export class Replay {
  readonly thread: Thread = emptyThread();
  readonly #quorum: number;
  #seq = 0;

  /** `lateAt`: the first letter that was written when the action's expiry had passed; -1: it has not. */
  constructor(letters: string, lateAt: number, quorum: number) {
    this.#quorum = quorum;
    for (const [i, letter] of letters.split("").entries()) {
      this.#letter(letter, lateAt >= 0 && i >= lateAt ? EXPIRES_AT : 1);
    }
  }

  #add(drafts: Draft[], at: number): void {
    for (const draft of drafts) fold(this.thread, [{ seq: ++this.#seq, at, ...draft }]);
  }

  #letter(letter: string, at: number): void {
    if (letter === "R") this.#add([...this.#told(), ...this.#closed(), ...this.#ended()], at);
    else if (letter === "D") this.#deliver(at);
    else this.#add(draftsOf(letter, this.#quorum), at);
  }

  #isEnded(): boolean {
    return this.thread.runs.get("r1")?.ended !== undefined || !this.thread.runs.has("r1");
  }

  #told(): Draft[] {
    if (!this.thread.dueNotices.has("l")) return [];
    const id = this.#isEnded() ? OWN_ANSWER : "told";
    return [{ id, kind: "notice", text: "", answers: "l" }];
  }

  /** That the action was closed, and a result for its call. */
  #closed(): Draft[] {
    const { closed } = this.thread.actions.get("a1") ?? {};
    const call = this.thread.runs.get("r1")?.calls.get(CALL);
    if (call === undefined || call.finished !== undefined) return [];
    const outcome =
      closed === undefined || closed.outcome === "void" ? "cancelled" : closed.outcome;
    const finished: Draft = { id: "end", kind: "tool_finished", ...REF, outcome, text: "" };
    if (closed === undefined) return [finished];
    return [{ id: "close", kind: "action_closed", action: "a1", outcome }, finished];
  }

  #ended(): Draft[] {
    if (this.#isEnded()) return [];
    return [{ id: "R", kind: "run_ended", run: "r1", status: "completed" }];
  }

  /** The oldest answer that is owed, and what is not one. */
  #deliver(at: number): void {
    for (;;) {
      const [debt] = this.thread.outbox.values();
      if (debt === undefined) return;
      this.#add([delivered(debt.id)], at);
      if (isAnswer(debt.id)) return;
    }
  }

  /**
   * Does what the product does besides the model: shows cards and notices, has words for clicks that cannot count any more
   * and for a Stop.
   */
  tidy(late: boolean): void {
    const at = late ? EXPIRES_AT : 1;
    for (let guard = 0; guard < 50; guard++) {
      // Also behind a call that is taken up, and behind an answer that is to be sent.
      const extra = this.#extra(this.next(late, CALLING)) ?? this.#extra(this.next(late, SENDING));
      if (extra === undefined) return;
      this.#add(extra, at);
    }
  }

  #extra(step: Step): Draft[] | undefined {
    if (step.do === "deliver") {
      if (step.owed.kind === "card") return [delivered(`a1@${step.owed.action.touched}`)];
      if (step.owed.kind !== "debt") return undefined;
      return isAnswer(step.owed.debt.id) ? undefined : [delivered(step.owed.debt.id)];
    }
    if (step.do === "tell") {
      const { id } = step.word;
      if (id === "l" && this.#isEnded()) return undefined;
      return [{ id: `n${id}`, kind: "notice", text: "", answers: id }];
    }
    if (step.do !== "judge") return undefined;
    const action = this.thread.actions.get("a1");
    const counts = action !== undefined && isOpen(action) && step.click.at < EXPIRES_AT;
    const { id } = step.click;
    return counts ? undefined : [{ id: `w${id}`, kind: "notice", text: "", answers: id }];
  }

  next(late: boolean, busy: ReadonlySet<string> = new Set()): Step {
    const now = late ? EXPIRES_AT : 1;
    return decide(this.thread, { now, busy, draining: false, showAfterMs: undefined });
  }

  /** The entries that end the run, one step after the other, by the name of the step. */
  *answering(late: boolean): Iterable<Step["do"]> {
    for (let guard = 0; guard < 5; guard++) {
      const step = this.next(late);
      const drafts = this.#answers(step);
      if (drafts === undefined) return;
      yield step.do;
      this.#add(drafts, late ? EXPIRES_AT : 1);
      this.tidy(late);
    }
  }

  #answers(step: Step): Draft[] | undefined {
    if (step.do === "tell") return this.#told();
    if (step.do === "close" || step.do === "cancel") return this.#closed();
    return step.do === "end" ? this.#ended() : undefined;
  }
}

function isAnswer(id: string): boolean {
  return id === "R" || id === OWN_ANSWER;
}

function delivered(entry: string): Draft {
  return { id: `d${entry}`, kind: "delivered", view: "main", entry, stage: "final", ref: "1" };
}
