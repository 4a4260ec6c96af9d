import { hash } from "node:crypto";
import type { Logger } from "pino";
import * as z from "zod";
import { createBearerCheck } from "../core/bearer.ts";
import { isBotError, messageOf } from "../core/errors.ts";
import { showDuration } from "../core/instant.ts";
import type { HttpReply, HttpRequest, HttpRoute } from "../core/http-route.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { isJson, MAX_DEPTH, tryJson } from "../core/json.ts";
import { issueText, mistakeText, pathText } from "../core/zod-issues.ts";
import type { Journal } from "../journal/journal.ts";
import { type Alert, chunked, MAX_IN_ENTRY, type Notification } from "./alert.ts";
import { ALERTS, alertsKey } from "./handler.ts";
import { createKeeper, type Piece } from "./keeper.ts";
import type { Maintenance } from "./maintenance.ts";
import { type AlertRoute, routed } from "./routes.ts";
import { alertFields } from "./shown.ts";
import type { Signed } from "./signatures.ts";
import { byWindow } from "./windows.ts";

/** Requests of monitoring systems, each answered with 202 once it is kept. `docs/alerts.md` lists what each status means. */

/** A system that sends alerts; ours read at once, a mapping takes a moment. */
export interface SentBy {
  readonly name: string;
  /** @throws z.ZodError or BotError INPUT_INVALID for what is no request of this system's */
  read(body: unknown): Notification | Promise<Notification>;
}

interface WebhookParts {
  sources: readonly SentBy[];
  /** What a request carries that its source did not sign; undefined: each must be signed. */
  token: string | undefined;
  /** Of the systems that sign what they send: what this one's signature shows; undefined: nothing. @throws BotError while that cannot be known */
  signed: ReadonlyMap<string, (request: HttpRequest) => Promise<Signed | undefined>>;
  routes: readonly AlertRoute[];
  /** Is told of what was no alert though it came with the token or a signature. */
  refused?(source: string, why: string, body: string): void;
  /** Whether an alert is foreseen. Default: none is. */
  maintenance?: Maintenance;
  journal: Pick<Journal, "post" | "flush">;
  wake(key: JournalKey): void;
  log: Logger;
  /** Ms since 1970. */
  now?(): number;
}

/** The same words with the token within that time are one request that was sent again. */
const AGAIN_MS = 5 * 60_000;
/**
 * What was signed longer ago was taken down by somebody and sent again: Amazon tries for an hour at most, PagerDuty for less. What
 * was taken once counts once for as long as its journal is kept, so this bounds only what never arrived.
 */
const MAX_SIGNED_AGE_MS = 3 * 3_600_000;
/** So much may the clocks of both sides differ. */
const MAX_AHEAD_MS = 15 * 60_000;
/** As many requests are worked on at once; who sends more is asked to wait. */
const MAX_AT_ONCE = 64;
/** Of a request by the token; of others the server's own, as anybody may send them. */
const MAX_BYTES = 4 * 1024 * 1024;
const WAIT: HttpReply = { status: 503, headers: { "retry-after": "5" }, text: "Try again soon.\n" };

const UNKNOWN: HttpReply = {
  status: 401,
  headers: { "www-authenticate": "Bearer" },
  text: "The bearer token or the signature is missing or wrong.\n",
};

/** One for each source that can show that a request is its own. */
export function createAlertRoutes(parts: WebhookParts): HttpRoute[] {
  const { log, token, signed } = parts;
  let underway = 0;
  const hasToken = createBearerCheck(token);
  const intake = { ...parts, kept: createKeeper(parts), hasToken };
  const served = parts.sources.filter(({ name }) => token !== undefined || signed.has(name));
  const names = served.map(({ name }) => name);
  const all = served.map((source): HttpRoute => ({
    method: "POST",
    path: `/alerts/${source.name}`,
    ...(!signed.has(source.name) && {
      maxBytes: MAX_BYTES,
      refuse: (headers: HttpRequest["headers"]) => (hasToken(headers) ? undefined : UNKNOWN),
    }),
    async handle(request) {
      const proof = await proofOf(intake, source.name, request);
      if ("status" in proof) return proof;
      // Only here: what proves nothing takes no place of others.
      if (underway >= MAX_AT_ONCE) return WAIT;
      underway += 1;
      try {
        return await take(intake, source, request, proof);
      } finally {
        underway -= 1;
      }
    },
    tooLong: "Send fewer alerts in one request; Alertmanager's max_alerts limits them.",
    onCut: (why) => log.warn({ source: source.name }, `A request of alerts was refused: ${why}`),
  }));
  return all.length === 0 ? [] : [...all, elsewhere(names, hasToken)];
}

/**
 * What sends to a source that is not there. Names of sources say what a team runs: only who has the token is told them, and
 * nobody else can find out by asking, as all get the same 401.
 */
function elsewhere(
  names: readonly string[],
  hasToken: (headers: HttpRequest["headers"]) => boolean,
): HttpRoute {
  const text = `There is no such source of alerts. There are ${names.join(", ")}; others need a mapping in alerts.sources.\n`;
  const reply = (headers: HttpRequest["headers"]): HttpReply =>
    hasToken(headers) ? { status: 404, text } : UNKNOWN;
  return {
    method: "POST",
    path: "/alerts/*",
    refuse: reply,
    handle: async ({ headers }) => reply(headers),
  };
}

interface Intake extends Omit<WebhookParts, "journal" | "wake" | "token"> {
  /** Keeps what a request says, or finds that it is kept. @throws as `postDurably` */
  kept(piece: Piece): Promise<"now" | "before">;
  hasToken(headers: HttpRequest["headers"]): boolean;
}

/** By what a request is taken: its own signature, which anybody who saw it can send again, or the token. */
type Proof = { readonly signed: Signed | undefined };

/** Why a request is taken, or the answer to one that is not. */
async function proofOf(
  { hasToken, signed, log, now = Date.now }: Intake,
  source: string,
  request: HttpRequest,
): Promise<Proof | HttpReply> {
  if (hasToken(request.headers)) return { signed: undefined };
  try {
    const found = await signed.get(source)?.(request);
    if (found === undefined) return UNKNOWN;
    const age = now() - (found.at ?? now());
    if (age <= MAX_SIGNED_AGE_MS && age >= -MAX_AHEAD_MS) return { signed: found };
    const why =
      age < 0
        ? `It was signed ${showDuration(-age)} from now: set the clocks of both sides right.`
        : `It was signed ${showDuration(age)} ago: what is older than ${showDuration(MAX_SIGNED_AGE_MS)} is not taken.`;
    log.warn({ source }, `A request of alerts was refused: ${why}`);
    return { status: 400, text: `${why}\n` };
  } catch (error) {
    return tryAgain(log, source, error);
  }
}

async function take(
  parts: Intake,
  source: SentBy,
  request: HttpRequest,
  { signed }: Proof,
): Promise<HttpReply> {
  const { name } = source;
  const refuse = (why: string): HttpReply => {
    parts.log.warn({ source: name }, `A request of alerts could not be read: ${why}`);
    parts.refused?.(name, why, request.body);
    return { status: 400, text: `${why}\n` };
  };
  try {
    const read = await readRequest(source, request.body);
    if (typeof read === "string") return refuse(read);
    await signed?.settle?.();
    return await keep(parts, name, read, { body: request.body, once: signed !== undefined });
  } catch (error) {
    // Sent again it would be refused again.
    if (isBotError(error, "ENTRY_INVALID"))
      return refuse(`These alerts cannot be kept: ${error.message}`);
    return tryAgain(parts.log, name, error);
  }
}

/** @throws what is no failure that passes */
function tryAgain(log: Logger, source: string, error: unknown): HttpReply {
  if (!isBotError(error)) throw error;
  log.warn({ source }, `Alerts could not be taken: ${messageOf(error)}`);
  return WAIT;
}

/** A label that no object of ours may have is left out: it is no reason to lose the other alerts of its request. */
function withoutProto(body: string): unknown {
  try {
    const value: unknown = JSON.parse(body, (key, inner: unknown) =>
      key === "__proto__" ? undefined : inner,
    );
    return isJson(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What it says, or why it says nothing. */
async function readRequest(source: SentBy, body: string): Promise<Notification | string> {
  const said = tryJson(body) ?? withoutProto(body);
  if (said === undefined) return `The body is not JSON, or nests deeper than ${MAX_DEPTH}.`;
  try {
    return await source.read(said);
  } catch (error) {
    if (isBotError(error, "INPUT_INVALID")) return error.message;
    if (!(error instanceof z.ZodError)) throw error;
    const [issue] = error.issues;
    const what = issue && mistakeText(pathText(issue.path) || "the body", issueText(issue, false));
    return `This is no request of ${source.name}'s: ${what}.`;
  }
}

async function keep(
  { kept, ...parts }: Intake,
  source: string,
  { id, alerts, left }: Notification,
  { body, once }: { body: string; once: boolean },
): Promise<HttpReply> {
  const { routes, maintenance, log, now = Date.now } = parts;
  const { routed: found, stray } = routed(routes, source, alerts);
  const again = once ? "" : `:${Math.floor(now() / AGAIN_MS)}`;
  const name = id ?? `${hashOf(body)}${again}`;
  const said = found.flatMap(({ route, alerts: its }) =>
    byWindow(its, (alert) => maintenance?.(source, alert, now())).flatMap(({ quiet, some }) =>
      chunked(some, MAX_IN_ENTRY).map((chunk) => ({ route, quiet, chunk })),
    ),
  );
  const all = await Promise.all(
    said.map(async ({ route, quiet, chunk }) => {
      const { rule, triage, mention, channel } = route;
      return kept({
        key: alertsKey(channel),
        // Sent again it may be parted otherwise, as a window began meanwhile; a system that signs tells of one alert at a time.
        request: hashOf(source, name, once ? undefined : quiet?.window, ...chunk.map(idOf)),
        once,
        alerts: chunk.map(alertFields),
        terms: {
          source,
          ...(left !== undefined && { left }),
          rule: { groupBy: [...rule.groupBy], windowMs: rule.windowMs },
          ...(triage && { triage: true as const }),
          ...(mention.length > 0 && { mention: [...mention] }),
          ...(quiet !== undefined && { quiet }),
          ...(route.investigate === true && {
            investigate: { account: `${ALERTS}:${source}`, name: source },
          }),
        },
      });
    }),
  );
  if (stray.length > 0)
    log.warn(
      { source, alerts: stray.length, first: stray[0]?.name },
      "no route takes these alerts",
    );
  const unrouted = stray.length;
  if (once && all.length > 0 && all.every((each) => each === "before"))
    return { status: 200, json: { kept: 0, unrouted, note: TAKEN_BEFORE } };
  return { status: 202, json: { kept: alerts.length - unrouted, unrouted } };
}

const TAKEN_BEFORE = "This request was taken before; it counts once.";

const idOf = ({ fingerprint, status }: Alert) => `${status} ${fingerprint}`;

function hashOf(...texts: readonly (string | undefined)[]): string {
  const all = texts.map((text) => `${text ?? ""}\n`).join("");
  return hash("sha256", all, "base64url").slice(0, 22);
}
