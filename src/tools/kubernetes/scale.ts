import * as z from "zod";
import { counted, percent } from "../../core/text.ts";
import type { Tool } from "../tool.ts";
import { refused } from "../refusal.ts";
import { defineChange, fromBefore } from "./change-tool.ts";
import { type Clusters, namespaceArgument } from "./cluster-tool.ts";
import { builtIn, type Kind } from "./kinds.ts";
import { nameOf, namespaceOf, numberAt, objectAt } from "./objects.ts";
import { autoscalerOf, whereOf } from "./surroundings.ts";
import { findWorkload, readyPods, refText, wantedPods, workloadArgument } from "./workloads.ts";

const SCALED: readonly Kind[] = [
  "deployments",
  "statefulsets",
  "replicasets",
  "replicationcontrollers",
].map(builtIn);

export function createScale(clusters: Clusters): Tool {
  return defineChange(clusters, {
    name: "kubernetes_scale",
    summary: "sets how many pods a workload has",
    description: "Sets the number of replicas of a deployment, stateful set or replica set.",
    effect: "write",
    title: (input) =>
      `Scale ${input.workload} in ${input.namespace}${fromBefore(input, "replicas")} to ${input.replicas}`,
    shape: {
      workload: workloadArgument,
      namespace: namespaceArgument,
      replicas: z.int().min(0).max(10_000),
    },
    find: ({ workload, namespace }, api) => findWorkload(api, workload, namespace, SCALED),
    settle: async ({ workload }) => ({ workload: refText(workload) }),
    values: async ({ workload }) => ({ replicas: wantedPods(workload) }),
    async check({ input, workload }) {
      if (wantedPods(workload) === input.replicas)
        throw refused(`${refText(workload)} has ${counted(input.replicas, "replica")} already.`);
    },
    async request({ input, workload: { kind, object } }) {
      const place = {
        kind,
        namespace: namespaceOf(object),
        name: nameOf(object),
        subresource: "scale",
      };
      return {
        place,
        write: { method: "PATCH", type: "merge", body: { spec: { replicas: input.replicas } } },
      };
    },
    async blast({ input, workload, api }) {
      const [wanted, ready] = [wantedPods(workload), readyPods(workload)];
      const autoscaler = await autoscalerOf(api, workload);
      const by =
        input.replicas > wanted
          ? `${counted(input.replicas - wanted, "pod")} more: ${percent(input.replicas, wanted)} of what it has.`
          : `${counted(wanted - input.replicas, "pod")} of ${wanted} (${percent(wanted - input.replicas, wanted)} of its capacity) end.`;
      const none =
        input.replicas === 0 ? ` Nothing is left to answer for ${refText(workload)}.` : "";
      return `${by} ${ready} ${ready === 1 ? "is" : "are"} ready now.${none}${autoscaler}`;
    },
    async verify({ input, workload }) {
      if (workload === undefined)
        return { verdict: "unknown", evidence: `${input.workload} is not there any more.` };
      const has = numberAt(workload.object, "spec", "replicas");
      const evidence = `${whereOf(workload)} wants ${counted(has, "replica")}, ${readyPods(workload)} ready.`;
      return { verdict: has === input.replicas ? "done" : "not done", evidence };
    },
    undoText: ({ before }) =>
      `Scales back to ${JSON.stringify(objectAt(before?.values)["replicas"])}.`,
    undo: ({ replicas }, before) => ({
      args: { replicas: before["replicas"] ?? 1 },
      values: { replicas },
    }),
  });
}
