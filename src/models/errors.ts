import { cleanText } from "../security/sanitize.ts";
import { headOf } from "../core/text.ts";
import { BotError, messageOf } from "../core/errors.ts";
import { isRecord, tryJson } from "../core/json.ts";
import { ModelError, type ModelErrorCode as Code } from "./model.ts";

/** Whose request it is: for messages, and for what must never be in one. */
export interface Caller {
  /** The model's id, `<provider>/<name>`. */
  id: string;
  apiKey: string;
  /** The variables that set its key and its address. */
  variables: { key: string; address: string };
  /** It never says how long to wait when it is asked too often: a 429 without a time is no spending limit. */
  throttles?: boolean | undefined;
  signal: AbortSignal;
}

/** What the provider said about a failed request, or that it said nothing. */
interface Report {
  status: number | undefined;
  headers: Headers | undefined;
  kind: string;
  message: string;
}

/** Types and codes that say more than the status; the first match decides. */
const KINDS: readonly (readonly [RegExp, Code])[] = [
  [/context_length|context_window|request_too_large/, "MODEL_CONTEXT_TOO_LONG"],
  [/insufficient_quota|insufficient_balance|billing|spend/, "MODEL_SPEND_CAP"],
  [/content_filter|policy/, "MODEL_FILTERED"],
];

/** Messages with a status 400, 413, 422 or none: providers say these in no other way. */
const MESSAGES: readonly (readonly [RegExp, Code])[] = [
  [
    /prompt is too long|context (?:length|window|size|limit)|input (?:is|are) too long/i,
    "MODEL_CONTEXT_TOO_LONG",
  ],
  [/credit balance|usage limits?\b/i, "MODEL_SPEND_CAP"],
  // Bedrock's words.
  [/model identifier is invalid/i, "MODEL_UNKNOWN"],
  [/content filter|content management policy|usage policy|flagged as/i, "MODEL_FILTERED"],
];

/** Types and codes of errors that come within a stream, where there is no status. */
const KINDS_IN_STREAM: readonly (readonly [RegExp, Code])[] = [
  [/authentication|permission/, "MODEL_AUTH"],
  [/not_found/, "MODEL_UNKNOWN"],
  [/rate_limit|throttling/i, "MODEL_RATE_LIMITED"],
  [/invalid|image|validation/, "MODEL_REQUEST_INVALID"],
];

function matching(rules: readonly (readonly [RegExp, Code])[], text: string): Code | undefined {
  return rules.find(([pattern]) => pattern.test(text))?.[1];
}

const STATUSES: Readonly<Record<number, Code>> = {
  401: "MODEL_AUTH",
  402: "MODEL_SPEND_CAP",
  403: "MODEL_AUTH",
  404: "MODEL_UNKNOWN",
  405: "MODEL_UNKNOWN",
  408: "MODEL_OVERLOADED",
  409: "MODEL_OVERLOADED",
  410: "MODEL_UNKNOWN",
  413: "MODEL_CONTEXT_TOO_LONG",
  425: "MODEL_OVERLOADED",
};

function codeOf(
  { status, kind, message }: Report,
  waitMs: number | undefined,
  throttles: boolean,
): Code {
  const isAboutContent = status === undefined || [400, 413, 422].includes(status);
  const told = matching(KINDS, kind) ?? (isAboutContent ? matching(MESSAGES, message) : undefined);
  if (told !== undefined) return told;
  if (status === undefined) return matching(KINDS_IN_STREAM, kind) ?? "MODEL_OVERLOADED";
  if (status === 429)
    return waitMs === undefined && !throttles ? "MODEL_SPEND_CAP" : "MODEL_RATE_LIMITED";
  if (status >= 500) return "MODEL_OVERLOADED";
  return STATUSES[status] ?? (status < 400 ? "MODEL_UNKNOWN" : "MODEL_REQUEST_INVALID");
}

/** `1s`, `6m0s`, `20ms`, as OpenAI writes durations, in ms. */
function durationMs(text: string): number | undefined {
  const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
  const parts = [...text.matchAll(/([\d.]+)(ms|[smhd])/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== text) return undefined;
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (units[unit ?? ""] ?? 0), 0);
}

/** Reads seconds, a duration or an instant (seconds or ms since 1970, or a date). Returns how long it is until then, in ms. */
function untilMs(text: string | null | undefined, now: number): number | undefined {
  if (text === null || text === undefined || text.trim() === "") return undefined;
  const number = Number(text);
  if (Number.isNaN(number)) {
    const ms = durationMs(text) ?? Date.parse(text) - now;
    return Number.isNaN(ms) ? undefined : Math.max(0, ms);
  }
  if (number > 1e11) return Math.max(0, number - now);
  return Math.max(0, number > 1e9 ? number * 1000 - now : number * 1000);
}

/** A year. Nobody waits longer, and a date may not hold more. */
const MAX_RETRY_AFTER_MS = 365 * 86_400_000;

/**
 * How long the provider asks to wait, in ms: by `retry-after-ms`, `retry-after` (RFC 9110, 10.2.3), else until the
 * used-up limit resets, by `x-ratelimit-reset…` (OpenAI's, and OpenRouter's without a suffix).
 */
function retryAfterMs(headers: Headers | undefined, now = Date.now()): number | undefined {
  if (headers === undefined) return undefined;
  const usedUp = ["requests", "tokens"].filter(
    (unit) => headers.get(`x-ratelimit-remaining-${unit}`) === "0",
  );
  const resets = (usedUp.length > 0 ? usedUp : ["tokens", "requests"]).flatMap(
    (unit) => untilMs(headers.get(`x-ratelimit-reset-${unit}`), now) ?? [],
  );
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN);
  const asked =
    (ms >= 0 ? ms : undefined) ??
    untilMs(headers.get("retry-after"), now) ??
    (usedUp.length > 0 ? resets.toSorted((a, b) => b - a)[0] : resets[0]) ??
    untilMs(headers.get("x-ratelimit-reset"), now);
  return asked === undefined ? undefined : Math.min(asked, MAX_RETRY_AFTER_MS);
}

/** Reads an APIError of either SDK; undefined when it tells of no response (see `client.d.ts`, `core/error.d.ts`). */
function reportOf(error: unknown): Report | undefined {
  if (!isRecord(error) || !("status" in error) || !("headers" in error)) return undefined;
  const headers = error["headers"] instanceof Headers ? error["headers"] : undefined;
  if (error["status"] === undefined && headers === undefined) return undefined;
  const outer = error["error"];
  const body = isRecord(outer) && isRecord(outer["error"]) ? outer["error"] : outer;
  const { code, type, message, metadata } = isRecord(body) ? body : { message: body };
  // OpenRouter tells an error within a stream by the status that it would have had.
  const told = typeof code === "number" && code >= 400 ? code : undefined;
  const status = typeof error["status"] === "number" ? error["status"] : told;
  const fallback = String(error["message"]).replace(/^\d{3} (?:status code \(no body\))?/, "");
  const said = typeof message === "string" ? message : fallback;
  const reason = upstreamReason(metadata);
  return {
    status,
    headers,
    kind: [type, code].filter((word) => typeof word === "string").join(" "),
    message: reason === undefined || reason === said ? said : `${said}: ${reason}`,
  };
}

/** OpenRouter says only "Provider returned error"; `error.metadata.raw` has what that provider said, mostly as JSON. */
function upstreamReason(metadata: unknown): string | undefined {
  const raw = isRecord(metadata) ? metadata["raw"] : undefined;
  const read = typeof raw === "string" ? tryJson(raw) : raw;
  const error = isRecord(read) && isRecord(read["error"]) ? read["error"] : read;
  if (isRecord(error) && typeof error["message"] === "string") return error["message"];
  return typeof raw === "string" && raw.trim() !== "" ? raw : undefined;
}

/** A provider's or system's text as one short line without tags and keys. */
function brief(text: string, { apiKey }: Caller): string {
  const line = cleanText(text)
    .replaceAll(apiKey === "" ? /(?!)/g : apiKey, "[key]")
    .replaceAll(/\bsk-[\w*-]+|\S*\*{3,}\S*/g, "[key]")
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length > 200 ? `${headOf(line, 200).toWellFormed()}…` : line;
}

const NOT_ACCEPTED = [
  "the provider did not accept the request",
  "The model may not support something in it. Choose another model, or report this.",
] as const;

/** What happened and what to do. `KEY` and `ADDRESS` stand for the provider's two settings. */
const SENTENCES: Readonly<Record<Code, readonly [what: string, toDo: string]>> = {
  MODEL_AUTH: ["the provider refused the key", "Check KEY and which models it may use."],
  MODEL_UNKNOWN: [
    "the provider has no such model, or the address is not the provider's",
    "Check the model's name and ADDRESS.",
  ],
  MODEL_RATE_LIMITED: ["the provider's rate limit is used up", "Ask again later."],
  MODEL_SPEND_CAP: [
    "the quota or spending limit at the provider is used up",
    "Raise it or add credit in the provider's console, then ask again.",
  ],
  MODEL_OVERLOADED: [
    "the provider is overloaded or has an error of its own",
    "Ask again in a few minutes, check its status page, or choose another model.",
  ],
  MODEL_CONTEXT_TOO_LONG: [
    "the conversation is longer than the model can take",
    "Continue in a new thread, or choose a model with a larger context window.",
  ],
  MODEL_FILTERED: [
    "the provider's content filter withheld the request or the response",
    "Say it in other words, or choose another model.",
  ],
  MODEL_CONTENT_UNSUPPORTED: NOT_ACCEPTED,
  MODEL_REQUEST_INVALID: NOT_ACCEPTED,
  MODEL_OUTPUT_INVALID: [
    "the model did not answer in the form that was asked for",
    "Ask again, or choose another model.",
  ],
  MODEL_UNREACHABLE: ["I couldn't reach the provider", "Check the network, DNS, TLS and ADDRESS."],
  MODEL_CUT: ["the response ended before it was complete", "I used nothing of it. Ask again."],
};

/** What a failure says, without the provider's own words: `the provider refused the key`. */
export function reasonOf(code: Code): string {
  return SENTENCES[code][0];
}

/** What follows from a failure: for its request, and for those that come after it. */
interface Consequence {
  /** Another configured model is asked instead. */
  switches: boolean;
  /** So many in a row, each after its retries, and the model is left alone until it answers a probe. 0: it says nothing of the model. */
  downAfter: 0 | 1 | 2;
}

const AT_ONCE: Consequence = { switches: true, downAfter: 1 };
const MAY_PASS: Consequence = { switches: true, downAfter: 2 };
const OURS: Consequence = { switches: false, downAfter: 0 };

/**
 * Which failures another model makes up for; docs/model.md gives the reasons. What is no failure of a model's (a Stop, a
 * budget, the run's time) is not here: it never does.
 */
export const CONSEQUENCES: Readonly<Record<Code, Consequence>> = {
  // Nothing but a person changes these.
  MODEL_AUTH: AT_ONCE,
  MODEL_UNKNOWN: AT_ONCE,
  MODEL_SPEND_CAP: AT_ONCE,
  // The provider has said to stay away.
  MODEL_RATE_LIMITED: AT_ONCE,
  // One may be chance.
  MODEL_OVERLOADED: MAY_PASS,
  MODEL_UNREACHABLE: MAY_PASS,
  MODEL_CUT: MAY_PASS,
  // It is about what was sent: the model is well, and who is asked next would get the same.
  MODEL_CONTEXT_TOO_LONG: OURS,
  MODEL_REQUEST_INVALID: OURS,
  MODEL_CONTENT_UNSUPPORTED: OURS,
  MODEL_OUTPUT_INVALID: OURS,
  // Nobody looks for a model that withholds less.
  MODEL_FILTERED: OURS,
};

function modelError(
  code: Code,
  said: string,
  caller: Caller,
  options: { cause?: unknown; retryAfterMs?: number | undefined },
): ModelError {
  const { key, address } = caller.variables;
  const [what, told] = SENTENCES[code];
  const toDo = told.replace("KEY", key).replace("ADDRESS", address);
  const detail = brief(said, caller);
  const message = `${caller.id}: ${what}${detail === "" ? "" : ` (${detail})`}. ${toDo}`;
  return new ModelError(code, message, options);
}

/** The innermost cause that says what happened to the connection, such as `ECONNREFUSED`. */
function connectionTrouble(error: unknown): string {
  let trouble = messageOf(error);
  for (let at = error; at instanceof Error; at = at.cause) {
    trouble = "code" in at && typeof at.code === "string" ? at.code : at.message;
  }
  return trouble;
}

function ownErrorIn(error: unknown): BotError | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof BotError) return at;
  return undefined;
}

/** A failure that the provider's client code found, such as a stream without an end. */
export function failure(code: Code, said: string, caller: Caller): ModelError {
  return modelError(code, said, caller, {});
}

/** An error that the provider sent as part of its response, as either SDK would throw it. */
export function failureInStream(body: unknown, caller: Caller): BotError {
  return failureOf(
    Object.assign(new Error(""), { status: undefined, headers: new Headers(), error: body }),
    caller,
  );
}

/**
 * The one place that gives a code to what the SDKs throw. A 429 without a time to wait means a spending limit; an error
 * without a status while reading a response means that the response was cut.
 */
export function failureOf(error: unknown, caller: Caller): BotError {
  if (caller.signal.aborted) {
    return new BotError("ABORTED", `${caller.id}: the request was stopped.`, { cause: error });
  }
  const own = ownErrorIn(error);
  if (own?.code === "CONNECTION_FAILED")
    return modelError("MODEL_UNREACHABLE", own.message, caller, { cause: own });
  if (own !== undefined) return own;
  const report = reportOf(error);
  if (report !== undefined) {
    const waitMs = retryAfterMs(report.headers);
    const code = codeOf(report, waitMs, caller.throttles === true);
    const told = report.status === undefined ? [] : [`HTTP ${report.status}`];
    const said = [...told, report.message].filter((part) => part !== "").join(": ");
    return modelError(code, said, caller, {
      cause: error,
      ...(["MODEL_RATE_LIMITED", "MODEL_OVERLOADED"].includes(code) && { retryAfterMs: waitMs }),
    });
  }
  const neverBegan = isRecord(error) && "status" in error;
  const code = neverBegan ? "MODEL_UNREACHABLE" : "MODEL_CUT";
  return modelError(code, connectionTrouble(error), caller, { cause: error });
}
