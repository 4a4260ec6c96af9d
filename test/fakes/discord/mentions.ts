import type { Body, FakeMessage, World } from "./world.ts";

/** What a text names. */
interface Mentions {
  users: string[];
  roles: string[];
  everyone: boolean;
  here: boolean;
}

/** Blocks before spans, the longest fence first; a fence that is never closed is text. */
const CODE = /```[\s\S]*?```|``[\s\S]*?``|`[^`]*`/g;

/**
 * Reads mentions as Discord's server does: code is left out, and a backslash before one hides nothing: it is shown as
 * text, and notifies all the same.
 */
function readMentions(text: string): Mentions {
  const bare = text.replaceAll(CODE, " ");
  const all = (pattern: RegExp): string[] => [
    ...new Set([...bare.matchAll(pattern)].flatMap((match) => match[1] ?? [])),
  ];
  return {
    users: all(/<@!?(\d{1,20})>/g),
    roles: all(/<@&(\d{1,20})>/g),
    everyone: bare.includes("@everyone"),
    here: bare.includes("@here"),
  };
}

/** All text of a message that is read for mentions: its content and its TextDisplays, not the labels of buttons. */
function mentionable(content: string, components: readonly Body[]): string {
  const texts = [content];
  const visit = (component: Body): void => {
    if (typeof component["content"] === "string") texts.push(component["content"]);
    const children = component["components"];
    if (Array.isArray(children)) for (const child of children as Body[]) visit(child);
  };
  for (const component of components) visit(component);
  return texts.join("\n");
}

/** The mentions of a message as its `mentions` and `mention_roles` list them: only those that exist here. */
export function mentionsOf(
  world: World,
  content: string,
  components: readonly Body[],
): FakeMessage["mentions"] {
  const named = readMentions(mentionable(content, components));
  const roles = new Set([...world.guilds.values()].flatMap((guild) => [...guild.roles.keys()]));
  return {
    users: named.users.filter((id) => world.users.has(id)),
    roles: named.roles.filter((id) => roles.has(id)),
    everyone: named.everyone || named.here,
  };
}

function listed(allowed: Body, key: string): string[] {
  const ids = allowed[key];
  return Array.isArray(ids) ? ids.map(String) : [];
}

/**
 * Who is notified by a new message. Without `allowed_mentions` everybody named is. The bot's
 * permission to mention everyone is not asked: an operator may have granted it.
 */
export function pingedBy(message: FakeMessage, allowed: Body | undefined): string[] {
  const named = readMentions(mentionable(message.content, message.components));
  const parse = allowed === undefined ? ["users", "roles", "everyone"] : listed(allowed, "parse");
  const pick = (kind: "users" | "roles"): string[] => {
    if (parse.includes(kind)) return named[kind];
    const ids = allowed === undefined ? [] : listed(allowed, kind);
    return named[kind].filter((id) => ids.includes(id));
  };
  const everyone = parse.includes("everyone");
  return [
    ...pick("users"),
    ...pick("roles"),
    ...(named.everyone && everyone ? ["everyone"] : []),
    ...(named.here && everyone ? ["here"] : []),
  ];
}
