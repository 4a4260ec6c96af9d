/** Where a Redis server listens, and how to log in. Holds a password: it is shown only by `showAddress`. */
export interface RedisAddress {
  readonly at:
    | { readonly kind: "tcp"; readonly host: string; readonly port: number; readonly tls: boolean }
    | { readonly kind: "unix"; readonly path: string };
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** The numbered database; each bot has its own. */
  readonly database: number;
}

/** The forms that `tryRedisAddress` reads, for people. */
export const REDIS_URL_FORM =
  "redis://[user:password@]host[:port][/database], rediss://… for TLS, or unix://[user:password@]/path/of/the.sock[?db=database]";

/** `text` as an address, or undefined when it is of none of the forms. Users and passwords are percent-encoded. */
export function tryRedisAddress(text: string): RedisAddress | undefined {
  const form =
    /^(?:(rediss?)|unix):\/\/(?:([^\s:@/]*):([^\s:@/]*)@)?([^\s?#@]+)(?:\?db=(\d{1,5}))?$/.exec(
      text,
    );
  if (form === null) return undefined;
  const [, scheme, username, password, place = "", db] = form;
  const at = scheme === undefined ? parseUnix(place) : parseTcp(place, scheme === "rediss");
  if (at === undefined || (scheme !== undefined && db !== undefined)) return undefined;
  try {
    return {
      at: at.at,
      username: username ? decodeURIComponent(username) : undefined,
      password: password ? decodeURIComponent(password) : undefined,
      database: Number(db ?? at.database),
    };
  } catch {
    return undefined;
  }
}

interface ParsedAddress {
  at: RedisAddress["at"];
  database: string;
}

function parseUnix(path: string): ParsedAddress | undefined {
  return path.startsWith("/") ? { at: { kind: "unix", path }, database: "0" } : undefined;
}

function parseTcp(place: string, tls: boolean): ParsedAddress | undefined {
  const [, bracketed, plain, port = "6379", database = "0"] =
    /^(?:\[([\da-fA-F:.]+)\]|([^:/[\]]+))(?::(\d{1,5}))?(?:\/(\d{0,5}))?$/.exec(place) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) return undefined;
  return { at: { kind: "tcp", host, port: Number(port), tls }, database: database || "0" };
}

/** The address for logs and errors: without user and password. */
export function showAddress({ at, database }: RedisAddress): string {
  const place = at.kind === "unix" ? at.path : `${at.host}:${at.port}`;
  return `Redis at ${place}${database === 0 ? "" : `, database ${database}`}`;
}
