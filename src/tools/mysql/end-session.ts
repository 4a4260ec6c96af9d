import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { Preview } from "../../core/entry.ts";
import { BotError } from "../../core/errors.ts";
import { counted } from "../../core/text.ts";
import { number, rootsOf, type Row, text } from "../database-rows.ts";
import { databaseFor, type DatabaseParts, nameOf } from "../databases.ts";
import { instanceArgument } from "../instances.ts";
import { defineTool, type ToolContext, type Verdict } from "../tool.ts";
import { inSession, type Session } from "./client.ts";
import { doing, seeSessions, type Sessions, statementOf } from "./sessions.ts";

const WAYS = {
  cancel: {
    call: "KILL QUERY",
    does: "Its statement ends with an error; the session and its transaction stay.",
  },
  terminate: {
    call: "KILL CONNECTION",
    does: "The session ends, and what its transaction did is rolled back.",
  },
} as const;

/** How long the server may take to end it before the read-back says that it has not. */
const END_MS = 2_000;
const LOOK_MS = 100;
/** The server tells how long it runs in whole seconds. */
const CLOCK_S = 2;

/** Numbers of sessions begin anew when the server does. */
const STARTED = "SELECT UNIX_TIMESTAMP() AS now";
const UPTIME = "SHOW GLOBAL STATUS WHERE Variable_name = 'Uptime'";

function inputFor(parts: DatabaseParts) {
  return z.strictObject({
    id: z.int().positive().describe("The session's id, as mysql_diagnose shows it"),
    how: z
      .enum(["cancel", "terminate"])
      .default("terminate")
      .describe(
        "cancel: only its statement; terminate: the whole session. One that is idle in a transaction has to be terminated",
      ),
    session: z
      .string()
      .optional()
      .meta({ internal: true })
      .describe("Whose session it is and from where, so that it is this one"),
    serverStarted: z
      .int()
      .optional()
      .meta({ internal: true })
      .describe("When the server started, in seconds since 1970"),
    ...instanceArgument(parts.endpoints),
  });
}

type Input = z.infer<ReturnType<typeof inputFor>>;

interface Found {
  row: Row;
  sessions: Sessions;
  serverStarted: number;
}

export function createEndSession(parts: DatabaseParts) {
  return defineTool({
    name: "mysql_end_session",
    summary: "cancels a statement or ends a session in MySQL or MariaDB",
    description:
      "Cancels the statement of one MySQL or MariaDB session, or ends the session, such as one that holds locks that others wait for. mysql_diagnose names its id.",
    input: inputFor(parts),
    effect: "destructive",
    title: ({ id, how }) => `${how === "cancel" ? "Cancel the statement of" : "End"} session ${id}`,
    endpoints: parts.endpoints,
    timeoutMs: 20_000,
    resource: ({ id, ...which }) => `session ${id} of ${nameOf(parts, databaseFor(parts, which))}`,
    async pin(asked, ctx) {
      const { row, serverStarted } = await findOrThrow(parts, asked, ctx);
      return { ...asked, session: ownerOf(row), serverStarted };
    },
    async precheck(asked, ctx) {
      await findOrThrow(parts, asked, ctx);
    },
    async preview(asked, ctx) {
      return cardOf(parts, asked, await findOrThrow(parts, asked, ctx));
    },
    async run(asked, ctx) {
      return inSession(ctx, databaseFor(parts, asked), async (session) => {
        // A server that started anew meanwhile would have ended this session too, and it gives no number twice.
        if ((await find(session, asked)) === undefined)
          return { text: `Session ${asked.id} is gone.`, failed: true };
        await session.rows(`${WAYS[asked.how].call} ${asked.id}`);
        return { text: `The server was told to ${asked.how} ${asked.id}.` };
      });
    },
    verify: (asked, ctx) => readBack(parts, asked, ctx),
  });
}

/** Undefined where it is gone, or another session has its number by now. */
async function find(session: Session, asked: Input): Promise<Found | undefined> {
  const sessions = await seeSessions(session);
  const row = sessions.rows.find((each) => number(each["id"]) === asked.id);
  const [[clock], [status]] = [await session.rows(STARTED), await session.rows(UPTIME)];
  const serverStarted = number(clock?.["now"]) - number(status?.["Value"]);
  if (row === undefined) return undefined;
  const isThis =
    (asked.session === undefined || asked.session === ownerOf(row)) &&
    Math.abs((asked.serverStarted ?? serverStarted) - serverStarted) <= CLOCK_S;
  return isThis ? { row, sessions, serverStarted } : undefined;
}

/** With the port that its client calls from, which another session of that client has not. */
function ownerOf({ user, client }: Row): string {
  return `${text(user)}@${text(client)}`;
}

async function findOrThrow(parts: DatabaseParts, asked: Input, ctx: ToolContext): Promise<Found> {
  const found = await inSession(ctx, databaseFor(parts, asked), (session) => find(session, asked));
  if (found !== undefined) return found;
  const again = asked.session === undefined ? "" : ", or it is another's by now";
  throw new BotError(
    "PRECHECK_FAILED",
    `There is no session ${asked.id}${again}. mysql_diagnose lists them.`,
  );
}

function cardOf(parts: DatabaseParts, asked: Input, { row, sessions }: Found): Preview {
  const [, waiting = []] = rootsOf(sessions.blockers).find(([id]) => id === asked.id) ?? [];
  const held = waiting.length;
  const changed = number(row["modified"]);
  return {
    lines: [
      { label: "Server", value: nameOf(parts, databaseFor(parts, asked)) },
      { label: "Session", value: `${asked.id}, ${ownerOf(row)}` },
      { label: "State", value: doing(row) },
      { label: "Statement", value: statementOf(row, 1_000) },
      ...(changed > 0 && asked.how === "terminate"
        ? [{ label: "Rolled back", value: `${counted(changed, "row")} that it changed` }]
        : []),
    ],
    blastRadius: `${WAYS[asked.how].does} ${counted(held, "session")} ${held === 1 ? "waits" : "wait"} for it.`,
    undo: "It cannot be undone; whoever opened the session has to try again.",
  };
}

/** The server ends it in its own time: it is looked for until it is gone. */
async function readBack(parts: DatabaseParts, asked: Input, ctx: ToolContext): Promise<Verdict> {
  const deadline = Date.now() + END_MS;
  for (;;) {
    const found = await inSession(ctx, databaseFor(parts, asked), (session) =>
      find(session, asked),
    );
    if (found === undefined) return { verdict: "done", evidence: `session ${asked.id} is gone` };
    if (asked.how === "cancel" && text(found.row["command"]) === "Sleep")
      return { verdict: "done", evidence: `session ${asked.id} runs nothing` };
    if (Date.now() > deadline)
      return { verdict: "not done", evidence: `session ${asked.id} is still ${doing(found.row)}` };
    await sleep(LOOK_MS);
  }
}
