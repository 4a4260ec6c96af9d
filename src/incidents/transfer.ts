import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import type { Draft } from "../core/entry.ts";
import { BotError, isBotError, messageOf } from "../core/errors.ts";
import { tryJournalKey } from "../core/journal-key.ts";
import { posts } from "../core/posts.ts";
import { oneLine } from "../core/text.ts";
import type { Journal, JournalReader } from "../journal/journal.ts";
import { cleaned } from "./cleaned.ts";
import { advance } from "./fold.ts";
import { type Change, type Incident, TIMES } from "./incident.ts";
import { ID, keyOf, POST_PREFIX, readRecord, type WholeRecord } from "./records.ts";

/** Records on their way from one store to another: one line of JSON each, with all that was ever said of the incident. */

const history = posts.incident.shape.imported.unwrap();
type History = z.infer<typeof history>;

/** One incident as a line. */
const recordLine = z.strictObject({
  kind: z.literal("watchkeeper-incident"),
  version: z.literal(1),
  id: z.string().regex(ID, "is no id such as inc-20261120-k3qa"),
  /** The private place that it belongs to. */
  audience: z.string().optional(),
  /** Oldest first. Times are ms since 1970. */
  history: history.min(1),
});
type RecordLine = z.infer<typeof recordLine>;

/** What was said of it, oldest first, with where; what had no effect, such as the second of two ends at once, is left out. */
function historyOf({ entries, posts: known }: WholeRecord): History {
  return entries.flatMap((entry) => {
    if (entry.kind !== "incident" || known.get(entry.id) !== undefined) return [];
    if (entry.imported !== undefined) return entry.imported;
    const { at, actor, thread, link, outside, change } = entry;
    return {
      at,
      actor,
      thread,
      ...(link !== undefined && { link }),
      ...(outside !== undefined && { outside }),
      change,
    };
  });
}

/** The line of a record. */
export function lineOf(record: WholeRecord & { incident: Incident }): string {
  const { id, audience } = record.incident;
  const line: RecordLine = {
    kind: "watchkeeper-incident",
    version: 1,
    id,
    ...(audience !== undefined && { audience }),
    history: historyOf(record),
  };
  return JSON.stringify(line);
}

/** What is wrong with a file, by the number of its line. */
interface WrongLine {
  line: number;
  problem: string;
}

export type Imported =
  | { kind: "wrong"; wrong: readonly WrongLine[] }
  /** `known`: those that were there already, and so. */
  | { kind: "done"; written: readonly string[]; known: readonly string[] };

/**
 * Takes over the records of a file, each whole, with its id and times; they are marked as imported. Nothing is written where any line is
 * wrong, and what is there already is not written again. Every stored text passes `encode`.
 * @throws what the store throws; those that were written by then stay, and the same file may be imported again
 */
export async function importRecords(
  journal: Pick<Journal, "read" | "post">,
  encode: (text: string) => string,
  text: string,
  now: number,
): Promise<Imported> {
  const wrong: WrongLine[] = [];
  const known: string[] = [];
  const drafts = new Map<string, { line: number; draft: Draft<"incident"> }>();
  for (const [i, json] of text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .entries()) {
    if (json.trim() === "") continue;
    const line = i + 1;
    try {
      const given = readLine(json);
      const { id } = given;
      const before = drafts.get(id);
      if (before !== undefined) throw invalid(`${id} is on line ${before.line} too.`);
      const draft = draftOf(given, encode);
      drafts.set(id, { line, draft });
      checkHistory(id, draft, now);
      if (await isThere(journal, given, draft)) known.push(id);
    } catch (error) {
      if (!isBotError(error, "INPUT_INVALID", "PRECHECK_FAILED", "STORE_NEWER")) throw error;
      wrong.push({ line, problem: messageOf(error) });
    }
  }
  if (wrong.length > 0) return { kind: "wrong", wrong };
  const written: string[] = [];
  for (const [id, { draft }] of drafts) {
    if (known.includes(id)) continue;
    await journal.post(keyOf(id), draft);
    // Somebody may have taken the id meanwhile.
    const refusal = (await readRecord(journal, id)).posts.get(draft.id);
    if (refusal !== undefined) throw refusal;
    written.push(id);
  }
  return { kind: "done", written, known };
}

const invalid = (text: string) => new BotError("INPUT_INVALID", text);

/** @throws BotError INPUT_INVALID */
function readLine(json: string): RecordLine {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new BotError("INPUT_INVALID", `It is not valid JSON: ${messageOf(error)}.`, {
      cause: error,
    });
  }
  const read = recordLine.safeParse(value);
  if (read.success) return read.data;
  const [first] = read.error.issues;
  const where = first?.path.join(".") ?? "";
  throw invalid(`${where === "" ? "" : `${where}: `}${first?.message ?? "It is no record"}.`);
}

/** One entry with all of it: a record is taken over whole or not at all. The same history is the same entry. */
function draftOf(
  { id, audience, history: said }: RecordLine,
  encode: (text: string) => string,
): Draft<"incident"> {
  const imported = said.map(({ actor, change, ...rest }) => ({
    ...rest,
    actor: { account: actor.account, name: oneLine(encode(actor.name)) },
    change: cleaned(change, encode),
  }));
  const [first] = imported;
  const hash = createHash("sha256")
    .update(JSON.stringify([id, imported]))
    .digest("hex");
  return {
    id: `${POST_PREFIX.opening}import:${hash}`,
    kind: "incident",
    actor: { account: "watchkeeper", name: "Watchkeeper" },
    thread: first?.thread ?? "",
    ...(audience !== undefined && { audience }),
    change: {},
    imported,
  };
}

/** @throws BotError INPUT_INVALID, PRECHECK_FAILED where no record could have come to be so */
function checkHistory(id: string, draft: Draft<"incident">, now: number): void {
  for (const [i, { at, thread, change }] of (draft.imported ?? []).entries()) {
    const where = `history.${i}`;
    if (tryJournalKey(thread) === undefined) throw invalid(`${where}.thread: it names no thread.`);
    for (const time of timesOf(at, change))
      if (time > now) throw invalid(`${where}: ${new Date(time).toISOString()} is in the future.`);
  }
  advance(undefined, id, { ...draft, at: now });
}

function timesOf(at: number, change: Change): number[] {
  const { pin, alert, acted } = change;
  return [
    at,
    ...TIMES.map((name) => change[name]),
    pin?.at,
    alert?.startedAt,
    alert?.acknowledgedAt,
    alert?.overAt,
    acted?.startedAt,
    acted?.endedAt,
    acted?.undoneAt,
    acted?.verifiedAt,
    ...(acted?.votes ?? []).map((vote) => vote.at),
  ].filter((time) => time !== undefined);
}

/**
 * True if the store has it already, whatever was said since.
 * @throws BotError PRECHECK_FAILED if it has another record with its id
 */
async function isThere(
  journal: Pick<Journal, "read">,
  { id, audience, history: given }: RecordLine,
  draft: Draft<"incident">,
): Promise<boolean> {
  const record = await readRecord(journal, id);
  const { incident, newer } = record;
  if (newer) throw new BotError("STORE_NEWER", `A newer version of this program wrote to ${id}.`);
  if (incident === undefined) return false;
  // As the same file would be read, so that only what it says counts.
  const stored = history.parse(historyOf(record)).slice(0, given.length);
  const isSame = [given, history.parse(draft.imported)].some((one) =>
    isDeepStrictEqual(one, stored),
  );
  if (isSame && incident.audience === audience) return true;
  throw new BotError("PRECHECK_FAILED", `${id} is there already, with another history.`);
}

/** The records with these ids, in this order. @throws BotError INPUT_INVALID for one that is not there, STORE_NEWER */
export async function recordsOf(
  journal: Pick<JournalReader, "read">,
  ids: readonly string[],
): Promise<(WholeRecord & { incident: Incident })[]> {
  const found: (WholeRecord & { incident: Incident })[] = [];
  for (const written of ids) {
    const id = written.trim().toLowerCase();
    const record = ID.test(id) ? await readRecord(journal, id) : undefined;
    if (record?.newer === true)
      throw new BotError(
        "STORE_NEWER",
        `A newer version of this program wrote to ${id}; export with that.`,
      );
    const incident = record?.incident;
    if (record === undefined || incident === undefined)
      throw invalid(`There is no incident ${JSON.stringify(id)}.`);
    found.push({ ...record, incident });
  }
  return found;
}

/** The ids of those that began in the period, the oldest beginning first. */
export async function idsIn(
  journal: Pick<JournalReader, "list" | "read">,
  { from, to }: { from: number; to: number },
): Promise<string[]> {
  const found: { id: string; startedAt: number }[] = [];
  for await (const { key } of journal.list({ prefix: "incident:" })) {
    const { incident } = await readRecord(journal, key.slice("incident:".length));
    if (incident === undefined) continue;
    const { id, startedAt } = incident;
    if (startedAt >= from && startedAt < to) found.push({ id, startedAt });
  }
  return found
    .toSorted((a, b) => a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1))
    .map(({ id }) => id);
}
