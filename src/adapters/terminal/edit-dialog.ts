import { type Edit, type Mistake, WHOLE_FIELD } from "../../core/edit.ts";
import type { JsonObject } from "../../core/entry.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import { exactText } from "../../security/sanitize.ts";
import type { ActionCard } from "../shown.ts";
import type { Queries } from "../queries.ts";
import { createEditing, type Editing } from "./editing.ts";
import { EDIT_HINT, NOTHING_CHANGED } from "./phrases.ts";

export interface EditDialogParts {
  key: JournalKey;
  queries: Pick<Queries, "editForm" | "checkEdit">;
  interactive: boolean;
  hint(text: string): Promise<void>;
  send(action: string, revision: number, args: JsonObject): Promise<void>;
}

/** The edit of a card's arguments, one line after the other. */
export function createEditDialog(parts: EditDialogParts) {
  const { key, queries, interactive, hint } = parts;
  let current: Editing | undefined;

  /** Returns what is wrong with it, in which case nothing was sent. */
  async function send(edit: Edit): Promise<readonly Mistake[] | undefined> {
    const checked = await queries.checkEdit(key, edit);
    if (!checked.ok) return checked.mistakes;
    await parts.send(edit.action, edit.revision, checked.args);
    return undefined;
  }

  return {
    /** The edit that the next line belongs to. */
    get current(): Editing | undefined {
      return current;
    },

    /** Asks for the arguments one by one, each filled in as it is. */
    async begin({ action }: ActionCard): Promise<void> {
      if (!interactive) return hint(`Without a terminal, type the arguments too: e ${action} {…}`);
      const form = await queries.editForm(key, action);
      if (form === undefined || form.fields.length === 0) {
        return hint(`${action} can't be edited here.`);
      }
      current = createEditing(form);
      return hint(EDIT_HINT);
    },

    /** Takes a line of the edit. What is wrong with the whole is said, and the edit goes on at the first mistake. */
    async enter(line: string): Promise<void> {
      const editing = current;
      if (editing === undefined || editing.enter(line)) return;
      current = undefined;
      if (!editing.changed()) return hint(NOTHING_CHANGED);
      const { action, revision } = editing.form;
      const mistakes = await send({ action, revision, written: editing.written() });
      if (mistakes === undefined) return;
      editing.again(mistakes.find(({ field }) => field !== undefined)?.field);
      current = editing;
      await hint(`${mistakesText(mistakes)} Correct it; Ctrl-C leaves everything as it was.`);
    },

    /** Leaves everything as it was. */
    cancel(): void {
      current = undefined;
    },

    async sendJson({ action, revision }: ActionCard, json: string): Promise<void> {
      const mistakes = await send({ action, revision, written: { [WHOLE_FIELD]: json } });
      if (mistakes !== undefined) await hint(`${mistakesText(mistakes)} Nothing was sent.`);
    },
  };
}

export type EditDialog = ReturnType<typeof createEditDialog>;

function mistakesText(mistakes: readonly Mistake[]): string {
  const said = mistakes.map(({ field, text }) =>
    field === undefined ? text : `${field}: ${text}`,
  );
  return exactText(said.join("; ").replace(/([^.!?])$/, "$1."));
}
