import type { Acted, AlertFact, Change, Incident, KnownBy } from "./incident.ts";

/** What happened in an incident's thread. */
export type Fact = { alert: AlertFact } | { acted: Acted };

/**
 * What a fact changes in a record: the fact itself, and the times that it shows. Nothing is guessed, and what people said stays:
 * a time that is known is not replaced, and one that would contradict what is known is left out.
 * `at`: when it became known.
 */
export function changeOf(incident: Incident, fact: Fact, at: number): Change {
  return "alert" in fact
    ? alertChange(incident, fact.alert, at)
    : actedChange(incident, fact.acted, at);
}

function alertChange(incident: Incident, alert: AlertFact, at: number): Change {
  const { known, detectedAt, acknowledgedAt } = incident;
  const began = alert.startedAt;
  // Nobody said when it began: then no later than its alert.
  const isEarlier = known.startedAt === "person" && began < incident.startedAt;
  const startedAt = isEarlier ? began : incident.startedAt;
  const fits = (time: number | undefined): time is number =>
    time !== undefined && time >= startedAt && time <= at;
  return {
    alert,
    how: "alert",
    ...(isEarlier && { startedAt }),
    ...(detectedAt === undefined && fits(began) && { detectedAt: began }),
    ...(acknowledgedAt === undefined &&
      fits(alert.acknowledgedAt) && { acknowledgedAt: alert.acknowledgedAt }),
    ...standingBy(incident, alert, fits),
  };
}

/** Nobody said it, so a new alert says more. */
const BY_SIGHT: ReadonlySet<KnownBy | undefined> = new Set(["alert", "verify"]);

/** Mitigated by the last alert that was over; open again where it fires again. */
function standingBy(
  { alerts, status, known }: Incident,
  alert: AlertFact,
  fits: (time: number | undefined) => time is number,
): Change {
  const others = alerts.filter(({ of, group }) => of !== alert.of || group !== alert.group);
  const isFiring = alert.overAt === undefined;
  if (isFiring) {
    const isBack = status === "mitigated" && BY_SIGHT.has(known.mitigatedAt);
    return isBack ? { status: "open" } : {};
  }
  const ends = [alert, ...others].map(({ overAt }) => overAt);
  const last = Math.max(...ends.map((end) => end ?? Infinity));
  return status === "open" && fits(last) ? { status: "mitigated", mitigatedAt: last } : {};
}

/** A silence ends what is heard of an incident, not the incident. */
const SILENCES = /silence/;

function actedChange(incident: Incident, acted: Acted, at: number): Change {
  const { status, startedAt, acknowledgedAt, alerts } = incident;
  const approvals = (acted.votes ?? []).filter(({ approve }) => approve).map((vote) => vote.at);
  const first = Math.min(...approvals);
  const { verified, verifiedAt = at } = acted;
  const isFixed =
    verified === "fixed" &&
    status === "open" &&
    !SILENCES.test(acted.tool) &&
    verifiedAt >= startedAt &&
    alerts.every(({ overAt }) => overAt !== undefined);
  return {
    acted,
    how: isFixed ? "verify" : "action",
    ...(acknowledgedAt === undefined &&
      first >= startedAt &&
      first <= at && { acknowledgedAt: first }),
    ...(isFixed && { status: "mitigated", mitigatedAt: verifiedAt }),
  };
}
