import { createHash } from "node:crypto";
import type { BotMessage, MessagePart } from "../../core/bot-message.ts";
import { type Alert, alertOf } from "../alert.ts";
import { labelsIn } from "./labels.ts";
import { readList } from "./label-list.ts";
import { addressOf, headed, linesOf, type MessageReader, statusOfColor } from "./words.ts";

/**
 * Alertmanager's receivers for Slack and Discord with the templates that it brings (github.com/prometheus/alertmanager,
 * template/default.tmpl, notify/slack, notify/discord): a title `[FIRING:2] values of the group's labels (values of the others)`,
 * red or green, and in Discord the list of alerts with all labels. Grafana's contact points
 * (github.com/grafana/alerting, templates/default_template.go) do the same, with `**Firing**` above the list and its version in
 * the footer; before version 9 its title was `[Alerting] name`.
 */

const TITLE =
  /^\[(?<state>FIRING|RESOLVED)(?::(?<count>\d{1,6}))?(?:, ?RESOLVED:\d{1,6})?\]\s*(?<rest>.*)$/is;
const OLD_TITLE = /^\[(?<state>Alerting|OK|No Data)\]\s*(?<rest>.+)$/s;

export const readAlertmanager: MessageReader = (message) => {
  const part = headed(message).find(({ title }) => TITLE.test(title));
  return part === undefined || isGrafanas(message) ? undefined : read(message, part, true);
};

export const readGrafana: MessageReader = (message) => {
  if (!isGrafanas(message)) return undefined;
  const part = headed(message).find(({ title }) => TITLE.test(title) || OLD_TITLE.test(title));
  return part && read(message, part, false);
};

function isGrafanas({ parts }: BotMessage): boolean {
  return parts.some((part) => {
    const { pathname = "" } = addressOf(part) ?? {};
    return /^Grafana\b/.test(part.footer) || /\/alerting\/(?:list|grafana|[\w-]+\/)/.test(pathname);
  });
}

function read(message: BotMessage, part: MessagePart, isFingerprinted: boolean): Alert[] {
  const { state = "", rest = "" } =
    (TITLE.exec(part.title) ?? OLD_TITLE.exec(part.title))?.groups ?? {};
  const status = /^(?:resolved|ok)$/i.test(state) ? "resolved" : "firing";
  const single = message.parts.flatMap((each) => ofFields(each, status));
  if (single.length > 0) return single;
  const listed = readList(message.parts.flatMap(linesOf), status);
  const address = part.url;
  if (listed.length > 0)
    return listed.map(({ status: own, name, labels, texts, links }) =>
      alertOf({
        // As Alertmanager's own requests have it, so that one alert is one whichever way it came.
        fingerprint: isFingerprinted ? fingerprintOf(labels) : undefined,
        status: own,
        name: labels["alertname"] ?? name ?? nameIn(rest),
        labels,
        summary: texts["summary"] ?? texts["message"] ?? name,
        description: texts["description"],
        links: { ...links, Alert: address, Runbook: texts["runbook_url"] },
      }),
    );
  const { group, others } = valuesIn(rest);
  const severity = others.concat(group).find((value) => SEVERITY.test(value));
  const instance = others.concat(group).find((value) => /^[\w.-]+:\d{2,5}$/.test(value));
  const text = message.parts.map((each) => each.text).find((each) => each.trim() !== "");
  return [
    alertOf({
      // The other labels are those that all alerts of the group have in common just now.
      fingerprint: hashOf(group.length > 0 ? group : others),
      status,
      name: nameIn(rest),
      labels: { severity, instance, ...labelsIn(message) },
      summary: text === undefined ? undefined : oneOf(text),
      links: { Alert: address },
    }),
  ];
}

const SEVERITY = /^(?:critical|warning|info|error|page|major|minor|high|low|p[0-5]|none)$/i;

/** One of its first lines that says something. */
function oneOf(text: string): string | undefined {
  return text.split("\n").find((line) => /\p{L}/u.test(line));
}

/** In Discord an alert may be an embed of its own: its labels are fields, and the footer is its fingerprint. */
function ofFields(part: MessagePart, told: Alert["status"]): Alert[] {
  const labels = Object.fromEntries(part.fields.map(({ name, value }) => [name, value]));
  const { alertname } = labels;
  if (alertname === undefined || !/^[0-9a-f]{16}$/.test(part.footer)) return [];
  const status = statusOfColor(part.color) ?? told;
  return [
    alertOf({
      fingerprint: part.footer,
      status,
      name: alertname,
      labels,
      links: { Alert: part.url },
    }),
  ];
}

/** `HighErrorRate checkout (prod web-1:9090 critical)`: names are not told, only values. */
function valuesIn(rest: string): { group: string[]; others: string[] } {
  const at = rest.lastIndexOf("(");
  const isClosed = at >= 0 && rest.trimEnd().endsWith(")");
  const split = (text: string) => text.split(/\s+/).filter((value) => value !== "");
  if (!isClosed) return { group: split(rest), others: [] };
  return { group: split(rest.slice(0, at)), others: split(rest.trimEnd().slice(at + 1, -1)) };
}

/** An alert's name is the first of its labels, and written as one word in capitals where others are not. */
function nameIn(rest: string): string {
  const { group, others } = valuesIn(rest);
  const isName = (value: string | undefined) => /^[A-Z][A-Za-z0-9_]*[a-z]/.test(value ?? "");
  const [first, other] = [group[0], others[0]];
  const name = !isName(first) && isName(other) ? other : (first ?? other);
  return name ?? "an alert without a name";
}

function hashOf(values: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(values)).digest("hex").slice(0, 20);
}

/** FNV-1a over the sorted labels, as github.com/prometheus/common, model/signature.go. */
function fingerprintOf(labels: Readonly<Record<string, string>>): string {
  let sum = 14_695_981_039_346_656_037n;
  const add = (bytes: Uint8Array) => {
    for (const byte of bytes) sum = BigInt.asUintN(64, (sum ^ BigInt(byte)) * 1_099_511_628_211n);
  };
  const end = Uint8Array.of(255);
  for (const name of Object.keys(labels).toSorted())
    for (const each of [name, labels[name] ?? ""]) {
      add(Buffer.from(each));
      add(end);
    }
  return sum.toString(16).padStart(16, "0");
}
