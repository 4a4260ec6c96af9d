import * as z from "zod";
import { BotError, messageOf } from "../../core/errors.ts";
import type { Gap } from "../../core/finding.ts";
import { oneLine, shortened } from "../../core/text.ts";
import type { ToolContext } from "../tool.ts";

/** What the management API answers, as far as it is used. Older versions, and servers without statistics, leave fields out. */

const name = z.string().default("?");
/** What may be any text, on a line of its own. */
const line = z.string().transform((text) => shortened(oneLine(text), 200));
const count = z.number().catch(0);

const trend = z.object({
  samples: z.array(z.object({ sample: z.number(), timestamp: z.number() })).default([]),
});

const queue = z.object({
  name,
  vhost: name,
  type: z.string().catch("classic"),
  state: z.string().optional().catch(undefined),
  node: z.string().optional().catch(undefined),
  consumers: count,
  messages: count,
  messages_ready: count,
  messages_unacknowledged: count,
  messages_details: trend.optional().catch(undefined),
});

const node = z.object({
  name,
  running: z.boolean().catch(true),
  mem_used: count,
  mem_limit: count,
  mem_alarm: z.boolean().catch(false),
  disk_free: count,
  disk_free_limit: count,
  disk_free_alarm: z.boolean().catch(false),
  fd_used: count,
  fd_total: count,
  partitions: z.array(z.string()).catch([]),
});

const connection = z.object({
  user: z.string().catch("?"),
  state: z.string().catch("running"),
  peer_host: z.string().catch("?"),
});

const overview = z.object({
  rabbitmq_version: z
    .string()
    .regex(/^[\w.+-]{1,100}$/)
    .catch("of unknown version"),
  cluster_name: line.catch("?"),
  disable_stats: z.boolean().catch(false),
  object_totals: z
    .object({ connections: count, channels: count, consumers: count, queues: count })
    .optional()
    .catch(undefined),
  queue_totals: z
    .object({ messages: count, messages_unacknowledged: count })
    .optional()
    .catch(undefined),
});

const page = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), total_count: z.number().optional() });

export type Queue = z.infer<typeof queue>;
export type Node = z.infer<typeof node>;
export type Connection = z.infer<typeof connection>;
export type Overview = z.infer<typeof overview>;

/** Of queues and connections, whatever their number: the server sorts them. */
const PAGE = 100;
/** The server keeps a sample a minute for an hour. */
const TREND = "lengths_age=600&lengths_incr=60";

function columns(schema: z.ZodObject): string {
  return `columns=${Object.keys(schema.shape).join(",")}`;
}

export const READS = {
  overview: { path: "overview", schema: overview },
  nodes: { path: `nodes?${columns(node)}`, schema: z.array(node) },
  /** Those with the most messages. */
  fullest: {
    path: `queues?${columns(queue)}&${TREND}&page=1&page_size=${PAGE}&sort=messages&sort_reverse=true`,
    schema: page(queue),
  },
  /** By the names of their states: `crashed`, `down` and `minority` come before `running`. */
  worst: {
    path: `queues?${columns(queue)}&page=1&page_size=${PAGE}&sort=state`,
    schema: page(queue),
  },
  /** `blocked`, `blocking` and `flow` come before `running`. */
  connections: {
    path: `connections?${columns(connection)}&page=1&page_size=${PAGE}&sort=state`,
    schema: page(connection),
  },
} as const;

const TIMEOUT_MS = 12_000;

/**
 * One read of the API.
 * @throws BotError NOT_AVAILABLE for a refusal, CONNECTION_FAILED, TIMEOUT
 */
export async function read<T>(
  ctx: ToolContext,
  endpoint: string,
  { path, schema }: { path: string; schema: z.ZodType<T> },
): Promise<T> {
  const answer = await ctx.http({ endpoint, url: `api/${path}`, timeoutMs: TIMEOUT_MS });
  if (answer.status === 401)
    throw new BotError("NOT_AVAILABLE", "401: RabbitMQ does not know this user and password.");
  if (answer.status === 403)
    throw new BotError("NOT_AVAILABLE", "403: the user has no right to see it.");
  if (answer.status !== 200)
    throw new BotError("CONNECTION_FAILED", `The management API answered ${answer.status}.`);
  if (!answer.isWhole) throw new BotError("CONNECTION_FAILED", "The answer is larger than 1 MiB.");
  const parsed = schema.safeParse(jsonOf(answer.text));
  if (parsed.success) return parsed.data;
  throw new BotError("CONNECTION_FAILED", "The answer is not the management API's.");
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A read that may be missing: then it is a gap, and the rest is told. */
export async function readOr<T>(
  ctx: ToolContext,
  endpoint: string,
  what: string,
  asked: { path: string; schema: z.ZodType<T> },
): Promise<{ value: T } | { gap: Gap }> {
  try {
    return { value: await read(ctx, endpoint, asked) };
  } catch (error) {
    if (ctx.signal.aborted) throw error;
    const help =
      error instanceof BotError && error.code === "NOT_AVAILABLE"
        ? "Give the bot's user the tag `monitoring`: rabbitmqctl set_user_tags <user> monitoring."
        : "Ask again; if it stays so, read RabbitMQ's own log.";
    return { gap: { what, why: messageOf(error).replace(/\.$/, ""), help } };
  }
}
