import * as z from "zod";
import { actor, count, decider, file, outcome } from "./entry-fields.ts";
import { moreBudget } from "./budget.ts";
import { budget } from "./budget.ts";
import { hash, json } from "./tuple.ts";
import { severity, incidentStatus, incidentChange } from "./incident-fields.ts";

export const command = z.discriminatedUnion("name", [
  z.strictObject({
    name: z.literal("run"),
    tool: z.string(),
    args: z.record(z.string(), z.string()),
  }),
  z.strictObject({ name: z.literal("help") }),
  z.strictObject({ name: z.literal("status") }),
  /** With a system: its tools alone. */
  z.strictObject({ name: z.literal("tools"), system: z.string().optional() }),
  z.strictObject({ name: z.literal("cost") }),
  z.strictObject({ name: z.literal("approvals") }),
  z.strictObject({ name: z.literal("grants") }),
  /** With a model: the one that this thread's next runs use. */
  z.strictObject({ name: z.literal("model"), model: z.string().optional() }),
  z.strictObject({ name: z.literal("quiet") }),
  z.strictObject({ name: z.literal("listen") }),
  /** What follows in the place belongs to another thread's journal. */
  z.strictObject({ name: z.literal("new") }),
  /** Somebody put 📌 on a message for an incident's timeline, or, `off`, took it away; never typed. */
  z.strictObject({
    name: z.literal("pin"),
    incident: z.string(),
    /** As a post of it is named. */
    message: z.string(),
    off: z.literal(true).optional(),
  }),
  z.strictObject({ name: z.literal("invalid"), problem: z.string() }),
  /** Long work that goes on without people: with a text it begins, else it is told how it stands. */
  z.strictObject({
    name: z.literal("goal"),
    text: z.string().optional(),
    /** The configuration's schedule that wants it, and what it may use; never typed. */
    schedule: z.strictObject({ name: z.string(), budget }).optional(),
  }),
]);

/**
 * What a person says to a card. `settle` is their word on an unknown outcome; `cancel` withdraws an action, by who asked
 * for it; `answer` answers a question of the model's, which its call names; `undo` asks for what is done to be taken back;
 * `open` and `editing` decide nothing.
 */
export const choice = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("approve"),
    /** What they typed to confirm it, where its card asks for that. */
    typed: z.string().optional(),
    /** Yes to the same again, as its card offers. */
    grants: z.literal(true).optional(),
  }),
  /** Break-glass: it is to be done although a freeze holds it or others have not approved it. */
  z.strictObject({
    kind: z.literal("break"),
    reason: z.string(),
    typed: z.string().optional(),
  }),
  /** Takes back the grant that the action's approval gave. */
  z.strictObject({ kind: z.literal("revoke") }),
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
  z.strictObject({ kind: z.literal("undo") }),
  /** Nobody decided in time: the same is asked once more, as an action of its own. */
  z.strictObject({ kind: z.literal("repeat") }),
  /** All of a long action was shown to this person: only then can they approve it. */
  z.strictObject({ kind: z.literal("open") }),
  /** The form in which it is edited was opened. */
  z.strictObject({ kind: z.literal("editing") }),
  /** Whether the bot speaks in this thread only when it is mentioned. */
  z.strictObject({ kind: z.literal("quiet") }),
  z.strictObject({ kind: z.literal("listen") }),
  /** To the offer to record the thread as an incident; `opens`: yes. */
  z.strictObject({ kind: z.literal("incident"), opens: z.boolean() }),
  /** About a goal, which `action` names, or `goal`: the one of the thread. */
  z.strictObject({ kind: z.literal("goal"), do: z.enum(["pause", "resume"]) }),
  /**
   * What `action` names so, a goal or a run near a limit, may use more; without `by` as much as its button says. Of a run `revision`
   * is the number of the extension, 0: whichever is next.
   */
  z.strictObject({ kind: z.literal("extend"), by: moreBudget.optional() }),
  /** To a run that ended at a limit: another goes on from there. */
  z.strictObject({ kind: z.literal("continue") }),
]);

/** A file that could not be read: its size where the platform told it, and why, in words for people. */
export const unreadFile = z.strictObject({
  name: z.string(),
  bytes: count.optional(),
  why: z.string(),
});

/**
 * Whom a message is to, as far as its platform says. `bot`: it mentions the bot or replies to a message of the bot's.
 * `direct`: nobody else reads it. `others`: whom else it names, and where; `reply`: it replies to a message of theirs.
 */
export const address = z.strictObject({
  bot: z.literal(true).optional(),
  direct: z.literal(true).optional(),
  others: z
    .array(z.strictObject({ account: z.string(), at: z.enum(["start", "within", "end", "reply"]) }))
    .optional(),
});

/** What its words alone say of whether anybody has to answer (`thread/tone.ts`). */
const tone = z.enum(["chatter", "thanks", "ack", "consent", "request"]);

/** One alert, in its system's words (`alerts/alert.ts`). */
export const alert = z.strictObject({
  fingerprint: z.string(),
  status: z.enum(["firing", "acknowledged", "resolved"]),
  name: z.string(),
  labels: z.record(z.string(), z.string()),
  summary: z.string().optional(),
  description: z.string().optional(),
  startsAt: count.optional(),
  endsAt: count.optional(),
  links: z.array(z.strictObject({ label: z.string(), url: z.string() })).optional(),
});

/** What was done about a cause, as its card had it. `helped`: whether it was seen afterwards that it did. */
const fix = z.strictObject({
  tool: z.string(),
  title: z.string(),
  approved: z.boolean(),
  result: z.enum(["done", "failed", "unknown", "undone"]),
  helped: z.boolean().optional(),
  /** The action of the thread that it was, such as `a1`. */
  action: z.string().optional(),
});

/** What the outside world says, each with a version in `entry-codec.ts`. */
export const posts = {
  message: z.strictObject({
    actor,
    /** A bot, app or webhook wrote it: its words are output of a system, never an instruction. */
    app: z.literal(true).optional(),
    text: z.string(),
    files: z.array(file).optional(),
    unread: z.array(unreadFile).optional(),
    /** Bytes of the whole text where it is long: `text` is its beginning and its end, the first of `files` all of it. */
    wholeBytes: count.optional(),
    /** Without it, it is to the bot, as where only one person writes. */
    address: address.optional(),
    tone: tone.optional(),
  }),
  command: z.strictObject({ actor, text: z.string(), command, address: address.optional() }),
  /** The author changed a message or typed command: `of` is its post. An edit never approves or denies. */
  edited: z.strictObject({
    actor,
    of: z.string(),
    text: z.string(),
    /** What it is now, where it is one. */
    command: command.optional(),
    /** To whom it is now, and its tone; as of a message. */
    address: address.optional(),
    tone: tone.optional(),
  }),
  /** A message or typed command was taken away; nobody says by whom. Its text is shown to nobody any more (`withoutRemoved`). */
  removed: z.strictObject({ of: z.string() }),
  click: z.strictObject({
    actor: decider,
    action: z.string(),
    revision: count,
    choice,
    via: z.enum(["button", "typed"]),
    /** How the digest of the action that was on the pressed card begins. */
    digest: z.string().min(12).optional(),
  }),
  /** `run`: that one alone, and its cards; `goal`: that goal with the run that works for it; without either everything. */
  stop: z.strictObject({ actor, run: z.string().optional(), goal: z.string().optional() }),
  /** Says that a time has come: the expiry of an action, or that a call is to be looked at again (`verifyAfterMs`, `looksAfterMs`). */
  timer: z.strictObject({
    action: z.string().optional(),
    call: z.string().optional(),
    /** The action whose grant is over. */
    grant: z.string().optional(),
    /** The action whose edit form is no longer shown as open. */
    edited: z.string().optional(),
    /** The action's call after which what was broken is to be looked at again. */
    looks: z.string().optional(),
    /** The call whose silence has ended. */
    silence: z.string().optional(),
  }),
  /** A fenced worker's word on how a call of its own really ended. */
  signal: z.strictObject({ call: z.string(), outcome, text: z.string() }),
  /** In `team:<platform>`: what is served there from the first start on, such as `discord:1122`; the first one counts. */
  tenant: z.strictObject({ tenant: z.string() }),
  /** In `team:mcp`: from now on the tool of an MCP server is used in this form and no other; the newest one counts. */
  tool_form: z.strictObject({
    /** Who accepted it; without it the program did, when it first saw a tool that the configuration names. */
    by: actor.optional(),
    server: z.string(),
    /** As the server calls it. */
    tool: z.string(),
    /** SHA-256, hexadecimal, over the canonical form (RFC 8785) of `form`. */
    hash,
    /** The tool as the server listed it. */
    form: z.record(z.string(), json),
  }),
  /** In `team:freeze`: writes on an instance, a host or a system, or on everything, wait; the newest of a name counts. */
  freeze: z.strictObject({
    by: actor,
    what: z.string(),
    /** Ms since 1970; absent: it is lifted. */
    until: count.optional(),
    because: z.string().optional(),
    /** The journal key of the thread it was decided in. */
    thread: z.string(),
  }),
  /** In `team:feedback`: whether an answer helped; the newest of a person and an answer counts. It instructs nobody. */
  feedback: z.strictObject({
    actor,
    /** The journal key of the answer's thread, and the run that gave it. */
    thread: z.string(),
    run: z.string(),
    /** That thread's address for people. */
    link: z.string().optional(),
    /** The private place that it is in (`Adapter.audience`); without it everyone may read it. */
    audience: z.string().optional(),
    helpful: z.boolean(),
    reason: z.string().optional(),
  }),
  /**
   * In `memory:<tenant>:<month>`: what is remembered. It instructs nobody and proves nothing. Of one name the newest counts, and
   * what was forgotten stays forgotten.
   */
  memory: z.strictObject({
    /** Its name, such as `m-k3qa7xw2`. */
    memory: z.string(),
    /** The journal key of the thread it comes from. */
    thread: z.string(),
    /** That thread's address for people. */
    link: z.string().optional(),
    /** The private place that it belongs to (`Adapter.audience`); without it everyone of the tenant may read it. */
    audience: z.string().optional(),
    what: z.discriminatedUnion("kind", [
      z.strictObject({
        kind: z.literal("note"),
        by: actor,
        text: z.string(),
        /** An agent wrote it, or a model that had read text from outside. */
        outside: z.literal(true).optional(),
      }),
      /** What a thread looked into, and what came of it. */
      z.strictObject({
        kind: z.literal("task"),
        question: z.string(),
        /** Ms since 1970. */
        begun: count,
        cause: z.string().optional(),
        certainty: z.enum(["confirmed", "likely"]).optional(),
        /** The tools whose results it rests on. */
        looked: z.array(z.string()),
        fixes: z.array(fix),
        outcome: z.enum(["solved", "explained", "open"]),
      }),
      z.strictObject({ kind: z.literal("forgotten"), by: actor }),
      /** `thread` found what this record says already: it is counted there, and has no record of its own. The newest of a thread counts. */
      z.strictObject({
        kind: z.literal("again"),
        /** Ms since 1970. */
        begun: count,
        certainty: z.enum(["confirmed", "likely"]).optional(),
        fixes: z.array(fix),
        outcome: z.enum(["solved", "explained", "open"]),
        /** It turned out to be something else: it counts no more. */
        over: z.literal(true).optional(),
      }),
    ]),
  }),
  /** In `team:secret:<name>`: what is kept encrypted under that name; the newest one counts. */
  secret: z.strictObject({
    /** The id of the key that it was encrypted with. */
    key: z.string(),
    /** Initialization vector, tag and ciphertext of AES-256-GCM, base64url. */
    data: z.string(),
  }),
  /**
   * In `mirror:<place>`: the place shows the thread of that journal, and what is said there belongs to it. The first one counts;
   * with `over` it shows it no more.
   */
  mirror: z.strictObject({ of: z.string(), over: z.literal(true).optional() }),
  /** In the journal that the place would have itself: it is that thread's view. With `over` it was, and says where it goes on. */
  moved: z.strictObject({
    to: z.string(),
    /** For people: `Slack` or an address. */
    where: z.string(),
    over: z.literal(true).optional(),
  }),
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
    change: incidentChange,
    /**
     * It was taken over from elsewhere, where all of this was said before, the oldest first; `change` says nothing then. Only what
     * opens an incident has it.
     */
    imported: z
      .array(
        z.strictObject({
          at: count,
          actor,
          thread: z.string(),
          link: z.string().optional(),
          outside: z.boolean().optional(),
          change: incidentChange,
        }),
      )
      .optional(),
  }),
  /** In `alerts:<channel>`: what a monitoring system said at once, of alerts whose thread is in that channel. */
  alert: z.strictObject({
    /** Which system, as in `/alerts/<name>`, or `slack` and `discord` for what another bot wrote there. */
    source: z.string(),
    alerts: z.array(alert),
    /** So many more it had than it said. */
    left: count.optional(),
    /** How they are grouped (`alerts/groups.ts`). */
    rule: z.strictObject({ groupBy: z.array(z.string()), windowMs: count }),
    /** They are looked into at once. */
    triage: z.literal(true).optional(),
    /** Accounts or groups that the thread mentions. */
    mention: z.array(z.string()).optional(),
    /** The thread of the message that said it, where one did. */
    own: z.string().optional(),
    /** The maintenance window in which it came, and that window's end: until then it opens no thread. */
    quiet: z.strictObject({ window: z.string(), until: count }).optional(),
    /** The requests that said it, in the order of their alerts: each counts once, also where it stands in two entries. */
    requests: z.array(z.strictObject({ request: z.string(), alerts: count })).optional(),
    /** A model looks into each new group, as into a message of this bot or system. */
    investigate: z.strictObject({ account: z.string(), name: z.string() }).optional(),
  }),
  /** In the thread of a group of alerts: how they stand, for what shows them. The newest by `last` counts. */
  alert_state: z.strictObject({
    /** The journal that knows the group, and its name there. */
    of: z.string(),
    group: z.string(),
    /** So many entries that journal had. */
    last: count,
    name: z.string(),
    firing: count,
    acknowledged: count,
    resolved: count,
    /** How often they were told of, all together. */
    told: count,
    /** Names of alerts that joined it for their place, or as too much came at once. */
    folded: z.array(z.string()),
    startedAt: count,
    /** When the last of them was over. */
    overAt: count.optional(),
    triage: z.literal(true).optional(),
    mention: z.array(z.string()).optional(),
    /** Those that matter most: what fires, the most urgent first, of these the newest. */
    alerts: z.array(alert),
    /** How often an alert came back that had been over. */
    again: count.optional(),
    /** Which systems they are of, as `alert` names them. */
    sources: z.array(z.string()).optional(),
    /** It is over and back again and again: so often since then. */
    flaps: z.strictObject({ turns: count, since: count }).optional(),
  }),
  /** In `ops:<channel>`: what the operations channel is told. */
  alarm: z.strictObject({ text: z.string() }),
  /** In the thread where an incident was opened: how it stands, for its card. The newest by `last` counts. */
  incident_state: z.strictObject({
    incident: z.string(),
    /** So many entries its own journal had. */
    last: count,
    title: z.string(),
    severity: severity.optional(),
    services: z.array(z.string()),
    impact: z.string().optional(),
    status: incidentStatus,
    startedAt: count,
    resolvedAt: count.optional(),
    cause: z.string().optional(),
    /** Who opened it. */
    by: z.string(),
    /** The newest that was said of it, oldest first. */
    timeline: z.array(
      z.strictObject({
        at: count,
        by: z.string(),
        text: z.string(),
        /** The message that it quotes, for people. */
        link: z.string().optional(),
      }),
    ),
    mitigatedAt: count.optional(),
    certainty: z.enum(["suspected", "likely", "confirmed"]).optional(),
    roles: z.array(z.strictObject({ role: z.string(), name: z.string() })).optional(),
    /** Those that are open, and who does them by when. */
    followUps: z
      .array(
        z.strictObject({
          name: z.string(),
          text: z.string(),
          owner: z.string().optional(),
          due: z.string().optional(),
        }),
      )
      .optional(),
  }),
};
