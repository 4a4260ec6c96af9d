import type { BotMessage } from "../../core/bot-message.ts";
import { alertOf } from "../alert.ts";
import {
  addressOf,
  headed,
  linesOf,
  type MessageReader,
  type Status,
  withoutSigns,
} from "./words.ts";

/**
 * Sentry's apps for Slack and Discord (github.com/getsentry/sentry, src/sentry/integrations/{slack,discord}/message_builder): an
 * issue's title leads to it, tags are fields, the state is in the buttons and in the line that says who changed it. The message
 * is updated in place. A metric alert's title begins with its state.
 */

const ISSUE = /\/issues\/(\d{1,20})\b/;
const METRIC =
  /\/(?:alerts\/rules\/details|issues\/alerts\/rules\/details|monitors)\/([\w-]{1,40})/;
const METRIC_TITLE = /^(?<state>critical|warning|resolved)\s*:\s*(?<name>.+)$/is;

export const readSentry: MessageReader = (message) => {
  for (const part of headed(message)) {
    const address = addressOf(part);
    if (address === undefined || !isSentrys(address)) continue;
    const id = ISSUE.exec(address.pathname)?.[1];
    const metric = METRIC.exec(address.pathname)?.[1];
    const said = METRIC_TITLE.exec(withoutSigns(part.title))?.groups;
    if (said !== undefined && (metric ?? id) !== undefined) {
      const isOver = said["state"]?.toLowerCase() === "resolved";
      return [
        alertOf({
          fingerprint: `rule ${metric ?? id}`,
          status: isOver ? "resolved" : "firing",
          name: said["name"] ?? "",
          labels: {
            ...labelsOf(message),
            ...(!isOver && { severity: said["state"]?.toLowerCase() }),
          },
          summary: part.text,
          links: { Sentry: address.href },
        }),
      ];
    }
    if (id === undefined) continue;
    return [
      alertOf({
        // As its webhooks have it.
        fingerprint: `issue ${id}`,
        status: statusOf(message),
        name: withoutSigns(part.title),
        labels: labelsOf(message),
        summary: part.text.split("\n")[0],
        links: { Sentry: address.href },
      }),
    ];
  }
  return undefined;
};

/** It marks its links with where they stand, wherever it is hosted. */
function isSentrys({ hostname, searchParams }: URL): boolean {
  const from = searchParams.get("referrer") ?? "";
  return /(?:^|\.)sentry\.io$|^sentry\./.test(hostname) || /slack|discord/.test(from);
}

function statusOf({ parts }: BotMessage): Status {
  const lines = parts.flatMap(linesOf);
  if (lines.some((line) => /^issue (?:resolved|archived|ignored)\b/i.test(line))) return "resolved";
  if (lines.some((line) => /^issue re-?opened\b/i.test(line))) return "firing";
  const buttons = parts.flatMap((part) => part.buttons);
  const isOver = buttons.some((label) =>
    /^(?:unresolve|mark as ongoing|stop ignoring)/i.test(label),
  );
  return isOver ? "resolved" : "firing";
}

/** Its tags, and the project of its last line: `Project: shop    Alert: errors    Short ID: SHOP-1`, or `SHOP-1 via errors`. */
function labelsOf({ parts }: BotMessage): Record<string, string> {
  const labels: Record<string, string> = {};
  const note = (name: string, value: string) => {
    if (value !== "" && !value.includes("\n")) labels[name] ??= value;
  };
  for (const { fields, footer } of parts) {
    for (const { name, value } of fields) note(name.replace(/:$/, "").toLowerCase(), value);
    const { project = "", short = "" } =
      /Project:\s*(?<project>\S+).*?Short ID:\s*(?<short>\S+)/s.exec(footer)?.groups ?? {};
    note("project", project);
    note("short_id", short || (/^([A-Z][A-Z0-9_-]*-[A-Z0-9]+)\b/.exec(footer)?.[1] ?? ""));
  }
  const { level, environment, ...rest } = labels;
  return {
    ...rest,
    ...(environment !== undefined && { env: environment }),
    ...(level !== undefined && { severity: level }),
  };
}
