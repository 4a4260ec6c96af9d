import { BotError } from "../../core/errors.ts";
import type { Gap } from "../../core/finding.ts";
import { nearest } from "../../core/nearest.ts";
import { isRecord, textOf, tryParse } from "../decode.ts";
import type { HttpCall, HttpResponse } from "../http.ts";
import { clip } from "../labels.ts";
import { Refusal } from "../refusal.ts";
import type { Encoder } from "../../security/encoder.ts";
import type { ToolContext } from "../tool.ts";
import type { System } from "./entries.ts";

/** A server of logs, as the configuration names it. */
export interface LogServer {
  system: System;
  title: string;
  /** The name of its endpoint, and what people call it. */
  name: string;
  /** What its variables begin with; undefined for one that the yaml names. */
  prefix: string | undefined;
  tenant: string | undefined;
}

export interface LogQuery {
  query: string | undefined;
  service: string | undefined;
  /** Elasticsearch's. */
  index: string | undefined;
  /** ms since 1970 */
  since: number;
  until: number;
}

export interface LogPage {
  /** The server's answer. */
  text: string;
  /** How many lines it was asked for. */
  most: number;
  /** What it says that it left out. */
  gap?: Gap | undefined;
}

/** Lines of a server that a call asks for, the newest first. */
export interface LogSource {
  /** As the server was asked, for people. */
  asked: string;
  /** The query sees what lines say, not only which stream they are of. */
  seesLines: boolean;
  /** The newest lines of a time, in the server's unit, `to` not included. */
  page(from: bigint, to: bigint, most: number): Promise<LogPage>;
}

const MAX_PAGE_BYTES = 8 * 1024 * 1024;
const TIMEOUT_MS = 25_000;
const LEAST_LINES = 20;

/** Answers with a status of 200. @throws Refusal, BotError as `ToolContext.http` */
export async function askServer(
  ctx: ToolContext,
  server: LogServer,
  call: Pick<HttpCall, "url" | "method" | "json">,
): Promise<HttpResponse> {
  const { tenant } = server;
  const answer = await ctx.http({
    ...call,
    endpoint: server.name,
    ...(tenant !== undefined && { headers: { "x-scope-orgid": tenant } }),
    maxBytes: MAX_PAGE_BYTES,
    timeoutMs: TIMEOUT_MS,
  });
  if (answer.status !== 200) throw refusalOf(answer, server, ctx.encoder);
  return answer;
}

/**
 * A query as the server reads it, without its texts and comments. What makes other lines of lines is refused: it would give a secret
 * in pieces, which nobody knows as one.
 */
export function stagesOf(query: string): string {
  return query.replaceAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`|#[^\n]*/gs, " ");
}

/** One that is too long is asked for again, with fewer lines. */
export async function askPage(
  most: number,
  ask: (most: number) => Promise<HttpResponse>,
): Promise<LogPage> {
  for (let lines = most; ; lines = Math.max(LEAST_LINES, Math.floor(lines / 4))) {
    const { text, isWhole } = await ask(lines);
    if (isWhole) return { text, most: lines };
    if (lines <= LEAST_LINES)
      throw new Refusal(`${lines} lines are more than is read of one answer; narrow the time.`);
  }
}

export async function askJson(
  ctx: ToolContext,
  server: LogServer,
  call: Pick<HttpCall, "url" | "method" | "json">,
): Promise<Record<string, unknown>> {
  const { text, isWhole } = await askServer(ctx, server, call);
  const body = isWhole ? tryParse(text) : undefined;
  if (!isRecord(body)) throw new Refusal(`${server.title} answered with something else than JSON.`);
  return body;
}

function refusalOf(
  { status, text, stuck }: HttpResponse,
  server: LogServer,
  encoder: Encoder,
): Refusal {
  const { title, prefix, name } = server;
  const words = clip(saidBy(tryParse(text)) || text, 400, encoder) || stuck || "nothing more";
  const why = `${title} answered ${status}: ${words}`;
  if (status !== 401 && status !== 403) return new Refusal(why);
  const help =
    prefix === undefined
      ? `Give the account of integrations for ${name} the right to read these logs.`
      : `Set ${prefix}_TOKEN, or ${prefix}_USER and ${prefix}_PASSWORD, to an account that may read these logs.`;
  return new Refusal(why, { what: "these logs", why: `${title} refused with ${status}`, help });
}

/** Elasticsearch's error is an object, the others' a text. */
function saidBy(body: unknown): string {
  if (!isRecord(body)) return "";
  const { error, message } = body;
  if (typeof error === "string") return error;
  if (!isRecord(error)) return textOf(message);
  const causes: unknown[] = Array.isArray(error["root_cause"]) ? error["root_cause"] : [];
  const [cause] = causes.filter(isRecord);
  return [error["type"], cause?.["reason"] ?? error["reason"]].map(textOf).join(": ");
}

const MAX_FIELDS = 5;

/**
 * The field that names services as this one is named.
 * @throws BotError INPUT_INVALID where none does, with those that were meant
 */
export async function fieldOfService(
  service: string,
  fields: readonly string[],
  valuesOf: (field: string) => Promise<readonly string[]>,
): Promise<string> {
  const tried = fields.slice(0, MAX_FIELDS);
  const values = await Promise.all(tried.map(valuesOf));
  const field = tried.find((_, index) => values[index]?.includes(service));
  if (field !== undefined) return field;
  const known = [...new Set(values.flat())];
  const near = nearest(service, known);
  const hint =
    near.length > 0
      ? `did you mean ${near.join(", ")}?`
      : `those with lines then are ${known.slice(0, 20).join(", ") || "none"}.`;
  const where = tried.join(", ") || "a label or field that names services";
  throw new BotError(
    "INPUT_INVALID",
    `service: no line of that time has ${JSON.stringify(service)} as ${where}; ${hint}`,
  );
}
