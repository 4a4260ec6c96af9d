import type { AlertFields, Entry } from "../core/entry.ts";
import { formatUtc, showDuration } from "../core/instant.ts";
import { severityOf, urgencyOf } from "../core/severity-words.ts";
import { counted, oneLine, shortened } from "../core/text.ts";
import type { UntoldFact } from "./state.ts";

/** What groups of alerts are called, and how urgent they are. All that an alert says is its system's words. */

/** Of the most urgent. */
export function urgencyIn(alerts: readonly AlertFields[]): number {
  return Math.max(0, ...alerts.map(({ labels }) => urgencyOf(labels)));
}

/** The same as its system calls it; undefined where it says nothing of that. */
export function severityIn(alerts: readonly AlertFields[]): string | undefined {
  const most = urgencyIn(alerts);
  const worst = alerts.find(({ labels }) => urgencyOf(labels) === most);
  return worst && severityOf(worst.labels);
}

/** Those that are not over, else all that are known one by one. */
export function standingIn({ alerts }: Pick<Entry<"alert_state">, "alerts">): AlertFields[] {
  const standing = alerts.filter(({ status }) => status !== "resolved");
  return standing.length > 0 ? standing : alerts;
}

/** `HighErrorRate (critical): 3 firing, 1 acknowledged` */
export function alertsLine(state: Entry<"alert_state">): string {
  const severity = severityIn(standingIn(state));
  const how = severity === undefined ? "" : ` (${lineOf(severity, MAX_NAME)})`;
  return `${lineOf(state.name, MAX_NAME)}${how}: ${countsOf(state)}`;
}

/** `3 firing, 1 acknowledged, 2 over`; of a single one without its number. */
function countsOf({
  firing,
  acknowledged,
  resolved,
}: Pick<Entry<"alert_state">, "firing" | "acknowledged" | "resolved">): string {
  const isOne = firing + acknowledged + resolved === 1;
  const told = [
    { many: firing, word: "firing" },
    { many: acknowledged, word: "acknowledged" },
    { many: resolved, word: "over" },
  ].filter(({ many }) => many > 0);
  return told.map(({ many, word }) => (isOne ? word : `${many} ${word}`)).join(", ");
}

const MAX_NAME = 120;
const MAX_SUMMARY = 300;

/** To those whom the route names. */
export function alertsFire({
  name,
  severity,
  summary,
}: Extract<UntoldFact, { kind: "alerts_fire" }>): string {
  const how = severity === undefined ? "" : ` (${lineOf(severity, MAX_NAME)})`;
  const what = summary === undefined ? "" : `: ${lineOf(summary, MAX_SUMMARY)}`;
  return `🔥 ${lineOf(name, MAX_NAME)} fires${how}${what}`;
}

export function alertsAreOver({
  name,
  count,
  ms,
  incident,
}: Extract<UntoldFact, { kind: "alerts_over" }>): string {
  const many = count > 1 ? ` (${counted(count, "alert")})` : "";
  const open =
    incident === undefined
      ? ""
      : ` ${incident} is still open: the alert's message above has the button that resolves it.`;
  return `✅ ${lineOf(name, MAX_NAME)} is over after ${showDuration(ms)}${many}.${open}`;
}

function lineOf(text: string, most: number): string {
  return shortened(oneLine(text), most);
}

/** So many characters of each alert a model is told. */
const MAX_TOLD = 1_000;

/** For a model: what fires, with its labels. */
export function alertsText(state: Entry<"alert_state">): string {
  const lines = standingIn(state).map(
    ({ name, status, labels, summary, description, startsAt }) => {
      const since = startsAt === undefined ? "" : ` since ${formatUtc(startsAt, "second")}`;
      const about = [summary, description].filter((text) => text !== undefined).join(" | ");
      return shortened(
        oneLine(`- ${name} ${status}${since} ${JSON.stringify(labels)} ${about}`),
        MAX_TOLD,
      );
    },
  );
  return [alertsLine(state), ...lines].join("\n");
}
