import { createHash, timingSafeEqual } from "node:crypto";
import type { Logger } from "pino";
import * as z from "zod";
import type { Draft } from "../core/entry.ts";
import { isBotError, messageOf } from "../core/errors.ts";
import type { HttpReply, HttpRequest, HttpRoute } from "../core/http-route.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { tryJson } from "../core/json.ts";
import { issueText, mistakeText, pathText } from "../core/zod-issues.ts";
import { postDurably } from "../journal/durable.ts";
import type { Journal } from "../journal/journal.ts";
import type { AlertSource, Notification } from "./alert.ts";
import { alertsKey } from "./handler.ts";
import { type AlertRoute, routed } from "./routes.ts";
import { alertFields } from "./shown.ts";

/** Requests of monitoring systems, each answered with 202 once it is kept. `docs/alerts.md` lists what each status means. */

interface WebhookParts {
  sources: readonly AlertSource[];
  /** What a request carries that its source did not sign; undefined: each must be signed. */
  token: string | undefined;
  /** Whether the source itself signed it. Undefined: it signs nothing. */
  isSigned(source: string, request: HttpRequest): Promise<boolean | undefined>;
  routes: readonly AlertRoute[];
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
const WAIT: HttpReply = { status: 503, headers: { "retry-after": "5" }, text: "Try again soon.\n" };

export function createAlertRoutes(parts: WebhookParts): HttpRoute[] {
  const { log } = parts;
  let underway = 0;
  return parts.sources.map((source) => ({
    method: "POST",
    path: `/alerts/${source.name}`,
    async handle(request) {
      if (underway >= MAX_AT_ONCE) return WAIT;
      underway += 1;
      try {
        return await take(parts, source, request);
      } finally {
        underway -= 1;
      }
    },
    onCut: (why) => log.warn({ source: source.name }, `A request of alerts was refused: ${why}`),
  }));
}

async function take(
  parts: WebhookParts,
  source: AlertSource,
  request: HttpRequest,
): Promise<HttpReply> {
  if (!(await isAllowed(parts, source.name, request))) {
    const text = "The bearer token or the signature is missing or wrong.\n";
    return { status: 401, headers: { "www-authenticate": "Bearer" }, text };
  }
  const read = readRequest(source, request.body);
  if (typeof read === "string") {
    parts.log.warn({ source: source.name }, `A request of alerts could not be read: ${read}`);
    return { status: 400, text: `${read}\n` };
  }
  try {
    return await keep(parts, source.name, read, request.body);
  } catch (error) {
    if (!isBotError(error, "STORE_UNAVAILABLE", "STORE_FULL")) throw error;
    parts.log.warn({ source: source.name }, `Alerts could not be kept: ${messageOf(error)}`);
    return WAIT;
  }
}

async function isAllowed(
  { token, isSigned }: WebhookParts,
  source: string,
  request: HttpRequest,
): Promise<boolean> {
  const given = String(request.headers["authorization"] ?? "");
  if (token !== undefined && isSame(given, `Bearer ${token}`)) return true;
  return (await isSigned(source, request)) === true;
}

/** What it says, or why it says nothing. */
function readRequest(source: AlertSource, body: string): Notification | string {
  const said = tryJson(body);
  if (said === undefined) return "The body is not JSON.";
  try {
    return source.read(said);
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    const [issue] = error.issues;
    const what = issue && mistakeText(pathText(issue.path) || "the body", issueText(issue, false));
    return `This is no request of ${source.name}'s: ${what}.`;
  }
}

async function keep(
  { routes, journal, wake, log, now = Date.now }: WebhookParts,
  source: string,
  { id, alerts, left }: Notification,
  body: string,
): Promise<HttpReply> {
  const { routed: found, stray } = routed(routes, source, alerts);
  const hash = createHash("sha256").update(body).digest("hex").slice(0, 32);
  const name = id ?? `${hash}:${Math.floor(now() / AGAIN_MS)}`;
  const byChannel = Object.entries(Object.groupBy(found, ({ route }) => route.channel));
  await Promise.all(
    byChannel.map(async ([channel, parts = []]) => {
      const key = alertsKey(channel);
      for (const [index, { route, alerts: its }] of parts.entries()) {
        const draft: Draft<"alert"> = {
          id: `alert:${source}:${name}:${index}`,
          kind: "alert",
          source,
          alerts: its.map(alertFields),
          ...(left !== undefined && { left }),
          rule: { groupBy: [...route.rule.groupBy], windowMs: route.rule.windowMs },
          ...(route.triage && { triage: true as const }),
          ...(route.mention.length > 0 && { mention: [...route.mention] }),
        };
        await postDurably(journal, key, draft);
      }
      wake(key);
    }),
  );
  if (stray.length > 0)
    log.warn(
      { source, alerts: stray.length, first: stray[0]?.name },
      "no route takes these alerts",
    );
  const kept = alerts.length - stray.length;
  return { status: 202, json: { kept, unrouted: stray.length } };
}

/** Takes as long for any text. */
function isSame(given: string, right: string): boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(given), hash(right));
}
