import { isIP } from "node:net";
import { hostname } from "node:os";
import * as z from "zod";
import { isLinkHost } from "../core/links.ts";
import { NO_MODEL } from "../core/routes.ts";
import { defineSettings, fromEnv, fromYaml } from "../core/settings.ts";
import { MODEL_FORMS, PROVIDERS, tryModelId } from "../models/load.ts";
import { accessPolicy, approvalPolicy, channel, people } from "./policy.ts";

/** The program's own settings; providers, platforms and integrations declare theirs. */

const shareOfDay = (description: string, unset: string) =>
  z.int().min(0).optional().meta({ description, unset });

const cents = (description: string) =>
  z.number().min(0).optional().meta({ description, unset: "no limit" });

const windows = PROVIDERS.map(({ name, contextWindow }) => `${contextWindow} (\`${name}\`)`);

const STANDARD_MODELS = PROVIDERS.filter(({ suffices }) => suffices !== undefined)
  .map(({ example }) => `\`${example}\``)
  .join(" or ");

const effort = z.enum(["low", "medium", "high"]);
const thinking = z.union([z.literal("adaptive"), z.int().min(1_024).max(1_000_000)], {
  error: "expected adaptive, or a whole number of tokens from 1024",
});
const windowTokens = z.int().min(4_096).max(100_000_000);
const modelId = z
  .string()
  .trim()
  .refine((id) => tryModelId(id) !== undefined, `expected ${MODEL_FORMS}`);

const fallback = z.strictObject({
  model: modelId,
  contextWindow: windowTokens.optional(),
  effort: effort.optional(),
  thinking: thinking.optional(),
});

const routePlace = z
  .string()
  .refine(
    (text) => /^(?:slack|discord|terminal|\*)(?::[\w*-]+)*$/.test(text),
    'expected a channel such as "slack:T1:C7", a workspace or server such as "slack:T1", or one of these with * for anything',
  );
const route = z.strictObject({
  channels: z
    .union([routePlace, z.array(routePlace).min(1)])
    .describe(
      "`slack:<team>:<channel>`, `slack:<team>`, `discord:<server>:<channel>`, `discord:<server>`, `terminal`, with `*` for anything, or a list of these.",
    ),
  model: z
    .union([z.literal(NO_MODEL), modelId], { error: `expected ${MODEL_FORMS}; or ${NO_MODEL}` })
    .describe("The only model that gets anything from there, or `none`."),
});

const dollars = z.number().min(0).max(100_000);
const onePrice = z.strictObject({
  input: dollars,
  cachedInput: dollars.optional(),
  cacheWrite: dollars.optional(),
  output: dollars,
});

const models = z
  .record(
    modelId,
    z.strictObject({
      contextWindow: windowTokens.optional(),
      maxOutputTokens: z.int().min(256).max(1_000_000).optional(),
      price: onePrice
        .extend({ above: onePrice.extend({ tokens: z.int().min(1) }).optional() })
        .optional(),
      thinking: z.enum(["adaptive", "fixed", "none"]).optional(),
      effort: z.boolean().optional(),
      images: z.boolean().optional(),
      documents: z.boolean().optional(),
      structuredOutput: z.boolean().optional(),
    }),
  )
  .default({});

const modelTerms = z
  .strictObject({
    effort: effort.optional().meta({
      description: "`low`, `medium` or `high`: how hard the model tries, where it can be told.",
      unset: "the model's",
    }),
    thinking: thinking.optional().meta({
      description:
        "Whether the model thinks before it answers: `adaptive`, or tokens from 1024 that it may think at most, less than `maxOutputTokens`. [What is sent to which model](model.md#thinking-and-effort).",
      unset: "the model's",
    }),
    contextWindow: windowTokens.optional().meta({
      description: `Tokens that a request and its response may use together, from 4096. For \`MODEL\` alone. Not set: what is [known of the model](model.md#what-is-known-of-models), else ${windows.join(", ")}.`,
      unset: "the provider's",
    }),
    maxOutputTokens: z.int().min(256).max(1_000_000).optional().meta({
      description: "Tokens that one response may use, from 256; less than the context window.",
      unset: "8192, of a smaller window a quarter",
    }),
    firstLook: z
      .boolean()
      .default(true)
      .describe(
        "Whether checks of skills look before the model is first asked, for at most 5 s: what they found is in its first request.",
      ),
    fallbacks: z
      .array(
        z.union([modelId.transform((model): z.infer<typeof fallback> => ({ model })), fallback], {
          error: `expected ${MODEL_FORMS}, alone or as { model: …, contextWindow: …, effort: … }`,
        }),
      )
      .max(10)
      .default([])
      .describe(
        "Models that answer while `MODEL` does not, in this order: `openai/<name>`, or `{ model: openai/<name>, contextWindow: 200000, effort: low }`. What a conversation holds then goes to that provider. [How it switches](model.md#other-models).",
      ),
    routes: z
      .array(route)
      .max(100)
      .default([])
      .describe(
        "Places with a model of their own, such as one on your own machine, or with `none`: nothing from there goes to a model. The first that holds decides. [What follows](model.md#places-with-a-model-of-their-own).",
      ),
  })
  .refine(({ contextWindow = Infinity, maxOutputTokens = 0 }) => maxOutputTokens < contextWindow, {
    path: ["contextWindow"],
    message: "expected more than maxOutputTokens: a request must fit too",
  })
  .refine(
    ({ thinking: wish, contextWindow, maxOutputTokens = usualOutput(contextWindow) }) =>
      !(Number(wish) >= maxOutputTokens),
    {
      path: ["thinking"],
      message:
        "expected less than maxOutputTokens (8192 unless it is set, of a smaller window a quarter): the answer must fit too",
    },
  );

/** Tokens that one response may use where nobody says. */
export function usualOutput(contextWindow = Infinity): number {
  return Math.min(8_192, Math.floor(contextWindow / 4));
}

const budgets = z.strictObject({
  stepsPerRun: z
    .int()
    .min(1)
    .max(1_000)
    .default(30)
    .describe("How many requests to the model one answer may take, 1 to 1000."),
  tokensPerRun: z
    .int()
    .min(1_000)
    .default(400_000)
    .describe(
      "Tokens that one answer may take, in and out, input from the provider's cache counted at a tenth; from 1000.",
    ),
  minutesPerRun: z
    .number()
    .min(0.1)
    .max(1_440)
    .default(15)
    .describe("Minutes of work that one answer may take, 0.1 to 1440."),
  tokensPerDay: z
    .int()
    .min(1_000)
    .default(5_000_000)
    .describe("Tokens that all threads of the store may use together in a day (UTC); from 1000."),
  tokensPerPersonDay: shareOfDay(
    "Tokens that one full member's requests may use in a day.",
    "a tenth of it",
  ),
  tokensPerPlaceDay: shareOfDay(
    "Tokens that all threads of one channel may use together in a day.",
    "half of it",
  ),
  tokensPerGuestDay: shareOfDay(
    "Tokens that the requests of anybody else may use in a day, each person.",
    "a hundredth",
  ),
  centsPerRun: cents("Cents of a US dollar that one answer may cost."),
  centsPerDay: cents("Cents that all threads of the store may cost together in a day (UTC)."),
  centsPerPersonDay: cents("Cents that one person's requests may cost in a day."),
  centsPerPlaceDay: cents("Cents that all threads of one channel may cost together in a day."),
});

export const modelPart = defineSettings({
  name: "model",
  settings: z.object({
    id: fromEnv(
      "MODEL",
      z
        .string()
        .trim()
        .refine(
          (id) => id === NO_MODEL || tryModelId(id) !== undefined,
          `expected ${MODEL_FORMS}; or ${NO_MODEL}`,
        )
        .optional(),
      `The model that answers plain language: ${PROVIDERS.map(({ name }) => `\`${name}/<name>\``).join(", ")}. Not set: ${STANDARD_MODELS} by the key that is set. \`${NO_MODEL}\`: direct commands and checks only.`,
    ),
    terms: fromYaml("model", modelTerms.prefault({})),
    models: fromYaml(
      "models",
      models,
      "What holds for a model instead of what is known of it, by its id, such as `openai-compatible/qwen3: { contextWindow: 32768, price: { input: 0.2, output: 0.6 } }`. Prices are US dollars for a million tokens.",
    ),
    budgets: fromYaml("budgets", budgets.prefault({})),
  }),
});

export const wakeupsPart = defineSettings({
  name: "wakeups",
  settings: z.object({
    engine: fromYaml(
      "wakeups.engine",
      z.enum(["in-process", "bullmq"]).optional(),
      "What wakes processes to work: `bullmq` (in Redis) at once, `in-process` what another process wrote within a second.",
      { unset: "`bullmq` with `REDIS_URL`, else `in-process`" },
    ),
  }),
  check: (isSet, { engine }) =>
    engine === "bullmq" && !isSet("REDIS_URL")
      ? { REDIS_URL: "missing; with wakeups.engine: bullmq it is needed" }
      : {},
});

const links = z.strictObject({
  allow: z
    .array(
      z
        .string()
        .refine(
          isLinkHost,
          "expected a host in lower case, such as wiki.example.com or *.example.com",
        ),
    )
    .default([])
    .describe(
      "Hosts whose addresses in answers can be clicked, such as `grafana.example.com` or `*.wiki.example.com`; other addresses are shown as text. An address is written by a model and may carry anything it read, so name only hosts whose requests you see yourselves.",
    ),
});

const everyMinutes = (severity: string) =>
  z
    .int()
    .min(1)
    .max(1_440)
    .optional()
    .meta({
      description: `After so many minutes without an [update](incidents.md#reminders) of a ${severity} its thread is reminded, and \`incidents.channels\` are told how it stands.`,
      unset: "never",
    });

const updateMinutes = z.strictObject({
  sev1: everyMinutes("sev1"),
  sev2: everyMinutes("sev2"),
  sev3: everyMinutes("sev3"),
  sev4: everyMinutes("sev4"),
});

export const policyPart = defineSettings({
  name: "policy",
  settings: z.object({
    approvals: fromYaml("approvals", approvalPolicy.prefault({})),
    access: fromYaml("access", accessPolicy.prefault({})),
    links: fromYaml("links", links.prefault({})),
    ops: fromYaml(
      "ops",
      channel.optional(),
      "The operations channel, such as `slack:T1:C0OPS` or `discord:1122:3344`: the bot has to be in it, and whoever reads it is told of every break-glass, and of what could be shown neither in its thread nor to who asked, also in private places.",
      { unset: "nobody is told" },
    ),
    incidentChannels: fromYaml(
      "incidents.channels",
      z.array(channel).max(100).default([]),
      "Channels that are told of the incidents of their own workspace or server: when one is opened, gets another severity, is resolved, and is opened again. The bot has to be in them.",
    ),
    updateMinutes: fromYaml("incidents.updates", updateMinutes.prefault({})),
    verifyAfterMinutes: fromYaml(
      "verify.afterMinutes",
      z.number().min(0).max(1_440).default(5),
      "So many minutes after an approved change what was found broken in its thread before is looked at again by the same calls: fixed, not fixed, or cannot tell. 0: never.",
    ),
    people: fromYaml("people", people.default([]), "Which accounts belong to one person."),
  }),
});

/** pino's, from most to least. */
const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

/** The machine's own name where none is set, in the form that one may have. */
const machineName = () =>
  hostname()
    .replaceAll(/[^\w.-]/g, "-")
    .slice(0, 63) || "localhost";

const port = z
  .string()
  .regex(/^\d{1,5}$/, "expected a number from 1 to 65535")
  .transform(Number)
  .refine((value) => value >= 1 && value <= 65_535, "expected a number from 1 to 65535");

const drainMs = z
  .string()
  .regex(/^\d{1,2}(?:\.\d{1,3})?$/, "expected a number of seconds from 0 to 60")
  .transform((seconds) => Number(seconds) * 1_000)
  .refine((ms) => ms <= 60_000, "expected a number of seconds from 0 to 60");

export const processPart = defineSettings({
  name: "process",
  settings: z.object({
    host: fromEnv(
      "WATCHKEEPER_HOST",
      z
        .string()
        .trim()
        .regex(
          /^\w[\w.-]{0,62}$/,
          "expected a name of at most 63 letters, digits, dots, hyphens and underscores, such as web-1",
        )
        .optional()
        .transform((name) => name ?? machineName()),
      "This machine's name on cards and in results. Not set: its host name. See below.",
    ),
    port: fromEnv(
      "PORT",
      port.optional(),
      "The port of the HTTP server. Set, it listens whenever the program serves Slack or Discord, and answers at `/healthz` and `/readyz` (see [operating](operate.md#health)). Empty: it listens on 3000 only if something needs it, such as Slack without Socket Mode.",
    ),
    listenHost: fromEnv(
      "LISTEN_HOST",
      z
        .string()
        .trim()
        .refine((text) => isIP(text) !== 0, "expected an IP address, such as 0.0.0.0 or ::1")
        .optional(),
      "The address that the HTTP server listens on, such as `0.0.0.0`. Not set: all of this machine's, and `/mcp` answers only this machine itself; where nothing but `/mcp` needs the server, `127.0.0.1`.",
    ),
    logLevel: fromEnv(
      "LOG_LEVEL",
      z.enum(LOG_LEVELS, { error: `expected one of ${LOG_LEVELS.join(", ")}` }).prefault("info"),
      `${LOG_LEVELS.slice(0, -1)
        .map((level) => `\`${level}\``)
        .join(", ")} or \`silent\`.`,
    ),
    drainMs: fromEnv(
      "DRAIN_SECONDS",
      drainMs.prefault("5"),
      "Seconds, 0 to 60, that running calls get to finish when the program is told to stop.",
    ),
    noColor: fromEnv(
      "NO_COLOR",
      z.string().optional(),
      "Any value: the terminal prints without colors.",
    ),
    timezone: fromYaml(
      "timezone",
      z
        .string()
        .refine(isTimezone, "expected a zone's IANA name such as Europe/Madrid or UTC")
        .optional(),
      'The zone for "last week" and for times without a zone, such as `Europe/Madrid`. Not set: the asker\'s own where the platform knows it, else UTC.',
      { unset: "the asker's own" },
    ),
    file: fromEnv(
      "WATCHKEEPER_CONFIG",
      z.string().optional(),
      "Path of the yaml. If you name a file, it must exist. Not set: `watchkeeper.yaml` in the folder you start the program in, if there is one.",
    ),
  }),
});

/** True for the IANA name of a time zone. */
export function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
