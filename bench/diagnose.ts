import { diagnose } from "../src/tools/kubernetes/diagnose/diagnose.ts";
import type { Snapshot } from "../src/tools/kubernetes/diagnose/snapshot.ts";
import { type Figure, median } from "./journal.ts";

const [WORKLOADS, PODS, ROUNDS] = [500, 10, 7];
const LETTERS_PER_TOKEN = 4;
const NOW = "2026-11-24T00:00:00Z";

/** What the API server mounts into every container. */
const SOURCES = [
  { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
  { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
  {
    downwardAPI: {
      items: [
        { path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } },
      ],
    },
  },
];

/** A namespace as the API server lists it: 5 000 pods, a tenth of them crashing, a tenth waiting for a node. */
function namespace() {
  const pods: object[] = [];
  const events: object[] = [];
  const deployments: object[] = [];
  const services: object[] = [];
  for (let i = 0; i < WORKLOADS; i++) {
    const [name, labels] = [`svc-${i}`, { app: `svc-${i}` }];
    const probe = { httpGet: { path: "/healthz", port: 8080, scheme: "HTTP" }, periodSeconds: 10 };
    const spec = {
      serviceAccountName: "default",
      containers: [
        {
          name,
          image: `registry.example.com/shop/${name}:1.4.${i}`,
          ports: [{ containerPort: 8080, protocol: "TCP" }],
          env: [{ name: "PEER_ADDR", value: `svc-${(i + 1) % WORKLOADS}:80` }],
          resources: { requests: { cpu: "10m", memory: "16Mi" }, limits: { memory: "64Mi" } },
          livenessProbe: probe,
          readinessProbe: probe,
        },
      ],
      volumes: [{ name: "kube-api-access-x", projected: { defaultMode: 420, sources: SOURCES } }],
      tolerations: ["not-ready", "unreachable"].map((key) => ({
        key: `node.kubernetes.io/${key}`,
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 300,
      })),
      dnsPolicy: "ClusterFirst",
      restartPolicy: "Always",
      schedulerName: "default-scheduler",
      securityContext: {},
      terminationGracePeriodSeconds: 30,
    };
    const metadata = { name, namespace: "shop", labels, creationTimestamp: "2026-11-01T00:00:00Z" };
    const template = { metadata: { labels }, spec };
    const selector = { matchLabels: labels };
    deployments.push({ metadata, spec: { replicas: PODS, selector, template }, status: {} });
    services.push({
      metadata,
      spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
    });
    const state = i % 10 === 0 ? "crashes" : i % 10 === 5 ? "waits" : "runs";
    for (let n = 0; n < PODS; n++) {
      const pod = `${name}-5d4f9-${n}`;
      const conditions = ["Initialized", "ContainersReady", "Ready", "PodScheduled"].map(
        (type) => ({
          type,
          status: state === "runs" || !type.endsWith("Ready") ? "True" : "False",
          lastProbeTime: null,
          lastTransitionTime: "2026-11-01T00:00:09Z",
        }),
      );
      const container = {
        name,
        image: `registry.example.com/shop/${name}:1.4.${i}`,
        imageID: `registry.example.com/shop/${name}@sha256:${String(i).repeat(64).slice(0, 64)}`,
        containerID: `containerd://${String(n + i)
          .repeat(64)
          .slice(0, 64)}`,
        ready: state === "runs",
        restartCount: state === "crashes" ? 7 : 0,
        state: state === "runs" ? { running: {} } : { waiting: { reason: "CrashLoopBackOff" } },
        lastState: state === "runs" ? {} : { terminated: { exitCode: 1, finishedAt: NOW } },
      };
      pods.push({
        metadata: {
          ...metadata,
          name: pod,
          ownerReferences: [{ kind: "ReplicaSet", name: `${name}-5d4f9`, controller: true }],
        },
        spec: state === "waits" ? spec : { ...spec, nodeName: `n${n}` },
        status:
          state === "waits"
            ? { phase: "Pending", conditions: [] }
            : {
                phase: "Running",
                conditions,
                containerStatuses: [container],
                hostIP: "10.0.0.1",
                podIP: `10.244.${n}.${i % 250}`,
                podIPs: [{ ip: `10.244.${n}.${i % 250}` }],
                qosClass: "Burstable",
                startTime: "2026-11-01T00:00:01Z",
              },
      });
      if (state === "waits")
        events.push({
          involvedObject: { kind: "Pod", name: pod },
          type: "Warning",
          reason: "FailedScheduling",
          message: "0/10 nodes are available: 10 Insufficient cpu.",
          lastTimestamp: NOW,
        });
    }
  }
  return { pods, events, deployments, services };
}

export async function diagnoseFigures(): Promise<Figure[]> {
  const text = JSON.stringify(namespace());
  const ratios: number[] = [];
  let letters = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const began = performance.now();
    const lists = JSON.parse(text) as Snapshot["lists"];
    const parsed = performance.now();
    const logs = async () => ["INFO request handled", "panic: no route to the moon"];
    const snapshot = { namespace: "shop", lists, missing: {}, logs };
    const { findings, text: rows } = await diagnose(snapshot, { now: Date.parse(NOW) });
    ratios.push((performance.now() - parsed) / (parsed - began));
    letters = JSON.stringify(findings).length + rows.length;
  }
  return [
    {
      name: `kubernetes_diagnose of ${WORKLOADS * PODS} pods (${Math.round(text.length / 1e6)} MB), time ÷ JSON.parse`,
      value: `${median(ratios).toFixed(1)}, the first ${ratios[0]?.toFixed(1)} (aim ≤ 3)`,
    },
    { name: "  tokens", value: `${Math.round(letters / LETTERS_PER_TOKEN)} (aim ≤ 2000)` },
  ];
}
