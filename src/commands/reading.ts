import type { Choice, Command } from "../core/entry.ts";
import { type CommandWord, usage } from "./phrases.ts";

/** What a typed text is. `message`: plain language, for the model. */
export type Reading =
  | { kind: "message" }
  | { kind: "command"; command: Command }
  /** `goal`: the thread's goal alone. */
  | { kind: "stop"; goal?: string }
  | { kind: "click"; action: string; revision: number; choice: Choice };

/** Plain language. */
export const MESSAGE: Reading = { kind: "message" };

/** A command with a mistake, which its author is told. */
export function invalid(problem: string): Reading {
  return { kind: "command", command: { name: "invalid", problem } };
}

/** A text without the form of `word`: a mistake if a slash says that a command was meant, else prose. */
export function proseOr(typed: boolean, word: CommandWord, form?: string): Reading {
  return typed ? invalid(usage(word, form)) : MESSAGE;
}

/** The command that calls the tool. */
export function toolCall(tool: string, args: Record<string, string>): Reading {
  return { kind: "command", command: { name: "run", tool, args } };
}
