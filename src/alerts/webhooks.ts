import { createHash, timingSafeEqual } from "node:crypto";
import type { Logger } from "pino";
import * as z from "zod";
import { isBotError, messageOf } from "../core/errors.ts";
import type { HttpReply, HttpRequest, HttpRoute } from "../core/http-route.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { tryJson } from "../core/json.ts";
import { issueText, mistakeText, pathText } from "../core/zod-issues.ts";
import type { Journal } from "../journal/journal.ts";
import { type Alert, chunked, type Notification } from "./alert.ts";
import { ALERTS, alertsKey } from "./handler.ts";
import { createKeeper, type Piece } from "./keeper.ts";
import type { Maintenance } from "./maintenance.ts";
import { type AlertRoute, routed } from "./routes.ts";
import { alertFields } from "./shown.ts";
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
  /** Of the systems that sign what they send: whether this one did. @throws BotError while that cannot be known */
  signed: ReadonlyMap<string, (request: HttpRequest) => Promise<boolean>>;
  /** What a request asks for besides, such as that its subscription be confirmed. @throws BotError when it cannot be done now */
  settle?(source: string, request: HttpRequest): Promise<void>;
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

/** The same words within that time are one request that was sent again. */
const AGAIN_MS = 5 * 60_000;
/** As many requests are worked on at once; who sends more is asked to wait. */
const MAX_AT_ONCE = 64;
/** Of a request by the token; of others the server's own, as anybody may send them. */
const MAX_BYTES = 4 * 1024 * 1024;
/** In one entry. */
const MAX_ALERTS = 250;
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
  const hasToken = createTokenCheck(token);
  const intake = { ...parts, kept: createKeeper(parts), hasToken };
  const served = parts.sources.filter(({ name }) => token !== undefined || signed.has(name));
  return served.map((source) => ({
    method: "POST",
    path: `/alerts/${source.name}`,
    ...(!signed.has(source.name) && {
      maxBytes: MAX_BYTES,
      refuse: (headers: HttpRequest["headers"]) => (hasToken(headers) ? undefined : UNKNOWN),
    }),
    async handle(request) {
      if (underway >= MAX_AT_ONCE) return WAIT;
      underway += 1;
      try {
        return await take(intake, source, request);
      } finally {
        underway -= 1;
      }
    },
    onCut: (why) => log.warn({ source: source.name }, `A request of alerts was refused: ${why}`),
  }));
}

interface Intake extends Omit<WebhookParts, "journal" | "wake" | "token"> {
  /** Keeps what a request says. @throws as `postDurably` */
  kept(piece: Piece): Promise<void>;
  hasToken(headers: HttpRequest["headers"]): boolean;
}

async function take(parts: Intake, source: SentBy, request: HttpRequest): Promise<HttpReply> {
  const { name } = source;
  try {
    if (!(await isAllowed(parts, name, request))) return UNKNOWN;
    const read = await readRequest(source, request.body);
    if (typeof read === "string") {
      parts.log.warn({ source: name }, `A request of alerts could not be read: ${read}`);
      parts.refused?.(name, read, request.body);
      return { status: 400, text: `${read}\n` };
    }
    await parts.settle?.(name, request);
    return await keep(parts, name, read, request.body);
  } catch (error) {
    if (!isBotError(error)) throw error;
    parts.log.warn({ source: name }, `Alerts could not be taken: ${messageOf(error)}`);
    return WAIT;
  }
}

/** @throws BotError while it cannot be known */
async function isAllowed(
  { hasToken, signed }: Intake,
  source: string,
  request: HttpRequest,
): Promise<boolean> {
  if (hasToken(request.headers)) return true;
  return (await signed.get(source)?.(request)) === true;
}

/** Whether a request carries the token; it takes as long for any text. */
function createTokenCheck(token: string | undefined) {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  const right = hash(`Bearer ${token ?? ""}`);
  return (headers: HttpRequest["headers"]) =>
    token !== undefined && timingSafeEqual(hash(String(headers["authorization"] ?? "")), right);
}

/** What it says, or why it says nothing. */
async function readRequest(source: SentBy, body: string): Promise<Notification | string> {
  const said = tryJson(body);
  if (said === undefined) return "The body is not JSON.";
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
  body: string,
): Promise<HttpReply> {
  const { routes, maintenance, log, now = Date.now } = parts;
  const { routed: found, stray } = routed(routes, source, alerts);
  const name = id ?? `${hashOf(body)}:${Math.floor(now() / AGAIN_MS)}`;
  const said = found.flatMap(({ route, alerts: its }) =>
    byWindow(its, (alert) => maintenance?.(source, alert, now())).flatMap(({ quiet, some }) =>
      chunked(some, MAX_ALERTS).map((chunk) => ({ route, quiet, chunk })),
    ),
  );
  await Promise.all(
    said.map(async ({ route, quiet, chunk }) => {
      const { rule, triage, mention, channel } = route;
      await kept({
        key: alertsKey(channel),
        // Sent again it may be parted otherwise, as a window began meanwhile.
        request: hashOf(source, name, quiet?.window, ...chunk.map(idOf)),
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
  return {
    status: 202,
    json: { kept: alerts.length - stray.length, unrouted: stray.length },
  };
}

const idOf = ({ fingerprint, status }: Alert) => `${status} ${fingerprint}`;

function hashOf(...texts: readonly (string | undefined)[]): string {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(text ?? "").update("\n");
  return hash.digest("base64url").slice(0, 22);
}
