import type { APIUser } from "discord.js";
import type { Address } from "../../core/entry.ts";
import { oneLine } from "../../core/text.ts";
import { characterEnd } from "../../core/characters.ts";
import { cleanText } from "../../security/sanitize.ts";
import { spokenTo } from "../shared/spoken-to.ts";
import { accountOf } from "./place.ts";

/** Names for the ids in a text. */
export interface Names {
  bot: string;
  user(id: string): string | undefined;
  role(id: string): string | undefined;
  channel(id: string): string | undefined;
}

/** `<@1>`, `<@!1>`, `<@&1>`, `<#1>`, `<:name:1>`, `<a:name:1>`, `<t:1700000000:R>`, `</name:1>`. */
const NOTATION =
  /<(?:@!?(?<user>\d+)|@&(?<role>\d+)|#(?<channel>\d+)|a?:(?<emoji>\w+):\d+|t:(?<at>-?\d+)(?::\w)?|\/(?<command>[^:<>]+):\d+)>/g;

/** What a person typed, with names in place of ids and without the bot's mention, so that a typed command is one again. */
export function readDiscordText(text: string, names: Names): string {
  return withoutMention(text, names.bot).replaceAll(NOTATION, (...match) => {
    const { user, role, channel, emoji, at, command }: Groups = match.at(-1);
    if (user !== undefined) return `@${names.user(user) ?? user}`;
    if (role !== undefined) return `@${names.role(role) ?? role}`;
    if (channel !== undefined) return `#${names.channel(channel) ?? channel}`;
    if (emoji !== undefined) return `:${emoji}:`;
    return at === undefined ? `/${command ?? ""}` : timeText(Number(at));
  });
}

type Groups = Partial<Record<"user" | "role" | "channel" | "emoji" | "at" | "command", string>>;

function timeText(seconds: number): string {
  const date = new Date(seconds * 1_000);
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString().replace(".000Z", "Z");
}

function withoutMention(text: string, bot: string): string {
  return text
    .replace(new RegExp(`^(?:\\s*<@!?${bot}>[:,]?)+\\s*`), "")
    .replaceAll(new RegExp(`[^\\S\\n]*<@!?${bot}>`, "g"), "")
    .trim();
}

/** Whom the text names but the bot, people and roles. */
export function othersIn(text: string, bot: string): NonNullable<Address["others"]> {
  return spokenTo(text, /<@(?:!?(\d+)|&(\d+))>/g, ([, user, role = ""]) =>
    user === bot ? undefined : user === undefined ? `discord:role:${role}` : accountOf(user),
  );
}

export function mentions(users: readonly Pick<APIUser, "id">[], bot: string): boolean {
  return users.some(({ id }) => id === bot);
}

/** A message as if what mentions the bot's own role, which Discord names after it, mentioned the bot. */
export function withOwnRole<
  T extends { content: string; mentions: { id: string }[]; mention_roles: string[] },
>(said: T, bot: string, isOwn: (role: string) => boolean): T {
  const own = said.mention_roles.filter(isOwn);
  if (own.length === 0) return said;
  const content = own.reduce(
    (text, role) => text.replaceAll(`<@&${role}>`, `<@${bot}>`),
    said.content,
  );
  const others = said.mention_roles.filter((role) => !own.includes(role));
  const self = { id: bot, username: "" };
  return { ...said, content, mentions: [...said.mentions, self], mention_roles: others };
}

/** Discord takes 1 to 100 characters. */
const MAX_NAME = 100;

/** A thread's name from the text that it begins with: one line, cut at a word, without where an alert's titles lead. */
export function threadName(text: string, author: string): string {
  const bare = text.replaceAll(/ \(https?:\/\/[^\s)]+\)/gi, "");
  const line = oneLine(cleanText(bare)) || `Asked by ${cleanText(author)}`;
  if (line.length <= MAX_NAME) return line;
  const head = line.slice(0, MAX_NAME - 1);
  const end = Math.max(head.lastIndexOf(" "), MAX_NAME / 2);
  return `${line.slice(0, characterEnd(line, end))}…`;
}
