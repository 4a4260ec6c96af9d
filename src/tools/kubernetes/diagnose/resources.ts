import type {
  Condition,
  KubeObject,
  Labels,
  LabelSelector,
  Metadata,
  NodeSelectorTerm,
  PodSpec,
  Quantities,
  Reference,
} from "./objects.ts";

/** What makes pods and what stands around them, as `objects.ts` says. */

interface Template {
  metadata?: Metadata;
  spec?: PodSpec;
}

/** ReplicaSet, Deployment, StatefulSet, DaemonSet, Job: what they have in common, and what one of them has. */
export interface Workload extends KubeObject {
  spec?: {
    replicas?: number;
    paused?: boolean;
    selector?: LabelSelector | null;
    template?: Template;
    strategy?: {
      type?: string;
      rollingUpdate?: { maxUnavailable?: number | string; maxSurge?: number | string } | null;
    } | null;
    serviceName?: string;
    backoffLimit?: number;
    completions?: number;
    suspend?: boolean;
    activeDeadlineSeconds?: number;
    volumeClaimTemplates?: readonly VolumeClaim[] | null;
  };
  status?: {
    observedGeneration?: number;
    replicas?: number;
    readyReplicas?: number;
    availableReplicas?: number;
    updatedReplicas?: number;
    desiredNumberScheduled?: number;
    numberReady?: number;
    currentNumberScheduled?: number;
    active?: number;
    succeeded?: number;
    failed?: number;
    startTime?: string | null;
    completionTime?: string | null;
    conditions?: readonly Condition[] | null;
  };
}

export interface CronJob extends KubeObject {
  spec?: {
    schedule?: string;
    suspend?: boolean;
    concurrencyPolicy?: string;
    jobTemplate?: { spec?: { template?: Template } };
  };
  status?: { lastScheduleTime?: string | null; lastSuccessfulTime?: string | null };
}

export interface ServicePort {
  name?: string;
  port?: number;
  targetPort?: number | string;
  protocol?: string;
}

export interface Service extends KubeObject {
  spec?: {
    type?: string;
    clusterIP?: string;
    selector?: Labels | null;
    ports?: readonly ServicePort[] | null;
    externalName?: string;
    publishNotReadyAddresses?: boolean;
  };
  status?: { loadBalancer?: { ingress?: readonly unknown[] | null } };
}

export interface Endpoints extends KubeObject {
  subsets?:
    | readonly {
        addresses?: readonly { ip?: string }[] | null;
        notReadyAddresses?: readonly { ip?: string }[] | null;
      }[]
    | null;
}

export interface EndpointSlice extends KubeObject {
  endpoints?:
    | readonly { addresses?: readonly string[]; conditions?: { ready?: boolean | null } }[]
    | null;
}

/** `networking.k8s.io/v1`, and the names that `v1beta1` had. */
export interface IngressBackend {
  service?: { name?: string; port?: { number?: number; name?: string } };
  serviceName?: string;
  servicePort?: number | string;
}

export interface Ingress extends KubeObject {
  spec?: {
    ingressClassName?: string;
    defaultBackend?: IngressBackend;
    tls?: readonly { hosts?: readonly string[] | null; secretName?: string }[] | null;
    rules?:
      | readonly {
          host?: string;
          http?: { paths?: readonly { path?: string; backend?: IngressBackend }[] | null };
        }[]
      | null;
  };
  status?: { loadBalancer?: { ingress?: readonly unknown[] | null } };
}

interface PolicyPeer {
  podSelector?: LabelSelector | null;
  namespaceSelector?: LabelSelector | null;
  ipBlock?: { cidr?: string } | null;
}

interface PolicyPort {
  port?: number | string;
  endPort?: number;
  protocol?: string;
}

export interface NetworkPolicyRule {
  from?: readonly PolicyPeer[] | null;
  to?: readonly PolicyPeer[] | null;
  ports?: readonly PolicyPort[] | null;
}

export interface NetworkPolicy extends KubeObject {
  spec?: {
    podSelector?: LabelSelector | null;
    policyTypes?: readonly string[] | null;
    ingress?: readonly NetworkPolicyRule[] | null;
    egress?: readonly NetworkPolicyRule[] | null;
  };
}

/** A ConfigMap or Secret with the names of its keys only. */
export interface KeyedObject extends KubeObject {
  type?: string;
  keys: readonly string[];
}

export interface ServiceAccount extends KubeObject {
  imagePullSecrets?: readonly { name?: string }[] | null;
}

export interface VolumeClaim extends KubeObject {
  spec?: {
    accessModes?: readonly string[] | null;
    storageClassName?: string | null;
    volumeName?: string;
    volumeMode?: string;
    selector?: LabelSelector | null;
    resources?: { requests?: Quantities | null };
  };
  status?: {
    phase?: string;
    capacity?: Quantities | null;
    conditions?: readonly Condition[] | null;
  };
}

export interface PersistentVolume extends KubeObject {
  spec?: {
    accessModes?: readonly string[] | null;
    storageClassName?: string;
    capacity?: Quantities | null;
    volumeMode?: string;
    claimRef?: Reference | null;
    nodeAffinity?: {
      required?: { nodeSelectorTerms?: readonly NodeSelectorTerm[] | null } | null;
    } | null;
  };
  status?: { phase?: string; reason?: string; message?: string };
}

export interface StorageClass extends KubeObject {
  provisioner?: string;
  volumeBindingMode?: string;
}

export interface ResourceQuota extends KubeObject {
  spec?: { hard?: Quantities | null };
  status?: { hard?: Quantities | null; used?: Quantities | null };
}

/** `autoscaling/v2`; `v1` has only the target and the numbers of replicas. */
export interface Autoscaler extends KubeObject {
  spec?: { scaleTargetRef?: Reference; minReplicas?: number; maxReplicas?: number };
  status?: {
    currentReplicas?: number;
    desiredReplicas?: number;
    conditions?: readonly Condition[] | null;
  };
}

export interface DisruptionBudget extends KubeObject {
  spec?: {
    selector?: LabelSelector | null;
    minAvailable?: number | string;
    maxUnavailable?: number | string;
  };
  status?: { disruptionsAllowed?: number; currentHealthy?: number; desiredHealthy?: number };
}
