import type { JsonObject } from "../../core/entry.ts";
import { ago, cell, stamp } from "./format.ts";
import { refOf } from "./kinds.ts";
import { numberAt, objectAt, textAt } from "./objects.ts";

/** Events that say the same, as one. */
export interface FoldedEvent {
  type: string;
  reason: string;
  message: string;
  count: number;
  /** ms since 1970; 0: not known. */
  first: number;
  last: number;
  /** `pod/web-5d4f9`, each once. */
  objects: string[];
  namespaces: string[];
}

/** When it was seen last, ms since 1970. */
export function eventTime(event: JsonObject): number {
  const times = [
    textAt(event, "series", "lastObservedTime"),
    textAt(event, "lastTimestamp"),
    textAt(event, "eventTime"),
    textAt(event, "metadata", "creationTimestamp"),
  ];
  return Date.parse(times.find((time) => time !== "") ?? "") || 0;
}

/** Newest first. What is said of several objects in the same words is one, whatever their names are. */
export function foldEvents(events: readonly JsonObject[]): FoldedEvent[] {
  const folded = new Map<string, FoldedEvent>();
  for (const event of events) {
    const about = objectAt(event, "involvedObject");
    const name = textAt(about, "name");
    const message = textAt(event, "message") || textAt(event, "note");
    const [type, reason] = [textAt(event, "type"), textAt(event, "reason")];
    const same = [
      type,
      reason,
      textAt(about, "kind"),
      message.replaceAll(name, "*").replaceAll(UNIQUE, "#"),
    ].join("\0");
    const last = eventTime(event);
    const first = Date.parse(textAt(event, "firstTimestamp")) || last;
    const count = Math.max(1, numberAt(event, "count"), numberAt(event, "series", "count"));
    const object = refOf(textAt(about, "kind"), name);
    const known = folded.get(same);
    const namespace = textAt(about, "namespace");
    if (known === undefined) {
      folded.set(same, {
        type,
        reason,
        message,
        count,
        first,
        last,
        objects: [object],
        namespaces: [namespace],
      });
      continue;
    }
    known.count += count;
    known.first = Math.min(known.first, first);
    if (last > known.last) Object.assign(known, { last, message });
    if (!known.objects.includes(object)) known.objects.push(object);
    if (!known.namespaces.includes(namespace)) known.namespaces.push(namespace);
  }
  return [...folded.values()].toSorted((a, b) => b.last - a.last);
}

/** UIDs, times and hexadecimal ids, by which messages differ that say the same. */
const UNIQUE = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b|\b[0-9a-f]{12,}\b|\b\d+(?:\.\d+)?m?s\b/g;

/** `2026-11-23 01:30:05 (4 min ago) Warning BackOff ×12 pod/web-a, pod/web-b: Back-off restarting failed container` */
export function eventLine(
  event: FoldedEvent,
  options: { namespaces: boolean; objects?: boolean },
  now = Date.now(),
): string {
  const { type, reason, message, count, last, objects, namespaces } = event;
  const shown = objects.slice(0, 3).join(", ");
  const more = objects.length > 3 ? ` and ${objects.length - 3} more` : "";
  const where =
    options.namespaces && namespaces.some((name) => name !== "")
      ? ` [${namespaces.slice(0, 3).join(", ")}]`
      : "";
  const times = count > 1 ? ` ×${count}` : "";
  const about = options.objects === false ? "" : ` ${shown}${more}${where}`;
  const when =
    last === 0 ? "unknown time" : `${stamp(last)} (${ago(new Date(last).toISOString(), now)})`;
  return `${when} ${type} ${reason}${times}${about}: ${cell(message, 300)}`;
}
