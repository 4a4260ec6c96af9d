import { exactText } from "../../security/sanitize.ts";
import type { EditField, EditForm } from "../../core/edit.ts";

/** An edit form on the line: one field after the other, of a list one element after the other. */
export function createEditing(form: EditForm) {
  const values = new Map(form.fields.map(({ name, value }) => [name, value]));
  let at = 0;
  /** Of the list that is asked for: the elements it had, and those that were entered. */
  let before: string[] = [];
  let entered: string[] = [];
  let element = 0;

  function begin(index: number): void {
    at = index;
    const field = form.fields[at];
    const value = field === undefined ? "" : (values.get(field.name) ?? "");
    before = value === "" ? [] : value.split("\n");
    entered = [];
    element = 0;
  }
  begin(0);

  return {
    form,
    /** What the line is for, and what stands in it. */
    asks(): { label: string; text: string } {
      const field = form.fields[at];
      if (field === undefined) return { label: "", text: "" };
      const { name, kind, choices } = field;
      if (kind === "lines") {
        return { label: `${name} ${entered.length + 1}`, text: before[element] ?? "" };
      }
      const offered = kind === "choice" ? ` (${choices.join("|")})` : "";
      return { label: `${name}${offered}`, text: lineOf(field, values.get(field.name) ?? "") };
    },
    /** Takes the line; false when there is nothing more to ask. */
    enter(line: string): boolean {
      const field = form.fields[at];
      if (field === undefined) return false;
      if (field.kind === "lines") {
        const isBeyond = element >= before.length;
        // What is pasted may be several elements.
        entered.push(...line.split("\n").filter((each) => each !== ""));
        element += 1;
        // Past the elements that there were, an empty line ends the list; before, it takes one out.
        if (!isBeyond || line !== "") return true;
        values.set(field.name, entered.join("\n"));
      } else values.set(field.name, textOf(field, line));
      begin(at + 1);
      return at < form.fields.length;
    },
    written: (): Record<string, string> => Object.fromEntries(values),
    changed: () => form.fields.some(({ name, value }) => values.get(name) !== value),
    /** Begins again at this field, or at the first, with what was written. */
    again(name: string | undefined): void {
      const index = form.fields.findIndex((field) => field.name === name);
      begin(Math.max(0, index));
    },
  };
}

export type Editing = ReturnType<typeof createEditing>;

/** A text with line breaks stands on one line as JSON. */
function lineOf({ kind }: EditField, value: string): string {
  return kind === "text" && value.includes("\n") ? exactText(JSON.stringify(value)) : value;
}

function textOf({ kind, value }: EditField, line: string): string {
  if (kind !== "text" || !value.includes("\n")) return line;
  try {
    const read: unknown = JSON.parse(line);
    return typeof read === "string" ? read : line;
  } catch {
    return line;
  }
}
