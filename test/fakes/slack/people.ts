import { afterOwnTime } from "../own-time.ts";
import type { Delivery } from "./delivery.ts";
import { stopStreams } from "./streams.ts";
import { announce, announceChange, composed, keepFile, takeAway } from "./posting.ts";
import type {
  Acknowledgement,
  Data,
  FakeChannel,
  FakeFile,
  FakeMessage,
  FakeStanding,
  FakeUser,
  Ref,
} from "./types.ts";
import { pressedIn } from "./visible.ts";
import { answerForm, filledIn } from "./forms.ts";
import { findMessage, idOf, shownMessage, type World } from "./world.ts";

/** https://docs.slack.dev/interactivity/handling-user-interaction#modal_responses */
const TRIGGER_LIFE_MS = 3_000;

/** How a person writes. */
export interface Said {
  /** The root's ts. */
  thread?: string;
  /** Also shown in the channel. */
  broadcast?: boolean;
  mention?: boolean;
  files?: readonly FakeFile[];
  /** A bot's, which may be all that it says; of a person's message a link's preview, or what it forwards. */
  attachments?: readonly Data[];
  /** In place of those that Slack makes of the text. */
  blocks?: readonly Data[];
}

export interface FakePeople {
  user(ref: Ref): FakeUser;
  channel(ref: Ref): FakeChannel;
  /** What every interaction says of its circumstances, with a trigger of its own. */
  interaction(type: string, who: FakeUser): Data;
  addUser(user: { name: string; tz?: string; standing?: FakeStanding }): FakeUser;
  addChannel(channel: {
    name: string;
    isPrivate?: boolean;
    members: readonly Ref[];
    bot?: boolean;
  }): FakeChannel;
  move(channel: Ref, user: Ref, way: "join" | "leave"): void;
  say(user: Ref, channel: Ref, text: string, said: Said): string;
  edit(user: Ref, channel: Ref, ts: string, text: string, attachments?: readonly Data[]): void;
  remove(user: Ref, channel: Ref, ts: string): void;
  mark(user: Ref, channel: Ref, ts: string, emoji: string): void;
  unmark(user: Ref, channel: Ref, ts: string, emoji: string): void;
  press(user: Ref, channel: Ref, ts: string, actionId: string): Promise<Acknowledgement>;
  pressIn(user: Ref, viewId: string, actionId: string): Promise<Acknowledgement>;
  submit(
    user: Ref,
    viewId: string,
    values: string | Record<string, Record<string, string>>,
  ): Promise<Acknowledgement>;
  stopSession(user: Ref, channel: Ref, thread: string): Promise<Acknowledgement>;
}

/** What people do in the workspace. What Slack's clients do not let them do is a mistake of the test, and throws. */
export function createPeople(world: World, delivery: Delivery): FakePeople {
  function user(ref: Ref): FakeUser {
    const found = world.users.get(idOf(ref));
    if (found === undefined) throw new Error(`nobody is called ${idOf(ref)}`);
    return found;
  }
  function channel(ref: Ref): FakeChannel {
    const found = world.channels.get(idOf(ref));
    if (found === undefined) throw new Error(`no channel ${idOf(ref)}`);
    return found;
  }
  function message(ref: Ref, ts: string): FakeMessage {
    const found = findMessage(world, idOf(ref), ts);
    if (found === undefined) throw new Error(`no message ${ts} in ${idOf(ref)}`);
    return found;
  }
  function author(ref: Ref): Pick<FakeMessage, "user" | "team" | "bot_id"> {
    const { id, teamId, standing } = user(ref);
    const isBot = standing === "bot";
    return { user: id, team: teamId, ...(isBot && { bot_id: `B${id}` }) };
  }

  function interaction(type: string, who: FakeUser): Data {
    const trigger = world.nextId(`${Date.now()}.0.`);
    const issued = { user: who.id, expired: false, used: false };
    world.triggers.set(trigger, issued);
    afterOwnTime(TRIGGER_LIFE_MS, () => (issued.expired = true));
    return {
      type,
      user: { id: who.id, username: who.name, name: who.name, team_id: who.teamId },
      api_app_id: world.app.id,
      token: "verification",
      trigger_id: trigger,
      team: { id: world.team.id, domain: world.team.domain },
      is_enterprise_install: false,
    };
  }

  function tellMark(type: string, who: FakeUser, on: FakeMessage, reaction: string): void {
    world.emit({
      type,
      user: who.id,
      reaction,
      ...(on.user !== undefined && { item_user: on.user }),
      item: { type: "message", channel: on.channel, ts: on.ts },
      event_ts: world.nextTs(),
    });
  }

  return {
    user,
    channel,
    interaction,
    mark(ref, where, ts, emoji) {
      const [who, on] = [user(ref), message(where, ts)];
      const { id, archived, members } = channel(where);
      if (archived || !members.has(who.id)) throw new Error(`${who.name} can't react there`);
      const marks = world.marks.get(`${id} ${ts}`) ?? new Map<string, string[]>();
      const users = marks.get(emoji) ?? [];
      if (users.includes(who.id)) throw new Error(`${who.name} has put ${emoji} there already`);
      world.marks.set(`${id} ${ts}`, marks.set(emoji, [...users, who.id]));
      tellMark("reaction_added", who, on, emoji);
    },
    unmark(ref, where, ts, emoji) {
      const [who, on] = [user(ref), message(where, ts)];
      const marks = world.marks.get(`${on.channel} ${ts}`);
      const users = marks?.get(emoji) ?? [];
      if (!users.includes(who.id)) throw new Error(`${who.name} has put no ${emoji} there`);
      const left = users.filter((each) => each !== who.id);
      if (left.length > 0) marks?.set(emoji, left);
      else marks?.delete(emoji);
      tellMark("reaction_removed", who, on, emoji);
    },
    addUser({ name, tz, standing = "member" }) {
      const isForeign = standing === "external" || standing === "stranger";
      const added: FakeUser = {
        id: world.nextId("U"),
        name,
        teamId: isForeign ? "T0AWAY" : world.team.id,
        tz,
        standing,
      };
      world.users.set(added.id, added);
      return added;
    },
    addChannel({ name, isPrivate = false, members, bot = true }) {
      const added: FakeChannel = {
        id: world.nextId("C"),
        name,
        kind: isPrivate ? "group" : "channel",
        members: new Set([...members.map(idOf), ...(bot ? [world.bot.id] : [])]),
        archived: false,
      };
      world.channels.set(added.id, added);
      return added;
    },
    move(where, who, way) {
      const place = channel(where);
      const { id, teamId } = idOf(who) === world.bot.id ? world.bot : user(who);
      if (way === "join") place.members.add(id);
      const told: FakeMessage = {
        type: "message",
        subtype: `channel_${way}`,
        channel: place.id,
        ts: world.nextTs(),
        user: id,
        team: teamId,
        text: `<@${id}> has ${way === "join" ? "joined" : "left"} the channel`,
      };
      world.messages.push(told);
      announce(world, told);
      if (way === "leave") place.members.delete(id);
    },
    say(who, where, text, how) {
      const { thread, broadcast = false, mention = false, files = [], attachments = [] } = how;
      const place = channel(where);
      const by = author(who);
      if (!place.members.has(by.user)) throw new Error(`${by.user} is not in ${place.name}`);
      if (place.archived) throw new Error(`${place.name} is archived`);
      if (thread !== undefined) message(place, thread);
      const full = mention ? `<@${world.bot.id}> ${text}`.trimEnd() : text;
      const blocks = how.blocks === undefined ? composed(world, full) : [...how.blocks];
      const said: FakeMessage = {
        type: "message",
        channel: place.id,
        ts: world.nextTs(),
        ...by,
        text: full,
        client_msg_id: world.nextId("client-"),
        ...(blocks.length > 0 && { blocks }),
        ...(attachments.length > 0 && { attachments: [...attachments] }),
        ...(thread !== undefined && { thread_ts: thread }),
        ...(broadcast && { subtype: "thread_broadcast" }),
      };
      if (files.length > 0) {
        said.subtype = "file_share";
        said.files = files.map((file) => keepFile(world, file, by.user));
      }
      world.messages.push(said);
      announce(world, said);
      return said.ts;
    },
    edit(who, where, ts, text, attachments) {
      const edited = message(where, ts);
      if (edited.user !== idOf(who)) throw new Error("people edit their own messages only");
      const previous = shownMessage(world, edited);
      Object.assign(edited, {
        text,
        blocks: composed(world, text),
        ...(attachments !== undefined && { attachments: [...attachments] }),
        edited: { user: edited.user, ts: world.nextTs() },
      });
      announceChange(world, edited, previous);
      announce(world, edited, "edited");
    },
    remove(who, where, ts) {
      const removed = message(where, ts);
      if (removed.user !== idOf(who)) throw new Error("people remove their own messages only");
      takeAway(world, removed);
    },
    press(who, where, ts, actionId) {
      const place = channel(where);
      const by = user(who);
      if (place.kind !== "channel" && !place.members.has(by.id)) {
        throw new Error(`${by.name} cannot see ${place.name}`);
      }
      const own = world.ephemerals.find((shown) => shown.ts === ts && shown.user === by.id);
      const shown = own ?? message(where, ts);
      const found = pressedIn(shown.blocks ?? [], actionId);
      if (found === undefined) throw new Error(`message ${ts} has no ${actionId}`);
      const { element } = found;
      const standing = own === undefined ? message(where, ts) : undefined;
      const names = {
        channel: place.name,
        group: "privategroup",
        im: "directmessage",
        mpim: place.name,
      };
      return delivery.interaction({
        ...interaction("block_actions", by),
        container: {
          type: "message",
          message_ts: ts,
          channel_id: place.id,
          is_ephemeral: own !== undefined,
          ...(shown.thread_ts !== undefined && { thread_ts: shown.thread_ts }),
        },
        channel: { id: place.id, name: names[place.kind] },
        ...(standing !== undefined && { message: shownMessage(world, standing) }),
        actions: [{ ...element, block_id: found.blockId, action_ts: world.nextTs() }],
      });
    },
    async pressIn(who, viewId, actionId) {
      const by = user(who);
      const open = world.views.find(
        (view) => view.id === viewId && view.open && view.user === by.id,
      );
      const blocks = open?.view["blocks"];
      const found = pressedIn(Array.isArray(blocks) ? blocks : [], actionId);
      if (open === undefined || found === undefined) throw new Error(`no ${actionId} in ${viewId}`);
      return delivery.interaction({
        ...interaction("block_actions", by),
        container: { type: "view", view_id: viewId },
        view: open.view,
        actions: [{ ...found.element, block_id: found.blockId, action_ts: world.nextTs() }],
      });
    },
    async submit(who, viewId, values) {
      const by = user(who);
      const form = world.views.find(
        (view) => view.id === viewId && view.open && view.user === by.id,
      );
      if (form === undefined) throw new Error(`${by.name} has no form ${viewId} open`);
      const state = { values: filledIn(form.view, values) };
      const outcome = await delivery.interaction({
        ...interaction("view_submission", by),
        view: { ...form.view, state },
      });
      return answerForm(form, outcome);
    },
    stopSession(who, where, thread) {
      const place = channel(where);
      const status = world.sessions.get(`${place.id} ${thread}`);
      if (status !== "processing" || !world.settings.events.includes("agent_session_stopped")) {
        throw new Error(`no Stop button is shown: the session is ${status ?? "none"}`);
      }
      return delivery.event({
        type: "agent_session_stopped",
        channel: place.id,
        thread_ts: thread,
        user: idOf(who),
        streaming_message_ts: stopStreams(world, place.id, thread),
        event_ts: world.nextTs(),
      });
    },
  };
}
