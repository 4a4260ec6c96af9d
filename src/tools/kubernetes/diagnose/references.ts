import { suggest } from "../../../core/suggest.ts";
import { containersOf, nameOf, type Cluster, type WorkloadView } from "./cluster.ts";
import { found, perWorkload, type Analyzer, type Found, type Problem } from "./found.ts";
import type { Pod, PodSpec } from "./objects.ts";
import type { KeyedObject } from "./resources.ts";

interface Reference {
  kind: "ConfigMap" | "Secret";
  name: string;
  key?: string | undefined;
  optional: boolean;
  /** Where it is named, such as `env DB_PASSWORD`. */
  from: string;
}

/** Config maps, secrets, their keys and service accounts that pods name and that are not there. */
export const references: Analyzer = {
  name: "references",
  look(cluster) {
    const stuck = perWorkload(cluster, (pod) => stuckOn(cluster, pod));
    const told = new Set(
      stuck.map(({ object, cause }) => `${object.kind}/${object.name} ${cause}`),
    );
    const absent = cluster.workloads.flatMap((workload) => absentFor(cluster, workload));
    return [
      ...stuck,
      ...absent.filter(({ object, cause }) => !told.has(`${object.kind}/${object.name} ${cause}`)),
    ];
  },
};

const MISSING =
  /(?:secret|configmap) "[^"]+" not found|(?:references? )?non-existent (?:secret|config) key: \S+|couldn't find key \S+ in (?:Secret|ConfigMap) \S+|(?:container has runAsNonRoot|failed to (?:prepare subPath|create subPath)|services have not yet been read)[^\n]*/i;

/** What the kubelet says of a container that it cannot configure, or of a volume that it cannot mount. */
function stuckOn(cluster: Cluster, pod: Pod): Problem[] {
  const statuses = [
    ...(pod.status?.initContainerStatuses ?? []),
    ...(pod.status?.containerStatuses ?? []),
  ];
  for (const { state, name } of statuses) {
    const { reason, message = "" } = state?.waiting ?? {};
    if (reason !== "CreateContainerConfigError") continue;
    return [problem(cluster, pod, MISSING.exec(message)?.[0] ?? message, `${reason} of ${name}`)];
  }
  if (pod.status?.phase !== "Pending") return [];
  const event = cluster
    .eventsOf("Pod", nameOf(pod))
    .find(({ reason, message }) => reason === "FailedMount" && MISSING.test(message));
  const cause = MISSING.exec(event?.message ?? "")?.[0];
  return cause === undefined ? [] : [problem(cluster, pod, cause, `FailedMount ×${event?.count}`)];
}

function problem(cluster: Cluster, pod: Pod, told: string, seen: string): Problem {
  const missing = referencesOf(pod.spec ?? {}).find(({ name, key }) =>
    told.includes(`"${name}" not found`)
      ? true
      : key !== undefined &&
        told.includes(key) &&
        (told.includes(name) || told.includes("non-existent")),
  );
  const cause =
    missing === undefined ? `CreateContainerConfigError: ${told}` : causeOf(missing, told);
  return {
    id: cause,
    cause,
    evidence: `${seen}${missing === undefined ? "" : `, named by ${missing.from}`}: ${told}`,
    fix: missing === undefined ? undefined : fixOf(cluster, missing),
    since: pod.metadata?.creationTimestamp ?? null,
    weight: 90,
  };
}

function causeOf({ kind, name, key }: Reference, told?: string): string {
  if (key !== undefined && told?.includes("not found") !== true)
    return `couldn't find key ${key} in ${kind} ${name}`;
  return `${kind.toLowerCase()} "${name}" not found`;
}

function fixOf(cluster: Cluster, { kind, name, key, from }: Reference): string {
  const list = kind === "Secret" ? cluster.list("secrets") : cluster.list("configmaps");
  const holder = holderOf(cluster, { kind, name });
  const known = holder === undefined ? list.map(nameOf) : holder.keys;
  const meant = nearest(holder === undefined ? name : (key ?? ""), known);
  const near = meant === undefined ? "" : ` There is ${meant}; is it meant?`;
  return `Create it, or correct ${from}.${near}`;
}

function holderOf(
  cluster: Cluster,
  { kind, name }: Pick<Reference, "kind" | "name">,
): KeyedObject | undefined {
  const list = kind === "Secret" ? cluster.list("secrets") : cluster.list("configmaps");
  return list.find((one) => nameOf(one) === name);
}

/** A name that was mistyped, or one of which the other is the beginning. */
function nearest(name: string, known: readonly string[]): string | undefined {
  return (
    suggest(name, known) ??
    known.find((one) => one.length > 2 && (one.startsWith(name) || name.startsWith(one))) ??
    known.find((one) => shared(one, name) >= 6)
  );
}

function shared(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}

/** Which references cannot be resolved, whatever the kubelet has said yet: they hold up the next start at the latest. */
function absentFor(cluster: Cluster, workload: WorkloadView): Found[] {
  if (workload.desired === 0 && workload.pods.length === 0) return [];
  const starting = workload.pods.filter(isStarting);
  const isStuck = starting.length > 0;
  const since = starting[0]?.metadata?.creationTimestamp ?? null;
  const seen = isStuck
    ? `${starting.length} of ${workload.pods.length} pods wait for it`
    : "Running pods keep what they have; the next one will not start";
  const severity = isStuck ? "error" : "warning";
  const absent = referencesOf(workload.spec)
    .filter((reference) => isAbsent(cluster, reference))
    .map((reference) =>
      found(cluster, workload, {
        cause: causeOf(
          holderOf(cluster, reference) === undefined ? { ...reference, key: undefined } : reference,
        ),
        evidence: `${reference.from} names it. ${seen}.`,
        fix: fixOf(cluster, reference),
        severity,
        since,
        weight: isStuck ? 86 : 40,
      }),
    );
  return [
    ...new Map(absent.map((one) => [one.cause, one])).values(),
    ...absentAccount(cluster, workload),
  ];
}

function absentAccount(cluster: Cluster, workload: WorkloadView): Found[] {
  const name = workload.spec.serviceAccountName ?? "default";
  const known = cluster.list("serviceaccounts").map(nameOf);
  // Every namespace has at least one.
  if (known.length === 0 || known.includes(name) || name === "default") return [];
  const isRefused = workload.pods.length < workload.desired;
  return [
    found(cluster, workload, {
      cause: `serviceaccount "${name}" not found`,
      evidence: `serviceAccountName names it; ${workload.pods.length} of ${workload.desired} pods exist.`,
      fix: `Create ServiceAccount ${name}, or set serviceAccountName to one that exists.`,
      severity: isRefused ? "error" : "warning",
      since: null,
      weight: isRefused ? 84 : 40,
    }),
  ];
}

function isStarting(pod: Pod): boolean {
  return (
    pod.status?.phase === "Pending" &&
    (pod.spec?.nodeName ?? "") !== "" &&
    (pod.status.containerStatuses ?? []).every(
      ({ state }) =>
        state?.waiting?.reason === undefined ||
        /^(ContainerCreating|PodInitializing|CreateContainerConfigError)$/.test(
          state.waiting.reason,
        ),
    )
  );
}

function isAbsent(cluster: Cluster, reference: Reference): boolean {
  const { kind, name, key, optional } = reference;
  if (optional || name === "" || INJECTED.has(name)) return false;
  if (!cluster.sees(kind === "Secret" ? "secrets" : "configmaps")) return false;
  const holder = holderOf(cluster, reference);
  return holder === undefined || (key !== undefined && !holder.keys.includes(key));
}

/** Put into each namespace by the cluster itself. */
const INJECTED = new Set(["kube-root-ca.crt", "openshift-service-ca.crt"]);

/** Every config map and secret that a pod needs to start. */
function referencesOf(spec: PodSpec): Reference[] {
  const all: Reference[] = [];
  const add = (
    kind: Reference["kind"],
    from: string,
    target: { name?: string; key?: string; optional?: boolean } | null | undefined,
  ) => {
    if (target === null || target === undefined) return;
    const { name = "", key, optional = false } = target;
    all.push({ kind, name, key, optional, from });
  };
  for (const { env, envFrom } of containersOf(spec)) {
    for (const { name, valueFrom } of env ?? []) {
      add("ConfigMap", `env ${name}`, valueFrom?.configMapKeyRef);
      add("Secret", `env ${name}`, valueFrom?.secretKeyRef);
    }
    for (const { configMapRef, secretRef } of envFrom ?? []) {
      add("ConfigMap", "envFrom", configMapRef);
      add("Secret", "envFrom", secretRef);
    }
  }
  for (const { name: volume, configMap, secret, projected } of spec.volumes ?? []) {
    const from = `volume ${volume}`;
    add("ConfigMap", from, configMap);
    for (const { key = "" } of configMap?.items ?? [])
      add("ConfigMap", from, { ...configMap, key });
    const named = secret && { ...secret, name: secret.secretName ?? "" };
    add("Secret", from, named);
    for (const { key = "" } of secret?.items ?? []) add("Secret", from, { ...named, key });
    for (const source of projected?.sources ?? []) {
      add("ConfigMap", from, source.configMap);
      add("Secret", from, source.secret);
    }
  }
  return all;
}
