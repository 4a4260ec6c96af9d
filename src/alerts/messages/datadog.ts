import { alertOf } from "../alert.ts";
import { labelsIn } from "./labels.ts";
import { addressOf, headed, type MessageReader, type Status } from "./words.ts";

/**
 * Datadog's app for Slack, and its webhooks for Discord (docs.datadoghq.com/monitors/notify): the title says what happened to the
 * monitor, and leads to it: `Triggered: CPU is high on host:web-1`, `[P2] [Recovered on {host:web-1}] CPU is high`.
 */

const PRIORITY = String.raw`(?:\[?(?<priority>P[1-5])\]?:?\s*)?`;
const WORD =
  "re-?triggered|triggered|re-?notified|recovered|resolved|warn(?:ing)?|no data|re-?no data|alert|manually resolved";
const TITLE = new RegExp(
  String.raw`^${PRIORITY}(?:(?<word>${WORD})(?: on \{(?<scope>[^}]{1,300})\})?:|\[(?<bracketed>${WORD})(?: on \{(?<inside>[^}]{1,300})\})?\])\s*(?<name>.+)$`,
  "is",
);

const MAX_TITLE = 600;

export const readDatadog: MessageReader = (message) => {
  for (const part of headed(message)) {
    const address = addressOf(part);
    const isDatadogs = /(?:^|\.)(?:datadoghq\.(?:com|eu)|ddog-gov\.com)$/.test(
      address?.hostname ?? "",
    );
    const said = isDatadogs ? TITLE.exec(part.title.slice(0, MAX_TITLE))?.groups : undefined;
    if (address === undefined || said === undefined) continue;
    const monitor = /\/monitors[/#](\d{1,20})/.exec(address.href)?.[1];
    const word = (said["word"] ?? said["bracketed"] ?? "").toLowerCase();
    const status: Status = /recovered|resolved/.test(word) ? "resolved" : "firing";
    const { title, rest } = named(said["name"] ?? "");
    const scope =
      address.searchParams.get("group") ?? said["scope"] ?? said["inside"] ?? rest ?? "";
    return [
      alertOf({
        // As its webhooks have it (docs/alerts.md), as far as the message tells.
        fingerprint: monitor === undefined ? undefined : `${monitor} ${scope}`.trim(),
        status,
        name: title,
        labels: {
          ...labelsOfScope(scope),
          ...labelsIn(message),
          severity: said["priority"],
        },
        description: part.text,
        links: { Datadog: address.href },
      }),
    ];
  }
  return undefined;
};

/** A monitor of several groups says in its title which it is about. */
function named(name: string): { title: string; rest: string | undefined } {
  const [, title, rest] =
    /^(.+?) on \{?([\w.-]+:[^\s,}]+(?:,[\w.-]+:[^\s,}]+)*)\}?$/s.exec(name.trim()) ?? [];
  return { title: title ?? name.trim(), rest };
}

function labelsOfScope(scope: string): Record<string, string> {
  const pairs = scope.split(",").flatMap((tag) => {
    const [, name, value] = /^([\w.-]+):(.+)$/s.exec(tag.trim()) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(pairs);
}
