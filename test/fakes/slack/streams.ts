import * as z from "zod";
import { areBlocksTooLong, blockProblems } from "./blocks.ts";
import { ownMessage, ownStanding, put } from "./chat.ts";
import type { Args, Methods } from "./method.ts";
import { announceChange } from "./posting.ts";
import { threadFor } from "./threads.ts";
import type { Data, FakeMessage, FakeStream } from "./types.ts";
import {
  invalid,
  isStreaming,
  Refusal,
  shownMessage,
  withBlockIds,
  writableChannel,
  type World,
} from "./world.ts";

const short = z.string().min(1).max(256);
const chunk = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("markdown_text"), text: z.string().min(1).max(12_000) }),
  z.strictObject({ type: z.literal("plan_update"), title: short }),
  z.strictObject({ type: z.literal("blocks"), blocks: z.array(z.unknown()).min(1) }),
  z.strictObject({
    type: z.literal("task_update"),
    id: z.string().min(1).max(255),
    title: short,
    status: z.enum(["pending", "in_progress", "complete", "error"]),
    details: short.optional(),
    output: short.optional(),
    sources: z
      .array(z.strictObject({ type: z.literal("url"), url: z.url(), text: short }))
      .optional(),
  }),
]);
type Chunk = z.infer<typeof chunk>;

const MODES = ["timeline", "plan", "dense"];
const MAX_TASKS = 50;

function readChunks(args: Args): { isChunked: boolean; chunks: Chunk[] } {
  const text = args.text("markdown_text");
  const given = args.json("chunks", "invalid_chunks");
  if (text !== undefined && given !== undefined)
    throw new Refusal("cannot_provide_both_markdown_text_and_chunks");
  if (text !== undefined && text.length > 12_000) throw new Refusal("msg_too_long");
  if (given === undefined)
    return {
      isChunked: false,
      chunks: text === undefined ? [] : [{ type: "markdown_text", text }],
    };
  const read = z.array(chunk).safeParse(given);
  if (!read.success) throw new Refusal("invalid_chunks", { issues: read.error.issues });
  for (const each of read.data) {
    if (each.type === "blocks" && blockProblems(each.blocks, 50).length > 0)
      throw new Refusal("invalid_blocks");
  }
  return { isChunked: true, chunks: read.data };
}

/** A chunk replaces its task's title and status, and adds to its details and output. */
function take(world: World, message: FakeMessage, chunks: readonly Chunk[]): void {
  const blocks = structuredClone(message.blocks ?? []);
  for (const each of chunks) {
    if (each.type === "blocks") {
      blocks.push(...withBlockIds(world, each.blocks as Data[]));
      continue;
    }
    if (each.type === "markdown_text") {
      blocks.push({ type: "markdown", text: each.text });
      continue;
    }
    let plan = blocks.find(({ type }) => type === "plan");
    if (plan === undefined) {
      plan = { type: "plan", block_id: world.nextId("b"), title: "", tasks: [] };
      blocks.push(plan);
    }
    if (each.type === "plan_update") {
      plan["title"] = each.title;
      continue;
    }
    const tasks = plan["tasks"] as Data[];
    const { type: _type, id: task_id, ...said } = each;
    const task = tasks.find((known) => known["task_id"] === task_id);
    if (task === undefined) tasks.push({ task_id, ...said });
    else {
      for (const name of ["details", "output"] as const) {
        const added = said[name];
        if (added !== undefined)
          said[name] = `${typeof task[name] === "string" ? task[name] : ""}${added}`;
      }
      Object.assign(task, said);
    }
    if (tasks.length > MAX_TASKS) throw new Refusal("msg_blocks_too_many");
  }
  if (areBlocksTooLong(blocks)) throw new Refusal("msg_blocks_too_long");
  message.blocks = blocks;
}

function start(world: World, args: Args): Data {
  const channel = writableChannel(world, args.need("channel"));
  if (!world.settings.agent) throw new Refusal("not_allowed");
  const recipients = ["recipient_user_id", "recipient_team_id"] as const;
  if (channel.kind === "mpim") throw new Refusal("channel_type_not_supported");
  for (const name of recipients) {
    // In direct messages Slack refuses them.
    if (channel.kind === "im" && args.text(name) !== undefined) throw invalid(name);
    if (channel.kind !== "im" && args.text(name) === undefined)
      throw new Refusal(`missing_${name}`);
  }
  const user = args.text("recipient_user_id");
  if (user !== undefined && !world.users.has(user)) throw new Refusal("user_not_found");
  args.need("thread_ts");
  const mode = args.text("task_display_mode") ?? "timeline";
  if (!MODES.includes(mode)) throw invalid("task_display_mode");
  const { isChunked, chunks } = readChunks(args);
  const thread = threadFor(world, channel, args);
  const message: FakeMessage = {
    ...ownMessage(world, channel),
    ...(thread !== undefined && { thread_ts: thread }),
  };
  take(world, message, chunks);
  put(world, message);
  world.streams.set(`${channel.id} ${message.ts}`, {
    mode,
    at: Date.now(),
    isChunked,
    end: undefined,
  });
  return { channel: channel.id, ts: message.ts };
}

/** The bot's own open stream. */
function openStream(world: World, args: Args): { message: FakeMessage; stream: FakeStream } {
  const message = ownStanding(world, args, "message_not_owned_by_app");
  const stream = world.streams.get(`${message.channel} ${message.ts}`);
  if (stream === undefined || !isStreaming(world, message))
    throw new Refusal("message_not_in_streaming_state");
  return { message, stream };
}

function grow(world: World, args: Args): FakeMessage {
  const { message, stream } = openStream(world, args);
  const { isChunked, chunks } = readChunks(args);
  if (chunks.length > 0 && isChunked !== stream.isChunked)
    throw new Refusal("streaming_mode_mismatch");
  const previous = shownMessage(world, message);
  take(world, message, chunks);
  announceChange(world, message, previous);
  return message;
}

export function streamMethods(world: World): Methods {
  const scopes = ["chat:write"];
  return {
    "chat.startStream": { scopes, run: (args) => start(world, args) },
    "chat.appendStream": {
      scopes,
      run(args) {
        const { isChunked, chunks } = readChunks(args);
        if (!isChunked && chunks.length === 0) throw new Refusal("no_text");
        const asked = ownStanding(world, args, "message_not_owned_by_app");
        if (world.streams.get(`${asked.channel} ${asked.ts}`)?.end === "user")
          throw new Refusal("stopped_by_user");
        const { channel, ts } = grow(world, args);
        return { channel, ts };
      },
    },
    "chat.stopStream": {
      scopes,
      run(args) {
        const message = grow(world, args);
        const { channel, ts, thread_ts: thread = "" } = message;
        const stream = world.streams.get(`${channel} ${ts}`);
        if (stream !== undefined) stream.end = "app";
        // Nobody hears of its beginning, and everybody who follows the thread of its end.
        world.stopped.push(ts);
        if (world.settings.agent)
          world.sessions.set(`${channel} ${thread}`, args.text("session_status") ?? "active");
        return { channel, ts, message: shownMessage(world, message) };
      },
    },
  };
}

/** A person presses Slack's Stop: the thread's open streams take no more. */
export function stopStreams(world: World, channel: string, thread: string): string[] {
  const open = world.messages.filter(
    (message) =>
      message.channel === channel && message.thread_ts === thread && isStreaming(world, message),
  );
  for (const { ts } of open) {
    const stream = world.streams.get(`${channel} ${ts}`);
    if (stream !== undefined) stream.end = "user";
  }
  return open.map(({ ts }) => ts);
}
