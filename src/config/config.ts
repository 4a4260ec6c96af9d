import { isAbsolute, normalize, resolve } from "node:path";
import * as z from "zod";
import { allowProblem, globMatches, type Pattern } from "../approvals/matching.ts";
import type { KnownPerson } from "../core/people.ts";
import { type AccessPolicy, accessPolicy, toolsIn } from "../approvals/access.ts";
import { approvalPolicy, mentions, type ApprovalPolicy } from "../approvals/policy.ts";
import { accountForm } from "../approvals/requester.ts";
import { readConfigFile } from "./file.ts";
import { BotError } from "../core/errors.ts";
import {
  DISCORD_ID,
  type DiscordSettings,
  laterWarnings,
  type LogLevel,
  type ModelAccess,
  readVariables,
  type RedisSettings,
  secretsIn,
  type SlackSettings,
} from "./variables.ts";
import { argumentNames } from "../tools/arguments.ts";
import { suggest, unknownName } from "../core/suggest.ts";
import { isAllowEntry } from "../net/rules.ts";
import type { Tool } from "../tools/tool.ts";

/** Everything that is set from outside. Frozen; holds secrets, so it is never logged or shown as a whole. */
export interface Config {
  /** Folder of the embedded store and the log; absolute. It may not exist yet. */
  readonly dataDir: string;
  /** The shared store. Undefined: the embedded one. */
  readonly redis: RedisSettings | undefined;
  /** The machine that this process runs on, as people and the processes of other machines know it. */
  readonly host: string;
  /** Undefined: no Slack. */
  readonly slack: SlackSettings | undefined;
  /** Undefined: no Discord. */
  readonly discord: DiscordSettings | undefined;
  /** Where HTTP is served, if anything needs it. */
  readonly port: number;
  /** PORT is set: HTTP is served also where nothing needs it. */
  readonly isPortSet: boolean;
  readonly logLevel: LogLevel;
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
  readonly access: AccessPolicy;
  /** Accounts that are one human's. */
  readonly people: readonly KnownPerson[];
  /** IANA name of the zone that "last week" is meant in. Undefined: the asker's own, else UTC. */
  readonly timezone: string | undefined;
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
    /** What one full member's words may use up. */
    readonly tokensPerPersonDay: number;
    /** What the threads of one channel may use up. */
    readonly tokensPerPlaceDay: number;
    /** What the words of anybody else may use up, each. */
    readonly tokensPerGuestDay: number;
  };
  readonly logs: {
    /** Folders below which log files may be read; absolute, without `..` and without a slash at the end. */
    readonly roots: readonly string[];
  };
  readonly skills: {
    /** Folders in which skills are found besides the program's own; absolute. A later one's skill wins. */
    readonly folders: readonly string[];
  };
  /** The tools and arguments that `approvals` and `access` name, for `checkPolicyNames`; `at` such as `watchkeeper.yaml:7:14`. */
  readonly policyNames: readonly PolicyName[];
  /** What is set and has no effect in this version, a sentence each. */
  readonly warnings: readonly string[];
  /** Values from the environment that no output may contain, with the variable each is from. */
  readonly secrets: readonly { readonly name: string; readonly value: string }[];
}

interface PolicyName {
  /** Tool names or globs; empty: any tool. */
  readonly tools: readonly string[];
  /** Undefined: it is the tool itself that is named. */
  readonly arg: string | undefined;
  /** The pattern by which an allow rule lets the argument through. */
  readonly allows: Pattern | undefined;
  readonly at: string;
}

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
  tokensPerPersonDay: z.int().min(0).optional(),
  tokensPerPlaceDay: z.int().min(0).optional(),
  tokensPerGuestDay: z.int().min(0).optional(),
});

const people = z
  .array(
    z.strictObject({
      name: z.string().regex(/\S/, "expected a name"),
      accounts: z.array(accountForm).min(1, "is empty; name the accounts that are this person's"),
    }),
  )
  .superRefine((list, ctx) => {
    const seen = new Set<string>();
    for (const [i, { name, accounts }] of list.entries()) {
      for (const [path, text] of [
        [["name"], `name ${name}`],
        ...accounts.map((a, j) => [["accounts", j], a] as const),
      ] as const) {
        if (seen.has(text))
          ctx.addIssue({ code: "custom", path: [i, ...path], message: "is there twice" });
        seen.add(text);
      }
    }
  });

const discord = z.strictObject({
  guilds: z
    .array(
      z
        .string()
        .regex(DISCORD_ID, 'expected the id of a server in quotes, such as "1122", not its name'),
    )
    .min(1, "is empty; name the servers that are served, or leave it out")
    .optional(),
});

const timezone = z
  .string()
  .refine(isTimezone, "expected a zone's IANA name such as Europe/Madrid or UTC");

/** `watchkeeper.yaml`. `docs/configuration.md` lists its keys, held equal by a test. */
export const configSchema = z.strictObject({
  approvals: approvalPolicy.prefault({}),
  access: accessPolicy.prefault({}),
  people: people.default([]),
  discord: discord.prefault({}),
  timezone: timezone.optional(),
  network: z.strictObject({ allow: z.array(allowEntry).default([]) }).prefault({}),
  logs: z.strictObject({ roots: z.array(logRoot).default(["/var/log"]) }).prefault({}),
  skills: z.strictObject({ folders: z.array(skillFolder).max(20).default([]) }).prefault({}),
  model: modelSettings.prefault({}),
  budgets: budgets.prefault({}),
  redis: z.strictObject({ replicas: z.int().min(0).max(16).default(0) }).prefault({}),
});

/**
 * Reads the environment and the yaml that WATCHKEEPER_CONFIG names, else `watchkeeper.yaml` in `cwd` (default: the
 * working directory) if there is one.
 * @throws BotError CONFIG_INVALID with every mistake in one message, a line each: the variable or `file:line:column`,
 * what is wrong and what is expected; values are never in it
 */
export async function loadConfig(
  env: Readonly<Record<string, string | undefined>>,
  { cwd = process.cwd() }: { cwd?: string } = {},
): Promise<Config> {
  const mistakes: string[] = [];
  const variables = readVariables(env, mistakes);
  const file = await readConfigFile(configSchema, variables.file, cwd, mistakes);
  const settings = file?.settings ?? configSchema.parse({});
  const { guilds } = settings.discord;
  if (guilds !== undefined && variables.guilds !== undefined) {
    const at = file?.at(["discord", "guilds"]) ?? "";
    mistakes.push(`${at}: discord.guilds: DISCORD_GUILDS is set too; set one of the two`);
  }
  refuse(mistakes);
  return freeze({
    dataDir: resolve(cwd, variables.dataDir),
    slack: variables.slack,
    port: variables.port,
    isPortSet: variables.isPortSet,
    logLevel: variables.logLevel,
    host: variables.host,
    drainMs: variables.drainMs,
    file: file?.path,
    terminal: { color: !variables.noColor, dumb: env["TERM"] === "dumb" },
    ...settings,
    discord: variables.discord && {
      ...variables.discord,
      guilds: variables.discord.guilds ?? guilds,
    },
    redis: variables.redis && { ...variables.redis, ...settings.redis },
    timezone: settings.timezone,
    model: modelOf(variables.model, settings.model),
    budgets: budgetsOf(settings.budgets),
    policyNames: [
      ...mentions(settings.approvals).map(({ tools, arg, allows, path }) => ({
        tools,
        arg,
        allows,
        at: file?.at(["approvals", ...path]) ?? "",
      })),
      ...toolsIn(settings.access).map(({ tool, path }) => ({
        tools: [tool],
        arg: undefined,
        allows: undefined,
        at: file?.at(["access", ...path]) ?? "",
      })),
    ],
    warnings: laterWarnings(env),
    secrets: secretsIn(env),
  });
}

/**
 * Checks that the tools and arguments named in `approvals` and `access` exist: a rule with a slip of the pen would silently cover
 * nothing. A glob must meet some tool, an argument must be one of some tool that its rule covers, an allowed URL must say
 * whose it is.
 * @throws BotError CONFIG_INVALID with every mistake and its line
 */
export function checkPolicyNames(config: Config, tools: readonly Tool[]): void {
  const names = tools.map((tool) => tool.name);
  const mistakes: string[] = [];
  for (const { tools: globs, arg, allows, at } of config.policyNames) {
    const covered = tools.filter(
      ({ name }) => globs.length === 0 || globs.some((glob) => globMatches(glob, name)),
    );
    if (arg === undefined) {
      if (covered.length === 0) mistakes.push(`${at}: ${globs.join()}: ${noTool(globs, names)}`);
    } else if (covered.length > 0) {
      const known = [...new Set(covered.flatMap((tool) => argumentNames(tool)))];
      if (!known.includes(arg)) mistakes.push(`${at}: argument ${arg}: ${unknownName(arg, known)}`);
      const problems = covered.map(({ kinds }) => allows && allowProblem(kinds?.[arg], allows));
      for (const problem of problems.filter((one) => one !== undefined && one !== false)) {
        mistakes.push(`${at}: argument ${arg}: ${problem}`);
      }
    }
  }
  refuse(mistakes);
}

function noTool(globs: readonly string[], names: readonly string[]): string {
  const meant = suggest(globs.join(), names);
  return `no tool has this name${meant === undefined ? "" : `; did you mean ${meant}?`}`;
}

function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
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

function modelOf(
  variables: ReturnType<typeof readVariables>["model"],
  { effort, contextWindow, maxOutputTokens }: z.infer<typeof modelSettings>,
): Config["model"] {
  return { ...variables, effort, contextWindow, maxOutputTokens };
}

/** A tenth of the day for one person, half of it for one channel, a hundredth for one guest, unless they are set. */
function budgetsOf(set: z.infer<typeof budgets>): Config["budgets"] {
  const { tokensPerDay } = set;
  return {
    ...set,
    tokensPerPersonDay: set.tokensPerPersonDay ?? Math.floor(tokensPerDay / 10),
    tokensPerPlaceDay: set.tokensPerPlaceDay ?? Math.floor(tokensPerDay / 2),
    tokensPerGuestDay: set.tokensPerGuestDay ?? Math.floor(tokensPerDay / 100),
  };
}

function freeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) {
    if (typeof inner === "object" && inner !== null) freeze(inner);
  }
  return Object.freeze(value);
}
