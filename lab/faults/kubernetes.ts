import type { Lab } from "../lab.ts";
import type { Fault } from "../part.ts";
import {
  bindPod,
  kubectl,
  kubernetes,
  podNames,
  setNodeReady,
  setStatus,
} from "../parts/kubernetes.ts";

/** What goes wrong in a cluster. Where a kubelet would say so, the lab says it in its place. */

function patch(lab: Lab, what: string, name: string, change: object): void {
  kubectl(lab, [
    "patch",
    what,
    name,
    "-n",
    "shop",
    "--type",
    "merge",
    "-p",
    JSON.stringify(change),
  ]);
}

/** Pods of a workload as its newest template makes them, with a state that a kubelet reports. */
async function report(lab: Lab, app: string, container: object, ready = false): Promise<void> {
  await lab.until(`pods of ${app}`, async () => podNames(lab, "shop", `app=${app}`).length > 0);
  for (const pod of podNames(lab, "shop", `app=${app}`))
    await reportPod(lab, pod, container, { phase: "Running", ready: ready ? "True" : "False" });
}

async function reportPod(
  lab: Lab,
  pod: string,
  container: object,
  state: Parameters<typeof setStatus>[4],
): Promise<void> {
  await bindPod(lab, "shop", pod);
  const ready = state.ready === "True";
  setStatus(lab, "shop", pod, (each) => ({ ...each, ...container, ready }), state);
}

const MISSING_IMAGE = "registry.example.com/db:1.4.3-missing";

function podsOf(lab: Lab, image: string): string[] {
  const columns = "custom-columns=:metadata.name,:spec.containers[0].image";
  return kubectl(lab, ["get", "pods", "-n", "shop", "--no-headers", "-o", columns])
    .split("\n")
    .flatMap((row) => {
      const [name = "", its] = row.split(/\s+/);
      return its === image ? [name] : [];
    });
}

const RUNS = { state: { running: { startedAt: "2026-01-01T00:00:00Z" } }, restartCount: 0 };
const healthy = (lab: Lab, app: string) => report(lab, app, RUNS, true);

export const KUBERNETES_FAULTS: readonly Fault[] = [
  {
    name: "wrong-selector",
    about: "the service cart selects pods that are called otherwise",
    asked: {
      question: "cart in namespace shop is not reachable",
      cause: /Service cart selects no pods/,
    },
    parts: ["kubernetes"],
    named: {
      raw: [
        "kubectl -n shop get pods,services,endpoints --show-labels",
        "kubectl -n shop get events",
        "kubectl -n shop describe service cart",
      ],
      ask: "run kubernetes_diagnose namespace=shop",
      says: /selector app=carts matches no pods/,
    },
    async break(lab) {
      patch(lab, "service", "cart", { spec: { selector: { app: "carts" } } });
    },
    async mend(lab) {
      patch(lab, "service", "cart", { spec: { selector: { app: "cart" } } });
    },
  },
  {
    name: "quota",
    about: "a quota of pods keeps web from growing",
    asked: {
      question: "web in namespace shop does not scale up, its pods are missing",
      cause: /Deployment web gets no more pods: exceeded quota: pods/,
    },
    parts: ["kubernetes"],
    named: {
      raw: [
        "kubectl -n shop get pods,deployments,replicasets",
        "kubectl -n shop get events",
        "kubectl -n shop describe deployment web",
        "kubectl -n shop describe quota",
      ],
      ask: "run kubernetes_diagnose namespace=shop",
      says: /exceeded quota: pods/,
    },
    async break(lab) {
      const quota = {
        apiVersion: "v1",
        kind: "ResourceQuota",
        metadata: { name: "pods" },
        spec: { hard: { pods: "3" } },
      };
      kubectl(lab, ["apply", "-n", "shop", "-f", "-"], quota);
      // Before it has counted, it keeps nothing away.
      await lab.until("the quota", async () =>
        kubectl(lab, [
          "get",
          "quota",
          "pods",
          "-n",
          "shop",
          "-o",
          "jsonpath={.status.used}",
        ]).includes("pods"),
      );
      kubectl(lab, ["scale", "deployment/web", "-n", "shop", "--replicas=4"]);
    },
    async mend(lab) {
      kubectl(lab, ["delete", "resourcequota", "pods", "-n", "shop"]);
      kubectl(lab, ["scale", "deployment/web", "-n", "shop", "--replicas=1"]);
    },
  },
  {
    name: "crash-loop",
    about: "web crashes at its start",
    asked: {
      question: "the pods of web keep crashing",
      cause: /Deployment (?:shop\/)?web\b.*CrashLoopBackOff: Error, exit 1/,
    },
    parts: ["kubernetes"],
    named: {
      raw: [
        "kubectl -n shop get pods,deployments,endpoints",
        "kubectl -n shop describe pods -l app=web",
        "kubectl -n shop logs --previous -l app=web --tail=100",
      ],
      ask: "run kubernetes_diagnose namespace=shop",
      says: /CrashLoopBackOff: exit code 1/,
    },
    break: (lab) =>
      report(lab, "web", {
        restartCount: 7,
        state: {
          waiting: {
            reason: "CrashLoopBackOff",
            message: "back-off 5m0s restarting failed container=web",
          },
        },
        lastState: {
          terminated: {
            exitCode: 1,
            reason: "Error",
            startedAt: "2026-01-01T00:00:00Z",
            finishedAt: "2026-01-01T00:00:01Z",
          },
        },
      }),
    mend: (lab) => healthy(lab, "web"),
  },
  {
    name: "wrong-image",
    about: "a tag of db's image does not exist",
    asked: {
      question: "the rollout of db in namespace shop hangs",
      cause: /Deployment (?:shop\/)?db\b.*db:1\.4\.3-missing/,
    },
    parts: ["kubernetes"],
    named: {
      raw: [
        "kubectl -n shop get pods,deployments,endpoints",
        "kubectl -n shop describe pods -l app=db",
      ],
      ask: "run kubernetes_diagnose namespace=shop",
      says: /registry\.example\.com\/db:1\.4\.3-missing/,
    },
    async break(lab) {
      kubectl(lab, ["set", "image", "deployment/db", `db=${MISSING_IMAGE}`, "-n", "shop"]);
      await lab.until("the new pod of db", async () => podsOf(lab, MISSING_IMAGE).length > 0);
      const message = `Back-off pulling image "${MISSING_IMAGE}"`;
      for (const pod of podsOf(lab, MISSING_IMAGE))
        await reportPod(
          lab,
          pod,
          { state: { waiting: { reason: "ImagePullBackOff", message } } },
          { phase: "Pending", ready: "False" },
        );
    },
    async mend(lab) {
      kubectl(lab, ["rollout", "undo", "deployment/db", "-n", "shop"]);
      // No kubelet ends them.
      for (const pod of podsOf(lab, MISSING_IMAGE))
        kubectl(lab, ["delete", "pod", pod, "-n", "shop", "--force", "--grace-period=0"]);
    },
  },
  {
    name: "node-down",
    about: "the node does not answer",
    asked: {
      question: "a node of the cluster looks down",
      cause: /Node node-1 is not well: NodeNotReady|Node node-1: NotReady/,
    },
    parts: ["kubernetes"],
    named: {
      raw: [
        "kubectl -n shop get pods -o wide",
        "kubectl get nodes",
        "kubectl describe node node-1",
      ],
      ask: "run kubernetes_diagnose namespace=shop",
      says: /node-1.*NotReady/i,
    },
    async break(lab) {
      setNodeReady(lab, "node-1", "False");
    },
    async mend(lab) {
      setNodeReady(lab, "node-1", "True");
    },
  },
  {
    name: "cluster-gone",
    about: "the Kubernetes API does not answer",
    asked: {
      question: "kubectl does not answer any more",
      cause: /The Kubernetes API does not answer: .*connection refused/,
    },
    parts: ["kubernetes"],
    named: {
      raw: ["kubectl -n shop get pods"],
      ask: "run kubernetes_diagnose namespace=shop",
      says: /connection refused/,
    },
    break: (lab) => lab.end("kubernetes"),
    mend: (lab) => kubernetes.start(lab),
  },
];
