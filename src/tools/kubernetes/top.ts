import * as z from "zod";
import type { JsonObject } from "../../core/entry.ts";
import type { Gap } from "../../core/finding.ts";
import { formatBytes, percent } from "../../core/text.ts";
import type { Tool } from "../tool.ts";
import type { Api } from "./client.ts";
import { type Clusters, defineRead, someNamespace } from "./cluster-tool.ts";
import { cores, moment, tableText } from "./format.ts";
import { builtIn, type Kind } from "./kinds.ts";
import { at, listAt, nameOf, namespaceOf, objectAt, quantity, textAt, textsAt } from "./objects.ts";
import { podState } from "./pods.ts";

const MAX_ROWS = 40;

function metrics(plural: string, kind: string, namespaced: boolean): Kind {
  return { kind, plural, group: "metrics.k8s.io", versions: ["v1beta1"], namespaced, names: [] };
}

const POD_METRICS = metrics("pods", "PodMetrics", true);
const NODE_METRICS = metrics("nodes", "NodeMetrics", false);

/** What is used of what there is: pods, nodes, volumes, quotas. */
export function createTop(clusters: Clusters): Tool {
  return defineRead(clusters, {
    name: "kubernetes_top",
    summary: "shows what pods and nodes use against requests and limits, storage and quotas",
    description:
      "What is used of what there is: pods (CPU, memory against requests and limits), nodes (usage, requests, room, conditions), storage (claims, volumes, classes), quotas.",
    shape: {
      of: z.enum(["pods", "nodes", "storage", "quotas"]),
      namespace: someNamespace,
    },
    doing: ({ of }) => `Looking at what ${of} use`,
    async run({ of, namespace }, api) {
      const gaps: Gap[] = [];
      const text = await VIEWS[of](api, namespace, gaps);
      return { text, gaps };
    },
  });
}

type View = (api: Api, namespace: string | undefined, gaps: Gap[]) => Promise<string>;

const VIEWS: Readonly<Record<"pods" | "nodes" | "storage" | "quotas", View>> = {
  pods: topPods,
  nodes: topNodes,
  storage: topStorage,
  quotas: topQuotas,
};

interface Amounts {
  cpu: number;
  memory: number;
}

function amounts(from: JsonObject): Amounts {
  return { cpu: quantity(from["cpu"]), memory: quantity(from["memory"]) };
}

function sum(all: readonly Amounts[]): Amounts {
  return all.reduce((a, b) => ({ cpu: a.cpu + b.cpu, memory: a.memory + b.memory }), {
    cpu: 0,
    memory: 0,
  });
}

function containersSum(pod: JsonObject, key: "requests" | "limits"): Amounts {
  return sum(
    listAt(pod, "spec", "containers").map((each) => amounts(objectAt(each, "resources", key))),
  );
}

function usageOf(pod: JsonObject | undefined): Amounts | undefined {
  return pod && sum(listAt(pod, "containers").map((each) => amounts(objectAt(each, "usage"))));
}

/** What a metrics server measured; without one there is a gap that says so. */
async function seeMetrics(
  api: Api,
  kind: Kind,
  gaps: Gap[],
  namespace?: string,
): Promise<JsonObject[]> {
  const own: Gap[] = [];
  const items = await api.see(kind, own, { namespace });
  const isAbsent = own.some(
    ({ why }) => why.includes("does not have that kind") || why.includes("503"),
  );
  if (isAbsent) {
    gaps.push({
      what: "what is used now",
      why: "the cluster has no metrics server",
      help: "Install metrics-server.",
    });
  } else gaps.push(...own);
  return items;
}

const keyOf = (object: JsonObject) => `${namespaceOf(object)}/${nameOf(object)}`;

async function topPods(api: Api, namespace: string | undefined, gaps: Gap[]): Promise<string> {
  const [pods, used] = await Promise.all([
    api.see(builtIn("pods"), gaps, {
      namespace,
      fields: "status.phase!=Succeeded,status.phase!=Failed",
    }),
    seeMetrics(api, POD_METRICS, gaps, namespace),
  ]);
  const usage = new Map(used.map((each) => [keyOf(each), usageOf(each)]));
  const rows = pods
    .map((pod) => {
      const limits = containersSum(pod, "limits");
      const requests = containersSum(pod, "requests");
      const now = usage.get(keyOf(pod));
      const strain =
        now === undefined
          ? 0
          : Math.max(ratio(now.memory, limits.memory), ratio(now.cpu, limits.cpu));
      return { pod, limits, requests, now, strain };
    })
    .toSorted(
      (a, b) =>
        b.strain - a.strain ||
        (b.now?.memory ?? b.requests.memory) - (a.now?.memory ?? a.requests.memory),
    );
  if (rows.length === 0)
    return `No pods${namespace === undefined ? "" : ` in namespace ${namespace}`}.`;
  const table = rows
    .slice(0, MAX_ROWS)
    .map(({ pod, limits, requests, now }) => [
      namespace === undefined ? keyOf(pod) : nameOf(pod),
      now === undefined ? "?" : cores(now.cpu),
      `${orNone(requests.cpu, cores)}/${orNone(limits.cpu, cores)}`,
      now === undefined ? "?" : formatBytes(Math.round(now.memory)),
      `${orNone(requests.memory, formatBytes)}/${orNone(limits.memory, formatBytes)}`,
      now === undefined || limits.memory === 0 ? "" : percent(now.memory, limits.memory),
      String(podState(pod).restarts),
    ]);
  const head = ["POD", "CPU", "REQUEST/LIMIT", "MEMORY", "REQUEST/LIMIT", "OF LIMIT", "RESTARTS"];
  return `${tableText(head, table)}${moreRows(rows.length)}`;
}

function moreRows(count: number): string {
  return count > MAX_ROWS ? `\n… and ${count - MAX_ROWS} more; name a namespace` : "";
}

function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

function orNone(value: number, format: (value: number) => string): string {
  return value === 0 ? "–" : format(value);
}

async function topNodes(api: Api, _: string | undefined, gaps: Gap[]): Promise<string> {
  const running = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed";
  const [nodes, pods, used] = await Promise.all([
    api.list(builtIn("nodes")).then(({ items }) => items),
    api.see(builtIn("pods"), gaps, { fields: running }),
    seeMetrics(api, NODE_METRICS, gaps),
  ]);
  if (nodes.length === 0) return "The cluster has no nodes.";
  const usage = new Map(used.map((each) => [nameOf(each), amounts(objectAt(each, "usage"))]));
  const rows = nodes.map((node) => {
    const room = amounts(objectAt(node, "status", "allocatable"));
    const own = pods.filter((pod) => textAt(pod, "spec", "nodeName") === nameOf(node));
    const asked = sum(own.map((pod) => containersSum(pod, "requests")));
    const now = usage.get(nameOf(node));
    const most = quantity(at(node, "status", "allocatable", "pods"));
    return [
      nameOf(node),
      nodeState(node),
      now === undefined ? "?" : `${cores(now.cpu)} (${percent(now.cpu, room.cpu)})`,
      `${cores(asked.cpu)} of ${cores(room.cpu)} (${percent(asked.cpu, room.cpu)})`,
      now === undefined
        ? "?"
        : `${formatBytes(Math.round(now.memory))} (${percent(now.memory, room.memory)})`,
      `${formatBytes(asked.memory)} of ${formatBytes(room.memory)} (${percent(asked.memory, room.memory)})`,
      `${own.length} of ${most}`,
      textAt(node, "status", "nodeInfo", "kubeletVersion"),
    ];
  });
  const head = [
    "NODE",
    "STATE",
    "CPU",
    "CPU REQUESTED",
    "MEMORY",
    "MEMORY REQUESTED",
    "PODS",
    "VERSION",
  ];
  return tableText(head, rows.slice(0, MAX_ROWS)) + moreRows(rows.length);
}

function nodeState(node: JsonObject): string {
  const bad = listAt(node, "status", "conditions").flatMap((condition) => {
    const type = textAt(condition, "type");
    const status = textAt(condition, "status");
    if (type === "Ready")
      return status === "True"
        ? []
        : [`NotReady since ${moment(textAt(condition, "lastTransitionTime"))}`];
    return status === "False" ? [] : [type];
  });
  const taints = listAt(node, "spec", "taints").map(
    (taint) => `${textAt(taint, "key")}:${textAt(taint, "effect")}`,
  );
  const words = [
    ...bad,
    ...(objectAt(node, "spec")["unschedulable"] === true ? ["cordoned"] : []),
    ...taints,
  ];
  return words.length === 0 ? "Ready" : words.join(", ");
}

async function topStorage(api: Api, namespace: string | undefined, gaps: Gap[]): Promise<string> {
  const [claims, volumes, classes, pods] = await Promise.all([
    api.see(builtIn("persistentvolumeclaims"), gaps, { namespace }),
    api.see(builtIn("persistentvolumes"), gaps),
    api.see(builtIn("storageclasses"), gaps),
    api.see(builtIn("pods"), gaps, { namespace }),
  ]);
  const users = new Map<string, string[]>();
  for (const pod of pods) {
    for (const volume of listAt(pod, "spec", "volumes")) {
      const key = `${namespaceOf(pod)}/${textAt(volume, "persistentVolumeClaim", "claimName")}`;
      users.set(key, [...(users.get(key) ?? []), nameOf(pod)]);
    }
  }
  const rows = claims
    .toSorted(
      (a, b) =>
        Number(textAt(a, "status", "phase") === "Bound") -
        Number(textAt(b, "status", "phase") === "Bound"),
    )
    .map((claim) => [
      namespace === undefined ? keyOf(claim) : nameOf(claim),
      textAt(claim, "status", "phase"),
      textAt(claim, "status", "capacity", "storage") ||
        `asks ${textAt(claim, "spec", "resources", "requests", "storage")}`,
      textsAt(claim, "spec", "accessModes").join(","),
      textAt(claim, "spec", "storageClassName") || "–",
      textAt(claim, "spec", "volumeName") || "–",
      (users.get(keyOf(claim)) ?? ["no pod"]).slice(0, 3).join(", "),
    ]);
  const loose = volumes
    .filter((volume) => textAt(volume, "status", "phase") !== "Bound")
    .map((volume) =>
      `${nameOf(volume)} ${textAt(volume, "status", "phase")} ${textAt(volume, "spec", "capacity", "storage")} ${textAt(volume, "spec", "storageClassName")}`.trim(),
    );
  const kinds = classes.map(
    (each) =>
      `${nameOf(each)} (${textAt(each, "provisioner")}, ${textAt(each, "volumeBindingMode") || "Immediate"}${isDefault(each) ? ", default" : ""})`,
  );
  const head = ["CLAIM", "STATE", "SIZE", "MODES", "CLASS", "VOLUME", "USED BY"];
  return [
    rows.length === 0
      ? "No volume claims."
      : `${tableText(head, rows.slice(0, MAX_ROWS))}${moreRows(rows.length)}`,
    `Volumes that are not bound: ${loose.length === 0 ? "none" : loose.slice(0, 10).join("; ")}`,
    `Storage classes: ${kinds.length === 0 ? "none" : kinds.join("; ")}`,
  ].join("\n");
}

function isDefault(storageClass: JsonObject): boolean {
  return (
    textAt(
      storageClass,
      "metadata",
      "annotations",
      "storageclass.kubernetes.io/is-default-class",
    ) === "true"
  );
}

async function topQuotas(api: Api, namespace: string | undefined, gaps: Gap[]): Promise<string> {
  const [quotas, limits] = await Promise.all([
    api.see(builtIn("resourcequotas"), gaps, { namespace }),
    api.see(builtIn("limitranges"), gaps, { namespace }),
  ]);
  const rows = quotas
    .flatMap((quota) =>
      Object.entries(objectAt(quota, "status", "hard")).map(([resource, hard]) => {
        const used = at(quota, "status", "used", resource);
        const share = ratio(quantity(used), quantity(hard));
        return {
          share,
          cells: [
            keyOf(quota),
            resource,
            written(used),
            written(hard),
            percent(quantity(used), quantity(hard)),
          ],
        };
      }),
    )
    .toSorted((a, b) => b.share - a.share);
  const ranges = limits.flatMap((range) =>
    listAt(range, "spec", "limits").map((limit) => {
      const { type, ...rest } = limit;
      return `${keyOf(range)} ${typeof type === "string" ? type : ""}: ${JSON.stringify(rest)}`;
    }),
  );
  const head = ["QUOTA", "RESOURCE", "USED", "HARD", "SHARE"];
  const cells = rows.slice(0, MAX_ROWS).map((row) => row.cells);
  return [
    rows.length === 0 ? "No quotas." : `${tableText(head, cells)}${moreRows(rows.length)}`,
    ...(ranges.length === 0 ? [] : [`Limit ranges: ${ranges.slice(0, 10).join("; ")}`]),
  ].join("\n");
}

function written(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "0";
}
