import * as z from "zod";
import type { Finding } from "../../core/finding.ts";
import { nearest } from "../../core/nearest.ts";
import type { Encoder } from "../../security/encoder.ts";
import { clip, severityOf } from "../labels.ts";
import { orRefused } from "../refusal.ts";
import { nowOf } from "../since.ts";
import { defineTool, type ToolContext, type ToolOutput } from "../tool.ts";
import {
  type Alert,
  type Alertmanager,
  createAlertmanager,
  type Silence,
  TOOL_TIMEOUT_MS,
} from "./api.ts";
import { type Instances, matchersField } from "./fields.ts";
import { instanceArgument, instanceOf } from "../instances.ts";
import { type Matcher, readMatchers } from "./matchers.ts";
import {
  commonOf,
  type Group,
  groupsOf,
  groupText,
  hidingFindings,
  sinceOf,
  untilText,
} from "./shown.ts";

const MAX_ROWS = 10;

export function createAlerts(instances: Instances) {
  return defineTool({
    name: "alertmanager_alerts",
    summary: "lists firing alerts by name, the worst first, and what silences hide",
    description:
      "Alerts in Alertmanager, grouped by name, the worst first: those that notify people, then those that a silence or another alert hides, and until when.",
    input: z.strictObject({
      matchers: matchersField.default([]),
      ...instanceArgument(instances),
    }),
    effect: "read",
    doing: () => "Reading the alerts in Alertmanager",
    endpoints: instances,
    timeoutMs: TOOL_TIMEOUT_MS,
    run: ({ matchers: written, instance }, ctx) =>
      orRefused(async () => {
        const matchers = readMatchers(written);
        const server = createAlertmanager(ctx, instanceOf({ instance }, instances));
        const alerts = await server.alerts(matchers);
        if (alerts.length === 0) return nothing(server, matchers, ctx.encoder);
        const isHidden = alerts.some(({ silencedBy }) => silencedBy.length > 0);
        return report(alerts, isHidden ? await server.silences() : [], ctx, instance);
      }),
  });
}

function report(
  alerts: readonly Alert[],
  silences: readonly Silence[],
  ctx: ToolContext,
  instance: string | undefined,
): ToolOutput {
  const { encoder } = ctx;
  const now = nowOf(ctx);
  const silenced = alerts.filter(({ silencedBy }) => silencedBy.length > 0);
  const inhibited = alerts.filter(
    ({ silencedBy, inhibitedBy }) => silencedBy.length === 0 && inhibitedBy.length > 0,
  );
  const active = alerts.filter((alert) => !silenced.includes(alert) && !inhibited.includes(alert));
  const loud = groupsOf(active);
  const rows = (quiet: readonly Alert[], why: (group: Group) => string) => {
    const groups = groupsOf(quiet);
    const shown = groups
      .slice(0, MAX_ROWS)
      .map((group) => `- ${why(group)} ${groupText(group, encoder)}`);
    return groups.length > MAX_ROWS
      ? [...shown, `and ${groups.length - MAX_ROWS} more names`]
      : shown;
  };
  const bySilence = new Map(silences.map((silence) => [silence.id, silence]));
  const text = [
    `${active.length} firing, ${silenced.length} silenced, ${inhibited.length} inhibited by other alerts.`,
    ...(loud.length > MAX_ROWS ? [`and ${loud.length - MAX_ROWS} more names that fire`] : []),
    ...rows(silenced, (group) => silencedText(group, bySilence, now, encoder)),
    ...rows(inhibited, () => "inhibited:"),
  ];
  const findings = [
    ...loud.slice(0, MAX_ROWS).map((group) => findingOf(group, encoder)),
    ...hidingFindings({ silences, alerts }, { instance, now, encoder }),
  ];
  return { text: text.join("\n"), findings };
}

/** `silenced until … by ana ("planned"):` */
function silencedText(
  { alerts }: Group,
  silences: ReadonlyMap<string, Silence>,
  now: number,
  encoder: Encoder,
): string {
  const ids = alerts.flatMap(({ silencedBy }) => silencedBy);
  const last = [...new Set(ids)]
    .flatMap((id) => silences.get(id) ?? [])
    .toSorted((a, b) => b.endsAt - a.endsAt)[0];
  if (last === undefined) return "silenced:";
  const { endsAt, createdBy, comment } = last;
  const by = clip(`${createdBy} (${JSON.stringify(comment)})`, 150, encoder);
  return `silenced until ${untilText(endsAt, now)} by ${by}:`;
}

function findingOf(group: Group, encoder: Encoder): Finding {
  const { name, alerts } = group;
  const common = commonOf(alerts);
  const { summary, message, description } = alerts[0]?.annotations ?? {};
  return {
    object: { kind: "Alert", namespace: common["namespace"] ?? "", name },
    cause: summary ?? message ?? description ?? name,
    severity: severityOf(alerts.length === 1 ? common : worstOf(alerts)),
    evidence: groupText(group, encoder),
    since: sinceOf(alerts) ?? null,
  };
}

/** The labels of the worst of them. */
function worstOf(alerts: readonly Alert[]) {
  const worst = alerts.find(({ labels }) => severityOf(labels) === "error") ?? alerts[0];
  return worst?.labels ?? {};
}

/** Says so, and of each matcher's value that no alert has which was meant. */
async function nothing(
  server: Alertmanager,
  matchers: readonly Matcher[],
  encoder: Encoder,
): Promise<ToolOutput> {
  if (matchers.length === 0) return { text: "No alert is firing." };
  const near = await meantBy(server, matchers, encoder);
  return { text: ["No alert matches.", ...near].join(" ") };
}

/** A sentence for each value that no alert has now. */
export async function meantBy(
  server: Alertmanager,
  matchers: readonly Matcher[],
  encoder: Encoder,
): Promise<string[]> {
  const all = await server.alerts([]);
  return matchers.flatMap(({ name, value, isRegex, isEqual }) => {
    if (isRegex || !isEqual) return [];
    const values = [...new Set(all.flatMap(({ labels }) => labels[name] ?? []))];
    if (values.includes(value)) return [];
    const near = nearest(value, values);
    const meant = near.length > 0 ? ` Did you mean ${near.join(", ")}?` : "";
    const lacks = values.length === 0 ? `a label ${name}` : `${name}=${JSON.stringify(value)}`;
    return [clip(`No alert that fires now has ${lacks}.${meant}`, 300, encoder)];
  });
}
