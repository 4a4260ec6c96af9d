import { NEAR_LIMIT } from "../../core/budget.ts";
import { GOAL_END_WORDS, GOAL_MARKS, type ShownGoalTask, type UsedOf } from "../../core/goal.ts";
import { formatUtc, showDuration } from "../../core/instant.ts";
import { dollarText, microdollarsOfCents } from "../../core/money.ts";
import { counted, oneLine } from "../../core/text.ts";
import type { GoalCard } from "../shown.ts";
import { type Button, extendButton, goalButton, stopGoalButton } from "./buttons.ts";
import type { RenderedCard, Tone } from "./card.ts";
import { clip, summaryOf } from "./clip.ts";
import { inert, type Inline, type RenderedMessage } from "./rich-text.ts";

/** Slack's header, in characters. */
const MAX_TITLE = 150;
/** What each part weighs at most (`weightOf`): together a card with them fits a message of any platform. */
const MAX = { title: 280, now: 160, why: 500, task: 110, reason: 90, name: 64 } as const;
/** Around the task that is worked on. */
const MAX_TASKS = 14;

/** A goal, for everybody in its thread: what is wanted, how far it is, what it may still use. */
export function renderGoal(card: GoalCard): RenderedCard {
  return {
    tone: TONES[card.status],
    title: clip(oneLine(card.text), MAX.title).slice(0, MAX_TITLE),
    standing: standingOf(card),
    command: undefined,
    notes: card.why === undefined ? [] : [clip(sentenceOf(card.why), MAX.why)],
    facts: factsOf(card),
    timeline: tasksOf(card),
    about: aboutOf(card),
    mentions: [],
    exact: undefined,
    buttons: buttonsOf(card),
    more: [],
    summary: summaryOf(goalLine(card)),
  };
}

/** The same for a surface without cards. */
export function goalMessage(card: GoalCard): RenderedMessage {
  const { title, standing, notes, facts, timeline = [], about, summary } = renderGoal(card);
  return {
    blocks: [
      { kind: "heading", inlines: [{ text: `${card.goal} · ${standing}` }] },
      { kind: "text", inlines: inert(title) },
      ...(notes.length === 0 ? [] : [{ kind: "text" as const, inlines: inert(notes.join("\n")) }]),
      { kind: "fields", rows: facts.map(({ label, text }) => ({ label, inlines: inert(text) })) },
      ...(timeline.length === 0 ? [] : [{ kind: "text" as const, inlines: [...timeline] }]),
      { kind: "small", inlines: [...about] },
    ],
    buttons: [],
    summary,
  };
}

/** `g1 · 2 of 5 tasks done · reading the logs of web-2`; its text stands above where it is told so. */
export function goalLine(card: GoalCard): string {
  const now = nowOf(card);
  const what = card.why === undefined ? now : sentenceOf(card.why);
  return `${card.goal} · ${standingOf(card)}${what === undefined ? `: ${card.text}` : ` · ${what}`}`;
}

/** What is done and what is left stands in the list of tasks. */
function sentenceOf(why: string): string {
  return why.split("\n\n", 1)[0] ?? "";
}

const TONES: Readonly<Record<GoalCard["status"], Tone>> = {
  running: "calm",
  paused: "caution",
  done: "good",
  partly: "caution",
  failed: "bad",
  stopped: "calm",
};

function standingOf(card: GoalCard): string {
  const { status, startedAt, endedAt = startedAt, waits, tasks } = card;
  if (status !== "running" && status !== "paused")
    return `${GOAL_END_WORDS[status]} after ${showDuration(Math.max(0, endedAt - startedAt))}`;
  const done = tasks.filter((task) => task.status === "done").length;
  // What was split is done part by part.
  const all = tasks.filter((task) => task.status !== "split").length;
  const far = all === 0 ? "" : ` · ${done} of ${counted(all, "task")} done`;
  if (status === "paused") return `paused${far}`;
  return `${waits ? "waits for your decision" : "at work"}${far}`;
}

function nowOf({ now, tasks }: GoalCard): string | undefined {
  if (now === undefined) return undefined;
  if (now.doing === "planning") return "planning";
  const text = oneLine(tasks.find(({ task }) => task === now.task)?.text ?? "");
  return clip(now.doing === "judging" ? `judging: ${text}` : text, MAX.now);
}

function factsOf(card: GoalCard): RenderedCard["facts"] {
  const { steps, minutes, tokens, cents } = card.budget;
  const now = nowOf(card);
  const clock = (of: number) => showDuration(Math.round(of * 60_000));
  const money = cents === undefined ? unlimited(card.microdollars) : sharesOf(cents, dollars);
  return [
    ...(now === undefined ? [] : [{ label: "Now", text: now }]),
    { label: "Steps", text: sharesOf(steps, String) },
    { label: "Time", text: sharesOf(minutes, clock) },
    { label: "Tokens", text: sharesOf(tokens, compact) },
    ...(money === undefined ? [] : [{ label: "Cost", text: money }]),
  ];
}

function sharesOf({ used, of }: UsedOf, words: (count: number) => string): string {
  return `${words(used)} of ${words(of)}`;
}

/** `45K`, `1.2M` */
function compact(count: number): string {
  return Math.round(count).toLocaleString("en", { notation: "compact" });
}

function dollars(cents: number): string {
  return dollarText(microdollarsOfCents(cents));
}

function unlimited(microdollars: number): string | undefined {
  return microdollars === 0 ? undefined : dollarText(microdollars);
}

type TaskLine = ShownGoalTask | { more: number };

/** Tasks around the one that is worked on, and how many stand before and after them. */
function linesOf(tasks: readonly ShownGoalTask[]): TaskLine[] {
  if (tasks.length <= MAX_TASKS) return [...tasks];
  const room = MAX_TASKS - 2;
  const doing = tasks.findIndex(({ status }) => status === "running" || status === "pending");
  const at = doing < 0 ? tasks.length : doing;
  const from = Math.max(0, Math.min(at - Math.floor(room / 2), tasks.length - room));
  const after = tasks.length - from - room;
  return [
    ...(from > 0 ? [{ more: from }] : []),
    ...tasks.slice(from, from + room),
    ...(after > 0 ? [{ more: after }] : []),
  ];
}

/** Why it is not simply done: tried again, split, given up. */
function reasonOf({ status, tries, reason }: ShownGoalTask): string {
  const again = tries > 1 && status === "running" ? ` (try ${tries})` : "";
  const isTold = status !== "done" && status !== "split" && reason !== undefined && reason !== "";
  return `${again}${isTold ? ` – ${clip(oneLine(reason), MAX.reason)}` : ""}`;
}

function inlinesOf(line: TaskLine): Inline[] {
  if ("more" in line) return [{ text: `… ${line.more} more` }];
  const { status, depth } = line;
  const words: Inline = { text: clip(oneLine(line.text), MAX.task) };
  if (status === "running") words.strong = true;
  if (status === "abandoned") words.strike = true;
  const reason = reasonOf(line);
  return [
    { text: `${"\u2003".repeat(depth)}${GOAL_MARKS[status]} ` },
    words,
    ...(reason === "" ? [] : [{ text: reason }]),
  ];
}

function tasksOf({ tasks }: GoalCard): Inline[] {
  return linesOf(tasks).flatMap((line, i) => [
    ...(i === 0 ? [] : [{ text: "\n" }]),
    ...inlinesOf(line),
  ]);
}

function aboutOf({ goal, by, schedule, startedAt, endedAt }: GoalCard): Inline[] {
  const who = by === undefined ? (schedule === undefined ? "" : " · by schedule") : ` · for ${by}`;
  const name = `${goal}${clip(who, MAX.name)} · `;
  return endedAt === undefined
    ? [{ text: `${name}since ` }, timeOf(startedAt)]
    : [{ text: name }, timeOf(startedAt), { text: " to " }, timeOf(endedAt)];
}

function timeOf(at: number): Inline {
  return { text: formatUtc(at), at };
}

function isNear({ budget }: GoalCard): boolean {
  return Object.values(budget).some(
    (share) => share !== undefined && share.of > 0 && share.used / share.of >= NEAR_LIMIT,
  );
}

function buttonsOf(card: GoalCard): Button[] {
  const { goal, status, pause, extension } = card;
  if (status !== "running" && status !== "paused") return [];
  const extend =
    extension !== undefined && (pause === "budget" || isNear(card))
      ? [extendButton(goal, extension.number, extension.estimate)]
      : [];
  const turn =
    status === "running"
      ? [goalButton("pause", goal)]
      : // Resumed without more of what is used up it would pause at once.
        pause === "budget"
        ? []
        : [goalButton("resume", goal)];
  return [...turn, ...extend, stopGoalButton(goal)];
}

/** What is typed where there are no buttons. */
export function goalTyped(card: GoalCard): string {
  const { status, pause } = card;
  if (status !== "running" && status !== "paused") return card.goal;
  const extend = pause === "budget" || isNear(card) ? ["goal extend lets it use more"] : [];
  const turn = status === "running" ? ["goal pause"] : pause === "budget" ? [] : ["goal resume"];
  return [...turn, ...extend, "goal stop", "goal status"].join(" · ");
}
