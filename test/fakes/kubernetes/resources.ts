/** The kinds that the fake API server has, and how it prints them. */

// oxlint-disable-next-line typescript/no-explicit-any -- objects of any kind, in a server that is given them by tests
export type Obj = Record<string, any>;

export interface FakeKind {
  group: string;
  versions: string[];
  plural: string;
  kind: string;
  namespaced: boolean;
  /** Fields that lists can be selected by, besides name and namespace. */
  fields: string[];
  columns: { name: string; priority: number; cell: (object: Obj) => string | number }[];
  custom?: boolean;
}

const NAME = { name: "Name", priority: 0, cell: (object: Obj) => object["metadata"].name };
const AGE = { name: "Age", priority: 0, cell: () => "5m" };
const column = (name: string, cell: (object: Obj) => string | number, priority = 0) => ({
  name,
  priority,
  cell,
});

function kind(
  path: string,
  name: string,
  options: Partial<FakeKind> & { more?: FakeKind["columns"] } = {},
): FakeKind {
  const [group = "", versions = "", plural = ""] = path.split("/");
  const { more = [], ...rest } = options;
  return {
    group,
    versions: versions.split("+"),
    plural,
    kind: name,
    namespaced: true,
    fields: [],
    columns: [NAME, ...more, AGE],
    ...rest,
  };
}

const statusOf = (pod: Obj) =>
  pod["status"]?.containerStatuses?.find((each: Obj) => each["state"]?.waiting)?.state.waiting
    .reason ??
  pod["status"]?.phase ??
  "Unknown";
const readyOf = (pod: Obj) =>
  `${(pod["status"]?.containerStatuses ?? []).filter((each: Obj) => each["ready"]).length}/${pod["spec"].containers.length}`;

/** `old`: of a server as old as 1.20, where some kinds are in other versions. */
export function kindsOf(old: boolean): FakeKind[] {
  const beta = old ? "v1beta1" : "v1";
  return [
    kind("/v1/pods", "Pod", {
      fields: ["spec.nodeName", "status.phase"],
      more: [
        column("Ready", readyOf),
        column("Status", statusOf),
        column("Node", (pod) => pod["spec"].nodeName ?? "<none>", 1),
        column("Nominated Node", () => "<none>", 1),
      ],
    }),
    kind("/v1/services", "Service", {
      more: [column("Type", (each) => each["spec"].type ?? "ClusterIP")],
    }),
    kind("/v1/endpoints", "Endpoints"),
    kind("/v1/configmaps", "ConfigMap", {
      more: [column("Data", (each) => Object.keys(each["data"] ?? {}).length)],
    }),
    kind("/v1/secrets", "Secret", {
      fields: ["type"],
      more: [
        column("Type", (each) => each["type"] ?? "Opaque"),
        column("Data", (each) => Object.keys(each["data"] ?? {}).length),
      ],
    }),
    kind("/v1/events", "Event", {
      fields: [
        "type",
        "reason",
        "involvedObject.name",
        "involvedObject.kind",
        "involvedObject.uid",
        "involvedObject.namespace",
      ],
    }),
    kind("/v1/serviceaccounts", "ServiceAccount"),
    kind("/v1/persistentvolumeclaims", "PersistentVolumeClaim"),
    kind("/v1/resourcequotas", "ResourceQuota"),
    kind("/v1/limitranges", "LimitRange"),
    kind("/v1/replicationcontrollers", "ReplicationController"),
    kind("/v1/nodes", "Node", { namespaced: false, fields: ["spec.unschedulable"] }),
    kind("/v1/namespaces", "Namespace", { namespaced: false, fields: ["status.phase"] }),
    kind("/v1/persistentvolumes", "PersistentVolume", { namespaced: false }),
    kind("/v1/componentstatuses", "ComponentStatus", { namespaced: false }),
    kind("apps/v1/deployments", "Deployment"),
    kind("apps/v1/replicasets", "ReplicaSet"),
    kind("apps/v1/statefulsets", "StatefulSet"),
    kind("apps/v1/daemonsets", "DaemonSet"),
    kind("apps/v1/controllerrevisions", "ControllerRevision"),
    kind("batch/v1/jobs", "Job"),
    kind(`batch/${beta}/cronjobs`, "CronJob"),
    kind(`policy/${beta}/poddisruptionbudgets`, "PodDisruptionBudget"),
    kind(`autoscaling/${old ? "v1" : "v2+v1"}/horizontalpodautoscalers`, "HorizontalPodAutoscaler"),
    kind("networking.k8s.io/v1/ingresses", "Ingress"),
    kind("networking.k8s.io/v1/networkpolicies", "NetworkPolicy"),
    kind("networking.k8s.io/v1/ingressclasses", "IngressClass", { namespaced: false }),
    kind(`discovery.k8s.io/${beta}/endpointslices`, "EndpointSlice"),
    kind("storage.k8s.io/v1/storageclasses", "StorageClass", { namespaced: false }),
    kind("rbac.authorization.k8s.io/v1/clusterroles", "ClusterRole", { namespaced: false }),
    kind("example.com/v1/widgets", "Widget", { custom: true }),
  ];
}
