import type { JournalKey } from "../../src/core/journal-key.ts";
import type { ToolName } from "./plan.ts";

/** What a person asks for in plain language: the model of the kill tests knows nothing but what it says. */
export interface Errand {
  /** Unique in the batch. An answer names it, and its write has this name. */
  name: string;
  thread: JournalKey;
  /** Calls to make side by side, one round after the other; none: only an answer. */
  rounds: ToolName[][];
  /** How long a tool takes before and after it changes the world. */
  ms: number;
}

/** The errand as a message's text. */
export function errandText(errand: Errand): string {
  return JSON.stringify(errand);
}

/** The errand of a line as a transcript has it, behind its time and author; undefined for what is none. */
export function tryErrand(line: string): Errand | undefined {
  const [, text] = /^\[[^\]]*Z [^\]]*\] (\{.*\})$/.exec(line) ?? [];
  return text === undefined ? undefined : (JSON.parse(text) as Errand);
}
