import type { JsonObject } from "../core/entry.ts";
import type { ToolSpec } from "../core/tool-spec.ts";
import type { AssistantBlock, FileType, StopReason, Usage } from "../core/block.ts";
import { BotError, type ErrorCode } from "../core/errors.ts";

export interface FileBlock {
  kind: "file";
  name: string;
  mediaType: FileType;
  /** Base64, no line breaks. */
  data: string;
}

export interface TextBlock {
  kind: "text";
  text: string;
}

/** The result of one call, by the provider's id of it. */
export interface ToolResultBlock {
  id: string;
  text: string;
  isError: boolean;
  /** Images only. */
  files: readonly FileBlock[];
}

/**
 * One turn. A `tool` turn holds the results of all calls of the assistant turn before it, in order; providers that have
 * no such turn translate it. A `user` turn may follow a `tool` turn or another `user` turn.
 */
export type Turn =
  | { role: "user"; content: readonly (TextBlock | FileBlock)[] }
  /** `model` is the id of the model that wrote it; other models do not get its `wire` values. */
  | { role: "assistant"; content: readonly AssistantBlock[]; model: string }
  | { role: "tool"; results: readonly ToolResultBlock[] };

/** The form of a response's text: a JSON object of a schema. */
export interface OutputForm {
  /** Letters, digits and underscores, at most 64. */
  name: string;
  /** JSON Schema of an object. */
  schema: JsonObject;
}

/** `system` and `tools` are the same bytes in every request of a run, and each request's turns begin with the last one's. */
export interface ModelRequest {
  system: string;
  tools: readonly ToolSpec[];
  turns: readonly Turn[];
  /** `none`: the tools stay listed for the provider's cache, but the model may not call them now. */
  toolChoice: "auto" | "none";
  /** Of the listed tools those that may be called now, where the provider can be told: the list stays the same for its cache. */
  allowed?: readonly string[] | undefined;
  maxOutputTokens: number;
  /**
   * The response's text is to be a JSON object of this form, forced as the provider can; it still has to be checked. Without
   * it, text is free. Tools of the request are listed but not called.
   */
  output?: OutputForm | undefined;
}

export interface ModelResponse {
  content: AssistantBlock[];
  stop: StopReason;
  usage: Usage;
}

export interface GenerateOptions {
  signal: AbortSignal;
  /** Called with each piece of text as it arrives, and with undefined when a new attempt voids all of it. */
  onDelta?: ((text: string | undefined) => void) | undefined;
}

/** One model of one provider. It always streams, never retries, and resolves only with a whole response. */
export interface Model {
  /** `<wire>/<name>`, such as `anthropic/claude-sonnet-5-5`. */
  readonly id: string;
  /** Tokens that a request and its response may use together. */
  readonly contextWindow: number;
  /** @throws ModelError, and BotError ABORTED if the signal aborted */
  generate(request: ModelRequest, options: GenerateOptions): Promise<ModelResponse>;
}

export type ModelErrorCode = Extract<ErrorCode, `MODEL_${string}`>;

/** A request without a usable response. `retrying.ts` decides by the code what to repeat. */
export class ModelError extends BotError {
  declare readonly code: ModelErrorCode;

  constructor(
    code: ModelErrorCode,
    message: string,
    options: ConstructorParameters<typeof BotError>[2] = {},
  ) {
    super(code, message, options);
    this.name = "ModelError";
  }
}
