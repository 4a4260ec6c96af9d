import type { Endpoint } from "../http.ts";
import { instanceOf } from "../instances.ts";
import type { Database } from "./client.ts";

/** What the tools of PostgreSQL have in common. */
export interface PostgresParts {
  databases: Readonly<Record<string, Database>>;
  endpoints: Readonly<Record<string, Endpoint>>;
}

export function databaseFor(
  { databases }: PostgresParts,
  input: { instance?: string | undefined },
): Database {
  const name = instanceOf(input, databases);
  const found = databases[name];
  if (found === undefined) throw new TypeError(`There is no database ${name}.`);
  return found;
}

/** Which server, and what stands for it in messages: `127.0.0.1:5432/shop`. */
export function nameOf({ endpoints }: PostgresParts, { endpoint, database }: Database): string {
  return `${new URL(endpoints[endpoint]?.url ?? "postgres://?").host}/${database}`;
}

/** Numbers come as text where JavaScript's are too small for them. */
export function number(value: unknown): number {
  return typeof value === "number" ? value : Number(value ?? 0);
}

/** On one line, though a name in the database may have several: they would read as lines of ours. */
export function text(value: unknown): string {
  return typeof value === "string"
    ? value.replaceAll(/[\n\v\f\r\u0085\u2028\u2029]+/g, " ")
    : value === null || value === undefined
      ? ""
      : JSON.stringify(value);
}

/** A statement as a row shows it. */
export function oneStatement(value: unknown, most = 120): string {
  const line = text(value).replaceAll(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most)}…` : line;
}
