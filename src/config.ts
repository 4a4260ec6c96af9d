import { isAbsolute, normalize, resolve } from "node:path";
import * as z from "zod";
import { approvalPolicy, globMatches, mentions, type ApprovalPolicy } from "./approvals/policy.ts";
import { readConfigFile } from "./config-file.ts";
import { BotError } from "./core/errors.ts";
import { REDIS_URL_FORM, type RedisAddress, tryRedisAddress } from "./journal/redis-address.ts";
import { argumentNames, suggest, unknownName } from "./tools/arguments.ts";
import { isAllowEntry } from "./tools/network-rules.ts";
import type { Tool } from "./tools/tool.ts";

/** Everything that is set from outside. Frozen; holds secrets, so it is never logged or shown as a whole. */
export interface Config {
  /** Folder of the embedded store and the log; absolute. It may not exist yet. */
  readonly dataDir: string;
  /** The shared store. Undefined: the embedded one. */
  readonly redis:
    | {
        readonly address: RedisAddress;
        /** Signs what is kept there. */
        readonly secret: string;
      }
    | undefined;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  /** How long running calls may take to end when the program is told to stop, in ms, 0 to 60 000. */
  readonly drainMs: number;
  /** The yaml that was read; absolute. Undefined: there is none, and the built-in policy holds. */
  readonly file: string | undefined;
  readonly terminal: {
    /** False where NO_COLOR is set (no-color.org). */
    readonly color: boolean;
    /** True where TERM is `dumb`: lines are printed plainly, nothing is redrawn. */
    readonly dumb: boolean;
  };
  readonly approvals: ApprovalPolicy;
  readonly network: {
    /** Addresses, networks and host names that may be connected to beyond public ones, as `isAllowEntry` takes them. */
    readonly allow: readonly string[];
  };
  readonly model: {
    /**
     * `<wire>/<name>`, such as `anthropic/claude-sonnet-5-5`; what its wire needs is then set. Undefined: direct
     * commands only.
     */
    readonly id: string | undefined;
    readonly anthropic: ModelAccess;
    /** For both of OpenAI's wires: `openai/…` and `openai-compatible/…`. */
    readonly openai: ModelAccess;
    /** How much it thinks, where the model can be told. */
    readonly effort: "low" | "medium" | "high" | undefined;
    /** Tokens that a request and its response may have together. Undefined: the wire's usual number. */
    readonly contextWindow: number | undefined;
    /** Tokens of one response, at the most. */
    readonly maxOutputTokens: number;
  };
  /** What models may use up, tokens as the provider counts them; days are UTC. */
  readonly budgets: {
    readonly stepsPerRun: number;
    readonly tokensPerRun: number;
    readonly minutesPerRun: number;
    /** All threads of the store together. */
    readonly tokensPerDay: number;
  };
  readonly logs: {
    /** Folders below which log files may be read; absolute, without `..` and without a slash at the end. */
    readonly roots: readonly string[];
  };
  readonly skills: {
    /** Folders in which skills are found besides the program's own; absolute. A later one's skill wins. */
    readonly folders: readonly string[];
  };
  /** The tools and arguments that `approvals` names, for `checkPolicyNames`; `at` such as `watchkeeper.yaml:7:14`. */
  readonly policyNames: readonly PolicyName[];
  /** What is set and has no effect in this version, a sentence each. */
  readonly warnings: readonly string[];
  /** Values from the environment that no output may contain, with the variable each is from. */
  readonly secrets: readonly { readonly name: string; readonly value: string }[];
}

/** How a model provider is reached. Undefined is no key, and the provider's own address. */
interface ModelAccess {
  readonly apiKey: string | undefined;
  readonly baseURL: string | undefined;
}

interface PolicyName {
  /** Tool names or globs; empty: any tool. */
  readonly tools: readonly string[];
  /** Undefined: it is the tool itself that is named. */
  readonly arg: string | undefined;
  readonly at: string;
}

const VERSION = "0.2";

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
  LOG_LEVEL: "info",
  DRAIN_SECONDS: "5",
  NO_COLOR: "",
  WATCHKEEPER_CONFIG: "",
} as const;

/** Served by later versions: set, they deserve a word instead of silence. */
const LATER_VARIABLES = {
  SLACK_BOT_TOKEN: "Slack",
  SLACK_APP_TOKEN: "Slack",
  SLACK_SIGNING_SECRET: "Slack",
  SLACK_CLIENT_ID: "Slack",
  SLACK_CLIENT_SECRET: "Slack",
  SLACK_API_URL: "Slack",
  DISCORD_TOKEN: "Discord",
  DISCORD_API_URL: "Discord",
  PORT: "HTTP",
} as const;

/** Reading these gives away memory, environments and devices of this machine, whoever is asked first. */
const CLOSED_ROOTS = ["/proc", "/sys", "/dev"];

const logRoot = z
  .string()
  .refine(isAbsolute, "expected an absolute path such as /var/log")
  .transform((path) => normalize(path).replace(/(?!^)\/+$/, ""))
  .refine(
    (path) => path !== "/" && !CLOSED_ROOTS.some((root) => `${path}/`.startsWith(`${root}/`)),
    `expected a folder of log files; / as a whole and ${CLOSED_ROOTS.join(", ")} are never opened`,
  );

const skillFolder = z
  .string()
  .refine(isAbsolute, "expected an absolute path such as /srv/skills")
  .transform((path) => normalize(path))
  .refine((path) => path !== "/", "expected a folder of skills, not /");

const allowEntry = z
  .string()
  .refine(
    isAllowEntry,
    "expected an address, a network such as 10.20.0.0/16, a host name, or *. and a domain; without scheme, port or path",
  );

const modelSettings = z
  .strictObject({
    effort: z.enum(["low", "medium", "high"]).optional(),
    contextWindow: z.int().min(4_096).max(100_000_000).optional(),
    maxOutputTokens: z.int().min(256).max(1_000_000).default(8_192),
  })
  .refine(({ contextWindow = Infinity, maxOutputTokens }) => maxOutputTokens < contextWindow, {
    path: ["contextWindow"],
    message: "expected more than maxOutputTokens (8192 unless it is set): a request must fit too",
  });

const budgets = z.strictObject({
  stepsPerRun: z.int().min(1).max(1_000).default(30),
  tokensPerRun: z.int().min(1_000).default(400_000),
  minutesPerRun: z.number().min(0.1).max(1_440).default(15),
  tokensPerDay: z.int().min(1_000).default(5_000_000),
});

/** `watchkeeper.yaml`. `docs/configuration.md` lists its keys, held equal by a test. */
export const configSchema = z.strictObject({
  approvals: approvalPolicy.prefault({}),
  network: z.strictObject({ allow: z.array(allowEntry).default([]) }).prefault({}),
  logs: z.strictObject({ roots: z.array(logRoot).default(["/var/log"]) }).prefault({}),
  skills: z.strictObject({ folders: z.array(skillFolder).max(20).default([]) }).prefault({}),
  model: modelSettings.prefault({}),
  budgets: budgets.prefault({}),
});

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the environment and the yaml that WATCHKEEPER_CONFIG names, else `watchkeeper.yaml` in `cwd` (default: the
 * working directory) if there is one.
 * @throws BotError CONFIG_INVALID with every mistake in one message, a line each: the variable or `file:line:column`,
 * what is wrong and what is expected; values are never in it
 */
export async function loadConfig(
  env: Environment,
  { cwd = process.cwd() }: { cwd?: string } = {},
): Promise<Config> {
  const mistakes: string[] = [];
  const variables = readVariables(env, mistakes);
  const file = await readConfigFile(configSchema, variables.file, cwd, mistakes);
  const settings = file?.settings ?? configSchema.parse({});
  refuse(mistakes);
  return freeze({
    dataDir: resolve(cwd, variables.dataDir),
    redis: variables.redis,
    logLevel: variables.logLevel,
    drainMs: variables.drainMs,
    file: file?.path,
    terminal: { color: !isSet(env["NO_COLOR"]), dumb: env["TERM"] === "dumb" },
    ...settings,
    model: modelOf(variables.model, settings.model),
    policyNames: mentions(settings.approvals).map(({ tools, arg, path }) => ({
      tools,
      arg,
      at: file?.at(["approvals", ...path]) ?? "",
    })),
    warnings: Object.entries(LATER_VARIABLES)
      .filter(([name]) => isSet(env[name]))
      .map(
        ([name, what]) => `${name} is set, but this version (${VERSION}) does not serve ${what}.`,
      ),
    secrets: secretsIn(env),
  });
}

/**
 * Checks that the tools and arguments named in `approvals` exist: a rule with a slip of the pen would silently cover
 * nothing. A glob must meet some tool, an argument must be one of some tool that its rule covers.
 * @throws BotError CONFIG_INVALID with every mistake and its line
 */
export function checkPolicyNames(config: Config, tools: readonly Tool[]): void {
  const names = tools.map((tool) => tool.name);
  const mistakes: string[] = [];
  for (const { tools: globs, arg, at } of config.policyNames) {
    const covered = tools.filter(
      ({ name }) => globs.length === 0 || globs.some((glob) => globMatches(glob, name)),
    );
    if (arg === undefined) {
      if (covered.length === 0) mistakes.push(`${at}: ${globs.join()}: ${noTool(globs, names)}`);
    } else if (covered.length > 0) {
      const known = [...new Set(covered.flatMap((tool) => argumentNames(tool)))];
      if (!known.includes(arg)) mistakes.push(`${at}: argument ${arg}: ${unknownName(arg, known)}`);
    }
  }
  refuse(mistakes);
}

function noTool(globs: readonly string[], names: readonly string[]): string {
  const meant = suggest(globs.join(), names);
  return `no tool has this name${meant === undefined ? "" : `; did you mean ${meant}?`}`;
}

function refuse(found: readonly string[]): void {
  const mistakes = [...new Set(found)];
  if (mistakes.length === 0) return;
  const count = mistakes.length === 1 ? "a mistake" : `${mistakes.length} mistakes`;
  throw new BotError(
    "CONFIG_INVALID",
    [`The configuration has ${count}:`, ...mistakes.map((mistake) => `- ${mistake}`)].join("\n"),
  );
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== "";
}

function readVariables(env: Environment, mistakes: string[]) {
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
    const meant = name.startsWith("WATCHKEEPER_") ? suggest(name, known) : undefined;
    if (meant !== undefined && !known.includes(name) && isSet(env[name])) {
      mistakes.push(`${name}: no such variable; did you mean ${meant}?`);
    }
  }
  const file = read("WATCHKEEPER_CONFIG");
  const redis = readRedis(env, mistakes);
  return { dataDir: read("DATA_DIR"), redis, logLevel: logLevel ?? "info", drainMs, file, model };
}

/** Shorter ones can be guessed by whoever can read what they sign. */
const MIN_SIGNING_SECRET = 32;

function readRedis(env: Environment, mistakes: string[]): Config["redis"] {
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

/** What each wire cannot do without. A compatible server may be one without keys, such as Ollama on this machine. */
const NEEDED_BY_WIRE: Readonly<Record<string, keyof typeof VARIABLES>> = {
  anthropic: "ANTHROPIC_API_KEY",
  openai: "OPENAI_API_KEY",
  "openai-compatible": "OPENAI_BASE_URL",
};

function readModel(env: Environment, mistakes: string[]) {
  const value = (name: keyof typeof VARIABLES) => (isSet(env[name]) ? env[name].trim() : undefined);
  const url = (name: keyof typeof VARIABLES) => {
    const text = value(name);
    if (text !== undefined && !isBaseUrl(text)) {
      mistakes.push(
        `${name}: expected an http or https URL such as https://models.example.com/v1, without user, password, query and fragment`,
      );
    }
    return text;
  };
  const key = (name: keyof typeof VARIABLES) => {
    const text = value(name);
    if (text !== undefined && !/^[!-~]+$/.test(text)) {
      mistakes.push(
        `${name}: expected the key alone; it has a space, a line break or a character that no key has`,
      );
    }
    return text;
  };
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
    anthropic: { apiKey: key("ANTHROPIC_API_KEY"), baseURL: url("ANTHROPIC_BASE_URL") },
    openai: { apiKey: key("OPENAI_API_KEY"), baseURL: url("OPENAI_BASE_URL") },
  };
}

function isBaseUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:\/\/[^\s\\/?#@]+(?:\/[^\s\\?#]*)?$/i.test(text);
}

function modelOf(
  variables: ReturnType<typeof readModel>,
  { effort, contextWindow, maxOutputTokens }: z.infer<typeof modelSettings>,
): Config["model"] {
  return { ...variables, effort, contextWindow, maxOutputTokens };
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
function secretsIn(env: Environment): { name: string; value: string }[] {
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

function freeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) {
    if (typeof inner === "object" && inner !== null) freeze(inner);
  }
  return Object.freeze(value);
}
