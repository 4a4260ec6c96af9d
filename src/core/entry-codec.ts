import type * as z from "zod";
import { type Content, type Draft, type Kind, SCHEMAS } from "./entry.ts";
import { BotError } from "./errors.ts";
import { plainId, storedId } from "./stored-id.ts";
import { type Said, type Tuples, tuplesOf } from "./tuple.ts";

/**
 * How a store keeps an entry's content: with its kind and the version of that kind, as a JSON object or, under the kind's
 * code, as a tuple (`tuple.ts`). A store holds every version that was ever written in either form, and what is read has
 * always the newest shape.
 */

/** Programs up to 0.4 read objects alone; to them a kind's code is a newer program's kind. */
export type Form = "object" | "tuple";

/** A version that the newest schema does not read, and how it becomes the next one. */
interface Migration {
  /** The shape as it was written. */
  schema: z.ZodType<object>;
  next(fields: object): object;
}

interface KindHistory {
  /** What a tuple of it is known by, for ever. */
  code: string;
  /** The version that is written, and the newest that is read. */
  version: number;
  /** What its ids say, which a tuple leaves out. */
  said?: Said;
  /** By version. Where the next version only added optional fields, there is none. */
  migrations?: Readonly<Record<number, Migration>>;
}

/** Of the kinds that each step of a run has. */
const TURN: Said = {
  fields: ["run", "step"],
  of(id) {
    const end = id.lastIndexOf(".");
    return { run: id.slice(id.indexOf(":") + 1, end), step: Number(id.slice(end + 1)) };
  },
};
const CALL: Said = {
  fields: ["run", "call"],
  of(id) {
    const call = id.slice(id.indexOf(":") + 1);
    return { run: call.slice(0, call.indexOf(".")), call };
  },
};

/** To change a kind's shape, raise its version; where older entries no longer fit, say how they become new ones. */
const HISTORIES: Readonly<Record<Kind, KindHistory>> = {
  message: { code: "m", version: 5 },
  command: { code: "c", version: 6 },
  click: { code: "k", version: 10 },
  edited: { code: "e", version: 3 },
  removed: { code: "x", version: 1 },
  stop: { code: "s", version: 3 },
  timer: { code: "t", version: 6 },
  signal: { code: "g", version: 1 },
  alarm: { code: "l", version: 1 },
  tenant: { code: "n", version: 1 },
  tool_form: { code: "f", version: 1 },
  freeze: { code: "z", version: 1 },
  feedback: { code: "b", version: 1 },
  memory: { code: "M", version: 3 },
  secret: { code: "y", version: 1 },
  mirror: { code: "i", version: 1 },
  moved: { code: "v", version: 1 },
  incident: { code: "I", version: 5 },
  incident_state: { code: "S", version: 2 },
  alert: { code: "j", version: 3 },
  alert_state: { code: "J", version: 4 },
  alert_thread: { code: "O", version: 1 },
  alert_told: { code: "o", version: 2 },
  run_started: { code: "R", version: 11 },
  extended: { code: "u", version: 1 },
  above: { code: "A", version: 3 },
  assistant: { code: "a", version: 7, said: TURN },
  gate: { code: "G", version: 3 },
  plan: { code: "p", version: 2 },
  condensed: { code: "K", version: 2 },
  overflow: { code: "L", version: 1 },
  action_proposed: { code: "P", version: 8 },
  vote: { code: "V", version: 3 },
  action_closed: { code: "C", version: 2 },
  tool_started: { code: "T", version: 5, said: CALL },
  tool_finished: { code: "F", version: 8, said: CALL },
  grant_revoked: { code: "X", version: 1 },
  settled: { code: "D", version: 1 },
  view_added: { code: "W", version: 2 },
  view_removed: { code: "w", version: 1 },
  notice: { code: "N", version: 6 },
  delivered: { code: "d", version: 3 },
  run_ended: { code: "E", version: 4 },
  goal_started: { code: "B", version: 1 },
  goal_planned: { code: "Q", version: 1 },
  goal_judged: { code: "U", version: 1 },
  goal_state: { code: "H", version: 1 },
};

/** The version of a kind that this program writes, and the newest it reads. */
export function entryVersion(kind: Kind): number {
  return HISTORIES[kind].version;
}

const BY_CODE = new Map(Object.entries(HISTORIES).map(([kind, { code }]) => [code, kind as Kind]));

/** The schema that a version was written by. */
function schemaOf(
  { version, migrations = {} }: Pick<KindHistory, "version" | "migrations">,
  newest: z.ZodType<object>,
  from: number,
): z.ZodType<object> {
  for (let at = from; at < version; at++) {
    const schema = migrations[at]?.schema;
    if (schema !== undefined) return schema;
  }
  return newest;
}

/**
 * A body that was written as `from`, in the newest shape.
 * @throws z.ZodError when it does not fit the schema of its version
 */
export function migrate(
  { version, migrations = {} }: Pick<KindHistory, "version" | "migrations">,
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

const tuplesFor = createTuples();

/** Makes a schema's tuples once, when they are first needed. */
function createTuples(): (schema: z.ZodType<object>, history: KindHistory) => Tuples {
  const made = new Map<z.ZodType, Tuples>();
  return (schema, { said }) => {
    const tuples = made.get(schema) ?? tuplesOf(schema, ["id", "kind"], said);
    made.set(schema, tuples);
    return tuples;
  };
}

/** An entry's content as a store keeps it. */
interface Encoded {
  /** As a row has it (`stored-id.ts`). */
  stored: string;
  /** Or its code. */
  kind: string;
  version: number;
  body: string;
}

/**
 * The content of an entry as a store keeps it, or undefined when a newer program wrote it.
 * @throws z.ZodError, SyntaxError or TypeError when the kind is known and the body does not fit it
 */
export function decodeContent({ stored, kind: word, version, body }: Encoded): Content | undefined {
  const isTuple = BY_CODE.has(word);
  const kind = BY_CODE.get(word) ?? (word as Kind);
  if (!Object.hasOwn(HISTORIES, kind) || version > entryVersion(kind)) return undefined;
  const [history, newest] = [HISTORIES[kind], SCHEMAS[kind]];
  let fields: unknown = JSON.parse(body);
  if (isTuple) {
    const schema = schemaOf(history, newest, version);
    fields = tuplesFor(schema, history).unpack(fields, plainId(word, stored));
    if (schema === newest) return { kind, ...(fields as object) } as Content;
  }
  return { kind, ...migrate(history, newest, version, fields) } as Content;
}

/** @throws BotError ENTRY_INVALID when it could not be read again: one such entry would take its thread with it */
export function checkDraft(draft: Draft): unknown[] {
  const schema = SCHEMAS[draft.kind];
  // A store would keep another text than the one that is sealed.
  if (!draft.id.isWellFormed()) {
    const text = `${JSON.stringify(draft.id)} has half of a character and is no id; it was not written.`;
    throw new BotError("ENTRY_INVALID", text);
  }
  try {
    return tuplesFor(schema, HISTORIES[draft.kind]).pack(draft, draft.id);
  } catch (error) {
    const { id, kind, ...fields } = draft;
    const text = `${id} is not of the form of a ${kind}; it was not written.`;
    // The schema says what is wrong.
    const cause = schema.safeParse(fields).error ?? error;
    throw new BotError("ENTRY_INVALID", text, { cause });
  }
}

/**
 * Splits a draft into the columns that every store keeps.
 * @throws BotError ENTRY_INVALID, see `checkDraft`
 */
export function encodeDraft(draft: Draft, form: Form): Encoded & { id: string } {
  const tuple = checkDraft(draft);
  const { code, version } = HISTORIES[draft.kind];
  const { id, kind, ...fields } = draft;
  if (form === "object") return { id, stored: id, kind, version, body: JSON.stringify(fields) };
  return { id, stored: storedId(code, id), kind: code, version, body: JSON.stringify(tuple) };
}
