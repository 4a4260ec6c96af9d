import { BotError } from "../core/errors.ts";
import type { Model } from "./model.ts";

/** How one provider is reached. Undefined is its own address, and no key. */
interface Access {
  apiKey?: string | undefined;
  baseURL?: string | undefined;
}

export interface ModelSettings {
  anthropic: Access;
  /** For both wires of OpenAI's. */
  openai: Access;
  effort?: "low" | "medium" | "high" | undefined;
  /** In tokens, where the model's differs from its wire's usual one. */
  contextWindow?: number | undefined;
}

/** Tokens that the wire's current models have at least; compatible servers are set up with very different ones. */
const CONTEXT_WINDOWS = {
  anthropic: 200_000,
  openai: 400_000,
  "openai-compatible": 128_000,
} as const;

function isWire(wire: string | undefined): wire is keyof typeof CONTEXT_WINDOWS {
  return wire !== undefined && Object.hasOwn(CONTEXT_WINDOWS, wire);
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== "";
}

/** Why no run could use the model of this id, or undefined. */
export function modelProblem(id: string, { anthropic, openai }: ModelSettings): string | undefined {
  const { wire } = partsOf(id) ?? {};
  if (wire === undefined) return FORM;
  const [variable, value] = {
    anthropic: ["ANTHROPIC_API_KEY", anthropic.apiKey] as const,
    openai: ["OPENAI_API_KEY", openai.apiKey] as const,
    "openai-compatible": ["OPENAI_BASE_URL", openai.baseURL] as const,
  }[wire];
  return isSet(value) ? undefined : `${variable} is not set, and models ${wire}/… need it.`;
}

const FORM =
  "A model is anthropic/<name>, openai/<name> or openai-compatible/<name>, the name as its provider writes it.";

function partsOf(id: string): { wire: keyof typeof CONTEXT_WINDOWS; name: string } | undefined {
  const [, wire, name] = /^([a-z-]+)\/([!-~]+)$/.exec(id) ?? [];
  return isWire(wire) && name !== undefined ? { wire, name } : undefined;
}

/** Tokens that the model of this id takes. */
export function contextWindowOf(id: string, { contextWindow }: ModelSettings): number {
  const parts = partsOf(id);
  return contextWindow ?? CONTEXT_WINDOWS[parts?.wire ?? "openai-compatible"];
}

/**
 * The model of this id, `<wire>/<name>`, with its retries. Reaches for no network yet; the SDK is loaded only here.
 * @throws BotError CONFIG_INVALID when the id has another form, or what its wire needs is not set
 */
export async function loadModel(id: string, settings: ModelSettings): Promise<Model> {
  const problem = modelProblem(id, settings);
  const parts = partsOf(id);
  if (parts === undefined || problem !== undefined) {
    throw new BotError("CONFIG_INVALID", problem ?? FORM);
  }
  const { wire, name } = parts;
  const { anthropic, openai, effort } = settings;
  const common = { name, effort, contextWindow: contextWindowOf(id, settings) };
  const { createRetryingModel: createPatientModel } = await import("./retrying.ts");
  switch (wire) {
    case "anthropic": {
      const { createAnthropicModel } = await import("./providers/anthropic.ts");
      const access = { apiKey: anthropic.apiKey ?? "", baseURL: anthropic.baseURL };
      return createPatientModel(createAnthropicModel({ ...common, ...access }));
    }
    case "openai": {
      const { createOpenAiModel } = await import("./providers/openai.ts");
      const access = { apiKey: openai.apiKey ?? "", baseURL: openai.baseURL };
      return createPatientModel(createOpenAiModel({ ...common, ...access }));
    }
    case "openai-compatible": {
      const { createCompatibleModel } = await import("./providers/openai-compatible.ts");
      const access = { apiKey: openai.apiKey, baseURL: openai.baseURL ?? "" };
      return createPatientModel(createCompatibleModel({ ...common, ...access }));
    }
  }
}
