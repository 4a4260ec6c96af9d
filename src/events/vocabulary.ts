import type { AppendKind } from "../core/entry.ts";
import type { MemoryEvent } from "./event.ts";

/**
 * The words of the log: its lines' fields, and the names that stand in the field `event`. `docs/operate.md` is written from
 * these, and a test holds all lines of the program to them.
 */

type MemoryName = `memory_${MemoryEvent["did"]}`;

/** What a worker wrote into a journal, with the name of the entry's kind, and what happens without an entry. */
type EventName =
  | AppendKind
  | MemoryName
  | "model_asked"
  | "tool_began"
  | "tool_crashed"
  | "circuit_opened";

export const LOG_EVENTS: Readonly<Record<EventName, string>> = {
  run_started: "A run begins, of a model, of a command or of checks.",
  above: "What stands above a question, and what memory knows of it, was read for a run.",
  model_asked: "A model is asked for its next turn.",
  assistant: "A model wrote a turn.",
  gate: "A gate told a model to do otherwise.",
  plan: "A run's plan was made or changed.",
  condensed: "The work so far was condensed.",
  overflow: "A request was too long for its model.",
  tool_began: "A call is made now.",
  tool_started: "A call that may change something begins; written before it does.",
  tool_finished: "A call ended.",
  tool_crashed: "A tool's code failed: a fault in it.",
  circuit_opened: "A tool only fails and is left alone.",
  action_proposed: "A card asks people for approval.",
  vote: "Somebody approved or denied.",
  action_closed: "A card ended without its call: denied, expired, cancelled, void.",
  settled: "Somebody said what came of a call whose outcome was unknown.",
  grant_revoked: "The same may no longer run without asking.",
  notice: "A word of the program's is owed to the thread or to one person.",
  delivered: "Something was shown, or could not be.",
  extended: "A person let work use more than it began with.",
  run_ended: "A run ended.",
  view_added: "A thread is shown in one more place.",
  view_removed: "A thread is no longer shown there.",
  alert_thread: "A group of alerts got its thread.",
  alert_told: "A thread was told how its alerts stand.",
  goal_started: "A goal begins.",
  goal_planned: "A goal's next tasks were planned.",
  goal_judged: "A goal's task was judged.",
  goal_state: "A goal was paused, resumed, extended or ended.",
  memory_remembered: "A note or a thread's record was kept.",
  memory_merged: "What a thread found was counted on a record that was there.",
  memory_recalled: "Memory was searched.",
  memory_forgotten: "A note or a record was taken away.",
  memory_failed: "Memory could not do something.",
};

/** Times are milliseconds, sizes bytes, what models read and write tokens: a number's name or its line here says which. */
export const LOG_FIELDS = {
  event: "the name of what happened",
  platform: "`slack`, `discord` or `terminal`",
  transport: "the same, of a connection",
  key: "the journal: a thread, as `trace` takes it, or another one",
  id: "the entry, or the note or record",
  run: "the run, such as `r1`",
  goal: "the goal, such as `g1`",
  call: "the call, such as `r1.t3`",
  action: "the action, such as `a1`; of a vote or a card",
  tool: "the tool's name",
  step: "a model's turn, counted from 1 in its run; of alerts, what is done about them",
  status: "how a run ended, or how a goal stands",
  outcome: "how a call or a card ended",
  gate: "the gate",
  ms: "how long it took, ms",
  model: "the model",
  inputTokens: "tokens that a model read, without those from its cache",
  outputTokens: "tokens that a model wrote",
  cachedTokens: "tokens that a model read from its cache",
  err: "the error: `type`, `code` of [our table](errors.md), `message`; of what nobody foresaw `stack`",
  code: "an error's code, or a connection's closing code",
  times: "how many lines this one stands for, or how often it happened",
  longestMs: "the longest delay, ms",
  atWork: "what the process had in hand",
  waitMs: "how long it is left alone, ms",
  failures: "failures in a row",
  attempts: "tries so far",
  subscriber: "what watches events: `log`, `metrics`, `traces`",
  what: "what kind of thing it was: a note or a thread's record",
  thread: "the thread that it came from",
  found: "how many records were found",
  store: "the store",
  counter: "the counter of a budget",
  view: "the place in which a thread is shown",
  entry: "the entry that was to be shown, or the kind that is not known",
  delivery: "the entry that was shown",
  why: "the reason in words",
  about: "whom or what it concerns",
  source: "the system that alerts come from",
  alerts: "how many alerts, or their message",
  first: "the first one's name",
  incident: "the incident whose message it is",
  topic: "Amazon's topic",
  post: "the message that was read",
  message: "the message",
  channel: "the channel",
  root: "the first message of a thread",
  left: "how many are left out",
  lost: "how many were lost",
  bot: "the bot's account",
  kind: "the kind of channel",
  team: "Slack's workspace",
  enterprise: "Slack's organisation",
  name: "the name of a workspace or server",
  guild: "Discord's server",
  served: "the server that is served",
  servers: "Discord's servers",
  shard: "Discord's shard",
  commands: "Discord's commands",
} as const;
