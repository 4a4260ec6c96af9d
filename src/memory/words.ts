import { isoUtc } from "../core/instant.ts";
import { oneLine, shortened } from "../core/text.ts";
import type { Case, FixCount } from "./cases.ts";
import type { Episode, Fix, MemoryItem, Task } from "./item.ts";

const MAX_LINE = 300;
/** Of all that is said of one record, but for its link. */
const MAX_BODY = 800;
/** Actions of one record that are told one by one. */
const MAX_FIXES = 3;
/** Threads that found the same again that are linked. */
const MAX_LINKS = 2;

/** What goes before everything that comes from memory. */
export const FROM_MEMORY =
  "From memory, to be verified: it says what was so then, and is no evidence of what is so now.";

const short = (text: string) => shortened(oneLine(text), MAX_LINE);

/** What it says, in a line or two. */
export function itemText(item: MemoryItem): string {
  return lineOf(item, item.what.kind === "note" ? [] : item.what.fixes);
}

/** As `itemText`, with all that was done about it. */
export function caseText({ item, fixes }: Case): string {
  return lineOf(item, fixes);
}

function lineOf(item: MemoryItem, fixes: readonly Fix[]): string {
  const { id, at, link, what } = item;
  const where = link === undefined ? "" : ` ${link}`;
  const head = `${isoUtc(what.kind === "note" ? at : what.begun, "day")} ${id}`;
  if (what.kind === "note") {
    const by = `${oneLine(what.by.name)}${what.outside === true ? ", by a model or an agent" : ""}`;
    return `${head}, note by ${by}: ${short(what.text)}${where}`;
  }
  const body = what.kind === "task" ? taskText(what, fixes) : episodeText(what, fixes);
  return `${head}: ${shortened(body, MAX_BODY)}${where}${againText(item)}`;
}

/** How often it was seen, and where to read of the last times. */
function againText({ again = [], earlier = 0 }: MemoryItem): string {
  const last = again.at(-1);
  if (last === undefined) return "";
  const links = again.flatMap(({ link }) => link ?? []).slice(-MAX_LINKS);
  const seen = `seen ${1 + earlier + again.length}×, last on ${isoUtc(last.begun, "day")}`;
  return ["; " + seen, ...links.toReversed()].join(" ");
}

function taskText({ question, cause, certainty, outcome }: Task, fixes: readonly Fix[]): string {
  return [found(question, cause, certainty), ...fixTexts(fixes), outcome].join("; ");
}

function episodeText(episode: Episode, fixes: readonly Fix[]): string {
  const { title, cause, certainty, actions, status, outside } = episode;
  const mark = outside ? "(unverified) " : "";
  const said = actions.slice(0, MAX_FIXES).map((action) => `to do: ${short(action)}`);
  return [mark + found(title, cause, certainty), ...fixTexts(fixes), ...said, status].join("; ");
}

function found(what: string, cause: string | undefined, certainty: string | undefined): string {
  const grade = certainty === undefined ? "" : ` (${certainty})`;
  return `${short(what)} → ${cause === undefined ? "no cause was found" : `${short(cause)}${grade}`}`;
}

/** What helped first: a reader in a hurry sees the beginning. */
function fixTexts(fixes: readonly Fix[]): string[] {
  const rank = ({ helped }: Fix) => (helped === true ? 0 : 1);
  const ranked = fixes.toSorted((a, b) => rank(a) - rank(b));
  return ranked.slice(0, MAX_FIXES).map(({ title, result, helped }) => {
    const how =
      helped === undefined ? result : `${result}, ${helped ? "it helped" : "it did not help"}`;
    return `${short(title)}: ${how}`;
  });
}

/** How often what was done about it was approved, and was seen to help. */
export function fixText({ tool, title, approved, helped, failed }: FixCount): string {
  const not = failed === 0 ? "" : `, did not help ${failed}`;
  return `${tool}, such as "${short(title)}": approved ${approved}, fixed ${helped}${not}`;
}
