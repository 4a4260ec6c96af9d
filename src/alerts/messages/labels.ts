import type { BotMessage, MessagePart } from "../../core/bot-message.ts";
import type { LabelName } from "../../core/label-names.ts";

/** Labels that can be read from a message, under the names that routes and checks know. */

const NAMES: Readonly<Record<string, string>> = {
  service: "service",
  services: "service",
  "impacted service": "service",
  application: "app",
  app: "app",
  job: "job",
  host: "host",
  hostname: "host",
  server: "host",
  node: "node",
  instance: "instance",
  namespace: "namespace",
  pod: "pod",
  container: "container",
  deployment: "deployment",
  cluster: "cluster",
  region: "region",
  environment: "env",
  env: "env",
  team: "team",
  project: "project",
  severity: "severity",
  priority: "severity",
  urgency: "severity",
  monitor: "monitor",
  alertname: "alertname",
  url: "url",
};

/** What tells apart two alerts that are headed alike. */
const PLACES: readonly LabelName[] = [
  "service",
  "app",
  "namespace",
  "pod",
  "instance",
  "host",
  "node",
  "cluster",
  "url",
];

/** Pairs in running text, such as `service=checkout` or `Namespace: shop`. */
const PAIR =
  /(?:^|[\s,;({|•[])"?(service|app|application|job|host|hostname|node|instance|namespace|pod|container|deployment|cluster|region|env|environment|team|project|severity|priority)"?\s{0,2}[=:]\s{0,2}(?:"([^"\n]{1,200})"|'([^'\n]{1,200})'|([^\s,;|)}\]"']{1,200}))/gi;
const MAX_PAIRS = 40;

/** The labels that the message's fields and its text name. A field says more than running text does. */
export function labelsIn({ parts }: BotMessage): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const { name, value } of parts.flatMap(({ fields }) => fields))
    note(labels, name.replace(/:$/, ""), value);
  for (const part of parts) noteText(labels, part);
  return labels;
}

function noteText(labels: Record<string, string>, { title, text }: MessagePart): void {
  let count = 0;
  for (const found of `${title}\n${text}`.matchAll(PAIR)) {
    if ((count += 1) > MAX_PAIRS) return;
    const [, name = "", quoted, single, bare] = found;
    note(labels, name, quoted ?? single ?? bare ?? "");
  }
}

function note(labels: Record<string, string>, name: string, value: string): void {
  const known = NAMES[name.trim().toLowerCase()];
  const said = value.trim();
  if (known === undefined || labels[known] !== undefined) return;
  if (said !== "" && said.length <= 200 && !said.includes("\n")) labels[known] = said;
}

/** What an alert is about, as one text: the same for the same. */
export function placeIn(labels: Readonly<Record<string, string>>): string {
  return PLACES.flatMap((name) => labels[name] ?? []).join(" ");
}
