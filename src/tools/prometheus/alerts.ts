import * as z from "zod";
import { type Finding, type Gap, SEVERITY_RANK } from "../../core/finding.ts";
import type { Encoder } from "../../security/encoder.ts";
import { formatElapsed } from "../../core/instant.ts";
import { counted } from "../../core/text.ts";
import { formatMoment } from "../moment.ts";
import { isRecord, numberOf, recordsOf, textOf } from "../decode.ts";
import { orRefused } from "../refusal.ts";
import { hereOf } from "../since.ts";
import { defineTool, type ToolContext } from "../tool.ts";
import { createPrometheus, TOOL_TIMEOUT_MS } from "./api.ts";
import { type Instances } from "./fields.ts";
import { instanceArgument, instanceOf } from "../instances.ts";
import {
  clip,
  encodeEach,
  type Labels,
  labelsOf,
  labelText,
  severityOf,
  sharedLabels,
} from "../labels.ts";
import { nearest } from "../../core/nearest.ts";
import { formatValue } from "./numbers.ts";

const MAX_ROWS = 10;
/** Instances of one alert that are told apart. */
const MAX_INSTANCES = 3;

export function createAlerts(instances: Instances) {
  return defineTool({
    name: "prometheus_alerts",
    summary: "shows firing and pending alerts, and alerting rules",
    description:
      "Alerts that Prometheus evaluates: firing first, then pending, grouped by rule; rules that fail. With rule: that rule's expression, labels and state. What Alertmanager silences is told by alertmanager_alerts.",
    input: z.strictObject({
      rule: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe("A rule's name, or a part of it: shows its definition too"),
      ...instanceArgument(instances),
    }),
    effect: "read",
    doing: ({ rule }) =>
      rule === undefined ? "Reading the alerts of Prometheus" : `Reading the alert rule ${rule}`,
    endpoints: instances,
    timeoutMs: TOOL_TIMEOUT_MS,
    run: ({ rule, instance }, ctx) =>
      orRefused(async () => {
        const { now } = await hereOf(ctx);
        const server = createPrometheus(ctx, instanceOf({ instance }, instances));
        const rules = rulesOf(await server.get("rules"));
        return rule === undefined ? overview(rules, now, ctx) : details(rules, rule, now, ctx);
      }),
  });
}

interface Rule {
  name: string;
  isAlerting: boolean;
  group: string;
  query: string;
  /** Seconds that it has to hold before it fires. */
  holdSeconds: number;
  labels: Labels;
  annotations: Labels;
  /** `ok`, `err` or, before the first evaluation, `unknown`. */
  health: string;
  lastError: string;
  alerts: Alert[];
}

interface Alert {
  labels: Labels;
  annotations: Labels;
  state: "firing" | "pending";
  /** ISO 8601; of a firing alert when it became pending. */
  activeAt: string;
  value: string;
}

function rulesOf(data: unknown): Rule[] {
  const groups = recordsOf(isRecord(data) ? data["groups"] : undefined);
  return groups.flatMap((group) =>
    recordsOf(group["rules"]).map((rule) => ({
      name: textOf(rule["name"]),
      isAlerting: rule["type"] === "alerting",
      group: textOf(group["name"]),
      query: textOf(rule["query"]),
      holdSeconds: numberOf(rule["duration"]),
      labels: labelsOf(rule["labels"]),
      annotations: labelsOf(rule["annotations"]),
      health: textOf(rule["health"]),
      lastError: textOf(rule["lastError"]),
      alerts: recordsOf(rule["alerts"]).map((alert) => ({
        labels: labelsOf(alert["labels"]),
        annotations: labelsOf(alert["annotations"]),
        state: alert["state"] === "firing" ? "firing" : "pending",
        activeAt: textOf(alert["activeAt"]),
        value: textOf(alert["value"]),
      })),
    })),
  );
}

function rankOf({ labels }: Rule): number {
  return SEVERITY_RANK[severityOf(labels)];
}

function overview(rules: readonly Rule[], now: number, ctx: ToolContext) {
  const inState = (state: Alert["state"]) =>
    rules
      .flatMap((rule) => {
        const alerts = rule.alerts.filter((alert) => alert.state === state);
        return alerts.length === 0 ? [] : [{ rule, alerts }];
      })
      .toSorted((a, b) => rankOf(a.rule) - rankOf(b.rule));
  const [firing, pending] = [inState("firing"), inState("pending")];
  const failing = rules.filter(({ health }) => health === "err");
  const alerting = rules.filter(({ isAlerting }) => isAlerting).length;
  const countOf = (groups: typeof firing) =>
    groups.reduce((sum, { alerts }) => sum + alerts.length, 0);
  const rows = pending
    .slice(0, MAX_ROWS)
    .map(({ rule, alerts }) => `- pending ${alertsText(rule, alerts, now, ctx)}`);
  const more = (groups: typeof firing, state: string) =>
    groups.length > MAX_ROWS
      ? [`and ${groups.length - MAX_ROWS} more rules with ${state} alerts`]
      : [];
  const text = [
    `${countOf(firing)} firing, ${countOf(pending)} pending; ${counted(alerting, "alerting rule")}${failing.length > 0 ? `, ${failing.length} of all rules fail` : ""}.`,
    ...more(firing, "firing"),
    ...rows,
    ...more(pending, "pending"),
    ...failing
      .slice(0, MAX_ROWS)
      .map(({ name, lastError }) => clip(`- rule ${name} fails: ${lastError}`, 400, ctx.encoder)),
  ];
  const findings = firing
    .slice(0, MAX_ROWS)
    .map(({ rule, alerts }) => findingOf(rule, alerts, ctx));
  return { text: text.join("\n"), findings, gaps: rules.length === 0 ? [NO_RULES] : [] };
}

const NO_RULES: Gap = {
  what: "alerting rules",
  why: "this server evaluates none",
  help: "Where vmalert or a ruler evaluates them, start VictoriaMetrics with -vmalert.proxyURL, or name the ruler's address.",
};

/** One for each rule: what fires a hundred times has one cause more likely than a hundred. */
function findingOf(rule: Rule, alerts: readonly Alert[], { encoder }: ToolContext): Finding {
  const [first] = alerts;
  const all = alerts.map(({ labels }) => labels);
  const shared = all.length === 1 ? (all[0] ?? {}) : sharedLabels(all);
  const { summary, message, description } = first?.annotations ?? {};
  const value = first === undefined ? "" : `value ${formatValue(Number(first.value))}, rule `;
  const since = alerts.map(({ activeAt }) => activeAt).toSorted()[0] ?? "";
  return {
    object: { kind: "Alert", namespace: shared["namespace"] ?? "", name: rule.name },
    cause: summary ?? message ?? description ?? rule.query,
    severity: severityOf(shared),
    evidence: `${value}${clip(rule.query, 200, encoder)}; ${whereText(alerts, encoder)}`,
    since: since === "" ? null : since,
  };
}

/** The labels beside the name, which is said before them. */
function withoutName(labels: Labels): Labels {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => name !== "alertname"));
}

/** `×3 (all: job=api): pod=a; pod=b; pod=c`: what all share once, then how the first ones differ. */
function whereText(alerts: readonly Alert[], encoder: Encoder): string {
  const all = alerts.map(({ labels }) => withoutName(labels));
  const [first = {}] = all;
  if (all.length === 1) return labelText(first, encoder);
  const shared = sharedLabels(all);
  const common = Object.keys(shared).length === 0 ? "" : ` (all: ${labelText(shared, encoder)})`;
  const some = all.slice(0, MAX_INSTANCES).map((labels) => labelText(labels, encoder, shared));
  const more = all.length > MAX_INSTANCES ? `; and ${all.length - MAX_INSTANCES} more` : "";
  return `×${all.length}${common}: ${some.join("; ")}${more}`;
}

function alertsText(
  rule: Rule,
  alerts: readonly Alert[],
  now: number,
  { encoder }: ToolContext,
): string {
  const since = Math.min(...alerts.map(({ activeAt }) => Date.parse(activeAt)));
  const when = Number.isNaN(since) ? "" : `, since ${formatMoment(since, now)}`;
  return `${clip(rule.name, 100, encoder)} ${whereText(alerts, encoder)}${when}`;
}

/** The rules that are called so, with what they are. */
async function details(rules: readonly Rule[], wanted: string, now: number, ctx: ToolContext) {
  const names = await encodeEach(
    rules.map(({ name }) => name),
    ctx.encoder,
  );
  const part = wanted.toLowerCase();
  const exact = rules.filter((_, at) => names[at]?.toLowerCase() === part);
  const found =
    exact.length > 0 ? exact : rules.filter((_, at) => names[at]?.toLowerCase().includes(part));
  if (found.length === 0) {
    const near = nearest(wanted, [...new Set(names)]);
    const meant = near.length > 0 ? ` Did you mean ${near.join(", ")}?` : "";
    return { text: `No rule is called so, of ${rules.length}.${meant}`, failed: true };
  }
  const shown = found.slice(0, MAX_INSTANCES).map((rule) => detailText(rule, now, ctx));
  const rest = found.slice(MAX_INSTANCES).map(({ name }) => name);
  const more = rest.length > 0 ? [clip(`Also: ${rest.join(", ")}`, 500, ctx.encoder)] : [];
  return { text: [...shown, ...more].join("\n") };
}

function detailText(rule: Rule, now: number, ctx: ToolContext): string {
  const { encoder } = ctx;
  const { name, group, isAlerting, query, holdSeconds, labels, annotations, health, lastError } =
    rule;
  const firing = rule.alerts.filter(({ state }) => state === "firing").length;
  const state = firing > 0 ? "firing" : rule.alerts.length > 0 ? "pending" : "inactive";
  const kind = isAlerting ? `alerting rule, ${state}` : "recording rule";
  const hold = holdSeconds > 0 ? ` for ${formatElapsed(holdSeconds * 1_000)}` : "";
  const notes = Object.entries(annotations).map(([key, value]) => `${key}: ${value}`);
  return [
    clip(`${name} (${kind}, group ${group})`, 300, encoder),
    `  ${clip(`${query}${hold}`, 1_000, encoder)}`,
    ...(Object.keys(labels).length > 0 ? [`  labels: ${labelText(labels, encoder)}`] : []),
    ...notes.map((note) => `  ${clip(note, 300, encoder)}`),
    ...(health === "err" ? [`  ${clip(`fails: ${lastError}`, 400, encoder)}`] : []),
    ...(rule.alerts.length > 0 ? [`  ${alertsText(rule, rule.alerts, now, ctx)}`] : []),
  ].join("\n");
}
