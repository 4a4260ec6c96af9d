import { suggest } from "../core/suggest.ts";
import { meantCommand, USAGE } from "./phrases.ts";
import { invalid, MESSAGE, type Reading } from "./reading.ts";

/**
 * A misspelled command: with its word put right, the whole text has a command's exact form. Its author is asked, and nothing is done.
 * `read`: reads a text as a command.
 */
export function readNearMiss(word: string, rest: string, read: (text: string) => Reading): Reading {
  const meant = misspelled(word, Object.keys(USAGE));
  // "tool failed" is prose.
  if (meant === undefined || (rest !== "" && meant === `${word}s`)) return MESSAGE;
  const isCommand = isWhole(read(rest === "" ? meant : `${meant} ${rest}`));
  return isCommand ? invalid(meantCommand(meant, rest)) : MESSAGE;
}

/** A command without a mistake. */
export function isWhole(reading: Reading): boolean {
  if (reading.kind === "command") return reading.command.name !== "invalid";
  return reading.kind !== "message";
}

/** Of shorter words, too many others are as near. */
const MIN_LETTERS = 4;
/** In shorter words a wrong letter makes another word: "nodes" are no notes. Swapped, missing and doubled letters are slips. */
const MIN_REPLACED = 6;

/** The one of `known` that was meant; undefined where the word is rather another one, or another form of it: "approved". */
export function misspelled(word: string, known: readonly string[]): string | undefined {
  if (word.length < MIN_LETTERS) return undefined;
  const meant = suggest(word, known);
  if (meant === undefined || /^(?:s|d|ed|r|er|ing)$/.test(tailOf(word, meant))) return undefined;
  const isSlip = word.length !== meant.length || lettersOf(word) === lettersOf(meant);
  return isSlip || word.length >= MIN_REPLACED ? meant : undefined;
}

function tailOf(word: string, meant: string): string {
  return word.startsWith(meant) ? word.slice(meant.length) : "";
}

function lettersOf(word: string): string {
  return Array.from(word).toSorted().join("");
}
