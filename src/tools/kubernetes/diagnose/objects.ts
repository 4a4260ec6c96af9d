/**
 * The parts of Kubernetes' API objects that are read here, as the API server lists them. Every field may be missing: versions
 * differ, and Go leaves empty ones out or writes null. Quantities are text such as `250m` or `1Gi`, or numbers.
 */

export interface Reference {
  kind?: string;
  name?: string;
  namespace?: string;
  uid?: string;
  controller?: boolean;
}

export interface Metadata {
  name?: string;
  namespace?: string;
  uid?: string;
  labels?: Labels | null;
  annotations?: Labels | null;
  ownerReferences?: readonly Reference[] | null;
  finalizers?: readonly string[] | null;
  creationTimestamp?: string | null;
  deletionTimestamp?: string | null;
  generation?: number;
}

export type Labels = Readonly<Record<string, string>>;
export type Quantities = Readonly<Record<string, string | number>>;

export interface KubeObject {
  kind?: string;
  metadata?: Metadata;
}

export interface Condition {
  type?: string;
  status?: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string | null;
  lastUpdateTime?: string | null;
  lastProbeTime?: string | null;
  lastHeartbeatTime?: string | null;
}

export interface Requirement {
  key?: string;
  operator?: string;
  values?: readonly string[] | null;
}

export interface LabelSelector {
  matchLabels?: Labels | null;
  matchExpressions?: readonly Requirement[] | null;
}

export interface NodeSelectorTerm {
  matchExpressions?: readonly Requirement[] | null;
  matchFields?: readonly Requirement[] | null;
}

export interface PodAffinityTerm {
  labelSelector?: LabelSelector | null;
  topologyKey?: string;
  namespaces?: readonly string[] | null;
}

export interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
}

export interface Taint {
  key?: string;
  value?: string;
  effect?: string;
  timeAdded?: string | null;
}

export interface ContainerPort {
  name?: string;
  containerPort?: number;
  hostPort?: number;
  protocol?: string;
}

interface KeyReference {
  name?: string;
  key?: string;
  optional?: boolean;
}

interface EnvVar {
  name?: string;
  value?: string;
  valueFrom?: { configMapKeyRef?: KeyReference; secretKeyRef?: KeyReference } | null;
}

export interface Probe {
  httpGet?: { path?: string; port?: number | string; scheme?: string; host?: string } | null;
  tcpSocket?: { port?: number | string } | null;
  grpc?: { port?: number; service?: string } | null;
  exec?: { command?: readonly string[] } | null;
  initialDelaySeconds?: number;
  timeoutSeconds?: number;
  periodSeconds?: number;
  failureThreshold?: number;
}

export interface Container {
  name?: string;
  image?: string;
  imagePullPolicy?: string;
  command?: readonly string[] | null;
  args?: readonly string[] | null;
  env?: readonly EnvVar[] | null;
  envFrom?:
    | readonly {
        configMapRef?: { name?: string; optional?: boolean };
        secretRef?: { name?: string; optional?: boolean };
      }[]
    | null;
  ports?: readonly ContainerPort[] | null;
  resources?: { requests?: Quantities | null; limits?: Quantities | null } | null;
  volumeMounts?:
    | readonly { name?: string; mountPath?: string; readOnly?: boolean; subPath?: string }[]
    | null;
  livenessProbe?: Probe | null;
  readinessProbe?: Probe | null;
  startupProbe?: Probe | null;
  restartPolicy?: string;
}

interface KeyItem {
  key?: string;
}

interface Volume {
  name?: string;
  configMap?: {
    name?: string;
    optional?: boolean;
    items?: readonly KeyItem[] | null;
  } | null;
  secret?: {
    secretName?: string;
    optional?: boolean;
    items?: readonly KeyItem[] | null;
  } | null;
  persistentVolumeClaim?: { claimName?: string; readOnly?: boolean } | null;
  hostPath?: { path?: string; type?: string } | null;
  ephemeral?: unknown;
  projected?: {
    sources?:
      | readonly {
          configMap?: { name?: string; optional?: boolean; items?: readonly KeyItem[] | null };
          secret?: { name?: string; optional?: boolean; items?: readonly KeyItem[] | null };
        }[]
      | null;
  } | null;
}

export interface PodSpec {
  containers?: readonly Container[] | null;
  initContainers?: readonly Container[] | null;
  volumes?: readonly Volume[] | null;
  nodeName?: string;
  nodeSelector?: Labels | null;
  affinity?: {
    nodeAffinity?: {
      requiredDuringSchedulingIgnoredDuringExecution?: {
        nodeSelectorTerms?: readonly NodeSelectorTerm[] | null;
      } | null;
    } | null;
    podAffinity?: {
      requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[] | null;
    } | null;
    podAntiAffinity?: {
      requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[] | null;
    } | null;
  } | null;
  tolerations?: readonly Toleration[] | null;
  topologySpreadConstraints?:
    | readonly { topologyKey?: string; whenUnsatisfiable?: string; maxSkew?: number }[]
    | null;
  serviceAccountName?: string;
  imagePullSecrets?: readonly { name?: string }[] | null;
  schedulerName?: string;
  schedulingGates?: readonly { name?: string }[] | null;
  priorityClassName?: string;
  runtimeClassName?: string;
  hostNetwork?: boolean;
  dnsPolicy?: string;
  dnsConfig?: { nameservers?: readonly string[] | null } | null;
  restartPolicy?: string;
  securityContext?: { runAsUser?: number; fsGroup?: number; runAsNonRoot?: boolean } | null;
}

interface Ended {
  reason?: string;
  message?: string;
  exitCode?: number;
  signal?: number;
  startedAt?: string | null;
  finishedAt?: string | null;
}

export interface ContainerState {
  waiting?: { reason?: string; message?: string } | null;
  running?: { startedAt?: string | null } | null;
  terminated?: Ended | null;
}

export interface ContainerStatus {
  name?: string;
  ready?: boolean;
  started?: boolean | null;
  restartCount?: number;
  image?: string;
  state?: ContainerState | null;
  lastState?: ContainerState | null;
}

export interface Pod extends KubeObject {
  spec?: PodSpec;
  status?: {
    phase?: string;
    reason?: string;
    message?: string;
    podIP?: string;
    startTime?: string | null;
    conditions?: readonly Condition[] | null;
    containerStatuses?: readonly ContainerStatus[] | null;
    initContainerStatuses?: readonly ContainerStatus[] | null;
  };
}

export interface KubeEvent extends KubeObject {
  type?: string;
  reason?: string;
  message?: string;
  note?: string;
  count?: number;
  firstTimestamp?: string | null;
  lastTimestamp?: string | null;
  eventTime?: string | null;
  series?: { count?: number; lastObservedTime?: string | null } | null;
  deprecatedCount?: number;
  deprecatedLastTimestamp?: string | null;
  source?: { component?: string; host?: string };
  reportingComponent?: string;
  involvedObject?: Reference & { fieldPath?: string };
  regarding?: Reference & { fieldPath?: string };
}

export interface Node extends KubeObject {
  spec?: { unschedulable?: boolean; taints?: readonly Taint[] | null };
  status?: {
    allocatable?: Quantities | null;
    capacity?: Quantities | null;
    conditions?: readonly Condition[] | null;
  };
}

export interface Namespace extends KubeObject {
  status?: { phase?: string; conditions?: readonly Condition[] | null };
}

export interface ComponentStatus extends KubeObject {
  conditions?:
    | readonly { type?: string; status?: string; message?: string; error?: string }[]
    | null;
}

export interface PodMetrics extends KubeObject {
  containers?: readonly { name?: string; usage?: Quantities | null }[] | null;
}

export interface NodeMetrics extends KubeObject {
  usage?: Quantities | null;
}
