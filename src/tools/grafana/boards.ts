import { BotError } from "../../core/errors.ts";
import { isRecord, type Item, numberOf, recordsOf, textOf, textsOf, wordOf } from "../decode.ts";
import type { Endpoint } from "../http.ts";
import { instanceArgument, instanceOf, ONLY } from "../instances.ts";
import type { Service } from "../pinned-write.ts";
import { createRest, type Rest } from "../rest.ts";

/** Grafana's HTTP API: https://grafana.com/docs/grafana/latest/developers/http_api/ */

export type Instances = Readonly<Record<string, Endpoint>>;

export function serviceOf(endpoints: Instances): Service<string> {
  const isSeveral = Object.keys(endpoints).length > 1;
  return {
    name: "grafana",
    endpoints,
    fields: instanceArgument(endpoints),
    place: (given) => instanceOf(given, endpoints),
    rest: (instance, ctx) =>
      createRest(ctx, {
        who: instance === ONLY ? "Grafana" : `Grafana ${instance}`,
        endpoint: instance,
        help: (status) =>
          status === 401
            ? "Set GRAFANA_TOKEN to a service account's token that is valid."
            : "Give the service account the role Viewer, and for annotations annotations:write.",
      }),
    pinned: (instance) => ({
      args: isSeveral ? { instance } : {},
      lines: isSeveral ? [{ label: "Grafana", value: instance }] : [],
    }),
  };
}

export interface Query {
  refId: string;
  expr: string;
  datasource: { type: string; uid: string };
}

interface Panel {
  id: number;
  title: string;
  type: string;
  queries: Query[];
}

export interface Board {
  uid: string;
  title: string;
  panels: Panel[];
  /** What its variables are set to, each as its values. */
  variables: Readonly<Record<string, readonly string[]>>;
}

/** @throws BotError INPUT_INVALID when there is none */
export async function boardIn(rest: Rest, uid: string): Promise<Board> {
  const board = await rest.find(`api/dashboards/uid/${encodeURIComponent(uid)}`, "dashboard");
  if (board === undefined)
    throw new BotError(
      "INPUT_INVALID",
      `There is no dashboard ${uid}. grafana_search finds its uid.`,
    );
  const templating = isRecord(board["templating"]) ? board["templating"] : {};
  const variables = recordsOf(templating["list"]).map(
    (each) => [textOf(each["name"]), valuesOf(each)] as const,
  );
  return {
    uid,
    title: textOf(board["title"]),
    panels: recordsOf(board["panels"]).flatMap(panelsOf),
    variables: Object.fromEntries(variables),
  };
}

/** A collapsed row holds its panels itself. */
function panelsOf(panel: Item): Panel[] {
  const inner = recordsOf(panel["panels"]).flatMap(panelsOf);
  if (panel["type"] === "row") return inner;
  const own = sourceOf(panel["datasource"]);
  const queries = recordsOf(panel["targets"])
    .filter(({ hide }) => hide !== true)
    .map((target) => ({
      refId: textOf(target["refId"]) || "A",
      expr: textOf(target["expr"]) || textOf(target["query"]) || textOf(target["rawSql"]),
      datasource: target["datasource"] === undefined ? own : sourceOf(target["datasource"]),
    }));
  const { id, title, type } = panel;
  return [{ id: numberOf(id), title: textOf(title), type: wordOf(type), queries }, ...inner];
}

function sourceOf(value: unknown): Query["datasource"] {
  return isRecord(value)
    ? { type: wordOf(value["type"]), uid: textOf(value["uid"]) }
    : { type: "", uid: textOf(value) };
}

/** `$__all` stands for whatever its `allValue` or everything is. */
function valuesOf(variable: Item): string[] {
  const current = isRecord(variable["current"]) ? variable["current"]["value"] : variable["query"];
  const values = typeof current === "string" ? [current] : textsOf(current);
  return values.includes("$__all") ? [textOf(variable["allValue"]) || ".*"] : values;
}

const VARIABLE = /\$\{(\w+)(?::\w+)?\}|\[\[(\w+)(?::\w+)?\]\]|\$(\w+)/g;

/** The text with the dashboard's variables in it; those that the server itself fills in stay. */
export function filled(text: string, variables: Board["variables"]): string {
  return text.replaceAll(VARIABLE, (whole: string, ...names: unknown[]) => {
    const name = names.slice(0, 3).find((each) => typeof each === "string");
    const values = typeof name === "string" ? variables[name] : undefined;
    if (values === undefined || values.length === 0) return whole;
    return values.length === 1 ? (values[0] ?? whole) : `(${values.join("|")})`;
  });
}
