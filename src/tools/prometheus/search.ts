import * as z from "zod";
import { isRecord, textOf, textsOf, wordOf } from "../decode.ts";
import type { Encoder } from "../../security/encoder.ts";
import { orRefused } from "../refusal.ts";
import { hereOf } from "../since.ts";
import { defineTool, type ToolOutput } from "../tool.ts";
import {
  createPrometheus,
  onlyValue,
  promQuote,
  type Prometheus,
  TOOL_TIMEOUT_MS,
  TooMuch,
} from "./api.ts";
import { type Instances } from "./fields.ts";
import { instanceArgument, instanceOf } from "../instances.ts";
import { clip, encodeEach } from "../labels.ts";
import type { LabelName } from "../../core/label-names.ts";
import { nearest } from "../../core/nearest.ts";

const MAX_NAMES = 20;
const MAX_LABELS = 12;
const MAX_VALUES = 5;
/** Labels that name things. Asking all labels for their values would ask for too much. */
const NAMING: readonly LabelName[] = [
  "job",
  "service",
  "app",
  "namespace",
  "pod",
  "instance",
  "container",
  "node",
  "cluster",
  "env",
];
/** How far back a series is looked for: one that has just gone is still of interest. */
const LOOK_BACK_MS = 3_600_000;

export function createSearch(instances: Instances) {
  return defineTool({
    name: "prometheus_search",
    summary: "finds metrics and labels by words, and tells what a metric has",
    description:
      "Finds metrics by words of their name or help, and label values (jobs, pods, services). With a metric's whole name or a selector: its type, help, labels and their values. Use it before writing a query.",
    input: z.strictObject({
      text: z
        .string()
        .min(1)
        .max(500)
        .describe("Words, a metric's name, or a selector")
        .meta({ examples: ["http errors"] }),
      ...instanceArgument(instances),
    }),
    effect: "read",
    doing: ({ text }) => `Looking for metrics of ${text}`,
    endpoints: instances,
    timeoutMs: TOOL_TIMEOUT_MS,
    run: ({ text: written, instance }, ctx) =>
      orRefused(async () => {
        const text = written.trim();
        const { now } = await hereOf(ctx);
        const server = createPrometheus(ctx, instanceOf({ instance }, instances));
        if (text.endsWith("}")) return describe(server, text, now, ctx.encoder);
        const names = textsOf(await server.get("label/__name__/values"));
        return names.includes(text)
          ? describe(server, text, now, ctx.encoder)
          : find(server, text, names, ctx.encoder);
      }),
  });
}

interface About {
  type: string;
  help: string;
}

/** Type and help by metric; empty where the server keeps none. */
async function aboutMetrics(server: Prometheus, metric?: string): Promise<Map<string, About>> {
  const asked = metric === undefined ? [] : [["metric", metric] as const];
  const data = await server.get("metadata", asked).catch((error: unknown) => {
    if (error instanceof TooMuch) return {};
    throw error;
  });
  const entries = Object.entries(isRecord(data) ? data : {}).flatMap(([name, list]) => {
    const [first]: unknown[] = Array.isArray(list) ? list : [];
    if (!isRecord(first)) return [];
    return [
      [name, { type: wordOf(first["type"]) || "of no type", help: textOf(first["help"]) }] as const,
    ];
  });
  return new Map(entries);
}

/** A histogram has its type and help by the name without its parts'. */
function baseOf(name: string): string {
  return name.replace(/_(?:bucket|count|sum)$/, "");
}

async function describe(
  server: Prometheus,
  selector: string,
  now: number,
  encoder: Encoder,
): Promise<ToolOutput> {
  const [name = ""] = selector.split("{");
  const range = [
    ["match[]", selector],
    ["start", (now - LOOK_BACK_MS) / 1_000],
  ] as const;
  const base = baseOf(name);
  const [labels, count, own, parts] = await Promise.all([
    server.get("labels", range).then(textsOf),
    server.instant(`count(${selector})`, now),
    aboutMetrics(server, name),
    base === name ? new Map<string, About>() : aboutMetrics(server, base),
  ]);
  const told = labels.filter((label) => label !== "__name__");
  const values = await Promise.all(
    told.slice(0, MAX_LABELS).map(async (label) => {
      try {
        const all = textsOf(await server.get(`label/${encodeURIComponent(label)}/values`, range));
        const some = all.slice(0, MAX_VALUES).join(", ");
        const more = all.length > MAX_VALUES ? ", …" : "";
        return `- ${label} (${all.length}): ${some}${more}`;
      } catch (error) {
        if (error instanceof TooMuch) return `- ${label}: too many values to count`;
        throw error;
      }
    }),
  );
  const about = own.get(name) ?? parts.get(base);
  const kind = about === undefined ? "" : `, ${about.type}: ${about.help}`;
  const rest = told.length - MAX_LABELS;
  const lines = [
    `${selector}: ${onlyValue(count)} series now${kind}`,
    ...values,
    ...(rest > 0 ? [`and ${rest} more labels: ${told.slice(MAX_LABELS).join(", ")}`] : []),
  ];
  return { text: lines.map((line) => clip(line, 400, encoder)).join("\n") };
}

async function find(
  server: Prometheus,
  text: string,
  names: readonly string[],
  encoder: Encoder,
): Promise<ToolOutput> {
  const words = text.toLowerCase().split(/\s+/);
  const hasAll = (line: string | undefined) =>
    words.every((word) => line?.toLowerCase().includes(word) === true);
  const [about, labels] = await Promise.all([
    aboutMetrics(server),
    labelsWith(server, words, encoder),
  ]);
  const shown = await encodeEach(
    names.map((name) => `${name} ${about.get(name)?.help ?? ""}`),
    encoder,
  );
  const found = names.flatMap((name, at) =>
    hasAll(name)
      ? [{ name, isByName: true }]
      : hasAll(shown[at])
        ? [{ name, isByName: false }]
        : [],
  );
  const best = found.toSorted(
    (a, b) => Number(b.isByName) - Number(a.isByName) || a.name.length - b.name.length,
  );
  const rows = best.slice(0, MAX_NAMES).map(({ name }) => {
    const { type, help } = about.get(name) ?? about.get(baseOf(name)) ?? { type: "", help: "" };
    return clip(`- ${name}${type === "" ? "" : ` (${type}) ${help}`}`, 160, encoder);
  });
  const rest = best.length - rows.length;
  const near = best.length > 0 ? [] : nearest(words.join("_"), names);
  const meant = near.length > 0 ? ` Did you mean ${near.join(", ")}?` : "";
  return {
    text: [
      clip(`${best.length} of ${names.length} metrics match.${meant}`, 400, encoder),
      ...rows,
      ...(rest > 0 ? [`and ${rest} more: add a word`] : []),
      ...labels,
    ].join("\n"),
  };
}

/** `Label job has the value api`, for labels that name things. */
async function labelsWith(
  server: Prometheus,
  words: readonly string[],
  encoder: Encoder,
): Promise<string[]> {
  const known = new Set(textsOf(await server.get("labels")));
  const lines = await Promise.all(
    NAMING.filter((label) => known.has(label)).map(async (label) => {
      try {
        const values = textsOf(await server.get(`label/${label}/values`));
        const safe = await encodeEach(values, encoder);
        const found = safe.filter((value) =>
          words.every((word) => value.toLowerCase().includes(word)),
        );
        if (found.length === 0) return [];
        const some = found.slice(0, MAX_VALUES).map((value) => promQuote(clip(value, 80, encoder)));
        const more = found.length > MAX_VALUES ? ` and ${found.length - MAX_VALUES} more` : "";
        return [`Label ${label}: ${some.join(", ")}${more}`];
      } catch (error) {
        if (error instanceof TooMuch) return [];
        throw error;
      }
    }),
  );
  return lines.flat();
}
