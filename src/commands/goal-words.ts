import type { MoreBudget } from "../core/budget.ts";
import { MAX_GOAL_TEXT, THE_GOAL } from "../core/goal.ts";
import { misspelled } from "./near-miss.ts";
import { meantCommand } from "./phrases.ts";
import { invalid, proseOr, type Reading } from "./reading.ts";

const VERBS = ["status", "pause", "resume", "stop", "extend"] as const;
/** After one of those, they still mean it. */
const FILLER =
  /^(?:it|this|that|the goal|g\d+|here|(?:for|until|till)\b.*|(?:the |its )?budget)[.!]?$/is;
/** At the end of a command it changes nothing. */
export const POLITE = /[,\s]+(?:please|pls|plz|now|bitte|jetzt|thanks)[.!]*$/i;
/** What people type for one of those. */
const SYNONYMS: Readonly<Record<string, (typeof VERBS)[number]>> = {
  cancel: "stop",
  abort: "stop",
  end: "stop",
  kill: "stop",
  halt: "stop",
  stopp: "stop",
  continue: "resume",
  unpause: "resume",
  start: "resume",
  hold: "pause",
  wait: "pause",
  list: "status",
  show: "status",
  progress: "status",
};
/** "stop the goal", "extend the goal by 30m": a verb before it, and nothing else. */
const OF_GOAL =
  /^\/?(?:please\s+)?(pause|resume|stop|extend)\s+(?:the\s+|this\s+|that\s+|my\s+|our\s+)?goal(?:\s+(by\s+.+))?[.!]*$/i;

/** A verb and "the goal" after it, as people say it; undefined: it is something else. */
export function readGoalWords(text: string): Reading | undefined {
  const said = text.trim().replace(POLITE, "");
  const [, verb, by] = OF_GOAL.exec(said) ?? [];
  if (verb === undefined || (by !== undefined && !/^extend$/i.test(verb))) return undefined;
  return readGoal(`${verb}${by === undefined ? "" : ` ${by}`}`, true);
}
/** "The goal is to …", "goal of this deploy": what is said about a goal. */
const ABOUT =
  /^(?:is|was|are|were|of|for|here|has|had|should|would|will|can|and|or|in|this|that|we|setting|posts?|reached|met|achieved|done|missed)\b/i;

/** `goal` and what is wanted, or a verb alone; a question, and what is said about a goal, is prose. */
export function readGoal(rest: string, typed: boolean): Reading {
  const [, colon = "", said = ""] = /^(:\s*)?([^]*)$/.exec(rest) ?? [];
  const isMeant = typed || colon !== "";
  if (/^[?]*$/.test(said)) return { kind: "command", command: { name: "goal" } };
  const short = said.trim().replace(POLITE, "");
  const [, first = "", after = ""] = /^([a-z]+)[.!?]*(?:\s+([^]*))?$/i.exec(short) ?? [];
  const verb = VERBS.find((one) => one === first.toLowerCase());
  if (verb === "extend" && (after === "" || isAmount(after))) return readExtension(after);
  if (verb !== undefined && after === "") return byVerb(verb);
  if (verb !== undefined && FILLER.test(after)) return invalid(meantCommand("goal", verb));
  if (!/\s/.test(said)) {
    const word = said.toLowerCase().replace(/[.!?]+$/, "");
    if (word === "help") return proseOr(true, "goal");
    const meant = SYNONYMS[word] ?? misspelled(word, VERBS);
    return meant === undefined ? proseOr(isMeant, "goal") : invalid(meantCommand("goal", meant));
  }
  if (!isMeant && (ABOUT.test(said) || /\?\s*$/.test(said))) return { kind: "message" };
  if (said.length > MAX_GOAL_TEXT) {
    const long = said.length.toLocaleString("en");
    return invalid(
      `A goal takes at most ${MAX_GOAL_TEXT.toLocaleString("en")} characters, and yours has ${long}. Say what is wanted in a few sentences; I read the rest where you say it is.`,
    );
  }
  return { kind: "command", command: { name: "goal", text: said } };
}

function byVerb(verb: (typeof VERBS)[number]): Reading {
  if (verb === "status") return { kind: "command", command: { name: "goal" } };
  if (verb === "extend") return readExtension("");
  if (verb === "stop") return { kind: "stop", goal: THE_GOAL };
  const choice = { kind: "goal", do: verb } as const;
  return { kind: "click", action: THE_GOAL, revision: 1, choice };
}

const UNIT: Readonly<Record<string, (count: number) => MoreBudget>> = {
  m: (minutes) => ({ minutes }),
  h: (hours) => ({ minutes: hours * 60 }),
  d: (days) => ({ minutes: days * 1_440 }),
  step: (steps) => ({ steps }),
  request: (steps) => ({ steps }),
  token: (tokens) => ({ tokens }),
  cent: (cents) => ({ cents }),
  dollar: (dollars) => ({ cents: dollars * 100 }),
};

const UNITS: readonly (readonly [form: RegExp, unit: keyof typeof UNIT])[] = [
  [/^(?:m|min|mins|minutes?)$/, "m"],
  [/^(?:h|hours?)$/, "h"],
  [/^(?:d|days?)$/, "d"],
  [/^steps?$/, "step"],
  [/^requests?$/, "request"],
  [/^tokens?$/, "token"],
  [/^(?:ct|cents?)$/, "cent"],
  [/^(?:dollars?|usd)$/, "dollar"],
];

/** It was meant as an amount, whether it is one or not. */
function isAmount(text: string): boolean {
  return /^(?:by\s+)?[$]?\d/i.test(text) || /^by\s/i.test(text);
}

/** `by 30m`, `50 steps`, `$2 and 1h`, `200k tokens`; nothing: as much as the button says. */
function readExtension(text: string): Reading {
  const by = readAmount(text.replace(/^by\s+/i, ""));
  if (by === undefined) return proseOr(true, "goal", "goal extend");
  const isPlain = Object.keys(by).length === 0;
  const choice = { kind: "extend" as const, ...(!isPlain && { by }) };
  return { kind: "click", action: THE_GOAL, revision: 0, choice };
}

/** Undefined: it is none, or says one of them twice. */
function readAmount(text: string): MoreBudget | undefined {
  const parts = text
    .trim()
    .toLowerCase()
    .replaceAll(/(?<=\d),(?=\d{3}\b)/g, "")
    .replace(/\s+more\b|[.!]$/g, "")
    .split(/\s*(?:,|\+|\band\b)\s*/)
    .filter((part) => part !== "");
  let found: MoreBudget = {};
  for (const part of parts) {
    const one = readPart(part);
    const isNew = one !== undefined && Object.keys(one).every((key) => !Object.hasOwn(found, key));
    if (!isNew) return undefined;
    found = { ...found, ...one };
  }
  return found;
}

function readPart(part: string): MoreBudget | undefined {
  const [, dollars] =
    /^\$\s?(\d{1,6}(?:\.\d{1,2})?)$/.exec(part.replace(/^(.+?)\s?\$$/, "$$$1")) ?? [];
  if (dollars !== undefined) return positive({ cents: Math.round(Number(dollars) * 100) });
  const [, digits = "", thousands, word = ""] =
    /^(\d{1,9}(?:\.\d{1,2})?)\s*(k)?\s*([a-z]+)$/.exec(part) ?? [];
  const unit = UNITS.find(([form]) => form.test(word))?.[1];
  if (unit === undefined) return undefined;
  return positive(UNIT[unit]?.(Number(digits) * (thousands === undefined ? 1 : 1_000)));
}

/** Steps and tokens are whole ones. */
function positive(by: MoreBudget | undefined): MoreBudget | undefined {
  const isWhole = [by?.steps, by?.tokens].every((n) => n === undefined || Number.isInteger(n));
  return isWhole && Object.values(by ?? {}).every((n) => Number(n) > 0) ? by : undefined;
}
