import type { Entry } from "../core/entry.ts";
import { isOverStatus } from "../core/incident-status.ts";
import { severityIn, urgencyIn } from "./alert-phrases.ts";
import { alertsName, alertsOver, readAlertsOver } from "./entry-ids.ts";
import { mentionable } from "./mentions.ts";
import type { Thread, Untold } from "./state.ts";
import type { ShownAlerts } from "./shown-living.ts";

/** So long all of a group's alerts have to be over before the thread is told, ms: one that flaps is back by then. */
const OVER_MS = 15_000;
/** And no more often than that, ms. */
const OVER_AGAIN_MS = 600_000;

/** How a group of alerts of this thread stands now; two who were told at once may tell the older state later. */
export function applyAlertState(thread: Thread, state: Entry<"alert_state">): void {
  const key = `${state.of} ${state.group}`;
  const known = thread.alerts.get(key);
  if (known !== undefined && !isNewer(state, known.state)) return;
  const { seq, at } = state;
  const alerts = known ?? begin(state);
  thread.alerts.set(key, alerts);
  alerts.state = state;
  alerts.touched = seq;
  if (state.overAt !== undefined) alerts.over ??= { seq, at };
  else if (alerts.over !== undefined) {
    alerts.over = undefined;
    alerts.back = { times: (alerts.back?.times ?? 0) + 1, at };
  }
  ping(thread, alerts);
}

/** Of two that are as of the same word the later one says that it flaps no more. */
function isNewer(state: Entry<"alert_state">, known: Entry<"alert_state">): boolean {
  if (known.last !== state.last) return known.last < state.last;
  return known.flaps !== undefined && state.flaps === undefined;
}

function begin(state: Entry<"alert_state">): ShownAlerts {
  return {
    state,
    openedAt: state.seq,
    heardAt: state.at,
    touched: state.seq,
    shown: new Map(),
    triaged: new Set(),
    pinged: undefined,
    over: undefined,
    toldOver: undefined,
    back: undefined,
  };
}

/** Whom the route names is told when the group opens, and again only when it has become more urgent than ever. */
function ping(thread: Thread, alerts: ShownAlerts): void {
  const { id, name, firing, mention = [], alerts: all } = alerts.state;
  const loud = all.filter(({ status }) => status === "firing");
  const urgency = urgencyIn(loud);
  if (firing === 0 || mention.length === 0) return;
  if (alerts.pinged !== undefined && urgency <= alerts.pinged) return;
  alerts.pinged = urgency;
  const { summary } = loud.find((each) => each.name === name) ?? loud[0] ?? {};
  const about = { kind: "alerts_fire" as const, name, severity: severityIn(loud), summary };
  thread.untold.set(id, { id, about, mentions: mentionable(mention) });
}

/** When the thread is told in a line of its own that all of a group's alerts are over; undefined: it was, or they are not, or may not stay so. */
export function overDueAt({ state, over, toldOver }: ShownAlerts): number | undefined {
  if (over === undefined || state.flaps !== undefined) return undefined;
  if (toldOver !== undefined && toldOver.seq >= over.seq) return undefined;
  const again = toldOver === undefined ? 0 : toldOver.at + OVER_AGAIN_MS;
  return Math.max(over.at + OVER_MS, again);
}

/** The thread was told so. */
export function noteToldOver({ alerts }: Thread, { answers = "", seq, at }: Entry<"notice">): void {
  const name = readAlertsOver(answers);
  if (name === undefined) return;
  for (const each of alerts.values())
    if (alertsName(each.openedAt) === name) each.toldOver = { seq, at };
}

/** What that line says. */
export function overWord(thread: Thread, { state, openedAt, over }: ShownAlerts): Untold {
  const { name, startedAt, overAt = startedAt, resolved } = state;
  const open = [...thread.incidents.values()].findLast((each) => !isOverStatus(each.state.status));
  const incident = open?.state.incident;
  const ms = Math.max(0, overAt - startedAt);
  const about = { kind: "alerts_over" as const, name, count: resolved, ms, incident };
  return { id: alertsOver(alertsName(openedAt), over?.seq ?? 0), about };
}
