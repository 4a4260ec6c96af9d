import { formatUtc } from "../../core/instant.ts";
import type { Json } from "../../core/entry.ts";
import { counted } from "../../core/text.ts";
import { exactText } from "../../security/sanitize.ts";
import type { ActionCard } from "../shown.ts";
import { clip } from "./clip.ts";
import { MAX_NAME } from "./title.ts";
import { offerWords, REASON } from "./phrases.ts";

/** What a card says of a call besides its title: the tool's own lines, what comes of it, and why. */

export interface Fact {
  label: string;
  text: string;
}

/** More lines are no longer read; the details have them. */
const MAX_LINES = 6;

export const FROZEN = "Frozen";
export const LOOK_CLOSELY = "Look closely";

/** The tool's own lines, but those that a note or the command says. */
export function linesOf({ preview }: ActionCard): Fact[] {
  return preview.lines
    .filter(({ label, detail }) => detail !== true && label !== LOOK_CLOSELY && label !== FROZEN)
    .map(({ label, value }) => ({ label: clip(label, MAX_NAME), text: value }));
}

/** What a card has room for: the tool's own lines, what comes of it, and why. */
export function factsOf(card: ActionCard): Fact[] {
  const { reason = "" } = card;
  const lines = linesOf(card);
  const kept = lines.length > MAX_LINES ? MAX_LINES - 1 : lines.length;
  const rest = counted(lines.length - kept, "line");
  const added = addedWords(card);
  return [
    ...lines.slice(0, kept),
    ...(kept < lines.length ? [{ label: "More", text: `${rest} in Details` }] : []),
    ...consequences(card),
    ...(added === "" ? [] : [{ label: "Checked again before it runs", text: added }]),
    ...(reason === "" ? [] : [{ label: REASON, text: reason }]),
  ];
}

export function consequences(card: ActionCard): Fact[] {
  const { preview, offer, phase } = card;
  const isOffered = offer !== undefined && phase === "open";
  return [
    { label: "Impact", text: preview.blastRadius },
    { label: "Undo", text: preview.undo },
    ...(isOffered ? [{ label: `Approve + ${offer.minutes} min`, text: offerWords(card) }] : []),
  ];
}

/** What the program added in words: `replicas 2`, times as times and hashes by their beginning. */
function addedWords({ args, preview: { filled = [] } }: ActionCard): string {
  const said: string[] = [];
  const say = (name: string, value: Json): void => {
    if (typeof value === "object" && value !== null) {
      for (const [key, each] of Object.entries(value))
        say(Array.isArray(value) ? name : `${name}.${key}`, each);
    } else said.push(`${exactText(name)} ${wordOf(value)}`);
  };
  for (const name of filled) {
    if (name === ASKED_AT) continue;
    const value = args[name] ?? null;
    const isGroup = typeof value === "object" && value !== null && !Array.isArray(value);
    // `replicas 2` says it; `before.replicas 2` says no more.
    for (const [key, each] of isGroup ? Object.entries(value) : [[name, value] as const])
      if (each !== null) say(key, each);
  }
  return said.join(", ");
}

/** When it was asked for: nothing to be checked. */
const ASKED_AT = "from";
const EARLIEST_TIME = 1e12;
const LATEST_TIME = 4e12;

function wordOf(value: Json): string {
  if (typeof value === "number" && value > EARLIEST_TIME && value < LATEST_TIME)
    return formatUtc(value);
  const text = exactText(typeof value === "string" ? value : JSON.stringify(value));
  return /^[0-9a-f]{32,}$/.test(text) ? `${text.slice(0, 6)}…` : text;
}
