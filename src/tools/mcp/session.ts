import * as z from "zod";
import type { JsonObject } from "../../core/entry.ts";
import { type ConnectionOptions, createConnection, type Live } from "./connection.ts";

/** What is asked of a server: its tools, and calls of them. */

const LIST_MS = 10_000;
const MAX_PAGES = 20;
const MAX_TOOLS = 1_000;

export interface Listing {
  /** What the server calls itself. */
  title: string;
  /** By the names that it gives them. */
  tools: ReadonlyMap<string, JsonObject>;
  /** Monotonic, in ms. */
  at: number;
}

/** Leniently: one strange tool must not hide the others. */
const listed = z.object({
  tools: z.array(z.record(z.string(), z.unknown())).max(MAX_TOOLS),
  nextCursor: z.string().optional(),
});

const anything = z.record(z.string(), z.unknown());

export type Session = ReturnType<typeof createSession>;

export function createSession(options: ConnectionOptions) {
  const { use, drop } = createConnection(options);
  /** Of each connection for itself: a server that was started anew may be another version. */
  const listings = new WeakMap<Live, Listing>();

  return {
    /** Gives the connection back. */
    close: drop,

    /** Its tools as it lists them; what it said less than `maxAgeMs` ago stands. */
    async list(signal: AbortSignal, maxAgeMs = 0): Promise<Listing> {
      return use(signal, async (live) => {
        const listing = listings.get(live);
        if (listing !== undefined && performance.now() - listing.at <= maxAgeMs) return listing;
        const now = await listOf(live, signal);
        listings.set(live, now);
        return now;
      });
    },

    /** What it answers to a call, unread. @throws also what `ended` says */
    async call(
      tool: string,
      args: JsonObject,
      { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
    ): Promise<Record<string, unknown>> {
      return use(signal, async (live) => {
        const params = { name: tool, arguments: args };
        const limits = { signal, timeout: timeoutMs, maxTotalTimeout: timeoutMs };
        try {
          return await live.client.request({ method: "tools/call", params }, anything, limits);
        } catch (error) {
          throw live.ended === undefined ? error : new Cut(live.ended.message, { cause: error });
        }
      });
    },
  };
}

async function listOf(live: Live, signal: AbortSignal): Promise<Listing> {
  const tools = new Map<string, JsonObject>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const options = { signal, timeout: LIST_MS, maxTotalTimeout: LIST_MS };
    const found = await live.client.request({ method: "tools/list", params }, listed, options);
    for (const tool of found.tools) {
      const form = formOf(tool);
      if (form !== undefined && tools.size < MAX_TOOLS) tools.set(String(tool["name"]), form);
    }
    cursor = found.nextCursor;
    if (cursor === undefined) break;
  }
  return { title: live.title, tools, at: performance.now() };
}

/** The connection ended while a call was under way. */
export class Cut extends Error {
  override name = "Cut";
}

/** Undefined for what is no tool. Texts of people's languages change nothing about a call, but what they say may. */
function formOf(tool: Readonly<Record<string, unknown>>): JsonObject | undefined {
  const { name, description, inputSchema, annotations } = tool;
  const kept = z.record(z.string(), z.json()).safeParse({
    name,
    ...(typeof description === "string" && { description }),
    inputSchema,
    ...(annotations !== undefined && { annotations }),
  });
  return typeof name === "string" && kept.success ? kept.data : undefined;
}
