import type { Address } from "../../core/entry.ts";
import { formatUtc } from "../../core/instant.ts";
import { spokenTo } from "../shared/spoken-to.ts";

/** Slack's own notation in a text: `<…>` is always Slack's, what a person typed as `< > &` comes as an entity. */
const NOTATION = /<([^<>]*)>|&(amp|lt|gt);/g;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">" };

/** A text mentions at most this many people by name; the others keep their ids. */
const MAX_NAMES = 10;

export interface TextReader {
  botUser: string;
  /** The display name; undefined when Slack does not answer quickly. */
  nameOf(user: string): Promise<string | undefined>;
}

/**
 * What a person typed, as far as Slack's notation lets it be known: without the bot's mention, with addresses as they
 * are, so that a typed command is one again.
 */
export async function readSlackText(text: string, reader: TextReader): Promise<string> {
  const bare = withoutMention(text, reader.botUser);
  const users = new Set(
    [...bare.matchAll(/<@([A-Z0-9]+)(?:\|[^<>]*)?>/g)].map(([, id = ""]) => id),
  );
  const names = new Map<string, string | undefined>();
  await Promise.all(
    [...users].slice(0, MAX_NAMES).map(async (user) => names.set(user, await reader.nameOf(user))),
  );
  return bare.replaceAll(NOTATION, (_whole, inside: string | undefined, entity: string) =>
    inside === undefined ? (ENTITIES[entity] ?? "") : plain(inside, (user) => names.get(user)),
  );
}

export function mentions(text: string, user: string): boolean {
  return text.includes(`<@${user}>`) || text.includes(`<@${user}|`);
}

/** Whom the text names but this user, people and groups. */
export function othersIn(
  text: string,
  user: string,
  accountOf: (user: string) => string,
): NonNullable<Address["others"]> {
  const marks = /<(?:@([A-Z0-9]+)|!subteam\^([A-Z0-9]+))(?:\|[^<>]*)?>/g;
  return spokenTo(text, marks, ([, id, group = ""]) =>
    id === user ? undefined : id === undefined ? `slack:group:${group}` : accountOf(id),
  );
}

function withoutMention(text: string, user: string): string {
  const mention = String.raw`<@${user}(?:\|[^<>]*)?>`;
  return text
    .replace(new RegExp(String.raw`^(?:\s*${mention}[:,]?)+\s*`), "")
    .replaceAll(new RegExp(String.raw`[^\S\n]*${mention}`, "g"), "")
    .trim();
}

function plain(inside: string, nameOf: (user: string) => string | undefined): string {
  const bar = inside.indexOf("|");
  const target = unescaped(bar < 0 ? inside : inside.slice(0, bar));
  const label = bar < 0 ? "" : unescaped(inside.slice(bar + 1));
  const id = target.slice(1);
  switch (target.slice(0, 1)) {
    case "@":
      return `@${nameOf(id) ?? (label || id)}`;
    case "#":
      return `#${label || id}`;
    case "!":
      return special(id, label);
    default:
      return address(target, label);
  }
}

/** `!here`, `!subteam^S1|@sre`, `!date^1700000000^Posted {date}^https://web.test|14 Nov`. */
function special(name: string, label: string): string {
  const [kind = "", id = "", form = "", url = ""] = name.split("^");
  if (kind === "subteam") return label === "" ? `@${id}` : `@${label.replace(/^@/, "")}`;
  const at = new Date(Number(id) * 1_000).getTime();
  if (/^(?:here|channel|everyone)$/.test(kind)) return `@${kind}`;
  if (kind !== "date" || Number.isNaN(at)) return label || `@${kind}`;
  // Slack shows each reader their own time of day.
  const [before = ""] = form.split("{");
  return `${before}${formatUtc(at, "second")}${url === "" ? "" : ` (${url})`}`;
}

/** Slack makes links of hosts and mail addresses by itself; their label is what was typed. */
function address(url: string, label: string): string {
  if (label === "" || label === url) return url;
  const typed = new Set([`http://${label}`, `https://${label}`, `mailto:${label}`, `tel:${label}`]);
  return typed.has(url) || typed.has(url.replace(/\/$/, "")) ? label : `${label} (${url})`;
}

function unescaped(text: string): string {
  return text.replaceAll(/&(amp|lt|gt);/g, (_whole, entity: string) => ENTITIES[entity] ?? "");
}
