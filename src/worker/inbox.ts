import type { Inbound, Inbox } from "../adapters/adapter.ts";
import type { Reading } from "../commands/grammar.ts";
import type { Draft, PostKind } from "../core/entry.ts";
import type { JournalKey } from "../core/journal-key.ts";
import type { Journal } from "../journal/journal.ts";

export interface InboxParts {
  journal: Pick<Journal, "post">;
  /** Reads a typed text as a command, a click, a Stop or plain language. */
  read(text: string): Reading;
  /** Takes the values of held secrets out of what people type, before it is stored. */
  hide(text: string): string;
  wake(key: JournalKey): void;
}

/**
 * The one way in. What a typed text means is decided here, once, and stored: a later grammar does not change what was
 * said. Posted means durable, and looked at even if it was posted before.
 */
export function createInbox({ journal, read, hide, wake }: InboxParts): Inbox {
  return {
    async post(key, id, inbound) {
      await journal.post(key, { id, ...contentOf(inbound, read, hide) } as Draft<PostKind>);
      wake(key);
    },
  };
}

function contentOf(inbound: Inbound, read: InboxParts["read"], hide: InboxParts["hide"]) {
  if (inbound.kind !== "text") return inbound;
  const { actor } = inbound;
  const text = hide(inbound.text);
  const reading = read(text);
  switch (reading.kind) {
    case "message":
      return { kind: "message", actor, text };
    case "command":
      return { kind: "command", actor, text, command: reading.command };
    case "stop":
      return { kind: "stop", actor };
    case "click": {
      const { action, revision, choice } = reading;
      return { kind: "click", actor, action, revision, choice, via: "typed" };
    }
  }
}
