import type { JsonObject } from "../../core/entry.ts";
import type { Gap } from "../../core/finding.ts";
import { isRecord, recordsOf, textOf } from "../decode.ts";
import { Refusal } from "../refusal.ts";
import type { ToolContext } from "../tool.ts";
import { LEVEL_FIELDS, MESSAGE_FIELDS, SERVICE_FIELDS } from "./entries.ts";
import {
  type LogQuery,
  askJson,
  askPage,
  askServer,
  fieldOfService,
  type LogServer,
  type LogSource,
} from "./source.ts";

/** Elasticsearch 7.2 and newer, and OpenSearch: https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-search */

const TIME = "@timestamp";
const MAX_VALUES = 500;

export async function openElasticsearch(
  ctx: ToolContext,
  server: LogServer,
  { query, service, index = "*", since, until }: LogQuery,
): Promise<LogSource> {
  const place = index.split(",").map(encodeURIComponent).join(",");
  const missing = "ignore_unavailable=true&allow_no_indices=true";
  const fields = [TIME, ...SERVICE_FIELDS, ...SERVICE_FIELDS.map((field) => `${field}.keyword`)];
  const caps = await askJson(ctx, server, {
    url: `${place}/_field_caps?fields=${fields.map(encodeURIComponent).join(",")}&${missing}`,
  });
  const known = isRecord(caps["fields"]) ? caps["fields"] : {};
  if (!Object.hasOwn(known, TIME))
    throw new Refusal(
      `No index that ${JSON.stringify(index)} names, and that this account may see, has the field ${TIME}.`,
    );
  const named = SERVICE_FIELDS.flatMap((field) =>
    [field, `${field}.keyword`].filter((each) => isAggregatable(known[each])).slice(0, 1),
  );
  const search = (body: JsonObject) => ({
    url: `${place}/_search?${missing}`,
    method: "POST" as const,
    json: body,
  });
  const within = (gte: number | string, lt: number | string): JsonObject => ({
    range: { [TIME]: { gte, lt, format: "epoch_millis" } },
  });
  const filters: JsonObject[] = [];
  if (query !== undefined) filters.push({ query_string: { query, analyze_wildcard: true } });
  if (service !== undefined) {
    const field = await fieldOfService(service, named, async (each) => {
      const aggs = { services: { terms: { field: each, size: MAX_VALUES } } };
      const body = { size: 0, query: within(since, until), aggs };
      return bucketsOf(await askJson(ctx, server, search(body)));
    });
    filters.push({ term: { [field]: service } });
  }

  return {
    asked: [index, query ?? "", service ?? ""].filter((each) => each !== "").join(" · "),
    seesLines: query !== undefined && query.trim() !== "*",
    async page(from, to, most) {
      const page = await askPage(most, (size) =>
        askServer(
          ctx,
          server,
          search({
            size,
            track_total_hits: false,
            // Of nanoseconds, which some indices have, the milliseconds are what pages are divided by.
            sort: [{ [TIME]: { order: "desc", numeric_type: "date" } }],
            _source: [TIME, ...MESSAGE_FIELDS, ...LEVEL_FIELDS, ...SERVICE_FIELDS],
            query: { bool: { filter: [within(String(from), String(to)), ...filters] } },
          }),
        ),
      );
      return { ...page, gap: partOf(page.text, server.title) };
    },
  };
}

/** What stands before the hits; the whole has megabytes. */
const HEAD = 500;

/** An answer may hold what some shards found, and is no error then. */
function partOf(text: string, title: string): Gap | undefined {
  const head = text.slice(0, HEAD);
  const [, failed = "0"] = /"failed":\s*(\d+)/.exec(head) ?? [];
  if (failed === "0" && !/"timed_out":\s*true/.test(head)) return undefined;
  const why = failed === "0" ? "the search took too long" : `${failed} shards failed`;
  return {
    what: "some of the lines",
    why: `${title} says that ${why}`,
    help: "Name an index or a shorter time, and look at the cluster's health.",
  };
}

function isAggregatable(types: unknown): boolean {
  return (
    isRecord(types) &&
    Object.values(types).some((type) => isRecord(type) && type["aggregatable"] === true)
  );
}

function bucketsOf(body: Record<string, unknown>): string[] {
  const aggregations = isRecord(body["aggregations"]) ? body["aggregations"] : {};
  const services = isRecord(aggregations["services"]) ? aggregations["services"] : {};
  return recordsOf(services["buckets"]).map(({ key }) => textOf(key));
}
