import { type Usage } from "../core/block.ts";
import { PRICE_UNKNOWN } from "../core/money.ts";

/** What one million tokens cost, in US dollars. A part that is not set costs what input does. */
export interface Price {
  readonly input: number;
  /** Read from the provider's cache. */
  readonly cachedInput?: number | undefined;
  readonly cacheWrite?: number | undefined;
  readonly output: number;
  /** A request with more input than this, cached or not, is paid at other prices altogether. */
  readonly above?: (Omit<Price, "above"> & { readonly tokens: number }) | undefined;
}

/** `adaptive`: it decides itself how much. `fixed`: so many tokens as it is told. */
type ThinkingKind = "adaptive" | "fixed" | "none";

/** What is known of a model. What is not known is not set: its provider's usual holds, or the provider refuses. */
export interface KnownModel {
  /** Tokens that a request and its response may use together. */
  readonly contextWindow?: number | undefined;
  /** Tokens that one response may have. */
  readonly maxOutputTokens?: number | undefined;
  readonly price?: Price | undefined;
  readonly thinking?: ThinkingKind | undefined;
  /** It can be told how hard to try. */
  readonly effort?: boolean | undefined;
  /** Its provider takes these of people. */
  readonly images?: boolean | undefined;
  readonly documents?: boolean | undefined;
  /** Its text can be held to a JSON schema. */
  readonly structuredOutput?: boolean | undefined;
}

const ABLE = { images: true, documents: true, structuredOutput: true } as const;
const CLAUDE = {
  ...ABLE,
  contextWindow: 1_000_000,
  maxOutputTokens: 128_000,
  thinking: "adaptive",
  effort: true,
} as const;
const CLAUDE_4_5 = {
  ...ABLE,
  contextWindow: 200_000,
  maxOutputTokens: 64_000,
  thinking: "fixed",
  effort: false,
} as const;
const GPT_6 = {
  ...ABLE,
  contextWindow: 1_050_000,
  maxOutputTokens: 128_000,
  thinking: "none",
  effort: true,
} as const;
const OPUS_PRICE = { input: 5, cachedInput: 0.5, cacheWrite: 6.25, output: 25 } as const;
const SONNET_4_PRICE = { input: 3, cachedInput: 0.3, cacheWrite: 3.75, output: 15 } as const;

/**
 * The models that this program knows, by the names that their makers' own APIs have for them. A model that is not here works with its
 * provider's usual window, and its price is unknown; `models` in the yaml says it.
 *
 * Claude: the model pages of platform.claude.com (context, output, thinking, price with the five-minute cache) as of 2026-10-16; cached input
 * of Sonnet 5.5 at the price of 2026-10-07. GPT: developers.openai.com/api/docs/models as of 2026-10-01, GPT-5.4 and GPT-5.1 by OpenAI's
 * price list as of 2026-03.
 */
const MODELS: Readonly<Record<string, KnownModel>> = {
  "claude-fable-5-1": {
    ...CLAUDE,
    price: { input: 10, cachedInput: 0.25, cacheWrite: 12.5, output: 50 },
  },
  "claude-fable-5": {
    ...CLAUDE,
    price: { input: 10, cachedInput: 1, cacheWrite: 12.5, output: 50 },
  },
  "claude-opus-5-5": {
    ...CLAUDE,
    price: { input: 4, cachedInput: 0.2, cacheWrite: 5, output: 20 },
  },
  "claude-opus-5": { ...CLAUDE, price: OPUS_PRICE },
  "claude-opus-4-8": { ...CLAUDE, price: OPUS_PRICE },
  "claude-opus-4-7": { ...CLAUDE, price: OPUS_PRICE },
  "claude-opus-4-6": { ...CLAUDE, price: OPUS_PRICE },
  "claude-opus-4-5": { ...CLAUDE_4_5, effort: true, price: OPUS_PRICE },
  "claude-sonnet-5-5": {
    ...CLAUDE,
    price: { input: 2, cachedInput: 0.1, cacheWrite: 2.5, output: 10 },
  },
  "claude-sonnet-5": {
    ...CLAUDE,
    price: { input: 2, cachedInput: 0.2, cacheWrite: 2.5, output: 10 },
  },
  "claude-sonnet-4-6": { ...CLAUDE, maxOutputTokens: 64_000, price: SONNET_4_PRICE },
  "claude-sonnet-4-5": { ...CLAUDE_4_5, price: SONNET_4_PRICE },
  "claude-haiku-5-5": {
    ...CLAUDE,
    price: {
      input: 0.1,
      cachedInput: 0.01,
      cacheWrite: 0.125,
      output: 0.5,
      above: { tokens: 100_000, input: 0.5, cachedInput: 0.05, cacheWrite: 0.625, output: 2.5 },
    },
  },
  "claude-haiku-4-5": {
    ...CLAUDE_4_5,
    price: { input: 1, cachedInput: 0.1, cacheWrite: 1.25, output: 5 },
  },
  "gpt-6-sol": {
    ...GPT_6,
    price: {
      input: 2,
      cachedInput: 0.2,
      cacheWrite: 2.5,
      output: 10,
      above: { tokens: 272_000, input: 4, cachedInput: 0.4, cacheWrite: 5, output: 15 },
    },
  },
  "gpt-6-luna": {
    ...GPT_6,
    price: {
      input: 0.1,
      cachedInput: 0.01,
      cacheWrite: 0.125,
      output: 0.5,
      above: { tokens: 272_000, input: 0.2, cachedInput: 0.02, cacheWrite: 0.25, output: 0.75 },
    },
  },
  "gpt-5.4": {
    ...ABLE,
    thinking: "none",
    effort: true,
    price: { input: 2.5, cachedInput: 0.25, output: 15 },
  },
  "gpt-5.1": {
    ...ABLE,
    thinking: "none",
    effort: true,
    price: { input: 1.25, cachedInput: 0.125, output: 10 },
  },
};

/** Whose names in MODELS are what this provider charges for: others sell the same models at prices of their own. */
const FIRST_HAND = new Set(["anthropic", "openai"]);

/** What is known of the model of this id, `<provider>/<name>`, over which what the yaml says of it (`models`) prevails. */
export function knownModel(id: string, own: Readonly<Record<string, KnownModel>> = {}): KnownModel {
  const [provider = "", ...rest] = id.split("/");
  const name = rest.join("/");
  const said = Object.hasOwn(own, id) ? own[id] : undefined;
  const found = provider === "openai-compatible" ? undefined : MODELS[makersName(name)];
  const price = said?.price ?? (FIRST_HAND.has(provider) ? found?.price : undefined);
  return { ...found, ...told(said), price };
}

/** What is set. */
function told(said: KnownModel = {}): KnownModel {
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
}

/** Without the day of a snapshot, and without what Bedrock and Vertex put around a name: `us.anthropic.…-v1:0`, `…@20251001`. */
function makersName(name: string): string {
  return name
    .replace(/^(?:[a-z]+\.)?anthropic\./, "")
    .replace(/-v\d+(?::\d+)?$/, "")
    .replace(/[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|latest|default)$/, "");
}

/** What a request cost in US dollars; undefined where the price is not known, which is not nothing. */
export function costOf(usage: Usage, price: Price | undefined): number | undefined {
  if (price === undefined) return undefined;
  const asked = usage.input + usage.cacheRead + usage.cacheWrite;
  const { above } = price;
  const {
    input,
    output,
    cachedInput = input,
    cacheWrite = input,
  } = above !== undefined && asked > above.tokens ? above : price;
  const sum =
    usage.input * input +
    usage.cacheRead * cachedInput +
    usage.cacheWrite * cacheWrite +
    usage.output * output;
  return sum / 1_000_000;
}

/** `$2 per million tokens in ($0.1 cached), $10 out`, or that it is not known. */
export function priceText(price: Price | undefined): string {
  if (price === undefined) return PRICE_UNKNOWN;
  const { input, cachedInput, output, above } = price;
  const cached = cachedInput === undefined ? "" : ` ($${cachedInput} cached)`;
  const more =
    above === undefined
      ? ""
      : `; $${above.input} and $${above.output} for requests above ${above.tokens.toLocaleString("en")} tokens`;
  return `$${input} per million tokens in${cached}, $${output} out${more}`;
}
