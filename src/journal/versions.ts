import { BotError } from "../core/errors.ts";
import { commandLine } from "../core/installation.ts";

/** What is said of stores that another version of the program wrote. */

export function newerStore(name: string, version: number, read: number): BotError {
  const text = `${name} was written by a newer version (store ${version}, this program reads ${read}); start that version.`;
  return new BotError("STORE_NEWER", text);
}

/** `writer`: the last program that wrote version `from`. */
export function upgradedText(name: string, from: number, to: number, writer: string): string {
  return `${name}: store upgraded from ${from} to ${to}; ${writer} cannot read it any more.`;
}

export function upgradeAheadText(name: string, from: number, to: number, writer: string): string {
  return `${name}: store version ${from} (${writer}); \`${commandLine("")}\` upgrades it to ${to}, ${writer} cannot read it then: keep a copy.`;
}
