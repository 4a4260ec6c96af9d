import type { JsonObject } from "../../core/entry.ts";
import type { Tool } from "../tool.ts";
import { refused } from "../refusal.ts";
import { defineChange } from "./change-tool.ts";
import { type Clusters, namespaceArgument } from "./cluster-tool.ts";
import { moment } from "./format.ts";
import { nameOf, namespaceOf, objectAt, textAt, uidOf } from "./objects.ts";
import { ROLLED_OUT, statusText } from "./rollout.ts";
import { replacing } from "./surroundings.ts";
import { findWorkload, refText, workloadArgument } from "./workloads.ts";

/** As kubectl writes it into the pods' template. */
const RESTARTED_AT = "kubectl.kubernetes.io/restartedAt";

function restartedAt(object: JsonObject): string {
  return textAt(object, "spec", "template", "metadata", "annotations", RESTARTED_AT);
}

export function createRestart(clusters: Clusters): Tool {
  return defineChange(clusters, {
    name: "kubernetes_restart",
    summary: "restarts a workload's pods, by its own rollout strategy",
    description:
      "Replaces all pods of a deployment, stateful set or daemon set by its rollout strategy, as `kubectl rollout restart` does.",
    effect: "write",
    title: ({ workload, namespace }) => `Restart ${workload} in ${namespace}`,
    shape: { workload: workloadArgument, namespace: namespaceArgument },
    find: ({ workload, namespace }, api) => findWorkload(api, workload, namespace, ROLLED_OUT),
    settle: async ({ workload }) => ({ workload: refText(workload) }),
    values: async ({ workload }) => ({ restartedAt: restartedAt(workload.object) }),
    async check({ workload }) {
      if (objectAt(workload.object, "spec")["paused"] === true)
        throw refused(`${refText(workload)} is paused; resume its rollout first.`);
    },
    async request({ workload: { kind, object }, now }) {
      const annotations = { [RESTARTED_AT]: new Date(now).toISOString() };
      const body = {
        metadata: { uid: uidOf(object) },
        spec: { template: { metadata: { annotations } } },
      };
      const place = { kind, namespace: namespaceOf(object), name: nameOf(object) };
      return { place, write: { method: "PATCH", type: "merge", body } };
    },
    blast: async ({ workload }) => replacing(workload),
    async verify({ input, workload, startedAt }) {
      if (workload === undefined)
        return { verdict: "unknown", evidence: `${input.workload} is not there any more.` };
      const at = Date.parse(restartedAt(workload.object));
      const isOurs = at >= startedAt - 1_000;
      const evidence = Number.isNaN(at)
        ? "It was never restarted."
        : `Restarted ${moment(new Date(at).toISOString())}.`;
      return {
        verdict: isOurs ? "done" : "not done",
        evidence: `${evidence} ${statusText(workload)}`,
      };
    },
    undoText: () => "Can't be undone: the old pods are gone. The new ones run the same template.",
  });
}
