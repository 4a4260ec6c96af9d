import type { Inbound, Inbox } from "../adapters/adapter.ts";
import type { Reading } from "../commands/grammar.ts";
import { capText } from "../core/display.ts";
import type { Choice, Content, Json, JsonObject, PostKind } from "../core/entry.ts";
import { BotError, isBotError } from "../core/errors.ts";
import type { JournalKey } from "../core/journal-key.ts";
import type { Journal } from "../journal/journal.ts";

export interface InboxParts {
  journal: Pick<Journal, "post">;
  /** Reads a typed text as a command, a click, a Stop or plain language. */
  read(text: string): Reading;
  /** Takes the values of held secrets out of what people type, before anything is made of it. */
  hide(text: string): string;
  wake(key: JournalKey): void;
}

/** More than any platform's message; what is longer was pasted by mistake and is kept in part. */
const MAX_STORED_BYTES = 64 * 1024;

/**
 * The one way in. What a typed text means is decided here, once, and stored: a later grammar does not change what was
 * said. Posted means durable, and looked at even if it was posted before.
 */
export function createInbox({ journal, read, hide, wake }: InboxParts): Inbox {
  return {
    async post(key, id, inbound) {
      try {
        await journal.post(key, { id, ...contentOf(inbound, read, hide) });
      } catch (error) {
        // A JSON value of thousands of levels, for one.
        if (!isBotError(error, "ENTRY_INVALID") && !(error instanceof RangeError)) throw error;
        const text = "What was sent is not of a form that can be kept; it was not.";
        throw new BotError("USAGE", text, { cause: error });
      }
      wake(key);
    },
  };
}

type Posted = Content<PostKind>;

function contentOf(inbound: Inbound, read: InboxParts["read"], hide: InboxParts["hide"]): Posted {
  if (inbound.kind === "click") return { ...inbound, choice: hideIn(inbound.choice, hide) };
  if (inbound.kind === "stop") return inbound;
  const { actor } = inbound;
  const whole = hide(inbound.text);
  const reading = read(whole);
  const text = capText(whole, MAX_STORED_BYTES);
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

function hideIn(choice: Choice, hide: InboxParts["hide"]): Choice {
  const within = (json: Json): Json => {
    if (typeof json === "string") return hide(json);
    if (Array.isArray(json)) return json.map(within);
    return typeof json === "object" && json !== null ? withinObject(json) : json;
  };
  const withinObject = (object: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(object).map(([name, value]) => [name, within(value)]));
  if (choice.kind === "edit") return { kind: "edit", args: withinObject(choice.args) };
  if (choice.kind === "approve" || choice.reason === undefined) return choice;
  return { ...choice, reason: hide(choice.reason) };
}
