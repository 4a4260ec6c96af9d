import type { Inbound, InboundFile, Inbox } from "../../adapters/inbox.ts";
import { MAX_TEXT_BYTES } from "../../commands/grammar.ts";
import type { Reading } from "../../commands/reading.ts";
import { type FileType, MAX_FILE_BYTES } from "../../core/block.ts";
import { cleanText, exactText } from "../../security/sanitize.ts";
import { capText } from "../../core/text.ts";
import type { Choice, Content, FileRef, Json, JsonObject, PostKind } from "../../core/entry.ts";
import type { Encoder } from "../../security/encoder.ts";
import { BotError, isBotError } from "../../core/errors.ts";
import { binaryTypeOf } from "../../core/file-type.ts";
import { toneOf } from "../../thread/tone.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import { postDurably } from "../../journal/durable.ts";
import type { Journal } from "../../journal/journal.ts";
import { TEAM_FEEDBACK } from "../../team/feedback.ts";

export interface InboxParts {
  journal: Pick<Journal, "post" | "flush" | "putArtifact">;
  /** Reads a typed text as a command, a click, a Stop or plain language. */
  read(text: string): Reading;
  /** Takes secrets out of what people type and attach, before anything is made of it. */
  encoder: Pick<Encoder, "hide" | "aside">;
  /** `people`: somebody has just written or pressed something. */
  wake(key: JournalKey, lane: "people" | "runs"): void;
  /** The thread's address, and the private place that it is in, for what people say of its answers. Default: all are private. */
  placeOf?(key: JournalKey): Promise<{ link: string | undefined; audience: string | undefined }>;
}

/** How much of a text that is stored as a file still stands in the thread: its beginning and its end. */
const MAX_EXCERPT_BYTES = 2 * 1024;
const PASTED_NAME = "pasted.txt";
/** What the thread's history shows of a pin. */
const PIN = "📌";

/**
 * The one way in. It decides once what a typed text means and stores that, so a later grammar cannot change what was said.
 * When `post` returns, the entry is durable and a worker has been woken, also for an event that came before.
 */
export function createInbox({
  journal,
  read,
  encoder,
  wake,
  placeOf = async (key) => ({ link: undefined, audience: key }),
}: InboxParts): Inbox {
  /** Files are kept before the message that names them; a copy that no message came to name is never shown. */
  async function keep(key: JournalKey, { name, mediaType, bytes }: InboundFile): Promise<FileRef> {
    checkFile(name, mediaType, bytes);
    const isText = mediaType === "text/plain";
    const kept = isText
      ? Buffer.from(await encoder.aside.hide(cleanText(Buffer.from(bytes).toString())))
      : bytes;
    return { name: encoder.hide(name), mediaType, artifact: await journal.putArtifact(key, kept) };
  }

  async function withFiles(
    key: JournalKey,
    { text, ...content }: Content<"message">,
    { files = [], unread = [] }: Extract<Inbound, { kind: "text" }>,
  ): Promise<Content<"message">> {
    const wholeBytes = Buffer.byteLength(text);
    const isLong = wholeBytes > MAX_TEXT_BYTES;
    const all = [...(isLong ? [pastedFile(text)] : []), ...files];
    const kept = await Promise.all(all.map((file) => keep(key, file)));
    const missing = unread.map((file) => ({ ...file, name: encoder.hide(file.name) }));
    return {
      ...content,
      text: isLong ? capText(text, MAX_EXCERPT_BYTES) : text,
      ...(kept.length > 0 && { files: kept }),
      ...(missing.length > 0 && { unread: missing }),
      ...(isLong && { wholeBytes }),
    };
  }

  /** It goes to the team's record: nobody works on it, and no model is told. */
  async function noteFeedback(
    key: JournalKey,
    id: string,
    { actor, ...said }: FeedbackInbound,
  ): Promise<void> {
    const { link, audience } = await placeOf(key);
    await postDurably(journal, TEAM_FEEDBACK, {
      id: `${key}:${id}`,
      ...said,
      ...(said.reason !== undefined && { reason: encoder.hide(said.reason) }),
      actor: { account: actor.account, name: actor.name },
      thread: key,
      ...(link !== undefined && { link }),
      ...(audience !== undefined && { audience }),
    });
  }

  return {
    async post(key, id, inbound) {
      if (inbound.kind === "feedback") return noteFeedback(key, id, inbound);
      try {
        const content = await contentOf(inbound, read, encoder);
        const isMessage = content.kind === "message" && inbound.kind === "text";
        const posted = isMessage ? await withFiles(key, content, inbound) : content;
        await postDurably(journal, key, { id, ...posted });
      } catch (error) {
        // JSON nested thousands of levels deep overflows the stack.
        if (!isBotError(error, "ENTRY_INVALID") && !(error instanceof RangeError)) throw error;
        const text =
          "What you sent can't be stored: it is nested too deeply or malformed. Nothing was recorded.";
        throw new BotError("USAGE", text, { cause: error });
      }
      const isAlert = inbound.kind === "text" && inbound.app === true;
      wake(key, isAlert ? "runs" : "people");
    },
  };
}

function pastedFile(text: string): InboundFile {
  const mediaType = "text/plain";
  const bytes = Buffer.from(capText(text, MAX_FILE_BYTES[mediaType]));
  return { name: PASTED_NAME, mediaType, bytes };
}

/** @throws BotError USAGE */
function checkFile(name: string, mediaType: FileType, bytes: Uint8Array): void {
  const maxBytes = MAX_FILE_BYTES[mediaType];
  if (bytes.byteLength > maxBytes) {
    const size = `${bytes.byteLength} bytes; a model can be shown at most ${maxBytes} of ${mediaType}`;
    throw new BotError("USAGE", `${exactText(name)} has ${size}.`);
  }
  if (mediaType !== "text/plain" && binaryTypeOf(bytes) !== mediaType) {
    throw new BotError("USAGE", `${exactText(name)} is not really ${mediaType}.`);
  }
}

type FeedbackInbound = Extract<Inbound, { kind: "feedback" }>;
type PostedContent = Content<PostKind>;
type Text = Extract<Inbound, { kind: "text" }>;

async function contentOf(
  inbound: Exclude<Inbound, FeedbackInbound>,
  read: InboxParts["read"],
  { hide, aside }: InboxParts["encoder"],
): Promise<PostedContent> {
  if (inbound.kind === "click") return { ...inbound, choice: hideIn(inbound.choice, hide) };
  if (inbound.kind === "removed") return inbound;
  // Only clicks carry how the identity was established.
  const { account, name } = inbound.actor;
  const actor = { account, name };
  if (inbound.kind === "stop") {
    const { run, goal } = inbound;
    const of = { ...(run !== undefined && { run }), ...(goal !== undefined && { goal }) };
    return { kind: "stop", actor, ...of };
  }
  if (inbound.kind === "pin") {
    const { incident, of: message, off } = inbound;
    const command = { name: "pin" as const, incident, message, ...(off && { off }) };
    return { kind: "command", actor, text: PIN, command };
  }
  const whole = await aside.hide(inbound.text);
  if (inbound.kind === "text" && inbound.app === true) {
    const text = capText(cleanText(whole), MAX_TEXT_BYTES);
    const { address = {} } = inbound;
    return { kind: "message", actor, app: true, text, address };
  }
  const begins = inbound.kind === "text" && inbound.begins === true;
  const reading: Reading = begins ? { kind: "command", command: { name: "new" } } : read(whole);
  if (inbound.kind === "edited") {
    const text = capText(whole, MAX_TEXT_BYTES);
    const isCommand = reading.kind === "command";
    return {
      kind: "edited",
      actor,
      of: inbound.of,
      text,
      ...(isCommand ? { command: reading.command } : heardIn(inbound, whole)),
    };
  }
  switch (reading.kind) {
    case "message":
      return { kind: "message", actor, text: whole, ...heardIn(inbound, whole) };
    case "command": {
      const text = capText(whole, MAX_TEXT_BYTES);
      const { address } = inbound;
      return {
        kind: "command",
        actor,
        text,
        command: reading.command,
        ...(address && { address }),
      };
    }
    case "stop":
      return { kind: "stop", actor, ...(reading.goal !== undefined && { goal: reading.goal }) };
    case "click": {
      if (inbound.pasted === true) {
        throw new BotError(
          "USAGE",
          "Pasted text can't approve or deny, so I didn't send it. Type your answer.",
        );
      }
      const { action, revision, choice } = reading;
      return { kind: "click", actor: inbound.actor, action, revision, choice, via: "typed" };
    }
  }
}

/** Whom it is to, and what its words alone say of that; nothing where the surface is one person's. */
function heardIn(
  { address, files = [], unread = [] }: Pick<Text, "address" | "files" | "unread">,
  text: string,
) {
  if (address === undefined) return {};
  const tone = files.length + unread.length > 0 ? undefined : toneOf(text);
  return { address, ...(tone !== undefined && { tone }) };
}

function hideIn(choice: Choice, hide: Encoder["hide"]): Choice {
  const within = (json: Json): Json => {
    if (typeof json === "string") return hide(json);
    if (Array.isArray(json)) return json.map(within);
    return typeof json === "object" && json !== null ? withinObject(json) : json;
  };
  const withinObject = (object: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(object).map(([name, value]) => [name, within(value)]));
  if (choice.kind === "edit") return { kind: "edit", args: withinObject(choice.args) };
  if (choice.kind === "answer") return { kind: "answer", text: hide(choice.text) };
  return "reason" in choice && choice.reason !== undefined
    ? { ...choice, reason: hide(choice.reason) }
    : choice;
}
