import { formatUtc } from "../../core/instant.ts";
import { shortened } from "../../core/text.ts";
import type { OpenIncident } from "../overview.ts";

/*
 * What is written in somebody's name when they press something in a message's menu. It names the message and does not repeat
 * it: a command's words count as those of the person who gives it, and these would be somebody else's, or an alert's.
 */

/** `isFirst`: the thread is about the message. */
export function investigationOf(at: number, isFirst: boolean): string {
  if (isFirst) return "Investigate this.";
  return `Investigate the message of ${formatUtc(at, "second")} in this thread.`;
}

/** What an incident's timeline says of it. */
export function noteOf(at: number, link: string): string {
  return `Message of ${formatUtc(at)}: ${link}`;
}

/** The command that a person would type. */
export function updateOf(incident: string, note: string): string {
  return `incident update ${incident} note=${quoted(note)}`;
}

/** As one word of a command, whatever is in it. */
export function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/** What the form shows that asks which of several incidents. */
export const WHICH_INCIDENT = { title: "Add to incident", label: "Which incident?" } as const;

/** Its choices, as many and as long as the platform takes. */
export function incidentChoices(
  incidents: readonly OpenIncident[],
  { most, longest }: { most: number; longest: number },
): { text: string; value: string }[] {
  return incidents.slice(0, most).map(({ id, title, severity }) => ({
    text: shortened([severity, title].filter(Boolean).join(" · "), longest - 1),
    value: id,
  }));
}
