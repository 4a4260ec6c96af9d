import type { Data, FakeChannel, FakeFile, FakeMessage } from "./types.ts";
import { PLURAL, shownMessage, type FakeUpload, type World } from "./world.ts";

function channelType(world: World, message: FakeMessage): FakeChannel["kind"] {
  return world.channels.get(message.channel)?.kind ?? "channel";
}

function mentionsBot(world: World, message: FakeMessage): boolean {
  const isOwn = message.user === world.bot.id;
  return (
    !isOwn && channelType(world, message) !== "im" && message.text.includes(`<@${world.bot.id}>`)
  );
}

/** A message's own event and, with the bot's mention in a channel, `app_mention`: two events with one ts, in any order. */
export function announce(world: World, message: FakeMessage, change?: "edited"): void {
  const { channel, ts } = message;
  const shown: Data = { ...shownMessage(world, message), channel, event_ts: ts };
  const events: Data[] = [];
  if (change === undefined) {
    const event: Data = { ...shown, channel_type: channelType(world, message) };
    // With these Slack leaves out whose workspace it was.
    if (message.subtype === "file_share" || message.subtype === "thread_broadcast") {
      delete event["team"];
    }
    if (message.subtype === "file_share") delete event["client_msg_id"];
    events.push(event);
  }
  if (mentionsBot(world, message)) {
    const eventTs = change === undefined ? ts : world.nextTs();
    events.push({ ...shown, type: "app_mention", event_ts: eventTs });
  }
  if (world.random.int(2) === 1) events.reverse();
  for (const event of events) world.emit(event);
}

export function announceChange(world: World, message: FakeMessage, previous: Data): void {
  const ts = world.nextTs();
  world.emit({
    type: "message",
    subtype: "message_changed",
    hidden: true,
    channel: message.channel,
    channel_type: channelType(world, message),
    message: shownMessage(world, message),
    previous_message: previous,
    ts,
    event_ts: ts,
  });
}

/** Takes a message away. A root with replies stays as a tombstone, and the app hears of a change. */
export function takeAway(world: World, message: FakeMessage): void {
  const previous = shownMessage(world, message);
  const hasReplies = world.messages.some(
    ({ channel, thread_ts: root }) => channel === message.channel && root === message.ts,
  );
  if (hasReplies) {
    const { type, channel, ts, team } = message;
    for (const name of Object.keys(message)) Reflect.deleteProperty(message, name);
    Object.assign(message, {
      type,
      channel,
      ts,
      team,
      subtype: "tombstone",
      user: "USLACKBOT",
      text: "This message was deleted.",
      hidden: true,
    });
    announceChange(world, message, previous);
    return;
  }
  world.messages.splice(world.messages.indexOf(message), 1);
  const ts = world.nextTs();
  world.emit({
    type: "message",
    subtype: "message_deleted",
    hidden: true,
    channel: message.channel,
    channel_type: channelType(world, message),
    deleted_ts: message.ts,
    previous_message: previous,
    ts,
    event_ts: ts,
  });
}

/** The text of a message as the blocks that Slack makes of it. */
export function composed(world: World, text: string): Data[] {
  if (text === "") return [];
  const elements = text.split(/(<[^>]*>)/).flatMap((piece): Data[] => {
    if (piece === "") return [];
    const [, kind, rest = ""] = /^<([@#!]?)(.*)>$/s.exec(piece) ?? [];
    const [target = "", label] = rest.split("|");
    if (kind === "@") return [{ type: "user", user_id: target }];
    if (kind === "#") return [{ type: "channel", channel_id: target }];
    if (kind === "!") return [{ type: "broadcast", range: target }];
    if (kind === "") {
      return [{ type: "link", url: target, ...(label !== undefined && { text: label }) }];
    }
    const plain = piece.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
    return [{ type: "text", text: plain }];
  });
  return [
    {
      type: "rich_text",
      block_id: world.nextId("b"),
      elements: [{ type: "rich_text_section", elements }],
    },
  ];
}

export function keepFile(world: World, file: FakeFile, owner: string): Data {
  const content = typeof file.content === "string" ? Buffer.from(file.content) : file.content;
  const upload: FakeUpload = {
    id: world.nextId("F"),
    name: file.name,
    mimetype: file.mimetype,
    content,
    owner,
  };
  world.uploads.set(upload.id, upload);
  return fileData(world, upload);
}

/** A file as messages carry it. */
function fileData(world: World, upload: FakeUpload): Data {
  const created = Math.floor(Date.now() / 1_000);
  const address = `${world.origin}/files-pri/${world.team.id}-${upload.id}`;
  return {
    id: upload.id,
    created,
    timestamp: created,
    name: upload.name,
    title: upload.name,
    mimetype: upload.mimetype,
    filetype: upload.name.split(".").at(-1) ?? "text",
    pretty_type: "File",
    user: upload.owner,
    user_team: world.team.id,
    editable: false,
    size: upload.content.byteLength,
    mode: "hosted",
    is_external: false,
    external_type: "",
    is_public: true,
    public_url_shared: false,
    display_as_bot: false,
    username: "",
    url_private: `${address}/${encodeURIComponent(upload.name)}`,
    url_private_download: `${address}/download/${encodeURIComponent(upload.name)}`,
    permalink: `${world.team.url}files/${upload.owner}/${upload.id}/${encodeURIComponent(upload.name)}`,
    has_rich_preview: false,
    file_access: "visible",
  };
}

/** The scope that reading a channel's messages takes. */
export function historyScope(channel: FakeChannel): string {
  return `${PLURAL[channel.kind]}:history`;
}
