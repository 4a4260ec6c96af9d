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
import { isBotError } from "../core/errors.ts";
import { tryJournalKey } from "../core/journal-key.ts";
import { oneLine, shortened } from "../core/text.ts";
import { cleanText } from "../security/sanitize.ts";
import { commandLine } from "../tools/arguments.ts";
import { toolSpec } from "../tools/input-schema.ts";
import type { Tool } from "../tools/tool.ts";
import type { Bot } from "./assemble.ts";
import type { Caller, Standing } from "./mcp-calls.ts";

/** Our tools and our record for other agents. */

/** What an agent may call besides the tools: a call that waited for people has its result later. */
const LATER = "call_result";

const laterInput = z.strictObject({
  thread: z.string(),
});

/** Its own word for itself stands on cards, in threads and in records. */
const MAX_NAME = 60;
/** More are for the tool that searches. */
const MAX_INCIDENTS = 1_000;
/** As many as a chat is shown. */
const MAX_IMAGES = 4;

/** The server of one connection, for any transport. */
export function createMcpServer(bot: Bot, caller: Caller): Server {
  const server = new Server(
    { name: "watchkeeper", version: "1" },
    { capabilities: { tools: {}, resources: {} } },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [...bot.tools.map(described), later()],
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const { name, arguments: given = {} } = params;
    if (name === LATER) return resultLater(bot, caller, given);
    const tool = bot.tools.find((each) => each.name === name);
    const args = z.record(z.string(), z.json()).safeParse(given);
    if (tool === undefined || !args.success)
      throw new McpError(
        ErrorCode.InvalidParams,
        `There is no tool ${name}, or its arguments are not JSON values.`,
      );
    // With a slash it is a command or a mistake, never prose that a model would take for the operator's.
    const text = `/${commandLine(name, args.data)}`;
    const agent = nameOf(server.getClientVersion()?.name);
    try {
      return await resultOf(bot, await caller.call(bot, { name: agent, tool: name, text }, signal));
    } catch (error) {
      if (!isBotError(error)) throw error;
      return { content: [{ type: "text", text: bot.encode(error.message) }], isError: true };
    }
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
    const found = Object.hasOwn(RESOURCES, uri) ? RESOURCES[uri] : undefined;
    if (found === undefined)
      throw new McpError(ErrorCode.InvalidParams, `There is no resource ${uri}.`);
    const value = await found.read({ bot, caller });
    return { contents: [{ uri, mimeType: "application/json", text: JSON.stringify(value) }] };
  });
  return server;
}

interface Readable {
  name: string;
  description: string;
  read(parts: { bot: Bot; caller: Caller }): Promise<unknown>;
}

const RESOURCES: Readonly<Record<string, Readable>> = {
  "watchkeeper://incidents": {
    name: "incidents",
    description: `The record of incidents, the newest ${MAX_INCIDENTS} first.`,
    read: ({ bot: { ledger }, caller: { tenants } }) =>
      ledger.list({ limit: MAX_INCIDENTS }, { audience: undefined, tenants }),
  },
  "watchkeeper://approvals": {
    name: "approvals",
    description: "Your calls that wait for people.",
    read: async ({ bot, caller }) =>
      (await caller.waiting(bot)).flatMap(({ thread, waiting }) =>
        waiting.map(({ action, tool, args, effect, expiresAt }) => ({
          thread,
          action,
          tool,
          args,
          effect,
          expiresAt: new Date(expiresAt).toISOString(),
        })),
      ),
  },
};

/** Wherever it is shown, also cut short, it is no person's. */
function nameOf(said = ""): string {
  return `agent ${shortened(oneLine(cleanText(said)), MAX_NAME)}`.trim();
}

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
      "The result of a call that had to wait for people. Give the thread that the call named.",
    inputSchema: {
      type: "object" as const,
      properties: {
        thread: { type: "string", description: "The thread that the waiting call named." },
      },
      required: ["thread"],
    },
    annotations: { readOnlyHint: true },
  };
}

async function resultOf(bot: Bot, standing: Standing): Promise<CallToolResult> {
  const { thread, status, text, results, waiting } = standing;
  const isWaiting = waiting.length > 0 && status === undefined;
  const told = isWaiting
    ? waitingText(standing)
    : [text, ...results.map((each) => each.text)].filter(Boolean).join("\n");
  const shown = isWaiting ? "needs_approval" : (status ?? "open");
  const isError = shown !== "completed" || results.some(({ outcome }) => outcome !== "ok");
  return {
    content: [
      { type: "text", text: told || NO_RESULT[shown] || shown },
      ...(await imagesOf(bot, standing)),
    ],
    structuredContent: {
      status: shown,
      thread,
      findings: results.flatMap(({ findings }) => findings),
      gaps: results.flatMap(({ gaps }) => gaps),
      outcomes: results.map(({ outcome }) => outcome),
    },
    ...(isError && { isError }),
  };
}

async function imagesOf({ journal }: Bot, { thread, results }: Standing) {
  const images = results.flatMap(({ images: shown = [] }) => shown).slice(-MAX_IMAGES);
  return Promise.all(
    images.map(async ({ mediaType, artifact }) => {
      const bytes = Buffer.from(await journal.readArtifact(thread, artifact.id));
      return { type: "image" as const, data: bytes.toString("base64"), mimeType: mediaType };
    }),
  );
}

const NO_RESULT: Readonly<Record<string, string>> = { open: "It has no result yet." };

function waitingText({ thread, how }: Standing): string {
  return `Nothing was done yet: this waits for a person. Ask them ${how}. Then call ${LATER} with thread ${thread}.`;
}

/** What its thread holds by now. */
async function resultLater(bot: Bot, caller: Caller, given: unknown): Promise<CallToolResult> {
  const { success, data } = laterInput.safeParse(given);
  const key = success ? tryJournalKey(data.thread) : undefined;
  const standing = key && (await caller.standing(bot, key));
  if (standing !== undefined) return resultOf(bot, standing);
  throw new McpError(ErrorCode.InvalidParams, `${LATER} takes the thread of a call that waited.`);
}
