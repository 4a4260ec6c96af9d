import { expect, test } from "vitest";
import { NO_USAGE } from "../../src/core/block.ts";
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
} from "./story.ts";
import type { Sight, ToolSight } from "./witness.ts";

const bob = { account: "test:bob", name: "bob" };
const cy = { account: "test:cy", name: "cy" };
const input = (name: string) => ({ thread: key, name, ms: 0, bytes: 0, note: "" });
const message = (id: string, author = actor): Draft => ({
  id,
  kind: "message",
  actor: author,
  text: id,
});
const turn = (step: number, seen: number, text: string, calls: [string, string][] = []): Draft => ({
  id: `assistant:r1.${step}`,
  kind: "assistant",
  run: "r1",
  step,
  seen,
  content: [
    { kind: "text", text },
    ...calls.map(([tool, name], i) => ({
      kind: "tool_use" as const,
      id: `${step}.${i}`,
      name: tool,
      input: JSON.stringify(input(name)),
    })),
  ],
  stop: calls.length > 0 ? "tool_use" : "end_turn",
  usage: NO_USAGE,
  model: "chaos/1",
  request: "h",
  ms: 1,
});
const started = (call: string, tool: string, effect: "read" | "write"): Draft => ({
  id: `started:${call}`,
  kind: "tool_started",
  run: "r1",
  call,
  tool,
  effect,
  digest: "d",
});
const finished = (call: string, outcome: "ok" | "cancelled"): Draft => ({
  id: `finished:${call}`,
  kind: "tool_finished",
  run: "r1",
  call,
  outcome,
  text: outcome,
});
const on = { action: "a1", revision: 1 };
const click = (id: string, author: typeof actor): Draft => ({
  id,
  kind: "click",
  actor: author,
  ...on,
  choice: { kind: "approve" },
  via: "button",
});
const vote = (id: string, { account, name }: typeof actor): Draft => ({
  id: `vote:${id}`,
  kind: "vote",
  ...on,
  click: id,
  account,
  person: account,
  name,
  approve: true,
  basis: "button",
});
const stop: Draft = { id: "s", kind: "stop", actor };

/** A run that looks and acts, asks a question, is steered, and has an action taken back that holds up a message. */
const JOURNAL: Draft[] = [
  message("m1"),
  {
    id: "run:r1",
    kind: "run_started",
    run: "r1",
    answers: ["m1"],
    principals: [actor.account],
    calls: [],
    talk: { model: "chaos/model", prefix: "p", budget: { steps: 9, tokens: 9_000, minutes: 9 } },
  },
  turn(1, 2, "To see.", [
    ["look", "m1:look"],
    ["nudge", "m1"],
  ]),
  started("r1.t1", "look", "read"),
  started("r1.t2", "nudge", "write"),
  finished("r1.t1", "ok"),
  message("m2", bob),
  finished("r1.t2", "ok"),
  turn(2, 8, "To know.", [["ask", "m2:ask"]]),
  { id: "asks:r1.t3", kind: "notice", text: "m2", asks: { call: "r1.t3", choices: [] } },
  shown("asks:r1.t3", "1"),
  {
    id: "c1",
    kind: "click",
    actor,
    via: "button",
    action: "r1.t3",
    revision: 1,
    choice: { kind: "answer", text: "yes" },
  },
  { ...finished("r1.t3", "ok"), answers: "c1" } as Draft,
  turn(3, 13, "To act.", [["act", "m2"]]),
  {
    id: "proposed:a1.1",
    kind: "action_proposed",
    run: "r1",
    call: "r1.t4",
    ...on,
    tool: "act",
    effect: "write",
    args: input("m2"),
    digest: "d",
    preview: { lines: [], blastRadius: "", undo: "" },
    approvers: { kind: "anyone" },
    quorum: 1,
    barred: [],
    expiresAt: 5_000,
  },
  message("m3"),
  { id: "told:m3", kind: "notice", text: "It waits.", answers: "m3", holds: ["a1"] },
  shown("told:m3", "2"),
  { id: "c2", kind: "click", actor, ...on, choice: { kind: "cancel" }, via: "button" },
  { id: "closed:a1", kind: "action_closed", action: "a1", outcome: "cancelled", click: "c2" },
  finished("r1.t4", "cancelled"),
  turn(4, 21, "Done."),
  {
    id: "ended:r1",
    kind: "run_ended",
    run: "r1",
    status: "completed",
    text: 'This answers "m1", "m2", "m3".',
  },
  shown("ended:r1", "3"),
];

const nudge: Omit<ToolSight, "what"> = {
  key,
  tool: "nudge",
  name: "m1",
  args: input("m1"),
  last: 5,
};
const SIGHTS: Sight[] = [
  { what: "held", key, since: 1_000 },
  { what: "asked", key, turns: [], unpaired: [] },
  { what: "begin", ...nudge },
  { what: "effect", ...nudge },
  { what: "end", ...nudge },
  { what: "asked", key, turns: ["u", "a", "t"], unpaired: [] },
  { ...said, ref: "1", kind: "notice", asks: "r1.t3", text: "m2" },
  { ...said, ref: "2", kind: "notice", holds: ["a1"], text: "It waits." },
  { ...said, ref: "3", kind: "answer", run: "r1" },
  { what: "dropped", key },
];
const evidence = (change?: Change) => evidenceOf(JOURNAL, SIGHTS, change);
const all =
  (...changes: ((drafts: Draft[]) => Draft[])[]) =>
  (drafts: Draft[]): Draft[] =>
    changes.reduce((made, change) => change(made), drafts);
const asked = (turns: string[], unpaired: string[] = []) => ({
  sights: (sights: Sight[]): Sight[] => [...sights, { what: "asked", key, turns, unpaired }],
});

test("a conversation in which all went as it must has no violations", () => {
  expect(violations(evidence())).toEqual([]);
});

test.each<[string, Change, RegExp]>([
  [
    "a message that no run took up",
    { journal: changed("run:r1", { answers: [] }) },
    /m1 led to 0 runs/,
  ],
  [
    "a message that joined one run and began another",
    {
      journal: after("ended:r1", {
        id: "run:r2",
        kind: "run_started",
        run: "r2",
        answers: ["m2"],
        principals: [],
        calls: [],
      }),
    },
    /m2 led to 2 runs/,
  ],
  [
    "a message that its run's model never saw",
    { journal: changed("assistant:r1.4", { seen: 15 }) },
    /m3 joined the run r1, and its model never saw it/,
  ],
  [
    "a run without an end though nobody is waited for",
    { journal: without("ended:r1") },
    /r1 ended 0 times/,
  ],
  [
    "a step that was asked twice",
    { journal: after("assistant:r1.1", { ...turn(1, 2, "Again."), id: "x" }) },
    /the run r1 has the steps 1, 1, 2/,
  ],
  ["a lost step", { journal: without("assistant:r1.2") }, /the run r1 has the steps 1, 3/],
  [
    "a turn that foresaw something",
    { journal: changed("assistant:r1.2", { seen: 12 }) },
    /r1.2 has seen what came after it/,
  ],
  [
    "a turn without the turn before",
    { journal: changed("assistant:r1.2", { seen: 2 }) },
    /r1.2 has not seen the turn before/,
  ],
  [
    "a turn by a worker that had lost the lease",
    { journal: changed("assistant:r1.2", { model: "chaos/2" }) },
    /r1.2 is by chaos\/2, and 1 had the lease/,
  ],
  [
    "a call whose result came after its model was asked again",
    {
      journal: all(without("finished:r1.t2"), after("assistant:r1.2", finished("r1.t2", "ok"))),
    },
    /r1.t2 had 0 results when the run r1 went on/,
  ],
  [
    "a call without a result when its run ended",
    { journal: without("finished:r1.t4") },
    /r1.t4 had 0 results when the run r1 went on/,
  ],
  [
    "a model that was asked after a Stop",
    { journal: before("assistant:r1.4", stop) },
    /r1 went on after the Stop s: it is completed/,
  ],
  [
    "a turn with a Stop in its request",
    { journal: after("m2", stop) },
    /r1 went on after the Stop s: assistant:r1.3/,
  ],
  [
    "an answer that leaves out a message",
    { journal: changed("ended:r1", { text: 'This answers "m1", "m3".' }) },
    /the answer of r1 does not know of m2/,
  ],
  [
    "a held message of which nobody was told",
    { journal: all(without("told:m3"), without("delivered:main:told:m3:final")) },
    /nobody was told that m3 is held up/,
  ],
  [
    "a start that no turn asked for",
    { journal: after("assistant:r1.4", started("r1.t5", "look", "read")) },
    /started:r1.t5 is of a call that was not asked for/,
  ],
  [
    "a start before the turn that asked for it",
    {
      journal: all(
        without("started:r1.t2"),
        before("assistant:r1.1", started("r1.t2", "nudge", "write")),
      ),
    },
    /r1.t2 was started before it was asked for/,
  ],
  [
    "another tool than was asked for",
    { journal: changed("started:r1.t2", { tool: "act" }) },
    /started:r1.t2 is of act, and nudge was asked for/,
  ],
  [
    "an approval by somebody whose message the model had seen",
    {
      journal: all(
        (drafts) => drafts.map((draft) => swapTool(draft, "act", "wreck")),
        without("c2"),
        without("closed:a1"),
        without("finished:r1.t4"),
        after(
          "proposed:a1.1",
          click("c3", bob),
          vote("c3", bob),
          click("c4", cy),
          vote("c4", cy),
          { ...started("r1.t4", "wreck", "write"), ...on },
          finished("r1.t4", "ok"),
        ),
      ),
    },
    /r1.t4 \(wreck\) was started with 1 of 2 approvals/,
  ],
  [
    "a question that was run",
    { journal: after("asks:r1.t3", started("r1.t3", "ask", "read")) },
    /r1.t3 is a question and was started/,
  ],
  [
    "an answer that nobody gave",
    { journal: changed("finished:r1.t3", { answers: "c9" }) },
    /r1.t3 has an answer that nobody gave/,
  ],
  [
    "an answer without a consequence",
    { journal: changed("finished:r1.t3", { answers: "m2" }) },
    /the click c1 had 0 consequences/,
  ],
  [
    "a cancelling click without a consequence",
    { journal: changed("closed:a1", { click: undefined }) },
    /the click c2 had 0 consequences/,
  ],
  [
    "an answer that was not shown",
    { sights: unseen((sight) => sight.what === "said" && sight.ref === "3") },
    /ended:r1 is recorded as delivered and not in the chat/,
  ],
  [
    "a request without one result per call",
    asked(["u", "a", "t"], ["turn 2: call_0 and "]),
    /without one result per call: turn 2/,
  ],
  [
    "a request that tells the past otherwise",
    asked(["u", "b", "t", "a"]),
    /4 turns that does not begin as another/,
  ],
])("%s is found", (_what, change, expected) => {
  expect(violations(evidence(change))).toContainEqual(expect.stringMatching(expected));
});

/** The same entry, of a call of another tool. */
function swapTool(draft: Draft, from: string, to: string): Draft {
  return JSON.parse(
    JSON.stringify(draft)
      .replaceAll(`"tool":"${from}"`, `"tool":"${to}"`)
      .replaceAll(`"name":"${from}"`, `"name":"${to}"`),
  ) as Draft;
}
