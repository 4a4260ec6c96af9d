import { page, type Args, type Methods } from "./method.ts";
import { historyScope } from "./posting.ts";
import type { Data, FakeChannel, FakeMessage } from "./types.ts";
import {
  findMessage,
  PLURAL,
  Refusal,
  requireScope,
  shownMessage,
  threadOf,
  visibleChannel,
  type World,
} from "./world.ts";

const SCOPES = (access: "read" | "history") =>
  Object.values(PLURAL).map((kind) => `${kind}:${access}`);

function described(world: World, channel: FakeChannel): Data {
  const { id, kind, name, members, archived } = channel;
  const common = { id, created: 1_700_000_000, is_archived: archived, is_org_shared: false };
  if (kind === "im") {
    const user = [...members].find((member) => member !== world.bot.id);
    return { ...common, is_im: true, user, is_user_deleted: false, priority: 0 };
  }
  return {
    ...common,
    name,
    name_normalized: name,
    is_channel: kind === "channel",
    is_group: kind === "group",
    is_im: false,
    is_mpim: kind === "mpim",
    is_private: kind !== "channel",
    is_general: false,
    is_shared: channel.sharing !== undefined,
    is_ext_shared: channel.sharing === "shared",
    is_pending_ext_shared: channel.sharing === "invited",
    is_member: members.has(world.bot.id),
    creator: [...members][0] ?? world.bot.id,
    topic: { value: "", creator: "", last_set: 0 },
    purpose: { value: "", creator: "", last_set: 0 },
    context_team_id: world.team.id,
  };
}

/** The channel whose messages are asked for. @throws Refusal */
function readable(world: World, args: Args): FakeChannel {
  const channel = visibleChannel(world, args.need("channel"));
  requireScope(world, historyScope(channel));
  if (!channel.members.has(world.bot.id)) throw new Refusal("not_in_channel");
  return channel;
}

/** Between `oldest` and `latest`, which belong to it only if `inclusive` says so. */
function within(args: Args, messages: readonly FakeMessage[]): FakeMessage[] {
  const oldest = Number(args.text("oldest") ?? 0);
  const latest = Number(args.text("latest") ?? Infinity);
  const isInclusive = args.flag("inclusive");
  return messages.filter(({ ts }) => {
    const at = Number(ts);
    return isInclusive ? at >= oldest && at <= latest : at > oldest && at < latest;
  });
}

function replies(world: World, args: Args): Data {
  const channel = readable(world, args);
  const ts = args.need("ts");
  const asked = findMessage(world, channel.id, ts);
  if (asked === undefined) throw new Refusal("thread_not_found");
  const isReply = asked.thread_ts !== undefined && asked.thread_ts !== ts;
  const all = isReply ? [asked] : threadOf(world, channel.id, ts);
  // The root comes first whatever the limits; later pages are without it.
  const chosen = [
    asked,
    ...within(
      args,
      all.filter((message) => message !== asked),
    ),
  ];
  const { items, more } = page(chosen, args, args.limit(1_000, 1_000));
  const metadata = args.flag("include_all_metadata");
  return {
    messages: items.map((message) => shownMessage(world, message, metadata)),
    has_more: false,
    ...more,
  };
}

/** The channel's own messages, newest first: of threads what they begin with, and replies that were shown here too. */
function history(world: World, args: Args): Data {
  const channel = readable(world, args);
  const own = world.messages.filter(
    (message) =>
      message.channel === channel.id &&
      (message.thread_ts === undefined ||
        message.thread_ts === message.ts ||
        message.subtype === "thread_broadcast"),
  );
  const newestFirst = within(args, own).toReversed();
  const { items, more } = page(newestFirst, args, args.limit(100, 999));
  return {
    messages: items.map((message) =>
      shownMessage(world, message, args.flag("include_all_metadata")),
    ),
    has_more: false,
    pin_count: 0,
    ...more,
  };
}

export function conversationMethods(world: World): Methods {
  return {
    "conversations.info": {
      scopes: SCOPES("read"),
      run(args) {
        const channel = visibleChannel(world, args.need("channel"));
        requireScope(world, `${PLURAL[channel.kind]}:read`);
        const count = args.flag("include_num_members") && { num_members: channel.members.size };
        return { channel: { ...described(world, channel), ...count } };
      },
    },
    "conversations.members": {
      scopes: SCOPES("read"),
      run(args) {
        const channel = visibleChannel(world, args.need("channel"));
        requireScope(world, `${PLURAL[channel.kind]}:read`);
        const present = [...channel.members].filter(
          (id) => world.users.get(id)?.standing !== "deactivated",
        );
        const { items, more } = page(present, args, args.limit(100, 1_000));
        return { members: items, response_metadata: more["response_metadata"] };
      },
    },
    "conversations.history": {
      scopes: SCOPES("history"),
      run: (args) => history(world, args),
    },
    "conversations.replies": {
      scopes: SCOPES("history"),
      run: (args) => replies(world, args),
    },
  };
}
