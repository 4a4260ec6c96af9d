import { affected, cut, found, type Analyzer, type Found } from "./found.ts";
import {
  ageMs,
  condition,
  isUntouched,
  nameOf,
  type Cluster,
  type WorkloadView,
} from "./cluster.ts";
import { createFit, type Obstacle } from "./node-fit.ts";
import type { Pod } from "./objects.ts";

/** Pods that no node takes, and why: worked out from the nodes themselves, as events are gone after an hour. */
export const scheduling: Analyzer = {
  name: "scheduling",
  look(cluster) {
    const fit = createFit(cluster);
    return cluster.workloads.flatMap((workload) => {
      const waiting = workload.pods.filter(isUnscheduled);
      const [pod] = waiting;
      const lost = lostBindings(cluster, workload);
      if (pod === undefined) return lost;
      return [...lost, lookAt({ cluster, workload, waiting, pod }, fit)].filter(
        (one) => one !== undefined,
      );
    });
  },
};

function isUnscheduled(pod: Pod): boolean {
  return pod.status?.phase === "Pending" && (pod.spec?.nodeName ?? "") === "";
}

interface Waiting {
  cluster: Cluster;
  workload: WorkloadView;
  waiting: readonly Pod[];
  /** Stands for the others: they come from one template. */
  pod: Pod;
}

function lookAt(
  { cluster, workload, waiting, pod }: Waiting,
  fit: ReturnType<typeof createFit>,
): Found | undefined {
  const event = cluster
    .eventsOf("Pod", nameOf(pod))
    .find(({ reason }) => reason === "FailedScheduling");
  const scheduled = condition(pod, "PodScheduled");
  const message = event?.message ?? scheduled?.message ?? "";
  const since = scheduled?.lastTransitionTime ?? pod.metadata?.creationTimestamp ?? null;
  const pods = affected(workload, waiting, workload.pods.length);
  const say = (problem: Parameters<typeof found>[2]) => found(cluster, workload, problem);

  const gates = (pod.spec?.schedulingGates ?? []).map(({ name }) => name);
  if (gates.length > 0)
    return say({
      cause: `SchedulingGated: ${gates.join(", ")}`,
      evidence: `${pods} wait for the gate's controller to remove it.`,
      since,
      weight: 80,
    });
  const unbound = fit.unboundClaims(pod);
  if (unbound.length > 0 || /unbound immediate PersistentVolumeClaims/.test(message))
    return say({
      cause: `FailedScheduling: unbound PersistentVolumeClaim ${unbound.join(", ")}`,
      evidence: `${pods}. ${message}`,
      since,
      weight: 50,
      isGeneral: true,
      restsOn: unbound.map((claim) => cluster.key("PersistentVolumeClaim", claim)),
    });
  const obstacle = fit.obstacle(pod) ?? toldObstacle(message);
  if (obstacle !== undefined)
    return blocked({ cluster, workload, waiting, pod }, obstacle, message);
  if (message === "" && ageMs(cluster, pod) > UNSEEN_MS) {
    const scheduler = pod.spec?.schedulerName ?? "default-scheduler";
    const isOwn = scheduler !== "default-scheduler";
    return say({
      cause: isOwn
        ? `no scheduler named "${scheduler}" has looked at the pods`
        : "no scheduler has looked at the pods: kube-scheduler is not running or has no lease",
      evidence: `${pods} are Pending without a PodScheduled condition or a FailedScheduling event.`,
      fix: isOwn
        ? `Run the scheduler ${scheduler}, or drop schedulerName.`
        : "Bring kube-scheduler back on the control plane.",
      since,
      weight: isOwn ? 84 : 60,
      restsOn: isOwn ? [] : ["component/kube-scheduler"],
    });
  }
  if (message === "") return undefined;
  return say({
    cause: `FailedScheduling: ${cut(message, 260)}`,
    evidence: `${pods} are Pending.`,
    since,
    weight: 70,
  });
}

function blocked(
  { cluster, workload, waiting }: Waiting,
  obstacle: Obstacle,
  message: string,
): Found {
  const scheduled = waiting.map((pod) => condition(pod, "PodScheduled")?.lastTransitionTime);
  const since = scheduled[0] ?? waiting[0]?.metadata?.creationTimestamp ?? null;
  const pods = affected(workload, waiting, workload.pods.length);
  const told = message === "" ? "" : ` Scheduler: ${message}`;
  const problem = {
    cause: `FailedScheduling: ${obstacle.cause}`,
    evidence: `${workload.kind} ${workload.name}: ${pods} are Pending. ${obstacle.evidence}${told}`,
    ...(obstacle.fix !== undefined && { fix: obstacle.fix }),
    since,
    weight: 86,
    restsOn: obstacle.restsOn ?? [],
  };
  const own = found(cluster, workload, problem);
  if (obstacle.node === undefined) return own;
  return { ...own, shared: { kind: "Node", namespace: "", name: obstacle.node } };
}

/** Nobody has looked at it who should. */
export function isIgnored(cluster: Cluster, pod: Pod): boolean {
  return (
    isUnscheduled(pod) &&
    condition(pod, "PodScheduled") === undefined &&
    (pod.spec?.schedulerName ?? "default-scheduler") === "default-scheduler" &&
    ageMs(cluster, pod) > UNSEEN_MS &&
    !cluster.eventsOf("Pod", nameOf(pod)).some(({ reason }) => reason === "FailedScheduling")
  );
}

/** A scheduler looks at a new pod within moments; this is patience. */
const UNSEEN_MS = 45_000;

/** From the scheduler's words, where nodes cannot be read. */
const TOLD: readonly [RegExp, (found: RegExpExecArray) => string][] = [
  [
    /persistentvolumeclaim "([^"]+)" not found/,
    ([, name]) => `persistentvolumeclaim "${name}" not found`,
  ],
  [/volume node affinity conflict|didn't match PersistentVolume's node affinity/, ([all]) => all],
  [/didn't match (?:Pod's )?node (?:affinity\/selector|selector)/i, ([all]) => all],
  [/didn't (?:match|satisfy) (?:existing pods )?(?:pod )?anti-affinity[^,.]*/, ([all]) => all],
  [/didn't match pod affinity[^,.]*/, ([all]) => all],
  [/didn't match pod topology spread constraints/, ([all]) => all],
  [/Insufficient [\w-]+(?:[./][\w-]+)*/, ([all]) => all],
  [/Too many pods/, ([all]) => all],
  [/didn't have free ports[^,.]*/, ([all]) => all],
  [/untolerated taint \{(?!node-role|node\.kubernetes)[^}]*\}/, ([all]) => all],
  [
    /had taint \{(?!node-role|node\.kubernetes)[^}]*\}, that the pod didn't tolerate/,
    ([all]) => all,
  ],
  [/were unschedulable/, () => "nodes are cordoned (were unschedulable)"],
];

function toldObstacle(message: string): Obstacle | undefined {
  for (const [pattern, say] of TOLD) {
    const match = pattern.exec(message);
    if (match !== null) return { cause: say(match), evidence: "" };
  }
  return undefined;
}

/** Pods that were put on a node by name, where there is no such node: no kubelet ever takes them. */
function lostBindings(cluster: Cluster, workload: WorkloadView): Found[] {
  if (cluster.list("nodes").length === 0) return [];
  const lost = workload.pods.filter(
    (pod) => isUntouched(pod) && cluster.node(pod.spec?.nodeName ?? "") === undefined,
  );
  const node = lost[0]?.spec?.nodeName;
  if (node === undefined) return [];
  return [
    found(cluster, workload, {
      cause: `nodeName: node "${node}" does not exist`,
      evidence: `${affected(workload, lost, workload.pods.length)} are bound to it and stay Pending.`,
      fix: `Drop nodeName from the pod's template, or name one of the nodes that exist.`,
      since: lost[0]?.metadata?.creationTimestamp ?? null,
      weight: 92,
    }),
  ];
}
