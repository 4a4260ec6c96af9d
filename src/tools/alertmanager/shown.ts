import { type Finding, SEVERITY_RANK } from "../../core/finding.ts";
import { formatElapsed, formatUtc, tryIso } from "../../core/instant.ts";
import { counted } from "../../core/text.ts";
import type { Encoder } from "../../security/encoder.ts";
import { clip, type Labels, labelText, severityOf, sharedLabels } from "../labels.ts";
import { formatMoment } from "../moment.ts";
import type { Alert, Silence } from "./api.ts";
import { matcherText } from "./matchers.ts";

/** Alerts and silences as lines of a result or a card. */

const MAX_INSTANCES = 3;

export interface Group {
  name: string;
  alerts: Alert[];
}

/** Alerts of one name together: the worst first, then the most. */
export function groupsOf(alerts: readonly Alert[]): Group[] {
  const weightOf = (group: Group) =>
    Math.min(...group.alerts.map(({ labels }) => SEVERITY_RANK[severityOf(labels)]));
  return [...Map.groupBy(alerts, ({ labels }) => labels["alertname"] ?? "(no name)")]
    .map(([name, same]) => ({ name, alerts: same }))
    .toSorted((a, b) => weightOf(a) - weightOf(b) || b.alerts.length - a.alerts.length);
}

/** What all of them have, without the name that stands before it. */
export function commonOf(alerts: readonly Alert[]): Labels {
  const all = alerts.map(({ labels }) => labels);
  return withoutName(all.length === 1 ? (all[0] ?? {}) : sharedLabels(all));
}

/** `HighLatency ×3 (all: job=api): pod=a; pod=b; pod=c` */
export function groupText({ name, alerts }: Group, encoder: Encoder): string {
  const common = commonOf(alerts);
  const all = Object.keys(common).length === 0 ? "" : labelText(common, encoder);
  const head = clip(name, 100, encoder);
  if (alerts.length === 1) return `${head} ${all}`.trim();
  const some = alerts
    .slice(0, MAX_INSTANCES)
    .map(({ labels }) => labelText(withoutName(labels), encoder, common));
  const more = alerts.length > MAX_INSTANCES ? `; and ${alerts.length - MAX_INSTANCES} more` : "";
  return `${head} ×${alerts.length}${all === "" ? "" : ` (all: ${all})`}: ${some.join("; ")}${more}`;
}

function withoutName(labels: Labels): Labels {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => name !== "alertname"));
}

/** When the first of them began, ISO 8601; undefined: not known. */
export function sinceOf(alerts: readonly Alert[]): string | undefined {
  return alerts.map(({ startsAt }) => startsAt).toSorted()[0] || undefined;
}

/** `{alertname="x", job="y"}` */
export function matchersText({ matchers }: Pick<Silence, "matchers">): string {
  return `{${matchers.map(matcherText).join(", ")}}`;
}

/** Silences that hide what somebody would be woken for now, those that hide the most first. */
export function hidingFindings(
  { silences, alerts }: { silences: readonly Silence[]; alerts: readonly Alert[] },
  { instance, now, encoder }: { instance: string | undefined; now: number; encoder: Encoder },
): Finding[] {
  const on = instance === undefined ? "" : ` instance=${instance}`;
  return silences
    .map((silence) => ({
      silence,
      hidden: alerts.filter(
        ({ labels, silencedBy }) =>
          silencedBy.includes(silence.id) && severityOf(labels) === "error",
      ),
    }))
    .filter(({ hidden }) => hidden.length > 0)
    .toSorted((a, b) => b.hidden.length - a.hidden.length)
    .slice(0, MAX_HIDING)
    .map(({ silence, hidden }) => {
      const { id, endsAt, startsAt, createdBy, comment } = silence;
      const names = groupsOf(hidden).map((group) => groupText(group, encoder));
      const by = `${createdBy} (${JSON.stringify(comment)})`;
      return {
        object: { kind: "Silence", namespace: "", name: clip(id, 40, encoder) },
        cause: `it hides ${counted(hidden.length, "critical alert")} that ${hidden.length === 1 ? "fires" : "fire"} now`,
        severity: "warning",
        evidence: clip(
          `${matchersText(silence)} until ${untilText(endsAt, now)} by ${by}: ${names.join("; ")}`,
          400,
          encoder,
        ),
        fix: `alertmanager_expire_silence id=${clip(id, 40, encoder)}${on}, if nobody needs it any more`,
        since: tryIso(startsAt) ?? null,
      };
    });
}

const MAX_HIDING = 5;

/** `2026-11-23 03:30:05 UTC (in 1 h)` */
export function untilText(ms: number, now: number): string {
  if (ms <= now) return formatMoment(ms, now);
  if (tryIso(ms) === undefined) return "an unknown time";
  return `${formatUtc(ms, "second")} (in ${formatElapsed(Math.ceil((ms - now) / 1_000) * 1_000)})`;
}
