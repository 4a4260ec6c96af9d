import { found, type Analyzer, type Found } from "./found.ts";
import { keyOf, nameOf, type Cluster, type SeenEvent, type WorkloadView } from "./cluster.ts";
import { quantity } from "./quantity.ts";
import type { ResourceQuota } from "./resources.ts";
import type { Scene } from "./scene.ts";

/** Pods, claims and load balancers that the API server refuses to create. */
export const admission: Analyzer = {
  name: "refused objects",
  look(scene) {
    const refused = scene.workloads.flatMap((workload) => lookAt(scene, workload));
    return [...refused, ...refusedLoadBalancers(scene), ...fullQuotas(scene, refused)];
  },
};

function lookAt(cluster: Cluster, workload: WorkloadView): Found[] {
  if (workload.desired > 0 && workload.pods.length >= workload.desired) return [];
  const refusal = latestRefusal(cluster, workload);
  if (refusal === undefined) return [];
  const { message, since, count } = refusal;
  const { cause, fix, weight = 88 } = explain(message);
  const [, quota, limited = ""] =
    /exceeded quota: ([\w.-]+)(?:,.*limited: (\S+))?/.exec(message) ?? [];
  const raised = quota === undefined ? "" : raisedSince(cluster, quota, limited);
  return [
    found(cluster, workload, {
      cause,
      evidence: `${workload.pods.length} of ${workload.desired} pods exist; FailedCreate${count > 1 ? ` ×${count}` : ""}: ${message}`,
      fix: raised || fix,
      since,
      weight,
      ...(quota !== undefined && {
        shared: cluster.object("ResourceQuota", quota),
        breaks: [cluster.key("ResourceQuota", quota)],
      }),
    }),
  ];
}

/** Controllers wait longer after each refusal, so what they were told last may have been mended. */
function raisedSince(cluster: Cluster, name: string, limited: string): string {
  const hard = cluster.list("resourcequotas").find((quota) => nameOf(quota) === name)?.status?.hard;
  const limits = limited.split(",").map((limit) => {
    const [resource = "", value] = limit.split("=");
    return { resource, value };
  });
  const isRaised = limits.every(
    ({ resource, value }) => quantity(hard?.[resource]) > quantity(value),
  );
  const now = limits.map(({ resource }) => `${resource}=${hard?.[resource]}`).join(",");
  return isRaised
    ? `ResourceQuota ${name} was raised since, to ${now}. The controller tries again by itself, within 17 min at most.`
    : "";
}

/** What a controller was told when it created a pod or claim: an event, or a condition that outlives events. */
function latestRefusal(cluster: Cluster, workload: WorkloadView) {
  const makers = [workload, ...makersOf(cluster, workload)];
  const events = makers.flatMap(({ kind, name }) => cluster.eventsOf(kind, name).filter(isRefusal));
  const [event] = events.toSorted((a, b) => b.last.localeCompare(a.last));
  if (event !== undefined)
    return { message: event.message, since: event.first || null, count: event.count };
  for (const { object } of makers) {
    const failure = object?.status?.conditions?.find(
      ({ type, status }) => type === "ReplicaFailure" && status === "True",
    );
    if (failure !== undefined)
      return {
        message: failure.message ?? "",
        since: failure.lastTransitionTime ?? null,
        count: 1,
      };
  }
  return undefined;
}

function makersOf(cluster: Cluster, { kind, name }: WorkloadView) {
  const [list, made] =
    kind === "Deployment" ? (["replicasets", "ReplicaSet"] as const) : (["jobs", "Job"] as const);
  if (kind !== "Deployment" && kind !== "CronJob") return [];
  return cluster
    .list(list)
    .filter(({ metadata }) =>
      metadata?.ownerReferences?.some((owner) => owner.kind === kind && owner.name === name),
    )
    .map((object) => ({ kind: made, name: nameOf(object), object }));
}

function isRefusal({ reason, type }: SeenEvent): boolean {
  return type !== "Normal" && (reason === "FailedCreate" || reason === "ReplicaSetCreateError");
}

interface Explained {
  cause: string;
  fix?: string;
  weight?: number;
}

const REFUSALS: readonly [RegExp, (found: RegExpExecArray) => Explained][] = [
  [
    /exceeded quota: ([\w.-]+), requested: (.+?), used: (.+?), limited: (\S+)/,
    ([, quota, requested, used, limited]) => ({
      cause: `exceeded quota: ${quota}, requested: ${requested}, used: ${used}, limited: ${limited}`,
      fix: `Raise ResourceQuota ${quota}, or lower what the namespace requests.`,
    }),
  ],
  [
    /failed quota: ([\w.-]+): (must specify .+)/,
    ([, quota, must]) => ({
      cause: `failed quota: ${quota}: ${must}`,
      fix: "Set these requests and limits on every container, or a LimitRange with defaults.",
    }),
  ],
  [
    /(?:serviceaccount "([^"]+)" not found|service account .*?\/(\S+?)(?::| was not found))/,
    ([, quoted, plain]) => ({
      cause: `serviceaccount "${quoted ?? plain}" not found`,
      fix: `Create ServiceAccount ${quoted ?? plain}, or set serviceAccountName to one that exists.`,
      weight: 90,
    }),
  ],
  [
    /((?:violates PodSecurity|PodSecurityPolicy: unable to admit|no providers available to validate|unable to validate against any (?:pod )?security).+)/,
    ([, why]) => ({
      cause: why ?? "",
      fix: "Set the securityContext that the message names, or relax the namespace's pod-security label.",
    }),
  ],
  [
    /((?:maximum|minimum) \w+ usage per (?:Container|Pod) is .+?|.* limit to request ratio per .+)(?:$|, )/,
    ([, why]) => ({
      cause: `LimitRange: ${why}`,
      fix: "Bring the containers' requests and limits into the LimitRange's bounds.",
    }),
  ],
  [
    /(no PriorityClass with name \S+ was found)/,
    ([, why]) => ({
      cause: why ?? "",
      fix: "Create the PriorityClass, or drop priorityClassName.",
    }),
  ],
  [
    /((?:admission webhook "[^"]+" denied the request|failed calling webhook "[^"]+")[\s\S]*)/,
    ([, why]) => ({ cause: why ?? "" }),
  ],
];

function explain(message: string): Explained {
  for (const [pattern, say] of REFUSALS) {
    const match = pattern.exec(message);
    if (match !== null) return say(match);
  }
  return { cause: `FailedCreate: ${message}` };
}

function refusedLoadBalancers(cluster: Cluster): Found[] {
  return cluster.list("services").flatMap((service) => {
    if (service.spec?.type !== "LoadBalancer") return [];
    if ((service.status?.loadBalancer?.ingress ?? []).length > 0) return [];
    const event = cluster
      .eventsOf("Service", nameOf(service))
      .find(({ type, reason }) => type === "Warning" && /LoadBalancer|FailedAllocat/i.test(reason));
    if (event === undefined) return [];
    return [
      found(
        cluster,
        { kind: "Service", name: nameOf(service) },
        {
          cause: `${event.reason}: ${event.message}`,
          evidence: `The load balancer has no address; seen ×${event.count}`,
          since: event.first || null,
          weight: 64,
        },
      ),
    ];
  });
}

/** Nothing is written down when the API server refuses a Service: that a quota is full and something is not there says it. */
function fullQuotas(scene: Scene, refused: readonly Found[]): Found[] {
  const named = new Set(refused.flatMap(({ breaks }) => breaks ?? []));
  return scene.list("resourcequotas").flatMap((quota) => {
    const { hard, used } = quota.status ?? {};
    const full = Object.entries(hard ?? {}).filter(
      ([resource, limit]) => quantity(limit) > 0 && quantity(used?.[resource]) >= quantity(limit),
    );
    const object = scene.object("ResourceQuota", nameOf(quota));
    const tooSmall = smallForVolume(scene, quota);
    if (tooSmall !== undefined) return [tooSmall];
    const lacking = scene.workloads.filter((workload) =>
      full.some(([resource]) => lacks(scene, workload, resource)),
    );
    const [first] = lacking;
    if (first === undefined || named.has(keyOf(object))) return [];
    const rows = full.map(
      ([resource, limit]) => `${resource}=${used?.[resource]}, limited: ${limit}`,
    );
    return [
      found(scene, object, {
        cause: `quota used up: ${rows.join("; ")}`,
        evidence: `${first.kind} ${first.name} needs something that does not exist and that the quota would refuse.`,
        fix: `Raise ResourceQuota ${object.name}, or remove what is not needed.`,
        since: null,
        weight: 84,
        breaks: lacking.map(({ key }) => key),
      }),
    ];
  });
}

/** A claim is not there, and the volume that waits for one is larger than what the quota leaves. */
function smallForVolume(scene: Scene, quota: ResourceQuota): Found | undefined {
  const resource = "requests.storage";
  const limit = quota.status?.hard?.[resource];
  if (limit === undefined) return undefined;
  const used = quota.status?.used?.[resource] ?? 0;
  const free = quantity(limit) - quantity(used);
  const waiting = scene
    .list("persistentvolumes")
    .find(
      ({ spec, status }) =>
        status?.phase === "Available" && quantity(spec?.capacity?.["storage"]) > free,
    );
  const lacking = scene.workloads.find((workload) => lacks(scene, workload, resource));
  if (waiting === undefined || lacking === undefined) return undefined;
  const size = waiting.spec?.capacity?.["storage"];
  const claims = claimsOf(lacking).map((name) => scene.key("PersistentVolumeClaim", name));
  const object = scene.object("ResourceQuota", nameOf(quota));
  return found(scene, object, {
    cause: `exceeded quota: ${object.name}: ${resource}=${size} does not fit, used: ${used}, limited: ${limit}`,
    evidence: `${lacking.kind} ${lacking.name} needs a claim that does not exist; PersistentVolume ${nameOf(waiting)} of ${size} waits for one.`,
    fix: `Raise ResourceQuota ${object.name}, then create the claim.`,
    since: null,
    weight: 88,
    breaks: [lacking.key, ...claims],
  });
}

function claimsOf({ spec }: WorkloadView): string[] {
  return (spec.volumes ?? []).flatMap(({ persistentVolumeClaim: claim }) => claim?.claimName ?? []);
}

/** Something of the kind that the quota counts is needed and is not there. */
function lacks(scene: Scene, workload: WorkloadView, resource: string): boolean {
  if (/services/.test(resource))
    return scene.addresses(workload).some(({ isMissing, from }) => isMissing && from !== "args");
  if (/persistentvolumeclaims|storage/.test(resource))
    return (
      scene.sees("persistentvolumeclaims") &&
      claimsOf(workload).some(
        (name) => !scene.list("persistentvolumeclaims").some((one) => nameOf(one) === name),
      )
    );
  return workload.pods.length < workload.desired;
}
