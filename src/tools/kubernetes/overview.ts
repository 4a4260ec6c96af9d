import type { JsonObject } from "../../core/entry.ts";
import type { Finding, Gap } from "../../core/finding.ts";
import { counted } from "../../core/text.ts";
import type { Tool } from "../tool.ts";
import type { Api } from "./client.ts";
import { type Clusters, defineRead, someNamespace } from "./cluster-tool.ts";
import { eventLine, foldEvents, type FoldedEvent } from "./event-lines.ts";
import { cell, firstLines, moment } from "./format.ts";
import { builtIn, refOf } from "./kinds.ts";
import {
  conditionOf,
  controllerOf,
  listAt,
  nameOf,
  namespaceOf,
  numberAt,
  objectAt,
  textAt,
  uidOf,
} from "./objects.ts";
import { type ContainerTrouble, podState } from "./pods.ts";

const MAX_TROUBLES = 25;
const MAX_PLACES = 20;

/** Everything an overview looks at, by one list each. */
const LISTS = {
  pods: builtIn("pods"),
  replicaSets: builtIn("replicasets"),
  deployments: builtIn("deployments"),
  statefulSets: builtIn("statefulsets"),
  daemonSets: builtIn("daemonsets"),
  jobs: builtIn("jobs"),
  claims: builtIn("persistentvolumeclaims"),
};

type World = Record<keyof typeof LISTS | "nodes" | "warnings", JsonObject[]>;

/** What is not well, first; each with the chain from the workload to the container's last word. */
export function createOverview(clusters: Clusters): Tool {
  return defineRead(clusters, {
    name: "kubernetes_overview",
    summary:
      "shows what is unhealthy in a cluster or namespace, from the workload down to the container and event",
    description:
      "What is unhealthy in a cluster or namespace: workload → replica set → pod → container → event, then nodes, jobs, volume claims, and what is well as counts. Start here; kubernetes_diagnose names the cause.",
    shape: { namespace: someNamespace },
    doing: ({ namespace = "the cluster" }) => `Looking for what is unhealthy in ${namespace}`,
    async run({ namespace }, api) {
      const gaps: Gap[] = [];
      const world = await look(api, namespace, gaps);
      const troubles = [
        ...nodeTroubles(world.nodes),
        ...workloadTroubles(world),
        ...jobTroubles(world),
        ...claimTroubles(world),
      ];
      const lines = troubles.map(({ text }) => text);
      const parts = [
        conclusionOf(troubles.length, namespace, gaps.length > 0),
        ...firstLines(lines, MAX_TROUBLES, "unhealthy"),
        healthText(world, namespace),
      ];
      const told = troubles.map(({ finding }) => finding);
      return { text: parts.filter((part) => part !== "").join("\n"), told, gaps };
    },
  });
}

async function look(api: Api, namespace: string | undefined, gaps: Gap[]): Promise<World> {
  const options = { namespace };
  const see = (key: keyof typeof LISTS) => api.see(LISTS[key], gaps, options);
  const [pods, replicaSets, deployments, statefulSets, daemonSets, jobs, claims, nodes, warnings] =
    await Promise.all([
      see("pods"),
      see("replicaSets"),
      see("deployments"),
      see("statefulSets"),
      see("daemonSets"),
      see("jobs"),
      see("claims"),
      api.see(builtIn("nodes"), gaps),
      api.see(builtIn("events"), gaps, { namespace, fields: "type=Warning", max: 2_000 }),
    ]);
  return {
    pods,
    replicaSets,
    deployments,
    statefulSets,
    daemonSets,
    jobs,
    claims,
    nodes,
    warnings,
  };
}

function conclusionOf(count: number, namespace: string | undefined, isBlind: boolean): string {
  const where = namespace === undefined ? "the cluster" : `namespace ${namespace}`;
  if (count > 0) return `${counted(count, "unhealthy thing")} in ${where}:`;
  return isBlind
    ? `Nothing unhealthy in what can be seen of ${where}.`
    : `Nothing is unhealthy in ${where}.`;
}

/** What is not well: as people read it, with what hangs on it, and as a finding. */
interface Trouble {
  text: string;
  finding: Finding;
}

interface Sick {
  object: Finding["object"];
  /** `shop/deployment/web` */
  workload: string;
  state: string;
  replicaSet: string;
  pod: JsonObject;
  trouble: ContainerTrouble;
  /** Other pods of it with the same trouble. */
  others: number;
  isMissing: boolean;
}

function workloadTroubles(world: World): Trouble[] {
  const sick = sickPods(world);
  const events = world.warnings;
  const covered = new Set(sick.map(({ workload }) => workload));
  const chains = sick.map((each) => ({
    text: chainText(each, events),
    finding: findingOf(each.object, {
      cause: [each.trouble.reason, each.trouble.detail].filter((part) => part !== "").join(": "),
      evidence: `${nameOf(each.pod)}${each.state}, ${counted(each.trouble.restarts, "restart")}`,
      since: each.trouble.since,
    }),
  }));
  const short = [...world.deployments, ...world.statefulSets, ...world.daemonSets].flatMap(
    (object) => {
      const kind = kindOf(object, world);
      const label = `${namespaceOf(object)}/${refOf(kind, nameOf(object))}`;
      return covered.has(label) ? [] : shortOfPods({ object, kind, label }, world, events);
    },
  );
  return [...short, ...chains];
}

/** A list's items do not say their kind. */
function kindOf(object: JsonObject, world: World): string {
  if (world.deployments.includes(object)) return "Deployment";
  return world.statefulSets.includes(object) ? "StatefulSet" : "DaemonSet";
}

function sickPods(world: World): Sick[] {
  const sets = new Map(world.replicaSets.map((set) => [uidOf(set), set]));
  const states = new Map(
    [...world.deployments, ...world.statefulSets, ...world.daemonSets].map((object) => [
      uidOf(object),
      readyText(object),
    ]),
  );
  const folded = new Map<string, Sick>();
  for (const pod of world.pods) {
    const [trouble] = podState(pod).troubles;
    // A job's failed tries are told with the job.
    const owner = controllerOf(pod);
    if (trouble === undefined || textAt(owner, "kind") === "Job") continue;
    const set = sets.get(textAt(owner, "uid"));
    const top = (set === undefined ? undefined : controllerOf(set)) ?? owner;
    const ref =
      top === undefined
        ? refOf("pod", nameOf(pod))
        : refOf(textAt(top, "kind"), textAt(top, "name"));
    const workload = `${namespaceOf(pod)}/${ref}`;
    const object = {
      kind: textAt(top, "kind") || "Pod",
      namespace: namespaceOf(pod),
      name: textAt(top, "name") || nameOf(pod),
    };
    const same = [workload, trouble.container, trouble.reason].join("\0");
    const known = folded.get(same);
    if (known !== undefined) {
      known.others += 1;
      if (trouble.restarts > known.trouble.restarts) Object.assign(known, { pod, trouble });
      continue;
    }
    const state = states.get(textAt(top, "uid")) ?? "";
    const replicaSet = set === undefined ? "" : refOf("replicaset", nameOf(set));
    folded.set(same, {
      object,
      workload,
      state,
      replicaSet,
      pod,
      trouble,
      others: 0,
      isMissing: state.startsWith("0/"),
    });
  }
  return [...folded.values()].toSorted(
    (a, b) => Number(b.isMissing) - Number(a.isMissing) || b.others - a.others,
  );
}

function chainText(
  { workload, state, replicaSet, pod, trouble, others }: Sick,
  warnings: readonly JsonObject[],
): string {
  const { container, reason, detail, since, restarts } = trouble;
  const count = restarts > 0 ? `, ${counted(restarts, "restart")}` : "";
  const what = container === "" ? reason : `container ${container}: ${reason}`;
  const more = others === 0 ? "" : ` (and ${counted(others, "pod")} more the same)`;
  const ref = refOf("pod", nameOf(pod));
  const links = [
    workload.endsWith(`/${ref}`) ? workload : `${workload}${state}`,
    replicaSet,
    workload.endsWith(`/${ref}`) ? "" : `${ref}${more}`,
    `${what}${count}${since === "" ? "" : `, since ${moment(since)}`}`,
  ];
  const head = `- ${links.filter((link) => link !== "").join(" → ")}`;
  const event = lastEvent(warnings, pod);
  const lines = [
    detail === "" ? "" : `  ${cell(detail, 300)}`,
    event === undefined || event.message === detail
      ? ""
      : `  event: ${eventLine(event, { namespaces: false, objects: false })}`,
  ];
  return [head, ...lines.filter((line) => line !== "")].join("\n");
}

function lastEvent(warnings: readonly JsonObject[], object: JsonObject): FoldedEvent | undefined {
  const uid = uidOf(object);
  return foldEvents(warnings.filter((event) => textAt(event, "involvedObject", "uid") === uid))[0];
}

/** ` (1/3 ready)` */
function readyText(object: JsonObject): string {
  const [ready, wanted] = readyOf(object);
  return ` (${ready}/${wanted} ready)`;
}

function readyOf(object: JsonObject): [ready: number, wanted: number] {
  const status = objectAt(object, "status");
  if (status["desiredNumberScheduled"] !== undefined)
    return [numberAt(status, "numberReady"), numberAt(status, "desiredNumberScheduled")];
  const { replicas = 1 } = objectAt(object, "spec");
  return [numberAt(status, "readyReplicas"), typeof replicas === "number" ? replicas : 1];
}

/** A workload that lacks pods, none of which is there to blame. */
function shortOfPods(
  { object, kind, label }: { object: JsonObject; kind: string; label: string },
  world: World,
  warnings: readonly JsonObject[],
): Trouble[] {
  const [ready, wanted] = readyOf(object);
  if (ready >= wanted) return [];
  const own = world.replicaSets.filter((set) => textAt(controllerOf(set), "uid") === uidOf(object));
  const failed = [object, ...own]
    .map((each) => conditionOf(each, "ReplicaFailure"))
    .find((each) => textAt(each, "status") === "True");
  const stuck = conditionOf(object, "Progressing");
  const why =
    textAt(failed, "message") ||
    (textAt(stuck, "status") === "False" ? textAt(stuck, "message") : "");
  const event = [object, ...own]
    .map((each) => lastEvent(warnings, each))
    .find((each) => each !== undefined);
  const lines = [
    `- ${label}${readyText(object)}`,
    why === "" ? "" : `  ${cell(why, 300)}`,
    event === undefined || event.message.includes(why) === (why !== "")
      ? ""
      : `  event: ${eventLine(event, { namespaces: false })}`,
  ];
  const text = lines.filter((line) => line !== "").join("\n");
  const about = { kind, namespace: namespaceOf(object), name: nameOf(object) };
  const cause = why || event?.message || "it has too few pods";
  return [{ text, finding: findingOf(about, { cause, evidence: readyText(object).trim() }) }];
}

function findingOf(
  object: Finding["object"],
  {
    cause,
    evidence,
    severity = "error",
    since = "",
  }: Pick<Finding, "cause" | "evidence"> & { severity?: Finding["severity"]; since?: string },
): Finding {
  return { object, cause, severity, evidence, since: since === "" ? null : since };
}

function jobTroubles({ jobs, pods }: World): Trouble[] {
  return jobs.flatMap((job) => {
    const failed = conditionOf(job, "Failed");
    if (textAt(failed, "status") !== "True") return [];
    const own = pods.filter((pod) => textAt(controllerOf(pod), "uid") === uidOf(job));
    const trouble = own.flatMap((pod) => podState(pod).troubles)[0];
    const last =
      trouble === undefined ? "" : `; its pod: ${trouble.reason} ${cell(trouble.detail)}`;
    const since = moment(textAt(failed, "lastTransitionTime"));
    const why = cell(textAt(failed, "message") || textAt(failed, "reason"));
    const text = `- ${namespaceOf(job)}/${refOf("job", nameOf(job))} failed ${since}: ${why}${last}`;
    const object = { kind: "Job", namespace: namespaceOf(job), name: nameOf(job) };
    const finding = findingOf(object, {
      cause: `it failed: ${why}`,
      // It may have been days ago.
      severity: "warning",
      evidence: `${since}${last}`,
    });
    return [{ text, finding }];
  });
}

function claimTroubles({ claims, warnings }: World): Trouble[] {
  return claims.flatMap((claim) => {
    const phase = textAt(claim, "status", "phase");
    if (phase === "Bound" || phase === "") return [];
    const event = lastEvent(warnings, claim);
    const why = event === undefined ? "" : `: ${cell(event.message)}`;
    const text = `- ${namespaceOf(claim)}/${refOf("persistentvolumeclaim", nameOf(claim))} is ${phase}${why}`;
    const object = {
      kind: "PersistentVolumeClaim",
      namespace: namespaceOf(claim),
      name: nameOf(claim),
    };
    // It may wait for its first pod.
    const finding = findingOf(object, {
      cause: `it is ${phase}${why}`,
      severity: "warning",
      evidence: "Not bound.",
    });
    return [{ text, finding }];
  });
}

function nodeTroubles(nodes: readonly JsonObject[]): Trouble[] {
  return nodes.flatMap((node) => {
    const bad = listAt(node, "status", "conditions").filter((condition) => {
      const isReady = textAt(condition, "type") === "Ready";
      return textAt(condition, "status") !== (isReady ? "True" : "False");
    });
    const words = bad.map((condition) => {
      const type = textAt(condition, "type");
      const name = type === "Ready" ? "NotReady" : type;
      const message = cell(textAt(condition, "message"));
      const since = `${name} since ${moment(textAt(condition, "lastTransitionTime"))}`;
      return message === "" ? since : `${since}: ${message}`;
    });
    if (objectAt(node, "spec")["unschedulable"] === true)
      words.push("cordoned: new pods go elsewhere");
    if (words.length === 0) return [];
    const object = { kind: "Node", namespace: "", name: nameOf(node) };
    const finding = findingOf(object, {
      cause: words.join("; "),
      severity: bad.length === 0 ? "info" : "error",
      evidence: "Its conditions say so.",
    });
    return [{ text: `- ${refOf("node", nameOf(node))}: ${words.join("; ")}`, finding }];
  });
}

/** What there is, as counts; of a cluster also by namespace. */
function healthText(world: World, namespace: string | undefined): string {
  const workloads = [...world.deployments, ...world.statefulSets, ...world.daemonSets];
  const well = workloads.filter((object) => readyOf(object)[0] >= readyOf(object)[1]).length;
  const pods = world.pods.filter((pod) => podState(pod).isHealthy).length;
  const nodes = nodeTroubles(world.nodes).length;
  const totals = [
    `${well} of ${counted(workloads.length, "workload")}`,
    `${pods} of ${counted(world.pods.length, "pod")}`,
    ...(world.nodes.length === 0
      ? []
      : [`${world.nodes.length - nodes} of ${counted(world.nodes.length, "node")}`]),
  ];
  // People take a healthy overview for a healthy service.
  const more = `kubernetes_diagnose namespace=${namespace ?? "<name>"} also looks at services, ingresses and quotas.`;
  const text = `Well: ${totals.join(", ")}.`;
  if (namespace !== undefined) return `${text}\n${more}`;
  const counts = new Map<string, [well: number, all: number]>();
  for (const pod of world.pods) {
    const [sound, all] = counts.get(namespaceOf(pod)) ?? [0, 0];
    counts.set(namespaceOf(pod), [sound + Number(podState(pod).isHealthy), all + 1]);
  }
  const places = [...counts]
    .toSorted(([, a], [, b]) => b[1] - b[0] - (a[1] - a[0]) || b[1] - a[1])
    .map(([name, [sound, all]]) => `${name} ${sound}/${all}`);
  if (places.length === 0) return `${text}\n${more}`;
  const others = places.length > MAX_PLACES ? ` and ${places.length - MAX_PLACES} more` : "";
  return `${text}\nPods by namespace: ${places.slice(0, MAX_PLACES).join(", ")}${others}.\n${more}`;
}
