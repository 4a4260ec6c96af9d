import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { Preview } from "../../core/entry.ts";
import { BotError } from "../../core/errors.ts";
import { formatElapsed } from "../../core/instant.ts";
import { counted } from "../../core/text.ts";
import { number, oneStatement, type Row, text } from "../database-rows.ts";
import { databaseFor, type DatabaseParts, nameOf } from "../databases.ts";
import { instanceArgument } from "../instances.ts";
import { defineTool, type ToolContext, type Verdict } from "../tool.ts";
import { inSession } from "./client.ts";

const SESSION = `
SELECT pid, usename AS user, datname AS database, application_name AS app, client_addr::text AS client, state, query,
  backend_start::text AS started, extract(epoch FROM now() - state_change)::float8 AS state_s,
  (WITH RECURSIVE waiting AS (
    SELECT w.pid FROM pg_stat_activity w WHERE s.pid = ANY(pg_blocking_pids(w.pid))
    UNION SELECT w.pid FROM pg_stat_activity w JOIN waiting ON waiting.pid = ANY(pg_blocking_pids(w.pid))
  ) SELECT count(*)::int FROM waiting) AS holds_up
FROM pg_stat_activity s WHERE pid = $1 AND backend_type = 'client backend'`;

const WAYS = {
  cancel: {
    call: "pg_cancel_backend",
    does: "Its statement ends with an error; the session and its transaction stay.",
  },
  terminate: {
    call: "pg_terminate_backend",
    does: "The session ends, and what its transaction did is rolled back.",
  },
} as const;

/** How long the server may take to end it before the read-back says that it has not. */
const END_MS = 2_000;
const LOOK_MS = 100;

function inputFor(parts: DatabaseParts) {
  return z.strictObject({
    pid: z.int().positive().describe("The session's process id, as postgres_diagnose shows it"),
    how: z
      .enum(["cancel", "terminate"])
      .default("terminate")
      .describe(
        "cancel: only its statement; terminate: the whole session. One that is idle in a transaction has to be terminated",
      ),
    started: z
      .string()
      .optional()
      .meta({ internal: true })
      .describe("When the session began, so that it is this one"),
    ...instanceArgument(parts.endpoints),
  });
}

type Input = z.infer<ReturnType<typeof inputFor>>;

export function createEndSession(parts: DatabaseParts) {
  return defineTool({
    name: "postgres_end_session",
    summary: "cancels a statement or ends a session in PostgreSQL",
    description:
      "Cancels the statement of one PostgreSQL session, or ends the session, such as one that holds locks that others wait for. postgres_diagnose names its pid.",
    input: inputFor(parts),
    effect: "destructive",
    title: ({ pid, how }) =>
      `${how === "cancel" ? "Cancel the statement of" : "End"} session ${pid}`,
    endpoints: parts.endpoints,
    timeoutMs: 20_000,
    resource: ({ pid, ...which }) =>
      `session ${pid} of ${nameOf(parts, databaseFor(parts, which))}`,
    async pin(asked, ctx) {
      const { started } = await findOrThrow(parts, asked, ctx);
      return { ...asked, started: text(started) };
    },
    async precheck(asked, ctx) {
      await findOrThrow(parts, asked, ctx);
    },
    async preview(asked, ctx) {
      return cardOf(parts, asked, await findOrThrow(parts, asked, ctx));
    },
    async run(asked, ctx) {
      return inSession(ctx, databaseFor(parts, asked), async ({ rows }) => {
        // The number may be another session's since it was looked at.
        const sql = `SELECT ${WAYS[asked.how].call}(pid) AS sent FROM pg_stat_activity WHERE pid = $1 AND backend_start::text = $2`;
        const [answer] = await rows(sql, [asked.pid, asked.started]);
        if (answer === undefined) return { text: `Session ${asked.pid} is gone.`, failed: true };
        if (answer?.["sent"] !== true)
          return { text: "The server did not send the signal.", failed: true };
        return { text: `The server was told to ${asked.how} ${asked.pid}.` };
      });
    },
    verify: (asked, ctx) => readBack(parts, asked, ctx),
  });
}

/** Undefined where it is gone, or another session has its number by now. */
async function find(
  parts: DatabaseParts,
  { pid, started, ...which }: Input,
  ctx: ToolContext,
): Promise<Row | undefined> {
  return inSession(ctx, databaseFor(parts, which), async ({ rows }) => {
    const [found] = await rows(SESSION, [pid]);
    return started === undefined || text(found?.["started"]) === started ? found : undefined;
  });
}

async function findOrThrow(parts: DatabaseParts, asked: Input, ctx: ToolContext): Promise<Row> {
  const found = await find(parts, asked, ctx);
  if (found !== undefined) return found;
  const again = asked.started === undefined ? "" : ", or it is another's by now";
  throw new BotError(
    "PRECHECK_FAILED",
    `There is no session ${asked.pid}${again}. postgres_diagnose lists them.`,
  );
}

function cardOf(parts: DatabaseParts, asked: Input, row: Row): Preview {
  const from = [row["app"], row["client"]].map(text).filter((part) => part !== "");
  const opened = from.length === 0 ? "" : ` (${from.join(", ")})`;
  const since = formatElapsed(number(row["state_s"]) * 1_000);
  const held = number(row["holds_up"]);
  return {
    lines: [
      { label: "Server", value: nameOf(parts, databaseFor(parts, asked)) },
      { label: "Session", value: `${asked.pid}, ${text(row["user"])}${opened}` },
      { label: "State", value: `${text(row["state"])} for ${since}` },
      { label: "Statement", value: oneStatement(row["query"], 1_000) },
    ],
    blastRadius: `${WAYS[asked.how].does} ${counted(held, "session")} ${held === 1 ? "waits" : "wait"} for it.`,
    undo: "It cannot be undone; whoever opened the session has to try again.",
  };
}

/** The server ends it in its own time: it is looked for until it is gone. */
async function readBack(parts: DatabaseParts, asked: Input, ctx: ToolContext): Promise<Verdict> {
  const deadline = Date.now() + END_MS;
  for (;;) {
    const row = await find(parts, asked, ctx);
    if (row === undefined) return { verdict: "done", evidence: `session ${asked.pid} is gone` };
    // Without pg_read_all_stats the state of others' sessions is not told.
    if (asked.how === "cancel" && !["active", ""].includes(text(row["state"])))
      return { verdict: "done", evidence: `session ${asked.pid} runs nothing` };
    if (Date.now() > deadline)
      return {
        verdict: "not done",
        evidence: `session ${asked.pid} is still ${text(row["state"])}`,
      };
    await sleep(LOOK_MS);
  }
}
