import type { Choice } from "../../src/core/entry.ts";
import type { Ask, Reply, ToolName } from "./plan.ts";
import { between, pick, type Random, shuffled } from "./random.ts";

/** Makes what is particular about an ask. */
type Recipe = (made: Maker) => Partial<Ask>;

export interface Maker {
  random: Random;
  reply(changes: Partial<Reply> & Pick<Reply, "choice">): Reply;
}

const APPROVE: Choice = { kind: "approve" };
const DENY: Choice = { kind: "deny", reason: "not now" };
const STOP = { kind: "stop" } as const;
const CANCEL: Choice = { kind: "cancel" };

/** What people do. Each is as likely as it is often listed. */
const RECIPES: Record<string, Recipe> = {
  looked: ({ random }) => ({ tool: "look", long: random() < 0.6 }),
  lookStopped: ({ random, reply }) => ({
    tool: "look",
    workMs: between(random, 100, 400),
    replies: [reply({ from: "ask", choice: STOP, afterMs: between(random, 0, 400) })],
  }),
  approved: ({ reply }) => ({ tool: "act", replies: [reply({ choice: APPROVE })] }),
  approvedSlow: ({ random, reply }) => ({
    tool: "act",
    workMs: between(random, 200, 500),
    replies: [reply({ choice: APPROVE })],
  }),
  approvedLate: ({ reply }) => ({
    tool: "act",
    replies: [reply({ choice: APPROVE }), reply({ choice: APPROVE, by: "test:bob", afterMs: 700 })],
  }),
  denied: ({ reply }) => ({ tool: "act", replies: [reply({ choice: DENY, by: "test:bob" })] }),
  raced: ({ random, reply }) => ({
    tool: "act",
    replies: [
      reply({ choice: APPROVE, afterMs: between(random, 0, 50) }),
      reply({ choice: DENY, by: "test:bob", afterMs: between(random, 0, 50) }),
    ],
  }),
  stopped: ({ random, reply }) => ({
    tool: "act",
    replies: [
      reply({ choice: APPROVE, afterMs: 10 }),
      reply({ choice: STOP, by: "test:cy", afterMs: between(random, 5, 90) }),
    ],
  }),
  quorum: ({ random, reply }) => ({
    tool: "wreck",
    workMs: between(random, 50, 400),
    replies: shuffled(random, [
      reply({ choice: APPROVE, by: "test:ana" }),
      reply({ choice: APPROVE, by: "test:bob" }),
      reply({ choice: APPROVE, by: "test:bob" }),
      reply({ choice: APPROVE, by: "test:cy" }),
    ]),
  }),
  quorumMissed: ({ reply }) => ({
    tool: "wreck",
    replies: [
      reply({ choice: APPROVE, by: "test:bob" }),
      reply({ choice: APPROVE, by: "test:gus" }),
      reply({ choice: APPROVE, by: "test:ana" }),
    ],
  }),
  allowed: ({ random }) => ({ tool: "nudge", workMs: between(random, 20, 400) }),
  edited: ({ reply }) => ({
    tool: "act",
    replies: [
      reply({ choice: { kind: "edit", args: {} }, by: "test:bob", afterMs: 5 }),
      reply({ choice: APPROVE, afterMs: 30 }),
      reply({ choice: APPROVE, by: "test:cy", revision: 2 }),
    ],
  }),
  expired: () => ({ tool: "brief" }),
  brink: ({ random, reply }) => ({
    tool: "brief",
    replies: [reply({ choice: APPROVE, afterMs: between(random, 450, 620) })],
  }),
  ignored: () => ({ tool: "act" }),
  guest: ({ reply }) => ({ tool: "act", replies: [reply({ choice: APPROVE, by: "test:gus" })] }),
  banned: () => ({ tool: "banned" }),

  // From here on in plain language, for the model.
  talked: () => ({}),
  conversed: (made) => ({ rounds: [aWrite(made), ...later(made)], replies: approvals(made) }),
  conversedDenied: ({ reply }) => ({
    rounds: [["look", "act"], ["look"]],
    replies: [reply({ choice: DENY, by: "test:bob" })],
  }),
  conversedStopped: (made) => ({
    rounds: [aWrite(made), ...later(made)],
    replies: [
      made.reply({
        from: "ask",
        choice: STOP,
        by: "test:cy",
        afterMs: between(made.random, 0, 600),
      }),
      ...approvals(made),
    ],
  }),
  steered: (made) => ({
    rounds: [aWrite(made), ...later(made)],
    replies: [more(made, between(made.random, 0, 500)), ...approvals(made)],
  }),
  held: (made) => ({
    rounds: [["look", "act"]],
    replies: [
      more(made, between(made.random, 200, 900)),
      made.reply({ from: "hold", choice: CANCEL, by: pick(made.random, ["test:ana", "test:cy"]) }),
    ],
  }),
  cancelled: ({ random, reply }) => ({
    rounds: [["act"], ["look"]],
    replies: [
      reply({ choice: CANCEL, afterMs: between(random, 0, 50) }),
      reply({ choice: APPROVE, by: "test:bob", afterMs: between(random, 0, 50) }),
    ],
  }),
  questioned: (made) => ({
    rounds: [["look", "ask"], aWrite(made)],
    replies: [
      made.reply({ from: "question", choice: { kind: "answer", text: "yes" }, by: "test:bob" }),
      ...approvals(made),
    ],
  }),
  questionAnswered: (made) => ({
    rounds: [["ask"], ["nudge"]],
    replies: [
      more(made, between(made.random, 0, 300), "question"),
      more(made, between(made.random, 0, 300), "question"),
    ],
  }),
  questionRaced: (made) => ({
    rounds: [["ask"], ["wreck"]],
    replies: [
      made.reply({ from: "question", choice: { kind: "answer", text: "yes" }, afterMs: 50 }),
      { ...more(made, between(made.random, 40, 60), "question"), by: "test:bob" },
      ...approvals(made),
    ],
  }),
  questionStopped: ({ random, reply }) => ({
    rounds: [["ask", "look"], ["nudge"]],
    replies: [
      reply({ from: "question", choice: STOP, afterMs: between(random, 0, 200) }),
      reply({ from: "question", choice: { kind: "answer", text: "no" }, afterMs: 100 }),
    ],
  }),
  circled: () => ({ rounds: [["look"], ["look"], ["look"], ["nudge"]] }),
};

/** A read beside a write, allowed or asked about. */
function aWrite({ random }: Maker): ToolName[] {
  return ["look", pick(random, ["act", "act", "nudge", "wreck", "wreck", "brief", "banned"])];
}

/** Nothing more, or another look. */
function later({ random }: Maker): ToolName[][] {
  return random() < 0.4 ? [["look"]] : [];
}

/** Enough for any write; of `wreck` the first one's does not count, since she asked for it. */
function approvals({ reply }: Maker): Reply[] {
  return (["test:ana", "test:bob", "test:cy"] as const).map((by) => reply({ choice: APPROVE, by }));
}

/** Another message, by her who asked or by somebody else, with something to do or without. */
function more({ random, reply }: Maker, afterMs: number, from: Reply["from"] = "ask"): Reply {
  const rounds = random() < 0.5 ? [["look" as const]] : [];
  const by = pick(random, ["test:ana", "test:bob"] as const);
  return reply({ from, choice: { kind: "message", rounds }, by, afterMs });
}

export function recipeOf(name: string): Recipe {
  const recipe = RECIPES[name];
  if (recipe === undefined) throw new TypeError(`no recipe ${name}`);
  return recipe;
}

const OFTEN = [
  "approved",
  "approvedSlow",
  "quorum",
  "quorum",
  "allowed",
  "stopped",
  "raced",
  "looked",
  "conversed",
  "conversed",
  "conversedStopped",
];
/** All recipes, some of them more than once. */
export const MIX: readonly string[] = [...Object.keys(RECIPES), ...OFTEN];
