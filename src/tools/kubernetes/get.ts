import * as z from "zod";
import type { JsonObject } from "../../core/entry.ts";
import { capText, counted } from "../../core/text.ts";
import type { Tool } from "../tool.ts";
import type { Api } from "./client.ts";
import { type Clusters, defineRead, locate, objectName, someNamespace } from "./cluster-tool.ts";
import { tableText } from "./format.ts";
import type { Kind } from "./kinds.ts";
import { at, listAt, mapAt, namespaceOf, numberAt, objectAt, textAt } from "./objects.ts";
import { withoutSecretEnv } from "./secrecy.ts";

const MAX_ROWS = 200;
const MAX_YAML_BYTES = 12_000;

export const kindArgument = z
  .string()
  .min(1)
  .max(120)
  .regex(
    /^[A-Za-z][\w.-]*$/,
    "expected a kind such as pods, deploy or certificates.cert-manager.io",
  )
  .describe("pods, deploy, svc, ingress, nodes, pvc, certificates.cert-manager.io …");

export function createGet(clusters: Clusters): Tool {
  return defineRead(clusters, {
    name: "kubernetes_get",
    summary: "lists objects of any kind as kubectl does, or shows one of them whole",
    description:
      "Lists objects of any kind with kubectl's wide columns, or shows one: a row, or with yaml=true the whole object. Secrets show key names and sizes only.",
    shape: {
      kind: kindArgument,
      name: objectName.optional(),
      namespace: someNamespace,
      labels: z.string().max(500).optional().describe("Label selector: app=web,tier!=cache"),
      fields: z.string().max(500).optional().describe("Field selector: status.phase=Pending"),
      contains: z.string().min(1).max(100).optional().describe("Only rows with this text"),
      yaml: z.boolean().default(false).describe("The whole object; needs a name"),
    },
    doing: ({ kind, name }) => `Looking at ${kind}${name === undefined ? "" : ` ${name}`}`,
    async run(input, api) {
      const kind = await api.kind(input.kind);
      if (input.name !== undefined) {
        const object = await locate(api, kind, input.name, input.namespace);
        if (input.yaml) return { text: await yamlText({ kind: kind.kind, ...object }) };
        const namespace = kind.namespaced ? namespaceOf(object) : undefined;
        const table = await api.table({ kind, namespace, name: input.name });
        return { text: rowsText(kind, table, { namespace, contains: undefined }) };
      }
      return { text: await listText(api, kind, input) };
    },
  });
}

interface Asked {
  namespace?: string | undefined;
  labels?: string | undefined;
  fields?: string | undefined;
  contains?: string | undefined;
}

async function listText(api: Api, kind: Kind, asked: Asked): Promise<string> {
  const { labels: labelSelector, fields: fieldSelector, contains } = asked;
  const namespace = kind.namespaced ? asked.namespace : undefined;
  // Text is looked for in all of it, so more rows are read than are shown.
  const limit = contains === undefined ? MAX_ROWS : 2_000;
  const table = await api.table({ kind, namespace }, { limit, labelSelector, fieldSelector });
  return rowsText(kind, table, { namespace, contains });
}

function rowsText(
  kind: Kind,
  table: JsonObject,
  { namespace, contains }: { namespace: string | undefined; contains: string | undefined },
): string {
  const columns = listAt(table, "columnDefinitions").map((column) => textAt(column, "name"));
  const isSpread = kind.namespaced && namespace === undefined;
  const rows = listAt(table, "rows").map((row) => {
    const cells = columns.map((_, index) => cellText(row, index));
    return isSpread ? [namespaceOf(objectAt(row, "object")), ...cells] : cells;
  });
  const wanted = contains?.toLowerCase();
  const found =
    wanted === undefined
      ? rows
      : rows.filter((row) => row.join(" ").toLowerCase().includes(wanted));
  const where = namespace === undefined ? "" : ` in namespace ${namespace}`;
  const which = contains === undefined ? "" : ` with ${JSON.stringify(contains)}`;
  if (found.length === 0) return `No ${kind.plural}${where}${which}.`;
  const head = [...(isSpread ? ["NAMESPACE"] : []), ...columns.map((name) => name.toUpperCase())];
  const kept = withoutEmptyColumns(head, found.slice(0, MAX_ROWS));
  const remaining = numberAt(table, "metadata", "remainingItemCount");
  const isCut = textAt(table, "metadata", "continue") !== "" || found.length > MAX_ROWS;
  const more = remaining > 0 ? `${remaining} more` : "more";
  const note = isCut ? `\nThere are ${more}; narrow it by namespace, labels or fields.` : "";
  return `${counted(found.length, "row")}\n${tableText(kept.head, kept.rows)}${note}`;
}

function cellText(row: JsonObject, index: number): string {
  const value = at(row, "cells", index);
  return typeof value === "string"
    ? value
    : value === null || value === undefined
      ? ""
      : JSON.stringify(value);
}

/** Wide columns such as NOMINATED NODE, in which no row says anything. */
function withoutEmptyColumns(head: readonly string[], rows: readonly (readonly string[])[]) {
  const kept = head.flatMap((_, index) =>
    rows.some((row) => !/^(?:<none>|)$/.test(row[index] ?? "")) ? [index] : [],
  );
  const pick = (row: readonly string[]) => kept.map((index) => row[index] ?? "");
  return { head: pick(head), rows: rows.map(pick) };
}

/** As YAML, without what only machines need. */
async function yamlText(object: JsonObject): Promise<string> {
  const { resourceVersion, selfLink, generation, uid, ...metadata } = objectAt(object, "metadata");
  void [resourceVersion, selfLink, generation, uid];
  const { data, ...rest } = object;
  // Named as data, even the sizes would be taken for the values.
  const keys = Object.entries(mapAt(data)).map(([key, size]) => `${key} ${size}`);
  const own = textAt(object, "kind") === "Secret" ? { ...rest, keys } : object;
  return fieldsText(Object.keys(metadata).length === 0 ? own : { ...own, metadata });
}

/** Fields of an object as YAML. */
export async function fieldsText(fields: JsonObject): Promise<string> {
  const { stringify } = await import("yaml");
  const text = stringify(withoutSecretEnv(fields), { lineWidth: 0 }).trimEnd();
  return capText(text, MAX_YAML_BYTES);
}
