import { BotError } from "../core/errors.ts";
import { formatUtc } from "../core/instant.ts";
import { NO_MODEL, type RouteOf } from "../core/routes.ts";
import { CONSEQUENCES, reasonOf } from "./errors.ts";
import type { ModelHealth, Outage } from "./health.ts";
import {
  type GenerateOptions,
  type Model,
  ModelError,
  type ModelErrorCode,
  type ModelRequest,
  type ModelResponse,
} from "./model.ts";

/** Whose request it is. */
export interface Asked {
  /** The model that the run began with. */
  own: string;
  /** The one that gave the run's newest turn: a run that switched stays with it. */
  newest: string;
  /** Tokens that the request will use, its response apart. */
  requestTokens: number;
  /** The journal keys of the places whose words it holds: a route may keep them from all models but one, or from every model. */
  places: readonly string[];
}

export interface Answered {
  response: ModelResponse;
  /** The id of the model that gave it. */
  model: string;
  /** Why not the run's own did. */
  instead?: ModelErrorCode;
}

/** The configured models, one behind the other. */
export interface Models {
  /**
   * Asks the run's own model, else those behind it; from places with a route only that route's. `onDelta(undefined)` takes back what one had written that failed then.
   * @throws ModelError of the run's own model, with what was tried besides; whatever no other model makes up for; and BotError NOT_AVAILABLE
   * where nothing from these places goes to a model
   */
  generate(request: ModelRequest, asked: Asked, options: GenerateOptions): Promise<Answered>;
  /** Every model that `generate` may ask, in this order; none where nothing from there goes to a model. */
  asks(asked: Pick<Asked, "own" | "newest" | "places">): readonly string[];
  /** Which model answers a thread whose own is this one, and why not that, in one sentence for people. */
  standing(own: string): string;
}

export interface ChainOptions {
  /** The ids of all models in the order in which they are asked, the primary one first; one alone: nothing stands behind it. */
  chain: readonly string[];
  /** A model by its id, with its retries, made once. @throws BotError CONFIG_INVALID */
  load(id: string): Promise<Model>;
  health: Pick<ModelHealth, "outage" | "answered" | "failed" | "look">;
  /** Default: no place has a route. */
  routeOf?: RouteOf | undefined;
}

export function createModels({ chain, load, health, routeOf }: ChainOptions): Models {
  /** What stands behind this model. */
  function behind(own: string): readonly string[] {
    return chain.length < 2 ? [] : chain.filter((id) => id !== own);
  }

  /** The first answer that one of them gives; `failures`: why others gave none. */
  async function askEach(
    ids: readonly string[],
    request: ModelRequest,
    asked: Asked,
    { signal, onDelta }: GenerateOptions,
    failures: Map<string, ModelError>,
  ): Promise<Answered | undefined> {
    let hasDelivered = false;
    const watched = (text: string | undefined) => {
      hasDelivered = text !== undefined;
      onDelta?.(text);
    };
    for (const id of ids) {
      const outage = health.outage(id);
      if (outage !== undefined) {
        failures.set(id, leftAlone(id, outage));
        continue;
      }
      if (hasDelivered) watched(undefined);
      try {
        const model = await load(id);
        if (id !== asked.own) checkFits(model, request, asked);
        const response = await model.generate(request, { signal, onDelta: watched });
        health.answered(id);
        const instead = failures.get(asked.own)?.code ?? health.outage(asked.own)?.code;
        return { response, model: id, ...(id !== asked.own && instead && { instead }) };
      } catch (error) {
        if (!(error instanceof ModelError)) throw error;
        health.failed(id, error);
        if (!isMadeUpFor(error, id === asked.own)) throw error;
        failures.set(id, error);
      }
    }
    return undefined;
  }

  function asks({ own, newest, places }: Pick<Asked, "own" | "newest" | "places">): string[] {
    const route = routeOf?.(places);
    if (route !== undefined) return route === NO_MODEL ? [] : [route];
    const ids = [...new Set([newest, own, ...behind(own)])];
    // A run stays with the model that it switched to, so that its own is its last resort.
    if (newest !== own) ids.push(...ids.splice(ids.indexOf(own), 1));
    return ids;
  }

  return {
    asks,
    async generate(request, given, options) {
      const route = routeOf?.(given.places);
      if (route === NO_MODEL)
        throw new BotError("NOT_AVAILABLE", "Nothing from here goes to a model (`model.routes`).");
      const asked = route === undefined ? given : { ...given, own: route, newest: route };
      const { own } = asked;
      const ids = asks(given);
      const outages = new Set(ids.filter((id) => health.outage(id) !== undefined));
      const failures = new Map<string, ModelError>();
      const answer = await askEach(ids, request, asked, options, failures);
      if (answer !== undefined) return answer;
      // Somebody waits: one of those that were left alone before may answer again by now.
      const left = ids.filter((id) => outages.has(id));
      await health.look(left, options.signal);
      const back = left.filter((id) => health.outage(id) === undefined);
      const late = await askEach(back, request, asked, options, failures);
      if (late !== undefined) return late;
      throw noneAnswered(failures, own);
    },
    standing(own) {
      const outages = [own, ...behind(own)].map((id) => ({ id, outage: health.outage(id) }));
      const used = outages.find(({ outage }) => outage === undefined);
      if (used?.id === own) return own;
      const why = outages.flatMap(({ id, outage }) => (outage ? sinceWhen(id, outage) : []));
      return used === undefined
        ? `none answers: ${why.join("; ")}`
        : `${used.id}, because ${why[0]}`;
    },
  };
}

/** What is wrong with a request for one model need not be for another that stands in for it; what a filter withheld stays so. */
const ABOUT_REQUEST: ReadonlySet<ModelErrorCode> = new Set([
  "MODEL_CONTEXT_TOO_LONG",
  "MODEL_REQUEST_INVALID",
  "MODEL_CONTENT_UNSUPPORTED",
]);

function isMadeUpFor({ code }: ModelError, isOwn: boolean): boolean {
  return CONSEQUENCES[code].switches || (!isOwn && ABOUT_REQUEST.has(code));
}

function checkFits(
  model: Model,
  { maxOutputTokens }: ModelRequest,
  { requestTokens }: Asked,
): void {
  const { id, contextWindow } = model;
  if (requestTokens + maxOutputTokens <= contextWindow) return;
  const text = `${id}: not asked: the conversation (about ${requestTokens} tokens, and ${maxOutputTokens} for the response) does not fit into its ${contextWindow} tokens.`;
  throw new ModelError("MODEL_CONTEXT_TOO_LONG", text);
}

function sinceWhen(id: string, { code, since }: Outage): string {
  return `${id} has not answered since ${formatUtc(since)}: ${reasonOf(code)}`;
}

function leftAlone(id: string, outage: Outage): ModelError {
  const text = `${sinceWhen(id, outage)}. I ask it again as soon as it answers a test.`;
  return new ModelError(outage.code, text);
}

/** The code is the run's own model's: what it says of the conversation holds for the next run. */
function noneAnswered(failures: ReadonlyMap<string, ModelError>, own: string): BotError {
  const all = [...failures.values()];
  const first = failures.get(own) ?? all[0];
  if (first === undefined) return new BotError("NOT_AVAILABLE", "No model is configured any more.");
  if (all.length === 1) return first;
  const lines = all.map(({ message }) => `\n- ${message}`).join("");
  const { code, retryAfterMs } = first;
  const text = `None of ${all.length} models answers:${lines}`;
  return new ModelError(code, text, { cause: first, retryAfterMs });
}
