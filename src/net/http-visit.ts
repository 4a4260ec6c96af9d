import { BotError, isBotError, messageOf } from "../core/errors.ts";
import { printable } from "./format.ts";
import { exchange, type Exchange, type OutgoingRequest, type HttpTerms } from "./http-exchange.ts";
import { shownUrl, urlProblem } from "./http-url.ts";

/** A request, and where its redirects may lead. */
export interface VisitRequest extends OutgoingRequest {
  /** False: a redirect with this status is where the visit ends. */
  follows(status: number): boolean;
  /** Why the visit may not go on to this URL, as a sentence, or undefined. Asked of every redirect. */
  permit(next: URL): Promise<string | undefined>;
}

export interface Visit {
  /** One per request, at least one. */
  hops: Exchange[];
  /** Why the last redirect was not followed, though it should have been. */
  stuck: string | undefined;
}

/** Enough for http → https → www → login; what needs more is a loop or a mistake. */
const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Requests a URL and follows its redirects, with the same method. Each hop is permitted and dialed for itself, so policy and
 * the network rules hold for each. What the request's own headers say is told to its own origin only, and TLS terms hold for no other.
 * @throws BotError ADDRESS_REFUSED, telling which redirect led there; INPUT_INVALID, ABORTED
 */
export async function visit(request: VisitRequest, terms: HttpTerms): Promise<Visit> {
  const hops: Exchange[] = [];
  let { headers } = request;
  let { tls } = terms;
  let url = new URL(request.url);
  url.hash = "";
  for (;;) {
    try {
      hops.push(await exchange({ ...request, url, headers }, { ...terms, tls }));
    } catch (error) {
      throw withRedirect(error, hops.at(-1)?.url, url);
    }
    const answer = hops.at(-1)?.answer;
    const isRedirect = answer !== undefined && REDIRECTS.has(answer.status);
    if (!isRedirect || !request.follows(answer.status)) return { hops, stuck: undefined };
    const next = nextUrl(answer.headers.location, url, hops);
    if (typeof next === "string") return { hops, stuck: next };
    const refusal = await request.permit(next);
    if (refusal !== undefined) {
      const stuck = `it redirects to ${shownUrl(next)}, which was not requested. ${refusal}`;
      return { hops, stuck };
    }
    if (next.origin !== url.origin) {
      headers = undefined;
      tls = undefined;
    }
    url = next;
  }
}

/** Where a redirect leads, or why it cannot be followed. */
function nextUrl(location: string | undefined, from: URL, hops: readonly Exchange[]): URL | string {
  if (location === undefined) return "it redirects without saying where to";
  const next = URL.parse(location, from.href);
  const to = printable(location, 200);
  const problem = next === null ? "is not an address" : urlProblem(next.href);
  if (next === null || problem !== undefined) return `it redirects to ${to}, which ${problem}`;
  next.hash = "";
  if (hops.some((hop) => hop.url.href === next.href)) {
    return `it redirects in a circle, back to ${to} (cookies are not kept)`;
  }
  return hops.length > MAX_REDIRECTS ? `it redirects more than ${MAX_REDIRECTS} times` : next;
}

function withRedirect(error: unknown, from: URL | undefined, to: URL): unknown {
  if (from === undefined || !isBotError(error, "ADDRESS_REFUSED")) return error;
  const redirect = `${shownUrl(from)} redirects to ${shownUrl(to)}, which was not connected to`;
  return new BotError(error.code, `${redirect}: ${messageOf(error)}`, { cause: error });
}
