import type { JsonObject } from "./entry.ts";

/** One input of the form in which people edit an action: an argument that a person may set. */
export interface EditField {
  name: string;
  /** What the argument is, in a sentence; may be empty. */
  hint: string;
  /** `lines`: a list with one element per line. `json`: any JSON, for what has no simpler form. */
  kind: "text" | "lines" | "number" | "choice" | "json";
  /** What a `choice` can be. */
  choices: string[];
  /** Of a `number`. */
  bounds?: Bounds | undefined;
  /** As it stands now, in the form that `kind` says; empty when it is left out. */
  value: string;
  optional: boolean;
}

/** What a number can be. */
export interface Bounds {
  isWhole: boolean;
  min: number | undefined;
  max: number | undefined;
}

export interface EditForm {
  action: string;
  revision: number;
  fields: EditField[];
}

/** What a person wrote in the form, by field. */
export interface Edit {
  action: string;
  revision: number;
  written: Readonly<Record<string, string>>;
}

/** Bytes of an action's arguments as they are shown: more fits on no card of every platform, nor into a form's field (Slack). */
export const MAX_ARGS_BYTES = 3_000;

/** Canonical JSON for a block of code. A third backtick in a row would end the block; its escape is the same JSON value. */
export function inCodeBlock(canonical: string): string {
  return canonical.replaceAll("```", "``\\u0060");
}

/** The name of the one field of a form that takes all arguments together, as a JSON object. No argument has it. */
export const WHOLE_FIELD = "{}";

/** What is wrong with what was written. `field` undefined: with the whole of it. */
export interface Mistake {
  field: string | undefined;
  text: string;
}

/** Arguments that can be sent, or everything that is wrong with them; at least one mistake. */
export type CheckedEdit =
  | { ok: true; args: JsonObject }
  | { ok: false; mistakes: readonly Mistake[] };
