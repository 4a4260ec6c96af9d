import type { JsonObject } from "../core/entry.ts";
import { BotError, isBotError, messageOf } from "../core/errors.ts";
import type { Gap } from "../core/finding.ts";
import { formatElapsed, formatUtc } from "../core/instant.ts";
import { isRecord, recordsOf, textOf, tryParse } from "./decode.ts";
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

  /** @throws Refusal, BotError CONNECTION_FAILED, TIMEOUT, ABORTED */
  async function read(url: string): Promise<{ body: unknown; response: HttpResponse }> {
    const response = await ask(url);
    const { status, text, isWhole } = response;
    if (status >= 500) throw new BotError("CONNECTION_FAILED", answered(terms, response));
    if (status !== 200) throw refusalOf(terms, url, response);
    const body = isWhole ? tryParse(text) : undefined;
    if (body !== undefined) return { body, response };
    throw misread(who, isWhole);
  }

  return {
    /** @throws as `read` */
    async get(path: string, params: Params = {}): Promise<unknown> {
      return (await read(withQuery(path, params))).body;
    },

    /** The object at the path; undefined: there is none. @throws as `read` */
    async find(path: string): Promise<Record<string, unknown> | undefined> {
      const response = await ask(path);
      if (response.status === 404) return undefined;
      if (response.status >= 500)
        throw new BotError("CONNECTION_FAILED", answered(terms, response));
      if (response.status !== 200) throw refusalOf(terms, path, response);
      const body = tryParse(response.text);
      if (isRecord(body)) return body;
      throw misread(who, response.isWhole);
    },

    /**
     * A list, page by page as its Link header says, until `isEnough` of a page's items or `max` of all.
     * @throws as `read`
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
      let next: string | undefined = withQuery(path, params);
      while (next !== undefined) {
        const { body, response } = await read(next);
        const page = recordsOf(key !== undefined && isRecord(body) ? body[key] : body);
        // A page may hold more than was asked for, hundreds of thousands.
        const taken = page.slice(0, max - items.length);
        items.push(...taken);
        if (taken.length < page.length) return { items, isWhole: false };
        next = nextPage(response);
        if (page.length === 0 || isEnough(page)) break;
        if (items.length === max && next !== undefined) return { items, isWhole: false };
      }
      return { items, isWhole: true };
    },

    /** A text such as a log, from wherever it redirects to. @throws as `read` */
    async text(path: string, maxBytes: number): Promise<{ text: string; isWhole: boolean }> {
      const response = await ask(path, { maxBytes, timeoutMs: 2 * TIMEOUT_MS });
      const { status, text, isWhole, stuck } = response;
      if (status === 200) return { text, isWhole };
      if (stuck !== undefined) throw new Refusal(`${who} ${stuck.replace(/^it /, "")}`);
      throw refusalOf(terms, path, response);
    },
  };
}

function misread(who: string, isWhole: boolean): Refusal {
  const why = isWhole
    ? "in a form that it does not have"
    : "with more than is read of one answer; ask for less";
  return new Refusal(`${who} answered ${why}.`);
}

function createWrites(ctx: ToolContext, terms: Terms) {
  const { endpoint, headers } = terms;
  return {
    /** The answer's body, if it has one. Only what was refused surely did not happen. @throws as `read` */
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
      if (status >= 400 && status < 500) throw refusalOf(terms, path, response);
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

/** The address of the next page, as RFC 8288 has it. Sentry names one always, and says whether there is something on it. */
function nextPage({ headers: { link } }: HttpResponse): string | undefined {
  for (const part of String(link ?? "").split(/,\s*(?=<)/)) {
    const [, url] = /^<([^>]+)>.*;\s*rel="next"/.exec(part) ?? [];
    if (url !== undefined && !part.includes('results="false"')) return url;
  }
  return undefined;
}

function refusalOf({ who, help, encoder }: Terms, path: string, response: HttpResponse): Refusal {
  const { status } = response;
  const place = path.replace(/[?#].*$/s, "");
  const again = limitOf(response, Date.now());
  if (again !== undefined) {
    const why = `${who} takes no more requests until ${again}`;
    return new Refusal(`${why}.`, { what: place, why, help: "Ask again then, or for less." });
  }
  const words = said(response, encoder);
  const why = `${who} refused with ${status}${words === "" ? "" : `: ${words}`}`;
  if (status !== 401 && status !== 403 && status !== 404) return new Refusal(`${why}.`);
  return new Refusal(`${why}.`, { what: place, why, help: help(status, place) });
}

/** Of one GitHub error, one of PagerDuty's, GitLab's and Sentry's. */
function said({ text, stuck }: HttpResponse, encoder: Encoder): string {
  const body = tryParse(text);
  const inner = isRecord(body) && isRecord(body["error"]) ? body["error"] : body;
  const { message, error, errors, detail } = isRecord(inner) ? inner : {};
  const first = [message, error, detail].find((each) => typeof each === "string" && each !== "");
  const details = Array.isArray(errors)
    ? errors.map((each: unknown) => (isRecord(each) ? textOf(each["message"]) : textOf(each)))
    : [];
  const nested = isRecord(message) || Array.isArray(message) ? JSON.stringify(message) : "";
  const words = isRecord(body)
    ? [textOf(first) || nested, ...details].filter(Boolean).join("; ")
    : text.trimStart().startsWith("<")
      ? ""
      : text;
  return clip(words || (stuck ?? ""), MAX_SAID, encoder).replace(/\.$/, "");
}

/** When it takes requests again, if it says that there were too many. */
function limitOf({ status, headers }: HttpResponse, now: number): string | undefined {
  const number = (name: string) => Number(headers[name] ?? Number.NaN);
  const isUsedUp = number("x-ratelimit-remaining") === 0;
  if (status !== 429 && !(status === 403 && (isUsedUp || !Number.isNaN(number("retry-after")))))
    return undefined;
  const seconds = number("retry-after");
  const reset = ["x-ratelimit-reset", "ratelimit-reset", "x-sentry-rate-limit-reset"]
    .map(number)
    .find((each) => !Number.isNaN(each));
  // Some give the time, others how long it is until then.
  const at = !Number.isNaN(seconds)
    ? now + seconds * 1_000
    : reset === undefined
      ? now + 60_000
      : reset > 1e9
        ? reset * 1_000
        : now + reset * 1_000;
  const left = Math.min(MAX_WAIT_MS, Math.max(1_000, Math.ceil((at - now) / 1_000) * 1_000));
  return `${formatUtc(now + left, "second")} (in ${formatElapsed(left)})`;
}
