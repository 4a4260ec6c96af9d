import type { Config } from "../../config/config.ts";
import { BotError } from "../../core/errors.ts";
import type { JournalSummary } from "../../journal/journal.ts";
import type { Secrets } from "../../team/secrets.ts";
import { createToolForms, type ToolForms } from "../../team/tool-forms.ts";
import { openSecrets, withSecrets } from "../secrets.ts";
import { withStore } from "./command.ts";

/** What the store has of accepted tools, for whoever writes nothing there; nothing where there is no store yet. */
export function storedForms(config: Config): ToolForms {
  return createToolForms({
    read: (key, after) => withStore(config, (journal) => journal.read(key, after)).catch(() => []),
    post: () => Promise.reject(new BotError("NOT_AVAILABLE", "Nothing is written here.")),
  });
}

/** The same for what it keeps encrypted. It is opened only for what has to be written: a token that can be renewed only once. */
export function storedSecrets(config: Config): Secrets {
  return openSecrets(config, {
    read: (key, after) => withStore(config, (journal) => journal.read(key, after)).catch(() => []),
    has: (key) => withStore(config, (journal) => journal.has(key)).catch(() => false),
    async *list(filter) {
      const found: JournalSummary[] = [];
      await withStore(config, async (journal) => {
        for await (const summary of journal.list(filter)) found.push(summary);
      }).catch(() => undefined);
      yield* found;
    },
    post: (key, draft) => withSecrets(config, (_, journal) => journal.post(key, draft)),
    flush: (key, after) => withSecrets(config, (_, journal) => journal.flush(key, after)),
    lease: (key, ttlMs) => withSecrets(config, (_, journal) => journal.lease(key, ttlMs)),
    release: (...args) => withSecrets(config, (_, journal) => journal.release(...args)),
  });
}
