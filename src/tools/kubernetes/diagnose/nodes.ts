import { nameOf, type Cluster, type WorkloadView } from "./cluster.ts";
import { cut, found, type Analyzer, type Found } from "./found.ts";
import type { Condition, Node } from "./objects.ts";

import { selects } from "./selectors.ts";

/** Nodes that are not ready or under pressure. */
export const nodes: Analyzer = {
  name: "nodes",
  look: (cluster) =>
    cluster
      .list("nodes")
      .flatMap((node) => [...lookAt(cluster, node), ...undrainable(cluster, node)]),
};

/** Workloads with pods there. */
function usersOf(cluster: Cluster, node: string): WorkloadView[] {
  return cluster.workloads.filter(({ everyPod }) =>
    everyPod.some(({ spec }) => spec?.nodeName === node),
  );
}

function lookAt(cluster: Cluster, node: Node): Found[] {
  const name = nameOf(node);
  const users = usersOf(cluster, name);
  const isWaiting = cluster.workloads.some(({ pods }) =>
    pods.some(({ spec, status }) => status?.phase === "Pending" && (spec?.nodeName ?? "") === ""),
  );
  const conditions = node.status?.conditions ?? [];
  const ready = conditions.find(({ type }) => type === "Ready");
  const base = {
    object: { kind: "Node", namespace: "", name },
    breaks: users.map(({ key }) => key),
  };
  const shown = users.slice(0, 3).map((one) => `${one.kind} ${one.name}`);
  const here =
    users.length === 0
      ? "No pods of the namespace run on it."
      : `Pods of ${shown.join(", ")}${users.length > 3 ? ` and ${users.length - 3} more` : ""} are on it.`;
  if (ready !== undefined && ready.status !== "True")
    return [
      {
        ...base,
        cause: cut(`NodeNotReady: ${ready.reason ?? ""}: ${ready.message ?? ""}`, 300),
        severity: users.length > 0 || isWaiting ? "error" : "warning",
        evidence: `${here} ${partOf(ready)}`,
        since: ready.lastTransitionTime ?? null,
        weight: 93,
      },
    ];
  const bad = conditions.filter(
    ({ type = "", status }) =>
      status === "True" &&
      /Pressure$|^NetworkUnavailable$|Problem$|ReadonlyFilesystem|Deadlock|Unhealthy/.test(type),
  );
  return bad.map((one) => ({
    ...base,
    cause: cut(`${one.type}: ${one.reason ?? ""}: ${one.message ?? ""}`, 300),
    severity: users.length > 0 || isWaiting ? ("error" as const) : ("warning" as const),
    evidence: here,
    fix:
      one.type === "DiskPressure"
        ? "Free disk space on the node (images, logs, emptyDirs)."
        : "Take load off the node, or set requests and limits.",
    since: one.lastTransitionTime ?? null,
    weight: 89,
  }));
}

/** Which of the node's parts fails, by what the kubelet said last. */
function partOf({ reason = "", message = "" }: Condition): string {
  if (/stopped posting/.test(message) || reason === "NodeStatusUnknown")
    return "The kubelet does not report: it is down, or the node or its network is.";
  if (/container runtime|PLEG|runtime/i.test(message) && !/network/i.test(message))
    return "The container runtime (containerd, CRI-O or Docker) does not answer.";
  if (/network|cni/i.test(message)) return "The network plugin is not ready on it.";
  return "";
}

/** A node that is being emptied and that a disruption budget holds up. */
function undrainable(cluster: Cluster, node: Node): Found[] {
  if (node.spec?.unschedulable !== true) return [];
  return cluster.list("poddisruptionbudgets").flatMap((budget) => {
    const { disruptionsAllowed = 1, currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {};
    const held = usersOf(cluster, nameOf(node)).find(({ labels }) =>
      selects(budget.spec?.selector, labels),
    );
    if (held === undefined || disruptionsAllowed > 0) return [];
    return [
      found(
        cluster,
        { kind: "PodDisruptionBudget", name: nameOf(budget) },
        {
          cause: `allows no disruption: ${currentHealthy} healthy, ${desiredHealthy} wanted`,
          evidence: `Node ${nameOf(node)} is cordoned and has pods of ${held.kind} ${held.name}; they cannot be evicted.`,
          severity: "warning",
          since: null,
          weight: 41,
          restsOn: [held.key],
        },
      ),
    ];
  });
}
