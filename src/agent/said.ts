import { cleanText } from "../security/sanitize.ts";
import type { Actor, Entry, FileRef } from "../core/entry.ts";
import { isoUtc } from "../core/instant.ts";

/** What people said, as lines of a model's request: as instructions, or quoted as data. */

/** A part of a user's turn. Files are named here and read when the request is sent. */
export type Part = { kind: "text"; text: string } | { kind: "file"; file: FileRef };

/** A person's message. Quoted, it is told as information that instructs nobody. */
interface Line {
  kind: "line";
  by: string;
  head: string;
  text: string;
  quoted: boolean;
}

export type Kept = Part | Line;

/** Stands in the label of what is quoted; the system prompt says what it means. */
const QUOTED = ", quoted";

/** A message with its files, and with the names of those that could not be read. */
export function said(message: Entry<"message">): Kept[] {
  const { at, actor, files = [], unread = [] } = message;
  const time = isoUtc(at, "minute");
  const missing = unread.map(({ name, why }) => `(file ${name} not read: ${why})`);
  const text = [message.text, ...missing].filter((line) => line !== "").join("\n");
  const line: Line = {
    kind: "line",
    by: actor.account,
    head: `${time}Z ${nameLabel(actor)}`,
    text: indented(cleanText(text)),
    quoted: false,
  };
  return [line, ...files.map((file): Part => ({ kind: "file", file }))];
}

/** A word of the program's own. */
export function note(text: string): Part {
  return { kind: "text", text: `[watchkeeper] ${indented(cleanText(text))}` };
}

/** A name for a label: no line of it can end the label and begin another. */
export function nameLabel({ name }: Actor): string {
  return cleanText(name).replaceAll(/[\s\]]+/g, " ");
}

/** Only a first line begins with who speaks: no line of a log or a message can pass for another person's word. */
function indented(text: string): string {
  return text.replaceAll(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/g, "\n  ");
}

export function shownParts(parts: readonly Kept[]): Part[] {
  return parts.map((part) => {
    if (part.kind !== "line") return part;
    const { head, text, quoted } = part;
    return { kind: "text", text: `[${head}${quoted ? QUOTED : ""}] ${text}` };
  });
}

/** The parts with the lines of everybody else quoted; the same list when nothing changes. */
export function quotedBut(parts: readonly Kept[], instructs: ReadonlySet<string>): readonly Kept[] {
  const isRight = (part: Kept) => part.kind !== "line" || part.quoted !== instructs.has(part.by);
  if (parts.every(isRight)) return parts;
  return parts.map((part) =>
    part.kind === "line" ? { ...part, quoted: !instructs.has(part.by) } : part,
  );
}
