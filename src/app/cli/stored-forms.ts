import type { Config } from "../../config/config.ts";
import { BotError } from "../../core/errors.ts";
import { createToolForms, type ToolForms } from "../../team/tool-forms.ts";
import { withStore } from "./command.ts";

/** What the store has of accepted tools, for whoever writes nothing there; nothing where there is no store yet. */
export function storedForms(config: Config): ToolForms {
  return createToolForms({
    read: (key) => withStore(config, (journal) => journal.read(key)).catch(() => []),
    post: () => Promise.reject(new BotError("NOT_AVAILABLE", "Nothing is written here.")),
  });
}
