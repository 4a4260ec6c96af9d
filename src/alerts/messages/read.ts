import type { BotMessage } from "../../core/bot-message.ts";
import type { Alert } from "../alert.ts";
import { readAlertmanager, readGrafana } from "./alertmanager.ts";
import { readDatadog } from "./datadog.ts";
import { readGeneric } from "./generic.ts";
import { readOpsgenie } from "./opsgenie.ts";
import { readPagerduty } from "./pagerduty.ts";
import { readSentry } from "./sentry.ts";
import type { MessageReader } from "./words.ts";

/** Those that know their system's by where its title leads come first. */
const READERS: readonly (readonly [string, MessageReader])[] = [
  ["pagerduty", readPagerduty],
  ["opsgenie", readOpsgenie],
  ["datadog", readDatadog],
  ["sentry", readSentry],
  ["grafana", readGrafana],
  ["alertmanager", readAlertmanager],
];
const MAX_ALERTS = 100;

export interface ReadMessage {
  /** The system, as in `/alerts/<name>`; of any other, the platform. */
  source: string;
  alerts: readonly Alert[];
  left: number;
}

/**
 * The alerts that a bot's message tells of; undefined for one that tells of none. `by`: the bot's account, which begins with its
 * platform's name.
 */
export function readBotMessage(message: BotMessage, by: string): ReadMessage | undefined {
  const [platform = ""] = by.split(":");
  const generic: MessageReader = (said) => readGeneric(said, by);
  for (const [source, read] of [...READERS, [platform, generic] as const]) {
    // What has no name could be shown to nobody.
    const alerts = (read(message) ?? []).filter(({ name }) => name.trim() !== "");
    const left = Math.max(0, alerts.length - MAX_ALERTS);
    if (alerts.length > 0) return { source, alerts: alerts.slice(0, MAX_ALERTS), left };
  }
  return undefined;
}
