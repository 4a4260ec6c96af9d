import * as z from "zod";
import type { Gap } from "../../core/finding.ts";
import { BotError } from "../../core/errors.ts";
import type { Endpoint } from "../http.ts";
import { orRefused } from "../refusal.ts";
import { nowOf } from "../since.ts";
import { defineTool, type Tool, type ToolContext, type ToolOutput } from "../tool.ts";
import { openElasticsearch } from "./elasticsearch.ts";
import { logFields, timesOf } from "./fields.ts";
import { openLoki } from "./loki.ts";
import { readServer } from "./read-server.ts";
import { report } from "./report.ts";
import type { LogQuery, LogServer, LogSource } from "./source.ts";
import { createThread } from "./thread.ts";
import { openVictoriaLogs } from "./victorialogs.ts";

const OPENERS: Readonly<
  Record<string, (ctx: ToolContext, server: LogServer, asked: LogQuery) => Promise<LogSource>>
> = {
  loki: openLoki,
  elasticsearch: openElasticsearch,
  victorialogs: openVictoriaLogs,
};

const LANGUAGES: Readonly<Record<string, string>> = {
  loki: 'Loki: LogQL, such as {app="shop"} |= "timeout"',
  elasticsearch: "Elasticsearch: a Lucene query string",
  victorialogs: "VictoriaLogs: LogsQL",
};

const BUDGET = { lines: 100_000, bytes: 64 * 1024 * 1024, ms: 40_000, page: 5_000 };

/** `search_logs`, for servers of logs; `search_host_logs` reads this machine's: only one of them runs on a certain machine. */
export function createSearchLogs(
  servers: readonly LogServer[],
  endpoints: Readonly<Record<string, Endpoint>>,
): Tool {
  const names = servers.map(({ name }) => name);
  const systems = [...new Set(servers.map(({ system }) => system))];
  const source = z.enum(names).optional().describe(`Which server. Not given: ${names[0]}.`);
  const index = z
    .string()
    .min(1)
    .max(500)
    .regex(/^[^\s/?#"\\<>|]+$/, "expected names or patterns of indices such as logs-*")
    .optional()
    .describe("Elasticsearch: indices such as logs-*; not given: all");
  const input = z.strictObject({
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- left out, it reads as what it is when it is not given
    ...((names.length > 1 ? { source } : {}) as { source: typeof source }),
    query: z
      .string()
      .min(1)
      .max(2_000)
      .optional()
      .describe(
        `In the server's language. ${systems.map((system) => LANGUAGES[system]).join("; ")}`,
      ),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    ...((systems.includes("elasticsearch") ? { index } : {}) as { index: typeof index }),
    service: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe("Only lines of this service, by the label or field that names it"),
    ...logFields,
  });
  return defineTool({
    name: "search_logs",
    summary:
      "folds lines of Loki, Elasticsearch or VictoriaLogs into the few templates that matter, new errors first",
    description:
      "Reads log lines of a time and folds them into templates: what varies is one template with a count, first and last time. Errors come first; with new_since what was not there before comes before all. Use lines with a pattern to see lines as they are.",
    input,
    effect: "read",
    endpoints,
    timeoutMs: 100_000,
    doing: ({ service, query = "" }) =>
      `Searching the logs${service === undefined ? "" : ` of ${service}`} ${query}`.trimEnd(),
    run: (given, ctx) =>
      orRefused(async () => {
        const server = servers.find(({ name }) => name === (given.source ?? names[0]));
        const open = OPENERS[server?.system ?? ""];
        if (server === undefined || open === undefined)
          throw new BotError("INPUT_INVALID", "source: there is no such server.");
        return search({ server, open }, given, ctx);
      }),
  });
}

interface Given {
  query?: string | undefined;
  index?: string | undefined;
  service?: string | undefined;
  pattern?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
  new_since?: string | undefined;
  limit: number;
  lines?: number | undefined;
}

async function search(
  { server, open }: { server: LogServer; open: (typeof OPENERS)[string] },
  given: Given,
  ctx: ToolContext,
): Promise<ToolOutput> {
  const now = nowOf(ctx);
  const times = await timesOf(given, ctx, now);
  const { query, index, service, pattern, lines, limit } = given;
  const { since, until } = times;
  const source = await open(ctx, server, { query, index, service, since, until });
  const thread = createThread({ pattern, lines, withoutSecrets: source.seesLines, now }, ctx);
  try {
    const asked = { times, lines, pattern };
    const { gaps, ...read } = await readServer(server, source, asked, { thread, budget: BUDGET });
    return report(
      await thread.result(),
      {
        ...read,
        from: `${server.name} ${source.asked}`,
        until,
        limit,
        isRaw: lines !== undefined,
        pattern,
        now,
      },
      source.seesLines ? [...gaps, SECRETS] : gaps,
      ctx.encoder,
    );
  } finally {
    await thread.close();
  }
}

/** It is said whether there are such lines or not. */
const SECRETS: Gap = {
  what: "lines with a secret in them, if there are any",
  why: "a query looked into the lines, and its answer must not tell of secrets",
  help: "Ask without query: such lines show with the secret taken out.",
};
