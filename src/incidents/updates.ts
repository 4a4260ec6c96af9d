import type { NewerEntry, Severity, StoredEntry } from "../core/entry.ts";
import { formatUtc, showDuration } from "../core/instant.ts";
import { oneLine, shortened } from "../core/text.ts";
import type { Incident, Said } from "./incident.ts";
import { titleOf } from "./unverified.ts";

/** After how many minutes without a word in its record an incident of that severity is reminded of; none: never. */
export type UpdateMinutes = Readonly<Partial<Record<Severity, number | undefined>>>;

const MINUTE_MS = 60_000;
const MAX_NOTE = 300;

/** What people want to hear of: not what was pinned, nor what the program writes into the record. */
function isStatus({ change }: Said): boolean {
  const { title, severity, impact, cause, note, status } = change;
  return [title, severity, impact, cause, note, status].some((each) => each !== undefined);
}

function lastStatus({ history }: Incident): Said | undefined {
  return history.findLast(isStatus);
}

/** Whoever sets the interval begins it. */
function lastBegin({ history }: Incident): Said | undefined {
  return history.findLast((said) => isStatus(said) || said.change.updateEvery !== undefined);
}

/** Until when somebody should have said how it stands, and how often: 0 for what is over, or is not reminded of. */
interface Watched {
  saidAt: number;
  minutes: number;
}

export function watchedOf(incident: Incident, minutes: UpdateMinutes): Watched {
  const { severity, resolvedAt, startedAt, updateEvery } = incident;
  const every = updateEvery ?? (severity === undefined ? undefined : minutes[severity]);
  const saidAt = lastBegin(incident)?.at ?? startedAt;
  return { saidAt, minutes: resolvedAt === undefined ? (every ?? 0) : 0 };
}

const [SAID, DUE] = ["said:", "due:"];

/** The timer that says from when on it is waited, and for how long. */
export function watchId({ saidAt, minutes }: Watched): string {
  return `${SAID}${saidAt}:${minutes}`;
}

/** The timer that says that a time has come. */
export function dueId(at: number): string {
  return `${DUE}${at}`;
}

/** What a journal `updates:<incident>` comes to. */
export class UpdatesState {
  last = 0;
  head: string | undefined;
  newer: NewerEntry | undefined;
  watched: Watched | undefined;
  /** The time that has come last, of what is waited for now, and whether people were told. */
  due: { at: number; isOver: boolean } | undefined;
}

export function foldUpdates(state: UpdatesState, entries: readonly StoredEntry[]): void {
  for (const entry of entries) {
    if (state.newer !== undefined) return;
    state.last = entry.seq;
    state.head = entry.head;
    if (entry.kind === "newer") state.newer = entry;
    else if (entry.kind === "timer") applyTimer(state, entry.id);
    else if (entry.kind === "delivered" && state.due !== undefined)
      state.due.isOver ||= entry.entry === dueId(state.due.at);
  }
}

function applyTimer(state: UpdatesState, id: string): void {
  const [saidAt = NaN, minutes = NaN] = id.startsWith(SAID)
    ? id.slice(SAID.length).split(":").map(Number)
    : [];
  if (saidAt >= (state.watched?.saidAt ?? 0)) {
    // Somebody said how it stands: what was waited for until now is not missed any more.
    state.watched = { saidAt, minutes };
    state.due = undefined;
  }
  const at = id.startsWith(DUE) ? Number(id.slice(DUE.length)) : NaN;
  if (at > (state.due?.at ?? state.watched?.saidAt ?? Infinity)) state.due = { at, isOver: false };
}

/** The times that come: each interval after the last word. Of those that were missed the newest alone counts. */
export function timesOf(
  { watched, due }: UpdatesState,
  now: number,
): { come: number | undefined; next: number | undefined } {
  if (watched === undefined || watched.minutes === 0) return { come: undefined, next: undefined };
  const { saidAt, minutes } = watched;
  const every = minutes * MINUTE_MS;
  const count = Math.max(0, Math.floor((now - saidAt) / every));
  const [newest, before] = [saidAt + count * every, due?.at ?? saidAt];
  const next = Math.max(newest, before) + every;
  return { come: newest > before ? newest : undefined, next };
}

/** What the thread is told when nobody has said for so long how it stands. */
export function reminderText(incident: Incident, now: number, nextAt: number): string {
  const { id, severity } = incident;
  const last = lastStatus(incident);
  const since = showDuration(now - (last?.at ?? incident.startedAt));
  const lead = commanderOf(incident);
  const ask = lead === undefined ? "Please say" : `${lead}, please say`;
  return `${id}${severity === undefined ? "" : ` (${severity})`} has had no update for ${since}. ${ask} how it stands: \`incident update ${id} note="…"\`, or \`incident resolve ${id}\`. I remind you again at ${formatUtc(nextAt)}; \`stop\` ends it until the next update.`;
}

/** Who leads, where somebody said so. */
function commanderOf({ roles }: Incident): string | undefined {
  return roles.find(({ role }) => /commander|lead/i.test(role))?.name;
}

/** A line for channels that are told of incidents, made only of the record. */
export function statusLine(incident: Incident, now: number, nextAt: number): string {
  const { id, severity, status, startedAt, impact, link, history } = incident;
  const note = history.findLast(({ change }) => change.note !== undefined);
  const said = note?.change.note;
  const unverified = note?.outside === true ? " (unverified)" : "";
  return [
    `Incident ${status.replace("_", " ")} for ${showDuration(now - startedAt)}: ${titleOf(incident)}`,
    [id, ...(severity === undefined ? [] : [severity])].join(", "),
    `since ${formatUtc(startedAt)}`,
    ...(impact === undefined ? [] : [`impact: ${impact}`]),
    said === undefined || note === undefined
      ? "no note yet"
      : `last note, ${formatUtc(note.at)}${unverified}: ${shortened(oneLine(said), MAX_NOTE)}`,
    `next update due by ${formatUtc(nextAt)}`,
    ...(link === undefined ? [] : [link]),
  ].join(" · ");
}
