import type { Data } from "./types.ts";
import { invalid, Refusal } from "./world.ts";

/** One method of the Web API. */
export interface Method {
  /** Any of them will do. What depends on the channel, the method asks for itself. */
  scopes?: readonly string[];
  /** The app-level token instead of the bot's. */
  isForApp?: boolean;
  /** What it says to the app-level token, if it takes that too. */
  ofApp?(): Data;
  /** What is added to `ok: true`. @throws Refusal */
  run(args: Args): Data | Promise<Data>;
}

export type Methods = Record<string, Method>;

/** The arguments of one call, however they came: in a form everything is text, JSON included. */
export interface Args {
  readonly all: Data;
  /** Undefined when it is missing or empty. */
  text(name: string): string | undefined;
  /** @throws Refusal invalid_arguments */
  need(name: string): string;
  flag(name: string): boolean;
  /** @throws Refusal invalid_limit, invalid_arguments */
  limit(fallback: number, max: number): number;
  /** @throws Refusal `error` when it is no JSON */
  json(name: string, error: string): unknown;
}

export function readArgs(all: Data): Args {
  const text = (name: string): string | undefined => {
    const value = all[name];
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  return {
    all,
    text,
    need(name) {
      const value = text(name);
      if (value === undefined) throw invalid(`missing required field: ${name}`);
      return value;
    },
    flag: (name) => ["true", "1"].includes(text(name) ?? ""),
    limit(fallback, max) {
      const value = text("limit");
      if (value === undefined) return fallback;
      const limit = Number(value);
      if (!Number.isInteger(limit) || limit < 1) throw new Refusal("invalid_limit");
      return Math.min(limit, max);
    },
    json(name, error) {
      const value = all[name];
      if (typeof value !== "string") return value;
      if (value === "") return undefined;
      try {
        return JSON.parse(value) as unknown;
      } catch {
        throw new Refusal(error);
      }
    },
  };
}

/** One page and the cursor to the next: Slack's are opaque, so these are too. */
export function page<T>(
  items: readonly T[],
  args: Args,
  limit: number,
): { items: T[]; more: Data } {
  const cursor = args.text("cursor");
  const from = cursor === undefined ? 0 : Number(Buffer.from(cursor, "base64").toString());
  if (!Number.isInteger(from) || from < 0) throw new Refusal("invalid_cursor");
  const rest = from + limit < items.length;
  const next = rest ? Buffer.from(String(from + limit)).toString("base64") : "";
  return {
    items: items.slice(from, from + limit),
    more: { ...(rest && { has_more: true }), response_metadata: { next_cursor: next } },
  };
}
