import { workKey } from "../../src/thread/work-keys.ts";
import type { Draft } from "../../src/core/entry.ts";
import { decide } from "../../src/thread/decide.ts";
import type { Step } from "../../src/thread/steps.ts";
import { draftsOf, type Drafts, type Learned, shownId } from "../../src/thread/drafts.ts";
import type { Author } from "../../src/thread/click-rights.ts";
import { callName, entryId, noticeId } from "../../src/thread/entry-ids.ts";
import { fold } from "../../src/thread/fold.ts";
import { type OutboxItem, Thread } from "../../src/thread/state.ts";
import type { Call } from "../../src/thread/call.ts";

/** The model's letters as what the world says and what the product writes of it, and what the product writes besides. */

const EXPIRES_AT = 1_000_000;
export const CALL = callName("r1", 1);

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

const EVE = { account: "test:eve", name: "eve" };
const MEMBER: Author = { eligible: true, basis: "test" };
const GONE: Author = { eligible: false, why: "They left." };

/** What the world says. */
function postOf(letter: string): Draft | undefined {
  const click = CLICKS[letter];
  if (click !== undefined) {
    const { id, who, approve } = click;
    const choice = approve ? ({ kind: "approve" } as const) : ({ kind: "deny" } as const);
    const actor = { account: who, name: who };
    // On the card: who presses it has seen it.
    return {
      id,
      kind: "click",
      actor,
      action: "a1",
      revision: 1,
      choice,
      via: "button",
      digest: "",
    };
  }
  switch (letter) {
    case "m": {
      const command = { name: "run" as const, tool: "act", args: {} };
      return { id: "m", kind: "command", actor: EVE, text: "", command };
    }
    case "s":
      return { id: "s", kind: "stop", actor: EVE };
    case "t":
      return { id: "t", kind: "timer", action: "a1" };
    case "l":
      return { id: "l", kind: "signal", call: CALL, outcome: "ok", text: "" };
    default:
      return undefined;
  }
}

/** A word of the late worker's that comes when the run is over has an answer of its own, this notice. */
const OWN_ANSWER = noticeId.told("l");

const CALLING = new Set([workKey.call(CALL)]);
const SENDING = new Set([...CALLING, workKey.view("main")]);

export class Replay {
  readonly thread: Thread = new Thread();
  readonly #quorum: number;
  #seq = 0;
  /** A late word was told once the run was over. */
  #hasOwnAnswer = false;

  /** `lateAt`: the first letter that was written when the action's expiry had passed; -1: it has not. */
  constructor(letters: string, lateAt: number, quorum: number) {
    this.#quorum = quorum;
    for (const [i, letter] of letters.split("").entries()) {
      this.#letter(letter, letters, lateAt >= 0 && i >= lateAt ? EXPIRES_AT : 1);
    }
  }

  #add(drafts: readonly Draft[], at: number): void {
    for (const draft of drafts) fold(this.thread, [{ seq: ++this.#seq, at, ...draft }]);
  }

  /** What the product writes of a step and what was learned for it. */
  #drafts(learned: Learned): Drafts {
    if (learned.do === "tell" && learned.untold.id === "l") this.#hasOwnAnswer = this.#isEnded();
    return draftsOf(learned, {
      thread: this.thread,
      now: 1,
      run: {
        direct: () => ({ kind: "call", tool: "act", args: {} }),
        plain: () => "",
        terms: undefined,
      },
      here: "here",
      isBound: () => false,
      answeredBy: () => undefined,
      channels: [],
      heard: undefined,
      personOf: (account) => account,
      encode: (text) => text,
    });
  }

  #letter(letter: string, letters: string, at: number): void {
    if (letter === "R") {
      for (const step of this.#toAnswer()) this.#add(this.#drafts(step) ?? [], at);
      return;
    }
    if (letter === "D") return this.#deliver(at);
    const post = postOf(letter);
    if (post !== undefined) {
      this.#add([post], at);
      if (letter !== "m") return;
    }
    const drafts = this.#drafts(this.#learned(letter));
    if (drafts === undefined) throw new Error(`the product does not write ${letter} in ${letters}`);
    this.#add(drafts, at);
  }

  /** What the product has learned when the model writes that letter. */
  #learned(letter: string): Learned {
    const { thread } = this;
    const key = "";
    const click = thread.clicks.get(VOTES[letter] ?? WORDS[letter] ?? "");
    if (click !== undefined) {
      const author = letter in VOTES ? MEMBER : GONE;
      return { do: "judge", key, click, facts: { author } };
    }
    const [pending] = thread.pending.values();
    if (pending !== undefined) return { do: "begin", pending };
    const call = this.#call();
    const prepared = {
      tool: "act",
      effect: "write",
      args: {},
      host: undefined,
      digest: "",
    } as const;
    if (letter === "P") {
      const rule = { approvers: { kind: "anyone" as const }, quorum: this.#quorum, barred: [] };
      const preview = { lines: [], blastRadius: "", undo: "" };
      const card = { ...prepared, ...rule, preview, expiresAt: EXPIRES_AT };
      const facts = { kind: "ask", card, reason: undefined, place: undefined } as const;
      return { do: "prepare", key, call, facts };
    }
    if (letter === "F") {
      const facts = {
        outcome: "ok",
        text: "",
        ms: 1,
        artifacts: [],
        files: [],
        findings: [],
        gaps: [],
      } as const;
      return {
        do: "run",
        call,
        facts: { ...facts, artifacts: [], files: [], findings: [], gaps: [] },
      };
    }
    if (letter === "U") {
      const facts = { kind: "verified", verdict: "unknown", evidence: "" } as const;
      return { do: "recover", key, call, facts };
    }
    const { action } = call;
    if (action === undefined) throw new Error(`no entry for ${letter}`);
    const drift = letter === "V" ? "it changed" : undefined;
    const facts = { proposal: action.proposal, drift };
    return { do: "dispatch", key, call, action, facts };
  }

  #call(): Call {
    const call = this.thread.runs.get("r1")?.calls.get(CALL);
    if (call === undefined) throw new Error("there is no call");
    return call;
  }

  #isEnded(): boolean {
    return this.thread.runs.get("r1")?.ended !== undefined || !this.thread.runs.has("r1");
  }

  /** The product's steps to an answer. */
  *#toAnswer(): Iterable<Learned> {
    const untold = this.thread.untold.get("l");
    if (untold !== undefined) yield { do: "tell", untold };
    const run = this.thread.runs.get("r1");
    for (const call of run?.open.values() ?? []) {
      const { action } = call;
      if (action?.closed === undefined) yield { do: "cancel", call };
      else yield { do: "close", action };
    }
    if (run !== undefined && run.ended === undefined) yield { do: "end", run };
  }

  /** The oldest answer that is owed, and what is not one. */
  #deliver(at: number): void {
    for (;;) {
      const [item] = this.thread.outbox.values();
      if (item === undefined) return;
      this.#add(this.#delivered({ kind: "item", item }), at);
      if (this.#isAnswer(item)) return;
    }
  }

  #delivered(undelivered: Extract<Step, { do: "deliver" }>["undelivered"]): Draft[] {
    const facts = { entry: shownId(undelivered), ref: "1" };
    return this.#drafts({ do: "deliver", key: "", view: "main", undelivered, facts }) ?? [];
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

  #extra(step: Step): Drafts {
    if (step.do === "deliver") {
      const isOwn = step.undelivered.kind === "item" && this.#isAnswer(step.undelivered.item);
      return isOwn || step.undelivered.kind === "past"
        ? undefined
        : (this.#delivered(step.undelivered) as Drafts);
    }
    if (step.do === "tell") {
      return step.untold.id === "l" && this.#isEnded() ? undefined : this.#drafts(step);
    }
    // Undefined where it counts: then somebody is looked up.
    return step.do === "judge" ? this.#drafts({ ...step, facts: {} }) : undefined;
  }

  next(late: boolean, busy: ReadonlySet<string> = new Set()): Step {
    const now = late ? EXPIRES_AT : 1;
    return decide(this.thread, { now, busy, draining: false, showAfterMs: undefined });
  }

  /** The entries that end the run, one step after the other, by the name of the step. */
  *answering(late: boolean): Iterable<Step["do"]> {
    for (let guard = 0; guard < 5; guard++) {
      const step = this.next(late);
      const isAnswering = ["tell", "close", "cancel", "end"].includes(step.do);
      if (!isAnswering) return;
      yield step.do;
      this.#add(this.#drafts(step as Learned) ?? [], late ? EXPIRES_AT : 1);
      this.tidy(late);
    }
  }

  #isAnswer({ id }: OutboxItem): boolean {
    return id === entryId.runEnded("r1") || (id === OWN_ANSWER && this.#hasOwnAnswer);
  }
}
