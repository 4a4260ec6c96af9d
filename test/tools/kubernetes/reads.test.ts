import { expect, describe, test } from "vitest";
import { cluster, event } from "./world.ts";

/** Looking at a cluster, on a fake of its API server. */

describe("an overview", () => {
  test("shows what is unhealthy first, from the workload down to the container and its event", async () => {
    const { run } = await cluster();
    const { text, outcome, findings } = await run("overview");
    expect(outcome).toBe("ok");
    expect(findings).toMatchObject([
      {
        object: { kind: "Deployment", namespace: "shop", name: "web" },
        cause: expect.stringMatching(/^CrashLoopBackOff: Error, exit 1/),
        severity: "error",
      },
    ]);
    expect(text).toMatch(
      /^1 unhealthy thing in the cluster:\n- shop\/deployment\/web \(0\/2 ready\) → replicaset\/web-5d4f9 → pod\/web-5d4f9-aaaaa \(and 1 pod more the same\) → container app: CrashLoopBackOff, 7 restarts, since 2026-11-23 01:10:00/,
    );
    expect(text).toContain("Error, exit 1; back-off 5m0s restarting failed container=app");
    expect(text).toMatch(
      /event: 2026-11-23 01:30:00 .* BackOff ×12: Back-off restarting failed container/,
    );
    expect(text).toContain("Well: 1 of 2 workloads, 2 of 4 pods, 1 of 1 node.");
    expect(text).toContain("shop 2/4");
    expect(text).toContain("kubernetes_diagnose namespace=<name> also looks at services");
  });

  test("tells of a workload whose pods a quota keeps away, and of a node that is down", async () => {
    const { run, fake } = await cluster();
    const set = fake.find("replicasets", "shop", "cart-7c8d9");
    const message =
      'pods "cart-7c8d9-x" is forbidden: exceeded quota: pods, requested: pods=1, used: pods=3, limited: pods=3';
    fake.add({
      ...set,
      kind: "ReplicaSet",
      apiVersion: "apps/v1",
      status: { conditions: [{ type: "ReplicaFailure", status: "True", message }] },
    });
    for (const name of ["cart-7c8d9-ccccc", "cart-7c8d9-ddddd"]) fake.drop("pods", "shop", name);
    const cart = fake.find("deployments", "shop", "cart");
    fake.add({ ...cart, kind: "Deployment", apiVersion: "apps/v1", status: { readyReplicas: 0 } });
    const conditions = [
      {
        type: "Ready",
        status: "Unknown",
        lastTransitionTime: "2026-11-23T01:00:00Z",
        message: "Kubelet stopped posting node status.",
      },
    ];
    fake.add({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "n2" },
      spec: { unschedulable: true },
      status: { conditions },
    });
    const { text, findings } = await run("overview", { namespace: "shop" });
    expect(findings.map(({ object, cause }) => `${object.kind} ${object.name}: ${cause}`)).toEqual([
      expect.stringMatching(/^Node n2: NotReady since/),
      expect.stringMatching(/^Deployment cart: pods "cart-7c8d9-x" is forbidden: exceeded quota/),
      expect.stringMatching(/^Deployment web: CrashLoopBackOff/),
    ]);
    expect(text).toContain(
      '- shop/deployment/cart (0/2 ready)\n  pods "cart-7c8d9-x" is forbidden: exceeded quota',
    );
    expect(text).toMatch(
      /- node\/n2: NotReady since 2026-11-23 01:00:00 .*: Kubelet stopped posting node status\.; cordoned/,
    );
  });

  test("of a namespace with nothing in it says that nothing is unhealthy", async () => {
    const { run } = await cluster();
    const { text } = await run("overview", { namespace: "empty" });
    expect(text).toMatch(/^Nothing is unhealthy in namespace empty\./);
  });

  test("says what it may not see, and which permission would help", async () => {
    const { run } = await cluster({
      may: ({ kind, namespace }) => kind.plural !== "nodes" && namespace === "shop",
    });
    const { text, gaps } = await run("overview", { namespace: "shop" });
    expect(text).toContain("shop/deployment/web (0/2 ready)");
    expect(gaps).toEqual([
      {
        what: "nodes",
        why: 'forbidden: nodes is forbidden: User "admin" cannot list resource "nodes" in API group "" at the cluster scope',
        help: "Allow list on nodes.",
      },
    ]);
  });
});

describe("lists", () => {
  test("come as kubectl's rows, without columns in which nothing stands", async () => {
    const { run } = await cluster();
    const { text } = await run("get", { kind: "po", labels: "app=cart" });
    expect(text).toBe(
      [
        "2 rows",
        "NAMESPACE  NAME              READY  STATUS   NODE  AGE",
        "shop       cart-7c8d9-ccccc  1/1    Running  n1    5m",
        "shop       cart-7c8d9-ddddd  1/1    Running  n1    5m",
      ].join("\n"),
    );
  });

  test("of kinds that the cluster has in another version, or of its own, are found", async () => {
    const { run, fake } = await cluster({ old: true });
    fake.add({
      apiVersion: "policy/v1beta1",
      kind: "PodDisruptionBudget",
      metadata: { name: "web", namespace: "shop" },
      spec: {},
    });
    fake.add({
      apiVersion: "example.com/v1",
      kind: "Widget",
      metadata: { name: "w", namespace: "shop" },
    });
    expect((await run("get", { kind: "pdb" })).text).toContain("shop       web");
    expect((await run("get", { kind: "wd" })).text).toContain("shop       w");
    expect((await run("get", { kind: "widgets.example.com", namespace: "empty" })).text).toBe(
      "No widgets in namespace empty.",
    );
    expect((await run("get", { kind: "widgit" })).text).toBe(
      'This cluster has no kind "widgit". Did you mean widget?',
    );
  });

  test("that are too long say so", async () => {
    const { run, fake } = await cluster();
    for (let index = 0; index < 250; index += 1)
      fake.add({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: `c${index}`, namespace: "shop" },
      });
    const { text } = await run("get", { kind: "cm" });
    expect(text).toContain("200 rows");
    expect(text).toMatch(/There are 50 more; narrow it by namespace, labels or fields\.$/);
    expect((await run("get", { kind: "cm", contains: "c249" })).text).toMatch(/^1 row\n/);
  });

  test("name what was meant where nothing has the name", async () => {
    const { run } = await cluster();
    const texts = await Promise.all([
      run("get", { kind: "deploy", name: "wbe", namespace: "shop" }),
      run("get", { kind: "deploy", name: "web", namespace: "shp" }),
      run("describe", { kind: "secret", name: "x", namespace: "empty" }),
    ]);
    expect(texts.map(({ text }) => text)).toEqual([
      "There is no Deployment wbe in namespace shop. Did you mean web?",
      "There is no namespace shp. Did you mean shop?",
      "There is no Secret x in namespace empty. None exists.",
    ]);
  });
});

describe("the value of a Secret", () => {
  test("is in no answer, whichever way it is asked for", async () => {
    const { run, fake } = await cluster();
    const calls: [string, Record<string, unknown>][] = [
      ["get", { kind: "secrets" }],
      ["get", { kind: "secret", name: "db", yaml: true }],
      ["describe", { kind: "secrets", name: "db", namespace: "shop" }],
      ["get", { kind: "pod", name: "web-5d4f9-aaaaa", yaml: true }],
      ["describe", { kind: "pod", name: "web-5d4f9-aaaaa" }],
      ["diagnose", { namespace: "shop" }],
    ];
    const all: string[] = [];
    for (const [tool, args] of calls) all.push((await run(tool, args)).text);
    const text = all.join("\n");
    expect(text).toContain("password (hidden, 15 bytes)");
    expect(text).toContain("DB_PASSWORD ← secret db, key password");
    expect(text).toContain("(hidden, 22 characters)");
    for (const value of [
      "hunter2",
      Buffer.from("hunter2-hunter2").toString("base64"),
      "not-for-anyones-eyes",
    ])
      expect(text).not.toContain(value);
    expect(fake.asked.some(({ url }) => url.includes("/secrets"))).toBe(true);
  });

  test("is not in the preview of its deletion either, and it cannot be patched", async () => {
    const { run } = await cluster();
    const { preview, text } = await run("delete", {
      kind: "secret",
      name: "db",
      namespace: "shop",
    });
    expect(JSON.stringify([preview, text])).not.toMatch(/hunter2|aHVudGVy/);
    await expect(
      run("patch", { kind: "secret", name: "db", namespace: "shop", patch: { type: "x" } }),
    ).rejects.toThrow(/their values would be in the call/);
  });
});

test("a description has a container's state, last end, resources and variables, and the object's events", async () => {
  const { run } = await cluster();
  const { text } = await run("describe", { kind: "pod", name: "web-5d4f9-aaaaa" });
  expect(text).toContain("Pod web-5d4f9-aaaaa in shop");
  expect(text).toContain("controlled by replicaset/web-5d4f9");
  expect(text).toContain("container app: waiting: CrashLoopBackOff");
  expect(text).toContain("last end: Error, exit 1 at 2026-11-23 01:10:00");
  expect(text).toContain("requests: cpu 100m, memory 64Mi; limits: memory 128Mi");
  expect(text).toMatch(/Events:\n {2}2026-11-23 01:30:00 .*BackOff ×12/);
  const workload = await run("describe", { kind: "deploy", name: "web" });
  expect(workload.text).toContain("0/2 ready, 2 pods, RollingUpdate, selects app=web");
});

describe("events", () => {
  test("that say the same are one line, newest first, with how often", async () => {
    const { run, fake } = await cluster();
    fake.add({
      ...event("e9", "Unhealthy", "Readiness probe failed", 1, { kind: "Pod", name: "x" }),
      lastTimestamp: "2026-11-23T01:31:00Z",
    });
    const { text } = await run("events", { namespace: "shop" });
    const lines = text.split("\n");
    expect(lines[0]).toBe("3 Warning events in namespace shop, 2 lines:");
    expect(lines[1]).toContain("Unhealthy pod/x: Readiness probe failed");
    expect(lines[2]).toContain("BackOff ×24 pod/web-5d4f9-aaaaa, pod/web-5d4f9-bbbbb");
  });

  test("are said to be absent", async () => {
    const { run } = await cluster();
    expect((await run("events", { namespace: "empty" })).text).toBe(
      "No Warning events in namespace empty.",
    );
  });
});

test("usage without a metrics server still has requests and limits, and says what is missing", async () => {
  const { run } = await cluster();
  const pods = await run("top", { of: "pods", namespace: "shop" });
  expect(pods.text).toMatch(/web-5d4f9-aaaaa +\? +0\.1\/– +\? +64 MiB\/128 MiB +7/);
  expect(pods.gaps).toEqual([
    {
      what: "what is used now",
      why: "the cluster has no metrics server",
      help: "Install metrics-server.",
    },
  ]);
  const nodes = await run("top", { of: "nodes" });
  expect(nodes.text).toMatch(
    /n1 +Ready +\? +0\.4 of 4 \(10 %\) +\? +256 MiB of 8 GiB \(3 %\) +4 of 110/,
  );
});

test("storage and quotas say what is short first", async () => {
  const { run, fake } = await cluster();
  fake.add({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "data", namespace: "shop" },
    spec: { resources: { requests: { storage: "10Gi" } } },
    status: { phase: "Pending" },
  });
  fake.add({
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: "q", namespace: "shop" },
    status: { hard: { pods: "4", cpu: "10" }, used: { pods: "4", cpu: "500m" } },
  });
  expect((await run("top", { of: "storage" })).text).toMatch(
    /shop\/data +Pending +asks 10Gi .*no pod/,
  );
  expect((await run("top", { of: "quotas" })).text).toMatch(
    /shop\/q +pods +4 +4 +100 %\nshop\/q +cpu +500m +10 +5 %/,
  );
});

test("a rollout has its state, its revisions and what the newest changed", async () => {
  const { run } = await cluster();
  const { text } = await run("rollout", { workload: "web", namespace: "shop" });
  expect(text).toContain(
    "shop/deployment/web is rolling out: 2 of 2 replicas updated, 0 available.",
  );
  expect(text).toMatch(/2 \(now\) .*web:1\.1/);
  expect(text).toContain(
    "Changed from revision 1 to 2:\nspec.containers[app].image: registry.example.com/web:1.0 → registry.example.com/web:1.1",
  );
});

describe("the check of a service", () => {
  test("that works says so, with its ports, pods and endpoints", async () => {
    const { run } = await cluster();
    const { text, findings } = await run("service_check", { name: "cart", namespace: "shop" });
    expect(findings).toEqual([]);
    expect(text).toContain(
      "requests can arrive\nports: 80 → 8080/TCP; selector: app=cart\npods: 2 selected, 2 ready; endpoints: 2 ready",
    );
  });

  test.each([
    ["selector matches no pod", { selector: { app: "carts" } }, "app=carts where the pod has app="],
    [
      "target port is not among the pods' ports",
      { ports: [{ port: 80, targetPort: 9090 }] },
      "the pods declare 8080/TCP",
    ],
    [
      "protocol differs from the pods' port",
      { ports: [{ port: 80, targetPort: 8080, protocol: "UDP" }] },
      "80 → 8080/UDP",
    ],
    ["no ready pod behind it", { selector: { app: "web" } }, "2 pods selected, none ready"],
  ])("names %s", async (cause, spec, evidence) => {
    const { run, fake } = await cluster();
    const service = fake.find("services", "shop", "cart");
    fake.add({
      ...service,
      apiVersion: "v1",
      kind: "Service",
      spec: { ...service?.["spec"], ...spec },
    });
    const { findings } = await run("service_check", { name: "cart" });
    expect(findings).toMatchObject([
      { object: { kind: "Service", namespace: "shop", name: "cart" }, cause, severity: "error" },
    ]);
    expect(findings[0]?.evidence).toContain(evidence);
  });
});

test("what the bot may do is told for one thing and for all", async () => {
  const { run } = await cluster({
    may: ({ verb, kind }) => verb === "list" && kind.plural === "pods",
  });
  expect((await run("access", { verb: "list", kind: "po", namespace: "shop" })).text).toBe(
    "Yes: list pods in namespace shop",
  );
  expect((await run("access", { verb: "delete", kind: "deploy" })).text).toBe(
    "No: delete deployments.apps in all namespaces",
  );
  expect((await run("access")).text).toBe("May in namespace default:\nlist: pods");
});
