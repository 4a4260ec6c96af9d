import type * as k8s from "./objects.ts";
import type * as resources from "./resources.ts";

/** What is looked at, by the name of its list in a snapshot. */
export interface Lists {
  pods: k8s.Pod;
  events: k8s.KubeEvent;
  replicasets: resources.Workload;
  deployments: resources.Workload;
  statefulsets: resources.Workload;
  daemonsets: resources.Workload;
  jobs: resources.Workload;
  cronjobs: resources.CronJob;
  services: resources.Service;
  endpoints: resources.Endpoints;
  endpointslices: resources.EndpointSlice;
  ingresses: resources.Ingress;
  ingressclasses: k8s.KubeObject;
  networkpolicies: resources.NetworkPolicy;
  configmaps: resources.KeyedObject;
  secrets: resources.KeyedObject;
  serviceaccounts: resources.ServiceAccount;
  persistentvolumeclaims: resources.VolumeClaim;
  persistentvolumes: resources.PersistentVolume;
  storageclasses: resources.StorageClass;
  resourcequotas: resources.ResourceQuota;
  horizontalpodautoscalers: resources.Autoscaler;
  poddisruptionbudgets: resources.DisruptionBudget;
  namespaces: k8s.Namespace;
  nodes: k8s.Node;
  /** Of all namespaces, those that are bound to a node: what nodes have left is worked out from them. */
  nodePods: k8s.Pod;
  systemPods: k8s.Pod;
  systemEvents: k8s.KubeEvent;
  systemDeployments: resources.Workload;
  systemDaemonsets: resources.Workload;
  systemServices: resources.Service;
  systemEndpoints: resources.Endpoints;
  componentstatuses: k8s.ComponentStatus;
  podMetrics: k8s.PodMetrics;
  nodeMetrics: k8s.NodeMetrics;
}

export type ListName = keyof Lists;

/** How one list is read. */
export interface Resource {
  /** The plural name in the path, such as `pods`. */
  resource: string;
  /** Empty for the core group. */
  group: string;
  /** The newest first: the first that the API server has is read. */
  versions: readonly string[];
  /** In the namespace that is asked about, in `kube-system`, or without one. */
  scope: "namespace" | "system" | "cluster";
  fieldSelector?: string;
  /** Not every cluster has it: that it is not found is no gap. */
  optional?: true;
  /** Its `data` may be secret: `keyedObject` keeps the names of the keys. */
  keysOnly?: true;
}

function resource(
  [group, ...versions]: readonly string[],
  name: string,
  scope: Resource["scope"] = "namespace",
  more: Pick<Resource, "fieldSelector" | "optional" | "keysOnly"> = {},
): Resource {
  return { resource: name, group: group ?? "", versions, scope, ...more };
}

const CORE = ["", "v1"];
const APPS = ["apps", "v1"];
const NETWORKING = ["networking.k8s.io", "v1", "v1beta1"];
const METRICS = ["metrics.k8s.io", "v1beta1"];

/** What to read for a snapshot. */
export const RESOURCES: Readonly<Record<ListName, Resource>> = {
  pods: resource(CORE, "pods"),
  events: resource(CORE, "events"),
  replicasets: resource(APPS, "replicasets"),
  deployments: resource(APPS, "deployments"),
  statefulsets: resource(APPS, "statefulsets"),
  daemonsets: resource(APPS, "daemonsets"),
  jobs: resource(["batch", "v1"], "jobs"),
  cronjobs: resource(["batch", "v1", "v1beta1"], "cronjobs"),
  services: resource(CORE, "services"),
  endpoints: resource(CORE, "endpoints"),
  endpointslices: resource(["discovery.k8s.io", "v1", "v1beta1"], "endpointslices"),
  ingresses: resource(NETWORKING, "ingresses"),
  ingressclasses: resource(NETWORKING, "ingressclasses", "cluster"),
  networkpolicies: resource(["networking.k8s.io", "v1"], "networkpolicies"),
  configmaps: resource(CORE, "configmaps", "namespace", { keysOnly: true }),
  secrets: resource(CORE, "secrets", "namespace", { keysOnly: true }),
  serviceaccounts: resource(CORE, "serviceaccounts"),
  persistentvolumeclaims: resource(CORE, "persistentvolumeclaims"),
  persistentvolumes: resource(CORE, "persistentvolumes", "cluster"),
  storageclasses: resource(["storage.k8s.io", "v1"], "storageclasses", "cluster"),
  resourcequotas: resource(CORE, "resourcequotas"),
  horizontalpodautoscalers: resource(
    ["autoscaling", "v2", "v2beta2", "v1"],
    "horizontalpodautoscalers",
  ),
  poddisruptionbudgets: resource(["policy", "v1", "v1beta1"], "poddisruptionbudgets"),
  namespaces: resource(CORE, "namespaces", "cluster"),
  nodes: resource(CORE, "nodes", "cluster"),
  nodePods: resource(CORE, "pods", "cluster", {
    fieldSelector: "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed",
  }),
  systemPods: resource(CORE, "pods", "system"),
  systemEvents: resource(CORE, "events", "system"),
  systemDeployments: resource(APPS, "deployments", "system"),
  systemDaemonsets: resource(APPS, "daemonsets", "system"),
  systemServices: resource(CORE, "services", "system"),
  systemEndpoints: resource(CORE, "endpoints", "system"),
  componentstatuses: resource(CORE, "componentstatuses", "cluster", { optional: true }),
  podMetrics: resource(METRICS, "pods", "namespace", { optional: true }),
  nodeMetrics: resource(METRICS, "nodes", "cluster", { optional: true }),
};

/** A namespace and what surrounds it, as it was read. */
export interface Snapshot {
  namespace: string;
  /** The `items` of each list that could be read. */
  lists: { readonly [Name in ListName]?: readonly Lists[Name][] };
  /** Why a list is not there, such as `forbidden`. */
  missing: { readonly [Name in ListName]?: string };
  /**
   * The last lines of a container, the newest last, cleaned of secrets; undefined: there are none, or they cannot be read.
   * `previous`: of its run before the last restart.
   */
  logs(pod: string, container: string, previous: boolean): Promise<readonly string[] | undefined>;
}

/** A ConfigMap or Secret without its values. */
export function keyedObject(
  item: k8s.KubeObject & { type?: string; data?: object | null; binaryData?: object | null },
): resources.KeyedObject {
  const keys = [...Object.keys(item.data ?? {}), ...Object.keys(item.binaryData ?? {})];
  return {
    ...(item.metadata !== undefined && { metadata: item.metadata }),
    ...(item.type !== undefined && { type: item.type }),
    keys,
  };
}
