import type { Embedder } from "../core/embedder.ts";
import { BotError } from "../core/errors.ts";
import { settingsOf, type SettingValues } from "../core/settings.ts";
import type { Model } from "./model.ts";
import { knownModel, type KnownModel } from "./known.ts";
import type { ModelOptions, Provider, Thinking } from "./provider.ts";
import type { RetryingOptions } from "./retrying.ts";
import { anthropic } from "./providers/anthropic.ts";
import { azure } from "./providers/azure.ts";
import { bedrock } from "./providers/bedrock.ts";
import { gemini } from "./providers/gemini.ts";
import { vertex } from "./providers/vertex.ts";
import { openAiCompatible } from "./providers/openai-compatible.ts";
import { openai } from "./providers/openai.ts";
import { OPENAI_URL } from "./providers/openai-access.ts";
import { createOpenAiEmbedder } from "./providers/openai-embeddings.ts";

/** Every provider: one line for each. */
export const PROVIDERS: readonly Provider[] = [
  anthropic,
  openai,
  openAiCompatible,
  azure,
  bedrock,
  vertex,
  gemini,
];

export interface ModelSettings {
  /** What the providers are set to. */
  readonly values: SettingValues;
  readonly effort?: ModelOptions["effort"];
  readonly thinking?: ModelOptions["thinking"];
  /** What is said of models, by their ids, instead of what is known. */
  readonly models?: Readonly<Record<string, KnownModel>> | undefined;
  /** In tokens, where the model's differs from its provider's usual one. */
  readonly contextWindow?: number | undefined;
}

const forms = PROVIDERS.map(({ name }) => `${name}/<name>`);

/** The forms that a model's id may have, for people. */
export const MODEL_FORMS = `${forms.slice(0, -1).join(", ")} or ${forms.at(-1)}, the name as its provider writes it`;

/** A model's id, for examples. */
export const MODEL_EXAMPLE = PROVIDERS.map(({ name, example }) => `${name}/${example}`)[0] ?? "";

/** The provider and the name in a model's id, `<provider>/<name>`; undefined when it has another form. */
export function tryModelId(id: string): { provider: Provider; name: string } | undefined {
  const [, prefix, name] = /^([a-z-]+)\/([!-~]+)$/.exec(id) ?? [];
  const provider = PROVIDERS.find((each) => each.name === prefix);
  return provider === undefined || name === undefined ? undefined : { provider, name };
}

/** The model where nobody names one: that of the first provider whose key alone is enough. */
export function standardModelId(values: SettingValues): string | undefined {
  const able = PROVIDERS.find((each) => each.suffices?.(settingsOf(each, values)) === true);
  return able && `${able.name}/${able.example}`;
}

/** Why no run could use the model of this id, or undefined. */
export function modelProblem(id: string, { values }: ModelSettings): string | undefined {
  const { provider } = tryModelId(id) ?? {};
  if (provider === undefined) return `A model is ${MODEL_FORMS}.`;
  const missing = provider.missing(settingsOf(provider, values));
  return missing && `${provider.name}/… needs ${missing}, which isn't set.`;
}

export function contextWindowOf(
  id: string,
  { contextWindow, models }: Pick<ModelSettings, "contextWindow" | "models"> = {},
): number {
  const { provider = openAiCompatible } = tryModelId(id) ?? {};
  return contextWindow ?? knownModel(id, models).contextWindow ?? provider.contextWindow;
}

/** What of the wishes the model takes: one that it refuses would fail every request. */
export function takenBy(
  known: KnownModel,
  { effort, thinking }: Pick<ModelSettings, "effort" | "thinking">,
): Pick<ModelOptions, "effort" | "thinking"> {
  return {
    effort: known.effort === false ? undefined : effort,
    thinking: thinking === undefined ? undefined : thinkingOf(known, thinking),
  };
}

/** More than this is better left to a model that can decide (CORE 003.4). */
const MAX_FIXED_TOKENS = 32_000;

function thinkingOf({ thinking: kind }: KnownModel, wish: Thinking): Thinking | undefined {
  if (kind === "none") return undefined;
  if (kind === "adaptive") return "adaptive";
  if (kind === "fixed") return wish === "adaptive" ? undefined : Math.min(wish, MAX_FIXED_TOKENS);
  return wish;
}

/**
 * What makes vectors by the model of this id, `openai/<name>` or `openai-compatible/<name>`. Reaches for no network yet.
 * @throws BotError CONFIG_INVALID when what its provider needs is not set
 */
export function loadEmbedder(id: string, settings: ModelSettings): Embedder {
  const problem = modelProblem(id, settings);
  const { provider, name = "" } = tryModelId(id) ?? {};
  if (problem !== undefined || provider === undefined)
    throw new BotError("CONFIG_INVALID", `memory.embeddings: ${problem}`);
  const { apiKey, baseURL = OPENAI_URL } = settingsOf(openai, settings.values);
  return createOpenAiEmbedder(id, name, { apiKey, baseURL });
}

/**
 * The model of this id, `<provider>/<name>`, with its retries. Reaches for no network yet.
 * @throws BotError CONFIG_INVALID when the id has another form, or what its provider needs is not set
 */
export async function loadModel(
  id: string,
  settings: ModelSettings,
  retries: RetryingOptions = {},
): Promise<Model> {
  const problem = modelProblem(id, settings);
  const found = tryModelId(id);
  if (found === undefined || problem !== undefined)
    throw new BotError("CONFIG_INVALID", problem ?? `A model is ${MODEL_FORMS}.`);
  const { provider, name } = found;
  const { createRetryingModel } = await import("./retrying.ts");
  const known = knownModel(id, settings.models);
  const options = {
    name,
    known,
    ...takenBy(known, settings),
    contextWindow: contextWindowOf(id, settings),
  };
  const model = provider.create(options, settingsOf(provider, settings.values));
  return createRetryingModel(model, retries);
}
