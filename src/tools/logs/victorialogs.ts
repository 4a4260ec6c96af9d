import { recordsOf, textOf } from "../decode.ts";
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

/** VictoriaLogs' HTTP API: https://docs.victoriametrics.com/victorialogs/querying/ */

const MAX_VALUES = 1_000;
const OTHER_PIPE =
  /\|(?!\s*(?:filter|where|sort|limit|head|offset|skip|unpack_json|unpack_logfmt)\b)\s*\w*/i;

export async function openVictoriaLogs(
  ctx: ToolContext,
  server: LogServer,
  { query = "*", service, since, until }: LogQuery,
): Promise<LogSource> {
  const [pipe] = OTHER_PIPE.exec(stagesOf(query)) ?? [];
  if (pipe !== undefined)
    throw new Refusal(`query: "${pipe}" makes other lines of lines; only filters are sent.`);
  const time = `start=${BigInt(since) * UNITS.victorialogs}&end=${BigInt(until) * UNITS.victorialogs}`;
  const listed = async (what: string) => {
    const url = `select/logsql/${what}query=*&${time}`;
    const { values } = await askJson(ctx, server, { url });
    return recordsOf(values).map(({ value }) => textOf(value));
  };
  let filter = "";
  if (service !== undefined) {
    const names = await listed("field_names?");
    const known = SERVICE_FIELDS.filter((field) => names.includes(field));
    const field = await fieldOfService(service, known, (each) =>
      listed(`field_values?field=${encodeURIComponent(each)}&limit=${MAX_VALUES}&`),
    );
    filter = `${JSON.stringify(field)}:=${JSON.stringify(service)}`;
  }

  return {
    asked: [query, filter].filter((each) => each !== "").join(" and "),
    seesLines: query.trim() !== "*" && !/^\s*\{[^}]*\}\s*$/.test(query),
    page: (from, to, most) =>
      askPage(most, (limit) => {
        const extra = filter === "" ? "" : `&extra_filters=${encodeURIComponent(filter)}`;
        // Both ends are included, so the last one is a nanosecond earlier.
        const url = `select/logsql/query?query=${encodeURIComponent(query)}&start=${from}&end=${to - 1n}&limit=${limit}${extra}`;
        return askServer(ctx, server, { url });
      }),
  };
}
