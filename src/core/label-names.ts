/** What systems call the same thing in the labels of alerts and series, the plainest first. */
export const LABEL_NAMES = {
  url: ["url", "target"],
  host: ["host", "hostname", "nodename", "server_name"],
  port: ["port"],
  service: ["service", "kube_service", "app", "app_kubernetes_io_name", "service_name"],
  namespace: ["namespace", "kube_namespace", "kubernetes_namespace", "exported_namespace"],
  pod: ["pod", "pod_name", "kube_pod", "kubernetes_pod_name"],
  deployment: ["deployment", "kube_deployment", "workload_name"],
  node: ["node", "kube_node", "kubernetes_node"],
  container: ["container", "container_name", "kube_container_name", "name"],
  instance: ["instance"],
  job: ["job", "job_name"],
  database: ["database", "datname", "dbname", "dbinstanceidentifier"],
  queue: ["queue", "queue_name", "queuename"],
  cluster: ["cluster", "cluster_name", "kube_cluster_name"],
  environment: ["environment", "env"],
  project: ["project"],
  device: ["device"],
  path: ["path", "mountpoint"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type Labelled = keyof typeof LABEL_NAMES;
export type LabelName = (typeof LABEL_NAMES)[Labelled][number];

/** The labels of these things, in their order. */
export function labelsFor(...things: readonly Labelled[]): string[] {
  return things.flatMap((thing): readonly string[] => LABEL_NAMES[thing]);
}
