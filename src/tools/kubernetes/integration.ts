import * as z from "zod";
import { fromEnv, fromYaml } from "../../core/settings.ts";
import { defineIntegration } from "../integration.ts";

const settings = z.object({
  kubeconfig: fromEnv(
    "KUBECONFIG",
    z.string().min(1).optional(),
    "Kubeconfig files, separated by colons; each context is a cluster that tools can look at. In a pod its service account serves without it. See [Kubernetes](integrations/kubernetes.md).",
  ),
  host: fromEnv(
    "KUBERNETES_SERVICE_HOST",
    z.string().min(1).optional(),
    "Kubernetes itself sets it in a pod.",
  ),
  port: fromEnv(
    "KUBERNETES_SERVICE_PORT",
    z.string().regex(/^\d+$/, "expected a port").default("443"),
    "Kubernetes itself sets it in a pod.",
  ),
  contexts: fromYaml(
    "kubernetes.contexts",
    z.array(z.string().min(1)).default([]),
    "The contexts of `KUBECONFIG` that tools may use; without it all of them.",
  ),
  users: fromYaml(
    "kubernetes.users",
    z.record(z.string(), z.string().min(1)).default({}),
    "Who people are to the clusters: `<account>: <user>`, such as `slack:T0123:U0456: ana@example.com`. What one of them approved is then done in that user's name.",
  ),
});

/** Clusters, by their API servers. */
export const kubernetes = defineIntegration({
  name: "kubernetes",
  settings,
  async unavailable(given) {
    const { clustersIn } = await import("./clusters.ts");
    const { clusters, problems } = clustersIn(given);
    if (clusters.length > 0) return undefined;
    if (given.kubeconfig === undefined)
      return "KUBECONFIG is not set, and this is no pod with a service account.";
    return `KUBECONFIG names no cluster that can be used: ${problems.join("; ") || "it has no contexts"}.`;
  },
  async tools(given) {
    const { clustersIn } = await import("./clusters.ts");
    const { createClusterTools } = await import("./tools.ts");
    return createClusterTools({ ...clustersIn(given), users: given.users });
  },
  async changes(given) {
    const { clustersIn } = await import("./clusters.ts");
    const { changeSource } = await import("./changes.ts");
    return changeSource(clustersIn(given));
  },
  async proofs(given) {
    const { clustersIn } = await import("./clusters.ts");
    const { clusters } = clustersIn(given);
    return clusters.map(({ name }) => ({
      subject: `kubernetes ${name}`,
      tool: "kubernetes_access",
      args: { verb: "list", kind: "pods", ...(clusters.length > 1 && { instance: name }) },
    }));
  },
});
