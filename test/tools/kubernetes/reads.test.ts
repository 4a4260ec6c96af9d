import { expect, describe, test } from "vitest";
import { cluster, event, pod } from "./world.ts";

/** Looking at a cluster, on a fake of its API server. */

describe("an overview", () => {
  test("shows what is unhealthy first, from the workload down to the container and its event", async () => {
    const { run } = await cluster();
    const { text, outcome } = await run("overview");
    expect(outcome).toBe("ok");
    expect(text).toMatch(
      /^1 unhealthy thing in the cluster:\n- shop\/deployment\/web \(0\/2 ready\) → replicaset\/web-5d4f9 → pod\/web-5d4f9-aaaaa \(and 1 pod more the same\) → container app: CrashLoopBackOff, 7 restarts, since 2026-11-23 01:10:00/,
    );
    expect(text).toContain("Error, exit 1; back-off 5m0s restarting failed container=app");
    expect(text).toMatch(
      /event: 2026-11-23 01:30:00 .* BackOff ×12: Back-off restarting failed container/,
    );
    expect(text).toContain("Well: 1 of 2 workloads, 2 of 4 pods, 1 of 1 node.");
    expect(text).toContain("shop 2/4");
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
    const { text } = await run("overview", { namespace: "shop" });
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

describe("logs", () => {
  const line = (second: number, text: string) =>
    `2026-11-23T01:30:${String(second).padStart(2, "0")}.000000000Z ${text}`;

  test("of a crashed container are those of the run before, merged over the workload's pods, the same lines folded", async () => {
    const { run, fake } = await cluster();
    fake.log(
      "shop",
      "web-5d4f9-aaaaa",
      "app",
      [line(1, "starting"), line(3, "no route to db")],
      true,
    );
    fake.log(
      "shop",
      "web-5d4f9-bbbbb",
      "app",
      [line(2, "starting"), line(4, "no route to db")],
      true,
    );
    const { text } = await run("logs", { workload: "deployment/web", namespace: "shop" });
    expect(text.split("\n")).toEqual([
      "deployment/web (2 pods): 4 lines; of app the run before the last restart. Times are UTC.",
      "Not well: pod/web-5d4f9-aaaaa app CrashLoopBackOff; pod/web-5d4f9-bbbbb app CrashLoopBackOff",
      "2026-11-23 01:30:02 2 pods/app starting (×2 since 2026-11-23 01:30:01)",
      "2026-11-23 01:30:04 2 pods/app no route to db (×2 since 2026-11-23 01:30:03)",
    ]);
  });

  test("are searched by a pattern, after what is secret in them was taken out", async () => {
    const { run, fake } = await cluster();
    fake.log("shop", "cart-7c8d9-ccccc", "app", [
      line(1, "GET /cart 200"),
      line(2, "ERROR token admin-token-of-the-fake"),
      line(3, "ERROR db away"),
    ]);
    const args = { workload: "pod/cart-7c8d9-ccccc", namespace: "shop" };
    const found = await run("logs", { ...args, pattern: "error" });
    expect(found.text).toContain("2 of 3 lines match");
    expect(found.text).toContain("[secret:KUBERNETES_TOKEN]");
    expect((await run("logs", { ...args, pattern: "admin-token" })).text).toContain(
      "0 of 3 lines match",
    );
  });

  test("that are too long are asked for again in fewer lines, so that the newest are there", async () => {
    const { run, fake } = await cluster();
    const lines = Array.from({ length: 4_000 }, (_, index) =>
      line(index % 60, `${index} ${"x".repeat(500)}`),
    );
    fake.log("shop", "cart-7c8d9-ccccc", "app", lines);
    const { text } = await run("logs", { workload: "pod/cart-7c8d9-ccccc", pattern: "^3999 " });
    expect(text).toContain("1 of 1250 lines match");
    expect(fake.asked.filter(({ url }) => url.includes("/log?")).length).toBe(2);
  });

  test("of a container, workload or pod that is not there are refused with what is", async () => {
    const { run } = await cluster();
    const texts = await Promise.all([
      run("logs", { workload: "deployment/cart", container: "ap" }),
      run("logs", { workload: "carr", namespace: "shop" }),
    ]);
    expect(texts.map(({ text }) => text)).toEqual([
      "container ap: unknown; did you mean app?.",
      "There is no workload carr in namespace shop. Did you mean deployment/cart?",
    ]);
  });

  test("that may not be read are a gap", async () => {
    const { run } = await cluster({ may: ({ subresource }) => subresource !== "log" });
    const { gaps, text } = await run("logs", { workload: "deployment/cart" });
    expect(text).toContain("0 lines");
    expect(gaps[0]).toMatchObject({ help: "Allow get on pods/log." });
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
  expect(text).toContain("shop/deployment/web is rolling out: 2 of 2 updated, 0 ready.");
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

describe("an API server that", () => {
  test("refuses is a result with the permission that would help", async () => {
    const { run } = await cluster({ may: () => false });
    const { outcome, text, gaps } = await run("get", { kind: "pods", namespace: "shop" });
    expect(outcome).toBe("error");
    expect(text).toContain("refused to list pods (403 Forbidden)");
    expect(gaps).toMatchObject([{ what: "pods in namespace shop", help: "Allow list on pods." }]);
  });

  test("knows the credential no more says so", async () => {
    const { run } = await cluster({ config: { token: "an-old-token-of-somebody" } });
    const { text } = await run("get", { kind: "pods" });
    expect(text).toContain("401 Unauthorized");
  });

  test("is slow is waited for, and one that is stopped is left", async () => {
    const { run, fake } = await cluster();
    const stop = new AbortController();
    fake.interfere(() => {
      stop.abort();
      return true;
    });
    const { outcome } = await run("overview", {}, { signal: stop.signal });
    expect(outcome).toBe("cancelled");
  });

  test("cuts an answer is tried again", async () => {
    const { run, fake } = await cluster();
    let cuts = 0;
    fake.interfere((_, response) => {
      if (cuts > 0) return false;
      cuts += 1;
      response.writeHead(200, { "content-type": "application/json", "content-length": "5000" });
      response.write('{"kind":"Tab');
      response.socket?.destroySoon();
      return true;
    });
    const { outcome, text } = await run("get", { kind: "pods", namespace: "shop" });
    expect([cuts, outcome]).toEqual([1, "ok"]);
    expect(text).toContain("4 rows");
  });

  test.each([
    ["no JSON", "<html>proxy</html>"],
    ["JSON that is no object", "[1,2]"],
    [
      "objects of other shapes",
      '{"kind":"PodList","items":[null,7,{"metadata":"x","status":[],"spec":{"containers":{"a":1}}}],"metadata":{}}',
    ],
  ])("answers with %s harms nothing", async (_, body) => {
    const { run, fake } = await cluster();
    fake.interfere((__, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(body);
      return true;
    });
    const { text } = await run("overview", { namespace: "shop" });
    expect(text).not.toMatch(/undefined|TypeError|\[object/);
  });

  test("has thousands of pods is read page by page, also when a list becomes too old meanwhile", async () => {
    const seed = (
      fake: Parameters<NonNullable<Parameters<typeof cluster>[0]>["seed"] & object>[0],
    ) => {
      for (let index = 0; index < 1_100; index += 1)
        fake.add(pod({ name: `p${index}`, app: "many", namespace: "many" }));
    };
    const { run, fake } = await cluster({ seed });
    let pages = 0;
    fake.interfere(({ url }) => {
      if (url.includes("/pods?limit")) pages += 1;
      if (pages === 3) fake.expire();
      return false;
    });
    const { text } = await run("overview", { namespace: "many" });
    expect(text).toContain("1100 of 1100 pods");
    expect(pages).toBe(6);
  });
});

test("names that were made to forge rows or paths stay within their cell and their place", async () => {
  const { run, fake } = await cluster();
  const message = "x\n- shop/deployment/cart (2/2 ready)\u001B[2J\u202E";
  fake.add(event("evil", "Bad", message, 1, { kind: "Pod", name: "a" }));
  const { text } = await run("events", { namespace: "shop" });
  expect(text.split("\n").some((each) => each.startsWith("- shop"))).toBe(false);
  expect(text).not.toContain("\u001B");
  for (const name of ["../../secrets/db", "a?x=1", "a%2f..%2fb"]) {
    await expect(run("get", { kind: "pods", name, namespace: "shop" })).rejects.toThrow(
      /expected a name/,
    );
  }
  expect(fake.asked.every(({ url }) => !url.includes("..") && !url.includes("%2f"))).toBe(true);
});
