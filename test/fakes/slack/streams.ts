import * as z from "zod";
import { ownMessage, put, readBlocks, readMetadata } from "./chat.ts";
import { rootOf } from "./threads.ts";
import type { Args, Methods } from "./method.ts";
import { announceChange } from "./posting.ts";
import type { Data, FakeMessage, FakeStream } from "./types.ts";
import { setStatus } from "./sessions.ts";
import {
  findMessage,
  invalid,
  Refusal,
  shownMessage,
  visibleChannel,
  withBlockIds,
  writableChannel,
  type World,
} from "./world.ts";

const MAX_MARKDOWN = 12_000;
const STREAM_LIFE_MS = 300_000;

const chunk = z.discriminatedUnion("type", [
  z.object({ type: z.literal("markdown_text"), text: z.string().min(1).max(MAX_MARKDOWN) }),
  z.object({
    type: z.literal("task_update"),
    id: z.string().min(1),
    title: z.string().min(1),
    status: z.enum(["pending", "in_progress", "complete", "error"]),
    details: z.string().optional(),
    output: z.string().optional(),
    sources: z
      .array(z.object({ type: z.literal("url"), url: z.url(), text: z.string() }))
      .optional(),
  }),
  z.object({ type: z.literal("plan_update"), title: z.string().min(1) }),
  z.object({ type: z.literal("blocks"), blocks: z.array(z.unknown()).min(1) }),
]);

type Chunk = z.infer<typeof chunk>;

/** What one call adds to a stream. @throws Refusal */
function readAddition(args: Args): { mode: FakeStream["mode"]; chunks: Chunk[] } {
  const markdown = args.text("markdown_text");
  const given = args.json("chunks", "invalid_chunks");
  if (markdown !== undefined && given !== undefined) {
    throw new Refusal("cannot_provide_both_markdown_text_and_chunks");
  }
  if (markdown !== undefined) {
    if (markdown.length > MAX_MARKDOWN) throw new Refusal("msg_too_long");
    return { mode: "markdown_text", chunks: [{ type: "markdown_text", text: markdown }] };
  }
  if (given === undefined) return { mode: undefined, chunks: [] };
  const read = z.array(chunk).safeParse(given);
  if (!read.success) throw new Refusal("invalid_chunks");
  return { mode: "chunks", chunks: read.data };
}

function taskOf({ id, title, status }: Extract<Chunk, { type: "task_update" }>): Data {
  return { type: "task_card", block_id: `task-${id}`, task_id: id, title, status };
}

/** Adds chunks to a message; a task's update takes the place of what was shown of it. @throws Refusal */
function extend(
  world: World,
  message: FakeMessage,
  mode: FakeStream["mode"],
  chunks: Chunk[],
): void {
  const { stream } = message;
  if (stream === undefined) throw new Refusal("message_not_in_streaming_state");
  if (mode !== undefined) {
    stream.mode ??= mode;
    if (stream.mode !== mode) throw new Refusal("streaming_mode_mismatch");
  }
  const blocks = (message.blocks ??= []);
  for (const part of chunks) {
    if (part.type === "markdown_text") {
      message.text += part.text;
      const last = blocks.at(-1);
      if (last?.["type"] === "markdown") last["text"] = `${String(last["text"])}${part.text}`;
      else blocks.push(...withBlockIds(world, [{ type: "markdown", text: part.text }]));
    } else if (part.type === "task_update") {
      const at = blocks.findIndex((block) => block["task_id"] === part.id);
      blocks.splice(at === -1 ? blocks.length : at, at === -1 ? 0 : 1, taskOf(part));
    } else if (part.type === "blocks") {
      blocks.push(...readBlocks(world, part.blocks));
    }
  }
}

/** The app's message that is streaming right now. @throws Refusal in Slack's words for each way it is not */
function streaming(world: World, args: Args): FakeMessage {
  const channel = visibleChannel(world, args.need("channel"));
  const message = findMessage(world, channel.id, args.need("ts"));
  if (message === undefined) throw new Refusal("message_not_found");
  if (message.user !== world.bot.id) throw new Refusal("message_not_owned_by_app");
  const { stream } = message;
  if (stream === undefined) throw new Refusal("message_not_in_streaming_state");
  // A stream dies by age alone, however busy it is (https://github.com/slackapi/node-slack-sdk/issues/2702).
  if (stream.state === "in_progress" && world.now() - stream.startedAt > STREAM_LIFE_MS) {
    stream.state = "expired";
  }
  if (stream.state === "stopped") throw new Refusal("stopped_by_user");
  if (stream.state !== "in_progress") throw new Refusal("message_not_in_streaming_state");
  return message;
}

function start(world: World, args: Args): Data {
  const channel = writableChannel(world, args.text("channel"));
  if (channel.kind === "mpim") throw new Refusal("channel_type_not_supported");
  const root = rootOf(world, channel, args.need("thread_ts"), "invalid_thread_ts");
  if (channel.kind !== "im") {
    const user = args.text("recipient_user_id");
    if (user === undefined) throw new Refusal("missing_recipient_user_id");
    if (args.text("recipient_team_id") === undefined)
      throw new Refusal("missing_recipient_team_id");
    if (!world.users.has(user)) throw new Refusal("user_not_found");
  }
  const display = args.text("task_display_mode") ?? "timeline";
  if (!["timeline", "plan", "dense"].includes(display)) throw invalid("task_display_mode");
  const { mode, chunks } = readAddition(args);
  const message: FakeMessage = {
    ...ownMessage(world, channel),
    thread_ts: root.ts,
    stream: { mode: undefined, state: "in_progress", startedAt: world.now() },
  };
  extend(world, message, mode, chunks);
  put(world, message);
  return { channel: channel.id, ts: message.ts };
}

function stop(world: World, args: Args): Data {
  const message = streaming(world, args);
  const { mode, chunks } = readAddition(args);
  const given = args.json("blocks", "invalid_blocks_format");
  const blocks = given === undefined ? [] : readBlocks(world, given);
  const metadata = readMetadata(args);
  const status = args.text("session_status") ?? "active";
  extend(world, message, mode, chunks);
  const previous = shownMessage(world, message);
  message.blocks = [...(message.blocks ?? []), ...blocks];
  if (metadata !== undefined) message.metadata = metadata;
  if (message.stream !== undefined) message.stream.state = "completed";
  if (message.thread_ts !== undefined) setStatus(world, message.channel, message.thread_ts, status);
  announceChange(world, message, previous);
  return { channel: message.channel, ts: message.ts, message: shownMessage(world, message) };
}

export function streamMethods(world: World): Methods {
  const scopes = ["chat:write"];
  return {
    "chat.startStream": { tier: 2, scopes, run: (args) => start(world, args) },
    "chat.appendStream": {
      tier: 4,
      scopes,
      run(args) {
        const message = streaming(world, args);
        const { mode, chunks } = readAddition(args);
        if (chunks.length === 0) throw new Refusal("no_text");
        extend(world, message, mode, chunks);
        return { channel: message.channel, ts: message.ts };
      },
    },
    "chat.stopStream": { tier: 2, scopes, run: (args) => stop(world, args) },
  };
}
