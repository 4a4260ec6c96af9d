import type { Entry, Kind } from "../core/entry.ts";
import { isoUtc } from "../core/instant.ts";
import { signed } from "../core/people.ts";
import { oneLine, shortened } from "../core/text.ts";
import type { ReverseCall } from "../core/tool-call.ts";
import { offerAnswers } from "./click-phrases.ts";
import { INCIDENT_OFFER } from "./entry-ids.ts";
import type { IncidentOffer } from "./offer-notes.ts";
import { isInner, type Thread, type Untold } from "./state.ts";
import type { Call } from "./call.ts";
import { causeIn, fixOf } from "./task.ts";

/** A thread that looks like an incident offers once to record it as one. Nothing is recorded before somebody presses. */

/** The tool that opens a record. */
export const OPEN_TOOL = "incident_open";
/** So many people at once are no coincidence, */
const MIN_PEOPLE = 3;
/** within so long, ms. */
const TOGETHER_MS = 15 * 60_000;
/** What was owed longer ago nobody needs any more, ms: an older program knew of no offer. */
const FRESH_MS = 60 * 60_000;
const MAX_PEOPLE = 20;
const MAX_SERVICES = 10;
/** As the tool takes it. */
const MAX_TITLE = 200;

/** How people say that something is grave; of incidents in general (`all sev1 incidents`) they only talk. */
const GRAVE = /(?<![\w-])(?:[Ss][Ee][Vv]-?[12]|P1)(?![\w-])(?!\s+(?:incidents|alerts)\b)/u;
/** As findings name what serves. */
const SERVES = /^(?:Service|Deployment) (?:[^/]*\/)?(.+)$/;

/** To be called once the entry is folded; `call`: the one that it ends. */
export function noteOffer<K extends Kind>(
  thread: Thread,
  entry: Entry<K>,
  call: Call | undefined,
): void {
  NOTED[entry.kind]?.(thread, entry, call);
}

const NOTED: {
  readonly [K in Kind]?: (thread: Thread, entry: Entry<K>, call: Call | undefined) => void;
} = {
  message(thread, entry) {
    if (entry.app === true) return;
    noteWriter(thread, entry);
    if (GRAVE.test(entry.text) || isCrowdAtFault(thread)) propose(thread, entry, entry.text);
  },
  command(thread, entry) {
    noteWriter(thread, entry);
    if (isCrowdAtFault(thread)) propose(thread, entry);
  },
  tool_finished(thread, entry, call) {
    if (call?.tool === OPEN_TOOL && entry.outcome === "ok")
      thread.offer.recorded ??= { by: byOf(thread, call.run) };
    else if (isCrowdAtFault(thread)) propose(thread, entry);
  },
  run_ended(thread, entry) {
    const { offer } = thread;
    if (offer.opening?.run === entry.run) offer.opening = undefined;
    const run = thread.runs.get(entry.run);
    if (run !== undefined && isInner(run)) return;
    if (isMended(thread, entry) || isCrowdAtFault(thread)) propose(thread, entry);
  },
  click({ offer }, { id, actor, choice }) {
    if (choice.kind === "incident" && choice.opens) offer.presses.set(id, signed(actor));
  },
  run_started(thread, { run, answers }) {
    for (const id of answers) noteOpening(thread, run, id);
  },
  notice({ offer }, { offers, declines, answers = "" }) {
    if (offers !== undefined) {
      const { title, startedAt, services = [] } = offers;
      offer.made = { title, startedAt, services };
      offer.due = undefined;
    }
    if (declines !== undefined) offer.declinedBy ??= declines;
    offer.presses.delete(answers);
  },
};

function byOf({ offer }: Thread, run: string): string | undefined {
  return offer.opening?.run === run ? offer.opening.by : undefined;
}

function noteOpening({ offer }: Thread, run: string, click: string): void {
  const by = offer.presses.get(click);
  if (by === undefined) return;
  offer.presses.delete(click);
  offer.opening = { run, by };
}

function noteWriter({ offer }: Thread, { actor, at }: Entry<"message"> | Entry<"command">): void {
  const { wrote } = offer;
  wrote.delete(actor.account);
  wrote.set(actor.account, at);
  for (const [account, lastAt] of wrote)
    if (at - lastAt > TOGETHER_MS || wrote.size > MAX_PEOPLE) wrote.delete(account);
}

/** Several people write at once, and something was looked into and found broken. */
function isCrowdAtFault({ offer, broken, digest }: Thread): boolean {
  if (offer.wrote.size < MIN_PEOPLE) return false;
  return broken.size > 0 || digest.answers.some(({ text }) => causeIn(text) !== undefined);
}

/** The answer says what was wrong, and something that people approved was done about it. */
function isMended({ actions }: Thread, { status, text = "" }: Entry<"run_ended">): boolean {
  if (status === "silent" || causeIn(text) === undefined) return false;
  return [...actions.values()].some((action) => {
    const fix = fixOf(action);
    return fix?.approved === true && fix.result === "done";
  });
}

function propose(thread: Thread, { at }: { at: number }, said?: string): void {
  const { offer, digest, task, broken } = thread;
  if (offer.made !== undefined || isKnownIncident(thread)) return;
  const cause = digest.answers
    .map(({ text }) => causeIn(text)?.cause)
    .findLast((each) => each !== undefined);
  const title = titleOf(cause ?? said ?? digest.question?.text ?? "");
  if (title === "") return;
  const found = [...broken.values()].flatMap((each) => each.broken);
  const services = found.flatMap(({ object }) => SERVES.exec(object)?.[1] ?? []);
  offer.due = {
    at,
    offer: {
      title,
      startedAt: task.begun,
      services: [...new Set(services)].slice(0, MAX_SERVICES),
    },
  };
}

function titleOf(text: string): string {
  return shortened(oneLine(text.replaceAll(/[*_`]{2,}/g, "")), MAX_TITLE);
}

/** Alerts have a button for it on their own message. */
function isKnownIncident({ offer, incidents, alerts }: Thread): boolean {
  return offer.recorded !== undefined || incidents.size + alerts.size > 0;
}

/** The offer that the thread is owed now: while anything goes on, that may yet record it by itself. */
export function offerDue(
  thread: Thread,
  { now, records }: { now: number; records?: boolean },
): Untold | undefined {
  if (records !== true) return undefined;
  const { offer, room, going, pending, moved } = thread;
  const { due } = offer;
  if (due === undefined || now - due.at > FRESH_MS || isKnownIncident(thread)) return undefined;
  if (room.quiet || moved !== undefined || going.size + pending.size > 0) return undefined;
  return { id: INCIDENT_OFFER, about: { kind: "looks_like_incident", offer: due.offer } };
}

/** Nobody has recorded an incident, or said that there is none. */
export function isOffered({ offer, incidents }: Thread): boolean {
  return offer.made !== undefined && offer.declinedBy === undefined && incidents.size === 0;
}

/** What became of the offer, in a few words; undefined: nothing yet. */
export function offerEnd({ offer, incidents }: Thread): string | undefined {
  const { declinedBy, recorded, opening } = offer;
  if (declinedBy !== undefined) return offerAnswers.ended(declinedBy);
  const [incident] = incidents.keys();
  if (incident === undefined && recorded === undefined) return undefined;
  return offerAnswers.taken(incident, recorded?.by ?? opening?.by);
}

/** Why a press changes nothing any more; undefined: it does. */
export function offerTaken(thread: Thread, opens: boolean): string | undefined {
  const { declinedBy, opening, recorded } = thread.offer;
  if (declinedBy !== undefined) return offerAnswers.declined(declinedBy, opens);
  const [incident] = thread.incidents.keys();
  if (incident !== undefined || recorded !== undefined) return offerAnswers.recorded(incident);
  return opening && offerAnswers.opening(opening.by);
}

/** The call that records it. */
export function openingCall({ title, startedAt, services }: IncidentOffer): ReverseCall {
  const args = { title, startedAt: `${isoUtc(startedAt, "second")}Z` };
  const tool = OPEN_TOOL;
  return { tool, args: services.length === 0 ? args : { ...args, services: services.join(", ") } };
}
