import { ageMs, isReady, nameOf, timeOf, type Cluster, type WorkloadView } from "./cluster.ts";
import { affected, cut, found, perWorkload, type Analyzer, type Found } from "./found.ts";
import { LOG_FIXES, logReason } from "./log-reasons.ts";
import type { Namespace, Pod } from "./objects.ts";
import type { Workload } from "./resources.ts";
import { statusesOf, type Scene } from "./scene.ts";
import { showLabels } from "./selectors.ts";

/** Rollouts and jobs that do not come to their end, and what does not go away. */
export const rollouts: Analyzer = {
  name: "rollouts",
  look: (scene) => [
    ...scene.workloads.flatMap((workload) => [
      ...stuck(scene, workload),
      ...unacted(scene, workload),
      ...unwanted(scene, workload),
    ]),
    ...scene.list("jobs").flatMap((job) => failedJob(scene, job)),
    ...missedSchedules(scene),
    ...perWorkload(
      scene,
      (pod) => terminating(scene, pod),
      ({ everyPod }) => everyPod,
    ),
    ...evicted(scene),
    ...terminatingOthers(scene),
    ...autoscalers(scene),
  ],
};

function begin(workload: WorkloadView, type: string): string | null {
  return (
    workload.object?.status?.conditions?.find((one) => one.type === type)?.lastTransitionTime ??
    null
  );
}

function stuck(scene: Scene, workload: WorkloadView): Found[] {
  const { object, kind, desired, pods, key } = workload;
  const ready = pods.filter(isReady).length;
  const status = object?.status;
  const progressing = status?.conditions?.find(({ type }) => type === "Progressing");
  if (progressing?.reason === "ProgressDeadlineExceeded")
    return [
      found(scene, workload, {
        cause: `ProgressDeadlineExceeded: ${progressing.message ?? ""}`,
        evidence: `${ready} of ${desired} pods are ready.`,
        since: progressing.lastTransitionTime ?? null,
        weight: 25,
        restsOn: [key],
      }),
    ];
  const updated = status?.updatedReplicas ?? desired;
  if (object?.spec?.paused === true && updated < desired)
    return [
      found(scene, workload, {
        cause: "DeploymentPaused: the rollout is paused with a change that is not rolled out",
        evidence: `${updated} of ${desired} pods are of the new template.`,
        fix: `kubectl rollout resume deployment/${workload.name}`,
        severity: ready < desired ? "error" : "warning",
        since: progressing?.lastUpdateTime ?? null,
        weight: 60,
      }),
    ];
  const isService = ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Pod"].includes(kind);
  const unready = pods.filter((pod) => !isReady(pod) && ageMs(scene, pod) > PATIENCE_MS);
  if (!isService || unready.length === 0) return [];
  return [
    found(scene, workload, {
      cause: `unavailable: ${ready} of ${Math.max(desired, pods.length)} pods are ready${reasonOf(unready[0])}`,
      evidence: affected(workload, unready, pods.length) + " are not ready.",
      since: begin(workload, "Available"),
      severity: ready === 0 || kind === "Pod" ? "error" : "warning",
      weight: 12,
      restsOn: [key, ...unready.map(({ spec }) => `Node//${spec?.nodeName}`)],
      isGeneral: true,
    }),
  ];
}

const PATIENCE_MS = 120_000;

function reasonOf(pod: Pod | undefined): string {
  const waiting =
    pod === undefined ? [] : statusesOf(pod).flatMap(({ state }) => state?.waiting?.reason ?? []);
  const unready = pod?.status?.conditions?.find(
    ({ type, status }) => type === "Ready" && status !== "True",
  );
  const reason =
    waiting.find((one) => one !== "PodInitializing") ?? pod?.status?.reason ?? unready?.reason;
  return reason === undefined ? "" : ` (${reason})`;
}

/** Nobody has acted on the workload's specification. */
function unacted(scene: Scene, workload: WorkloadView): Found[] {
  const { object, kind, desired, pods, name } = workload;
  if (object === undefined || !["Deployment", "StatefulSet", "DaemonSet"].includes(kind)) return [];
  const generation = object.metadata?.generation ?? 0;
  const observed = object.status?.observedGeneration ?? 0;
  const isUnmade =
    desired > 0 && pods.length === 0 && kind === "Deployment" && !hasReplicaSet(scene, name);
  const isIgnored = generation > observed || isUnmade;
  if (!isIgnored || ageMs(scene, object) < PATIENCE_MS || object.spec?.paused === true) return [];
  return [
    found(scene, workload, {
      cause: `kube-controller-manager has not acted on it: observedGeneration ${observed}, generation ${generation}${isUnmade ? ", no ReplicaSet" : ""}`,
      evidence: `${pods.length} of ${desired} pods exist.`,
      fix: "Check that kube-controller-manager runs and holds its lease.",
      since: null,
      weight: 58,
      restsOn: ["component/kube-controller-manager"],
    }),
  ];
}

function hasReplicaSet(scene: Scene, deployment: string): boolean {
  return (
    !scene.sees("replicasets") ||
    scene
      .list("replicasets")
      .some(({ metadata }) => metadata?.ownerReferences?.some(({ name }) => name === deployment))
  );
}

/** A daemon set that fits no node. */
function unwanted(scene: Scene, workload: WorkloadView): Found[] {
  const { kind, desired, object, spec } = workload;
  const selector = spec.nodeSelector ?? {};
  if (
    kind !== "DaemonSet" ||
    desired > 0 ||
    object?.status?.observedGeneration === undefined ||
    Object.keys(selector).length === 0
  )
    return [];
  return [
    found(scene, workload, {
      cause: `no node matches the node selector ${showLabels(selector)}: desiredNumberScheduled 0`,
      evidence: "The DaemonSet runs nowhere.",
      severity: "warning",
      since: null,
      weight: 40,
    }),
  ];
}

/** What a Job says when it gives up, with the line of its log that says why. */
function failedJob(scene: Scene, job: Workload): Found[] {
  const failed = job.status?.conditions?.find(
    ({ type, status }) => type === "Failed" && status === "True",
  );
  const cron = job.metadata?.ownerReferences?.find(({ kind }) => kind === "CronJob")?.name;
  if (cron !== undefined && isSuperseded(scene, job, cron)) return [];
  const owner =
    cron === undefined ? { kind: "Job", name: nameOf(job) } : { kind: "CronJob", name: cron };
  const view = scene.workload(scene.key(owner.kind, owner.name));
  const told =
    view === undefined
      ? undefined
      : view.spec.containers
          ?.map(({ name = "" }) => logReason(scene.log(view, name)))
          .find((one) => one !== undefined);
  const last = view?.everyPod
    .flatMap(statusesOf)
    .map(({ state, lastState }) => state?.terminated ?? lastState?.terminated)
    .find((one) => (one?.exitCode ?? 0) !== 0);
  const isRetrying =
    failed === undefined && (job.status?.failed ?? 0) > 0 && (job.status?.succeeded ?? 0) === 0;
  if (failed === undefined && !isRetrying) return [];
  const reason =
    last?.reason === "OOMKilled"
      ? "OOMKilled"
      : (told?.line ??
        (last === undefined || last === null ? undefined : `exit code ${last.exitCode}`));
  const isOld = scene.now - timeOf(failed?.lastTransitionTime) > DAY_MS;
  const why = reason === undefined ? (failed?.message ?? "") : reason;
  return [
    found(scene, owner, {
      cause: `${failed?.reason ?? "its pods fail"}: ${why}`,
      evidence: `${cron === undefined ? "" : `Job ${nameOf(job)}: `}${job.status?.failed ?? 0} pods failed (backoffLimit ${job.spec?.backoffLimit ?? 6}).${failed?.message === undefined ? "" : ` ${failed.message}.`}`,
      fix: told === undefined ? undefined : LOG_FIXES[told.kind],
      severity: isOld ? "warning" : "error",
      since: failed?.lastTransitionTime ?? job.status?.startTime ?? null,
      weight: isOld ? 32 : 72,
    }),
  ];
}

/** A later run of the schedule succeeded, or is the one to tell of. */
function isSuperseded(scene: Scene, job: Workload, cron: string): boolean {
  return scene
    .list("jobs")
    .some(
      (other) =>
        other.metadata?.ownerReferences?.some(({ name }) => name === cron) === true &&
        (other.metadata.creationTimestamp ?? "") > (job.metadata?.creationTimestamp ?? ""),
    );
}

function missedSchedules(scene: Scene): Found[] {
  return scene.list("cronjobs").flatMap((cron) => {
    const event = scene
      .eventsOf("CronJob", nameOf(cron))
      .find(({ reason }) =>
        /^(FailedNeedsStart|TooManyMissedTimes|MissSchedule|UnparseableSchedule|InvalidSchedule|UnknownTimeZone)$/.test(
          reason,
        ),
      );
    if (event === undefined || cron.spec?.suspend === true) return [];
    return [
      found(
        scene,
        { kind: "CronJob", name: nameOf(cron) },
        {
          cause: `${event.reason}: ${event.message}`,
          evidence: `Schedule ${cron.spec?.schedule}, last run ${cron.status?.lastScheduleTime ?? "never"}.`,
          severity: event.reason === "MissSchedule" ? "warning" : "error",
          since: event.first || null,
          weight: 64,
        },
      ),
    ];
  });
}

/** A pod that was deleted long ago. */
function terminating(scene: Scene, pod: Pod) {
  const since = pod.metadata?.deletionTimestamp;
  // The time stamp already holds the grace period.
  if (typeof since !== "string" || !(scene.now - timeOf(since) > PATIENCE_MS)) return [];
  const finalizers = pod.metadata?.finalizers ?? [];
  const node = pod.spec?.nodeName;
  return [
    {
      id: `terminating ${finalizers.join()}`,
      cause:
        finalizers.length > 0
          ? `Terminating: held by finalizer ${finalizers.join(", ")}`
          : `Terminating: the kubelet of node ${node} has not confirmed that the pod is gone`,
      evidence: `Deleted at ${since}.`,
      fix:
        finalizers.length > 0
          ? "Find out why the finalizer's controller does not finish; remove the finalizer only when its work is known to be needless."
          : `Look at node ${node}; force the deletion only when the node is surely gone.`,
      since,
      weight: finalizers.length > 0 ? 70 : 55,
      restsOn: [`Node//${node}`],
    },
  ];
}

function terminatingOthers(scene: Scene): Found[] {
  const own = scene.list("namespaces").filter((one) => nameOf(one) === scene.namespace);
  const lists = [
    ["PersistentVolumeClaim", scene.list("persistentvolumeclaims")],
    ["Service", scene.list("services")],
    ["Ingress", scene.list("ingresses")],
    ["Deployment", scene.list("deployments")],
    ["StatefulSet", scene.list("statefulsets")],
    ["Job", scene.list("jobs")],
    ["Namespace", own],
  ] as const;
  return lists.flatMap(([kind, objects]) =>
    objects.flatMap((object) => {
      const since = object.metadata?.deletionTimestamp;
      const finalizers = object.metadata?.finalizers ?? [];
      if (typeof since !== "string" || !(scene.now - timeOf(since) > PATIENCE_MS)) return [];
      const users = kind === "PersistentVolumeClaim" ? usersOf(scene, nameOf(object)) : "";
      const made = found(
        scene,
        { kind, name: nameOf(object) },
        {
          cause:
            finalizers.length > 0
              ? `Terminating: held by finalizer ${finalizers.join(", ")}`
              : `Terminating since ${since}`,
          evidence: `Deleted at ${since}.${users}${kind === "Namespace" ? remaining(own[0]) : ""}`,
          severity: kind === "Namespace" ? "error" : "warning",
          since,
          weight: kind === "Namespace" ? 78 : 46,
        },
      );
      return [
        kind === "Namespace"
          ? { ...made, object: { kind, namespace: "", name: nameOf(object) } }
          : made,
      ];
    }),
  );
}

function usersOf(scene: Cluster, claim: string): string {
  const user = scene.workloads.find(({ pods }) =>
    pods.some(({ spec }) =>
      spec?.volumes?.some((one) => one.persistentVolumeClaim?.claimName === claim),
    ),
  );
  return user === undefined ? "" : ` ${user.kind} ${user.name} still uses it.`;
}

/** What a namespace that is being deleted still holds. */
function remaining(namespace: Namespace | undefined): string {
  const told = (namespace?.status?.conditions ?? []).filter(
    ({ status, type }) => status === "True" && /Remaining|Failure/.test(type ?? ""),
  );
  return told.length === 0
    ? ""
    : ` ${told.map(({ message }) => cut(message ?? "", 160)).join(" ")}`;
}

function evicted(scene: Scene): Found[] {
  return perWorkload(
    scene,
    (pod) => {
      const message = pod.status?.message ?? "";
      return [
        {
          id: `${pod.status?.reason} ${/resource: (\S+?)\./.exec(message)?.[1] ?? message}`,
          cause: `${pod.status?.reason}: ${message}`,
          evidence: `From node ${pod.spec?.nodeName}.`,
          fix: "Set requests and limits for what the node ran out of; free the node.",
          since: pod.status?.startTime ?? null,
          weight: 66,
          restsOn: [`Node//${pod.spec?.nodeName}`],
        },
      ];
    },
    ({ everyPod }) =>
      everyPod.filter(
        (pod) =>
          pod.status?.phase === "Failed" &&
          /^(?:Evicted|OutOf\w+|NodeAffinity|UnexpectedAdmissionError|Preempting)$/.test(
            pod.status.reason ?? "",
          ) &&
          ageMs(scene, pod) < DAY_MS,
      ),
  )
    .map((one) => {
      const view = scene.workload(scene.key(one.object.kind, one.object.name));
      const isWell = view !== undefined && view.pods.filter(isReady).length >= view.desired;
      return isWell ? { ...one, severity: "warning" as const, weight: 40 } : one;
    })
    .filter(
      ({ severity, since }) => severity === "error" || scene.now - timeOf(since) < 2 * HOUR_MS,
    );
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

function autoscalers(scene: Scene): Found[] {
  return scene.list("horizontalpodautoscalers").flatMap((autoscaler) => {
    const { scaleTargetRef: target, maxReplicas = 0 } = autoscaler.spec ?? {};
    const conditions = autoscaler.status?.conditions ?? [];
    const say = (problem: Omit<Parameters<typeof found>[2], "restsOn">) => [
      found(
        scene,
        { kind: "HorizontalPodAutoscaler", name: nameOf(autoscaler) },
        { ...problem, restsOn: ["component/metrics"] },
      ),
    ];
    const bad = conditions.find(
      ({ type, status, reason }) =>
        (type === "ScalingActive" || type === "AbleToScale") &&
        status === "False" &&
        reason !== "ScalingDisabled",
    );
    if (bad !== undefined && ageMs(scene, autoscaler) > PATIENCE_MS)
      return say({
        cause: `${bad.reason}: ${bad.message ?? ""}`,
        evidence: `It cannot scale ${target?.kind} ${target?.name} (${autoscaler.status?.currentReplicas ?? 0} replicas now).`,
        fix: /missing request for (\w+)/.test(bad.message ?? "")
          ? "Set the resource's request on every container of the target."
          : bad.reason === "FailedGetScale"
            ? `Create ${target?.kind} ${target?.name}, or correct scaleTargetRef.`
            : "Check metrics-server and the metrics that it names.",
        since: bad.lastTransitionTime ?? null,
        weight: 48,
      });
    const limited = conditions.find(
      ({ type, status, reason }) =>
        type === "ScalingLimited" && status === "True" && reason === "TooManyReplicas",
    );
    if (limited === undefined) return [];
    return say({
      cause: `TooManyReplicas: it wants more than maxReplicas ${maxReplicas}`,
      evidence: `${target?.kind} ${target?.name} has ${autoscaler.status?.currentReplicas} replicas.`,
      fix: "Raise maxReplicas, or find where the load comes from.",
      severity: "warning",
      since: limited.lastTransitionTime ?? null,
      weight: 44,
    });
  });
}
