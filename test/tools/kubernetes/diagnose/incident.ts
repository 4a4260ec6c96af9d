import type * as k8s from "../../../../src/tools/kubernetes/diagnose/objects.ts";
import {
  keyedObject,
  type ListName,
  type Snapshot,
} from "../../../../src/tools/kubernetes/diagnose/snapshot.ts";

import { healthyCluster } from "./incident-cluster.ts";
import { ago, expand, type Json, type Workload } from "./incident-workload.ts";

/** An incident as it is written in YAML: workloads in short, everything else as the API server lists it. */
export interface Incident {
  incident: string;
  namespace?: string;
  workloads?: Workload[];
  objects?: Json[];
  /** Lines by `workload`, or `workload/container`. */
  logs?: Record<string, string[]>;
  /** Nothing of the healthy cluster's own is there. */
  bare?: boolean;
  forbidden?: ListName[];
  expect?: Expected | "healthy";
}

interface Expected {
  kind: string;
  name: string;
  /** A regular expression that the cause matches, in any case. */
  cause: string;
}

const LISTS: Record<string, ListName> = {
  Pod: "pods",
  Event: "events",
  ReplicaSet: "replicasets",
  Deployment: "deployments",
  StatefulSet: "statefulsets",
  DaemonSet: "daemonsets",
  Job: "jobs",
  CronJob: "cronjobs",
  Service: "services",
  Endpoints: "endpoints",
  EndpointSlice: "endpointslices",
  Ingress: "ingresses",
  IngressClass: "ingressclasses",
  NetworkPolicy: "networkpolicies",
  ConfigMap: "configmaps",
  Secret: "secrets",
  ServiceAccount: "serviceaccounts",
  PersistentVolumeClaim: "persistentvolumeclaims",
  PersistentVolume: "persistentvolumes",
  StorageClass: "storageclasses",
  ResourceQuota: "resourcequotas",
  HorizontalPodAutoscaler: "horizontalpodautoscalers",
  PodDisruptionBudget: "poddisruptionbudgets",
  Namespace: "namespaces",
  Node: "nodes",
  ComponentStatus: "componentstatuses",
  PodMetrics: "podMetrics",
  NodeMetrics: "nodeMetrics",
};

const SYSTEM: Partial<Record<ListName, ListName>> = {
  pods: "systemPods",
  events: "systemEvents",
  deployments: "systemDeployments",
  daemonsets: "systemDaemonsets",
  services: "systemServices",
  endpoints: "systemEndpoints",
};

/** A later object replaces an earlier one of the same name. */
export function snapshotOf(incident: Incident): Snapshot {
  const namespace = incident.namespace ?? "shop";
  const lists: Partial<Record<ListName, Map<string, Json>>> = {};
  for (const name of Object.values({ ...LISTS, ...SYSTEM, nodePods: "nodePods" as const }))
    lists[name] = new Map();
  const put = (object: Json) => {
    const listed = LISTS[String(object.kind)];
    if (listed === undefined) throw new Error(`no list of ${String(object.kind)}`);
    const meta: Json = (object.metadata ??= {});
    const isCluster = [
      "nodes",
      "persistentvolumes",
      "storageclasses",
      "ingressclasses",
      "namespaces",
      "componentstatuses",
      "nodeMetrics",
    ].includes(listed);
    if (!isCluster) meta["namespace"] ??= namespace;
    meta["creationTimestamp"] ??= ago("30d");
    const list = meta["namespace"] === "kube-system" ? (SYSTEM[listed] ?? listed) : listed;
    const key =
      listed === "events" ? String(meta["name"]) + String(lists[list]?.size) : String(meta["name"]);
    const spec = object["spec"] as Json | undefined;
    const status = object["status"] as Json | undefined;
    if (
      listed === "pods" &&
      spec?.["nodeName"] !== undefined &&
      !["Succeeded", "Failed"].includes(String(status?.["phase"]))
    )
      lists.nodePods?.set(`${String(meta["namespace"])}/${key}`, object);
    lists[list]?.set(key, object);
  };
  if (incident.bare !== true) for (const object of healthyCluster(namespace)) put(object);
  const pods = new Map<string, string>();
  for (const workload of incident.workloads ?? [])
    for (const object of expand(workload)) {
      if (object.kind === "Pod") pods.set(String(object.metadata?.["name"]), workload.name);
      put(object);
    }
  for (const object of incident.objects ?? [])
    put(
      ["ConfigMap", "Secret"].includes(String(object.kind))
        ? ({
            ...keyedObject(object as k8s.KubeObject),
            kind: String(object.kind),
          } as unknown as Json)
        : object,
    );
  const missing: Partial<Record<ListName, string>> = {};
  for (const name of incident.forbidden ?? []) {
    delete lists[name];
    missing[name] = "forbidden";
  }
  return {
    namespace,
    lists: Object.fromEntries(
      Object.entries(lists).map(([name, list]) => [name, [...list.values()]]),
    ),
    missing,
    async logs(pod, container) {
      const workload = pods.get(pod) ?? pod;
      return incident.logs?.[`${workload}/${container}`] ?? incident.logs?.[workload];
    },
  };
}
