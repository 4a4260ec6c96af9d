import { suggest } from "../../core/suggest.ts";

/** A kind of object, and where the API has it. */
export interface Kind {
  kind: string;
  /** As it is named in addresses and permissions. */
  plural: string;
  /** Empty for the core group. */
  group: string;
  /** Newest first: which one a server has depends on its age. */
  versions: readonly string[];
  namespaced: boolean;
  /** Other names that people write. */
  names: readonly string[];
}

type Row = readonly [kind: string, plural: string, group: string, versions: string, short: string];

const NAMESPACED: readonly Row[] = [
  ["Pod", "pods", "", "v1", "po"],
  ["Service", "services", "", "v1", "svc"],
  ["Endpoints", "endpoints", "", "v1", "ep"],
  ["ConfigMap", "configmaps", "", "v1", "cm"],
  ["Secret", "secrets", "", "v1", ""],
  ["Event", "events", "", "v1", "ev"],
  ["PersistentVolumeClaim", "persistentvolumeclaims", "", "v1", "pvc"],
  ["ServiceAccount", "serviceaccounts", "", "v1", "sa"],
  ["ResourceQuota", "resourcequotas", "", "v1", "quota"],
  ["LimitRange", "limitranges", "", "v1", "limits"],
  ["ReplicationController", "replicationcontrollers", "", "v1", "rc"],
  ["Deployment", "deployments", "apps", "v1", "deploy"],
  ["ReplicaSet", "replicasets", "apps", "v1", "rs"],
  ["StatefulSet", "statefulsets", "apps", "v1", "sts"],
  ["DaemonSet", "daemonsets", "apps", "v1", "ds"],
  ["ControllerRevision", "controllerrevisions", "apps", "v1", ""],
  ["Job", "jobs", "batch", "v1", ""],
  ["CronJob", "cronjobs", "batch", "v1 v1beta1", "cj"],
  ["HorizontalPodAutoscaler", "horizontalpodautoscalers", "autoscaling", "v2 v1", "hpa"],
  ["PodDisruptionBudget", "poddisruptionbudgets", "policy", "v1 v1beta1", "pdb"],
  ["Ingress", "ingresses", "networking.k8s.io", "v1 v1beta1", "ing"],
  ["NetworkPolicy", "networkpolicies", "networking.k8s.io", "v1", "netpol"],
  ["EndpointSlice", "endpointslices", "discovery.k8s.io", "v1 v1beta1", ""],
  ["Lease", "leases", "coordination.k8s.io", "v1", ""],
  ["Role", "roles", "rbac.authorization.k8s.io", "v1", ""],
  ["RoleBinding", "rolebindings", "rbac.authorization.k8s.io", "v1", ""],
];

const CLUSTER_WIDE: readonly Row[] = [
  ["Node", "nodes", "", "v1", "no"],
  ["Namespace", "namespaces", "", "v1", "ns"],
  ["PersistentVolume", "persistentvolumes", "", "v1", "pv"],
  ["StorageClass", "storageclasses", "storage.k8s.io", "v1", "sc"],
  ["VolumeAttachment", "volumeattachments", "storage.k8s.io", "v1", ""],
  ["IngressClass", "ingressclasses", "networking.k8s.io", "v1", ""],
  ["PriorityClass", "priorityclasses", "scheduling.k8s.io", "v1", "pc"],
  ["ClusterRole", "clusterroles", "rbac.authorization.k8s.io", "v1", ""],
  ["ClusterRoleBinding", "clusterrolebindings", "rbac.authorization.k8s.io", "v1", ""],
  ["CustomResourceDefinition", "customresourcedefinitions", "apiextensions.k8s.io", "v1", "crd"],
  ["APIService", "apiservices", "apiregistration.k8s.io", "v1", ""],
  [
    "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations",
    "admissionregistration.k8s.io",
    "v1",
    "",
  ],
  [
    "MutatingWebhookConfiguration",
    "mutatingwebhookconfigurations",
    "admissionregistration.k8s.io",
    "v1",
    "",
  ],
];

function kindOfRow([kind, plural, group, versions, short]: Row, namespaced: boolean): Kind {
  const names = [plural, kind.toLowerCase(), short].filter((name) => name !== "");
  return { kind, plural, group, versions: versions.split(" "), namespaced, names };
}

const KINDS: readonly Kind[] = [
  ...NAMESPACED.map((row) => kindOfRow(row, true)),
  ...CLUSTER_WIDE.map((row) => kindOfRow(row, false)),
];

/** A kind that every cluster has, by its plural. */
export function builtIn(plural: string): Kind {
  const kind = KINDS.find((each) => each.plural === plural);
  if (kind === undefined) throw new TypeError(`There is no kind ${plural} in the table.`);
  return kind;
}

/** By any of its names, in any case: `po`, `Pod`, `deployments.apps`. Undefined: it may be a custom one. */
export function findKind(name: string): Kind | undefined {
  const [written = "", ...group] = name.toLowerCase().split(".");
  return KINDS.find(
    (kind) =>
      kind.names.includes(written) && (group.length === 0 || kind.group === group.join(".")),
  );
}

/** `service/cart`, for the first line of a card. */
export function titleOf(kind: string, name: string): string {
  return refOf(findKind(kind)?.kind ?? kind, name);
}

/** What somebody may have meant by a name of no kind. */
export function nearKind(name: string, others: readonly Kind[] = []): string | undefined {
  return suggest(
    name,
    [...KINDS, ...others].flatMap(({ names }) => names),
  );
}

/** `Deployment` as it is written before a name: `deployment/web`. */
export function refOf(kind: string, name: string): string {
  return `${kind.toLowerCase()}/${name}`;
}
