import { expect, test } from "vitest";
import type { Draft } from "../../src/core/entry.ts";
import { draftsOf, type Learned } from "../../src/thread/drafts.ts";
import { fold } from "../../src/thread/fold.ts";
import { type Call, MAIN_VIEW, Thread } from "../../src/thread/state.ts";

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

test("a word typed where the card could not be shown approves nothing, though the thread's other place shows it", () => {
  const { thread, call, write } = asked();
  write(...made(thread, proposing(call)));
  const there = "slack:T1:C1:1.1";
  write({ id: "view:x", kind: "view_added", view: there });
  const { shown } = thread.actions.get("a1") ?? {};
  shown?.set(MAIN_VIEW, { ref: "1", seq: 99, isElsewhere: false });
  shown?.set(there, { ref: "nowhere/", seq: 99, isElsewhere: true });
  const typed = (id: string, account: string) => {
    const choice = { kind: "approve" } as const;
    write({ ...DENY, id, kind: "click", actor: { account, name: id }, choice });
    const click = thread.clicks.get(id);
    if (click === undefined) throw new Error("there is no click");
    const facts = { author: { eligible: true, basis: "member" } } as const;
    return made(thread, { do: "judge", key: "", click, facts }).map(({ kind }) => kind);
  };
  expect(typed("bob", "slack:T1:U2")).toEqual(["notice"]);
  expect(typed("cy", "test:cy")).toContain("vote");
});
