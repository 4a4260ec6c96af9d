import type { Entry } from "../core/entry.ts";
import { isOverStatus } from "../core/incident-status.ts";
import { type Action, titleOf } from "./action.ts";
import { forgetOldest } from "./fold-memory.ts";
import { HOUSEKEEPING } from "./housekeeping.ts";
import type { Acted, RecordFact } from "./record-notes.ts";
import type { Thread } from "./state.ts";
import type { Call } from "./call.ts";

/** What happens in a thread and belongs into the records of the incidents that were opened in it: the program writes it there. */

const MAX_ACTED = 20;
const MAX_ALERTS = 50;

/** As a view's name: the records were told of it. */
export const RECORD_VIEW = "record";

/** To be called once the entry is folded; `call`: the one that it ends. */
export function noteRecord(thread: Thread, entry: Entry, call: Call | undefined): void {
  const { record } = thread;
  if (entry.kind === "incident_state") {
    noteIncident(thread, entry);
    return;
  }
  const fact = entry.kind === "alert_state" ? alertIn(thread, entry) : actedIn(thread, entry, call);
  if (fact === undefined) return;
  const known = "alert" in fact.what ? record.alerts : record.acted;
  const name = "alert" in fact.what ? `${fact.what.alert.of} ${fact.what.alert.group}` : fact.id;
  forgetOldest(thread, known, (known === record.alerts ? MAX_ALERTS : MAX_ACTED) - 1);
  known.set(name, fact);
  const incidents = [...thread.incidents.values()].flatMap(({ state }) =>
    !isOverStatus(state.status) || fact.since <= (state.resolvedAt ?? 0) ? [state.incident] : [],
  );
  if (incidents.length > 0)
    record.owed.set(entry.id, { entry: entry.id, incidents, facts: [fact] });
}

/** One that is opened, or opened again, is told what happened before. */
function noteIncident(
  { record, incidents }: Thread,
  { id: entry, incident }: Entry<"incident_state">,
) {
  const { status } = incidents.get(incident)?.state ?? {};
  if (status === undefined || isOverStatus(status)) {
    record.open.delete(incident);
    return;
  }
  const facts = [...record.alerts.values(), ...record.acted.values()];
  if (!record.open.has(incident) && facts.length > 0)
    record.owed.set(entry, { entry, incidents: [incident], facts });
  record.open.add(incident);
}

/** Only where it stands otherwise than before: that it was told once more changes no record. */
function alertIn({ record, alerts }: Thread, state: Entry<"alert_state">): RecordFact | undefined {
  const { of, group, last, name, startedAt, overAt, acknowledged, at } = state;
  const place = `${of} ${group}`;
  if (alerts.get(place)?.state !== state) return undefined;
  const before = record.alerts.get(place)?.what;
  const was = before !== undefined && "alert" in before ? before.alert : undefined;
  const acknowledgedAt = was?.acknowledgedAt ?? (acknowledged > 0 ? at : undefined);
  // A system that told of it stays, also where what it told of is forgotten.
  const sources = [...new Set([...(was?.sources ?? []), ...(state.sources ?? [])])].toSorted();
  const isSame =
    was !== undefined &&
    was.acknowledgedAt === acknowledgedAt &&
    was.overAt === overAt &&
    sources.length === (was.sources ?? []).length;
  if (isSame) return undefined;
  const link = state.alerts.flatMap(({ links = [] }) => links.map(({ url }) => url))[0];
  const alert = {
    of,
    group,
    name,
    startedAt,
    ...(acknowledgedAt !== undefined && { acknowledgedAt }),
    ...(overAt !== undefined && { overAt }),
    ...(link !== undefined && { link }),
    ...(sources.length > 0 && { sources }),
  };
  return { id: `alert:${of}:${group}@${last}`, at, since: startedAt, what: { alert } };
}

/** An approved action that ended, was taken back, settled or looked at again. */
function actedIn(thread: Thread, entry: Entry, call: Call | undefined): RecordFact | undefined {
  const { at } = entry;
  if (entry.kind === "tool_finished" && call !== undefined) {
    if (call.undoes !== undefined)
      return entry.outcome === "ok"
        ? factOf(call.undoes, "undone", at, { undoneAt: at })
        : undefined;
    const { outcome } = entry;
    const isKnown = outcome === "ok" || outcome === "error" || outcome === "unknown";
    if (call.action === undefined || !isKnown) return undefined;
    const startedAt = call.started?.at;
    return factOf(call.action, "ended", at, {
      ...(startedAt !== undefined && { startedAt }),
      endedAt: at,
      outcome,
      votes: votesOn(call.action),
    });
  }
  const [of, patch] = laterIn(entry);
  const action = [...thread.actions.values()].find((each) => each.call === of);
  return (
    patch && action && factOf(action, entry.kind === "settled" ? "settled" : "verified", at, patch)
  );
}

function laterIn(entry: Entry): [string | undefined, Partial<Acted> | undefined] {
  if (entry.kind === "settled") return [entry.call, { outcome: entry.happened ? "ok" : "error" }];
  const isWord = entry.kind === "notice" || entry.kind === "run_ended";
  if (!isWord || entry.verifies === undefined) return [undefined, undefined];
  const { call, verdict } = entry.verifies;
  const verified = ({ done: "fixed", "not done": "not_fixed", unknown: "unclear" } as const)[
    verdict
  ];
  return [call, { verified, verifiedAt: entry.at }];
}

function factOf(
  action: Action,
  what: string,
  at: number,
  patch: Partial<Acted>,
): RecordFact | undefined {
  const { proposal, openedAt, undoes, action: name } = action;
  const { tool } = proposal;
  const isApproved = votesOn(action).some(({ approve }) => approve);
  if (HOUSEKEEPING.test(tool) || undoes !== undefined || !isApproved) return undefined;
  const acted = { action: name, title: titleOf(proposal), tool, ...patch };
  return { id: `acted:${name}:${what}`, at, since: openedAt, what: { acted } };
}

/** Also the vote of the grant that carried it. */
function votesOn({ votes, granted }: Action): NonNullable<Acted["votes"]> {
  const counted =
    granted === undefined || votes.some(({ approve }) => approve) ? votes : [granted.vote];
  return counted.map(({ name, at, approve }) => ({ name, at, approve }));
}
