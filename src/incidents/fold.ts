import type { Actor, Content } from "../core/entry.ts";
import { BotError } from "../core/errors.ts";
import { isoUtc } from "../core/instant.ts";
import { tenantOf } from "../core/journal-key.ts";
import { type IncidentStatus, isOverStatus } from "../core/incident-status.ts";
import {
  actedAfter,
  alertsAfter,
  causeAfter,
  followUpsAfter,
  knownAfter,
  rolesAfter,
  spellsAfter,
} from "./fold-fields.ts";
import type { Change, Incident, Pin } from "./incident.ts";
import { pinnedIn } from "./pins.ts";

/** One statement about an incident, with its time on the store's clock. */
export type Post = Omit<Content<"incident">, "kind"> & { at: number };

/**
 * The incident after one more post; `incident` is undefined before the first. Deterministic: a ledger calls it before it
 * posts, and every reader calls it again for what is stored. A post that it refuses does not become part of the record, such
 * as the second of two resolutions at the same time.
 * @throws BotError PRECHECK_FAILED if the post does not fit the incident's state, INPUT_INVALID if it never could
 */
export function advance(incident: Incident | undefined, id: string, post: Post): Incident {
  const { imported } = post;
  if (imported === undefined) return step(incident, id, post);
  if (incident !== undefined || imported.length === 0)
    throw invalid("Only all of an incident can be imported.");
  const { audience } = post;
  let taken: Incident | undefined;
  for (const said of imported) taken = step(taken, id, { ...said, audience });
  return { ...(taken ?? step(undefined, id, post)), isImported: true };
}

function step(incident: Incident | undefined, id: string, post: Post): Incident {
  const { change, at, actor, link, audience, outside = false } = post;
  if (Object.values(change).every((value) => value === undefined)) {
    throw invalid(`Say what should change in ${id}.`);
  }
  const before = incident ?? opening(id, post);
  checkPlace(before, audience);
  if (incident !== undefined) checkStatus(incident, change);
  const status = statusAfter(before, change);
  const startedAt = change.startedAt ?? before.startedAt;
  // If a clock ran ahead when the incident began, it must still be possible to end it.
  const now = Math.max(at, startedAt);
  const [isEnded, isReopened] = [
    isOverStatus(status),
    status === "open" && before.status !== "open",
  ];
  const resolvedAt = isEnded ? (change.resolvedAt ?? before.resolvedAt ?? now) : undefined;
  const mitigatedAt =
    change.mitigatedAt ??
    (isReopened ? undefined : before.mitigatedAt) ??
    (status === "mitigated" ? now : undefined);
  const times = {
    startedAt,
    detectedAt: change.detectedAt ?? before.detectedAt,
    acknowledgedAt: change.acknowledgedAt ?? before.acknowledgedAt,
    mitigatedAt,
    resolvedAt,
  };
  const after: Incident = {
    ...before,
    ...times,
    title: change.title ?? before.title,
    severity: change.severity ?? before.severity,
    services: change.services ?? before.services,
    status,
    known: knownAfter(before, times, change),
    spells: spellsAfter(before, { ...times, status }, at),
    impact: change.impact ?? before.impact,
    updateEvery: change.updateEvery ?? before.updateEvery,
    ...causeAfter(before, change),
    roles: rolesAfter(before.roles, change, at),
    followUps: followUpsAfter(before, change),
    alerts: alertsAfter(before.alerts, change),
    acted: actedAfter(before.acted, change),
    pins: pinsAfter(before, change, actor),
    actions: [...before.actions, ...(change.actions ?? [])],
    history: [...before.history, { at, actor, link, outside, change }],
  };
  checkTimes(after);
  return after;
}

const invalid = (text: string) => new BotError("INPUT_INVALID", text);
const refused = (text: string) => new BotError("PRECHECK_FAILED", text);

function opening(id: string, { change, at, link, audience, thread }: Post): Incident {
  const { title = "", status = "open", resolvedAt } = change;
  if (title === "") throw invalid("An incident needs a title.");
  if (status !== "open" || resolvedAt !== undefined || change.mitigatedAt !== undefined) {
    throw invalid("Open the incident first, then resolve it.");
  }
  return {
    id,
    audience,
    tenant: tenantOf(thread),
    link,
    thread,
    title,
    severity: undefined,
    services: [],
    status,
    startedAt: at,
    detectedAt: undefined,
    acknowledgedAt: undefined,
    mitigatedAt: undefined,
    resolvedAt: undefined,
    known: {},
    spells: [],
    impact: undefined,
    updateEvery: undefined,
    cause: undefined,
    certainty: undefined,
    evidence: [],
    actions: [],
    roles: [],
    followUps: [],
    alerts: [],
    acted: [],
    isImported: false,
    pins: [],
    history: [],
  };
}

/** Private words stay private: they never enter the record of a public incident or of another place. */
function checkPlace({ id, audience }: Incident, from: string | undefined): void {
  if (from === audience) return;
  throw refused(
    audience === undefined
      ? `${id} is public and this thread is private, so everyone could read what you say here. Say it in a public thread.`
      : `${id} belongs to another place; say it there.`,
  );
}

function checkStatus({ id, status, resolvedAt = 0 }: Incident, change: Change): void {
  if (change.title === "") throw invalid("An incident needs a title.");
  const { status: next } = change;
  if (next === "resolved" && status === "resolved") {
    throw refused(
      `${id} was already resolved at ${iso(resolvedAt)}. Update it to correct resolvedAt, or open it again with status=open.`,
    );
  }
  if (next !== undefined && next === status) throw refused(`${id} is already ${STANDS[status]}.`);
  if (next === "mitigated" && isOverStatus(status))
    throw refused(`${id} is over. Open it again with status=open first.`);
  if (change.resolvedAt !== undefined && !isOverStatus(next ?? status)) {
    throw refused(`${id} would still be open, so it can't have resolvedAt. Resolve it instead.`);
  }
}

const STANDS: Readonly<Record<IncidentStatus, string>> = {
  open: "open",
  mitigated: "mitigated",
  resolved: "resolved",
  false_alarm: "a false alarm",
};

/** Whoever says when it was mitigated says that it is. */
function statusAfter({ status }: Incident, change: Change): IncidentStatus {
  const isMitigated = change.mitigatedAt !== undefined && status === "open";
  return change.status ?? (isMitigated ? "mitigated" : status);
}

/** A message is quoted once, whoever pins it; what its author changed comes in the name of who pinned it. */
function pinsAfter(incident: Incident, { pin, unpin }: Change, actor: Actor): Pin[] {
  const { id, pins } = incident;
  const before = pin && pinnedIn(incident, pin.message);
  const isSame = before?.pin.text === pin?.text || before?.said.actor.account !== actor.account;
  if (before !== undefined && isSame)
    throw refused(`That message is already in the timeline of ${id}.`);
  if (unpin !== undefined && pinnedIn(incident, unpin) === undefined)
    throw refused(`That message is not in the timeline of ${id}.`);
  if (before !== undefined && pin !== undefined)
    return pins.map((each) => (each.message === pin.message ? pin : each));
  const kept = pins.filter(({ message }) => message !== unpin);
  return pin === undefined ? kept : [...kept, pin];
}

const WORDS = {
  detectedAt: "detected",
  acknowledgedAt: "acknowledged",
  mitigatedAt: "mitigated",
  resolvedAt: "resolved",
} as const;

function checkTimes(incident: Incident): void {
  const { startedAt } = incident;
  for (const name of ["detectedAt", "acknowledgedAt", "mitigatedAt", "resolvedAt"] as const) {
    const at = incident[name] ?? startedAt;
    if (at < startedAt)
      throw invalid(`It was ${WORDS[name]} (${iso(at)}) before it started (${iso(startedAt)}).`);
  }
}

/** To the second, so that two times within one minute look different. */
function iso(instant: number): string {
  return `${isoUtc(instant, "second")}Z`;
}
