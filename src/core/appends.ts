import * as z from "zod";
import { assistantBlock, stopReason, usage } from "./block.ts";
import { budget, moreBudget } from "./budget.ts";
import { artifact, count, deniedBy, effect, outcome, resultImage } from "./entry-fields.ts";
import { findings, gaps } from "./finding.ts";
import { gateTerms, GATE_WORDS } from "./gates.ts";
import { goalAppends } from "./goal-appends.ts";
import { PLANNING, planTask } from "./plan.ts";
import { hash, json } from "./tuple.ts";
import { preview, approvers } from "./action-fields.ts";

/** A message as it stood in a channel or thread. */
const seenMessage = z.strictObject({
  /** As a post of it would be named. */
  id: z.string(),
  at: count,
  name: z.string(),
  /** The person who wrote it; without it a bot or an app did, and nothing in it is to be trusted. */
  account: z.string().optional(),
  text: z.string(),
  /** What a person's message carries of others' words: a forwarded message, a link's preview. Not to be trusted. */
  attached: z.string().optional(),
  /** Names only. */
  files: z.array(z.string()).optional(),
  /** It stands in the channel, not in the thread, and the question does not reply to it. */
  around: z.literal(true).optional(),
});

/** What the holder of a lease decided and did, each with a version in `entry-codec.ts`. */
export const appends = {
  run_started: z.strictObject({
    run: z.string(),
    /** Ids of the posts it answers. */
    answers: z.array(z.string()),
    /** Accounts whose messages instruct this run: its requesters. None: no person asked, and to its end it only reads. */
    principals: z.array(z.string()),
    /** The bot whose message began it, where no person did. */
    app: z.string().optional(),
    calls: z.array(
      z.strictObject({ call: z.string(), tool: z.string(), args: z.record(z.string(), json) }),
    ),
    /** The action that its one call takes back. */
    undoes: z.string().optional(),
    /** The expired action that its one call asks for once more. */
    repeats: z.string().optional(),
    /** It began while a card of another run was open: to its end it only reads. */
    reads: z.boolean().optional(),
    /** The run is a model's: which one's, and what it may use up. Its calls come with its `assistant` entries. */
    talk: z
      .strictObject({
        model: z.string(),
        /** SHA-256, hexadecimal, over the system prompt and the tools: the same for the run, unless the program changes. */
        prefix: hash,
        budget,
        /** Versions before this one told a long thread without the calls in it. Nothing follows from it any more. */
        brief: z.boolean().optional(),
        /** Nothing of what it answers is surely to the bot: its model may stay silent. */
        unsure: z.literal(true).optional(),
        /** What its work is held to, where that is not the standard. */
        gates: gateTerms.optional(),
        /** Tokens that its model takes, what of them one response may use, and about what the system prompt and the tools do. */
        window: z.strictObject({ tokens: count, output: count, fixed: count }).optional(),
        /** It has other terms than a conversation's first run. */
        mode: z.enum(["helper", "triage", "chat", "goal"]).optional(),
      })
      .optional(),
    /** Its `calls` are checks of skills: numbered with the calls of models, and they only read. */
    checks: z
      .strictObject({
        why: z.enum(["no_model", "model_failed", "alert", "first_look", "again"]),
        /** Whose checks fit, the best first. None: no check knows it. */
        skills: z.array(z.string()),
        asked: z.array(z.strictObject({ call: z.string(), skill: z.string(), check: z.string() })),
        /** The alerts that it looks into: the journal that knows the group, its name there, and what it was called by then. */
        group: z
          .strictObject({ of: z.string(), group: z.string(), names: z.array(z.string()) })
          .optional(),
        /** The call of the action after which what was broken is looked at again. */
        after: z.string().optional(),
        /** The run in whose place it answers, and why that could not. */
        instead: z.strictObject({ of: z.string(), why: z.string() }).optional(),
      })
      .optional(),
    /** It is a helper's: the call of another run that asked for it. Its answer is that call's result, and no message. */
    parent: z.strictObject({ run: z.string(), call: z.string() }).optional(),
    /** What it is to do where no message says so. A model wrote it: it is data, and instructs nobody. */
    task: z
      .strictObject({
        text: z.string(),
        /** What is known so far. */
        context: z.string().optional(),
        /** The only tools that it has; absent: those of the run that asked for it. */
        tools: z.array(z.string()).optional(),
      })
      .optional(),
    /** It does this task of a goal, for the so-manieth time. What it comes to is for the goal, and no message. */
    goal: z.strictObject({ goal: z.string(), task: z.string(), tries: count }).optional(),
    /** The run that had reached a limit, and with which it goes on because somebody pressed that. */
    continues: z.string().optional(),
  }),
  /** A person let work use more than it began with. */
  extended: z.strictObject({
    /** The run. */
    of: z.string(),
    /** Counts the extensions of it from 1. */
    number: count,
    /** The click or command that it follows. */
    post: z.string(),
    account: z.string(),
    person: z.string(),
    name: z.string(),
    /** How their identity and right were established. */
    basis: z.string(),
    more: moreBudget,
  }),
  /** What people saw above the messages that a run answers, read from the platform once, oldest first. It instructs nobody. */
  above: z.strictObject({
    run: z.string(),
    messages: z.array(seenMessage),
    /** The message up to which everything is known now: the next reading begins after it. Absent: reading failed. */
    upTo: z.string().optional(),
    /** An earlier reading ended there. */
    after: z.string().optional(),
    /** There are older messages that were left out. */
    older: z.boolean().optional(),
    /** Why not everything could be read, in words for people. */
    why: z.string().optional(),
    /** What is remembered of what the run is asked, and how often what was done then helped: to be verified. */
    remembered: z
      .strictObject({
        items: z.array(z.strictObject({ memory: z.string(), text: z.string() })),
        fixes: z.array(z.string()),
      })
      .optional(),
  }),
  assistant: z.strictObject({
    run: z.string(),
    /** Counts the run's model calls from 1. */
    step: count,
    /** The last entry that was folded when the request was made; what came later it has not seen. */
    seen: count,
    /**
     * Accounts whose lines the request told as instructions; everybody else's it told as quoted. Versions before this one
     * told everybody's as instructions, and have neither this nor `again`.
     */
    instructs: z.array(z.string()).optional(),
    /** Messages that a side run answers: the request held none of them. */
    elsewhere: z.array(z.string()).optional(),
    /** A side run's: messages that had joined it since its last request. */
    joined: z.array(z.string()).optional(),
    /** The request told the thread in brief, because no full member of it instructs the run. */
    brief: z.boolean().optional(),
    content: z.array(assistantBlock),
    stop: stopReason,
    usage,
    /** Where it is not the one that the run began with. */
    model: z.string().optional(),
    /** The first half of a SHA-256, hexadecimal, over the request, files by their ids: `replay` shows it again. */
    request: hash,
    ms: count,
    /** `instructs` is as in the run's turn before; in its first one, the run's principals. */
    again: z.literal(true).optional(),
    /** Where `model` is another than the run's: the code of the error that kept that from answering. */
    instead: z.string().optional(),
    /** What it cost: millionths of a US dollar; absent where the model's price was not known. */
    microdollars: count.optional(),
  }),
  /** A word of the program's own to the model, such as why its answer did not pass. */
  gate: z.strictObject({
    run: z.string(),
    gate: z.enum(GATE_WORDS),
    text: z.string(),
    /** From now on the run may only answer. */
    toolsOff: z.boolean().optional(),
  }),
  /** A revision of a model's plan: the whole of it. */
  plan: z.strictObject({
    run: z.string(),
    /** None: it needs no plan, or there could be none. */
    tasks: z.array(planTask),
    /** It was made before the run's first turn, by so many requests. */
    thought: z
      .strictObject({
        strategy: z.enum(PLANNING),
        requests: count,
        usage,
        ms: count,
        /** As of a turn. */
        microdollars: count.optional(),
      })
      .optional(),
  }),
  /** What models are told from now on in place of entries `from` to `to`, which stay in the journal. */
  condensed: z.strictObject({
    run: z.string(),
    from: count,
    to: count,
    /** The model's summary, or the program's where it gave none. Without it nothing is replaced. */
    text: z.string().optional(),
    /** Why the model gave no summary. */
    why: z.string().optional(),
    /** About so many tokens what is kept word for word beside the summary may have. */
    room: count,
    /** Results in what stays are cut to so many bytes, since it would not fit otherwise. */
    cut: count.optional(),
    /** About what the run's request had, and has then: tokens. */
    before: count,
    after: count,
    usage,
    /** Where it is not the one that the run began with. */
    model: z.string().optional(),
    ms: count,
    /** As of a turn. */
    microdollars: count.optional(),
  }),
  /** The model refused a request as longer than it takes. */
  overflow: z.strictObject({
    run: z.string(),
    /** About what the request had: tokens. */
    tokens: count,
    why: z.string(),
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
    digest: hash,
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
    /** What people called those whom `approvers` names when it was proposed, by account or group. Only shown. */
    names: z.record(z.string(), z.string()).optional(),
    /** The click that edited the previous revision into this one. */
    click: z.string().optional(),
    /** What has to be typed to approve it. */
    confirm: z.string().optional(),
    /** Policy lets some people run it without the others' approvals. */
    breakable: z.literal(true).optional(),
    /** What its approval may grant besides: the same again, so often and for so long. */
    offer: z
      .strictObject({
        /** SHA-256 over the RFC 8785 form of tool, machine, asked arguments and schema, hexadecimal. */
        same: hash,
        uses: count,
        minutes: count,
        /** The same over the action's digest and the fields above: what is approved with the grant. */
        digest: hash,
      })
      .optional(),
    /**
     * Accounts and groups that are mentioned if it still waits then, ms since 1970, and the service of a pager whose people are
     * paged. They may approve it only as `approvers` says.
     */
    escalation: z
      .strictObject({
        to: z.array(z.string()),
        at: count,
        page: z.strictObject({ service: z.string(), instance: z.string().optional() }).optional(),
      })
      .optional(),
    /** The action whose grant covers it. */
    granted: z.string().optional(),
    /** A helper's: the calls that asked for it, each with the run that it began, the outermost first. */
    path: z.array(z.string()).optional(),
  }),
  vote: z.strictObject({
    action: z.string(),
    revision: count,
    click: z.string(),
    account: z.string(),
    person: z.string(),
    name: z.string(),
    handle: z.string().optional(),
    approve: z.boolean(),
    /** The approval grants the same again, as the proposal offers. */
    grants: z.literal(true).optional(),
    /** It alone carries the action, also in a freeze; `reason` says why. */
    breaksGlass: z.literal(true).optional(),
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
    /** As `action_proposed` has it. A read that nobody approved has none: its turn and `args` say what it is. */
    digest: hash.optional(),
    /** As `action_proposed` has it. */
    host: z.string().optional(),
    /** What is executed when it is not an action's displayed arguments: the checked and pinned ones. */
    args: z.record(z.string(), json).optional(),
    action: z.string().optional(),
    revision: count.optional(),
    /** The action by whose grant it runs: one use of it. */
    grant: z.string().optional(),
    /** What it does, as people say it: `Checking http://web-1/health`. An action's card says it. */
    doing: z.string().optional(),
  }),
  tool_finished: z.strictObject({
    run: z.string(),
    call: z.string(),
    outcome,
    text: z.string(),
    ms: count.optional(),
    artifacts: z.array(artifact).optional(),
    /** Images that go with the text. */
    files: z.array(resultImage).optional(),
    findings: findings.optional(),
    gaps: gaps.optional(),
    /** The call that takes it back exactly. */
    undo: z.strictObject({ tool: z.string(), args: z.record(z.string(), json) }).optional(),
    /** So long afterwards it is looked at again whether what it was for has come about. */
    verifyAfterMs: count.optional(),
    /** That it was done is to be marked where the configuration says. */
    marks: z.boolean().optional(),
    /** Its run only reads and this would not: what it was asked for belongs to the first run, after the card. */
    handsOver: z.boolean().optional(),
    /** The click or message that answered the question which this call was. */
    answers: z.string().optional(),
    /** Concluded by a later worker: what the tool's verifier saw. */
    recovered: z.boolean().optional(),
    /** The tool of a read that nobody approved and that was short: it has no `tool_started`, and this says what that would. */
    tool: z.string().optional(),
    host: z.string().optional(),
    args: z.record(z.string(), json).optional(),
    doing: z.string().optional(),
    /** So long afterwards what was found broken before it is looked at again, by the same calls. */
    looksAfterMs: count.optional(),
    /** Of what was blocked: a rule of this part says no. */
    deniedBy: deniedBy.optional(),
    /** The gate that refused it, or answered it in a tool's place. */
    gate: z.enum(GATE_WORDS).optional(),
    /** Of a write: what its tool saw when it read back, right after it. */
    readBack: z.enum(["done", "not done", "unknown"]).optional(),
  }),
  /** The grant that the action's approval gave ends before its time. */
  grant_revoked: z.strictObject({
    action: z.string(),
    click: z.string(),
    person: z.string(),
    name: z.string(),
    basis: z.string(),
  }),
  settled: z.strictObject({
    call: z.string(),
    click: z.string(),
    person: z.string(),
    name: z.string(),
    happened: z.boolean(),
    reason: z.string().optional(),
  }),
  /** In `alerts:<channel>`: the group's thread; it never gets another. */
  alert_thread: z.strictObject({ group: z.string(), thread: z.string() }),
  /** In `alerts:<channel>`: the thread was told how the group stood after so many entries. */
  alert_told: z.strictObject({
    group: z.string(),
    upTo: count,
    /** It was told that it flaps. */
    flaps: z.literal(true).optional(),
  }),
  /** From here on the thread is shown there too: a place by the key that its own journal would have. */
  view_added: z.strictObject({
    view: z.string(),
    /** The channel of that place (`Adapter.channel`). */
    channel: z.string().optional(),
  }),
  /** It is shown there no more. */
  view_removed: z.strictObject({ view: z.string() }),
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
    /** The accounts and groups that are notified of it. */
    mentions: z.array(z.string()).optional(),
    /** The call that waits for another machine, which was not heard of for a while. */
    waitsFor: z.string().optional(),
    /** What was seen when the call was looked at again. */
    verifies: z
      .strictObject({ call: z.string(), verdict: z.enum(["done", "not done", "unknown"]) })
      .optional(),
    /** The message that this word answers in place of the model, which is not told of it. */
    instead: z.string().optional(),
    /** The thread looks like an incident: what would be recorded (`thread/offer-notes.ts`). */
    offers: z
      .strictObject({
        title: z.string(),
        startedAt: count,
        services: z.array(z.string()).optional(),
      })
      .optional(),
    /** Who said to that offer that it is none, as they are called. */
    declines: z.string().optional(),
  }),
  delivered: z.strictObject({
    view: z.string(),
    /** The id of the entry that is now shown. */
    entry: z.string(),
    /** `started`: a message is being streamed, a successor edits it. `final` alone ends what the view is owed. */
    stage: z.enum(["started", "final"]),
    ref: z.string(),
    /**
     * The platform refused it there for good: who was shown it instead, and why. `file`: a message there says that it could
     * not be shown, and a file has it.
     */
    instead: z
      .strictObject({ to: z.enum(["asker", "ops", "nobody", "file"]), why: z.string() })
      .optional(),
  }),
  run_ended: z.strictObject({
    run: z.string(),
    /** `wrapped_up`: a limit was reached; it can be gone on with. `silent`: nobody had asked the bot, and nobody sees anything. */
    status: z.enum(["completed", "failed", "cancelled", "wrapped_up", "silent"]),
    /** The answer; without it the run's results are the answer. */
    text: z.string().optional(),
    /** The code of the error that a model's run failed by. */
    error: z.string().optional(),
    /** Another run answers in its place: nothing of this one is shown. */
    instead: z.string().optional(),
    /** What was seen when what a call was to mend was looked at again. */
    verifies: z
      .strictObject({ call: z.string(), verdict: z.enum(["done", "not done", "unknown"]) })
      .optional(),
  }),
  ...goalAppends,
};
