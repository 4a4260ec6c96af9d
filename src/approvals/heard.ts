import type { Entry } from "../core/entry.ts";

/** Something that people wrote, and when: messages, typed commands, arguments they edited. */
interface Word {
  seq: number;
  account: string;
  text: string;
}

/** What came into a thread and from whom: a fold over all its entries. */
export interface Heard {
  last: number;
  words: Word[];
  /** Tools whose results came, with the first result's entry. */
  results: Map<string, number>;
  /** The first entry with a file. */
  files: number | undefined;
  /** The tools of the calls that were started. */
  calls: Map<string, string>;
}

export function nothingHeard(): Heard {
  return { last: 0, words: [], results: new Map(), files: undefined, calls: new Map() };
}

/** Folds the next entry in, in place; one that is in it already changes nothing. */
export function hear(heard: Heard, entry: Entry): void {
  const { seq } = entry;
  if (seq <= heard.last) return;
  heard.last = seq;
  if (entry.kind === "message" || entry.kind === "command") {
    const { actor, text } = entry;
    heard.words.push({ seq, account: actor.account, text });
    if (entry.kind === "message" && (entry.files ?? []).length > 0) heard.files ??= seq;
  } else if (entry.kind === "click" && entry.choice.kind === "edit") {
    const text = Object.values(entry.choice.args).map(String).join(" ");
    heard.words.push({ seq, account: entry.actor.account, text });
  } else if (entry.kind === "tool_started") {
    heard.calls.set(entry.call, entry.tool);
  } else if (entry.kind === "tool_finished") {
    const tool = heard.calls.get(entry.call);
    if (tool !== undefined && !heard.results.has(tool)) heard.results.set(tool, seq);
    if ((entry.files ?? []).length > 0) heard.files ??= seq;
  }
}

/**
 * True when something that no full member of the thread wrote stands among the first `seen` entries: what tools brought from
 * outside, files, others' words. It instructs nobody, and a model may still have followed it.
 */
export function isOutsideHeard(
  { words, results, files }: Heard,
  seen: number,
  { isOurs, isMember }: { isOurs(tool: string): boolean; isMember(account: string): boolean },
): boolean {
  return (
    (files !== undefined && files <= seen) ||
    [...results].some(([tool, seq]) => seq <= seen && !isOurs(tool)) ||
    words.some(({ account, seq }) => seq <= seen && !isMember(account))
  );
}
