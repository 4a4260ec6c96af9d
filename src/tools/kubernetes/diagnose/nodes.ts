import {
  ageMs,
  isUntouched,
  nameOf,
  type Cluster,
  type SeenEvent,
  type WorkloadView,
} from "./cluster.ts";
import { cut, found, type Analyzer, type Found } from "./found.ts";
import type { Condition, Node } from "./objects.ts";

import { selects } from "./selectors.ts";

/** Nodes that are not ready or under pressure. */
export const nodes: Analyzer = {
  name: "nodes",
  look(cluster) {
    const all = cluster.list("nodes");
    const told = all.flatMap((node) => lookAt(cluster, node));
    const bad = new Set(told.map(({ object }) => object.name));
    const used = new Set(
      cluster.workloads.flatMap(({ pods }) => pods.flatMap(({ spec }) => spec?.nodeName ?? [])),
    );
    return [
      ...told,
      ...[...used].filter((name) => !bad.has(name)).flatMap((name) => idle(cluster, name)),
      ...all.flatMap((node) => undrainable(cluster, node)),
    ];
  },
};

/** Workloads with pods there. */
function usersOf(cluster: Cluster, node: string): WorkloadView[] {
  return cluster.workloads.filter(({ everyPod }) =>
    everyPod.some(({ spec }) => spec?.nodeName === node),
  );
}

function lookAt(cluster: Cluster, node: Node): Found[] {
  const conditions = node.status?.conditions ?? [];
  const ready = conditions.find(({ type }) => type === "Ready");
  const isLost = ready !== undefined && ready.status !== "True";
  const bad = isLost ? [ready] : conditions.filter(isTrouble);
  if (bad.length === 0) return [];
  const users = usersOf(cluster, nameOf(node));
  const isWaiting = cluster.workloads.some(({ pods }) =>
    pods.some(({ spec, status }) => status?.phase === "Pending" && (spec?.nodeName ?? "") === ""),
  );
  const shown = users.slice(0, 3).map((one) => `${one.kind} ${one.name}`);
  const rest = users.length > 3 ? ` and ${users.length - 3} more` : "";
  const here =
    users.length === 0
      ? "No pods of the namespace run on it."
      : `Pods of ${shown.join(", ")}${rest} are on it.`;
  return bad.map((one) => ({
    object: { kind: "Node", namespace: "", name: nameOf(node) },
    cause: cut(
      `${isLost ? "NodeNotReady" : one.type}: ${one.reason ?? ""}: ${one.message ?? ""}`,
      300,
    ),
    severity: users.length > 0 || isWaiting ? "error" : "warning",
    evidence: `${here} ${isLost ? partOf(one) : ""}`.trim(),
    ...(one.type === "DiskPressure" && {
      fix: "Free disk space on the node (images, logs, emptyDirs).",
    }),
    since: one.lastTransitionTime ?? null,
    weight: isLost ? 93 : 89,
    breaks: users.map(({ key }) => key),
  }));
}

function isTrouble({ type = "", status }: Condition): boolean {
  return (
    status === "True" &&
    /Pressure$|^NetworkUnavailable$|Problem$|ReadonlyFilesystem|Deadlock|Unhealthy/.test(type)
  );
}

/** Before its conditions say so, pods that do not start say that the kubelet or the runtime of a node does not work. */
function idle(cluster: Cluster, name: string): Found[] {
  if (cluster.list("nodes").length > 0 && cluster.node(name) === undefined) return [];
  const waiting = cluster.workloads.flatMap((workload) =>
    workload.pods
      .filter(({ spec, status }) => spec?.nodeName === name && status?.phase === "Pending")
      .map((pod) => ({ workload, pod, events: cluster.eventsOf("Pod", nameOf(pod)) })),
  );
  const say = (cause: string, fix: string, pods: typeof waiting, since: string | null): Found[] => [
    {
      object: { kind: "Node", namespace: "", name },
      cause: cut(cause, 300),
      severity: "error",
      evidence: `${pods.length} pods that are bound to it wait, such as ${nameOf(pods[0]?.pod ?? {})}.`,
      fix,
      since,
      weight: 90,
      breaks: pods.map(({ workload }) => workload.key),
    },
  ];
  const failing = waiting.filter(({ events }) => events.some(isRuntimeGone));
  const event = failing[0]?.events.find(isRuntimeGone);
  if (event !== undefined)
    return say(
      `the container runtime does not answer: ${event.reason}: ${event.message}`,
      "Look at containerd, CRI-O or Docker on the node.",
      failing,
      event.first || null,
    );
  const untouched = waiting.filter(
    ({ pod, events }) =>
      isUntouched(pod) &&
      ageMs(cluster, pod) > UNTOUCHED_MS &&
      !events.some(({ reason }) => reason !== "Scheduled" && reason !== "FailedScheduling"),
  );
  return untouched.length === 0
    ? []
    : say(
        "the kubelet has not taken up pods that are bound to the node: their status is empty",
        "Look at the kubelet on the node.",
        untouched,
        untouched[0]?.pod.metadata?.creationTimestamp ?? null,
      );
}

const UNTOUCHED_MS = 60_000;

/** The kubelet cannot reach the runtime's socket. */
function isRuntimeGone({ message, type }: SeenEvent): boolean {
  return (
    type !== "Normal" &&
    /dial unix \S+\.sock|container runtime is (?:down|not running)|cannot connect to the docker daemon/i.test(
      message,
    )
  );
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
