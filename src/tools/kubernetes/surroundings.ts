import type { JsonObject } from "../../core/entry.ts";
import { counted, percent } from "../../core/text.ts";
import type { Api } from "./client.ts";
import { builtIn } from "./kinds.ts";
import {
  controllerOf,
  listAt,
  mapAt,
  nameOf,
  namespaceOf,
  numberAt,
  objectAt,
  textAt,
} from "./objects.ts";
import { podState } from "./pods.ts";
import { isRefusal } from "./refusal.ts";
import { readyPods, refText, wantedPods, type Workload } from "./workloads.ts";

/** What stands around the object of a change, for its card. */

/** `shop/deployment/web` */
export function whereOf(workload: Workload): string {
  const namespace = namespaceOf(workload.object);
  return namespace === "" ? refText(workload) : `${namespace}/${refText(workload)}`;
}

/** What it lists, or nothing where it may not be seen: a card then says less. */
export async function seen(work: Promise<{ items: JsonObject[] }>): Promise<JsonObject[]> {
  try {
    return (await work).items;
  } catch (error) {
    if (isRefusal(error)) return [];
    throw error;
  }
}

/** A sentence on the autoscaler that will set the number of replicas itself; empty: there is none. */
export async function autoscalerOf(api: Api, { kind, object }: Workload): Promise<string> {
  const all = await seen(
    api.list(builtIn("horizontalpodautoscalers"), { namespace: namespaceOf(object) }),
  );
  const own = all.find((each) => {
    const target = objectAt(each, "spec", "scaleTargetRef");
    return textAt(target, "kind") === kind.kind && textAt(target, "name") === nameOf(object);
  });
  if (own === undefined) return "";
  const range = `${numberAt(own, "spec", "minReplicas") || 1} to ${numberAt(own, "spec", "maxReplicas")}`;
  return ` Autoscaler ${nameOf(own)} sets it itself (${range}) and may set it back.`;
}

/** A sentence on how a workload's pods are replaced. */
export function replacing(workload: Workload): string {
  const { kind, object } = workload;
  const [wanted, ready] = [wantedPods(workload), readyPods(workload)];
  const pods = `${counted(wanted, "pod")} of ${refText(workload)} (${ready} ready)`;
  const are = wanted === 1 ? "is" : "are";
  if (kind.kind === "StatefulSet" || kind.kind === "DaemonSet") {
    const type = textAt(object, "spec", "updateStrategy", "type");
    if (type === "OnDelete")
      return `${pods} ${are} replaced only as somebody deletes them (OnDelete).`;
    return `${pods} ${are} replaced one after the other; each is away for a while.`;
  }
  if (textAt(object, "spec", "strategy", "type") === "Recreate")
    return `All ${pods} end before new ones begin: it is away meanwhile.`;
  const rolling = objectAt(object, "spec", "strategy", "rollingUpdate");
  const share = (key: string) => {
    const value = rolling[key];
    return typeof value === "string" || typeof value === "number" ? String(value) : "25%";
  };
  return `${pods} ${are} replaced step by step: at most ${share("maxUnavailable")} away and ${share("maxSurge")} more at a time.`;
}

/** What of each workload's capacity these pods are, and whose budget would not bear it. */
export async function shareText(api: Api, pods: readonly JsonObject[]): Promise<string> {
  const namespaces = [...new Set(pods.map(namespaceOf))];
  const all = (
    await Promise.all(namespaces.map((namespace) => seen(api.list(builtIn("pods"), { namespace }))))
  ).flat();
  const groups = new Map<string, JsonObject[]>();
  for (const pod of pods) {
    const uid = textAt(controllerOf(pod), "uid");
    groups.set(uid, [...(groups.get(uid) ?? []), pod]);
  }
  const isReady = (pod: JsonObject) => podState(pod).isHealthy;
  const lines = [...groups].map(([uid, own]) => {
    const owner = controllerOf(own[0] ?? {});
    const name =
      owner === undefined ? "no controller" : `${textAt(owner, "kind")} ${textAt(owner, "name")}`;
    const peers = all.filter(
      (pod) => textAt(controllerOf(pod), "uid") === uid && isReady(pod),
    ).length;
    const ready = own.filter(isReady).length;
    return `${ready} of ${peers} ready pods of ${name} (${percent(ready, peers)})`;
  });
  const shown = lines.slice(0, 8).join("; ");
  return lines.length > 8 ? `${shown} and ${lines.length - 8} more workloads` : shown;
}

/** The budgets that select a pod, with what they still allow. */
export async function budgetsText(api: Api, pods: readonly JsonObject[]): Promise<string[]> {
  const namespaces = [...new Set(pods.map(namespaceOf))];
  const kind = builtIn("poddisruptionbudgets");
  const budgets = (
    await Promise.all(namespaces.map((namespace) => seen(api.list(kind, { namespace }))))
  ).flat();
  return budgets.flatMap((budget) => {
    const wanted = Object.entries(mapAt(budget, "spec", "selector", "matchLabels"));
    const own = pods.filter((pod) => {
      const labels = mapAt(pod, "metadata", "labels");
      return (
        namespaceOf(pod) === namespaceOf(budget) &&
        wanted.length > 0 &&
        wanted.every(([key, value]) => labels[key] === value)
      );
    });
    if (own.length === 0) return [];
    const allowed = numberAt(budget, "status", "disruptionsAllowed");
    return [
      `${namespaceOf(budget)}/${nameOf(budget)} allows ${counted(allowed, "disruption")} now, ${counted(own.length, "pod")} of it would go`,
    ];
  });
}

/** Names of the volumes whose content goes with the pod. */
export function localVolumes(pod: JsonObject): string[] {
  return listAt(pod, "spec", "volumes").flatMap((volume) =>
    "emptyDir" in volume ? [textAt(volume, "name")] : [],
  );
}
