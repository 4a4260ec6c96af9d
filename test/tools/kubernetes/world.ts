import { onTestFinished } from "vitest";
import { createEncoder } from "../../../src/security/encoder.ts";
import { createClusterTools } from "../../../src/tools/kubernetes/tools.ts";
import type { ClusterConfig } from "../../../src/tools/kubernetes/kubeconfig.ts";
import type { Access } from "../../fakes/kubernetes/status.ts";
import { type FakeKubernetes, startKubernetes } from "../../fakes/kubernetes/server.ts";
import { call, dispatcherOf } from "./calls.ts";

/** A shop on a fake cluster: `web` crashes, `cart` is well, `db` is a stateful set. */

const TOKEN = "admin-token-of-the-fake";

const OWNER = (kind: string, name: string, uid: string) => [
  { apiVersion: "apps/v1", kind, name, uid, controller: true },
];

interface PodOptions {
  name: string;
  app: string;
  owner?: { kind: string; name: string; uid: string };
  status?: object;
  spec?: object;
  namespace?: string;
}

export function pod({ name, app, owner, status, spec, namespace = "shop" }: PodOptions) {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace,
      labels: { app },
      ...(owner && { ownerReferences: OWNER(owner.kind, owner.name, owner.uid) }),
    },
    spec: {
      nodeName: "n1",
      containers: [
        {
          name: "app",
          image: `registry.example.com/${app}:1.0`,
          ports: [{ containerPort: 8080, protocol: "TCP" }],
          resources: { requests: { cpu: "100m", memory: "64Mi" }, limits: { memory: "128Mi" } },
          env: [
            { name: "DB_PASSWORD", valueFrom: { secretKeyRef: { name: "db", key: "password" } } },
            { name: "API_TOKEN", value: "not-for-anyones-eyes-1" },
          ],
        },
      ],
      ...spec,
    },
    status: {
      phase: "Running",
      podIP: "10.1.0.7",
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-11-23T01:00:00Z" }],
      containerStatuses: [
        {
          name: "app",
          ready: true,
          restartCount: 0,
          image: "x",
          state: { running: { startedAt: "2026-11-23T01:00:00Z" } },
        },
      ],
      ...status,
    },
  };
}

const CRASHED = {
  conditions: [{ type: "Ready", status: "False", lastTransitionTime: "2026-11-23T01:00:00Z" }],
  containerStatuses: [
    {
      name: "app",
      ready: false,
      restartCount: 7,
      image: "x",
      state: {
        waiting: {
          reason: "CrashLoopBackOff",
          message: "back-off 5m0s restarting failed container=app",
        },
      },
      lastState: {
        terminated: { exitCode: 1, reason: "Error", finishedAt: "2026-11-23T01:10:00Z" },
      },
    },
  ],
};

function deployment(name: string, uid: string, ready: number, revision: string) {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      name,
      namespace: "shop",
      uid,
      generation: 1,
      annotations: { "deployment.kubernetes.io/revision": revision },
    },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: name } },
      strategy: {
        type: "RollingUpdate",
        rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" },
      },
      template: template(name, `1.${Number(revision) - 1}`),
    },
    status: {
      observedGeneration: 1,
      replicas: 2,
      updatedReplicas: 2,
      readyReplicas: ready,
      availableReplicas: ready,
      conditions: [],
    },
  };
}

const template = (app: string, tag: string) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: "app", image: `registry.example.com/${app}:${tag}` }] },
});

function replicaSet(name: string, app: string, uid: string, owner: string, revision: string) {
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name,
      namespace: "shop",
      uid,
      labels: { app },
      annotations: { "deployment.kubernetes.io/revision": revision },
      ownerReferences: OWNER("Deployment", app, owner),
    },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app } },
      template: template(app, `1.${Number(revision) - 1}`),
    },
    status: { replicas: 2 },
  };
}

export function event(
  name: string,
  reason: string,
  message: string,
  count: number,
  about: { kind: string; name: string; uid?: string },
) {
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name, namespace: "shop" },
    type: "Warning",
    reason,
    message,
    count,
    firstTimestamp: "2026-11-23T01:00:00Z",
    lastTimestamp: "2026-11-23T01:30:00Z",
    involvedObject: { namespace: "shop", ...about },
  };
}

export function seedShop(fake: FakeKubernetes): void {
  for (const name of ["shop", "empty"])
    fake.add({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  fake.add({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n1" },
    spec: {},
    status: {
      allocatable: { cpu: "4", memory: "8Gi", pods: "110" },
      conditions: [{ type: "Ready", status: "True" }],
    },
  });
  fake.add({
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: "db",
      namespace: "shop",
      annotations: {
        "kubectl.kubernetes.io/last-applied-configuration":
          '{"data":{"password":"aHVudGVyMi1odW50ZXIy"}}',
      },
    },
    type: "Opaque",
    data: { password: Buffer.from("hunter2-hunter2").toString("base64") },
  });
  const web = { kind: "ReplicaSet", name: "web-5d4f9", uid: "uid-web-2" };
  fake.add(deployment("web", "uid-web", 0, "2"));
  fake.add(replicaSet("web-5d4f9", "web", "uid-web-2", "uid-web", "2"));
  fake.add(replicaSet("web-11111", "web", "uid-web-1", "uid-web", "1"));
  fake.add(pod({ name: "web-5d4f9-aaaaa", app: "web", owner: web, status: CRASHED }));
  fake.add(pod({ name: "web-5d4f9-bbbbb", app: "web", owner: web, status: CRASHED }));
  const cart = { kind: "ReplicaSet", name: "cart-7c8d9", uid: "uid-cart-1" };
  fake.add(deployment("cart", "uid-cart", 2, "1"));
  fake.add(replicaSet("cart-7c8d9", "cart", "uid-cart-1", "uid-cart", "1"));
  for (const name of ["cart-7c8d9-ccccc", "cart-7c8d9-ddddd"])
    fake.add(pod({ name, app: "cart", owner: cart }));
  fake.add({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "cart", namespace: "shop" },
    spec: {
      type: "ClusterIP",
      clusterIP: "10.96.0.7",
      selector: { app: "cart" },
      ports: [{ port: 80, targetPort: 8080, protocol: "TCP" }],
    },
  });
  fake.add({
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: { name: "cart", namespace: "shop" },
    subsets: [{ addresses: [{ ip: "10.1.0.7" }, { ip: "10.1.0.8" }] }],
  });
  for (const [index, name] of ["web-5d4f9-aaaaa", "web-5d4f9-bbbbb"].entries()) {
    const uid = fake.find("pods", "shop", name)?.["metadata"].uid;
    fake.add(
      event(`e${index}`, "BackOff", "Back-off restarting failed container", 12, {
        kind: "Pod",
        name,
        uid,
      }),
    );
  }
}

export interface World {
  fake: FakeKubernetes;
  /** Makes a call as `admin`, or as the token's user. */
  run: (
    tool: string,
    args?: Record<string, unknown>,
    options?: { signal?: AbortSignal },
  ) => ReturnType<typeof call>;
  dispatcher: ReturnType<typeof dispatcherOf>;
}

interface Options {
  seed?: (fake: FakeKubernetes) => void;
  may?: (access: Access) => boolean;
  old?: boolean;
  config?: Partial<ClusterConfig>;
  users?: Record<string, string>;
}

/** A cluster that ends with the test, and the tools for it. */
export async function cluster({
  seed = seedShop,
  may,
  old = false,
  config = {},
  users = {},
}: Options = {}): Promise<World> {
  const fake = await startKubernetes({ old, ...(may && { may }) });
  onTestFinished(() => fake.close());
  seed(fake);
  const own: ClusterConfig = {
    name: "lab",
    server: fake.origin,
    namespace: "",
    tls: {},
    token: TOKEN,
    ...config,
  };
  const encoder = createEncoder([{ name: "KUBERNETES_TOKEN", value: TOKEN }]);
  const dispatcher = dispatcherOf(
    createClusterTools({ clusters: [own], current: "lab", users }),
    encoder,
  );
  return {
    fake,
    dispatcher,
    run: (tool, args = {}, options) => call(dispatcher, `kubernetes_${tool}`, args, options),
  };
}
