import { messageOf } from "../../../core/errors.ts";
import { noSuch } from "../../../core/suggest.ts";
import type { Finding, Gap } from "../../../core/finding.ts";
import { admission } from "./admission.ts";
import { isReady, keyOf, type Cluster, type WorkloadView } from "./cluster.ts";
import { components } from "./components.ts";
import { containers } from "./containers.ts";
import { cut, type Analyzer, type Found } from "./found.ts";
import { images } from "./images.ts";
import { ingresses } from "./ingresses.ts";
import { load } from "./load.ts";
import { networkPolicies } from "./network-policies.ts";
import { nodeNetwork } from "./node-network.ts";
import { nodes } from "./nodes.ts";
import { probes } from "./probes.ts";
import { rank, type Ranked } from "./rank.ts";
import { references } from "./references.ts";
import { rollouts } from "./rollouts.ts";
import { createScene, statusesOf, type Scene } from "./scene.ts";
import { scheduling } from "./scheduling.ts";
import { services } from "./services.ts";
import { settings } from "./settings.ts";
import { RESOURCES, type Snapshot } from "./snapshot.ts";
import { volumes } from "./volumes.ts";

/** All that is known of what breaks in Kubernetes. Their order does not matter: findings are ranked. */
const ANALYZERS: readonly Analyzer[] = [
  admission,
  references,
  scheduling,
  volumes,
  images,
  containers,
  probes,
  settings,
  services,
  ingresses,
  networkPolicies,
  nodes,
  nodeNetwork,
  components,
  rollouts,
  load,
];

export interface Diagnosis {
  /** The most likely cause first, consequences last; none where nothing is wrong. */
  findings: Finding[];
  gaps: Gap[];
  /** Workloads, those that are not well first. */
  text: string;
}

/** What is wrong in a namespace, by rules and without a model. Never throws: an analyzer that fails is a gap. */
export async function diagnose(
  snapshot: Snapshot,
  { workload, now }: { workload?: string | undefined; now: number },
): Promise<Diagnosis> {
  const gaps = gapsOf(snapshot);
  const scene = await createScene(snapshot, now).catch((error: unknown) => {
    gaps.push(unexpected("causes of any kind", error));
  });
  if (scene === undefined) return { findings: [], gaps, text: "" };
  const all = ANALYZERS.flatMap(({ name, look }) => {
    try {
      return look(scene);
    } catch (error) {
      gaps.push(unexpected(`causes of the kind "${name}"`, error));
      return [];
    }
  });
  const ranked = rank(all);
  if (workload === undefined)
    return { findings: told(ranked), gaps, text: rows(scene, scene.workloads) };
  const wanted = workloadNamed(scene, workload);
  if (wanted === undefined) {
    const known = [...new Set(scene.workloads.map(({ name }) => name))].slice(0, 30);
    return { findings: [], gaps, text: noSuch("workload", workload, known) };
  }
  const own = concerning(scene, ranked, wanted);
  return { findings: told(own), gaps, text: rows(scene, [wanted]) };
}

function unexpected(what: string, error: unknown): Gap {
  return { what, why: messageOf(error), help: "An object has an unexpected form." };
}

/** By `web` or `deployment/web`, or by the name of one of its pods. */
function workloadNamed(scene: Scene, text: string): WorkloadView | undefined {
  const [, kind, name = text] = /^([A-Za-z]+)[/ ](.+)$/.exec(text) ?? [];
  const isKind = (one: WorkloadView) =>
    kind === undefined || one.kind.toLowerCase().startsWith(kind.toLowerCase().replace(/s$/, ""));
  return (
    scene.workloads.find((one) => one.name === name && isKind(one)) ??
    scene.workloads.find(({ everyPod }) => everyPod.some((pod) => pod.metadata?.name === name))
  );
}

/** What is about the workload, and what that follows from. */
function concerning(scene: Scene, ranked: readonly Ranked[], { key }: WorkloadView): Ranked[] {
  const view = scene.workload(key);
  const selecting = scene
    .list("services")
    .filter((service) => view !== undefined && scene.selectedBy(service).includes(view))
    .map((service) => scene.key("Service", service.metadata?.name ?? ""));
  const keys = new Set([key, ...selecting]);
  const kept = new Set<Found>();
  const keep = (found: Found | undefined) => {
    if (found === undefined || kept.has(found)) return;
    kept.add(found);
    keep(ranked.find((one) => one.found === found)?.because);
  };
  for (const { found } of ranked)
    if (keys.has(keyOf(found.object)) || (found.breaks ?? []).some((one) => keys.has(one)))
      keep(found);
  return ranked.filter(({ found }) => kept.has(found));
}

/** More would not be read, and cost more than they tell. */
const MAX_FINDINGS = 12;
/** About 1 500 tokens; the most likely are told in any case. */
const MAX_LETTERS = 6_000;
const MIN_FINDINGS = 3;

function told(ranked: readonly Ranked[]): Finding[] {
  const places = new Map(ranked.map(({ found }, index) => [found, index + 1]));
  let letters = 0;
  const kept = ranked.slice(0, MAX_FINDINGS).filter(({ found }, index) => {
    letters += found.cause.length + found.evidence.length + (found.fix?.length ?? 0) + 60;
    return index < MIN_FINDINGS || letters <= MAX_LETTERS;
  });
  return kept.map(({ found, because }) => {
    const { object, cause, severity, evidence, fix, since } = found;
    const root = because === undefined ? undefined : places.get(because);
    return {
      object,
      cause,
      severity,
      evidence: root === undefined ? evidence : `Because of #${root}. ${evidence}`,
      ...(fix !== undefined && root === undefined && { fix }),
      since,
    };
  });
}

const MAX_ROWS = 20;

function rows(scene: Cluster, all: readonly WorkloadView[]): string {
  const unwell = all.filter((one) => !isWell(one));
  const well = all.filter(isWell);
  const shown = all.length === 1 ? all : unwell.slice(0, MAX_ROWS);
  const rest = unwell.length - shown.length;
  const pods = scene.list("pods").length;
  return [
    ...shown.map(row),
    ...(rest > 0 ? [`and ${rest} more that are not well`] : []),
    `Namespace ${scene.namespace}: ${well.length} of ${all.length} workloads well, ${pods} pods.`,
  ].join("\n");
}

function isWell({ pods, desired }: WorkloadView): boolean {
  return pods.filter(isReady).length >= Math.max(desired, pods.length);
}

/** `Deployment web 1/3 ready: CrashLoopBackOff ×2` */
function row({ kind, name, pods, desired }: WorkloadView): string {
  const reasons = new Map<string, number>();
  for (const pod of pods) {
    if (isReady(pod)) continue;
    const waiting = statusesOf(pod).map(
      ({ state }) => state?.waiting?.reason ?? state?.terminated?.reason,
    );
    const reason =
      waiting.find((one) => one !== undefined) ??
      pod.status?.reason ??
      (pod.status?.phase === "Running" ? "not ready" : pod.status?.phase) ??
      "unknown";
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  const why = [...reasons].map(
    ([reason, count]) => `${cut(reason, 60)}${count > 1 ? ` ×${count}` : ""}`,
  );
  return `${kind} ${cut(name, 80)} ${pods.filter(isReady).length}/${Math.max(desired, pods.length)} ready${why.length > 0 ? `: ${why.join(", ")}` : ""}`;
}

const SCOPES = {
  namespace: "in namespace",
  system: "in namespace kube-system",
  cluster: "in the cluster",
} as const;

/** One gap for each permission that is missing. */
function gapsOf({ missing, namespace }: Snapshot): Gap[] {
  const byWhat = new Map<string, Gap>();
  for (const [name, { resource, group, scope, optional }] of Object.entries(RESOURCES)) {
    const why = new Map(Object.entries(missing)).get(name);
    if (why === undefined || (optional === true && why.includes("not found"))) continue;
    const place = `${SCOPES[scope]}${scope === "namespace" ? ` ${namespace}` : ""}`;
    const what = `${resource}${group === "metrics.k8s.io" ? " (metrics)" : ""} ${place}`;
    const isDenied = /forbidden|401|403|unauthori[sz]ed/i.test(why);
    byWhat.set(what, {
      what,
      why,
      help: isDenied
        ? `It takes the verb list on ${resource} (apiGroup "${group}") ${place}.`
        : group === "metrics.k8s.io"
          ? "metrics-server serves it."
          : "Ask again; causes that show there are not seen.",
    });
  }
  return [...byWhat.values()];
}
