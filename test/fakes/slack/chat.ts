import { areBlocksTooLong, blockProblems } from "./blocks.ts";
import { type Args, type Methods } from "./method.ts";
import { announce, announceChange, takeAway } from "./posting.ts";
import { threadFor } from "./threads.ts";
import type { Data, FakeChannel, FakeMessage } from "./types.ts";
import { unreadyFiles } from "./uploads.ts";
import { pingsOf } from "./visible.ts";
import {
  findMessage,
  isStreaming,
  Refusal,
  shownMessage,
  visibleChannel,
  withBlockIds,
  writableChannel,
  type World,
} from "./world.ts";

/** https://docs.slack.dev/messaging/message-metadata: 16 KB. */
const MAX_METADATA = 16_000;
/** What `text` is cut to when posted, and the most that an update takes (documents of the two methods). */
const MAX_TEXT = 40_000;
const MAX_UPDATED_TEXT = 4_000;

/** Blocks as they are kept. @throws Refusal invalid_blocks, invalid_blocks_format, msg_blocks_too_long */
function readBlocks(world: World, value: unknown): Data[] {
  if (!Array.isArray(value)) throw new Refusal("invalid_blocks_format");
  const problems = blockProblems(value, 50);
  if (problems.length === 0 && unreadyFiles(world, value).length > 0)
    problems.push("invalid slack file [json-pointer:/blocks/0/slack_file]");
  if (problems.length > 0) {
    const messages = problems.map((problem) => `[ERROR] ${problem}`);
    throw new Refusal("invalid_blocks", { errors: problems, response_metadata: { messages } });
  }
  const blocks = value as Data[];
  if (areBlocksTooLong(blocks)) throw new Refusal("msg_blocks_too_long");
  return withBlockIds(world, blocks);
}

function readMetadata(args: Args): Data | undefined {
  const value = args.json("metadata", "invalid_metadata_format");
  if (value === undefined) return undefined;
  if (typeof value !== "object" || value === null) throw new Refusal("invalid_metadata_format");
  if (Object.keys(value).length === 0) return {};
  const { event_type: type, event_payload: payload } = value as Data;
  if (typeof type !== "string" || type === "" || typeof payload !== "object" || payload === null) {
    throw new Refusal("invalid_metadata_schema");
  }
  if (JSON.stringify(value).length > MAX_METADATA) throw new Refusal("metadata_too_large");
  return { event_type: type, event_payload: payload };
}

type Content = Pick<FakeMessage, "text"> & { blocks?: Data[] };

/** @throws Refusal no_text and those of blocks */
function readContent(world: World, args: Args): Content & { hasText: boolean } {
  const text = args.text("text");
  const given = args.json("blocks", "invalid_blocks_format");
  const blocks = given === undefined ? undefined : readBlocks(world, given);
  const hasText = text !== undefined && text.trim() !== "";
  if (!hasText && (blocks ?? []).length === 0) throw new Refusal("no_text");
  return {
    text: (text ?? "").slice(0, MAX_TEXT),
    hasText,
    ...(blocks !== undefined && { blocks }),
  };
}

/** A message of the bot's, not yet anywhere. */
export function ownMessage(world: World, channel: FakeChannel): FakeMessage {
  return {
    type: "message",
    channel: channel.id,
    ts: world.nextTs(),
    user: world.bot.id,
    team: world.team.id,
    text: "",
    bot_id: world.app.botId,
    bot_profile: {
      id: world.app.botId,
      app_id: world.app.id,
      name: world.bot.name,
      deleted: false,
    },
  };
}

/** Puts a message where everyone sees it. */
export function put(world: World, message: FakeMessage): void {
  world.messages.push(message);
  for (const what of pingsOf(message)) world.pings.push({ ts: message.ts, what });
  announce(world, message);
}

export function ownStanding(world: World, args: Args, refusal: string): FakeMessage {
  const channel = visibleChannel(world, args.need("channel"));
  const message = findMessage(world, channel.id, args.need("ts"));
  if (message === undefined || message.subtype === "tombstone") {
    throw new Refusal("message_not_found");
  }
  if (message.user !== world.bot.id) throw new Refusal(refusal);
  if (channel.archived) throw new Refusal("is_archived");
  return message;
}

function update(world: World, args: Args): Data {
  const message = ownStanding(world, args, "cant_update_message");
  if (isStreaming(world, message)) throw new Refusal("streaming_state_conflict");
  const { text, blocks, hasText } = readContent(world, args);
  if (text.length > MAX_UPDATED_TEXT) throw new Refusal("msg_too_long");
  const metadata = readMetadata(args);
  const previous = shownMessage(world, message);
  message.text = text;
  // A text without blocks takes the place of the blocks there were; an empty list of blocks removes them.
  if (blocks !== undefined) message.blocks = blocks;
  else if (hasText) delete message.blocks;
  if (metadata !== undefined) message.metadata = metadata;
  // Slack marks no edit on what has blocks.
  if (blocks === undefined) message.edited = { user: world.bot.id, ts: world.nextTs() };
  announceChange(world, message, previous);
  const shown = shownMessage(world, message);
  return { channel: message.channel, ts: message.ts, text, message: shown };
}

function postEphemeral(world: World, args: Args): Data {
  const channel = writableChannel(world, args.need("channel"));
  const user = args.need("user");
  if (!channel.members.has(user)) throw new Refusal("user_not_in_channel");
  const { text, blocks = [] } = readContent(world, args);
  const ts = world.nextTs();
  const thread = threadFor(world, channel, args);
  world.ephemerals.push({ ts, channel: channel.id, thread_ts: thread, user, text, blocks });
  for (const what of pingsOf({ text, blocks })) world.pings.push({ ts, what });
  return { message_ts: ts };
}

export function chatMethods(world: World): Methods {
  const scopes = ["chat:write"];
  return {
    "chat.postMessage": {
      scopes,
      run(args) {
        const channel = writableChannel(world, args.text("channel"));
        const { text, blocks } = readContent(world, args);
        const metadata = readMetadata(args);
        const thread = threadFor(world, channel, args);
        // Slack ignores the flag without a thread: nobody should send it there.
        const isBroadcast = args.flag("reply_broadcast");
        if (isBroadcast && args.text("thread_ts") === undefined)
          throw new Refusal("invalid_arguments");
        const message: FakeMessage = {
          ...ownMessage(world, channel),
          text,
          ...(blocks !== undefined && { blocks }),
          ...(thread !== undefined && { thread_ts: thread }),
          ...(metadata !== undefined && { metadata }),
          ...(isBroadcast && thread !== undefined && { subtype: "thread_broadcast" }),
        };
        put(world, message);
        const isCut = text.length < (args.text("text") ?? "").length;
        return {
          channel: channel.id,
          ts: message.ts,
          message: shownMessage(world, message),
          ...(isCut && { response_metadata: { warnings: ["message_truncated"] } }),
        };
      },
    },
    "chat.update": { scopes, run: (args) => update(world, args) },
    "chat.delete": {
      scopes,
      run(args) {
        const message = ownStanding(world, args, "cant_delete_message");
        if (isStreaming(world, message)) throw new Refusal("cant_delete_message");
        takeAway(world, message);
        return { channel: message.channel, ts: message.ts };
      },
    },
    "chat.postEphemeral": { scopes, run: (args) => postEphemeral(world, args) },
  };
}
