import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Lab } from "../lab.ts";
import type { Part } from "../part.ts";

/** The folder with a script `start` that starts a Kubernetes API in a folder and prints its kubeconfig. */
const START = process.env["LAB_KUBERNETES"];

/** A Kubernetes API without kubelet and scheduler: pods are bound, and their status set, as those would. */
export const kubernetes: Part = {
  name: "kubernetes",
  packages: { "kubernetes-client": "kubectl", "etcd-server": "etcd" },
  missing: () =>
    START !== undefined && existsSync(join(START, "start"))
      ? undefined
      : "LAB_KUBERNETES names no folder with a script that starts its API",
  async start(lab) {
    const folder = lab.place("kubernetes");
    const config = join(folder, "admin.kubeconfig");
    if (lab.isRunning("kubernetes")) return;
    lab.run("kubernetes", [
      "bash",
      "-c",
      `"$1" "$2" && exec sleep infinity`,
      "bash",
      join(START ?? "", "start"),
      folder,
    ]);
    lab.state.variables["KUBECONFIG"] = config;
    await lab.until("Kubernetes", async () =>
      kubectl(lab, ["get", "--raw", "/readyz"]).includes("ok"),
    );
    await seed(lab);
    // A node whose lease nobody renews counts as gone after 40 s.
    if (!lab.isRunning("kubelet"))
      lab.run("kubelet", ["bash", "-c", RENEWAL, "bash", config, JSON.stringify(LEASE)]);
  },
};

const LEASE = {
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name: "node-1", namespace: "kube-node-lease" },
  spec: { holderIdentity: "node-1", leaseDurationSeconds: 40, renewTime: "NOW" },
};

const RENEWAL = `while sleep 10; do
  echo "$2" | sed "s/NOW/$(date -u +%FT%T.000000Z)/" | kubectl --kubeconfig "$1" apply -f -
done`;

export function kubectl(lab: Lab, words: readonly string[], input?: object): string {
  const flags = ["--kubeconfig", join(lab.folder, "kubernetes/admin.kubeconfig")];
  return lab.output(
    ["kubectl", ...flags, ...words],
    input === undefined ? {} : { input: JSON.stringify(input) },
  );
}

/** A namespace with a node, and three workloads whose pods run. */
async function seed(lab: Lab): Promise<void> {
  kubectl(lab, ["apply", "-f", "-"], node("node-1"));
  setNodeReady(lab, "node-1", "True");
  if (kubectl(lab, ["get", "namespace", "shop", "--ignore-not-found"]) === "")
    kubectl(lab, ["create", "namespace", "shop"]);
  for (const [name, port] of Object.entries({ web: 8080, cart: 7070, db: 5432 })) {
    kubectl(lab, ["apply", "-n", "shop", "-f", "-"], deployment(name, port));
    kubectl(lab, ["apply", "-n", "shop", "-f", "-"], service(name, port));
  }
  await lab.until("the shop's pods", async () => podNames(lab, "shop").length >= 3);
  for (const pod of podNames(lab, "shop")) await runPod(lab, "shop", pod);
}

export function podNames(lab: Lab, namespace: string, selector = ""): string[] {
  const chosen = selector === "" ? [] : ["-l", selector];
  return kubectl(lab, ["get", "pods", "-n", namespace, ...chosen, "-o", "name"])
    .split("\n")
    .filter((name) => name !== "")
    .map((name) => name.replace("pod/", ""));
}

/** What scheduler and kubelet do with a pod that starts well. */
async function runPod(lab: Lab, namespace: string, name: string): Promise<void> {
  await bindPod(lab, namespace, name);
  const now = new Date().toISOString().replace(/\.\d+/, "");
  setStatus(
    lab,
    namespace,
    name,
    (container) => ({
      ...container,
      ready: true,
      restartCount: 0,
      started: true,
      state: { running: { startedAt: now } },
    }),
    { phase: "Running", ready: "True" },
  );
}

export async function bindPod(lab: Lab, namespace: string, name: string): Promise<void> {
  const binding = {
    apiVersion: "v1",
    kind: "Binding",
    metadata: { name },
    target: { apiVersion: "v1", kind: "Node", name: "node-1" },
  };
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/binding`;
  const bound = kubectl(lab, [
    "get",
    "pod",
    name,
    "-n",
    namespace,
    "-o",
    "jsonpath={.spec.nodeName}",
  ]);
  if (bound === "") kubectl(lab, ["create", "--raw", path, "-f", "-"], binding);
}

interface ContainerStatus {
  name: string;
  image: string;
  imageID: string;
  ready: boolean;
  restartCount: number;
  started?: boolean;
  state: object;
  lastState?: object;
}

/** Sets what a kubelet reports of a pod. */
export function setStatus(
  lab: Lab,
  namespace: string,
  name: string,
  change: (container: ContainerStatus) => ContainerStatus,
  { phase, ready }: { phase: string; ready: "True" | "False" },
): void {
  const pod = JSON.parse(kubectl(lab, ["get", "pod", name, "-n", namespace, "-o", "json"]));
  const now = new Date().toISOString().replace(/\.\d+/, "");
  const conditions = ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map((type) => ({
    type,
    status: type.includes("Ready") ? ready : "True",
    lastTransitionTime: now,
  }));
  const containerStatuses = pod.spec.containers.map(
    ({ name: container, image }: { name: string; image: string }) =>
      change({ name: container, image, imageID: "", ready: false, restartCount: 0, state: {} }),
  );
  pod.status = {
    phase,
    conditions,
    containerStatuses,
    startTime: now,
    podIP: "10.1.0.10",
    hostIP: "127.0.0.1",
  };
  kubectl(
    lab,
    ["replace", "--raw", `/api/v1/namespaces/${namespace}/pods/${name}/status`, "-f", "-"],
    pod,
  );
}

/** Sets what a kubelet reports of its node. */
export function setNodeReady(lab: Lab, name: string, status: "True" | "False"): void {
  const seen = JSON.parse(kubectl(lab, ["get", "node", name, "-o", "json"]));
  const now = new Date().toISOString().replace(/\.\d+/, "");
  const amounts = { cpu: "4", memory: "8Gi", pods: "110" };
  const reason = status === "True" ? "KubeletReady" : "KubeletNotReady";
  seen.status = {
    capacity: amounts,
    allocatable: amounts,
    conditions: [
      {
        type: "Ready",
        status,
        reason,
        message: "",
        lastHeartbeatTime: now,
        lastTransitionTime: now,
      },
    ],
    addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
  };
  kubectl(lab, ["replace", "--raw", `/api/v1/nodes/${name}/status`, "-f", "-"], seen);
}

function node(name: string): object {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { "kubernetes.io/hostname": name } },
  };
}

function deployment(name: string, port: number): object {
  const labels = { app: name };
  const container = {
    name,
    image: `registry.example.com/${name}:1.4.2`,
    ports: [{ containerPort: port }],
  };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  };
}

function service(name: string, port: number): object {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: { selector: { app: name }, ports: [{ port, targetPort: port }] },
  };
}
