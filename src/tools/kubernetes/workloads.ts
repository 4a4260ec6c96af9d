import * as z from "zod";
import type { JsonObject } from "../../core/entry.ts";
import { BotError } from "../../core/errors.ts";
import { suggest } from "../../core/suggest.ts";
import type { Api } from "./client.ts";
import { locate, notThere } from "./cluster-tool.ts";
import { builtIn, findKind, type Kind, refOf } from "./kinds.ts";
import {
  controllerOf,
  listAt,
  nameOf,
  namespaceOf,
  numberAt,
  objectAt,
  selectorText,
  textAt,
  uidOf,
} from "./objects.ts";
import { isRefusal } from "./refusal.ts";

/** What makes pods, and the pods it made. */

export const PODS = builtIn("pods");
const REPLICA_SETS = builtIn("replicasets");
const JOBS = builtIn("jobs");

/** In the order in which a bare name is looked up. */
export const WORKLOADS: readonly Kind[] = [
  "deployments",
  "statefulsets",
  "daemonsets",
  "cronjobs",
  "jobs",
  "replicasets",
  "replicationcontrollers",
  "pods",
].map(builtIn);

export const workloadArgument = z
  .string()
  .max(300)
  .regex(
    /^(?:[A-Za-z.]+\/)?[a-z0-9][a-z0-9.-]*$/,
    "expected a name such as deployment/web, pod/web-5d4f9 or web",
  )
  .describe("deployment/web, statefulset/db, pod/web-5d4f9 or only web");

export interface Workload {
  kind: Kind;
  object: JsonObject;
}

/** `deployment/web` */
export function refText({ kind, object }: Workload): string {
  return refOf(kind.kind, nameOf(object));
}

/** @throws BotError INPUT_INVALID when there is none, several, or no such kind */
export async function findWorkload(
  api: Api,
  written: string,
  namespace: string | undefined,
  kinds: readonly Kind[] = WORKLOADS,
): Promise<Workload> {
  const [prefix, ...rest] = written.split("/");
  if (rest.length > 0) {
    const kind = findKind(prefix ?? "");
    if (kind === undefined || !kinds.includes(kind)) {
      const known = kinds.map((each) => each.kind.toLowerCase()).join(", ");
      throw new BotError("INPUT_INVALID", `${prefix} is not one of ${known}.`);
    }
    return { kind, object: await locate(api, kind, rest.join("/"), namespace) };
  }
  return findByName(api, written, namespace, kinds);
}

async function findByName(
  api: Api,
  name: string,
  namespace: string | undefined,
  kinds: readonly Kind[],
): Promise<Workload> {
  const fields = `metadata.name=${name}`;
  const answers = await Promise.allSettled(
    kinds.map(async (kind) =>
      (await api.list(kind, { namespace, fields, max: 50 })).items.map((object) => ({
        kind,
        object,
      })),
    ),
  );
  const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  const failed = answers.find((answer) => answer.status === "rejected");
  const [first] = found;
  if (first === undefined) {
    if (failed !== undefined && isRefusal(failed.reason, 403) && namespace === undefined) {
      return findByName(api, name, api.namespace || "default", kinds);
    }
    if (failed !== undefined) throw failed.reason;
    throw await noWorkload(api, name, namespace, kinds);
  }
  const places = new Set(found.map(({ object }) => namespaceOf(object)));
  if (places.size > 1) {
    throw new BotError(
      "INPUT_INVALID",
      `${name} is in several namespaces: ${[...places].join(", ")}. Name one.`,
    );
  }
  return first;
}

async function noWorkload(
  api: Api,
  name: string,
  namespace: string | undefined,
  kinds: readonly Kind[],
): Promise<BotError> {
  const lists = await Promise.all(
    kinds.map(async (kind) =>
      (await api.names(kind, namespace)).map((each) => refOf(kind.kind, each)),
    ),
  );
  const refs = lists.flat();
  const near = suggest(
    name,
    refs.map((ref) => ref.replace(/^.*\//, "")),
  );
  const ref = refs.find((each) => each.endsWith(`/${near}`));
  const [kind = PODS] = kinds;
  if (refs.length === 0) return notThere(api, { kind, namespace, name });
  const where = namespace === undefined ? "" : ` in namespace ${namespace}`;
  const tops = refs.filter((each) => !/^(?:pod|replicaset)\//.test(each)).slice(0, 15);
  const hint = ref === undefined ? ` There are ${tops.join(", ")}.` : ` Did you mean ${ref}?`;
  return new BotError("INPUT_INVALID", `There is no workload ${name}${where}.${hint}`);
}

/** The pods that a workload made; of a pod, itself. */
export async function podsOf(api: Api, { kind, object }: Workload): Promise<JsonObject[]> {
  const namespace = namespaceOf(object);
  if (kind.kind === "Pod") return [object];
  if (kind.kind === "CronJob") return podsOfCronJob(api, object);
  const selector = objectAt(object, "spec", "selector");
  const labels =
    kind.kind === "ReplicationController"
      ? selectorText({ matchLabels: selector })
      : selectorText(selector);
  if (labels === undefined) return [];
  const { items } = await api.list(PODS, { namespace, labels });
  const controllers = kind.kind === "Deployment" ? await replicaSetsOf(api, object) : [object];
  const owners = new Set(controllers.map(uidOf));
  return items.filter((pod) => owners.has(textAt(controllerOf(pod), "uid")));
}

async function podsOfCronJob(api: Api, cronJob: JsonObject): Promise<JsonObject[]> {
  const namespace = namespaceOf(cronJob);
  const { items: jobs } = await api.list(JOBS, { namespace });
  const own = jobs.filter((job) => textAt(controllerOf(job), "uid") === uidOf(cronJob));
  const latest = own.toSorted((a, b) => createdAt(b) - createdAt(a)).slice(0, 3);
  const pods = await Promise.all(latest.map((object) => podsOf(api, { kind: JOBS, object })));
  return pods.flat();
}

/** Newest revision first. */
export async function replicaSetsOf(api: Api, deployment: JsonObject): Promise<JsonObject[]> {
  const labels = selectorText(objectAt(deployment, "spec", "selector"));
  const { items } = await api.list(REPLICA_SETS, { namespace: namespaceOf(deployment), labels });
  return items
    .filter((set) => textAt(controllerOf(set), "uid") === uidOf(deployment))
    .toSorted((a, b) => revisionOf(b) - revisionOf(a));
}

/** The number by which a rollout names it. */
export function revisionOf(object: JsonObject): number {
  return (
    Number(textAt(object, "metadata", "annotations", "deployment.kubernetes.io/revision")) ||
    numberAt(object, "revision")
  );
}

function createdAt(object: JsonObject): number {
  return Date.parse(textAt(object, "metadata", "creationTimestamp")) || 0;
}

/** How many pods it should have. */
export function wantedPods({ kind, object }: Workload): number {
  if (kind.kind === "DaemonSet") return numberAt(object, "status", "desiredNumberScheduled");
  if (kind.kind === "Pod") return 1;
  const { replicas } = objectAt(object, "spec");
  return typeof replicas === "number" ? replicas : 1;
}

export function readyPods({ kind, object }: Workload): number {
  return numberAt(object, "status", kind.kind === "DaemonSet" ? "numberReady" : "readyReplicas");
}

/** The containers of its pods, as they are written into its template. */
export function containersOf({ kind, object }: Workload): JsonObject[] {
  const spec =
    kind.kind === "Pod"
      ? objectAt(object, "spec")
      : kind.kind === "CronJob"
        ? objectAt(object, "spec", "jobTemplate", "spec", "template", "spec")
        : objectAt(object, "spec", "template", "spec");
  return listAt(spec, "containers");
}
