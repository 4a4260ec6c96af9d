import { textsOf } from "../decode.ts";
import { Refusal } from "../refusal.ts";
import type { ToolContext } from "../tool.ts";
import { SERVICE_FIELDS, UNITS } from "./entries.ts";
import {
  type LogQuery,
  askJson,
  askPage,
  askServer,
  fieldOfService,
  type LogServer,
  type LogSource,
  stagesOf,
} from "./source.ts";

/** Grafana Loki's HTTP API: https://grafana.com/docs/loki/latest/reference/loki-http-api/ */

const REWRITES = /\b(?:line_format|label_format|regexp|pattern)\b/i;
const SELECTOR = /^\s*\{((?:[^"`{}]|"(?:[^"\\]|\\.)*"|`[^`]*`)*)\}/;
/** Loki's own limit, when nobody set another, is 5 000. */
const TOO_MANY = /max_entries_limit\D*\d+\s*>\s*(\d+)/i;

export async function openLoki(
  ctx: ToolContext,
  server: LogServer,
  { query, service, since, until }: LogQuery,
): Promise<LogSource> {
  const time = `start=${BigInt(since) * UNITS.loki}&end=${BigInt(until) * UNITS.loki}`;
  const listed = async (path: string) =>
    textsOf((await askJson(ctx, server, { url: `loki/api/v1/${path}?${time}` }))["data"]);
  const labels = query === undefined || service !== undefined ? await listed("labels") : [];
  const known = SERVICE_FIELDS.filter((field) => labels.includes(field));
  const label =
    service === undefined
      ? undefined
      : await fieldOfService(service, known, (field) =>
          listed(`label/${encodeURIComponent(field)}/values`),
        );
  const asked = queryOf(query, {
    matcher: label === undefined ? undefined : `${label}=${JSON.stringify(service)}`,
    any: known[0] ?? labels.find((each) => !each.startsWith("__")),
  });
  let atMost = Number.POSITIVE_INFINITY;

  async function read(from: bigint, to: bigint, limit: number) {
    const url = `loki/api/v1/query_range?query=${encodeURIComponent(asked)}&start=${from}&end=${to}&limit=${limit}&direction=backward`;
    return askServer(ctx, server, { url });
  }

  return {
    asked,
    seesLines: asked.replace(SELECTOR, "").trim() !== "",
    async page(from, to, most) {
      try {
        return await askPage(Math.min(most, atMost), (limit) => read(from, to, limit));
      } catch (error) {
        const [, limit] = (error instanceof Refusal && TOO_MANY.exec(error.message)) || [];
        if (limit === undefined || Number(limit) >= Math.min(most, atMost)) throw error;
        atMost = Number(limit);
        return askPage(atMost, (lines) => read(from, to, lines));
      }
    },
  };
}

function queryOf(
  query: string | undefined,
  { matcher, any }: { matcher: string | undefined; any: string | undefined },
): string {
  if (query === undefined) {
    if (matcher === undefined && any === undefined)
      throw new Refusal("Loki has no lines of that time: it knows no label then.");
    return `{${matcher ?? `${any}=~".+"`}}`;
  }
  const [head, inner = ""] = SELECTOR.exec(query) ?? [];
  if (head === undefined)
    throw new Refusal(
      'query: write LogQL that begins with a selector, such as {app="shop"} |= "x".',
    );
  const [rewrite] = REWRITES.exec(stagesOf(query.slice(head.length))) ?? [];
  if (rewrite !== undefined)
    throw new Refusal(
      `query: ${rewrite} makes other lines of lines; only filters and parsers are sent.`,
    );
  if (matcher === undefined) return query.trim();
  const all = inner.trim() === "" ? matcher : `${inner.trim().replace(/,$/, "")}, ${matcher}`;
  return `{${all}}${query.slice(head.length)}`.trim();
}
