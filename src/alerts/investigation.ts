import type { Draft } from "../core/entry.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { oneLine } from "../core/text.ts";
import type { Alert } from "./alert.ts";
import type { Group, Groups } from "./groups.ts";

/** What has a model look into a new group at once, where its route says so. */

/** So many in an hour: a storm of alerts is one incident. */
const MAX_AN_HOUR = 20;
const HOUR_MS = 3_600_000;
const MAX_ALERTS = 12;

/** What starts it in the group's thread: a message of whoever told of the group, which instructs nobody. */
export function investigationOf(
  of: JournalKey,
  group: Group,
  { open }: Pick<Groups, "open">,
): Draft<"message"> | undefined {
  const { id, investigate: actor, openedAt } = group;
  if (actor === undefined) return undefined;
  const lately = [...open.values()].filter(
    (each) => each.investigate !== undefined && openedAt - each.openedAt < HOUR_MS,
  );
  if (lately.indexOf(group) >= MAX_AN_HOUR) return undefined;
  const lines = [...group.members.values()]
    .slice(0, MAX_ALERTS)
    .flatMap(({ alert }) => linesOf(alert));
  return {
    id: `alert:${of}:${id}`,
    kind: "message",
    actor: { ...actor },
    app: true,
    text: lines.join("\n"),
    address: {},
  };
}

function linesOf({ status, name, labels, summary, description, links = [] }: Alert): string[] {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}=${value}`);
  return [
    oneLine(`${status}: ${name}`),
    ...(pairs.length > 0 ? [oneLine(pairs.join(", "))] : []),
    ...[summary, description].flatMap((text) => (text === undefined ? [] : [text])),
    ...links.map(({ label, url }) => `${label}: ${url}`),
  ];
}
