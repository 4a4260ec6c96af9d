import { isoUtc } from "../core/instant.ts";
import { oneLine, shortened } from "../core/text.ts";
import type { MemoryItem, Task } from "./item.ts";

const MAX_LINE = 300;

/** What goes before everything that comes from memory. */
export const FROM_MEMORY =
  "From memory, to be verified: it says what was so then, and is no evidence of what is so now.";

const short = (text: string) => shortened(oneLine(text), MAX_LINE);

/** What it says, in a line or two. */
export function itemText({ id, at, link, what }: MemoryItem): string {
  const where = link === undefined ? "" : ` ${link}`;
  const head = `${isoUtc(what.kind === "note" ? at : what.begun, "day")} ${id}`;
  if (what.kind === "task") return `${head}: ${taskText(what)}${where}`;
  const by = `${oneLine(what.by.name)}${what.outside === true ? ", by a model or an agent" : ""}`;
  return `${head}, note by ${by}: ${short(what.text)}${where}`;
}

function taskText({ question, cause, certainty, fixes, outcome }: Task): string {
  const grade = certainty === undefined ? "" : ` (${certainty})`;
  const found = cause === undefined ? "no cause was found" : `${short(cause)}${grade}`;
  const done = fixes.map(({ title, result, helped }) => {
    const how =
      helped === undefined ? result : `${result}, ${helped ? "it helped" : "it did not help"}`;
    return `${short(title)}: ${how}`;
  });
  return [`${short(question)} → ${found}`, ...done, outcome].join("; ");
}

/** How often what was done about it was approved, and was seen to help; by tool, the most often first. */
export function fixesText(items: readonly MemoryItem[]): string[] {
  const fixes = items.flatMap(({ what }) => (what.kind === "task" ? what.fixes : []));
  const tried = fixes.filter(({ result }) => result !== "failed");
  return [...Map.groupBy(tried, ({ tool }) => tool)]
    .map(([tool, some]) => ({
      tool,
      title: some[0]?.title ?? tool,
      approved: some.filter(({ approved }) => approved).length,
      helped: some.filter(({ helped }) => helped === true).length,
      not: some.filter(({ helped, result }) => helped === false || result === "undone").length,
    }))
    .toSorted((a, b) => b.helped - a.helped || b.approved - a.approved)
    .map(
      ({ tool, title, approved, helped, not }) =>
        `${tool}, such as "${short(title)}": approved ${approved}, fixed ${helped}${not === 0 ? "" : `, did not help ${not}`}`,
    );
}
