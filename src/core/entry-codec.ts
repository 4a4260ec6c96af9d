import type * as z from "zod";
import { type Content, type Draft, type Kind, SCHEMAS } from "./entry.ts";
import { BotError } from "./errors.ts";

/**
 * How a store keeps an entry's content: as JSON, with its kind and the version of that kind. A store holds every version that
 * was ever written, and what is read has always the newest shape.
 */

/** A version that the newest schema does not read, and how it becomes the next one. */
interface Migration {
  /** The shape as it was written. */
  schema: z.ZodType<object>;
  next(fields: object): object;
}

interface KindHistory {
  /** The version that is written, and the newest that is read. */
  version: number;
  /** By version. Where the next version only added optional fields, there is none. */
  migrations?: Readonly<Record<number, Migration>>;
}

/** To change a kind's shape, raise its version; where older entries no longer fit, say how they become new ones. */
const HISTORIES: Readonly<Record<Kind, KindHistory>> = {
  message: { version: 5 },
  command: { version: 5 },
  click: { version: 7 },
  edited: { version: 2 },
  removed: { version: 1 },
  stop: { version: 2 },
  timer: { version: 4 },
  signal: { version: 1 },
  alarm: { version: 1 },
  tenant: { version: 1 },
  tool_form: { version: 1 },
  freeze: { version: 1 },
  feedback: { version: 1 },
  secret: { version: 1 },
  mirror: { version: 1 },
  moved: { version: 1 },
  incident: { version: 3 },
  incident_state: { version: 1 },
  run_started: { version: 6 },
  above: { version: 2 },
  assistant: { version: 3 },
  gate: { version: 1 },
  action_proposed: { version: 6 },
  vote: { version: 3 },
  action_closed: { version: 2 },
  tool_started: { version: 4 },
  tool_finished: { version: 4 },
  grant_revoked: { version: 1 },
  settled: { version: 1 },
  view_added: { version: 2 },
  view_removed: { version: 1 },
  notice: { version: 5 },
  delivered: { version: 2 },
  run_ended: { version: 3 },
};

/** The version of a kind that this program writes, and the newest it reads. */
export function entryVersion(kind: Kind): number {
  return HISTORIES[kind].version;
}

/**
 * A body that was written as `from`, in the newest shape.
 * @throws z.ZodError when it does not fit the schema of its version
 */
export function migrate(
  { version, migrations = {} }: KindHistory,
  newest: z.ZodType<object>,
  from: number,
  body: unknown,
): object {
  let fields = body;
  for (let at = from; at < version; at++) {
    const migration = migrations[at];
    if (migration !== undefined) fields = migration.next(migration.schema.parse(fields));
  }
  return newest.parse(fields);
}

/**
 * The content of an entry as a store keeps it, or undefined when a newer program wrote it.
 * @throws z.ZodError when the kind is known and the body does not fit it
 */
export function decodeContent(kind: string, version: number, body: unknown): Content | undefined {
  if (!Object.hasOwn(HISTORIES, kind) || version > entryVersion(kind as Kind)) return undefined;
  const known = kind as Kind;
  return { kind, ...migrate(HISTORIES[known], SCHEMAS[known], version, body) } as Content;
}

/**
 * Splits a draft into the columns that every store keeps.
 * @throws BotError ENTRY_INVALID when it could not be read again: one such entry would take its thread with it
 */
export function encodeDraft(draft: Draft) {
  const { id, kind, ...fields } = draft;
  try {
    SCHEMAS[kind].parse(fields);
    return { id, kind, version: entryVersion(kind), body: JSON.stringify(fields) };
  } catch (error) {
    const text = `${id} is not of the form of a ${kind}; it was not written.`;
    throw new BotError("ENTRY_INVALID", text, { cause: error });
  }
}
