import type { Tool } from "../tool.ts";
import { refused } from "../refusal.ts";
import { defineChange } from "./change-tool.ts";
import { type Clusters, locate, namespaceArgument, objectName } from "./cluster-tool.ts";
import { moment } from "./format.ts";
import { builtIn, refOf } from "./kinds.ts";
import { controllerOf, nameOf, namespaceOf, textAt, uidOf } from "./objects.ts";
import { podState } from "./pods.ts";
import { budgetsText, localVolumes, shareText } from "./surroundings.ts";

const PODS = builtIn("pods");

export function createDeletePod(clusters: Clusters): Tool {
  return defineChange(clusters, {
    name: "kubernetes_delete_pod",
    summary: "deletes one pod, which its controller replaces",
    description:
      "Deletes one pod, which its controller replaces. A pod without one is gone for good: kubernetes_delete does that.",
    effect: "write",
    title: ({ pod, namespace }) => `Delete pod ${pod} in ${namespace}`,
    shape: { pod: objectName, namespace: namespaceArgument },
    find: async ({ pod, namespace }, api) => ({
      kind: PODS,
      object: await locate(api, PODS, pod, namespace),
    }),
    values: async () => ({}),
    async check({ workload: { object } }) {
      if (controllerOf(object) === undefined)
        throw refused(
          `${refOf("pod", nameOf(object))} has no controller that would replace it; kubernetes_delete deletes it for good.`,
        );
    },
    async request({ workload: { kind, object } }) {
      const body = {
        apiVersion: "v1",
        kind: "DeleteOptions",
        preconditions: { uid: uidOf(object) },
      };
      return {
        place: { kind, namespace: namespaceOf(object), name: nameOf(object) },
        write: { method: "DELETE", body },
      };
    },
    async lines({ workload: { object } }) {
      const { status, ready, containers } = podState(object);
      const owner = controllerOf(object);
      const local = localVolumes(object);
      return [
        {
          label: "State",
          value: `${status}, ${ready}/${containers} ready, on ${textAt(object, "spec", "nodeName") || "no node"}`,
        },
        { label: "Replaced by", value: refOf(textAt(owner, "kind"), textAt(owner, "name")) },
        ...(local.length === 0
          ? []
          : [{ label: "Lost with it", value: `volumes ${local.join(", ")}` }]),
      ];
    },
    async blast({ workload: { object }, api }) {
      const [share, budgets] = await Promise.all([
        shareText(api, [object]),
        budgetsText(api, [object]),
      ]);
      const note =
        budgets.length === 0 ? "" : ` Budget ${budgets.join("; ")}; deleting does not ask it.`;
      return `${share}.${note}`;
    },
    async verify({ input, workload }) {
      if (workload === undefined || uidOf(workload.object) !== input.before?.uid)
        return { verdict: "done", evidence: `${input.pod} is gone.` };
      const since = textAt(workload.object, "metadata", "deletionTimestamp");
      if (since === "") return { verdict: "not done", evidence: `${input.pod} is still there.` };
      return { verdict: "done", evidence: `${input.pod} ends; it has until ${moment(since)}.` };
    },
    undoText: () =>
      "Can't be undone. Its controller makes a new pod; what it held in memory is lost.",
  });
}
