import { isControlPlane, nameOf, type Cluster } from "./cluster.ts";
import type { Labels, Node, Pod, PodAffinityTerm, PodSpec, Quantities, Taint } from "./objects.ts";
import { quantity, showQuantity } from "./quantity.ts";
import {
  hasLabels,
  matchesNode,
  selects,
  showLabels,
  showTaint,
  showTerms,
  tolerates,
} from "./selectors.ts";

/** Why no node takes a pod. */
export interface Obstacle {
  cause: string;
  evidence: string;
  fix?: string;
  /** The one node that is to blame, if others suffer from it too. */
  node?: string;
  restsOn?: readonly string[];
}

/** Why one node does not take a pod that may be there. */
interface Refusal {
  kind: (typeof BLAME)[number];
  /** Such as `dedicated=gpu:NoSchedule` or `cpu`. */
  what: string;
  detail: string;
}

/** Which refusal to blame first where nodes differ: what somebody did, before what is merely used up. */
const BLAME = ["lost", "cordon", "taint", "antiAffinity", "affinity", "ports", "resource"] as const;

/** Answers for all pods of a snapshot: what nodes have left is added up once. */
export function createFit(cluster: Cluster) {
  const nodes = cluster.list("nodes");
  let used: Map<string, Use> | undefined;

  return {
    unboundClaims(pod: Pod): string[] {
      return claimsOf(pod.spec ?? {}).filter((name) => {
        const claim = claimNamed(cluster, name);
        return (
          claim !== undefined && claim.status?.phase !== "Bound" && !waitsForPod(cluster, name)
        );
      });
    },

    /** Undefined: a node would take it, or nodes cannot be seen. */
    obstacle(pod: Pod): Obstacle | undefined {
      const spec = pod.spec ?? {};
      const missing = claimsOf(spec).find(
        (name) => cluster.sees("persistentvolumeclaims") && claimNamed(cluster, name) === undefined,
      );
      if (missing !== undefined)
        return {
          cause: `persistentvolumeclaim "${missing}" not found`,
          evidence: "A volume of the pod names it.",
          fix: `Create PersistentVolumeClaim ${missing}, or correct the volume.`,
          restsOn: [cluster.key("PersistentVolumeClaim", missing)],
        };
      if (nodes.length === 0) return undefined;
      const placed = placement(cluster, spec, nodes);
      if ("cause" in placed) return placed;
      used ??= addUp(cluster);
      return refusedBy(pod, placed.nodes, used);
    },
  };
}

function claimsOf(spec: PodSpec): string[] {
  return (spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) =>
    persistentVolumeClaim?.claimName === undefined ? [] : [persistentVolumeClaim.claimName],
  );
}

function claimNamed(cluster: Cluster, name: string) {
  return cluster.list("persistentvolumeclaims").find((one) => nameOf(one) === name);
}

/** Its storage class binds only once the pod has a node. */
function waitsForPod(cluster: Cluster, name: string): boolean {
  const wanted = claimNamed(cluster, name)?.spec?.storageClassName;
  const storageClass = cluster.list("storageclasses").find((one) => nameOf(one) === wanted);
  return (
    storageClass?.volumeBindingMode === "WaitForFirstConsumer" &&
    !/no-provisioner/.test(storageClass.provisioner ?? "")
  );
}

/** The nodes where the pod wants to be, or why there are none. */
function placement(
  cluster: Cluster,
  spec: PodSpec,
  nodes: readonly Node[],
): { nodes: readonly Node[] } | Obstacle {
  const selector = spec.nodeSelector ?? {};
  const selected = nodes.filter((node) => hasLabels(labelsOf(node), selector));
  const seen = `${nodes.length} nodes: ${nodes.slice(0, 6).map(nameOf).join(", ")}.`;
  if (selected.length === 0)
    return {
      cause: `no node matches the node selector ${showLabels(selector)} (0 of ${nodes.length} nodes)`,
      evidence: seen,
      fix: `Label a node with ${showLabels(selector)}, or correct nodeSelector.`,
    };
  const terms =
    spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
      ?.nodeSelectorTerms ?? [];
  const liked = selected.filter((node) =>
    matchesNode(terms, { name: nameOf(node), labels: labelsOf(node) }),
  );
  if (liked.length === 0)
    return {
      cause: `no node matches the required node affinity ${showTerms(terms)} (0 of ${nodes.length} nodes)`,
      evidence: seen,
      fix: "Label a node accordingly, or correct the pod's nodeAffinity.",
    };
  for (const name of claimsOf(spec)) {
    const volume = claimNamed(cluster, name)?.spec?.volumeName;
    const found = cluster.list("persistentvolumes").find((one) => nameOf(one) === volume);
    const held = found?.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
    const near = liked.filter((node) =>
      matchesNode(held, { name: nameOf(node), labels: labelsOf(node) }),
    );
    if (near.length === 0)
      return {
        cause: `volume node affinity conflict: PersistentVolume ${volume} of claim ${name} is only on ${showTerms(held)}`,
        evidence: `No node that the pod may use has it. ${seen}`,
      };
  }
  return { nodes: liked };
}

function refusedBy(
  pod: Pod,
  wanted: readonly Node[],
  used: ReadonlyMap<string, Use>,
): Obstacle | undefined {
  const all = wanted.map((node) => ({ node, refusals: refusalsOf(pod, node, wanted, used) }));
  if (all.some(({ refusals }) => refusals.length === 0)) return undefined;
  const workers = all.filter(({ node }) => !isControlPlane(node));
  const nodes = workers.length > 0 ? workers : all;
  // A node that only one thing keeps from taking the pod says most.
  const telling = nodes.filter(({ refusals }) => refusals.length === 1);
  const kinds = (telling.length > 0 ? telling : nodes).flatMap(({ refusals }) => refusals);
  const kind = BLAME.find((one) => kinds.some((refusal) => refusal.kind === one));
  const blamed = nodes.flatMap(({ node, refusals }) => {
    const refusal = refusals.find((one) => one.kind === kind);
    return refusal === undefined ? [] : [{ node: nameOf(node), ...refusal }];
  });
  const [first] = blamed;
  if (first === undefined) return undefined;
  const rows = nodes.map(
    ({ node, refusals }) => `${nameOf(node)}: ${refusals.map(({ detail }) => detail).join(", ")}`,
  );
  const names = blamed.map(({ node }) => node);
  return {
    ...EXPLAIN[first.kind]({ names, what: [...new Set(blamed.map(({ what }) => what))], pod }),
    evidence: `${rows.slice(0, 4).join("; ")}${rows.length > 4 ? `; and ${rows.length - 4} more nodes` : ""}.`,
  };
}

interface Blamed {
  names: readonly string[];
  what: readonly string[];
  pod: Pod;
}

const EXPLAIN: Readonly<Record<Refusal["kind"], (blamed: Blamed) => Omit<Obstacle, "evidence">>> = {
  lost: ({ names, what }) => ({
    cause: `${listed(names)} ${be(names)} not ready (${what.join(", ")})`,
    restsOn: names.map((name) => `Node//${name}`),
  }),
  cordon: ({ names }) => ({
    cause: `${listed(names)} ${be(names)} cordoned (spec.unschedulable, SchedulingDisabled)`,
    fix: `kubectl uncordon ${names[0]}${names.length > 1 ? " …" : ""}, once maintenance is over.`,
    ...(names.length === 1 && names[0] !== undefined && { node: names[0] }),
  }),
  taint: ({ what, names }) => ({
    cause: `untolerated taint ${what.join(" and ")} on ${listed(names)}`,
    fix: "Remove the taint, or let the pod tolerate it.",
  }),
  antiAffinity: ({ what, names }) => ({
    cause: `pod anti-affinity: ${what.join("; ")} already on ${listed(names)}`,
    fix: "Add nodes, lower the replicas, or make the anti-affinity preferred.",
  }),
  affinity: ({ what }) => ({
    cause: `pod affinity: no pod matches ${what.join("; ")}`,
    fix: "Start the pods that it wants to be near, or correct podAffinity.",
  }),
  ports: ({ what, names }) => ({
    cause: `host port ${what.join(", ")} is taken on ${listed(names)}`,
    fix: "Drop hostPort, or lower the replicas.",
  }),
  resource: ({ what, pod }) => ({
    cause: what
      .map(
        (one) =>
          `Insufficient ${one} (requests ${showQuantity(one, requested(pod.spec ?? {}, one))})`,
      )
      .join(", "),
    fix: "Lower the request, free capacity, or add a node that is large enough.",
  }),
};

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 3).join(", ");
  const rest = names.length > 3 ? ` and ${names.length - 3} more` : "";
  return names.length === 1 ? `node ${shown}` : `${names.length} nodes (${shown}${rest})`;
}

function be(names: readonly string[]): string {
  return names.length === 1 ? "is" : "are";
}

function refusalsOf(
  pod: Pod,
  node: Node,
  nodes: readonly Node[],
  used: ReadonlyMap<string, Use>,
): Refusal[] {
  const spec = pod.spec ?? {};
  const use = used.get(nameOf(node)) ?? { total: {}, pods: [] };
  const refusals: Refusal[] = [];
  const refuse = (kind: Refusal["kind"], what: string, detail: string) =>
    refusals.push({ kind, what, detail });
  if (node.spec?.unschedulable === true) refuse("cordon", "cordoned", "cordoned");
  for (const taint of taintsOf(node, spec))
    if (/^node\.kubernetes\.io\/(not-ready|unreachable|network-unavailable)/.test(taint.key ?? ""))
      refuse("lost", showTaint(taint), `not ready (${showTaint(taint)})`);
    else refuse("taint", showTaint(taint), `taint ${showTaint(taint)}`);
  for (const resource of [...resourcesOf(spec), "pods"]) {
    const limit = node.status?.allocatable?.[resource] ?? 0;
    const wants = requested(spec, resource);
    const free = quantity(limit) - (use.total[resource] ?? 0);
    if (node.status?.allocatable !== undefined && wants > free + 1e-6)
      refuse(
        "resource",
        resource,
        `${showQuantity(resource, Math.max(0, free))} of ${limit} ${resource} free`,
      );
  }
  const near = (term: PodAffinityTerm) => {
    const place = labelsOf(node)[term.topologyKey ?? ""];
    return nodes
      .filter((one) => labelsOf(one)[term.topologyKey ?? ""] === place)
      .flatMap((one) => used.get(nameOf(one))?.pods ?? [])
      .some((other) => matches(term, pod, other));
  };
  const { podAntiAffinity, podAffinity } = spec.affinity ?? {};
  for (const term of podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [])
    if (near(term)) refuse("antiAffinity", showTerm(term), "anti-affinity");
  for (const term of podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [])
    if (!near(term) && !matches(term, pod, pod))
      refuse("affinity", showTerm(term), `no ${showTerm(term)} here`);
  for (const port of hostPorts(spec))
    if (use.pods.some((other) => hostPorts(other.spec ?? {}).includes(port)))
      refuse("ports", String(port), `host port ${port} taken`);
  return refusals;
}

function taintsOf(node: Node, spec: PodSpec): Taint[] {
  return (node.spec?.taints ?? []).filter(
    (taint) =>
      (taint.effect === "NoSchedule" || taint.effect === "NoExecute") &&
      taint.key !== "node.kubernetes.io/unschedulable" &&
      !tolerates(spec.tolerations ?? [], taint),
  );
}

function matches(term: PodAffinityTerm, pod: Pod, other: Pod): boolean {
  const places = term.namespaces ?? [];
  const wanted = places.length > 0 ? places : [pod.metadata?.namespace ?? ""];
  return (
    wanted.includes(other.metadata?.namespace ?? "") &&
    selects(term.labelSelector, other.metadata?.labels ?? {})
  );
}

function showTerm({ labelSelector, topologyKey = "" }: PodAffinityTerm): string {
  return `${showLabels(labelSelector?.matchLabels ?? {})} per ${topologyKey}`;
}

function hostPorts(spec: PodSpec): number[] {
  return (spec.containers ?? [])
    .flatMap(({ ports }) => ports ?? [])
    .flatMap(({ hostPort = 0 }) => (hostPort > 0 ? [hostPort] : []));
}

interface Use {
  total: Record<string, number>;
  pods: Pod[];
}

/** What the pods on each node request. */
function addUp(cluster: Cluster): Map<string, Use> {
  const uses = new Map<string, Use>();
  const pods = cluster.sees("nodePods") ? cluster.list("nodePods") : cluster.list("pods");
  for (const pod of pods) {
    const node = pod.spec?.nodeName;
    if (node === undefined || /Succeeded|Failed/.test(pod.status?.phase ?? "")) continue;
    const use = uses.get(node) ?? { total: {}, pods: [] };
    uses.set(node, use);
    use.pods.push(pod);
    for (const resource of [...resourcesOf(pod.spec ?? {}), "pods"])
      use.total[resource] = (use.total[resource] ?? 0) + requested(pod.spec ?? {}, resource);
  }
  return uses;
}

function resourcesOf({ containers, initContainers }: PodSpec): Set<string> {
  const names = new Set<string>();
  for (const { resources } of [...(containers ?? []), ...(initContainers ?? [])])
    for (const amounts of [resources?.requests, resources?.limits])
      for (const name of Object.keys(amounts ?? {})) names.add(name);
  return names;
}

/** The largest init container runs alone; the others together. */
function requested(spec: PodSpec, resource: string): number {
  if (resource === "pods") return 1;
  const of = ({
    resources,
  }: {
    resources?: { requests?: Quantities | null; limits?: Quantities | null } | null;
  }) => quantity(resources?.requests?.[resource] ?? resources?.limits?.[resource]);
  const together = (spec.containers ?? []).reduce((sum, one) => sum + of(one), 0);
  return Math.max(together, ...(spec.initContainers ?? []).map(of));
}

function labelsOf(node: Node): Labels {
  return node.metadata?.labels ?? {};
}
