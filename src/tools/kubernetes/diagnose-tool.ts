import { BotError } from "../../core/errors.ts";
import type { Tool } from "../tool.ts";
import type { Api } from "./client.ts";
import {
  type Clusters,
  defineRead,
  namespaceArgument,
  notThere,
  shortList,
} from "./cluster-tool.ts";
import { diagnose } from "./diagnose/diagnose.ts";
import { builtIn } from "./kinds.ts";
import { isRefusal } from "./refusal.ts";
import { takeSnapshot } from "./snapshot.ts";
import { findWorkload, refText, workloadArgument } from "./workloads.ts";

const NAMESPACES = builtIn("namespaces");

/** Names the cause of what is wrong in a namespace, by rules, without a model. */
export function createDiagnose(clusters: Clusters): Tool {
  return defineRead(clusters, {
    name: "kubernetes_diagnose",
    summary:
      "names the cause of what is wrong in a namespace, most likely first, with evidence and what mends it",
    description:
      "Names the cause of what is wrong in a namespace or with one workload, most likely first, with evidence and fix: quotas, scheduling, images, volumes, crashes, probes, services, ingress, nodes and more. Call it first when a namespace is known.",
    timeoutMs: 60_000,
    shape: {
      namespace: namespaceArgument.optional().describe("Default: that of the kubeconfig's context"),
      workload: workloadArgument.optional(),
    },
    doing: ({ workload = "the cluster" }) => `Looking for what is wrong with ${workload}`,
    async run({ namespace: asked, workload }, api, ctx) {
      const namespace = asked ?? (api.namespace || (await whichNamespace(api)));
      await checkNamespace();
      const found =
        workload === undefined ? undefined : await findWorkload(api, workload, namespace);
      const snapshot = await takeSnapshot(api, namespace, ctx.encoder);
      return diagnose(snapshot, { ...(found && { workload: refText(found) }), now: Date.now() });

      /** Nothing is wrong in a namespace that is not there. */
      async function checkNamespace(): Promise<void> {
        const place = { kind: NAMESPACES, name: namespace };
        try {
          if ((await api.find(place)) !== undefined) return;
        } catch (error) {
          if (isRefusal(error, 403)) return;
          throw error;
        }
        // A server that names no namespace at all does not tell.
        const { items } = await api.list(NAMESPACES, { max: 1 });
        if (items.length > 0) throw await notThere(api, { ...place, namespace: undefined });
      }
    },
  });
}

/** @throws BotError INPUT_INVALID that names those that there are */
async function whichNamespace(api: Api): Promise<never> {
  const names = await api.names(NAMESPACES);
  const known = names.length === 0 ? "" : ` There are ${shortList(names)}.`;
  throw new BotError("INPUT_INVALID", `Which namespace? Name one as namespace=shop.${known}`);
}
