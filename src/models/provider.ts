import type { SettingsPart } from "../core/settings.ts";
import { type Caller, failureOf } from "./errors.ts";
import { exchange, type Fetch, watchedFetch } from "./fetch-guard.ts";
import type { GenerateOptions, Model, ModelRequest, ModelResponse } from "./model.ts";
import type { KnownModel } from "./known.ts";
import { createForcing, type Forcing } from "./output-forms.ts";
import { shownTo } from "./shown-files.ts";

type Effort = "low" | "medium" | "high";

/** Whether it thinks before it answers: as much as it finds right, or so many tokens (CORE 003.4: at least 1024). */
export type Thinking = "adaptive" | number;

export interface ModelOptions {
  /** As the provider writes it, such as `claude-sonnet-5-5`; may contain slashes. */
  name: string;
  /** In tokens. */
  contextWindow: number;
  /** How hard it tries, for models that can be told. */
  effort?: Effort | undefined;
  /** `adaptive`, or tokens; what the model refuses is not here. */
  thinking?: Thinking | undefined;
  /** What of its abilities the program goes by; what is not set is tried. */
  known?: Pick<KnownModel, "maxOutputTokens" | "images" | "documents" | "structuredOutput">;
  /** Default: 60 s without a byte. */
  idleMs?: number | undefined;
}

/**
 * A model provider's API: a file below `providers` and a line in `load.ts`. Reading the settings and their documentation follow
 * from `settings`.
 */
export interface Provider<S = unknown> extends SettingsPart<S> {
  /** What the ids of its models begin with, `<name>/<model>`. */
  readonly name: string;
  /** A model that it has, for examples and for `suffices`. */
  readonly example: string;
  /** True: these settings say enough, and where nobody names a model it is `example`. */
  suffices?(settings: S): boolean;
  /** Tokens that its current models take at least. */
  readonly contextWindow: number;
  /** The variable without which it cannot be used, if these settings lack it. */
  missing(settings: S): string | undefined;
  /** Reaches for no network; the SDK is loaded at the first request. */
  create(options: ModelOptions, settings: S): Model;
}

/** Lets TypeScript infer the type of the settings from their schema. */
export function defineProvider<S>(provider: Provider<S>): Provider<S> {
  return provider;
}

/** What differs between models whose SDK streams their responses. */
export interface Streaming<Client> extends Pick<Caller, "apiKey" | "variables" | "throttles"> {
  /** Of a request's files together, where that is other than usual (`MAX_REQUEST_FILE_BYTES`). */
  maxFileBytes?: number;
  /** Loads the SDK, which must not repeat requests nor write to the console. */
  connect(fetch: Fetch): Promise<Client>;
  /** How a form can be asked of it, the best first. */
  forcings: readonly Forcing[];
  /** `forcing` is there where the request has an `output`. */
  ask(
    client: Client,
    request: ModelRequest,
    caller: Caller,
    onDelta: GenerateOptions["onDelta"],
    forcing: Forcing | undefined,
  ): Promise<ModelResponse>;
}

/** A model behind an SDK's client. Whatever goes wrong is a ModelError. */
export function createStreamingModel<Client>(
  id: string,
  { contextWindow, known = {}, idleMs }: ModelOptions,
  { apiKey, variables, throttles, maxFileBytes, connect, forcings, ask }: Streaming<Client>,
): Model {
  let client: Promise<Client> | undefined;
  const { maxOutputTokens = Infinity, structuredOutput = true } = known;
  const askForced = createForcing(forcings.filter((way) => structuredOutput || way !== "format"));
  return {
    id,
    contextWindow,
    generate(asked, { signal, onDelta }) {
      const request = {
        ...asked,
        turns: shownTo(known, asked.turns, maxFileBytes),
        maxOutputTokens: Math.min(asked.maxOutputTokens, maxOutputTokens),
      };
      const caller = { id, apiKey, variables, throttles, signal };
      return exchange(caller, async () => {
        client ??= connect(watchedFetch(id, idleMs));
        const connected = await client;
        const send = (forcing?: Forcing) => ask(connected, request, caller, onDelta, forcing);
        const { output } = request;
        return output === undefined ? send() : askForced(output, caller, send, failureOf);
      });
    },
  };
}
