import type { BotMessage, MessagePart } from "../../core/bot-message.ts";
import { alertOf } from "../alert.ts";
import { labelsOfTags } from "../sources/opsgenie.ts";
import { labelsIn } from "./labels.ts";
import { headed, linesOf, type MessageReader, type Status, withoutSigns } from "./words.ts";

/**
 * Opsgenie's app for Slack (support.atlassian.com/opsgenie/docs/integrate-opsgenie-with-slack-app): `New alert: #46353` or `ana
 * acknowledged alert #46353`, which leads to the alert, its message in quotes, and fields for priority and tags.
 */

const ALERT =
  /^https:\/\/(?:(?:eu\.)?opsg\.in\/a\/i\/[\w-]+|[\w.-]+\.opsgenie\.com\/alert\/detail)\/([\w-]{8,80})/;
const STATES: readonly (readonly [Status, RegExp])[] = [
  [
    "firing",
    /\bnew alert\b|\bun-?acknowledged\b|\bre-?opened\b|\bescalated\b|\bcreated alert\b|\balert (?:is )?(?:created|escalated)\b/i,
  ],
  ["acknowledged", /\backnowledged alert\b|\balert (?:is |was )?acknowledged\b/i],
  [
    "resolved",
    /\b(?:closed|deleted|resolved) alert\b|\balert (?:is |was )?(?:closed|deleted|resolved)\b/i,
  ],
];

export const readOpsgenie: MessageReader = (message) => {
  const part = headed(message).find((each) => alertIn(each) !== undefined);
  const found = part && alertIn(part);
  const status = statusOf(message);
  if (part === undefined || found === undefined || status === undefined) return undefined;
  const tags = message.parts
    .flatMap(({ fields }) => fields)
    .find(({ name }) => /^tags/i.test(name));
  return [
    alertOf({
      // As its webhooks have it.
      fingerprint: found.id,
      status,
      name: nameOf(message, part),
      labels: { ...labelsOfTags(tags?.value.split(/[,\s]+/)), ...labelsIn(message) },
      links: { Opsgenie: found.url },
    }),
  ];
};

function alertIn({ url, links }: MessagePart): { id: string; url: string } | undefined {
  const address = url ?? links[0]?.url ?? "";
  const id = ALERT.exec(address)?.[1];
  return id === undefined ? undefined : { id, url: address };
}

function statusOf({ parts }: BotMessage): Status | undefined {
  const [first = "", second = ""] = parts.flatMap(linesOf);
  return STATES.find(([, words]) => words.test(first) || words.test(second))?.[0];
}

/** What stands in quotes; else what stands behind the alert's number. */
function nameOf({ parts }: BotMessage, part: MessagePart): string {
  const lines = parts.flatMap(linesOf);
  const quoted = lines.flatMap((line) => /["“](.{3,300}?)[,.]?["”]/.exec(line)?.[1] ?? [])[0];
  const behind = /#\d{1,10}\b[\]:)\s-]*(.*)$/s.exec(part.title)?.[1] ?? part.title;
  return quoted ?? (withoutSigns(behind) || part.text.split("\n")[0] || "an alert without a name");
}
