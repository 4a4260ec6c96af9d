import { expect, test } from "vitest";
import type { Draft } from "../../src/core/entry.ts";
import { violations } from "./invariants.ts";
import {
  actor,
  after,
  before,
  type Change,
  changed,
  evidenceOf,
  key,
  said,
  shown,
  unseen,
  without,
  withoutKind,
} from "./story.ts";
import type { Sight, ToolSight } from "./witness.ts";

const args = (name: string) => ({ thread: key, name, ms: 0, bytes: 0, note: "" });

const asked = (id: string, tool: string): Draft => ({
  id,
  kind: "command",
  actor,
  text: `run ${tool}`,
  command: { name: "run", tool, args: { name: id } },
});
const taken = (run: string, id: string, tool: string): Draft => ({
  id: `run:${run}`,
  kind: "run_started",
  run,
  answers: [id],
  principals: [actor.account],
  calls: [{ call: `${run}.t1`, tool, args: args(id) }],
});
const call = { run: "r1", call: "r1.t1", tool: "act", effect: "write", digest: "d" } as const;
const approval = { action: "a1", revision: 1 };

/** An approved write that went well, and an allowed one whose worker was killed. */
const JOURNAL: Draft[] = [
  asked("m1", "act"),
  taken("r1", "m1", "act"),
  {
    id: "proposed:a1.1",
    kind: "action_proposed",
    ...call,
    ...approval,
    args: args("m1"),
    preview: { lines: [], blastRadius: "", undo: "" },
    approvers: { kind: "anyone" },
    quorum: 1,
    barred: [],
    expiresAt: 5_000,
  },
  { id: "c1", kind: "click", actor, ...approval, choice: { kind: "approve" }, via: "button" },
  {
    id: "vote:c1",
    kind: "vote",
    ...approval,
    click: "c1",
    account: actor.account,
    person: actor.account,
    name: "ana",
    approve: true,
    basis: "button",
  },
  { id: "started:r1.t1", kind: "tool_started", ...call, ...approval },
  {
    id: "finished:r1.t1",
    kind: "tool_finished",
    run: "r1",
    call: "r1.t1",
    outcome: "ok",
    text: "did m1",
  },
  { id: "ended:r1", kind: "run_ended", run: "r1", status: "completed" },
  shown("ended:r1", "1"),
  asked("m2", "nudge"),
  taken("r2", "m2", "nudge"),
  {
    id: "started:r2.t1",
    kind: "tool_started",
    run: "r2",
    call: "r2.t1",
    tool: "nudge",
    effect: "write",
    digest: "d",
  },
  {
    id: "finished:r2.t1",
    kind: "tool_finished",
    run: "r2",
    call: "r2.t1",
    outcome: "unknown",
    text: "nobody knows",
    recovered: true,
  },
  { id: "unknown:r2.t1", kind: "notice", text: "UNKNOWN", settles: "r2.t1" },
  shown("unknown:r2.t1", "2"),
  { id: "ended:r2", kind: "run_ended", run: "r2", status: "failed" },
  shown("ended:r2", "3"),
];

const act: Omit<ToolSight, "what"> = { key, tool: "act", name: "m1", args: args("m1"), last: 6 };
const nudge: Omit<ToolSight, "what"> = {
  key,
  tool: "nudge",
  name: "m2",
  args: args("m2"),
  last: 12,
};
const SIGHTS: Sight[] = [
  { what: "begin", ...act },
  { what: "effect", ...act },
  { what: "end", ...act },
  { ...said, ref: "1", delivery: "ended:r1", kind: "answer", run: "r1" },
  { what: "begin", ...nudge },
  { ...said, ref: "2", delivery: "unknown:r2.t1", kind: "notice", settles: "r2.t1" },
  { ...said, ref: "3", delivery: "ended:r2", kind: "answer", run: "r2" },
];

const evidence = (change?: Change) => evidenceOf(JOURNAL, SIGHTS, change);
const deny: Draft = {
  id: "c2",
  kind: "click",
  actor: { account: "test:bob", name: "bob" },
  ...approval,
  choice: { kind: "deny" },
  via: "button",
};

test("a thread in which all went as it must has no violations", () => {
  expect(violations(evidence())).toEqual([]);
  expect(violations(evidence({ deaths: [9_000] }))).toEqual([]);
});

test.each<[string, Change, RegExp]>([
  [
    "an id stored twice",
    { journal: after("ended:r1", { ...shown("x", "1"), id: "c1" }) },
    /id c1 is there twice/,
  ],
  ["a lost post", { journal: without("c1") }, /c1 was acknowledged and is not there/],
  [
    "an answer that the machine lost",
    { deaths: [9_000], journal: without("ended:r1") },
    /a message was shown, and lost/,
  ],
  [
    "an answer that was written again after the machine died",
    { deaths: [1_035] },
    /a message was shown, and lost/,
  ],
  ["a post that nobody made", { journal: after("m2", asked("m3", "nudge")) }, /nobody posted m3/],
  ["a message without a run", { journal: without("run:r2") }, /m2 led to 0 runs/],
  ["a run without an end", { journal: without("ended:r2") }, /r2 ended 0 times/],
  ["a click without a consequence", { journal: withoutKind("vote") }, /c1 had 0 consequences/],
  ["a start without approvals", { journal: withoutKind("vote") }, /0 of 1 approvals/],
  [
    "a start after a Stop",
    { journal: before("started:r1.t1", { id: "s", kind: "stop", actor }) },
    /after a Stop/,
  ],
  ["a start after a deny", { journal: before("started:r1.t1", deny) }, /after a deny/],
  [
    "a start after the expiry",
    { journal: before("started:r1.t1", { id: "expiry:a1", kind: "timer", action: "a1" }) },
    /after it had expired/,
  ],
  [
    "a start against policy",
    {
      journal: changed("run:r2", { calls: [{ call: "r2.t1", tool: "banned", args: args("m2") }] }),
    },
    /against policy/,
  ],
  ["a call without a result", { journal: without("finished:r2.t1") }, /r2.t1 has 0 results/],
  [
    "a second result",
    {
      journal: after("finished:r1.t1", {
        id: "f",
        kind: "tool_finished",
        run: "r1",
        call: "r1.t1",
        outcome: "ok",
        text: "",
      }),
    },
    /2 results/,
  ],
  [
    "a guess that it did not happen",
    { journal: changed("finished:r2.t1", { outcome: "cancelled" }) },
    /said to be cancelled/,
  ],
  [
    "a guess that it did",
    { journal: changed("finished:r2.t1", { outcome: "ok" }) },
    /nothing was there to see/,
  ],
  ["an unknown outcome without a cause", { undisturbed: true }, /unknown without a cause/],
  ["a known outcome that was kept back", { known: ["m2"] }, /its worker knew better/],
  [
    "an untold unknown outcome",
    { sights: unseen((sight) => sight.what === "said" && sight.kind === "notice") },
    /nobody was told/,
  ],
  [
    "an effect twice",
    { sights: (sights) => [...sights, { what: "effect", ...act }] },
    /effect seen 2 times/,
  ],
  ["an effect without a start", { journal: without("started:r1.t1") }, /effect without a start/],
  [
    "an effect before its start was stored",
    {
      sights: (sights) =>
        sights.map((sight) => (sight.what === "effect" ? { ...sight, last: 5 } : sight)),
    },
    /before its start was stored/,
  ],
  [
    "an effect of no call",
    { sights: (sights) => [...sights, { what: "effect", ...act, name: "m9" }] },
    /no call has this name/,
  ],
  [
    "other arguments than were shown",
    {
      sights: (sights) =>
        sights.map((sight) => (sight.what === "effect" ? { ...sight, args: args("m7") } : sight)),
    },
    /other arguments/,
  ],
  [
    "an answer that was taken back",
    { sights: (sights) => [...sights, { what: "retracted", key, ref: "1" }] },
    /not in the chat/,
  ],
  [
    "an answer that was never recorded",
    { journal: without("delivered:main:ended:r1:final") },
    /delivered 0 times/,
  ],
  [
    "a second copy without a cause",
    {
      undisturbed: true,
      sights: (sights) => [
        ...sights,
        { ...said, ref: "9", delivery: "ended:r1", kind: "answer", run: "r1" },
      ],
    },
    /twice without a cause/,
  ],
  [
    "work on a thread that was put aside",
    { journal: after("run:r2", { id: "parked:11", kind: "notice", parks: true, text: "aside" }) },
    /though the thread was put aside/,
  ],
])("%s is found", (_what, change, expected) => {
  expect(violations(evidence(change))).toContainEqual(expect.stringMatching(expected));
});
