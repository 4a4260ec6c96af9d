import * as z from "zod";
import { fromEnv, fromYaml } from "../../core/settings.ts";
import { defineIntegration } from "../integration.ts";
import type { Tool } from "../tool.ts";
import { createAccess } from "./access.ts";
import type { Clusters } from "./cluster-tool.ts";
import { createCordon } from "./cordon.ts";
import { createDelete } from "./delete.ts";
import { createDeletePod } from "./delete-pod.ts";
import { createDescribe } from "./describe.ts";
import { createDiagnose } from "./diagnose-tool.ts";
import { createDrain } from "./drain.ts";
import { createEvents } from "./events.ts";
import { createGet } from "./get.ts";
import { createInstance } from "./instance.ts";
import { type ClusterConfig, inCluster, type Kubeconfig, readKubeconfig } from "./kubeconfig.ts";
import { createLogs } from "./logs.ts";
import { createOverview } from "./overview.ts";
import { createPatch } from "./patch.ts";
import { createRestart } from "./restart.ts";
import { createRollout } from "./rollout.ts";
import { createServiceCheck } from "./service-check.ts";
import { createScale } from "./scale.ts";
import { createSetImage } from "./set-image.ts";
import { createTop } from "./top.ts";
import { createUndoRollout } from "./undo-rollout.ts";

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
type Settings = z.infer<typeof settings>;

/** The clusters that the settings name. */
export function clustersIn({ kubeconfig, host, port, contexts }: Settings): Kubeconfig {
  if (kubeconfig === undefined) {
    const own = host === undefined ? undefined : inCluster(host, port);
    return { clusters: own === undefined ? [] : [own], current: own?.name ?? "", problems: [] };
  }
  const read = readKubeconfig(kubeconfig);
  const missing = contexts.filter((name) => read.clusters.every((each) => each.name !== name));
  const clusters = read.clusters.filter(
    ({ name }) => contexts.length === 0 || contexts.includes(name),
  );
  const problems = [...read.problems, ...missing.map((name) => `there is no context ${name}`)];
  const isThere = clusters.some(({ name }) => name === read.current);
  return { clusters, current: isThere ? read.current : (clusters[0]?.name ?? ""), problems };
}

/** All tools of these clusters. */
export function createClusterTools({
  clusters: configs,
  current,
  users = {},
}: {
  clusters: readonly ClusterConfig[];
  current: string;
  users?: Readonly<Record<string, string>>;
}): readonly Tool[] {
  const clusters: Clusters = {
    instances: configs.map((config) => createInstance(config)),
    current,
    users,
  };
  return [
    createDiagnose(clusters),
    createOverview(clusters),
    createGet(clusters),
    createDescribe(clusters),
    createEvents(clusters),
    createLogs(clusters),
    createTop(clusters),
    createRollout(clusters),
    createServiceCheck(clusters),
    createAccess(clusters),
    createScale(clusters),
    createRestart(clusters),
    createUndoRollout(clusters),
    createSetImage(clusters),
    createDeletePod(clusters),
    createCordon(clusters),
    createPatch(clusters),
    createDrain(clusters),
    createDelete(clusters),
  ];
}

/** Clusters, by their API servers. */
export const kubernetes = defineIntegration({
  name: "kubernetes",
  settings,
  unavailable(given) {
    const { clusters, problems } = clustersIn(given);
    if (clusters.length > 0) return undefined;
    if (given.kubeconfig === undefined)
      return "KUBECONFIG is not set, and this is no pod with a service account.";
    return `KUBECONFIG names no cluster that can be used: ${problems.join("; ") || "it has no contexts"}.`;
  },
  tools: (given) => createClusterTools({ ...clustersIn(given), users: given.users }),
  proofs(given) {
    const { clusters } = clustersIn(given);
    return clusters.map(({ name }) => ({
      subject: `kubernetes ${name}`,
      tool: "kubernetes_access",
      args: { verb: "list", kind: "pods", ...(clusters.length > 1 && { instance: name }) },
    }));
  },
});
