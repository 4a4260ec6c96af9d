import fc from "fast-check";
import { expect, test } from "vitest";
import type { Draft } from "../../src/core/entry.ts";
import { draftsOf, type Learned, shownId } from "../../src/thread/drafts.ts";
import { isShown } from "../../src/thread/action.ts";
import { fold } from "../../src/thread/fold.ts";
import { MAIN_VIEW, Thread } from "../../src/thread/state.ts";
import type { Call } from "../../src/thread/call.ts";
import { nextUndelivered } from "../../src/thread/undelivered.ts";

const ANA = { account: "test:ana", name: "ana" };
const RULE = { approvers: { kind: "anyone" as const }, quorum: 1, barred: [] };
const PREPARED = { tool: "act", effect: "write", args: {}, host: undefined, digest: "d" } as const;
const CARD = {
  ...PREPARED,
  ...RULE,
  preview: { lines: [], blastRadius: "", undo: "" },
  expiresAt: 1_000,
};
const STOP: Draft = { id: "stop", kind: "stop", actor: ANA };
const DENY: Draft = {
  id: "deny",
  kind: "click",
  actor: ANA,
  action: "a1",
  revision: 1,
  choice: { kind: "deny" },
  via: "typed",
};

/** A thread with one call that waits to be prepared. */
function asked(): { thread: Thread; call: Call; write(...drafts: Draft[]): void } {
  const thread = new Thread();
  const write = (...drafts: Draft[]) => {
    for (const draft of drafts) fold(thread, [{ seq: thread.last + 1, at: 1, ...draft }]);
  };
  const command = { name: "run" as const, tool: "act", args: {} };
  write({ id: "m", kind: "command", actor: ANA, text: "", command });
  const [pending] = thread.pending.values();
  if (pending !== undefined) write(...made(thread, { do: "begin", pending }));
  const call = thread.runs.get("r1")?.calls.get("r1.t1");
  if (call === undefined) throw new Error("there is no call");
  return { thread, call, write };
}

function written(thread: Thread, learned: Learned): Draft[] | undefined {
  return draftsOf(learned, {
    thread,
    now: 1,
    run: {
      direct: () => ({ kind: "call", tool: "act", args: {} }),
      plain: String,
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

function made(thread: Thread, learned: Learned): Draft[] {
  return written(thread, learned) ?? [];
}

const proposing = (call: Call): Learned => {
  const facts = { kind: "ask", card: CARD, reason: undefined, place: undefined } as const;
  return { do: "prepare", key: "", call, facts };
};
const starting = (call: Call): Learned => {
  const { action } = call;
  if (action === undefined) throw new Error("nobody was asked");
  const facts = { proposal: action.proposal, drift: undefined };
  return { do: "dispatch", key: "", call, action, facts };
};

test("a call that was stopped while its card was prepared is not put on it", () => {
  const { thread, call, write } = asked();
  expect(written(thread, proposing(call))).toMatchObject([{ id: "proposed:a1.1" }]);
  write(STOP);
  expect(written(thread, proposing(call))).toBeUndefined();
});

test.each<[string, Draft]>([
  ["a click that nobody has judged", DENY],
  ["a Stop", STOP],
  ["its expiry", { id: "late", kind: "timer", action: "a1" }],
])("%s keeps back a start that was looked at before it came", (_, draft) => {
  const { thread, call, write } = asked();
  write(...made(thread, proposing(call)));
  const start = starting(call);
  expect(written(thread, start)).toMatchObject([{ id: "started:r1.t1", action: "a1" }]);
  write(draft);
  expect(written(thread, start)).toBeUndefined();
});

test("what was looked at before an edit does not start what it was edited to", () => {
  const { thread, call, write } = asked();
  write(...made(thread, proposing(call)));
  const start = starting(call);
  const edit = { ...DENY, id: "edit", choice: { kind: "edit", args: { n: 1 } } } as Draft<"click">;
  write(edit);
  const [click] = thread.clicks.values();
  if (click === undefined) throw new Error("there is no click");
  const author = { eligible: true, basis: "test" } as const;
  write(...made(thread, { do: "judge", key: "", click, facts: { author, edited: CARD } }));
  expect(call.action?.proposal.revision).toBe(2);
  expect(written(thread, start)).toBeUndefined();
  expect(written(thread, starting(call))).toMatchObject([{ id: "started:r1.t1", revision: 2 }]);
});

test("a result is written once", () => {
  const { thread, call, write } = asked();
  const facts = { kind: "allow", prepared: PREPARED } as const;
  write(...made(thread, { do: "prepare", key: "", call, facts }));
  const result = {
    outcome: "ok" as const,
    text: "done",
    ms: 1,
    artifacts: [],
    files: [],
    findings: [],
    gaps: [],
  };
  const ran: Learned = { do: "run", call, facts: result };
  write(...made(thread, ran));
  expect(call.finished?.text).toBe("done");
  expect(written(thread, ran)).toBeUndefined();
});

const THERE = "slack:T1:C1:1.1";
const HERE = MAIN_VIEW;
const ACCOUNTS = { [HERE]: "test:", [THERE]: "slack:T1:" };
const ASKED = {
  kind: "ask",
  card: { ...CARD, quorum: 99 },
  reason: undefined,
  place: undefined,
} as const;

/** A card in two places, and which of its revisions people of each have had before them, told apart from the fold. */
function cardInTwoPlaces() {
  const { thread, call, write } = asked();
  write({ id: "view:x", kind: "view_added", view: THERE });
  write(...made(thread, { do: "prepare", key: "", call, facts: ASKED }));
  const action = thread.actions.get("a1");
  if (action === undefined) throw new Error("there is no action");
  const read = { [HERE]: new Set<number>(), [THERE]: new Set<number>() };
  let messages = 0;
  const ref = () => `m${++messages}`;

  /** Whether it counts as a vote. */
  function click(account: string, kind: "approve" | "open" | "edit", isPress = true): boolean {
    const { revision } = action?.proposal ?? { revision: 0 };
    const choice = kind === "edit" ? { kind, args: {} } : { kind };
    const id = ref();
    const by = isPress ? ({ via: "button", digest: "d" } as const) : ({ via: "typed" } as const);
    const actor = { account, name: "x" };
    write({ id, kind: "click", actor, action: "a1", revision, choice, ...by });
    const posted = thread.clicks.get(id);
    if (posted === undefined) return false;
    const facts = { author: { eligible: true, basis: "" }, edited: ASKED.card } as const;
    const drafts = made(thread, { do: "judge", key: "", click: posted, facts });
    write(...drafts);
    return drafts.some((draft) => draft.kind === "vote");
  }

  /** The oldest that a place is owed gets there or not, as the worker does it; `lost`: the worker dies before it says so. */
  function deliver(view: keyof typeof read, how: "shown" | "lost" | "asker" | "file"): void {
    const undelivered = nextUndelivered(thread, view, Date.now());
    if (undelivered === undefined) return;
    const known = undelivered.kind === "card" ? action?.shown.get(view)?.ref : undefined;
    const isThere = how === "shown" || how === "lost";
    // What stands in a message to one person is not edited.
    const isAlone = known?.startsWith("alone/") === true;
    if (undelivered.kind === "card" && isThere && !isAlone)
      read[view].add(action?.proposal.revision ?? 0);
    if (how === "lost") return;
    const instead = isThere || isAlone ? undefined : { to: how, why: "" };
    const fresh = how === "asker" ? `alone/${ref()}` : ref();
    const facts = { entry: shownId(undelivered), ref: known ?? fresh, instead };
    write(...made(thread, { do: "deliver", key: "", view, undelivered, facts }));
  }

  return {
    isRead: (view: keyof typeof read) => read[view].has(action.proposal.revision),
    isRecorded: (view: string) => isShown(action, view),
    isOwed: (view: string) => nextUndelivered(thread, view, Date.now())?.kind === "card",
    click,
    deliver,
    say: () => write({ id: ref(), kind: "notice", text: "said" }),
  };
}

test("a yes counts if the card was shown as it is where its author is, or opened by them, and never else", () => {
  const view = fc.constantFrom(HERE, THERE);
  const move = fc.oneof(
    fc.tuple(fc.constantFrom("shown", "shown", "lost", "asker", "file"), view),
    fc.tuple(fc.constantFrom("say", "edit", "type", "press", "open", "stale"), view),
  );
  const counted = { yes: 0, no: 0, pressed: 0 };
  const property = fc.property(fc.array(move, { minLength: 10, maxLength: 60 }), (moves) => {
    const card = cardInTwoPlaces();
    for (const [number, [what, where]] of moves.entries()) {
      const account = `${ACCOUNTS[where]}U${number}`;
      if (what === "say") card.say();
      else if (what === "edit") card.click(ANA.account, "edit");
      else if (what === "press") {
        // Who has not had it before them has nothing to press.
        if (!card.isRead(where)) continue;
        counted.pressed += card.click(account, "approve") ? 1 : 0;
      } else if (what === "type" || what === "open" || what === "stale") {
        if (what !== "type") card.click(account, "open");
        if (what === "stale") card.click(ANA.account, "edit");
        const isVote = card.click(account, "approve", false);
        if (isVote) expect(what === "open" || card.isRead(where)).toBe(true);
        else expect(what === "open" || card.isRecorded(where)).toBe(false);
        counted[isVote ? "yes" : "no"] += 1;
      } else card.deliver(where, what);
    }
    // The place takes messages again.
    for (const where of [HERE, THERE] as const) {
      card.say();
      for (let i = 0; i < 50; i += 1) card.deliver(where, "shown");
      expect(card.isOwed(where)).toBe(false);
    }
  });
  fc.assert(property, { numRuns: 300, seed: 11 });
  expect(Math.min(...Object.values(counted))).toBeGreaterThan(50);
});

test("a card that its place refused comes when the place takes messages again", () => {
  const card = cardInTwoPlaces();
  card.deliver(THERE, "shown");
  card.deliver(HERE, "asker");
  expect(card.click("test:bob", "approve", false)).toBe(false);
  expect(card.click("slack:T1:U2", "approve", false)).toBe(true);
  card.say();
  for (let i = 0; i < 9; i += 1) card.deliver(HERE, "shown");
  expect(card.isRead(HERE)).toBe(true);
  expect(card.click("test:bob", "approve", false)).toBe(true);
});
