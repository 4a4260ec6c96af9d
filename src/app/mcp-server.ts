import { randomUUID } from "node:crypto";
import { Writable } from "node:stream";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import type { Adapter, CallResult, Queries } from "../adapters/adapter.ts";
import { type Ask, createAsk } from "../adapters/terminal/ask.ts";
import { createPlace } from "../adapters/terminal/people.ts";
import type { Actor } from "../core/entry.ts";
import { type JournalKey, tryJournalKey } from "../core/journal-key.ts";
import { createLedger } from "../incidents/ledger.ts";
import { commandLine } from "../tools/arguments.ts";
import { toolSpec } from "../tools/input-schema.ts";
import type { Tool } from "../tools/tool.ts";
import type { Bot } from "./assemble.ts";

/**
 * Our tools and our record for other agents, as if the operator typed each call into a thread of its own: the same policy, limits and
 * record. What people have to approve waits for them there; no call approves anything.
 */

/** What an agent may call besides the tools: a call that waited for people has its result later. */
const LATER = "call_result";

/** Threads of agents' calls; an agent sees nothing of the others. */
const THREADS = "terminal:mcp-";

const laterInput = z.strictObject({
  thread: z.string(),
});

/** What `createAsk` prints of a thread. */
const printed = z.object({
  status: z.string(),
  text: z.string().nullable(),
  findings: z.array(z.unknown()),
  gaps: z.array(z.unknown()),
  results: z.array(z.object({ text: z.string(), outcome: z.string() })),
  approvals: z.array(z.object({ action: z.string() })),
  notices: z.array(z.string()),
});

export type Guests = ReturnType<typeof createGuests>;

/** The threads in which calls of agents are under way. */
export function createGuests({ account, name }: Actor) {
  const asks = new Map<JournalKey, Ask>();
  const adapter: Adapter = { ...createPlace(account), view: (key) => asks.get(key)?.view(key) };

  return {
    adapter,
    /** What the typed line comes to: an answer, or that people have to decide. */
    async ask(
      { inbox, queries }: Pick<Bot, "inbox" | "queries">,
      text: string,
      signal: AbortSignal,
    ): Promise<{ thread: JournalKey; said: unknown }> {
      const key: JournalKey = `${THREADS}${randomUUID()}`;
      const heard: string[] = [];
      const view = createAsk({
        key,
        queries,
        account,
        out: sink(heard),
        err: sink([]),
        json: true,
        color: false,
        now: Date.now,
      });
      asks.set(key, view);
      const actor = { account, name };
      const stop = () =>
        void inbox.post(key, randomUUID(), { kind: "stop", actor }).catch(() => {});
      signal.addEventListener("abort", stop, { once: true });
      try {
        await inbox.post(key, randomUUID(), { kind: "text", actor, text });
        await view.finished;
        return { thread: key, said: JSON.parse(heard.join("")) };
      } finally {
        signal.removeEventListener("abort", stop);
        // From now on whoever opens the thread works on it.
        asks.delete(key);
      }
    },
  };
}

function sink(heard: string[]): Writable {
  return new Writable({
    write(chunk, _encoding, done) {
      heard.push(String(chunk));
      done();
    },
  });
}

/** The server, for any transport. */
export function createMcpServer(bot: Bot, guests: Guests): Server {
  const server = new Server(
    { name: "watchkeeper", version: "1" },
    { capabilities: { tools: {}, resources: {} } },
  );
  const ledger = createLedger(bot.journal, bot.encode);
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [...bot.tools.map(described), later()],
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const { name, arguments: given = {} } = params;
    if (name === LATER) return resultLater(bot.queries, given);
    const tool = bot.tools.find((each) => each.name === name);
    const args = z.record(z.string(), z.json()).safeParse(given);
    if (tool === undefined || !args.success)
      throw new McpError(
        ErrorCode.InvalidParams,
        `There is no tool ${name}, or its arguments are no JSON.`,
      );
    // With a slash it is a command or a mistake, never prose that a model would take for the operator's.
    const { thread, said } = await guests.ask(bot, `/${commandLine(name, args.data)}`, signal);
    return resultOf(thread, said);
  });
  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: Object.entries(RESOURCES).map(([uri, { name, description }]) => ({
      uri,
      name,
      description,
      mimeType: "application/json",
    })),
  }));
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }) => {
    const found = RESOURCES[uri];
    if (found === undefined)
      throw new McpError(ErrorCode.InvalidParams, `There is no resource ${uri}.`);
    const value = await found.read({ queries: bot.queries, ledger });
    return { contents: [{ uri, mimeType: "application/json", text: JSON.stringify(value) }] };
  });
  return server;
}

interface Readable {
  name: string;
  description: string;
  read(parts: { queries: Queries; ledger: ReturnType<typeof createLedger> }): Promise<unknown>;
}

const RESOURCES: Readonly<Record<string, Readable>> = {
  "watchkeeper://incidents": {
    name: "incidents",
    description: "The record of incidents, newest first.",
    read: ({ ledger }) => ledger.list({}, { audience: undefined, tenants: "all" }),
  },
  "watchkeeper://approvals": {
    name: "approvals",
    description: "What waits for people of the calls of agents.",
    read: async ({ queries }) =>
      (await queries.openActions("terminal"))
        .filter(({ key }) => key.startsWith(THREADS))
        .map(({ key, action, tool, args, effect, expiresAt }) => ({
          thread: key,
          action,
          tool,
          args,
          effect,
          expiresAt: new Date(expiresAt).toISOString(),
        })),
  },
};

function described(tool: Tool) {
  const { name, description, schema } = toolSpec(tool);
  const isRead = tool.effect === "read";
  return {
    name,
    description,
    inputSchema: { type: "object" as const, ...schema },
    annotations: { readOnlyHint: isRead, destructiveHint: tool.effect === "destructive" },
  };
}

function later() {
  return {
    name: LATER,
    description:
      "What became of a call that had to wait for people: call it with the thread that the call named.",
    inputSchema: {
      type: "object" as const,
      properties: { thread: { type: "string", description: "As the call said it that waited." } },
      required: ["thread"],
    },
    annotations: { readOnlyHint: true },
  };
}

function resultOf(thread: JournalKey, said: unknown): CallToolResult {
  const { status, text, findings, gaps, results, approvals, notices } = printed.parse(said);
  const isWaiting = approvals.length > 0 && status !== "completed";
  const told = isWaiting
    ? waitingText(
        thread,
        approvals.map(({ action }) => action),
      )
    : [text, ...results.map((each) => each.text), ...notices].filter(Boolean).join("\n");
  const isError =
    isWaiting || results.some(({ outcome }) => outcome !== "ok") || status === "failed";
  return {
    content: [{ type: "text", text: told || status }],
    structuredContent: {
      status,
      thread,
      findings,
      gaps,
      outcomes: results.map(({ outcome }) => outcome),
    },
    ...(isError && { isError }),
  };
}

function waitingText(thread: JournalKey, actions: readonly string[]): string {
  const [action = "a1"] = actions;
  return `Nothing was done yet: this waits for a person. Ask them to open \`npm start -- --thread ${thread}\` and to type \`approve ${action}\` or \`deny ${action}\`. Then call ${LATER} with thread ${thread}.`;
}

/** What its thread holds by now. */
async function resultLater(queries: Queries, given: unknown): Promise<CallToolResult> {
  const { success, data } = laterInput.safeParse(given);
  const key = success ? tryJournalKey(data.thread) : undefined;
  if (key === undefined || !key.startsWith(THREADS))
    throw new McpError(ErrorCode.InvalidParams, `${LATER} takes the thread of a call that waited.`);
  const open = (await queries.thread(key))?.openActions ?? [];
  if (open.length > 0) return resultWaiting(key, open);
  const items = await queries.history(key, 50);
  const results = items.flatMap((item): readonly CallResult[] =>
    item.kind === "out" && item.message.kind === "answer" ? item.message.results : [],
  );
  const isError = results.length === 0 || results.some(({ outcome }) => outcome !== "ok");
  return {
    content: [
      { type: "text", text: results.map(({ text }) => text).join("\n") || "It has no result yet." },
    ],
    structuredContent: {
      status: results.length === 0 ? "open" : "completed",
      thread: key,
      findings: results.flatMap(({ findings }) => findings),
      gaps: results.flatMap(({ gaps }) => gaps),
      outcomes: results.map(({ outcome }) => outcome),
    },
    ...(isError && { isError }),
  };
}

function resultWaiting(thread: JournalKey, open: readonly string[]): CallToolResult {
  return {
    content: [{ type: "text", text: waitingText(thread, open) }],
    structuredContent: { status: "needs_approval", thread, findings: [], gaps: [], outcomes: [] },
    isError: true,
  };
}
