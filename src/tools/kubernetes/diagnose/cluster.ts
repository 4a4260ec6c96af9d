import type { Finding } from "../../../core/finding.ts";
import type * as k8s from "./objects.ts";
import type * as resources from "./resources.ts";
import { hasLabels } from "./selectors.ts";
import type { Lists, ListName, Snapshot } from "./snapshot.ts";

/** An event in either of its two shapes. */
export interface SeenEvent {
  object: string;
  type: string;
  reason: string;
  message: string;
  count: number;
  /** When it was last seen; empty: not known. */
  last: string;
  first: string;
}

/** What made pods, with its pods: what people call the service. A pod that nobody made stands for itself. */
export interface WorkloadView {
  kind: string;
  name: string;
  key: string;
  object: resources.Workload | undefined;
  /** Pods that are neither done nor being deleted. */
  pods: k8s.Pod[];
  /** All of them. */
  everyPod: k8s.Pod[];
  /** Of the newest pod, else of the template. */
  spec: k8s.PodSpec;
  labels: k8s.Labels;
  desired: number;
}

/** A snapshot, joined for look-ups. */
export interface Cluster {
  snapshot: Snapshot;
  namespace: string;
  now: number;
  list<Name extends ListName>(name: Name): readonly Lists[Name][];
  /** It could be read. */
  sees(name: ListName): boolean;
  workloads: readonly WorkloadView[];
  workload(key: string): WorkloadView | undefined;
  workloadOf(pod: k8s.Pod): WorkloadView;
  /** The latest first. */
  eventsOf(kind: string, name: string): readonly SeenEvent[];
  node(name: string): k8s.Node | undefined;
  service(name: string): resources.Service | undefined;
  /** Whom a service's selector selects. */
  selectedBy(service: resources.Service): readonly WorkloadView[];
  /** Key of an object of the namespace. */
  key(kind: string, name: string): string;
  object(kind: string, name: string): Finding["object"];
}

export function nameOf(object: k8s.KubeObject): string {
  return object.metadata?.name ?? "";
}

export function keyOf({ kind, namespace, name }: Finding["object"]): string {
  return `${kind}/${namespace}/${name}`;
}

/** Ms since 1970; NaN for none. */
export function timeOf(text: string | null | undefined): number {
  return text === null || text === undefined || text === "" ? NaN : Date.parse(text);
}

export function ageMs(cluster: { now: number }, object: k8s.KubeObject): number {
  const created = timeOf(object.metadata?.creationTimestamp);
  return Number.isNaN(created) ? Infinity : cluster.now - created;
}

export function isReady(pod: k8s.Pod): boolean {
  return condition(pod, "Ready")?.status === "True";
}

export function condition(
  object: { status?: { conditions?: readonly k8s.Condition[] | null } },
  type: string,
): k8s.Condition | undefined {
  return object.status?.conditions?.find((one) => one.type === type);
}

/** Bound to a node whose kubelet has written nothing about it. */
export function isUntouched({ spec, status }: k8s.Pod): boolean {
  return (
    (spec?.nodeName ?? "") !== "" &&
    status?.phase === "Pending" &&
    (status.containerStatuses ?? []).length === 0
  );
}

/** By its taints or by any of the labels that say so. */
export function isControlPlane({ metadata, spec }: k8s.Node): boolean {
  const labels = metadata?.labels ?? {};
  const role = /^node-role\.kubernetes\.io\/(?:master|control-plane|controlplane)$/;
  return (
    [...Object.keys(labels), ...(spec?.taints ?? []).map(({ key = "" }) => key)].some((key) =>
      role.test(key),
    ) || /^(?:master|control-plane)$/.test(labels["kubernetes.io/role"] ?? "")
  );
}

/** Containers and init containers. */
export function containersOf(spec: k8s.PodSpec): readonly k8s.Container[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
}

export function createCluster(snapshot: Snapshot, now: number): Cluster {
  const { namespace, lists } = snapshot;
  const list: Cluster["list"] = (name) => lists[name] ?? [];
  const object: Cluster["object"] = (kind, name) => ({ kind, namespace, name });
  const key: Cluster["key"] = (kind, name) => keyOf(object(kind, name));
  const workloads = joinWorkloads(list, key);
  const events = indexEvents([...list("events"), ...list("systemEvents")]);
  const nodes = new Map(list("nodes").map((node) => [nameOf(node), node]));
  const services = new Map(list("services").map((service) => [nameOf(service), service]));
  const byLabel = indexLabels(workloads.byKey.values());
  return {
    snapshot,
    namespace,
    now,
    list,
    sees: (name) => lists[name] !== undefined,
    workloads: [...workloads.byKey.values()],
    workload: (name) => workloads.byKey.get(name),
    workloadOf: workloads.of,
    eventsOf: (kind, name) => events.get(`${kind}/${name}`) ?? [],
    node: (name) => nodes.get(name),
    service: (name) => services.get(name),
    selectedBy(service) {
      const selector = service.spec?.selector ?? {};
      const [first] = Object.entries(selector);
      if (first === undefined) return [];
      const [label, value] = first;
      return (byLabel.get(`${label}=${value}`) ?? []).filter(({ labels }) =>
        hasLabels(labels, selector),
      );
    },
    key,
    object,
  };
}

function indexLabels(workloads: Iterable<WorkloadView>): Map<string, WorkloadView[]> {
  const byLabel = new Map<string, WorkloadView[]>();
  for (const workload of workloads)
    for (const [label, value] of Object.entries(workload.labels)) {
      const known = byLabel.get(`${label}=${value}`);
      if (known === undefined) byLabel.set(`${label}=${value}`, [workload]);
      else known.push(workload);
    }
  return byLabel;
}

function indexEvents(events: readonly k8s.KubeEvent[]): Map<string, SeenEvent[]> {
  const byObject = new Map<string, SeenEvent[]>();
  for (const event of events) {
    const about = event.involvedObject ?? event.regarding;
    const object = `${about?.kind}/${about?.name}`;
    const seen = {
      object,
      type: event.type ?? "",
      reason: event.reason ?? "",
      message: event.message ?? event.note ?? "",
      count: event.count ?? event.series?.count ?? event.deprecatedCount ?? 1,
      last:
        event.series?.lastObservedTime ??
        event.lastTimestamp ??
        event.deprecatedLastTimestamp ??
        event.eventTime ??
        event.metadata?.creationTimestamp ??
        "",
      first: event.firstTimestamp ?? event.eventTime ?? event.metadata?.creationTimestamp ?? "",
    };
    const known = byObject.get(object);
    if (known === undefined) byObject.set(object, [seen]);
    else known.push(seen);
  }
  for (const seen of byObject.values())
    if (seen.length > 1) seen.sort((a, b) => (a.last < b.last ? 1 : a.last > b.last ? -1 : 0));
  return byObject;
}

const KINDS = {
  deployments: "Deployment",
  statefulsets: "StatefulSet",
  daemonsets: "DaemonSet",
  cronjobs: "CronJob",
  jobs: "Job",
  replicasets: "ReplicaSet",
} as const;

/** Workloads by key, and whose a pod is. */
function joinWorkloads(list: Cluster["list"], key: Cluster["key"]) {
  const byKey = new Map<string, WorkloadView>();
  const ownerOf = new Map<string, k8s.Reference | undefined>();
  for (const name of ["replicasets", "jobs"] as const)
    for (const one of list(name)) ownerOf.set(key(KINDS[name], nameOf(one)), controller(one));

  const view = (kind: string, name: string, object?: resources.Workload): WorkloadView => {
    const id = key(kind, name);
    const known = byKey.get(id);
    if (known !== undefined) return known;
    const template = object?.spec?.template;
    const made: WorkloadView = {
      kind,
      name,
      key: id,
      object,
      pods: [],
      everyPod: [],
      spec: template?.spec ?? {},
      labels: template?.metadata?.labels ?? {},
      desired: desiredOf(kind, object),
    };
    byKey.set(id, made);
    return made;
  };

  for (const name of ["deployments", "statefulsets", "daemonsets"] as const)
    for (const one of list(name)) view(KINDS[name], nameOf(one), one);
  for (const one of list("cronjobs")) {
    const template = one.spec?.jobTemplate?.spec?.template;
    view("CronJob", nameOf(one), {
      ...(one.metadata !== undefined && { metadata: one.metadata }),
      spec: template === undefined ? {} : { template },
    });
  }
  for (const name of ["jobs", "replicasets"] as const)
    for (const one of list(name))
      if (controller(one) === undefined && (one.spec?.replicas ?? 1) > 0)
        view(KINDS[name], nameOf(one), one);

  const of = (pod: k8s.Pod): WorkloadView => {
    const owner = controller(pod);
    if (owner?.kind === undefined || owner.kind === "Node") return view("Pod", nameOf(pod));
    const { kind, name = "" } = owner;
    const id = key(kind, name);
    const above = ownerOf.get(id) ?? (ownerOf.has(id) ? undefined : guessed(pod, kind, name));
    return above?.kind === undefined ? view(kind, name) : view(above.kind, above.name ?? "");
  };
  for (const pod of list("pods")) {
    const workload = of(pod);
    workload.everyPod.push(pod);
    const phase = pod.status?.phase;
    const isOver = phase === "Succeeded" || phase === "Failed";
    if (isOver || typeof pod.metadata?.deletionTimestamp === "string") continue;
    workload.pods.push(pod);
    workload.spec = pod.spec ?? workload.spec;
    workload.labels = pod.metadata?.labels ?? workload.labels;
  }
  for (const workload of byKey.values()) {
    // Of a rollout that is under way, the newest pods are what people want.
    const newest = workload.pods.reduce<k8s.Pod | undefined>(
      (best, pod) =>
        (best?.metadata?.creationTimestamp ?? "") >= (pod.metadata?.creationTimestamp ?? "")
          ? (best ?? pod)
          : pod,
      undefined,
    );
    workload.spec = newest?.spec ?? workload.everyPod[0]?.spec ?? workload.spec;
    workload.labels = newest?.metadata?.labels ?? workload.labels;
    if (workload.object === undefined) workload.desired = workload.pods.length;
  }
  return { byKey, of };
}

/** Whose a pod is when replica sets cannot be read: their names end with the hash of the template. */
function guessed(pod: k8s.Pod, kind: string, name: string): k8s.Reference | undefined {
  const hash = pod.metadata?.labels?.["pod-template-hash"];
  return kind === "ReplicaSet" && hash !== undefined && name.endsWith(`-${hash}`)
    ? { kind: "Deployment", name: name.slice(0, -hash.length - 1) }
    : undefined;
}

function controller({ metadata }: k8s.KubeObject): k8s.Reference | undefined {
  return metadata?.ownerReferences?.find((one) => one.controller === true);
}

function desiredOf(kind: string, object: resources.Workload | undefined): number {
  if (kind === "DaemonSet") return object?.status?.desiredNumberScheduled ?? 0;
  if (kind === "CronJob") return 0;
  if (kind !== "Job") return object?.spec?.replicas ?? 1;
  const isOver = object?.status?.conditions?.some(
    ({ type, status }) => type === "Complete" && status === "True",
  );
  return isOver === true || object?.spec?.suspend === true ? 0 : 1;
}
