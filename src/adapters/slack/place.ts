import { type JournalKey, tryJournalKey } from "../../core/journal-key.ts";

/** The workspace that the bot's token belongs to, and who the bot is in it. */
export interface Workspace {
  team: string;
  name: string;
  /** With a slash at the end. */
  url: string;
  botUser: string;
  botId: string;
  botName: string;
}

/** One thread: a channel (or direct message) and the timestamp of its first message. */
export interface Place {
  channel: string;
  root: string;
}

/** In place of a root: the channel itself. */
export const NO_THREAD = "";

/** Slack's own users, which are not answered. */
export const SLACKS_OWN: ReadonlySet<string> = new Set(["USLACK", "USLACKBOT"]);

export function keyOf(team: string, { channel, root }: Place): JournalKey {
  return `slack:${team}:${channel}:${root}`;
}

/** The place that a key names, or undefined when it is no thread of this workspace. */
export function tryPlace(key: JournalKey, team: string): Place | undefined {
  const [transport, keyTeam, channel = "", root = "", ...rest] = key.split(":");
  const isOurs = transport === "slack" && keyTeam === team && rest.length === 0;
  if (!isOurs || !/^[A-Z0-9]+$/.test(channel) || !/^\d+\.\d+$/.test(root)) return undefined;
  return { channel, root };
}

/** The channel that a thread of this workspace is in, or that is named itself. */
export function tryChannel(key: JournalKey, team: string): string | undefined {
  const [channel, id = ""] = [channelOf(key), key.split(":")[2]];
  const isOurs = key === channel ? channel === `slack:${team}:${id}` : tryPlace(key, team);
  return isOurs && /^[A-Z0-9]+$/.test(id) ? id : undefined;
}

export function accountOf(team: string, user: string): string {
  return `slack:${team}:${user}`;
}

/** Team and user of an account, or undefined if it is not Slack's. */
export function tryAccount(account: string): { team: string; user: string } | undefined {
  const [, team, user] = /^slack:([A-Z0-9]+):([A-Z0-9]+)$/.exec(account) ?? [];
  return team === undefined || user === undefined ? undefined : { team, user };
}

export function tryGroup(reference: string): string | undefined {
  return /^slack:group:([A-Z0-9]+)$/.exec(reference)?.[1];
}

export function linkOf({ url }: Workspace, { channel, root }: Place): string {
  return `${url}archives/${channel}/p${root.replace(".", "")}`;
}

/** The address of a message in the thread, by its reference; undefined for one elsewhere, or to one person. */
export function messageLink(
  { url }: Workspace,
  { channel, root }: Place,
  ref: string,
): string | undefined {
  const [ts] = /^\d+\.\d+/.exec(ref) ?? [];
  if (ts === undefined) return undefined;
  return `${url}archives/${channel}/p${ts.replace(".", "")}?thread_ts=${root}&cid=${channel}`;
}

/** When the message with this timestamp was said, ms since 1970. */
export function timeOf(ts: string): number {
  return Math.floor(Number(ts) * 1_000);
}

/** When the message of this post was said, and its address; undefined for no post of a message in the thread. */
export function locate(
  workspace: Workspace | undefined,
  key: JournalKey,
  post: string,
): { at: number; link: string } | undefined {
  const place = workspace && tryPlace(key, workspace.team);
  const ts = /^msg:(\d+\.\d+)$/.exec(post)?.[1];
  const link = place && ts && messageLink(workspace, place, ts);
  return link === undefined || ts === undefined ? undefined : { at: timeOf(ts), link };
}

/** The beginning of a thread's key that names its channel; a key of another form stays whole. */
export function channelOf(key: JournalKey): string {
  return tryJournalKey(key) === undefined ? key : key.split(":").slice(0, 3).join(":");
}
