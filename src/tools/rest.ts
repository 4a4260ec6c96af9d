import type { JsonObject } from "../core/entry.ts";
import { BotError, isBotError, messageOf } from "../core/errors.ts";
import type { Gap } from "../core/finding.ts";
import { formatElapsed, formatUtc } from "../core/instant.ts";
import { isRecord, recordsOf, tryParse } from "./decode.ts";
import { clip } from "./labels.ts";
import type { HttpResponse } from "./http.ts";
import { Refusal } from "./refusal.ts";
import type { Encoder } from "../security/encoder.ts";
import type { ToolContext } from "./tool.ts";

/** A service's JSON API: what it refuses is a refusal, what may have happened is told apart from what did not. */

export type Params = Readonly<Record<string, string | number | readonly string[] | undefined>>;

interface RestTerms {
  /** As results call it, such as `GitHub`. */
  who: string;
  /** Among the tool's endpoints. */
  endpoint: string;
  headers?: Readonly<Record<string, string>>;
  /** What a refusal's status calls for, such as a scope of the token. */
  help(status: number, path: string): string;
}

/** How much of one answer is read. */
const MAX_BYTES = 4 * 1024 * 1024;
const TIMEOUT_MS = 15_000;
const MAX_SAID = 300;
/** A server may name a next page for ever. */
const MAX_PAGES = 20;
/** A limit that lasts longer is told as this long. */
const MAX_WAIT_MS = 365 * 24 * 3_600_000;

export type Rest = ReturnType<typeof createRest>;

export function createRest(ctx: ToolContext, about: RestTerms) {
  const terms = { ...about, encoder: ctx.encoder };
  return { ...createReads(ctx, terms), ...createWrites(ctx, terms) };
}

type Terms = RestTerms & { encoder: Encoder };

function createReads(ctx: ToolContext, terms: Terms) {
  const { who, endpoint, headers } = terms;
  const ask = (url: string, limits = { maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS }) =>
    ctx.http({ endpoint, url, ...limits, ...(headers && { headers }) });

  /** What it answered. @throws Refusal, BotError CONNECTION_FAILED */
  function bodyOf(url: string, response: HttpResponse): unknown {
    const { status, text, isWhole } = response;
    if (status >= 500) throw new BotError("CONNECTION_FAILED", answered(terms, response));
    if (status !== 200) throw refusalOf(terms, url, response);
    const body = isWhole ? tryParse(text) : undefined;
    if (body !== undefined) return body;
    throw misread(terms, response);
  }

  /** @throws Refusal, BotError CONNECTION_FAILED, TIMEOUT, ABORTED */
  async function readPage(url: string, key: string | undefined) {
    const response = await ask(url);
    const body = bodyOf(url, response);
    const list = key === undefined || !isRecord(body) ? body : body[key];
    if (!Array.isArray(list)) throw misread(terms, response);
    const found = recordsOf(list);
    return { found, next: nextPage(url, found.length, body, response) };
  }

  return {
    /** A list that comes whole, or one page of it; `key`: the field of the answer that holds it. @throws as `readPage` */
    async list(
      path: string,
      params: Params = {},
      key?: string,
    ): Promise<Record<string, unknown>[]> {
      return (await readPage(withQuery(path, params), key)).found;
    },

    /**
     * The object at the path; undefined: there is none. `key`: the field of the answer that holds it.
     * @throws as `readPage`
     */
    async find(path: string, key?: string): Promise<Record<string, unknown> | undefined> {
      const response = await ask(path);
      if (response.status === 404) return undefined;
      const body = bodyOf(path, response);
      const found = key === undefined || !isRecord(body) ? body : body[key];
      if (isRecord(found)) return found;
      throw misread(terms, response);
    },

    /**
     * A list, page by page, until `isEnough` of a page's items or `max` of all.
     * @throws as `readPage`
     */
    async pages(
      path: string,
      params: Params,
      options: {
        max: number;
        key?: string;
        isEnough?: (page: Record<string, unknown>[]) => boolean;
      },
    ): Promise<{ items: Record<string, unknown>[]; isWhole: boolean }> {
      const { max, key, isEnough = () => false } = options;
      const items: Record<string, unknown>[] = [];
      let url = withQuery(path, params);
      for (let count = 1; ; count++) {
        const { found, next } = await readPage(url, key);
        // A page may hold more than was asked for, hundreds of thousands.
        const taken = found.slice(0, max - items.length);
        items.push(...taken);
        if (taken.length < found.length) return { items, isWhole: false };
        if (next === undefined || found.length === 0 || isEnough(found))
          return { items, isWhole: true };
        if (items.length === max || count === MAX_PAGES || next === url)
          return { items, isWhole: false };
        url = next;
      }
    },

    /** A text such as a log, from wherever it redirects to. @throws as `readPage` */
    async text(path: string, maxBytes: number): Promise<{ text: string; isWhole: boolean }> {
      const response = await ask(path, { maxBytes, timeoutMs: 2 * TIMEOUT_MS });
      const { status, text, bytes, isWhole, stuck } = response;
      // What keeps logs may call them anything; what is packed is no text.
      if (status === 200 && bytes.includes(0)) throw new Refusal(`${who} answered with no text.`);
      if (status === 200) return { text: text || new TextDecoder().decode(bytes), isWhole };
      if (stuck !== undefined) throw new Refusal(`${who} ${stuck.replace(/^it /, "")}`);
      throw refusalOf(terms, path, response);
    },
  };
}

/** A status that says it is well, with something else than what was asked for. */
function misread({ who, encoder }: Terms, response: HttpResponse): Refusal {
  const words = response.isWhole ? said(response, encoder) : "";
  const why = response.isWhole
    ? `in a form that it does not have${words === "" ? "" : `: ${words}`}`
    : "with more than is read of one answer; ask for less";
  return new Refusal(`${who} answered ${why}.`);
}

function createWrites(ctx: ToolContext, terms: Terms) {
  const { endpoint, headers } = terms;
  return {
    /** The answer's body, if it has one. Only what was refused surely did not happen. @throws as `readPage` */
    async write(
      method: "POST" | "PUT" | "PATCH" | "DELETE",
      path: string,
      json: JsonObject = {},
      more: Readonly<Record<string, string>> = {},
    ): Promise<unknown> {
      const response = await ctx.http({
        endpoint,
        url: path,
        method,
        ...(method !== "DELETE" && { json }),
        maxBytes: MAX_BYTES,
        timeoutMs: TIMEOUT_MS,
        headers: { ...headers, ...more },
      });
      const { status, text } = response;
      if (status >= 200 && status < 300) return tryParse(text);
      if (status >= 300 && status < 500) throw refusalOf(terms, path, response);
      throw new BotError("ABORTED", answered(terms, response));
    },
  };
}

function answered({ who, encoder }: Terms, response: HttpResponse): string {
  return `${[`${who} answered ${response.status}`, said(response, encoder)].filter(Boolean).join(": ")}.`;
}

/** What the reads give; what one of them is refused is a gap, and the others are told. */
export async function readOr<T>(
  ctx: ToolContext,
  what: string,
  read: () => Promise<T>,
): Promise<{ value: T } | { gap: Gap }> {
  try {
    return { value: await read() };
  } catch (error) {
    if (ctx.signal.aborted || !(error instanceof BotError)) throw error;
    const gap = error instanceof Refusal ? error.gap : undefined;
    const why = (gap?.why ?? messageOf(error)).replace(/\.$/, "");
    const isSlow = isBotError(error, "TIMEOUT") || isBotError(error, "CONNECTION_FAILED");
    const help = gap?.help ?? (isSlow ? "Ask again." : "");
    return { gap: { what, why, help } };
  }
}

export function withQuery(path: string, params: Params): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const each of [value].flat()) if (each !== undefined) query.append(name, String(each));
  }
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

/**
 * The address of the next page: as RFC 8288's Link header has it, or PagerDuty's `more`. Only its query is taken, since a server
 * behind a proxy, or one with regions, names itself by another address. Sentry names a next page always, and says whether there is
 * something on it.
 */
function nextPage(
  url: string,
  found: number,
  body: unknown,
  { headers: { link } }: HttpResponse,
): string | undefined {
  const [path = "", query = ""] = url.split("?");
  if (isRecord(body) && body["more"] === true) {
    const params = new URLSearchParams(query);
    params.set("offset", String(Number(params.get("offset") ?? 0) + found));
    return `${path}?${params.toString()}`;
  }
  for (const part of String(link ?? "").split(/,\s*(?=<)/)) {
    const [, next] = /^<([^>]+)>.*;\s*rel="?next"?/.exec(part) ?? [];
    if (next === undefined || part.includes('results="false"')) continue;
    return `${path}${URL.parse(next, "http://localhost")?.search ?? ""}`;
  }
  return undefined;
}

function refusalOf({ who, help, encoder }: Terms, path: string, response: HttpResponse): Refusal {
  const { status } = response;
  const place = path.replace(/[?#].*$/s, "");
  const limit = limitOf(response, Date.now());
  if (limit !== undefined) {
    const why = `${who} takes no more requests until ${limit.until}`;
    const gap = { what: place, why, help: "Ask again then, or for less." };
    return new Refusal(`${why}.`, gap, limit.waitMs);
  }
  const words = said(response, encoder);
  const why = `${who} refused with ${status}${words === "" ? "" : `: ${words}`}`;
  if (status !== 401 && status !== 403 && status !== 404) return new Refusal(`${why}.`);
  return new Refusal(`${why}.`, { what: place, why, help: help(status, place) });
}

function said({ text, stuck }: HttpResponse, encoder: Encoder): string {
  const body = tryParse(text);
  const isPage = text.trimStart().startsWith("<");
  const words = body === undefined ? [isPage ? "" : text] : wordsOf(body);
  const all = [...new Set(words)].join("; ");
  return clip(all || (stuck ?? ""), MAX_SAID, encoder).replace(/\.$/, "");
}

/** Where services put the words of an error: GitHub, GitLab, PagerDuty, Sentry, and Grafana for each query. */
const WORDS = ["message", "error", "error_description", "detail", "errors", "results"];
const MAX_DEPTH = 5;
const MAX_WORDS = 5;

function wordsOf(value: unknown, depth = 0): string[] {
  if (typeof value === "string") return value === "" ? [] : [value];
  if (depth === MAX_DEPTH) return [];
  const inner = (each: unknown) => wordsOf(each, depth + 1);
  if (Array.isArray(value)) return value.slice(0, MAX_WORDS).flatMap(inner);
  if (!isRecord(value)) return [];
  const words = WORDS.flatMap((key) => inner(value[key]));
  if (words.length > 0 || depth === 0) return words;
  // What is wrong with a field, such as `{ "base": ["is taken"] }`.
  const fields = Object.entries(value).slice(0, MAX_WORDS);
  return fields.flatMap(([key, each]) => inner(each).map((word) => `${key}: ${word}`));
}

/** GitHub says so by its words alone at times. */
const LIMITED = /\brate limit\b/i;

/** When it takes requests again, if it says that there were too many. */
function limitOf(
  { status, headers, text }: HttpResponse,
  now: number,
): { until: string; waitMs: number } | undefined {
  const number = (name: string) => Number(headers[name] ?? Number.NaN);
  const after = headers["retry-after"];
  const left = number("x-ratelimit-remaining");
  const isLimit = left === 0 || after !== undefined || LIMITED.test(text.slice(0, MAX_SAID));
  if (status !== 429 && !(status === 403 && isLimit)) return undefined;
  const reset = ["x-ratelimit-reset", "ratelimit-reset", "x-sentry-rate-limit-reset"]
    .map(number)
    .find((each) => !Number.isNaN(each));
  const seconds = number("retry-after");
  // Some give the time, others how long it is until then. One that has requests left counts something else.
  const at = [
    now + seconds * 1_000,
    Date.parse(after ?? ""),
    left > 0 || reset === undefined
      ? Number.NaN
      : reset > 1e9
        ? reset * 1_000
        : now + reset * 1_000,
  ].find((each) => !Number.isNaN(each));
  const ms = (at ?? now + 60_000) - now;
  const wait = Math.min(MAX_WAIT_MS, Math.max(1_000, Math.ceil(ms / 1_000) * 1_000));
  const until = `${formatUtc(now + wait, "second")} (in ${formatElapsed(wait)})`;
  return { until, waitMs: wait };
}
