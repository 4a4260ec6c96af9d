import * as z from "zod";
import { assistantBlock, fileType, stopReason, usage } from "./block.ts";
import { BotError } from "./errors.ts";

/**
 * A journal's entries: what the world said (posts) and what the lease holder decided and did (appends). Each kind has a
 * version; the shapes below are the newest. A kind or version that is not here was written by a newer program: the fold
 * stops at it and the journal is left alone.
 */

const json = z.json();
const count = z.int().nonnegative();
const actor = z.strictObject({ account: z.string(), name: z.string() });
/** `handle`: how the platform calls this account and no other, where names are anybody's to choose. */
const decider = actor.extend({ handle: z.string().optional() });
const effect = z.enum(["read", "write", "destructive"]);

const command = z.discriminatedUnion("name", [
  z.strictObject({
    name: z.literal("run"),
    tool: z.string(),
    args: z.record(z.string(), z.string()),
  }),
  z.strictObject({ name: z.literal("help") }),
  z.strictObject({ name: z.literal("tools") }),
  z.strictObject({ name: z.literal("cost") }),
  z.strictObject({ name: z.literal("approvals") }),
  /** With a model: the one that this thread's next runs use. */
  z.strictObject({ name: z.literal("model"), model: z.string().optional() }),
  z.strictObject({ name: z.literal("invalid"), problem: z.string() }),
]);

/**
 * What a person says to a card. `settle` is their word on an unknown outcome; `cancel` takes an action back, by who asked
 * for it; `answer` answers a question of the model's, which its call names.
 */
const choice = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("approve") }),
  z.strictObject({ kind: z.literal("deny"), reason: z.string().optional() }),
  z.strictObject({ kind: z.literal("edit"), args: z.record(z.string(), json) }),
  z.strictObject({
    kind: z.literal("settle"),
    happened: z.boolean(),
    reason: z.string().optional(),
  }),
  /** `sure`: whoever did not ask was told that it ends for everyone, and said so again. */
  z.strictObject({ kind: z.literal("cancel"), sure: z.boolean().optional() }),
  z.strictObject({ kind: z.literal("answer"), text: z.string() }),
]);

/** One labelled part of a card's preview. */
const previewLine = z.strictObject({ label: z.string(), value: z.string() });
const preview = z.strictObject({
  lines: z.array(previewLine),
  /** What else would be touched, in one sentence. */
  blastRadius: z.string(),
  /** How to take it back, in one sentence. */
  undo: z.string(),
});

/**
 * Who may approve, as fixed when asked. `anyone`: every full member of the thread. `listed`: those accounts; one that was
 * listed through groups must still be in one of them.
 */
const approvers = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("anyone") }),
  z.strictObject({
    kind: z.literal("listed"),
    accounts: z.array(
      z.strictObject({ account: z.string(), groups: z.array(z.string()).optional() }),
    ),
  }),
]);

const artifact = z.strictObject({ id: z.string(), bytes: count });
/** A file that is kept as an artifact and shown to the model. */
const file = z.strictObject({ name: z.string(), mediaType: fileType, artifact });

/** A file that could not be read: its size where the platform told it, and why, in words for people. */
const unreadFile = z.strictObject({ name: z.string(), bytes: count.optional(), why: z.string() });

/** One incident's severity, the worst first. */
const severity = z.enum(["sev1", "sev2", "sev3", "sev4"]);

/** How a call ended. `unknown`: it was dispatched and nobody knows. `blocked`: policy, precheck or schema said no. */
const outcome = z.enum(["ok", "error", "denied", "expired", "cancelled", "unknown", "blocked"]);

const posts = {
  message: z.strictObject({
    actor,
    text: z.string(),
    files: z.array(file).optional(),
    unread: z.array(unreadFile).optional(),
    /** Bytes of the whole text where it is long: `text` is its beginning and its end, the first of `files` all of it. */
    wholeBytes: count.optional(),
  }),
  command: z.strictObject({ actor, text: z.string(), command }),
  click: z.strictObject({
    actor: decider,
    action: z.string(),
    revision: count,
    choice,
    via: z.enum(["button", "typed"]),
    /** How the digest of the action that was on the pressed card begins. */
    digest: z.string().min(12).optional(),
  }),
  stop: z.strictObject({ actor }),
  /** Says that an action's expiry has passed; `action` names it. */
  timer: z.strictObject({ action: z.string() }),
  /** A fenced worker's word on how a call of its own really ended. */
  signal: z.strictObject({ call: z.string(), outcome, text: z.string() }),
  /** In `team:<platform>`: what is served there from the first start on, such as `discord:1122`; the first one counts. */
  tenant: z.strictObject({ tenant: z.string() }),
  /** What was said of an incident, in its own journal; the first one opens it. Times are ms since 1970. */
  incident: z.strictObject({
    actor,
    /** The journal key of the thread it was said in. */
    thread: z.string(),
    /** That thread's address for people. */
    link: z.string().optional(),
    /** The private place it was said in (`Adapter.audience`); without it everyone may read it. */
    audience: z.string().optional(),
    /** A model said it that had read text from outside. */
    outside: z.boolean().optional(),
    change: z.strictObject({
      title: z.string().optional(),
      severity: severity.optional(),
      /** All of them: what was there before is replaced. */
      services: z.array(z.string()).optional(),
      startedAt: count.optional(),
      detectedAt: count.optional(),
      resolvedAt: count.optional(),
      cause: z.string().optional(),
      /** Added to those that are there. */
      actions: z.array(z.string()).optional(),
      note: z.string().optional(),
      status: z.enum(["open", "resolved"]).optional(),
    }),
  }),
};

const appends = {
  run_started: z.strictObject({
    run: z.string(),
    /** Ids of the posts it answers. */
    answers: z.array(z.string()),
    /** Accounts whose messages instruct this run: its requesters. */
    principals: z.array(z.string()),
    calls: z.array(
      z.strictObject({ call: z.string(), tool: z.string(), args: z.record(z.string(), json) }),
    ),
    /** The run is a model's: which one's, and what it may use up. Its calls come with its `assistant` entries. */
    talk: z
      .strictObject({
        model: z.string(),
        /** SHA-256, hexadecimal, over the system prompt and the tools: the same for the run, unless the program changes. */
        prefix: z.string(),
        budget: z.strictObject({ steps: count, tokens: count, minutes: z.number().positive() }),
        /** Of what was said before, the model gets messages and answers only, without the calls between. */
        brief: z.boolean().optional(),
      })
      .optional(),
  }),
  assistant: z.strictObject({
    run: z.string(),
    /** Counts the run's model calls from 1. */
    step: count,
    /** The last entry that was folded when the request was made; what came later it has not seen. */
    seen: count,
    /** Accounts whose lines the request told as instructions; everybody else's it told as quoted. */
    instructs: z.array(z.string()).optional(),
    /** The request told the thread in brief, because no full member of it instructs the run. */
    brief: z.boolean().optional(),
    content: z.array(assistantBlock),
    stop: stopReason,
    usage,
    model: z.string(),
    /** SHA-256, hexadecimal, over the request, files by their ids: `replay` shows it again. */
    request: z.string(),
    ms: count,
  }),
  /** A word of the program's own to the model, such as why its answer did not pass. */
  gate: z.strictObject({
    run: z.string(),
    gate: z.enum(["evidence", "stuck", "denied", "limit", "cut"]),
    text: z.string(),
    /** From now on the run may only answer. */
    toolsOff: z.boolean().optional(),
  }),
  action_proposed: z.strictObject({
    run: z.string(),
    call: z.string(),
    action: z.string(),
    revision: count,
    tool: z.string(),
    effect,
    args: z.record(z.string(), json),
    /** SHA-256 over the RFC 8785 form of tool, arguments and schema, hexadecimal. */
    digest: z.string(),
    reason: z.string().optional(),
    preview,
    approvers,
    quorum: count,
    /** Accounts that may not approve: requesters and editors, unless policy lets them. */
    barred: z.array(z.string()),
    expiresAt: count,
    /** The machine that it acts on, as its arguments say; only processes there may run it. Absent: any may. */
    host: z.string().optional(),
    /** What people call the place they decide in, such as `#ops`. */
    place: z.string().optional(),
    /** The click that edited the previous revision into this one. */
    click: z.string().optional(),
  }),
  vote: z.strictObject({
    action: z.string(),
    revision: count,
    /** The click it was made of. */
    click: z.string(),
    account: z.string(),
    person: z.string(),
    name: z.string(),
    handle: z.string().optional(),
    approve: z.boolean(),
    reason: z.string().optional(),
    /** How the person's identity and right were established. */
    basis: z.string(),
  }),
  action_closed: z.strictObject({
    action: z.string(),
    outcome: z.enum(["denied", "expired", "cancelled", "void"]),
    by: z.string().optional(),
    reason: z.string().optional(),
    /** The click that closed it, where it was no vote. */
    click: z.string().optional(),
  }),
  tool_started: z.strictObject({
    run: z.string(),
    /** Also the idempotency key. */
    call: z.string(),
    tool: z.string(),
    effect,
    digest: z.string(),
    /** As `action_proposed` has it. */
    host: z.string().optional(),
    /** What is executed when it is not an action's displayed arguments: the checked and pinned ones. */
    args: z.record(z.string(), json).optional(),
    action: z.string().optional(),
    revision: count.optional(),
  }),
  tool_finished: z.strictObject({
    run: z.string(),
    call: z.string(),
    outcome,
    text: z.string(),
    artifacts: z.array(artifact).optional(),
    /** Images that the model is shown with the text. */
    files: z.array(file).optional(),
    /** The click or message that answered the question which this call was. */
    answers: z.string().optional(),
    ms: count.optional(),
    /** Concluded by a later worker: what the tool's verifier saw. */
    recovered: z.boolean().optional(),
  }),
  settled: z.strictObject({
    call: z.string(),
    click: z.string(),
    person: z.string(),
    name: z.string(),
    happened: z.boolean(),
    reason: z.string().optional(),
  }),
  view_added: z.strictObject({ view: z.string() }),
  notice: z.strictObject({
    text: z.string(),
    /** One person only; without it the whole thread. */
    to: z.string().optional(),
    /** The click or late word it answers. */
    answers: z.string().optional(),
    /** The thread's work crashed twice: nothing is tried until a person posts. */
    parks: z.boolean().optional(),
    /** The call whose unknown outcome a person is asked to settle. */
    settles: z.string().optional(),
    /** A question of the model's: the call that waits for the answer, and answers to choose from. */
    asks: z
      .strictObject({
        call: z.string(),
        choices: z.array(z.string()),
        /** Ms since 1970; without it an hour after it was asked. */
        expiresAt: count.optional(),
      })
      .optional(),
    /** Open actions that hold up what was said; cancelling them lets it be answered. */
    holds: z.array(z.string()).optional(),
    /** The action whose card is to be shown once more, as it stands. */
    redraws: z.string().optional(),
    /** Open actions that the person may approve, who said yes in words. */
    approves: z.array(z.string()).optional(),
    /** The open action that the person is asked whether to cancel for everyone. */
    confirms: z.string().optional(),
    /** The open action, or the question by its call, that is about to expire. */
    warns: z.string().optional(),
    /** The call that waits for another machine, which was not heard of for a while. */
    waitsFor: z.string().optional(),
    /** The message that this word answers in place of the model, which is not told of it. */
    instead: z.string().optional(),
  }),
  delivered: z.strictObject({
    view: z.string(),
    /** The id of the entry that is now shown. */
    entry: z.string(),
    /** `started`: a message is being streamed, a successor edits it. `final` alone discharges the debt. */
    stage: z.enum(["started", "final"]),
    ref: z.string(),
  }),
  run_ended: z.strictObject({
    run: z.string(),
    /** `wrapped_up`: a limit was reached; it can be gone on with. */
    status: z.enum(["completed", "failed", "cancelled", "wrapped_up"]),
    /** The answer; without it the run's results are the answer. */
    text: z.string().optional(),
    /** The code of the error that a model's run failed by. */
    error: z.string().optional(),
  }),
};

const schemas = { ...posts, ...appends };

export type PostKind = keyof typeof posts;
export type AppendKind = keyof typeof appends;
export type Kind = keyof typeof schemas;
export type Content<K extends Kind = Kind> = {
  [P in K]: { kind: P } & z.infer<(typeof schemas)[P]>;
}[K];

/** An entry about to be written. Its id makes writing it again harmless. */
export type Draft<K extends Kind = Kind> = { id: string } & Content<K>;
/** An entry as the store has it: `seq` counts from 1 without gaps; `at` is the store's clock, ms since 1970. */
/** `head`: the journal's running hash up to and with this entry; what 0.3 wrote has none. */
export type Entry<K extends Kind = Kind> = { seq: number; at: number; head?: string } & Draft<K>;
/** An entry of a kind or version that only a newer program knows. */
export type NewerEntry = {
  seq: number;
  at: number;
  head?: string;
  id: string;
  kind: "newer";
  written: string;
};

export type Actor = z.infer<typeof decider>;
export type Approvers = z.infer<typeof approvers>;
export type ArtifactRef = z.infer<typeof artifact>;
export type FileRef = z.infer<typeof file>;
export type Choice = z.infer<typeof choice>;
export type Command = z.infer<typeof command>;
export type Effect = z.infer<typeof effect>;
export type Json = z.infer<typeof json>;
export type JsonObject = Record<string, Json>;
export type Outcome = z.infer<typeof outcome>;
export type Preview = z.infer<typeof preview>;
export type UnreadFile = z.infer<typeof unreadFile>;
export type Severity = z.infer<typeof severity>;

/** Every kind that this program knows. */
export const ENTRY_KINDS: readonly string[] = Object.keys(schemas);

/** Kinds that have grown since their first version. What was added is optional, so older ones are read as they are. */
const versions: Partial<Record<Kind, number>> = {
  message: 3,
  command: 2,
  click: 3,
  run_started: 2,
  assistant: 2,
  action_proposed: 2,
  vote: 2,
  action_closed: 2,
  tool_started: 2,
  tool_finished: 2,
  notice: 3,
  run_ended: 2,
  incident: 2,
};

/** The version of a kind that this program writes, and the newest it reads. */
export function entryVersion(kind: Kind): number {
  return versions[kind] ?? 1;
}

const POST_KINDS: ReadonlySet<string> = new Set(Object.keys(posts));

/** True for what the world says, false for what a lease holder appends. */
export function isPost(entry: { kind: string }): boolean {
  return POST_KINDS.has(entry.kind);
}

/**
 * True for what is known to have happened and must never be refused because someone typed meanwhile; everything else a
 * lease holder appends is a decision, taken on all entries so far.
 */
export function isFact(draft: Draft): boolean {
  if (draft.kind === "delivered" || draft.kind === "assistant") return true;
  if (draft.kind !== "tool_finished" || draft.recovered === true) return false;
  // What a person answered decides how the run goes on; a tool's result is just so.
  return draft.answers === undefined && (draft.outcome === "ok" || draft.outcome === "error");
}

/**
 * The content of an entry as a store keeps it, or undefined when a newer program wrote it.
 * @throws z.ZodError when the kind is known and the body does not fit it
 */
export function decodeContent(kind: string, version: number, body: unknown): Content | undefined {
  if (!Object.hasOwn(schemas, kind) || version > entryVersion(kind as Kind)) return undefined;
  const fields = schemas[kind as Kind].parse(body);
  return { kind, ...fields } as Content;
}

/**
 * Splits a draft into the columns that every store keeps.
 * @throws BotError ENTRY_INVALID when it could not be read again: one such entry would take its thread with it
 */
export function encodeDraft(draft: Draft): {
  id: string;
  kind: Kind;
  version: number;
  body: string;
} {
  const { id, kind, ...fields } = draft;
  try {
    schemas[kind].parse(fields);
    return { id, kind, version: entryVersion(kind), body: JSON.stringify(fields) };
  } catch (error) {
    throw new BotError(
      "ENTRY_INVALID",
      `${id} is not of the form of a ${kind}; it was not written.`,
      {
        cause: error,
      },
    );
  }
}

export type StoredEntry = Entry | NewerEntry;
