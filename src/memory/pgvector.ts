import type { Pool, PoolClient } from "pg";
import { BotError, messageOf } from "../core/errors.ts";
import {
  type Candidate,
  type Embedded,
  type MemoryIndex,
  MOST_TEXTS,
  type Put,
  type Row,
} from "./index-port.ts";

export interface PgMemoryOptions {
  /** `postgres://user:password@host/database` */
  readonly url: string;
  /** The model that makes vectors; default: there are none. */
  readonly model?: string | undefined;
}

const CONNECT_MS = 5_000;
const QUERY_MS = 10_000;
/** Longer vectors have no index: all of a space are compared. */
const MOST_INDEXED = 2_000;
/** Held while the tables are made, by whichever process comes first. */
const SCHEMA_LOCK = 7_262_013;

const TABLES = "watchkeeper_memory";
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS ${TABLES}_mark (journal text PRIMARY KEY, last bigint NOT NULL, head text);
  CREATE TABLE IF NOT EXISTS ${TABLES} (id text, journal text, seq bigint NOT NULL, at bigint NOT NULL, space text NOT NULL,
    kind text NOT NULL, item text NOT NULL, terms text NOT NULL, length integer NOT NULL, words tsvector NOT NULL, PRIMARY KEY (id, journal));
  CREATE INDEX IF NOT EXISTS ${TABLES}_words ON ${TABLES} USING gin (words);
  CREATE INDEX IF NOT EXISTS ${TABLES}_newest ON ${TABLES} (space, at);
  CREATE TABLE IF NOT EXISTS ${TABLES}_forgotten (id text, journal text, PRIMARY KEY (id, journal));
  CREATE TABLE IF NOT EXISTS ${TABLES}_vectors_of (model text NOT NULL, dimensions integer NOT NULL);
  CREATE TABLE IF NOT EXISTS ${TABLES}_texts (at bigint GENERATED ALWAYS AS IDENTITY, name text PRIMARY KEY, value real[] NOT NULL);`;

const DIMENSIONS = `SELECT dimensions FROM ${TABLES}_vectors_of`;
const FIELDS = "i.id, i.journal, i.at, i.space, i.item, i.terms";

/**
 * The index in a PostgreSQL that all processes share, with vectors where pgvector is installed there. Connects with the first
 * question.
 * @throws each verb BotError STORE_UNAVAILABLE where the server does not answer or refuses
 */
export function createPgMemory({ url, model }: PgMemoryOptions): MemoryIndex {
  const { ask, change, close } = createSession(url, model);
  return {
    ...createChanges(change, model),
    ...createReads(ask),
    ...createNearness(ask, model),
    ...createTextVectors({ ask, change }, model),
    close,
  };
}

type Session = ReturnType<typeof createSession>;

function createChanges(
  change: Session["change"],
  model: string | undefined,
): Pick<MemoryIndex, "put" | "drop" | "embed"> {
  return {
    put: (journal, rows, { last, head }) =>
      change(async (client) => {
        for (const row of rows) await put(client, row, model);
        await client.query(
          `INSERT INTO ${TABLES}_mark VALUES ($1, $2, $3) ON CONFLICT (journal) DO UPDATE SET last = $2, head = $3`,
          [journal, last, head ?? null],
        );
      }),
    drop: (journal) =>
      change(async (client) => {
        const has = (await dimensionsIn(client)) !== undefined;
        for (const table of ["", "_forgotten", "_mark", ...(has ? ["_vector"] : [])])
          await client.query(`DELETE FROM ${TABLES}${table} WHERE journal = $1`, [journal]);
      }),
    embed: (vectors) =>
      change(async (client) => {
        for (const each of vectors) await putVector(client, each, model);
      }),
  };
}

function createReads(
  ask: Session["ask"],
): Pick<MemoryIndex, "marks" | "spaces" | "find" | "newest" | "statistics" | "matching"> {
  const listOf = async (sql: string, values: unknown[]): Promise<Candidate[]> =>
    (await ask(sql, values)).map(candidateOf);
  return {
    async marks() {
      const rows = await ask(`SELECT journal, last, head FROM ${TABLES}_mark`, []);
      return rows.map(({ journal, last, head }) => ({
        journal: String(journal),
        known: { last: Number(last), head: typeof head === "string" ? head : null },
      }));
    },
    async spaces() {
      const rows = await ask(`SELECT DISTINCT space FROM ${TABLES}`, []);
      return rows.map(({ space }) => String(space));
    },
    find: (id, spaces) =>
      listOf(`SELECT ${FIELDS} FROM ${TABLES} i WHERE id = $1 AND space = ANY ($2)`, [id, spaces]),
    newest: (spaces, { kind, limit }) =>
      listOf(
        `SELECT ${FIELDS} FROM ${TABLES} i WHERE space = ANY ($1) AND ($2::text IS NULL OR kind = $2) ORDER BY at DESC, id, journal LIMIT $3`,
        [spaces, kind ?? null, limit],
      ),
    async statistics(terms, spaces) {
      const [size] = await ask(
        `SELECT count(*) AS texts, coalesce(sum(length), 0) AS terms FROM ${TABLES} WHERE space = ANY ($1)`,
        [spaces],
      );
      const rows = await ask(
        `SELECT (SELECT count(*) FROM ${TABLES} WHERE space = ANY ($2) AND words @@ asked.query) AS n
         FROM unnest($1::text[]) WITH ORDINALITY AS each (query, place), LATERAL (SELECT each.query::tsquery AS query) asked ORDER BY place`,
        [terms.map(lexeme), spaces],
      );
      return {
        texts: Number(size?.["texts"]),
        terms: Number(size?.["terms"]),
        having: rows.map(({ n }) => Number(n)),
      };
    },
    matching: async (terms, spaces, { kind, limit }) =>
      terms.length === 0
        ? []
        : listOf(
            `SELECT ${FIELDS} FROM ${TABLES} i WHERE words @@ $1::tsquery AND space = ANY ($2) AND ($3::text IS NULL OR kind = $3)
             ORDER BY ts_rank(words, $1::tsquery) DESC, at DESC, id, journal LIMIT $4`,
            [terms.map(lexeme).join(" | "), spaces, kind ?? null, limit],
          ),
  };
}

function createNearness(
  ask: Session["ask"],
  model: string | undefined,
): Pick<MemoryIndex, "nearest" | "unembedded"> {
  return {
    async nearest(vector, spaces, { kind, limit }) {
      if (dimensionsOf(await ask(DIMENSIONS, [])) !== vector.length) return [];
      const rows = await ask(
        `SELECT ${FIELDS}, 1 - (v.value <=> $1) AS near FROM ${TABLES}_vector v JOIN ${TABLES} i USING (id, journal)
         WHERE i.space = ANY ($2) AND ($3::text IS NULL OR i.kind = $3) ORDER BY v.value <=> $1 LIMIT $4`,
        [written(vector), spaces, kind ?? null, limit],
      );
      return rows.map((row) => ({ ...candidateOf(row), near: Number(row["near"]) }));
    },
    async unembedded(limit) {
      if (model === undefined) return [];
      const has = dimensionsOf(await ask(DIMENSIONS, [])) !== undefined;
      const without = has
        ? `WHERE NOT EXISTS (SELECT 1 FROM ${TABLES}_vector v WHERE v.id = i.id AND v.journal = i.journal)`
        : "";
      const rows = await ask(`SELECT id, journal, seq, item FROM ${TABLES} i ${without} LIMIT $1`, [
        limit,
      ]);
      return rows.map(({ id, journal, seq, item }) => ({
        id: String(id),
        journal: String(journal),
        seq: Number(seq),
        item: String(item),
      }));
    },
  };
}

function createTextVectors(
  { ask, change }: Pick<Session, "ask" | "change">,
  model: string | undefined,
): Pick<MemoryIndex, "textVectors" | "keepTextVectors"> {
  return {
    async textVectors(names) {
      const sql = `SELECT name, value FROM ${TABLES}_texts WHERE name = ANY ($1)`;
      const rows = model === undefined ? [] : await ask(sql, [names]);
      return new Map(
        rows.map(({ name, value }) => [String(name), Float32Array.from(numbersIn(value))]),
      );
    },
    keepTextVectors: (made) =>
      change(async (client) => {
        for (const [name, vector] of made) {
          await beginWith(client, vector.length, model);
          await client.query(
            `INSERT INTO ${TABLES}_texts (name, value) VALUES ($1, $2::real[]) ON CONFLICT (name) DO NOTHING`,
            [name, [...vector]],
          );
        }
        await client.query(
          `DELETE FROM ${TABLES}_texts WHERE at <= (SELECT max(at) FROM ${TABLES}_texts) - $1::bigint`,
          [MOST_TEXTS],
        );
      }),
  };
}

type Asking = Pick<PoolClient, "query">;
type Found = Record<string, unknown>;

/** Connects once, makes the tables, and says in words what the server refuses. */
function createSession(url: string, model: string | undefined) {
  let opened: Promise<Pool> | undefined;
  let isClosed = false;

  async function open(): Promise<Pool> {
    const { Pool: PgPool } = (await import("pg")).default;
    const pool = new PgPool({
      connectionString: url,
      application_name: "watchkeeper",
      max: 1,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: QUERY_MS,
      statement_timeout: QUERY_MS,
      idleTimeoutMillis: 60_000,
      allowExitOnIdle: true,
    });
    // A server that goes away while nothing is asked would end the process.
    pool.on("error", () => {});
    try {
      const client = await pool.connect();
      await prepare(client, model).finally(() => client.release());
      return pool;
    } catch (error) {
      await pool.end().catch(() => undefined);
      throw error;
    }
  }

  async function working<T>(work: (pool: Pool) => Promise<T>): Promise<T> {
    if (isClosed) throw unavailable("it was stopped");
    try {
      opened ??= open();
      return await work(await opened);
    } catch (error) {
      const failed = opened;
      // The next question connects again where it never did.
      void failed?.catch(() => (opened = opened === failed ? undefined : opened));
      throw unavailable(messageOf(error), error);
    }
  }

  return {
    ask: (sql: string, values: unknown[]) =>
      working(async (pool) => (await pool.query<Found>(sql, values)).rows),
    change: (work: (client: PoolClient) => Promise<void>) =>
      working(async (pool) => {
        const client = await pool.connect();
        try {
          await client.query("BEGIN");
          await work(client);
          await client.query("COMMIT");
          client.release();
        } catch (error) {
          await client.query("ROLLBACK").catch(() => undefined);
          client.release(true);
          throw error;
        }
      }),
    async close() {
      if (isClosed) return;
      isClosed = true;
      const pool = await opened?.catch(() => undefined);
      await pool?.end();
    },
  };
}

async function prepare(client: PoolClient, model: string | undefined): Promise<void> {
  await client.query("SELECT pg_advisory_lock($1)", [SCHEMA_LOCK]);
  try {
    await client.query(SCHEMA);
    if (model === undefined) return;
    await client.query("CREATE EXTENSION IF NOT EXISTS vector");
    // What another model made says nothing here.
    const { rows } = await client.query<Found>(`SELECT model FROM ${TABLES}_vectors_of`);
    if (rows.length > 0 && rows[0]?.["model"] !== model) await forgetVectors(client);
  } finally {
    await client.query("SELECT pg_advisory_unlock($1)", [SCHEMA_LOCK]);
  }
}

async function forgetVectors(client: Asking): Promise<void> {
  await client.query(
    `DELETE FROM ${TABLES}_vectors_of; DELETE FROM ${TABLES}_texts; DROP TABLE IF EXISTS ${TABLES}_vector`,
  );
}

async function put(client: Asking, row: Put, model: string | undefined): Promise<void> {
  const { id, journal } = row;
  if ("forgotten" in row) {
    await client.query(`INSERT INTO ${TABLES}_forgotten VALUES ($1, $2) ON CONFLICT DO NOTHING`, [
      id,
      journal,
    ]);
    await client.query(`DELETE FROM ${TABLES} WHERE id = $1 AND journal = $2`, [id, journal]);
    return removeVector(client, row);
  }
  const { seq, at, space, kind, item, terms, vector } = row;
  const words = terms === "" ? [] : terms.split(" ");
  const { rowCount } = await client.query(
    `INSERT INTO ${TABLES} SELECT $1::text, $2::text, $3::bigint, $4::bigint, $5::text, $6::text, $7::text, $8::text, $9::integer, array_to_tsvector($10::text[])
     WHERE NOT EXISTS (SELECT 1 FROM ${TABLES}_forgotten WHERE id = $1 AND journal = $2)
     ON CONFLICT (id, journal) DO UPDATE SET seq = excluded.seq, at = excluded.at, space = excluded.space, kind = excluded.kind,
       item = excluded.item, terms = excluded.terms, length = excluded.length, words = excluded.words WHERE ${TABLES}.seq < excluded.seq`,
    [id, journal, seq, at, space, kind, item, terms, words.length, [...new Set(words)]],
  );
  if (rowCount !== 1) return;
  await removeVector(client, row);
  if (vector !== undefined) await putVector(client, { id, journal, seq, vector }, model);
}

async function removeVector(client: Asking, { id, journal }: Pick<Row, "id" | "journal">) {
  if ((await dimensionsIn(client)) === undefined) return;
  await client.query(`DELETE FROM ${TABLES}_vector WHERE id = $1 AND journal = $2`, [id, journal]);
}

async function dimensionsIn(client: Asking): Promise<number | undefined> {
  return dimensionsOf((await client.query<Found>(DIMENSIONS)).rows);
}

function dimensionsOf([row]: readonly Found[]): number | undefined {
  return row === undefined ? undefined : Number(row["dimensions"]);
}

async function putVector(
  client: Asking,
  { id, journal, seq, vector }: Embedded,
  model: string | undefined,
): Promise<void> {
  await beginWith(client, vector.length, model);
  await client.query(
    `INSERT INTO ${TABLES}_vector SELECT $1::text, $2::text, $3::vector WHERE EXISTS (SELECT 1 FROM ${TABLES} WHERE id = $1 AND journal = $2 AND seq = $4 FOR UPDATE)
     ON CONFLICT (id, journal) DO UPDATE SET value = excluded.value`,
    [id, journal, written(vector), seq],
  );
}

/** Vectors of another length are another model's. */
async function beginWith(client: Asking, length: number, model: string | undefined): Promise<void> {
  if ((await dimensionsIn(client)) === length) return;
  await forgetVectors(client);
  await client.query(
    `CREATE TABLE ${TABLES}_vector (id text, journal text, value vector(${length}) NOT NULL, PRIMARY KEY (id, journal))`,
  );
  if (length <= MOST_INDEXED)
    await client.query(
      `CREATE INDEX ${TABLES}_near ON ${TABLES}_vector USING hnsw (value vector_cosine_ops)`,
    );
  await client.query(`INSERT INTO ${TABLES}_vectors_of VALUES ($1, $2)`, [model ?? "", length]);
}

function written(vector: Float32Array): string {
  return `[${vector.join(",")}]`;
}

/** As a tsquery has it: `'disk'`. */
function lexeme(term: string): string {
  return `'${term.replaceAll(/['\\]/g, "$&$&")}'`;
}

function numbersIn(value: unknown): number[] {
  return Array.isArray(value) ? value.map(Number) : [];
}

function candidateOf(row: Found): Candidate {
  return {
    id: String(row["id"]),
    journal: String(row["journal"]),
    at: Number(row["at"]),
    space: String(row["space"]),
    item: String(row["item"]),
    terms: String(row["terms"]),
  };
}

function unavailable(why: string, cause?: unknown): BotError {
  return new BotError(
    "STORE_UNAVAILABLE",
    `The database of MEMORY_DATABASE_URL does not answer: ${why}.`,
    {
      cause,
    },
  );
}
