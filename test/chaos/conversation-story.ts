import { NO_USAGE } from "../../src/core/block.ts";
import type { Draft } from "../../src/core/entry.ts";
import { actor, type Change, evidenceOf, key, said, shown } from "./story.ts";
import type { Sight, ToolSight } from "./witness.ts";

export const bob = { account: "test:bob", name: "bob" };
export const cy = { account: "test:cy", name: "cy" };
const input = (name: string) => ({ thread: key, name, ms: 0, bytes: 0, note: "" });
export const message = (id: string, author = actor): Draft => ({
  id,
  kind: "message",
  actor: author,
  text: id,
});
export const turn = (
  step: number,
  seen: number,
  text: string,
  calls: [string, string][] = [],
): Draft => ({
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
export const started = (call: string, tool: string, effect: "read" | "write"): Draft => ({
  id: `started:${call}`,
  kind: "tool_started",
  run: "r1",
  call,
  tool,
  effect,
  digest: "d",
});
export const finished = (call: string, outcome: "ok" | "cancelled" | "blocked"): Draft => ({
  id: `finished:${call}`,
  kind: "tool_finished",
  run: "r1",
  call,
  outcome,
  text: outcome,
});
export const on = { action: "a1", revision: 1 };
export const click = (id: string, author: typeof actor): Draft => ({
  id,
  kind: "click",
  actor: author,
  ...on,
  choice: { kind: "approve" },
  via: "button",
});
export const vote = (id: string, { account, name }: typeof actor): Draft => ({
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
export const stop: Draft = { id: "s", kind: "stop", actor };

/** A run that looks and acts, asks a question, is steered, and has an action taken back, beside which a side run could not do all. */
export const JOURNAL: Draft[] = [
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
  {
    id: "run:r2",
    kind: "run_started",
    run: "r2",
    answers: ["m3"],
    principals: [actor.account],
    calls: [],
    reads: true,
    talk: { model: "chaos/model", prefix: "p", budget: { steps: 3, tokens: 4_500, minutes: 3 } },
  },
  { ...turn(1, 17, "To act.", [["nudge", "m3"]]), id: "assistant:r2.1", run: "r2" } as Draft,
  {
    ...finished("r2.t5", "blocked"),
    id: "finished:r2.t5",
    run: "r2",
    handsOver: true,
  } as Draft,
  {
    id: "told:held:m3",
    kind: "notice",
    text: "It waits.",
    to: actor.account,
    answers: "held:m3",
    holds: ["a1"],
  },
  shown("told:held:m3", "2"),
  { ...turn(2, 21, "It waits."), id: "assistant:r2.2", run: "r2" } as Draft,
  { id: "ended:r2", kind: "run_ended", run: "r2", status: "completed", text: 'This answers "m3".' },
  shown("ended:r2", "4"),
  { id: "c2", kind: "click", actor, ...on, choice: { kind: "cancel" }, via: "button" },
  { id: "closed:a1", kind: "action_closed", action: "a1", outcome: "cancelled", click: "c2" },
  finished("r1.t4", "cancelled"),
  turn(4, 27, "Done."),
  {
    id: "ended:r1",
    kind: "run_ended",
    run: "r1",
    status: "completed",
    text: 'This answers "m1", "m2".',
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
export const askedNow = {
  what: "asked",
  key,
  run: 0,
  isSide: false,
  unpaired: [],
} satisfies Partial<Sight>;
export const SIGHTS: Sight[] = [
  { what: "held", key, since: 1_000 },
  { ...askedNow, turns: [], unlabelled: [] },
  { what: "begin", ...nudge },
  { what: "effect", ...nudge },
  { what: "end", ...nudge },
  { ...askedNow, turns: ["u", "a", "t"], unlabelled: ["u", "a", "t"] },
  { ...said, ref: "1", delivery: "asks:r1.t3", kind: "notice", asks: "r1.t3", text: "m2" },
  { what: "whispered", key, ref: "2", to: actor.account, text: "It waits." },
  { ...said, ref: "4", delivery: "ended:r2", kind: "answer", run: "r2" },
  { ...said, ref: "3", delivery: "ended:r1", kind: "answer", run: "r1" },
  { what: "dropped", key },
];
export const evidence = (change?: Change) => evidenceOf(JOURNAL, SIGHTS, change);
export const all =
  (...changes: ((drafts: Draft[]) => Draft[])[]) =>
  (drafts: Draft[]): Draft[] =>
    changes.reduce((made, change) => change(made), drafts);
export const asked = (turns: string[], changes: Partial<Sight & { what: "asked" }> = {}) => ({
  sights: (sights: Sight[]): Sight[] => [
    ...sights,
    { ...askedNow, turns, unlabelled: turns, ...changes },
  ],
});
