import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { drawThread } from "./draw-thread.ts";
import { fileSchema, SETTINGS } from "../src/config/table.ts";
import { SWITCHED_GATES } from "../src/core/gates.ts";
import { LOG_EVENTS, LOG_FIELDS } from "../src/events/vocabulary.ts";
import { GATES } from "../src/thread/gates/gates.ts";

/**
 * Writes what `.env.example` and `docs/configuration.md` say of single settings, `docs/agent.md` of gates and `docs/operate.md` of the log, and draws the readme's picture: `npm run docs`.
 * A test holds them to it.
 */

type Schema = z.core.JSONSchema.BaseSchema;
type Row = readonly [name: string, ...columns: string[]];

const ROOT = join(import.meta.dirname, "..");
const WIDTH = 120;

function schemaOf(schema: z.ZodType): Schema {
  return z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
}

const variables = SETTINGS.filter(({ source }) => source === "env").map(
  ({ name, description, schema }) => ({
    name,
    description,
    fallback: textOf(schemaOf(schema).default),
  }),
);

function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** The table of variables. */
const variableRows: readonly Row[] = variables.map(({ name, description, fallback }) => [
  name,
  fallback === "" ? "(not set)" : `\`${fallback}\``,
  description,
]);

/** The table of keys: whatever has a value of its own, and lists of objects also as a whole. */
function keyRows(schema: Schema, path = "", isNeeded = false): Row[] {
  const { properties, items, required = [], description = "" } = schema;
  if (properties !== undefined) {
    return Object.entries(properties).flatMap(([key, value]) =>
      keyRows(asObject(value), path === "" ? key : `${path}.${key}`, required.includes(key)),
    );
  }
  const row: Row = [path, fallbackOf(schema, isNeeded), description];
  const item = asObject(Array.isArray(items) ? undefined : items);
  return item.properties === undefined ? [row] : [row, ...keyRows(item, `${path}[]`)];
}

function asObject(schema: boolean | Schema | undefined): Schema {
  return typeof schema === "object" ? schema : {};
}

function fallbackOf(schema: Schema, isNeeded: boolean): string {
  const words: unknown = schema["unset"];
  if (typeof words === "string") return words;
  if (schema.default === undefined) return isNeeded ? "(needed)" : "(not set)";
  const values = [schema.default].flat();
  return values.length === 0 ? "none" : values.map((value) => `\`${textOf(value)}\``).join(", ");
}

/** Aligned as the formatter does it. */
function tableOf(head: Row, rows: readonly Row[]): string {
  const cells = [head, ...rows.map(([name, ...rest]): Row => [`\`${name}\``, ...rest])];
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)));
  lines.splice(
    1,
    0,
    widths.map((width) => "-".repeat(width)),
  );
  return lines.map((line) => `| ${line.join(" | ")} |\n`).join("");
}

/** The table of gates, in the order in which they are heard. */
const gateRows = GATES.map(({ name, about, ...gate }): Row => {
  const switched: Readonly<Partial<Record<string, boolean>>> = SWITCHED_GATES;
  const isOn = switched[name];
  const places = [
    ...(gate.beforeCall === undefined ? [] : ["before a call"]),
    ...(gate.afterCalls === undefined ? [] : ["after calls"]),
    ...(gate.beforeAnswer === undefined ? [] : ["before the answer"]),
  ];
  return [name, isOn === undefined ? "always" : isOn ? "on" : "off", places.join(", "), about];
});

const logRows = (about: Readonly<Record<string, string>>): readonly Row[] => Object.entries(about);

/** The page with the first table below a heading replaced. */
function withTable(page: string, heading: string, table: string): string {
  const at = page.indexOf(heading);
  const before = page.slice(0, at);
  return before + page.slice(at).replace(/(?:^\|.*\n)+/m, () => table);
}

/** Markdown without its marks, in lines of a comment. "See" needs a link's page only; elsewhere its words are the sentence's. */
function commentOf(markdown: string): string {
  const plain = markdown
    .replace(/ See below\.$/, "")
    .replaceAll("`", "")
    .replaceAll(/\bSee \[[^\]]*\]\(([^)]*)\)/g, "See docs/$1")
    .replaceAll(/\[([^\]]*)\]\(([^)]*)\)/g, "$1 (docs/$2)");
  const lines = [""];
  for (const word of plain.split(" ")) {
    const line = `${lines.at(-1)} ${word}`;
    if (line.length < WIDTH) lines[lines.length - 1] = line;
    else lines.push(` ${word}`);
  }
  return lines.map((line) => `#${line}\n`).join("");
}

/** The text of each file that is written, by its path from the root. */
export async function pages(): Promise<Record<string, string>> {
  const read = (path: string) => readFile(join(ROOT, path), "utf8");
  const [intro = ""] = (await read(".env.example")).split("\n\n");
  const examples = variables.map(
    ({ name, description, fallback }) => `${commentOf(description)}${name}=${fallback}\n`,
  );
  const page = withTable(
    await read("docs/configuration.md"),
    "## Environment",
    tableOf(["variable", "default", "meaning"], variableRows),
  );
  return {
    "docs/pictures/slack-thread.svg": drawThread(await read("docs/pictures/slack-thread.json")),
    ".env.example": [`${intro}\n`, ...examples].join("\n"),
    "docs/agent.md": withTable(
      await read("docs/agent.md"),
      "## Gates",
      tableOf(["gate", "default", "where", "what it does"], gateRows),
    ),
    "docs/operate.md": withTable(
      withTable(
        await read("docs/operate.md"),
        "### Events",
        tableOf(["event", "what happened"], logRows(LOG_EVENTS)),
      ),
      "### Fields",
      tableOf(["field", "meaning"], logRows(LOG_FIELDS)),
    ),
    "docs/configuration.md": withTable(
      page,
      "## watchkeeper.yaml",
      tableOf(["key", "default", "meaning"], keyRows(schemaOf(fileSchema))),
    ),
  };
}

if (import.meta.main) {
  for (const [path, text] of Object.entries(await pages())) await writeFile(join(ROOT, path), text);
}
