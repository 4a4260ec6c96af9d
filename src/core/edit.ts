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
  /** As it stands now, in the form that `kind` says; empty when it is left out. */
  value: string;
  optional: boolean;
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
