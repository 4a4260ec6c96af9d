import type { CallResult } from "../adapters/shown.ts";
import type { StoredEntry } from "../core/entry.ts";
import { keptFindings, keptGaps } from "../core/finding.ts";
import { addressesIn, type LinkRule } from "../core/links.ts";
import { isUndoable } from "../thread/action.ts";
import type { Run, Thread } from "../thread/state.ts";
import { type Call, doingOf, givenArgs } from "../thread/call.ts";
import type { Encode } from "./cards.ts";

/** What calls came to, as answers show it. */

/** What calls returned, whole, by call. */
export type ResultTexts = ReadonlyMap<string, string>;

/** For `outgoingOf`: a thread keeps only the beginning of some results. */
export function resultTexts(entries: readonly StoredEntry[]): ResultTexts {
  return new Map(
    entries.flatMap((entry) =>
      entry.kind === "tool_finished" ? [[entry.call, entry.text] as const] : [],
    ),
  );
}

export function resultOf(call: Call, run: Run, encode: Encode, texts?: ResultTexts): CallResult[] {
  if (call.finished === undefined) return [];
  const { outcome, artifacts = [], files = [], findings = [], gaps = [], ms } = call.finished;
  const text = texts?.get(call.call) ?? call.finished.text;
  const args = givenArgs(call);
  const doing = doingOf(call);
  const { action } = call;
  const { undoes, repeats } = run.started;
  const isEdited = (action?.proposal.revision ?? 1) > 1;
  const isPressed = undoes !== undefined || repeats !== undefined || isEdited;
  const images = files.map((file) => ({ ...file, alt: file.alt && encode(file.alt) }));
  const ended = {
    outcome,
    text: encode(text),
    artifacts,
    ...(images.length > 0 && { images }),
    findings: keptFindings(findings, encode),
    gaps: keptGaps(gaps, encode),
    ms,
    ...(action !== undefined && isUndoable(action) && { undo: action.action }),
  };
  const said = doing !== undefined && { doing: encode(doing) };
  return [
    { call: call.call, tool: call.tool, args, ...said, ...(isPressed && { isPressed }), ...ended },
  ];
}

/** Of the addresses in a text those whose host is allowed, and those that people or a skill wrote here before. */
export function linksIn(
  text: string,
  { written }: Thread,
  mayLink: LinkRule | undefined,
): string[] {
  const addresses = addressesIn(text).map(({ address }) => address);
  return [...new Set(addresses)].filter((each) => mayLink?.(each) === true || written.has(each));
}
