import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { stringify } from "yaml";
import type { Adapter } from "../src/adapters/adapter.ts";
import type { Inbox } from "../src/adapters/inbox.ts";
import { digestStart } from "../src/adapters/render/button-ids.ts";
import type { ActionCard, Outgoing } from "../src/adapters/shown.ts";
import { createPlace } from "../src/adapters/terminal/people.ts";
import { assemble } from "../src/app/assemble.ts";
import { account } from "../src/app/process.ts";
import { loadConfig } from "../src/config/config.ts";
import type { JournalKey } from "../src/core/journal-key.ts";
import { within } from "../src/core/time-limit.ts";
import type { EvalCase } from "../src/evals/case.ts";
import { type Facts, factsOf } from "../src/evals/facts.ts";
import { inPages } from "../src/core/pages.ts";
import type { Entry } from "../src/core/entry.ts";
import { freezeTools } from "./freeze-tools.ts";
import { type OpenWorld, withAddresses } from "./lab-world.ts";
import { startScriptedServer } from "./scripted-server.ts";
import { startRecorder, startReplay } from "./traffic.ts";

/** What a case is run with, beside what it says itself. */
export interface Variant {
  readonly name: string;
  /** A model of MODEL's form; undefined: the case's script. */
  readonly model: string | undefined;
  /** Settings of `watchkeeper.yaml` over the case's own, such as other gates. */
  readonly settings: Readonly<Record<string, unknown>>;
}

export interface PlayOptions {
  /** Keys of live models. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What a live model answers is kept in this file, or comes from it. */
  /** What stands in place of frozen outputs, where the case wants real servers. */
  readonly world?: OpenWorld | undefined;
  readonly traffic?: { readonly do: "record" | "replay"; readonly file: string } | undefined;
}

export interface Played {
  readonly facts: Facts;
  /** Requests beyond the case's script. */
  readonly beyond: number;
  readonly ms: number;
}

/** For one question, also of a live model. */
const LIMIT_MS = 20 * 60_000;

/**
 * Puts a case's question to the whole program in a folder of its own: only what its tools reach is frozen, and without a model of the
 * variant's its turns are the case's script. @throws BotError CONFIG_INVALID, TIMEOUT
 */
export async function play(
  evalCase: EvalCase,
  variant: Variant,
  { env, traffic, world }: PlayOptions,
): Promise<Played> {
  const { question, settings, variables, outputs, script, reactions } = addressed(evalCase, world);
  const folder = await mkdtemp(join(tmpdir(), "wk-eval-"));
  const merged = merge(settings, variant.settings);
  const contextWindow = windowIn(merged);
  const scripted =
    variant.model === undefined
      ? await startScriptedServer(script, { contextWindow, reactions })
      : undefined;
  const recorded = await openTraffic(variant.model, env, traffic);
  const began = performance.now();
  try {
    await writeFile(join(folder, "watchkeeper.yaml"), stringify(merged), { mode: 0o600 });
    const keys =
      scripted === undefined ? { ...env, ...recorded?.env } : { OPENAI_BASE_URL: scripted.url };
    const config = await loadConfig(
      {
        ...keys,
        ...world?.variables,
        ...variables,
        DATA_DIR: join(folder, "data"),
        MODEL: variant.model ?? "openai-compatible/scripted",
      },
      { cwd: folder },
    );
    const bot = await assemble(config, pino({ level: "silent" }), {
      local: true,
      ...(world === undefined && { changeTools: await freezeTools(outputs) }),
    });
    try {
      const key: JournalKey = `terminal:${randomUUID()}`;
      const asker = createAsker(key, bot.inbox, evalCase.approves);
      bot.start(asker.adapter);
      await bot.inbox.post(key, randomUUID(), { kind: "text", actor: account(), text: question });
      await within(LIMIT_MS, new AbortController().signal, async () => asker.finished);
      const entries: Entry[] = [];
      for await (const page of inPages(await bot.journal.read(key)))
        entries.push(...page.filter((entry) => entry.kind !== "newer"));
      const ms = Math.round(performance.now() - began);
      return { facts: factsOf(entries), beyond: scripted?.beyond ?? 0, ms };
    } finally {
      await bot.stop();
    }
  } finally {
    await scripted?.stop();
    await recorded?.stop();
    await rm(folder, { recursive: true });
  }
}

/** The case with the addresses of its world. */
function addressed({ script = [], ...evalCase }: EvalCase, world: OpenWorld | undefined) {
  if (world === undefined) return { ...evalCase, script };
  const addresses = <T>(value: T): T =>
    JSON.parse(JSON.stringify(value), (_, inner: unknown) =>
      typeof inner === "string" ? withAddresses(inner, world.variables) : inner,
    );
  return { ...evalCase, question: addresses(evalCase.question), script: addresses(script) };
}

/** Where a provider is, by how its models are named. */
const PROVIDERS = [
  {
    prefix: "anthropic/",
    address: "ANTHROPIC_BASE_URL",
    key: "ANTHROPIC_API_KEY",
    usual: "https://api.anthropic.com",
  },
  {
    prefix: "openai/",
    address: "OPENAI_BASE_URL",
    key: "OPENAI_API_KEY",
    usual: "https://api.openai.com/v1",
  },
  { prefix: "openai-compatible/", address: "OPENAI_BASE_URL", key: "OPENAI_API_KEY", usual: "" },
] as const;

/** Stands between the program and the provider. @throws Error where that one's traffic cannot be had */
async function openTraffic(
  model: string | undefined,
  env: PlayOptions["env"],
  traffic: PlayOptions["traffic"],
): Promise<{ env: Record<string, string>; stop(): Promise<void> } | undefined> {
  if (model === undefined || traffic === undefined) return undefined;
  const provider = PROVIDERS.find(({ prefix }) => model.startsWith(prefix));
  if (provider === undefined) throw new Error(`The traffic of ${model} cannot be recorded.`);
  const { address, key, usual } = provider;
  const isReplay = traffic.do === "replay";
  const { url, stop } = isReplay
    ? await startReplay(traffic.file)
    : await startRecorder(env[address] ?? usual, traffic.file);
  return { env: { [address]: url, ...(isReplay && { [key]: "of-a-replay" }) }, stop };
}

/** The one person who asks and, where the case says so, approves; it is over with the answer, or when only they could go on. */
function createAsker(
  key: JournalKey,
  inbox: Inbox,
  approves: boolean,
): { adapter: Adapter; finished: Promise<void> } {
  const { promise: finished, resolve, reject } = Promise.withResolvers<void>();
  const { account: own } = account();

  function decide({ action, revision, digest, phase }: ActionCard): void {
    if (phase !== "open") return;
    if (!approves) return resolve();
    const choice = { kind: "approve" } as const;
    const click = { kind: "click", action, revision, choice, digest: digestStart(digest) } as const;
    inbox.post(key, randomUUID(), { ...click, via: "typed", actor: account() }).catch(reject);
  }

  function hear(message: Outgoing): void {
    if (message.kind === "answer" || message.asks !== undefined) resolve();
  }

  return {
    finished,
    adapter: {
      ...createPlace(own),
      view: (wanted) =>
        wanted === key
          ? {
              progress: () => {},
              post: async (message) => {
                hear(message);
                return randomUUID();
              },
              postPrivately: async () => randomUUID(),
              updateNotice: async () => {},
              postCard: async (card) => {
                decide(card);
                return randomUUID();
              },
              updateCard: async (_ref, card) => decide(card),
              delete: async () => {},
            }
          : undefined,
    },
  };
}

type Settings = Readonly<Record<string, unknown>>;

const isSettings = (value: unknown): value is Settings =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Section by section: the second's values count. */
function merge(first: Settings, second: Settings): Settings {
  const merged: Record<string, unknown> = { ...first };
  for (const [name, value] of Object.entries(second)) {
    const before = merged[name];
    merged[name] = isSettings(before) && isSettings(value) ? merge(before, value) : value;
  }
  return merged;
}

function windowIn({ model }: Settings): number | undefined {
  const tokens = isSettings(model) ? model["contextWindow"] : undefined;
  return typeof tokens === "number" ? tokens : undefined;
}
