import * as z from "zod";
import { json, jsonText } from "./tuple.ts";

/**
 * The blocks that a model's turn consists of, as the journal keeps them. Each wire's own shapes stay in its file under
 * `models/`; what a wire needs back unchanged and nobody else reads travels in `wire`.
 */

const wire = json.optional();

export const assistantBlock = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("text"), text: z.string(), wire }),
  z.strictObject({
    kind: z.literal("tool_use"),
    /** The provider's id of the call, unique within its turn; echoed with the result. */
    id: z.string(),
    name: z.string(),
    /** The arguments as the model wrote them: JSON, unless it was cut off or is wrong. */
    input: jsonText,
    wire,
  }),
  /** Reasoning in the provider's own form. Sent back unchanged to the model that wrote it, never shown or logged. */
  z.strictObject({ kind: z.literal("thinking"), wire: json }),
]);

/**
 * Why a model stopped. `pause`: it wants to be asked to go on. `malformed_call`: its server found no valid call in what it
 * wrote, which stands as the turn's text.
 */
export const stopReason = z.enum([
  "end_turn",
  "tool_use",
  "max_tokens",
  "refusal",
  "content_filter",
  "pause",
  "malformed_call",
]);

/** Tokens, as the provider counted them. `input` does not include what was read from or written to its cache. */
export const usage = z.strictObject({
  input: z.int().nonnegative(),
  output: z.int().nonnegative(),
  cacheRead: z.int().nonnegative(),
  cacheWrite: z.int().nonnegative(),
});

export type AssistantBlock = z.infer<typeof assistantBlock>;
export type StopReason = z.infer<typeof stopReason>;
export type Usage = z.infer<typeof usage>;

export const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
  };
}

/** Every token that was paid for in some way. */
export function totalTokens({ input, output, cacheRead, cacheWrite }: Usage): number {
  return input + output + cacheRead + cacheWrite;
}

/** What a token that was read from the provider's cache counts of one that was not. */
const CACHED_SHARE = 0.1;

/**
 * What of a request counts towards budgets: tokens as if all input had the price of fresh input. Each step of a run sends the
 * whole run again, nearly all of it from the cache, which costs a tenth with most providers and less with some: counted in full, a
 * run would end after a few steps that cost little. It is the same share for every model, so that a journal folds to the same
 * wherever it is read and whatever prices the configuration has; a provider without a cache has every token counted.
 */
export function countedTokens({ input, output, cacheRead, cacheWrite }: Usage): number {
  return input + output + cacheWrite + Math.ceil(cacheRead * CACHED_SHARE);
}

/** Roughly, and in no text exactly. */
export const CHARACTERS_PER_TOKEN = 4;

/** Tokens of a text that no provider has counted yet, roughly: four characters are one. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}

/** Files of one message that are read. */
export const MAX_FILES = 8;

/** Media types of files that people may show to a model, with the most bytes that a wire takes (CORE 003.3). */
export const MAX_FILE_BYTES = {
  "image/png": 5 * 1024 * 1024,
  "image/jpeg": 5 * 1024 * 1024,
  "image/gif": 5 * 1024 * 1024,
  "image/webp": 5 * 1024 * 1024,
  // 32 MB of a request, in which it is base64.
  "application/pdf": 22 * 1024 * 1024,
  "text/plain": 8 * 1024 * 1024,
} as const;

export const fileType = z.enum([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "application/pdf",
  "text/plain",
]);
export type FileType = z.infer<typeof fileType>;
