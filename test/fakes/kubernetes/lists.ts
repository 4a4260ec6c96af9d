import type { FakeKind, Obj } from "./resources.ts";
import { type Answer, badRequest } from "./status.ts";

/** Lists: their order, selectors, pages and forms. */

export const sortKey = ({ metadata }: Obj) => `${metadata.namespace ?? ""}/${metadata.name}`;

export function metadataOf({ metadata }: Obj): Obj {
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata };
}

export function table(page: readonly Obj[], { columns }: FakeKind, metadata: object): object {
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata,
    columnDefinitions: columns.map(({ name, priority }) => ({
      name,
      type: "string",
      format: name === "Name" ? "name" : "",
      priority,
    })),
    rows: page.map((object) => ({
      cells: columns.map(({ cell }) => cell(object)),
      object: metadataOf(object),
    })),
  };
}

export function select(
  all: readonly Obj[],
  { fields }: FakeKind,
  labels: string,
  wanted: string,
): Obj[] | Answer {
  const known = ["metadata.name", "metadata.namespace", ...fields];
  const terms =
    wanted === "" ? [] : wanted.split(",").map((term) => /^(.+?)(!=|==?)(.*)$/.exec(term) ?? []);
  const unknown = terms.find(([, field = ""]) => !known.includes(field))?.[1];
  if (unknown !== undefined) {
    const only = known
      .slice(0, 2)
      .map((field) => `"${field}"`)
      .join(", ");
    return badRequest(`"${unknown}" is not a known field selector: only ${only}`);
  }
  const matches = labelTerms(labels);
  return all.filter(
    (object) =>
      matches.every((match) => match(object["metadata"].labels ?? {})) &&
      terms.every(([, field = "", operator, value = ""]) => {
        const found: unknown = field
          .split(".")
          .reduce((at: Obj | undefined, step) => at?.[step], object);
        const is = typeof found === "string" || typeof found === "boolean" ? String(found) : "";
        return operator === "!=" ? is !== value : is === value;
      }),
  );
}

function labelTerms(text: string): ((labels: Record<string, string>) => boolean)[] {
  return (text.match(/[^,(]+(?:\([^)]*\))?/g) ?? []).map((term) => {
    const [, key = "", operator = "", values = ""] =
      /^\s*(\S+)\s+(in|notin)\s+\(([^)]*)\)\s*$/.exec(term) ?? [];
    const list = values.split(",").map((value) => value.trim());
    if (operator === "in") return (labels) => list.includes(labels[key] ?? "\0");
    if (operator === "notin") return (labels) => !list.includes(labels[key] ?? "\0");
    const [, name = "", sign = "", value = ""] =
      /^(!?[^=!]+)(!=|==?)?(.*)$/.exec(term.trim()) ?? [];
    if (sign === "!=") return (labels) => labels[name] !== value;
    if (sign !== "") return (labels) => labels[name] === value;
    return (labels) => (name.startsWith("!") ? !(name.slice(1) in labels) : name in labels);
  });
}

interface Mark {
  version: number;
  from: number;
}

export function writeMark(version: number, from: number): string {
  return Buffer.from(JSON.stringify({ version, from })).toString("base64url");
}

export function readMark(text: string | null): Mark | undefined {
  if (text === null || text === "") return { version: 0, from: 0 };
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString());
  } catch {
    return undefined;
  }
}
