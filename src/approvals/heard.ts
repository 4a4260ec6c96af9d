import type { Entry, JsonObject } from "../core/entry.ts";
import { SILENCE } from "../thread/silences.ts";
import { noPlaces, notePlaces, type Places } from "./places.ts";

/** What came into a thread, and from whom: a fold over all its entries. */
export type Heard = ReturnType<typeof nothingHeard>;

export function nothingHeard() {
  return {
    last: 0,
    /** Accounts that wrote a message, a command or an edited argument, each with its first entry. */
    authors: new Map<string, number>(),
    /** The hosts and URLs that each of them wrote. */
    places: new Map<string, Places>(),
    /** Tools whose results came, with the first result's entry. */
    results: new Map<string, number>(),
    /** The first entry with a file. */
    files: undefined as number | undefined,
    /** The first entry with others' words that no account answers for: a bot's message, a forwarded one. */
    foreign: undefined as number | undefined,
    /** The tool of each running call. */
    calls: new Map<string, string>(),
    /** The arguments of open actions, as their cards show them. */
    shown: new Map<string, JsonObject>(),
  };
}

/** Nothing comes into the thread by these. */
const SILENT = {
  signal: true,
  settled: true,
  removed: true,
  stop: true,
  timer: true,
  alarm: true,
  tenant: true,
  tool_form: true,
  freeze: true,
  feedback: true,
  memory: true,
  secret: true,
  mirror: true,
  moved: true,
  incident: true,
  incident_state: true,
  alert: true,
  alert_thread: true,
  alert_told: true,
  run_started: true,
  extended: true,
  assistant: true,
  gate: true,
  plan: true,
  goal_planned: true,
  goal_judged: true,
  goal_state: true,
  condensed: true,
  overflow: true,
  vote: true,
  grant_revoked: true,
  view_added: true,
  view_removed: true,
  notice: true,
  delivered: true,
  run_ended: true,
} as const;

function isSilent(entry: Entry): entry is Entry<keyof typeof SILENT> {
  return Object.hasOwn(SILENT, entry.kind);
}

/** Folds the next entry in, in place; an entry that is already in changes nothing. */
export function noteHeard(heard: Heard, entry: Entry): void {
  const { seq } = entry;
  if (seq <= heard.last) return;
  heard.last = seq;
  if (isSilent(entry)) return;
  switch (entry.kind) {
    case "message":
      if (entry.app === true) {
        heard.foreign ??= seq;
        return;
      }
      if ((entry.files ?? []).length > 0) heard.files ??= seq;
      return said(heard, seq, entry.actor.account, entry.text);
    // A person's words, where one began it.
    case "goal_started":
      for (const account of entry.by === undefined ? [] : [entry.by.account])
        said(heard, seq, account, entry.text);
      return;
    // A monitoring system's words, which models are told.
    case "alert_state":
      heard.foreign ??= seq;
      return;
    case "edited":
    case "command":
      return said(heard, seq, entry.actor.account, isAlerts(entry.command) ? "" : entry.text);
    case "click":
      if (entry.choice.kind !== "edit") return;
      return said(
        heard,
        seq,
        entry.actor.account,
        changedIn(heard, entry.action, entry.choice.args),
      );
    case "action_proposed":
      heard.shown.set(entry.action, entry.args);
      return;
    case "action_closed":
      heard.shown.delete(entry.action);
      return;
    case "tool_started":
      if (entry.action !== undefined) heard.shown.delete(entry.action);
      heard.calls.set(entry.call, entry.tool);
      return;
    case "tool_finished": {
      const tool = entry.tool ?? heard.calls.get(entry.call);
      heard.calls.delete(entry.call);
      if (tool !== undefined && !heard.results.has(tool)) heard.results.set(tool, seq);
      if ((entry.files ?? []).length > 0) heard.files ??= seq;
      return;
    }
    case "above":
      for (const { account, text, attached } of entry.messages) {
        if (account !== undefined) said(heard, seq, account, text);
        if (account === undefined || attached !== undefined) heard.foreign ??= seq;
      }
      // Whoever said it said it elsewhere, and a system may have said it to them.
      if (entry.remembered !== undefined) heard.foreign ??= seq;
      return;
    default:
      entry satisfies never;
  }
}

/** Buttons below alerts fill these in with a monitoring system's words: no person named the places that stand there. */
function isAlerts(command: Entry<"edited">["command"]): boolean {
  return command?.name === "run" && FILLED.has(command.tool);
}

const FILLED: ReadonlySet<string> = new Set([SILENCE, "incident_open"]);

function said(heard: Heard, seq: number, account: string, text: string): void {
  if (!heard.authors.has(account)) heard.authors.set(account, seq);
  const places = heard.places.get(account) ?? noPlaces();
  notePlaces(places, text);
  heard.places.set(account, places);
}

/** A form sends every argument; its author wrote only the changed ones. */
function changedIn({ shown }: Heard, action: string, args: JsonObject): string {
  const before = shown.get(action) ?? {};
  const changed = Object.entries(args).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]),
  );
  return changed
    .map(([, value]) => (typeof value === "string" ? value : JSON.stringify(value)))
    .join(" ");
}

/**
 * True if the first `seen` entries hold something that no full member of the thread wrote: tool results from outside,
 * files, others' words. A model may have followed it, though it is no instruction.
 */
export function isOutsideHeard(
  { authors, results, files, foreign }: Heard,
  seen: number,
  { isOurs, isMember }: { isOurs(tool: string): boolean; isMember(account: string): boolean },
): boolean {
  return (
    [files, foreign].some((first) => first !== undefined && first <= seen) ||
    [...results].some(([tool, seq]) => seq <= seen && !isOurs(tool)) ||
    [...authors].some(([account, seq]) => seq <= seen && !isMember(account))
  );
}
