import * as z from "zod";
import { BotError, codeOf, type ErrorCode, messageOf } from "../core/errors.ts";
import type { Finding } from "../core/finding.ts";
import { type Database, databaseFor, type DatabaseParts, nameOf } from "./databases.ts";
import { instanceArgument, instanceOf } from "./instances.ts";
import { defineTool, type ToolContext, type ToolOutput } from "./tool.ts";

/** The tools that every SQL database has alike. `S`: a session with its server. */
export interface SqlSystem<S> {
  /** What the names of its tools begin with. */
  name: string;
  /** `a MySQL or MariaDB`, with an article. */
  product: string;
  /** Of the finding about a server that takes no session. */
  kind: string;
  /** Works in a read-only session of its own. @throws BotError with what the server says as its cause */
  inSession<T>(ctx: ToolContext, target: Database, work: (session: S) => Promise<T>): Promise<T>;
  /** What mends it, by the code with which a server takes no session. */
  refusals: Readonly<Record<string, string>>;
  /** That code where every connection is in use, and what keeps one for the bot. */
  full: { code: string; help: string };
}

/** What diagnoses a server, in a session. `name` stands for it in findings. */
type Look<S> = (session: S, name: string) => Promise<ToolOutput>;

/**
 * Finds what is wrong with a server. Where it has no connection left, the role of `admins` looks: servers keep one for such roles.
 */
export function defineDiagnose<S>(
  system: SqlSystem<S>,
  { readers, admins }: { readers: DatabaseParts; admins: DatabaseParts },
  { summary, description, look }: { summary: string; description: string; look: Look<S> },
) {
  const { inSession, refusals, full } = system;
  const spare = (name: string) => `${name} admin`;
  return defineTool({
    name: `${system.name}_diagnose`,
    summary,
    description,
    input: z.strictObject({ ...instanceArgument(readers.endpoints) }),
    diagnoses: true,
    effect: "read",
    doing: () => `Looking for what is wrong with ${system.kind}`,
    endpoints: {
      ...readers.endpoints,
      ...Object.fromEntries(
        Object.entries(admins.endpoints).map(([name, endpoint]) => [spare(name), endpoint]),
      ),
    },
    timeoutMs: 30_000,
    async run(input, ctx): Promise<ToolOutput> {
      const target = databaseFor(readers, input);
      const name = nameOf(readers, target);
      try {
        return await inSession(ctx, target, (session) => look(session, name));
      } catch (error) {
        const code = serverCode(error) ?? "";
        const fix = refusals[code];
        if (fix === undefined) throw error;
        const finding: Finding = {
          object: { kind: system.kind, namespace: "", name },
          cause: messageOf(error),
          severity: "error",
          evidence: "It refused our session.",
          fix,
          since: null,
        };
        if (code !== full.code) return { text: "", findings: [finding], failed: true };
        const admin = admins.databases[instanceOf(input, readers.databases)];
        const seen =
          admin &&
          (await inSession(ctx, { ...admin, endpoint: spare(admin.endpoint) }, (session) =>
            look(session, name),
          ).catch(() => undefined));
        if (seen !== undefined) return { ...seen, findings: [finding, ...(seen.findings ?? [])] };
        const what = "who holds the connections";
        const gap = { what, why: "none is left for the bot", help: full.help };
        return { text: "", findings: [finding], gaps: [gap], failed: true };
      }
    },
  });
}

/** Reads with one statement. `answer` sees to it that it only reads. */
export function defineQuery<S>(
  { name, product, inSession }: SqlSystem<S>,
  parts: DatabaseParts,
  {
    title,
    example,
    answer,
  }: {
    /** Its product without an article. */
    title: string;
    example: string;
    answer(session: S, asked: { sql: string; explain: boolean }, ctx: ToolContext): Promise<string>;
  },
) {
  return defineTool({
    name: `${name}_query`,
    summary: `reads from ${title} with SQL; the server refuses writes`,
    description: `Reads from ${product} database with one SELECT, in a transaction that the server keeps read-only, at most 10 s; shows up to 50 rows. \`explain\`: the plan of the statement instead, without running it.`,
    input: z.strictObject({
      sql: z.string().min(1).max(20_000).describe(`One statement, such as \`${example}\``),
      explain: z.boolean().default(false).describe("Show its plan; it is not run"),
      ...instanceArgument(parts.endpoints),
    }),
    effect: "read",
    doing: ({ sql }) => `Asking ${title}: ${sql}`,
    endpoints: parts.endpoints,
    timeoutMs: 30_000,
    run: ({ sql, explain, ...input }, ctx) =>
      inSession(ctx, databaseFor(parts, input), async (session) => ({
        text: await answer(session, { sql, explain }, ctx),
      })),
  });
}

/** The server's own code of an error, such as `53300` or `1040`, else the system's, such as `ECONNREFUSED`. */
export function serverCode(error: unknown): string | undefined {
  const cause = error instanceof BotError ? error.cause : error;
  const isNumbered = cause instanceof Error && "errno" in cause && Number(cause.errno) > 0;
  return isNumbered ? String(cause.errno) : codeOf(cause);
}

/** An answer, or an error of ours for what the server or its client said. `told`: what it means, and the code as people know it. */
export async function ended<T>(
  answer: Promise<T>,
  told: (code: string | undefined) => { code: ErrorCode; said?: string },
): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof BotError) throw error;
    const { code, said } = told(serverCode(error));
    const text = said === undefined ? messageOf(error) : `${messageOf(error)} (${said})`;
    throw new BotError(code, text, { cause: error });
  }
}
