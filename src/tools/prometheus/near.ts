import { textsOf } from "../decode.ts";
import { nearest } from "../../core/nearest.ts";
import { inQuotes } from "../../core/text.ts";
import { promQuote, type Prometheus, TooMuch } from "./api.ts";

/** Why a query may have found nothing: names and values in it that the server does not have, and which were meant. */

const WORDS = new Set(
  "and or unless by without on ignoring group_left group_right offset bool inf nan start end atan2".split(
    " ",
  ),
);
const STRING = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`/g;
const SELECTOR = /([a-zA-Z_:][\w:]*)?\s*\{([^{}]*)\}/g;
const EQUALS = /([a-zA-Z_]\w*)\s*=\s*("(?:[^"\\]|\\.)*")/g;
/** Of these each is asked for once. */
const MAX_ASKED = 4;

interface Matcher {
  metric: string | undefined;
  label: string;
  value: string;
}

/** The metrics that a query names, and the values that it wants labels to have. */
export function namesIn(query: string): { metrics: string[]; matchers: Matcher[] } {
  const matchers = [...query.matchAll(SELECTOR)].flatMap(([, metric, inside = ""]) =>
    [...inside.matchAll(EQUALS)].flatMap(([, label = "", quoted = ""]) => {
      const value = tryText(quoted);
      return value === undefined || value === "" ? [] : [{ metric, label, value }];
    }),
  );
  const bare = query
    .replaceAll(STRING, '""')
    .replaceAll(/\{[^{}]*\}/g, " ")
    .replaceAll(/\[[^[\]]*\]/g, " ")
    .replaceAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^()]*\)/gi, " ")
    .replaceAll(/\boffset\s+-?\w+/gi, " ")
    .replaceAll(/@\s*[\w.]+(?:\(\))?/g, " ");
  const metrics = [...bare.matchAll(/[a-zA-Z_:][\w:]*(?!\s*\(|[\w:])/g)]
    .map(([name]) => name)
    .filter((name) => !WORDS.has(name.toLowerCase()));
  const named = matchers.flatMap(({ label, value }) => (label === "__name__" ? [value] : []));
  return {
    metrics: [...new Set([...metrics, ...named])],
    matchers: matchers.filter(({ label }) => label !== "__name__"),
  };
}

function tryText(quoted: string): string | undefined {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return undefined;
  }
}

/** A sentence for each name or value in the query that the server does not have. Those that it has leave nothing to say. */
export async function whatIsUnknown(server: Prometheus, query: string): Promise<string[]> {
  const { metrics, matchers } = namesIn(query);
  const names = await valuesOf(server, "__name__");
  if (names === undefined) return [];
  const known = new Set(names);
  const missing = metrics.filter((name) => !known.has(name));
  if (missing.length > 0) {
    return missing
      .slice(0, MAX_ASKED)
      .map((name) => `There is no metric ${inQuotes(name)}.${meant(nearest(name, names))}`);
  }
  const told = await Promise.all(
    matchers.slice(0, MAX_ASKED).map(async ({ metric, label, value }) => {
      const values = await valuesOf(server, label, metric);
      if (values === undefined || values.includes(value)) return [];
      const where = metric === undefined ? "" : ` of ${metric}`;
      if (values.length === 0) return [`No series${where} has a label ${label}.`];
      return [
        `No series${where} has ${label}=${inQuotes(value)}.${meant(nearest(value, values), values)}`,
      ];
    }),
  );
  return told.flat();
}

/** Undefined where the server has too many, or does not tell. */
async function valuesOf(
  server: Prometheus,
  label: string,
  metric?: string,
): Promise<string[] | undefined> {
  const match =
    metric === undefined ? [] : [["match[]", `{__name__=${promQuote(metric)}}`] as const];
  try {
    return textsOf(await server.get(`label/${encodeURIComponent(label)}/values`, match));
  } catch (error) {
    if (error instanceof TooMuch) return undefined;
    throw error;
  }
}

function meant(near: readonly string[], all: readonly string[] = []): string {
  if (near.length > 0) return ` Did you mean ${near.map(inName).join(", ")}?`;
  if (all.length === 0) return "";
  const some = all.slice(0, 10).map(inName).join(", ");
  return ` It has ${some}${all.length > 10 ? ` and ${all.length - 10} more` : ""}.`;
}

function inName(text: string): string {
  return /^[\w:./-]{1,120}$/.test(text) ? text : inQuotes(text);
}
