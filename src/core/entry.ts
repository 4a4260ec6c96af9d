import type * as z from "zod";
import { appends } from "./appends.ts";
import type { approvers, preview } from "./action-fields.ts";
import type { artifact, decider, effect, file, outcome, resultImage } from "./entry-fields.ts";
import {
  type address,
  type alert,
  type choice,
  type command,
  posts,
  type unreadFile,
} from "./posts.ts";
import type { severity } from "./incident-fields.ts";
import type { json } from "./tuple.ts";

/**
 * A journal's entries: what the world said (posts) and what the lease holder decided and did (appends). The shapes are the
 * newest; `entry-codec.ts` reads older ones.
 */
export const SCHEMAS = { ...posts, ...appends };

export type PostKind = keyof typeof posts;
export type AppendKind = keyof typeof appends;
export type Kind = keyof typeof SCHEMAS;
export type Content<K extends Kind = Kind> = {
  [P in K]: { kind: P } & z.infer<(typeof SCHEMAS)[P]>;
}[K];

/** An entry about to be written. Its id makes writing it again harmless. */
export type Draft<K extends Kind = Kind> = { id: string } & Content<K>;

/** What the store adds: `seq` counts from 1 without gaps; `at` is its clock, ms since 1970. */
interface Stored {
  seq: number;
  at: number;
  /** The journal's running hash up to and with this entry; what 0.3 wrote has none. */
  head?: string;
}

export type Entry<K extends Kind = Kind> = Stored & Draft<K>;
/** An entry of a kind or version that only a newer program knows: the fold stops at it. */
export type NewerEntry = Stored & { id: string; kind: "newer"; written: string };
export type StoredEntry = Entry | NewerEntry;

export type Actor = z.infer<typeof decider>;
export type AlertFields = z.infer<typeof alert>;
export type Address = z.infer<typeof address>;
export type Approvers = z.infer<typeof approvers>;
export type ArtifactRef = z.infer<typeof artifact>;
export type FileRef = z.infer<typeof file>;
export type ResultImage = z.infer<typeof resultImage>;
export type Choice = z.infer<typeof choice>;
export type Command = z.infer<typeof command>;
export type Effect = z.infer<typeof effect>;
export type Json = z.infer<typeof json>;
export type JsonObject = Record<string, Json>;
export type Outcome = z.infer<typeof outcome>;
export type Preview = z.infer<typeof preview>;
export type UnreadFile = z.infer<typeof unreadFile>;
export type Severity = z.infer<typeof severity>;

/** True for what the world says, false for what a lease holder appends. */
export function isPost<T extends { kind: string }>(entry: T): entry is T & { kind: PostKind } {
  return Object.hasOwn(posts, entry.kind);
}

const ASKS_FOR_WORK: Readonly<Record<PostKind, boolean>> = {
  message: true,
  command: true,
  edited: true,
  removed: true,
  click: true,
  stop: true,
  timer: true,
  signal: true,
  alarm: true,
  incident_state: true,
  alert: true,
  alert_state: true,
  // Records: whoever reads them folds them.
  incident: false,
  tenant: false,
  tool_form: false,
  freeze: false,
  feedback: false,
  memory: false,
  secret: false,
  mirror: false,
  // The place says so.
  moved: true,
};

/** True for what somebody has to act on: a post of it makes its journal due. */
export function asksForWork({ kind }: { kind: PostKind }): boolean {
  return ASKS_FOR_WORK[kind];
}

type FactRule = { readonly [K in AppendKind]: boolean | ((draft: Draft<K>) => boolean) };

const FACTS: FactRule = {
  // A model's turn was paid for, and what a view shows is shown.
  assistant: true,
  condensed: true,
  overflow: true,
  delivered: true,
  above: true,
  plan: true,
  // The call that opened or left the place says so with its result.
  view_added: true,
  view_removed: true,
  alert_told: true,
  alert_thread: false,
  // A person's answer decides how the run goes on, as does what a later worker concludes; a tool's result is just so.
  tool_finished: ({ recovered, answers, outcome }) =>
    recovered !== true && answers === undefined && (outcome === "ok" || outcome === "error"),
  run_started: false,
  extended: false,
  gate: false,
  action_proposed: false,
  vote: false,
  action_closed: false,
  // A read changes nothing: nobody decides on its start.
  tool_started: ({ effect, action }) => effect === "read" && action === undefined,
  grant_revoked: false,
  settled: false,
  notice: false,
  run_ended: false,
  // What they used was paid for, and is written down whatever came meanwhile; what follows from it is decided.
  goal_started: false,
  goal_planned: false,
  goal_judged: false,
  goal_state: false,
};

/**
 * True for what is known to have happened and must never be refused because someone typed meanwhile; everything else a
 * lease holder appends is a decision, taken on all entries so far.
 */
export function isFact<K extends AppendKind>(draft: Draft<K>): boolean {
  const rule = FACTS[draft.kind];
  return typeof rule === "function" ? rule(draft) : rule;
}
