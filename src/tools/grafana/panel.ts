import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { readPast } from "../../core/past.ts";
import { time } from "../answer-words.ts";
import { isRecord, recordsOf, textOf } from "../decode.ts";
import { instanceArgument } from "../instances.ts";
import { clip, labelsOf, sharedLabels } from "../labels.ts";
import type { Series } from "../prometheus/api.ts";
import { chartOf } from "../prometheus/charted.ts";
import { stepFor } from "../prometheus/numbers.ts";
import { ranked, rangeRows, sharedText, spanText } from "../prometheus/rows.ts";
import { orRefused, Refusal } from "../refusal.ts";
import type { Rest } from "../rest.ts";
import { hereOf, sinceArgument } from "../since.ts";
import { defineTool, type ToolContext } from "../tool.ts";
import { type Board, boardIn, filled, type Instances, type Query, serviceOf } from "./boards.ts";
import { boardField } from "./reads.ts";

const TIMEOUT_MS = 60_000;
const MAX_POINTS = 240;

export function createPanel(endpoints: Instances) {
  const service = serviceOf(endpoints);
  return defineTool({
    name: "grafana_panel",
    summary: "runs a panel's Prometheus queries over a time, with a chart",
    description:
      "Runs the Prometheus queries of a dashboard's panel over a time: what each series did, and a chart for the people in the thread. Variables are as the dashboard has them unless given.",
    input: z.strictObject({
      dashboard: boardField,
      panel: z.int().min(1).describe("The panel's id, from grafana_panels"),
      since: sinceArgument.default("1h"),
      at: sinceArgument.default("now").describe("The end"),
      variables: z.record(z.string().regex(/^\w{1,50}$/), z.string().max(200)).default({}),
      ...instanceArgument(endpoints),
    }),
    effect: "read",
    doing: ({ panel, dashboard }) => `Looking at panel ${panel} of dashboard ${dashboard}`,
    endpoints,
    timeoutMs: TIMEOUT_MS,
    run: (input, ctx) =>
      orRefused(async () => {
        const here = await hereOf(ctx);
        const end = await readPast(input.at, here);
        const start = await readPast(input.since, { ...here, now: end });
        if (start >= end) throw new BotError("INPUT_INVALID", "since: expected a time before at.");
        const rest = service.rest(service.place(input), ctx);
        const board = await boardIn(rest, input.dashboard);
        const { title, queries } = panelIn(board, input.panel, ctx);
        const given = Object.fromEntries(
          Object.entries(input.variables).map(([name, value]) => [name, [value]]),
        );
        const variables = { ...board.variables, ...given };
        const asked = queries.map((query) => runnable(query, variables));
        const { series, problems } = await queryAll(rest, asked, { start, end });
        const gaps = problems.map((why) => ({
          what: "a query of the panel",
          why: clip(why, 300, ctx.encoder),
          help: "Look at the panel in Grafana.",
        }));
        const told = ranked(series);
        const name = `${board.title}: ${title}`;
        const head = clip(name, 200, ctx.encoder);
        if (told.length === 0) return { text: `${head}: no data ${spanText(start, end)}.`, gaps };
        const { note, images } = await chartOf({ title: name, start, end, told }, ctx);
        const shared = sharedText(
          sharedLabels(told.map((each) => each.series.labels)),
          ctx.encoder,
        );
        const rows = rangeRows(told, here.now, ctx.encoder);
        return {
          text: [
            `${head}: ${told.length} series ${spanText(start, end)}${shared}`,
            ...rows,
            note,
          ].join("\n"),
          images,
          gaps,
        };
      }),
  });
}

function panelIn({ panels }: Board, id: number, ctx: ToolContext) {
  const panel = panels.find((each) => each.id === id);
  if (panel === undefined) {
    const known = panels
      .slice(0, 20)
      .map((each) => `${each.id} ${JSON.stringify(clip(each.title, 40, ctx.encoder))}`);
    throw new BotError("INPUT_INVALID", `panel: there is no ${id}; there are ${known.join(", ")}.`);
  }
  if (panel.queries.length === 0)
    throw new BotError("INPUT_INVALID", `panel: ${id} has no queries of its own.`);
  return panel;
}

/** @throws Refusal for what cannot be run from here */
function runnable({ refId, expr, datasource }: Query, variables: Board["variables"]) {
  const uid = filled(datasource.uid, variables);
  if (datasource.type !== "" && datasource.type !== "prometheus")
    throw new Refusal(`The panel asks ${datasource.type}; only Prometheus is asked from here.`);
  if (uid === "" || uid.includes("$"))
    throw new Refusal("The panel's data source is not fixed: give its variable.");
  return { refId, expr: filled(expr, variables), datasource: { type: "prometheus", uid } };
}

async function queryAll(
  rest: Rest,
  queries: ReturnType<typeof runnable>[],
  { start, end }: { start: number; end: number },
): Promise<{ series: Series[]; problems: string[] }> {
  const intervalMs = stepFor(end - start, MAX_POINTS);
  const body = await rest.write("POST", "api/ds/query", {
    queries: queries.map((query) => ({
      ...query,
      range: true,
      instant: false,
      intervalMs,
      maxDataPoints: MAX_POINTS,
    })),
    from: String(start),
    to: String(end),
  });
  const results = isRecord(body) && isRecord(body["results"]) ? Object.values(body["results"]) : [];
  const all = results.filter(isRecord);
  return {
    series: all.flatMap(({ frames }) => recordsOf(frames).flatMap(seriesOf)),
    problems: all.flatMap(({ error }) => (textOf(error) === "" ? [] : [textOf(error)])),
  };
}

/** Each field of numbers beside the field of times is a series. */
function seriesOf({ schema, data }: Record<string, unknown>): Series[] {
  const fields = isRecord(schema) ? recordsOf(schema["fields"]) : [];
  const values: unknown[] = isRecord(data) && Array.isArray(data["values"]) ? data["values"] : [];
  const column = (at: number): unknown[] => {
    const found = values[at];
    return Array.isArray(found) ? found : [];
  };
  const times = column(fields.findIndex(({ type }) => type === "time"));
  return fields.flatMap(({ type, labels }, at) => {
    if (type !== "number") return [];
    const points = column(at).flatMap((value, index) => {
      const moment = time(times[index]);
      return typeof value === "number" && moment > 0 ? [{ moment, value }] : [];
    });
    return [
      {
        labels: labelsOf(labels),
        times: points.map(({ moment }) => moment),
        values: points.map(({ value }) => value),
      },
    ];
  });
}
