import { inCluster, type Kubeconfig, readKubeconfig } from "./kubeconfig.ts";

interface ClusterSettings {
  kubeconfig?: string | undefined;
  /** Of the API server, as a pod is told. */
  host?: string | undefined;
  port: string;
  /** Empty: all of them. */
  contexts: readonly string[];
}

/** The clusters that the settings name. */
export function clustersIn({ kubeconfig, host, port, contexts }: ClusterSettings): Kubeconfig {
  if (kubeconfig === undefined) {
    const own = host === undefined ? undefined : inCluster(host, port);
    return { clusters: own === undefined ? [] : [own], current: own?.name ?? "", problems: [] };
  }
  const read = readKubeconfig(kubeconfig);
  const missing = contexts.filter((name) => read.clusters.every((each) => each.name !== name));
  const clusters = read.clusters.filter(
    ({ name }) => contexts.length === 0 || contexts.includes(name),
  );
  const has = read.clusters.map(({ name }) => name).join(", ") || "others that cannot be used";
  const problems = [
    ...read.problems,
    ...missing.map((name) => `kubernetes.contexts names ${name}, and it has only ${has}`),
  ];
  const isThere = clusters.some(({ name }) => name === read.current);
  return { clusters, current: isThere ? read.current : (clusters[0]?.name ?? ""), problems };
}
