import type { JsonObject } from "../../core/entry.ts";
import type { Encoder } from "../../security/encoder.ts";
import { messageOf } from "../../core/errors.ts";
import type { Api } from "./client.ts";
import {
  keyedObject,
  type ListName,
  type Resource,
  RESOURCES,
  type Snapshot,
} from "./diagnose/snapshot.ts";
import { builtIn, findKind, type Kind } from "./kinds.ts";
import { isObject, objectAt } from "./objects.ts";
import { isRefusal } from "./refusal.ts";

/** Gathers what the analyzers look at. */

/** At once: more make an API server wait, and each may hold some megabytes. */
const AT_ONCE = 6;
const MAX_ITEMS = 10_000;
/** A stack trace alone may take more than a hundred. */
const LOG_LINES = 200;
const LOG_BYTES = 256 * 1024;
const SYSTEM = "kube-system";

/** Each list's kind, made once: which version the server has is remembered by it. */
const LIST_KINDS: ReadonlyMap<ListName, Kind> = new Map(
  entriesOf(RESOURCES).map(([name, resource]) => [name, kindFor(resource)]),
);

function entriesOf(resources: Readonly<Record<ListName, Resource>>): [ListName, Resource][] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the record are the names of lists
  return Object.entries(resources) as [ListName, Resource][];
}

function kindFor({ resource, group, versions, scope }: Resource): Kind {
  const known = findKind(group === "" ? resource : `${resource}.${group}`);
  const namespaced = known?.namespaced ?? scope !== "cluster";
  return { kind: known?.kind ?? "", plural: resource, group, versions, namespaced, names: [] };
}

/** A namespace and what surrounds it. What cannot be read is in `missing`; what ends the call is thrown. */
export async function takeSnapshot(
  api: Api,
  namespace: string,
  encoder: Encoder,
): Promise<Snapshot> {
  const lists: Record<string, JsonObject[]> = {};
  const missing: Partial<Record<ListName, string>> = {};
  const waiting = entriesOf(RESOURCES);
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [name, resource] = next;
      try {
        lists[name] = await readList(api, name, resource, namespace);
      } catch (error) {
        if (api.signal.aborted) throw error;
        missing[name] = reasonOf(error);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return {
    namespace,
    lists,
    missing,
    logs: (pod, container, previous) =>
      lastLines(api, { namespace, pod, container, previous }, encoder),
  };
}

async function readList(
  api: Api,
  name: ListName,
  { scope, fieldSelector, keysOnly }: Resource,
  namespace: string,
): Promise<JsonObject[]> {
  const kind = LIST_KINDS.get(name) ?? builtIn("pods");
  const where = { namespace, system: SYSTEM, cluster: undefined }[scope];
  const { items } = await api.list(kind, {
    namespace: where,
    ...(fieldSelector !== undefined && { fields: fieldSelector }),
    max: MAX_ITEMS,
    keep: keysOnly === true ? keysOf : name === "nodePods" ? onNode : slim,
  });
  return items;
}

function keysOf(item: JsonObject): JsonObject {
  const { metadata, type, keys } = keyedObject({
    metadata: { name: "" },
    data: objectAt(item, "data"),
    binaryData: objectAt(item, "binaryData"),
  });
  void [metadata, type];
  const own = item["type"];
  return {
    metadata: item["metadata"] ?? {},
    ...(own !== undefined && { type: own }),
    keys: [...keys],
  };
}

/** Annotations are the bulk of many objects, and no analyzer reads long ones. */
function slim(item: JsonObject): JsonObject {
  const { annotations, ...metadata } = objectAt(item, "metadata");
  if (!isObject(annotations)) return item;
  const short = Object.entries(annotations).filter(
    ([, value]) => typeof value === "string" && value.length <= 500,
  );
  return { ...item, metadata: { ...metadata, annotations: Object.fromEntries(short) } };
}

/** Of pods elsewhere only what they take of their node counts. */
function onNode(pod: JsonObject): JsonObject {
  const { name = "", namespace = "", labels = {} } = objectAt(pod, "metadata");
  const spec = objectAt(pod, "spec");
  const { nodeName = "", affinity = {} } = spec;
  const containers = (key: string) => {
    const all = spec[key];
    return (Array.isArray(all) ? all.filter(isObject) : []).map(
      ({ name: own = "", resources = {}, ports = [] }) => ({ name: own, resources, ports }),
    );
  };
  return {
    metadata: { name, namespace, labels },
    spec: {
      nodeName,
      affinity,
      containers: containers("containers"),
      initContainers: containers("initContainers"),
    },
    status: { phase: objectAt(pod, "status")["phase"] ?? "" },
  };
}

function reasonOf(error: unknown): string {
  if (isRefusal(error, 403)) return "forbidden";
  if (isRefusal(error, 404)) return "not found";
  return isRefusal(error) ? error.message : messageOf(error);
}

interface Log {
  namespace: string;
  pod: string;
  container: string;
  previous: boolean;
}

async function lastLines(
  api: Api,
  { namespace, pod, container, previous }: Log,
  encoder: Encoder,
): Promise<readonly string[] | undefined> {
  try {
    const place = { kind: builtIn("pods"), namespace, name: pod, subresource: "log" };
    const query = {
      container,
      tailLines: LOG_LINES,
      limitBytes: LOG_BYTES,
      ...(previous && { previous }),
    };
    const { text } = await api.text(place, query, 2 * LOG_BYTES);
    const lines = (await encoder.aside.encode(text))
      .split("\n")
      .filter((line) => line.trim() !== "");
    return lines.length === 0 ? undefined : lines;
  } catch (error) {
    if (api.signal.aborted) throw error;
    return undefined;
  }
}
