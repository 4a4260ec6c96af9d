import * as z from "zod";
import { counted } from "../../core/text.ts";
import type { Tool } from "../tool.ts";
import { refused } from "../refusal.ts";
import { defineChange } from "./change-tool.ts";
import { type Clusters, locate, objectName } from "./cluster-tool.ts";
import { builtIn } from "./kinds.ts";
import { nameOf, objectAt, uidOf } from "./objects.ts";
import { seen } from "./surroundings.ts";
import type { Workload } from "./workloads.ts";

export const NODES = builtIn("nodes");

export function isCordoned({ object }: Workload): boolean {
  return objectAt(object, "spec")["unschedulable"] === true;
}

export function createCordon(clusters: Clusters): Tool {
  return defineChange(clusters, {
    name: "kubernetes_cordon",
    summary: "keeps new pods off a node, or lets them on it again",
    description:
      "Cordons a node, so that no new pods come to it, or uncordons it. Pods that run there stay.",
    effect: "write",
    title: ({ node, action }) => `${action === "cordon" ? "Cordon" : "Uncordon"} node ${node}`,
    shape: { node: objectName, action: z.enum(["cordon", "uncordon"]) },
    find: async ({ node }, api) => ({
      kind: NODES,
      object: await locate(api, NODES, node, undefined),
    }),
    values: async ({ workload }) => ({ unschedulable: isCordoned(workload) }),
    async check({ input, workload }) {
      if (isCordoned(workload) === (input.action === "cordon"))
        throw refused(`${input.node} is ${input.action}ed already.`);
    },
    async request({ input, workload: { kind, object } }) {
      const spec = { unschedulable: input.action === "cordon" ? true : null };
      const place = { kind, name: nameOf(object) };
      return {
        place,
        write: { method: "PATCH", type: "merge", body: { metadata: { uid: uidOf(object) }, spec } },
      };
    },
    async blast({ input, api }) {
      const [pods, nodes] = await Promise.all([
        seen(api.list(builtIn("pods"), { fields: `spec.nodeName=${input.node}`, max: 1_000 })),
        seen(api.list(NODES)),
      ]);
      const open = nodes.filter((object) => !isCordoned({ kind: NODES, object })).length;
      const left = input.action === "cordon" ? open - 1 : open + 1;
      return `${counted(pods.length, "pod")} there stay as they are. ${left} of ${counted(nodes.length, "node")} then take new pods.`;
    },
    async verify({ input, workload }) {
      if (workload === undefined)
        return { verdict: "unknown", evidence: `${input.node} is not there any more.` };
      const is = isCordoned(workload);
      const evidence = `${input.node} ${is ? "takes no new pods" : "takes new pods"}.`;
      return { verdict: is === (input.action === "cordon") ? "done" : "not done", evidence };
    },
    undoText: ({ action }) => (action === "cordon" ? "Uncordons it." : "Cordons it again."),
    undo: ({ action }) => ({
      args: { action: action === "cordon" ? "uncordon" : "cordon" },
      values: { unschedulable: action === "cordon" },
    }),
  });
}
