import { isControlPlane, isReady, nameOf, timeOf, type Cluster } from "./cluster.ts";
import { cut, type Analyzer, type Found } from "./found.ts";
import type { Pod } from "./objects.ts";
import type { Workload } from "./resources.ts";
import { statusesOf } from "./scene.ts";
import { isIgnored } from "./scheduling.ts";
import { hasLabels, showLabels } from "./selectors.ts";

/** What every workload rests on: the control plane's parts and those of the nodes, as far as kube-system shows them. */
export const components: Analyzer = {
  name: "components",
  look: (cluster) => [
    ...[...systemOwners(cluster).values()].flatMap((owner) => lookAt(cluster, owner)),
    ...silentControllers(cluster),
    ...silentScheduler(cluster),
    ...clusterDns(cluster),
  ],
};

interface Part {
  /** By the name of what makes its pods, or of the pod. */
  pattern: RegExp;
  /** Whom it serves: all, as long as one of it runs, or the pods of its node. */
  reach: "cluster" | "node" | "metrics";
  keys: readonly string[];
}

const PARTS: readonly Part[] = [
  {
    pattern: /^(coredns|kube-dns|node-local-dns|nodelocaldns)/,
    reach: "cluster",
    keys: ["component/dns"],
  },
  { pattern: /^kube-scheduler/, reach: "cluster", keys: ["component/kube-scheduler"] },
  {
    pattern: /^kube-controller-manager/,
    reach: "cluster",
    keys: ["component/kube-controller-manager"],
  },
  { pattern: /^etcd/, reach: "cluster", keys: [] },
  { pattern: /^kube-apiserver/, reach: "cluster", keys: [] },
  { pattern: /^kube-proxy/, reach: "node", keys: ["component/network"] },
  {
    pattern:
      /^(calico|canal|cilium|kube-flannel|flannel|weave|kindnet|antrea|aws-node|azure-cni|ovn|kube-router|kube-ovn)/,
    reach: "node",
    keys: ["component/network"],
  },
  { pattern: /^metrics-server/, reach: "metrics", keys: ["component/metrics"] },
];

interface SystemOwner {
  kind: string;
  name: string;
  pods: Pod[];
  object: Workload | undefined;
}

function lookAt(cluster: Cluster, owner: SystemOwner): Found[] {
  const part = PARTS.find(({ pattern }) => pattern.test(owner.name));
  const trouble = troubleOf(cluster, owner);
  if (trouble === undefined) return [];
  const { cause, evidence, bad, since } = trouble;
  const places = new Set(bad.map(({ spec }) => spec?.nodeName));
  const near = cluster.workloads.filter(({ pods }) =>
    pods.some(({ spec }) => places.has(spec?.nodeName)),
  );
  const hasOthers = cluster
    .list("systemPods")
    .some((pod) => part?.pattern.test(nameOf(pod)) === true && isReady(pod));
  const matters =
    part?.reach === "cluster"
      ? !hasOthers
      : part?.reach === "node" && (near.length > 0 || bad.length === 0);
  const names = near.slice(0, 3).map(({ name }) => name);
  const here =
    names.length > 0 && part?.reach === "node" ? ` Pods of ${names.join(", ")} are there.` : "";
  return [
    {
      object: { kind: owner.kind, namespace: SYSTEM, name: owner.name },
      cause: cut(cause, 300),
      severity: matters ? "error" : "warning",
      evidence: cut(`${evidence}${here}`, 400),
      since,
      weight: matters ? 91 : 30,
      breaks: part?.keys ?? [],
    },
  ];
}

const SYSTEM = "kube-system";

function systemOwners(cluster: Cluster): Map<string, SystemOwner> {
  const owners = new Map<string, SystemOwner>();
  const add = (kind: string, name: string, object?: Workload) => {
    const known = owners.get(`${kind}/${name}`) ?? { kind, name, pods: [], object };
    owners.set(`${kind}/${name}`, known);
    return known;
  };
  for (const one of cluster.list("systemDeployments")) add("Deployment", nameOf(one), one);
  for (const one of cluster.list("systemDaemonsets")) add("DaemonSet", nameOf(one), one);
  for (const pod of cluster.list("systemPods")) {
    if (pod.status?.phase === "Succeeded" || typeof pod.metadata?.deletionTimestamp === "string")
      continue;
    const owner = pod.metadata?.ownerReferences?.find(({ controller }) => controller === true);
    const { kind = "", name = "" } = owner ?? {};
    if (kind === "Job") continue;
    if (kind === "ReplicaSet") add("Deployment", name.replace(/-[a-z0-9]+$/, "")).pods.push(pod);
    else if (owner === undefined || kind === "Node") add("Pod", nameOf(pod)).pods.push(pod);
    else add(kind, name).pods.push(pod);
  }
  return owners;
}

/** What is wrong with a component; undefined: nothing, or it has only just been started. */
function troubleOf(cluster: Cluster, { kind, name, pods, object }: SystemOwner) {
  const bad = pods.filter(
    ({ status, metadata }) =>
      !status?.conditions?.some((one) => one.type === "Ready" && one.status === "True") &&
      !(cluster.now - timeOf(metadata?.creationTimestamp) < 60_000),
  );
  if (kind === "Deployment" && object?.spec?.replicas === 0 && /^(coredns|kube-dns)/.test(name))
    return { cause: "replicas: 0 (scaled to 0)", evidence: "No pod of it runs.", bad, since: null };
  const { desiredNumberScheduled: desired = 0 } = object?.status ?? {};
  if (
    kind === "DaemonSet" &&
    desired === 0 &&
    object?.status !== undefined &&
    /^(kube-proxy|calico-node|cilium$|kube-flannel|kindnet)/.test(name)
  )
    return {
      cause: "no pod is scheduled (desiredNumberScheduled 0)",
      evidence: "Its node selector or affinity matches no node.",
      bad,
      since: null,
    };
  const [first] = bad;
  if (first === undefined) {
    if (kind !== "DaemonSet" || pods.length >= desired || pods.length === 0) return undefined;
    return {
      cause: `${pods.length} of ${desired} pods exist`,
      evidence: "Some nodes have none.",
      bad,
      since: null,
    };
  }
  const status = statusesOf(first).find(({ ready }) => ready !== true);
  const waiting = status?.state?.waiting;
  const ended = status?.state?.terminated ?? status?.lastState?.terminated;
  const unready = first.status?.conditions?.find(({ type }) => type === "Ready");
  const reason =
    waiting?.reason ?? ended?.reason ?? first.status?.reason ?? first.status?.phase ?? "not ready";
  const told = cluster.eventsOf("Pod", nameOf(first)).find(({ type }) => type === "Warning");
  return {
    cause: `${reason}: ${waiting?.message ?? unready?.message ?? "the pod is not ready"}`,
    evidence: `${bad.length} of ${pods.length} pods of ${name} are not ready (${nameOf(first)} on ${first.spec?.nodeName ?? "no node"}, ${status?.restartCount ?? 0} restarts).${told === undefined ? "" : ` ${told.reason}: ${cut(told.message, 160)}`}`,
    bad,
    since: unready?.lastTransitionTime ?? ended?.finishedAt ?? null,
  };
}

/** Where the control plane's pods can be seen, one that is missing does not run. */
function silentControllers(cluster: Cluster): Found[] {
  const names = cluster.list("systemPods").map(nameOf);
  if (!names.some((name) => name.startsWith("kube-apiserver"))) return [];
  return ["kube-scheduler", "kube-controller-manager"].flatMap((name): Found[] => {
    if (names.some((one) => one.startsWith(name))) return [];
    const control = names
      .find((one) => one.startsWith("kube-apiserver-"))
      ?.slice("kube-apiserver-".length);
    const unhealthy = cluster
      .list("componentstatuses")
      .find((one) => nameOf(one) === name.replace("kube-", ""))?.conditions?.[0];
    return [
      {
        object: { kind: "Pod", namespace: SYSTEM, name: `${name}-${control}` },
        cause: `${name} is not running: its static pod does not exist`,
        evidence: `kube-system has pods of the control plane, and none of ${name}.${unhealthy === undefined ? "" : ` componentstatuses: ${unhealthy.message ?? ""}`}`,
        fix: `Look at the manifest of ${name} on the control plane node (/etc/kubernetes/manifests) and its kubelet.`,
        severity: "error",
        since: null,
        weight: 92,
        breaks: [`component/${name}`],
      },
    ];
  });
}

/** A scheduler that is no pod shows only by the pods that nobody looks at. */
function silentScheduler(cluster: Cluster): Found[] {
  const name = "kube-scheduler";
  if (cluster.list("systemPods").some((pod) => nameOf(pod).startsWith(name))) return [];
  const ignored = cluster.workloads.flatMap(({ key, pods }) =>
    pods.filter((pod) => isIgnored(cluster, pod)).map((pod) => ({ key, pod })),
  );
  const [first] = ignored;
  const node = hostOf(cluster, name);
  if (first === undefined || node === undefined) return [];
  return [
    {
      object: { kind: "Node", namespace: "", name: node },
      cause: `${name} is not running or has no lease: no scheduler has looked at new pods`,
      evidence: `${ignored.length} pods are Pending without a PodScheduled condition or a FailedScheduling event, such as ${nameOf(first.pod)}. The control plane is on ${node}.`,
      fix: `Look at the ${name} service on ${node}, and its log.`,
      severity: "error",
      since: first.pod.metadata?.creationTimestamp ?? null,
      weight: 90,
      breaks: [`component/${name}`, ...ignored.map(({ key }) => key)],
    },
  ];
}

/** Where the leader ran last, by its lease's events; else the one node of the control plane. */
function hostOf(cluster: Cluster, component: string): string | undefined {
  const leader = ["Lease", "Endpoints"]
    .flatMap((kind) => cluster.eventsOf(kind, component))
    .find(({ reason }) => reason === "LeaderElection");
  const host = /^(.+)_[^_\s]+ became leader/.exec(leader?.message ?? "")?.[1];
  if (host !== undefined && cluster.node(host) !== undefined) return host;
  const [only, ...others] = cluster.list("nodes").filter(isControlPlane);
  return only === undefined || others.length > 0 ? undefined : nameOf(only);
}

/** The cluster's DNS by its service, which is called kube-dns whatever serves it. */
function clusterDns(cluster: Cluster): Found[] {
  const pods = cluster
    .list("systemPods")
    .filter(({ metadata }) => metadata?.labels?.["k8s-app"] === "kube-dns");
  if (pods.length === 0 || !cluster.sees("systemServices")) return [];
  const service = cluster.list("systemServices").find((one) => nameOf(one) === "kube-dns");
  const endpoints = cluster.list("systemEndpoints").find((one) => nameOf(one) === "kube-dns");
  const base = {
    object: { kind: "Service", namespace: SYSTEM, name: "kube-dns" },
    severity: "error" as const,
    since: null,
    breaks: ["component/dns"],
    weight: 92,
  };
  if (service === undefined)
    return [
      {
        ...base,
        cause: `service "kube-dns" not found`,
        evidence: "Pods ask its address for every name.",
      },
    ];
  const selector = service.spec?.selector ?? {};
  if (!pods.some(({ metadata }) => hasLabels(metadata?.labels ?? {}, selector)))
    return [
      {
        ...base,
        cause: `selector ${showLabels(selector)} matches no DNS pods`,
        evidence: `The pods are ${nameOf(pods[0] ?? {})} and have the label k8s-app=kube-dns.`,
      },
    ];
  const isEmpty =
    endpoints !== undefined &&
    !(endpoints.subsets ?? []).some(({ addresses }) => (addresses ?? []).length > 0);
  return isEmpty && pods.some(isReady)
    ? [
        {
          ...base,
          cause: "no endpoints, although DNS pods are ready",
          evidence: "No name can be resolved.",
        },
      ]
    : [];
}
