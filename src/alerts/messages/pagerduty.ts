import type { BotMessage, MessagePart } from "../../core/bot-message.ts";
import { alertOf } from "../alert.ts";
import { labelsIn } from "./labels.ts";
import {
  headed,
  linesOf,
  type MessageReader,
  type Status,
  statusOfColor,
  statusOfField,
  withoutSigns,
} from "./words.ts";

/**
 * PagerDuty's app for Slack (support.pagerduty.com/main/docs/slack-integration-guide): the incident's title leads to it, fields
 * name service and urgency, and the buttons are what can still be done. The message is updated in place. Its form is not
 * published: what is relied on is the incident's address, and a word, button or color for its state.
 */

const INCIDENT = /^https:\/\/[\w-]+(?:\.eu)?\.pagerduty\.com\/incidents\/([A-Z0-9]{6,20})\b/;
const STATES: readonly (readonly [Status, RegExp])[] = [
  ["resolved", /^(?:auto-?)?resolved\b|^incident (?:is |was |has been )?resolved\b/i],
  ["acknowledged", /^acknowledged\b|^incident (?:is |was |has been )?acknowledged\b/i],
  [
    "firing",
    /^(?:(?:re-?)?triggered|re-?opened|unacknowledged|escalated)\b|^incident (?:is |was )?triggered\b|^new incident\b/i,
  ],
];

export const readPagerduty: MessageReader = (message) => {
  const part = headed(message).find((each) => incidentOf(each) !== undefined);
  const incident = part && incidentOf(part);
  if (part === undefined || incident === undefined) return undefined;
  const status = statusOf(message);
  if (status === undefined) return undefined;
  const { service, ...labels } = labelsIn(message);
  return [
    alertOf({
      // As its webhooks have it.
      fingerprint: incident.id,
      status,
      name: nameOf(part),
      labels: { service, ...labels },
      links: { PagerDuty: incident.url },
    }),
  ];
};

function incidentOf({ url, links }: MessagePart): { id: string; url: string } | undefined {
  const address = url ?? links[0]?.url ?? "";
  const id = INCIDENT.exec(address)?.[1];
  return id === undefined ? undefined : { id, url: address };
}

function statusOf(message: BotMessage): Status | undefined {
  const { parts } = message;
  for (const line of parts.flatMap(linesOf)) {
    const found = STATES.find(([, words]) => words.test(withoutSigns(line)));
    if (found !== undefined) return found[0];
  }
  const said = parts.map(statusOfField).find((status) => status !== undefined);
  if (said !== undefined) return said;
  const buttons = parts.flatMap((part) => part.buttons).map((label) => label.toLowerCase());
  if (buttons.includes("acknowledge")) return "firing";
  if (buttons.includes("resolve")) return "acknowledged";
  return parts.map(({ color }) => statusOfColor(color)).find((status) => status !== undefined);
}

/** `Triggered #42: disk full` and `[#42] disk full` are of the same. */
function nameOf({ title }: MessagePart): string {
  const bare = withoutSigns(title)
    .replace(/^(?:triggered|acknowledged|resolved|reopened|escalated)\b[:\s]*/i, "")
    .replace(/^(?:incident\s+)?\[?#\d{1,9}\]?[:\s-]*/i, "")
    .trim();
  return bare === "" ? "an incident without a title" : bare;
}
