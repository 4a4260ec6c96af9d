import type { Alert } from "../alert.ts";

/**
 * Alerts that are listed in a message's text with their labels, a line for each, as Alertmanager's and Grafana's templates do
 * (`Labels:`, ` - name = value`, `Annotations:`, `Source: …`), or as most templates that people write (`*Alert:* …`,
 * ` • *name:* value`).
 */

interface Listed {
  status: Alert["status"];
  /** As it is headed, where it is. */
  name: string | undefined;
  labels: Record<string, string>;
  texts: Record<string, string>;
  links: Record<string, string>;
}

const MAX_ALERTS = 200;
const SECTION = /^(?:alerts? )?(firing|resolved)\b[^=]{0,30}$/i;
const PAIR = /^[-•*–]\s*"?([A-Za-z_][\w.-]{0,100})"?\s*[=:]\s*(.*)$/;
const TEXT = /^(summary|description|message|runbook(?:_url)?)\s*:\s*(.+)$/i;
const LINK = /^(source|silence|dashboard|panel)\s*:\s*(https?:\/\/\S+)/i;
const LINK_NAMES: Readonly<Record<string, string>> = {
  source: "Query",
  silence: "Silence",
  dashboard: "Dashboard",
  panel: "Panel",
};

/** Those with a label at least. `told`: what the message itself says of them. */
export function readList(lines: readonly string[], told: Alert["status"]): Listed[] {
  const found: Listed[] = [];
  let status = told;
  let isText = false;
  const begin = (name?: string): Listed => {
    const next: Listed = { status, name, labels: {}, texts: {}, links: {} };
    if (found.length < MAX_ALERTS) found.push(next);
    isText = false;
    return next;
  };
  for (const line of lines) {
    const last = found.at(-1);
    const [, section] = SECTION.exec(line) ?? [];
    const [, name, value = ""] = PAIR.exec(line) ?? [];
    const [, about, words = ""] = TEXT.exec(line) ?? [];
    const [, link = "", url] = LINK.exec(line) ?? [];
    const [, alert] = /^alert(?:name)?\s*:\s*(.+)$/i.exec(line) ?? [];
    if (section !== undefined) status = section.toLowerCase() === "firing" ? "firing" : "resolved";
    else if (/^labels\s*:$/i.test(line)) begin();
    else if (alert !== undefined) begin(alert);
    else if (/^annotations\s*:$/i.test(line)) isText = true;
    else if (last === undefined) continue;
    else if (name !== undefined && isText) last.texts[name] = value;
    else if (name !== undefined) last.labels[name] ??= unquoted(value);
    else if (about !== undefined) last.texts[about.toLowerCase()] ??= words;
    else if (url !== undefined) last.links[LINK_NAMES[link.toLowerCase()] ?? "Link"] = url;
  }
  const isCut = /(?:…|\.\.\.)$/.test(lines.at(-1) ?? "");
  const whole = isCut && found.length > 1 ? found.slice(0, -1) : found;
  return whole.filter(({ labels }) => Object.keys(labels).length > 0);
}

function unquoted(value: string): string {
  return value.replace(/^["'`](.*)["'`]$/, "$1").trim();
}
