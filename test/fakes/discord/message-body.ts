import { isBody, readComponents } from "./components.ts";
import { invalidForm, refusal } from "./refusals.ts";
import type { Body, FakeUpload } from "./world.ts";

export const FLAGS = {
  suppressEmbeds: 1 << 2,
  hasThread: 1 << 5,
  ephemeral: 1 << 6,
  suppressNotifications: 1 << 12,
  componentsV2: 1 << 15,
} as const;

const MAX_CONTENT = 2_000;
const MAX_ALLOWED = 100;
const MAX_NONCE = 25;

/** A message as it was asked for, checked. */
export interface MessageBody {
  content: string;
  components: Body[];
  flags: number;
  /** Undefined: those of the message stay. */
  uploads: readonly FakeUpload[] | undefined;
  allowed: Body | undefined;
}

function readContent(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string") {
    throw invalidForm("content", "STRING_TYPE_CONVERT", "Could not interpret as string.");
  }
  const content = value.trim();
  if (content.length > MAX_CONTENT) {
    const said = `Must be ${MAX_CONTENT} or fewer in length.`;
    throw invalidForm("content", "BASE_TYPE_MAX_LENGTH", said);
  }
  return content;
}

/** @throws Refusal 50035 for a list besides a `parse` of the same kind, or more than 100 ids */
function readAllowed(value: unknown): Body | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isBody(value)) {
    throw invalidForm("allowed_mentions", "MODEL_TYPE_CONVERT", "Only dictionaries may be used");
  }
  const parse = Array.isArray(value["parse"]) ? value["parse"] : [];
  if (parse.some((kind) => !["users", "roles", "everyone"].includes(String(kind)))) {
    throw invalidForm(
      "allowed_mentions.parse",
      "BASE_TYPE_CHOICES",
      "Value must be one of the kinds",
    );
  }
  for (const kind of ["users", "roles"]) {
    const ids = Array.isArray(value[kind]) ? value[kind] : [];
    if (ids.length > MAX_ALLOWED) {
      const said = `Must be ${MAX_ALLOWED} or fewer in length.`;
      throw invalidForm(`allowed_mentions.${kind}`, "BASE_TYPE_MAX_LENGTH", said);
    }
    if (ids.length > 0 && parse.includes(kind)) {
      const said = `parse:["${kind}"] and ${kind}: [ids...] are mutually exclusive.`;
      throw invalidForm("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", said);
    }
  }
  return value;
}

/** A number of the flags that a request may set; the others are dropped without a word, as Discord does. */
function readFlags(value: unknown, settable: number): number {
  if (value === undefined || value === null) return 0;
  if (typeof value !== "number" || !Number.isInteger(value)) {
    throw invalidForm("flags", "NUMBER_TYPE_COERCE", "Value is not int.");
  }
  return value & settable;
}

/** What the program never sends; beside components of version 2 Discord refuses the content too. */
function refuseOthers(body: Body, v2: boolean): void {
  const others = ["embeds", "poll", "sticker_ids", "message_reference"];
  for (const key of v2 ? ["content", ...others] : others) {
    const value = body[key];
    const empty =
      value === undefined ||
      value === null ||
      value === "" ||
      (Array.isArray(value) && value.length === 0);
    if (empty) continue;
    const code = "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2";
    const said = `The '${key}' field cannot be used when using MessageFlags.IS_COMPONENTS_V2`;
    throw invalidForm(key, code, said);
  }
}

const MAX_FILES = 10;
const MAX_FILE_BYTES = 10 * 1024 * 1024;

/** The files that come with a request; JSON alone, which could only name files that are there, is nothing that the program sends. */
function readUploads(value: unknown): readonly FakeUpload[] | undefined {
  if (value === undefined) return undefined;
  const uploads = (Array.isArray(value) ? value : []) as FakeUpload[];
  if (uploads.length > MAX_FILES || uploads.some(({ bytes }) => !(bytes instanceof Uint8Array))) {
    throw invalidForm("attachments", "BASE_TYPE_MAX_LENGTH", "Must be 10 or fewer in length.");
  }
  if (uploads.some(({ bytes }) => bytes.length > MAX_FILE_BYTES)) throw refusal("tooLarge");
  return uploads;
}

const CREATABLE = FLAGS.suppressEmbeds | FLAGS.suppressNotifications | FLAGS.componentsV2;

/**
 * A new message. `ephemeral` only where an interaction is answered.
 * @throws Refusal 50006, 50035, 40005, and 500 as `readComponents`
 */
export function readNewMessage(body: Body, ephemeral: boolean): MessageBody {
  const flags = readFlags(body["flags"], CREATABLE | (ephemeral ? FLAGS.ephemeral : 0));
  const v2 = (flags & FLAGS.componentsV2) !== 0;
  refuseOthers(body, v2);
  const uploads = readUploads(body["attachments"]);
  const components = readComponents(body["components"] ?? [], v2, namesOf(uploads));
  const content = readContent(body["content"]);
  // In a message without the flag rows alone are nothing to show.
  const something = v2 ? components.length : content.length;
  if (something === 0) throw refusal("emptyMessage");
  return {
    content,
    components,
    flags,
    uploads,
    allowed: readAllowed(body["allowed_mentions"]),
  };
}

function namesOf(uploads: readonly { name: string }[] = []): string[] {
  return uploads.map(({ name }) => name);
}

/**
 * A message as it stands after an edit: what the request leaves out stays.
 * @throws Refusal 50006, 50035; also for taking back Components V2, which no message ever loses
 */
export function readEdit(
  body: Body,
  before: Omit<MessageBody, "allowed" | "uploads"> & { attachments: readonly { name: string }[] },
): MessageBody {
  const hadV2 = (before.flags & FLAGS.componentsV2) !== 0;
  const asked = readFlags(body["flags"], FLAGS.suppressEmbeds | FLAGS.componentsV2);
  const given = body["flags"] !== undefined && body["flags"] !== null;
  if (hadV2 && given && (asked & FLAGS.componentsV2) === 0) {
    const said = "The IS_COMPONENTS_V2 flag cannot be removed from a message";
    throw invalidForm("flags", "MESSAGE_CANNOT_REMOVE_COMPONENTS_V2_FLAG", said);
  }
  const v2 = hadV2 || (asked & FLAGS.componentsV2) !== 0;
  refuseOthers(body, v2);
  const kept = (key: string): boolean => body[key] === undefined;
  if (v2 && !hadV2 && before.content !== "" && kept("content")) {
    const code = "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2";
    throw invalidForm("content", code, "The 'content' field has to be removed");
  }
  const uploads = readUploads(body["attachments"]);
  const components = kept("components")
    ? before.components
    : readComponents(body["components"] ?? [], v2, namesOf(uploads ?? before.attachments));
  const content = kept("content") ? before.content : readContent(body["content"]);
  const something = v2 ? components.length : content.length;
  if (something === 0) throw refusal("emptyMessage");
  const settable = FLAGS.suppressEmbeds | FLAGS.componentsV2;
  const flags = given ? (before.flags & ~settable) | asked : before.flags;
  return {
    content,
    components,
    flags,
    uploads,
    allowed: readAllowed(body["allowed_mentions"]),
  };
}

/** @throws Refusal 50035 when it is longer than 25 characters */
export function readNonce(value: unknown): string | number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" && Number.isInteger(value)) return value;
  if (typeof value === "string" && value.length <= MAX_NONCE) return value;
  throw invalidForm("nonce", "NONCE_TYPE_TOO_LONG", `Must be ${MAX_NONCE} or fewer in length.`);
}
