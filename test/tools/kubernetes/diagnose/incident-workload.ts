/** Kubernetes' own objects for a workload that is written in short: its controller, replica set, pods and events. */

export type Json = Record<string, unknown> & { kind?: string; metadata?: Json; items?: Json[] };

export interface Workload {
  kind?: "Deployment" | "StatefulSet" | "DaemonSet" | "Job";
  name: string;
  replicas?: number;
  /** How many pods exist; as many as replicas unless said. */
  pods?: number;
  age?: string;
  labels?: Record<string, string>;
  /** Merged over the pod's spec. */
  spec?: Json;
  /** Merged over its one container. */
  container?: Json;
  sidecars?: Json[];
  /** Merged over the workload's own spec and status. */
  workloadSpec?: Json;
  workloadStatus?: Json;
  node?: string;
  state?: "ready" | "pending" | "unready" | "waiting" | "completed" | "error" | "none";
  waiting?: { reason: string; message?: string };
  last?: Json;
  restarts?: number;
  podStatus?: Json;
  podMetadata?: Json;
  /** Of its first pod, or of what `on` names. */
  events?: {
    reason: string;
    message: string;
    type?: string;
    count?: number;
    on?: string;
    age?: string;
  }[];
}

export const NOW = Date.parse("2026-03-12T10:00:00Z");

const UNIT = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `5m` → the time that long ago. */
export function ago(age: string): string {
  const unit = UNIT[age.at(-1) as keyof typeof UNIT];
  return new Date(NOW - Number(age.slice(0, -1)) * unit).toISOString().replace(".000Z", "Z");
}

export function expand(workload: Workload): Json[] {
  const { name, kind = "Deployment", replicas = 1, age = "2d", state = "ready" } = workload;
  const labels = { app: name, ...workload.labels };
  const containers = [
    { name, image: `registry.example.com/shop/${name}:1.4.2`, ...workload.container },
    ...(workload.sidecars ?? []),
  ];
  const podSpec: Json = {
    serviceAccountName: "default",
    restartPolicy: kind === "Job" ? "Never" : "Always",
    schedulerName: "default-scheduler",
    dnsPolicy: "ClusterFirst",
    containers,
    tolerations: [
      {
        key: "node.kubernetes.io/not-ready",
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 300,
      },
      {
        key: "node.kubernetes.io/unreachable",
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 300,
      },
    ],
    ...workload.spec,
  };
  const count = workload.pods ?? (state === "none" ? 0 : replicas);
  const ready = state === "ready" ? count : 0;
  const hash = kind === "Deployment" ? "-7d9c5b8f6d" : "";
  const template = { metadata: { labels }, spec: podSpec };
  const result: Json[] = [];
  const owner =
    kind === "Deployment" ? { kind: "ReplicaSet", name: `${name}${hash}` } : { kind, name };
  result.push({
    kind,
    metadata: { name, labels, creationTimestamp: ago(age), generation: 1, uid: `uid-${name}` },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template,
      ...(kind === "Deployment" && {
        progressDeadlineSeconds: 600,
        strategy: {
          type: "RollingUpdate",
          rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" },
        },
      }),
      ...workload.workloadSpec,
    },
    status: {
      observedGeneration: 1,
      ...(kind === "DaemonSet"
        ? { desiredNumberScheduled: replicas, currentNumberScheduled: count, numberReady: ready }
        : kind === "Job"
          ? {
              ...jobStatus(state),
            }
          : {
              replicas: count,
              readyReplicas: ready,
              availableReplicas: ready,
              updatedReplicas: count,
            }),
      ...(kind === "Deployment" && {
        conditions: [
          {
            type: "Available",
            status: ready >= Math.ceil(replicas * 0.75) ? "True" : "False",
            reason:
              ready >= Math.ceil(replicas * 0.75)
                ? "MinimumReplicasAvailable"
                : "MinimumReplicasUnavailable",
            message: "Deployment does not have minimum availability.",
            lastTransitionTime: ago(age),
          },
          {
            type: "Progressing",
            status: "True",
            reason: "NewReplicaSetAvailable",
            lastTransitionTime: ago(age),
          },
        ],
      }),
      ...workload.workloadStatus,
    },
  });
  if (kind === "Deployment")
    result.push({
      kind: "ReplicaSet",
      metadata: {
        name: owner.name,
        labels: { ...labels, "pod-template-hash": hash.slice(1) },
        creationTimestamp: ago(age),
        annotations: { "deployment.kubernetes.io/revision": "1" },
        ownerReferences: [{ kind: "Deployment", name, controller: true, uid: `uid-${name}` }],
      },
      spec: {
        replicas,
        selector: { matchLabels: { ...labels, "pod-template-hash": hash.slice(1) } },
        template,
      },
      status: { replicas: count, readyReplicas: ready },
    });
  const suffixes = ["x2k9p", "m4d7q", "w8b3z", "k5t6n", "c9r2v", "h3j8s"];
  for (let index = 0; index < count; index += 1) {
    const pod =
      kind === "StatefulSet" ? `${name}-${index}` : `${name}${hash}-${suffixes[index] ?? index}`;
    result.push(podOf(workload, { pod, index, owner, labels, podSpec, containers, age }));
  }
  const pod = result.find((one) => one.kind === "Pod")?.metadata?.["name"];
  const first = typeof pod === "string" ? pod : owner.name;
  for (const event of workload.events ?? []) {
    const [onKind, onName] =
      event.on?.split("/") ?? (count > 0 ? ["Pod", first] : [owner.kind, owner.name]);
    result.push({
      kind: "Event",
      metadata: { name: `${onName}.17b2`, namespace: "shop" },
      involvedObject: {
        kind: onKind,
        name: onName === "$rs" ? owner.name : onName,
        namespace: "shop",
      },
      type: event.type ?? "Warning",
      reason: event.reason,
      message: event.message.replaceAll("$pod", first),
      count: event.count ?? 5,
      firstTimestamp: ago("20m"),
      lastTimestamp: ago(event.age ?? "1m"),
    });
  }
  return result;
}

interface PodParts {
  pod: string;
  index: number;
  owner: { kind: string; name: string };
  labels: Record<string, string>;
  podSpec: Json;
  containers: Json[];
  age: string;
}

function podOf(
  workload: Workload,
  { pod, index, owner, labels, podSpec, containers, age }: PodParts,
): Json {
  const { state = "ready", restarts = 0 } = workload;
  const scheduled = state !== "pending";
  const ended = state === "completed" || state === "error";
  const since = ago(age);
  const statuses = containers.map((container, at) => {
    const own = at === 0 || state === "ready";
    const running = { running: { startedAt: since } };
    const now =
      state === "waiting" && own
        ? { waiting: workload.waiting }
        : ended
          ? {
              terminated: {
                exitCode: state === "error" ? 1 : 0,
                reason: state === "error" ? "Error" : "Completed",
                finishedAt: ago("5m"),
              },
            }
          : running;
    return {
      name: container["name"],
      image: container["image"],
      ready: state === "ready" || (!own && state === "waiting"),
      started: state === "ready",
      restartCount: own ? restarts : 0,
      state: now,
      lastState: own && workload.last !== undefined ? { terminated: workload.last } : {},
    };
  });
  const isReady = state === "ready" ? "True" : "False";
  return {
    kind: "Pod",
    metadata: {
      name: pod,
      labels: {
        ...labels,
        ...(owner.kind === "ReplicaSet" && { "pod-template-hash": "7d9c5b8f6d" }),
      },
      creationTimestamp: since,
      ownerReferences: [{ kind: owner.kind, name: owner.name, controller: true }],
      ...workload.podMetadata,
    },
    spec: {
      ...podSpec,
      ...(scheduled && { nodeName: workload.node ?? `worker-${(index % 2) + 1}` }),
    },
    status: {
      phase:
        state === "pending" || (state === "waiting" && restarts === 0)
          ? "Pending"
          : state === "completed"
            ? "Succeeded"
            : state === "error"
              ? "Failed"
              : "Running",
      startTime: since,
      ...(scheduled && { podIP: `10.244.1.${index + 10}` }),
      conditions: scheduled
        ? [
            { type: "Initialized", status: "True", lastTransitionTime: since },
            {
              type: "Ready",
              status: isReady,
              lastTransitionTime: since,
              ...(isReady === "False" && {
                reason: "ContainersNotReady",
                message: `containers with unready status: [${workload.name}]`,
              }),
            },
            { type: "ContainersReady", status: isReady, lastTransitionTime: since },
            { type: "PodScheduled", status: "True", lastTransitionTime: since },
          ]
        : [
            {
              type: "PodScheduled",
              status: "False",
              reason: "Unschedulable",
              message:
                workload.events?.find((event) => event.reason === "FailedScheduling")?.message ??
                "",
              lastTransitionTime: since,
            },
          ],
      ...(scheduled && { containerStatuses: statuses }),
      ...workload.podStatus,
    },
  };
}

function jobStatus(state: string): Json {
  return state === "completed"
    ? { succeeded: 1, conditions: [{ type: "Complete", status: "True" }] }
    : { active: 1 };
}
