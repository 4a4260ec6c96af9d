import { percent } from "../../../core/text.ts";
import { containersOf, isReady, nameOf, type WorkloadView } from "./cluster.ts";
import { found, type Analyzer, type Found } from "./found.ts";
import { quantity, showQuantity } from "./quantity.ts";
import type { Scene } from "./scene.ts";

/** Containers and nodes that use all that they may. */
export const load: Analyzer = {
  name: "load",
  look(scene) {
    const usage = new Map(scene.list("podMetrics").map((one) => [nameOf(one), one]));
    return [
      ...scene.workloads.flatMap((workload) => saturated(scene, workload, usage)),
      ...scene
        .list("nodeMetrics")
        .flatMap((one) => saturatedNode(scene, nameOf(one), one.usage ?? {})),
    ];
  },
};

const NEARLY_ALL = 0.93;

function saturated(
  scene: Scene,
  workload: WorkloadView,
  usage: ReadonlyMap<
    string,
    Scene["snapshot"]["lists"]["podMetrics"] extends readonly (infer M)[] | undefined ? M : never
  >,
): Found[] {
  const full = workload.pods.flatMap((pod) =>
    (usage.get(nameOf(pod))?.containers ?? []).flatMap(({ name, usage: used }) => {
      const limits = containersOf(pod.spec ?? {}).find((one) => one.name === name)?.resources
        ?.limits;
      return (["cpu", "memory"] as const).flatMap((resource) => {
        const limit = quantity(limits?.[resource]);
        const share = limit === 0 ? 0 : quantity(used?.[resource]) / limit;
        return share < NEARLY_ALL
          ? []
          : [{ pod, name, resource, share, limit, used: quantity(used?.[resource]) }];
      });
    }),
  );
  return (["cpu", "memory"] as const).flatMap((resource) => {
    const own = full.filter((one) => one.resource === resource);
    const [first] = own;
    if (first === undefined) return [];
    const amount = `${showQuantity(resource, first.used)} of its limit of ${showQuantity(resource, first.limit)}`;
    return [
      found(scene, workload, {
        cause:
          resource === "cpu"
            ? `CPU throttling: container ${first.name} uses ${amount} cpu`
            : `memory nearly used up: container ${first.name} uses ${amount} memory (OOMKilled is next)`,
        evidence: `${own.length} of ${workload.pods.length} pods, ${percent(first.share)} in ${nameOf(first.pod)}.`,
        fix:
          resource === "cpu"
            ? "Raise the CPU limit, or add replicas."
            : "Raise the memory limit, or find the leak.",
        severity: workload.pods.every(isReady) ? "warning" : "error",
        since: null,
        weight: workload.pods.every(isReady) ? 45 : 66,
      }),
    ];
  });
}

function saturatedNode(
  scene: Scene,
  name: string,
  usage: Readonly<Record<string, string | number>>,
): Found[] {
  const allocatable = scene.node(name)?.status?.allocatable ?? {};
  return (["cpu", "memory"] as const).flatMap((resource) => {
    const limit = quantity(allocatable?.[resource]);
    const used = quantity(usage[resource]);
    if (limit === 0 || used / limit < NEARLY_ALL) return [];
    const here = scene.workloads.filter(({ pods }) =>
      pods.some(({ spec }) => spec?.nodeName === name),
    );
    return [
      {
        object: { kind: "Node", namespace: "", name },
        cause: `${resource} saturated: ${showQuantity(resource, used)} of ${showQuantity(resource, limit)} in use`,
        severity: "warning" as const,
        evidence: `${percent(used, limit)}; ${here.length} workloads of the namespace run on it.`,
        since: null,
        weight: 43,
        breaks: here.map(({ key }) => key),
      },
    ];
  });
}
