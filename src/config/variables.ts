import { hostname } from "node:os";
import { REDIS_URL_FORM, type RedisAddress, tryRedisAddress } from "../journal/redis/address.ts";
import { suggest } from "../core/suggest.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const VERSION = "0.3";

/** Where HTTP is served when something needs it and PORT does not say. */
const DEFAULT_PORT = "3000";

/** pino's, from most to least. */
const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

/**
 * Every environment variable that this version reads, with its default as text; empty counts as unset.
 * `.env.example` and `docs/configuration.md` have the same names and defaults, held equal by a test.
 */
export const VARIABLES = {
  MODEL: "",
  ANTHROPIC_API_KEY: "",
  ANTHROPIC_BASE_URL: "",
  OPENAI_API_KEY: "",
  OPENAI_BASE_URL: "",
  DATA_DIR: "./data",
  REDIS_URL: "",
  WATCHKEEPER_SECRET: "",
  WATCHKEEPER_HOST: "",
  SLACK_BOT_TOKEN: "",
  SLACK_APP_TOKEN: "",
  SLACK_SIGNING_SECRET: "",
  SLACK_API_URL: "",
  DISCORD_TOKEN: "",
  DISCORD_GUILDS: "",
  DISCORD_API_URL: "",
  PORT: "",
  LOG_LEVEL: "info",
  DRAIN_SECONDS: "5",
  NO_COLOR: "",
  WATCHKEEPER_CONFIG: "",
} as const;

/** Served by later versions: set, they deserve a word instead of silence. */
const LATER_VARIABLES = {
  SLACK_CLIENT_ID: "installing it in several Slack workspaces",
  SLACK_CLIENT_SECRET: "installing it in several Slack workspaces",
} as const;

export interface RedisSettings {
  readonly address: RedisAddress;
  /** Signs what is kept there. */
  readonly secret: string;
  /** How many replicas the server has to have for what must not be lost; 0: as many as it happens to have. */
  readonly replicas: number;
}

/** With `appToken` events come through Socket Mode, else over HTTP, signed with `signingSecret`. */
export interface SlackSettings {
  readonly botToken: string;
  readonly appToken: string | undefined;
  readonly signingSecret: string | undefined;
  /** Ends in a slash. Undefined: Slack's own. */
  readonly apiUrl: string | undefined;
}

export interface DiscordSettings {
  readonly token: string;
  /** Ids of the servers that are served. Undefined: the one that the bot is in at its first start. */
  readonly guilds: readonly string[] | undefined;
  /** Without a slash at its end. Undefined: Discord's own. */
  readonly apiUrl: string | undefined;
}

/** How a model provider is reached. Undefined is no key, and the provider's own address. */
export interface ModelAccess {
  readonly apiKey: string | undefined;
  readonly baseURL: string | undefined;
}

export type LogLevel = (typeof LOG_LEVELS)[number];

/** What is set and has no effect in this version, a sentence each. */
export function laterWarnings(env: Environment): string[] {
  return Object.entries(LATER_VARIABLES)
    .filter(([name]) => isSet(env[name]))
    .map(([name, what]) => `${name} is set, but this version (${VERSION}) does not serve ${what}.`);
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== "";
}

/** What the environment says. Every mistake is added to `mistakes`, with the variable's name and never its value. */
export function readVariables(env: Environment, mistakes: string[]) {
  const read = (name: keyof typeof VARIABLES): string => {
    const value = env[name];
    return isSet(value) ? value : VARIABLES[name];
  };
  const level = read("LOG_LEVEL");
  const logLevel = LOG_LEVELS.find((one) => one === level);
  if (!logLevel) mistakes.push(`LOG_LEVEL: expected one of ${LOG_LEVELS.join(", ")}`);
  const drain = read("DRAIN_SECONDS");
  const drainMs = /^\d{1,2}(?:\.\d{1,3})?$/.test(drain) ? Number(drain) * 1000 : Infinity;
  if (drainMs > 60_000) mistakes.push("DRAIN_SECONDS: expected a number of seconds from 0 to 60");
  const model = readModel(env, mistakes);
  for (const name of Object.keys(env)) {
    const known = Object.keys({ ...VARIABLES, ...LATER_VARIABLES });
    const isOurs = name.startsWith("WATCHKEEPER_") && !SERVICE_LINK.test(name);
    const meant = isOurs ? suggest(name, known) : undefined;
    if (meant !== undefined && !known.includes(name) && isSet(env[name])) {
      mistakes.push(`${name}: no such variable; did you mean ${meant}?`);
    }
  }
  const file = read("WATCHKEEPER_CONFIG");
  const redis = readRedis(env, mistakes);
  const guilds = readGuilds(env, mistakes);
  const givenPort = read("PORT") || DEFAULT_PORT;
  const port = Number(givenPort);
  if (!/^\d{1,5}$/.test(givenPort) || port < 1 || port > 65_535) {
    mistakes.push("PORT: expected a number from 1 to 65535");
  }
  return {
    dataDir: read("DATA_DIR"),
    redis,
    host: readHost(env, mistakes),
    slack: readSlack(env, mistakes),
    discord: readDiscord(env, guilds, mistakes),
    guilds,
    port,
    isPortSet: isSet(env["PORT"]),
    logLevel: logLevel ?? "info",
    drainMs,
    noColor: isSet(env["NO_COLOR"]),
    file,
    model,
  };
}

/** The machine as people and other processes are to know it. */
function readHost(env: Environment, mistakes: string[]): string {
  const given = env["WATCHKEEPER_HOST"]?.trim() ?? "";
  if (given !== "" && !/^[\w][\w.-]{0,62}$/.test(given)) {
    mistakes.push(
      "WATCHKEEPER_HOST: expected a name of at most 63 letters, digits, dots, hyphens and underscores, such as web-1",
    );
  }
  return (
    given ||
    hostname()
      .replaceAll(/[^\w.-]/g, "-")
      .slice(0, 63) ||
    "localhost"
  );
}

/** Kubernetes sets these in every container when a service has our name. */
const SERVICE_LINK = /^WATCHKEEPER_(?:PORT|SERVICE)(?:_|$)/;

/** Shorter ones can be guessed by whoever can read what they sign. */
const MIN_SIGNING_SECRET = 32;

function readRedis(
  env: Environment,
  mistakes: string[],
): Omit<RedisSettings, "replicas"> | undefined {
  const secret = (env["WATCHKEEPER_SECRET"] ?? "").trim();
  if (secret !== "" && secret.length < MIN_SIGNING_SECRET) {
    mistakes.push(
      `WATCHKEEPER_SECRET: expected at least ${MIN_SIGNING_SECRET} characters, such as \`openssl rand -base64 32\` prints`,
    );
  }
  const url = env["REDIS_URL"];
  if (!isSet(url)) return undefined;
  const address = tryRedisAddress(url.trim());
  if (address === undefined) {
    mistakes.push(`REDIS_URL: expected ${REDIS_URL_FORM}; user and password percent-encoded`);
  }
  if (secret === "") {
    mistakes.push(
      "WATCHKEEPER_SECRET: missing; with REDIS_URL it is needed, the same in every process",
    );
  }
  return address && { address, secret };
}

/** A token as people paste it; undefined when it is not set. */
function readToken(
  env: Environment,
  name: keyof typeof VARIABLES,
  form: RegExp,
  expected: string,
  mistakes: string[],
): string | undefined {
  const text = env[name]?.trim() ?? "";
  if (text === "") return undefined;
  if (!form.test(text)) mistakes.push(`${name}: expected ${expected}`);
  return text;
}

function readUrl(
  env: Environment,
  name: keyof typeof VARIABLES,
  mistakes: string[],
): string | undefined {
  const text = env[name]?.trim() ?? "";
  if (text === "") return undefined;
  if (!isBaseUrl(text)) {
    mistakes.push(
      `${name}: expected an http or https URL such as https://models.example.com/v1, without user, password, query and fragment`,
    );
  }
  return text;
}

function readSlack(env: Environment, mistakes: string[]): SlackSettings | undefined {
  const token = (name: keyof typeof VARIABLES, form: RegExp, expected: string) =>
    readToken(env, name, form, expected, mistakes);
  const botToken = token(
    "SLACK_BOT_TOKEN",
    /^xoxb-[\w-]+$/,
    "the bot's token, which begins with xoxb-",
  );
  const appToken = token(
    "SLACK_APP_TOKEN",
    /^xapp-[\w-]+$/,
    "the app-level token, which begins with xapp-",
  );
  const signingSecret = token(
    "SLACK_SIGNING_SECRET",
    /^[!-~]{8,}$/,
    "the signing secret from the app's Basic Information, without spaces",
  );
  const apiUrl = readUrl(env, "SLACK_API_URL", mistakes);
  if (botToken === undefined) {
    if (appToken !== undefined || signingSecret !== undefined) {
      mistakes.push("SLACK_BOT_TOKEN: missing; with the other SLACK_ variables it is needed");
    }
    return undefined;
  }
  if (appToken === undefined && signingSecret === undefined) {
    mistakes.push(
      "SLACK_APP_TOKEN: missing; SLACK_BOT_TOKEN needs it (Socket Mode) or SLACK_SIGNING_SECRET (HTTP)",
    );
  }
  return { botToken, appToken, signingSecret, apiUrl: apiUrl?.replace(/\/*$/, "/") };
}

function readDiscord(
  env: Environment,
  guilds: readonly string[] | undefined,
  mistakes: string[],
): DiscordSettings | undefined {
  const token = readToken(
    env,
    "DISCORD_TOKEN",
    /^[\w.-]{20,}$/,
    "the bot's token alone, without Bot before it",
    mistakes,
  );
  const apiUrl = readUrl(env, "DISCORD_API_URL", mistakes);
  return token === undefined ? undefined : { token, guilds, apiUrl: apiUrl?.replace(/\/+$/, "") };
}

/** A Discord id as it is copied from the client. */
export const DISCORD_ID = /^\d{1,20}$/;

function readGuilds(env: Environment, mistakes: string[]): readonly string[] | undefined {
  const text = env["DISCORD_GUILDS"];
  if (!isSet(text)) return undefined;
  const ids = text.split(",").map((id) => id.trim());
  if (!ids.every((id) => DISCORD_ID.test(id))) {
    mistakes.push(
      "DISCORD_GUILDS: expected the ids of servers with commas between, such as 1122,3344",
    );
  }
  return [...new Set(ids)];
}

/** What each wire cannot do without. A compatible server may be one without keys, such as Ollama on this machine. */
const NEEDED_BY_WIRE: Readonly<Record<string, keyof typeof VARIABLES>> = {
  anthropic: "ANTHROPIC_API_KEY",
  openai: "OPENAI_API_KEY",
  "openai-compatible": "OPENAI_BASE_URL",
};

function readModel(env: Environment, mistakes: string[]) {
  const value = (name: keyof typeof VARIABLES) => (isSet(env[name]) ? env[name].trim() : undefined);
  const url = (name: keyof typeof VARIABLES) => readUrl(env, name, mistakes);
  const key = (name: keyof typeof VARIABLES) => {
    const text = value(name);
    if (text !== undefined && !/^[!-~]+$/.test(text)) {
      mistakes.push(
        `${name}: expected the key alone; it has a space, a line break or a character that no key has`,
      );
    }
    return text;
  };
  const access = (
    apiKey: keyof typeof VARIABLES,
    baseURL: keyof typeof VARIABLES,
  ): ModelAccess => ({ apiKey: key(apiKey), baseURL: url(baseURL) });
  const id = value("MODEL");
  const [, wire = ""] = /^([a-z-]+)\/[!-~]+$/.exec(id ?? "") ?? [];
  const needed = Object.hasOwn(NEEDED_BY_WIRE, wire) ? NEEDED_BY_WIRE[wire] : undefined;
  if (id !== undefined && needed === undefined) {
    mistakes.push(
      "MODEL: expected anthropic/<name>, openai/<name> or openai-compatible/<name>, the name as its provider writes it",
    );
  } else if (needed !== undefined && value(needed) === undefined) {
    mistakes.push(`${needed}: missing; with MODEL=${wire}/<name> it is needed`);
  }
  return {
    id,
    anthropic: access("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    openai: access("OPENAI_API_KEY", "OPENAI_BASE_URL"),
  };
}

function isBaseUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:\/\/[^\s\\/?#@]+(?:\/[^\s\\?#]*)?$/i.test(text);
}

const SECRET_NAME =
  /TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIAL|WEBHOOK|DSN|_(?:KEY|PASS|PWD|PAT)$/i;
/** Says where a secret is, not what it is. */
const PLACE_NAME = /_(?:FILE|PATH|DIR)$/i;
/** Shorter ones are words that occur everywhere: taking them out would garble every output. */
const MIN_SECRET_LENGTH = 8;

/**
 * What must never be shown: values of variables with a telling name (whole, and each line of those with several), and
 * passwords within addresses. Secrets shorter than 8 characters are not told apart from ordinary words.
 */
export function secretsIn(env: Environment): { name: string; value: string }[] {
  const found = new Map<string, string>();
  for (const [name, value = ""] of Object.entries(env)) {
    const parts: string[] = [];
    if (SECRET_NAME.test(name) && !PLACE_NAME.test(name)) {
      const lines = value.split(/\r?\n/).filter((line) => !line.startsWith("-----"));
      parts.push(value, ...lines);
    }
    for (const [, password = ""] of value.matchAll(/:\/\/[^\s:@/]*:([^\s/]+)@/g)) {
      parts.push(password, decodePercent(password));
    }
    for (const part of parts.map((text) => text.trim())) {
      if (part.length >= MIN_SECRET_LENGTH) found.set(part, found.get(part) ?? name);
    }
  }
  return [...found].map(([value, name]) => ({ name, value }));
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
