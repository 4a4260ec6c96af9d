import { describe, expect, test } from "vitest";
import { cardText, takeBack } from "./calls.ts";
import { cluster, pod, seedShop } from "./world.ts";

/** Changing a cluster: what a card shows, that it happens to what was shown, reading back, taking back. */

const WEB = { workload: "web", namespace: "shop" };
const writes = (asked: { method: string; url: string }[]) =>
  asked.filter(({ method, url }) => method !== "GET" && !url.includes("dryRun"));

describe("scaling", () => {
  test("shows the server's own dry run and the share of capacity, happens, is read back, and can be taken back once", async () => {
    const { run, fake, dispatcher } = await cluster();
    const { preview, text, prepared, undo } = await run("scale", { ...WEB, replicas: 5 });
    expect(cardText(preview)).toContain("Change: spec.replicas: 2 → 5");
    expect(cardText(preview)).toContain("3 pods more: 250 % of what it has.");
    expect(cardText(preview)).toContain("Scales back to 2.");
    expect(text).toBe(
      "deployment/web: spec.replicas: 2 → 5\nVerified: shop/deployment/web wants 5 replicas, 0 ready.",
    );
    expect(prepared.args).toMatchObject({
      workload: "deployment/web",
      before: { uid: "uid-web", values: { replicas: 2 } },
    });
    expect(writes(fake.asked)).toHaveLength(1);

    await takeBack(dispatcher, undo);
    expect(undo).toMatchObject({
      tool: "kubernetes_scale",
      args: { replicas: 2, before: { values: { replicas: 5 } } },
    });
    expect(fake.find("deployments", "shop", "web")?.["spec"].replicas).toBe(2);
    await expect(takeBack(dispatcher, undo)).rejects.toThrow(
      /has changed since it was shown: replicas: 5 → 2/,
    );
  });

  test("to nothing says that nothing is left to answer, and that an autoscaler may set it back", async () => {
    const { run, fake } = await cluster();
    fake.add({
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "web", namespace: "shop" },
      spec: { scaleTargetRef: { kind: "Deployment", name: "web" }, minReplicas: 2, maxReplicas: 9 },
    });
    const { preview } = await run("scale", { ...WEB, replicas: 0 });
    expect(preview?.blastRadius).toBe(
      "2 pods of 2 (100 % of its capacity) end. 0 are ready now. Nothing is left to answer for deployment/web. Autoscaler web sets it itself (2 to 9) and may set it back.",
    );
  });

  test.each([
    ["as many as there are", { replicas: 2 }, /has 2 replicas already/],
    [
      "what is not there",
      { workload: "wbe", replicas: 3 },
      /There is no workload wbe in namespace shop\. Did you mean deployment\/web\?/,
    ],
    [
      "what cannot be scaled",
      { workload: "daemonset/x", replicas: 3 },
      /daemonset is not one of deployment/,
    ],
  ])("%s is refused before anybody is asked", async (_, args, why) => {
    const { run, fake } = await cluster();
    await expect(run("scale", { ...WEB, ...args })).rejects.toThrow(why);
    expect(writes(fake.asked)).toEqual([]);
  });

  test("of an object that was made anew meanwhile is refused", async () => {
    const { fake, dispatcher } = await cluster();
    const signal = new AbortController().signal;
    const prepared = await dispatcher.prepare("kubernetes_scale", { ...WEB, replicas: 3 }, signal);
    const web = fake.find("deployments", "shop", "web");
    fake.add({
      ...web,
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { ...web?.["metadata"], uid: "uid-another" },
    });
    const stale = await dispatcher.revalidate(
      "kubernetes_scale",
      prepared.args,
      prepared.digest,
      signal,
    );
    expect(stale).toBe(
      "deployment/web in shop is another one by now: the one that was shown is gone.",
    );
  });

  test("without the right is refused with the right that it needs", async () => {
    const { run } = await cluster({ may: ({ verb }) => verb !== "patch" });
    await expect(run("scale", { ...WEB, replicas: 3 })).rejects.toThrow(
      /cannot patch resource "deployments\/scale".*Allow patch on deployments\.apps\/scale\./,
    );
  });

  test("that the server is in trouble with counts as not known", async () => {
    const { run, fake } = await cluster();
    fake.interfere(({ method, url }, response) => {
      if (method !== "PATCH" || url.includes("dryRun")) return false;
      response
        .writeHead(504, { "content-type": "application/json" })
        .end('{"kind":"Status","message":"etcdserver: request timed out"}');
      return true;
    });
    const { outcome, text } = await run("scale", { ...WEB, replicas: 3 });
    expect(outcome).toBe("unknown");
    expect(text).toContain("Whether it happened is not known.");
  });
});

test("a restart replaces the pods by the strategy, and is known by its time", async () => {
  const { run, fake } = await cluster();
  const { preview, text } = await run("restart", WEB);
  expect(preview?.blastRadius).toBe(
    "2 pods of deployment/web (0 ready) are replaced step by step: at most 25% away and 25% more at a time.",
  );
  expect(text).toMatch(/Verified: Restarted \d{4}-/);
  const annotations = fake.find("deployments", "shop", "web")?.["spec"].template.metadata
    .annotations;
  expect(Object.keys(annotations)).toEqual(["kubectl.kubernetes.io/restartedAt"]);
});

test("a paused workload is not restarted", async () => {
  const { run, fake } = await cluster();
  const web = fake.find("deployments", "shop", "web");
  fake.add({
    ...web,
    apiVersion: "apps/v1",
    kind: "Deployment",
    spec: { ...web?.["spec"], paused: true },
  });
  await expect(run("restart", WEB)).rejects.toThrow(/is paused/);
});

describe("going back to an earlier revision", () => {
  test("shows its images and the difference, and does it", async () => {
    const { run, fake } = await cluster();
    const { preview, text, prepared } = await run("undo_rollout", WEB);
    expect(cardText(preview)).toContain("Back to: revision 1: registry.example.com/web:1.0");
    expect(cardText(preview)).toContain(
      "Change: spec.template.spec.containers[app].image: registry.example.com/web:1.1 → registry.example.com/web:1.0",
    );
    expect(prepared.args).toMatchObject({ revision: 1, before: { values: { revision: 2 } } });
    expect(text).toContain("Verified");
    expect(
      fake.find("deployments", "shop", "web")?.["spec"].template.spec.containers[0].image,
    ).toBe("registry.example.com/web:1.0");
  });

  test("that is not kept names those that are", async () => {
    const { run } = await cluster();
    await expect(run("undo_rollout", { ...WEB, revision: 9 })).rejects.toThrow(
      /has no revision 9; there are 2, 1\./,
    );
    await expect(run("undo_rollout", { workload: "cart", namespace: "shop" })).rejects.toThrow(
      /no revision before this one; there are 1\./,
    );
  });
});

describe("setting an image", () => {
  test("is shown, done, and taken back with the image from before", async () => {
    const { run, fake, dispatcher } = await cluster();
    const image = "registry.example.com/web:1.2";
    const { text, undo } = await run("set_image", { ...WEB, image });
    expect(text).toContain("Verified: Its image is registry.example.com/web:1.2.");
    await takeBack(dispatcher, undo);
    expect(fake.find("deployments", "shop", "web")?.["spec"].template.spec.containers).toEqual([
      { name: "app", image: "registry.example.com/web:1.1" },
    ]);
  });

  test("of a container that is not there, or to what no image is called, is refused", async () => {
    const { run } = await cluster();
    await expect(run("set_image", { ...WEB, container: "ap", image: "x:1" })).rejects.toThrow(
      /Did you mean app/,
    );
    await expect(run("set_image", { ...WEB, image: "-x y" })).rejects.toThrow(/expected an image/);
  });
});

describe("deleting a pod", () => {
  test("tells its share of the ready pods, and deletes that very pod", async () => {
    const { run, fake } = await cluster();
    const { preview, text } = await run("delete_pod", {
      pod: "cart-7c8d9-ccccc",
      namespace: "shop",
    });
    expect(preview?.blastRadius).toBe("1 of 2 ready pods of ReplicaSet cart-7c8d9 (50 %).");
    expect(cardText(preview)).toContain("Replaced by: replicaset/cart-7c8d9");
    expect(text).toMatch(/Verified: cart-7c8d9-ccccc ends/);
    const sent = writes(fake.asked).at(-1);
    expect(
      JSON.parse(fake.asked.findLast(({ method }) => method === "DELETE")?.body ?? ""),
    ).toMatchObject({ preconditions: { uid: expect.any(String) } });
    expect(sent).toMatchObject({
      method: "DELETE",
      url: "/api/v1/namespaces/shop/pods/cart-7c8d9-ccccc",
    });
  });

  test("that nothing replaces is refused", async () => {
    const { run, fake } = await cluster();
    fake.add(pod({ name: "alone", app: "x" }));
    await expect(run("delete_pod", { pod: "alone", namespace: "shop" })).rejects.toThrow(
      /no controller that would replace it/,
    );
    expect(fake.find("pods", "shop", "alone")?.["metadata"].deletionTimestamp).toBeUndefined();
  });
});

describe("a patch", () => {
  test("is shown as what the server would make of it, and its exact reverse is kept", async () => {
    const { run, fake, dispatcher } = await cluster();
    const patch = {
      metadata: { labels: { tier: "front" } },
      spec: { replicas: 4, selector: null },
    };
    const before = structuredClone(fake.find("deployments", "shop", "web"));
    const { preview, text, undo } = await run("patch", {
      kind: "deploy",
      name: "web",
      namespace: "shop",
      patch,
    });
    expect(cardText(preview)).toContain('Change: metadata.labels: (none) → {"tier":"front"}');
    expect(cardText(preview)).toContain("Change: spec.replicas: 2 → 4");
    expect(text).toContain("Verified: deployment/web is as the patch says.");
    await takeBack(dispatcher, undo);
    const after = fake.find("deployments", "shop", "web");
    expect(after?.["spec"]).toEqual(before?.["spec"]);
    expect(after?.["metadata"].labels).toEqual(before?.["metadata"].labels);
  });

  test("whose reverse comes too late is refused with what the object has by now", async () => {
    const { run, dispatcher } = await cluster();
    const target = { kind: "deploy", name: "web", namespace: "shop" };
    const { undo } = await run("patch", { ...target, patch: { spec: { replicas: 4 } } });
    await run("patch", { ...target, patch: { spec: { replicas: 7 } } });
    await expect(takeBack(dispatcher, undo)).rejects.toThrow(
      /deployment\/web in shop has changed since it was shown: spec\.replicas: 4 → 7\.$/,
    );
  });

  test.each([
    [
      "of its name",
      { metadata: { name: "x" } },
      /Of metadata only labels, annotations and finalizers/,
    ],
    ["of its status", { status: { replicas: 1 } }, /no kind, apiVersion or status/],
    ["that changes nothing", { spec: { replicas: 2 } }, /is like that already/],
    ["that the server refuses", { spec: { replicas: -1 } }, /must be greater than or equal to 0/],
  ])("%s is refused", async (_, patch, why) => {
    const { run } = await cluster();
    await expect(
      run("patch", { kind: "deploy", name: "web", namespace: "shop", patch }),
    ).rejects.toThrow(why);
  });

  test("of rights counts as destructive, of a workload as a write", async () => {
    const { dispatcher } = await cluster();
    const effect = (kind: string) =>
      dispatcher.effectOf("kubernetes_patch", { kind, name: "x", patch: {}, type: "merge" });
    expect(["deploy", "cm", "clusterrole", "rolebindings", "nodes", "widgets"].map(effect)).toEqual(
      ["write", "write", "destructive", "destructive", "destructive", "destructive"],
    );
  });
});

describe("a deletion for good", () => {
  test("tells what goes with it, and that there is no way back", async () => {
    const { run, fake } = await cluster();
    const { preview, text } = await run("delete", {
      kind: "deploy",
      name: "cart",
      namespace: "shop",
    });
    expect(preview?.blastRadius).toBe(
      "2 pods end with it: 2 of 2 ready pods of ReplicaSet cart-7c8d9 (100 %).",
    );
    expect(preview?.undo).toMatch(/Can't be undone/);
    expect(text).toContain("Verified: deploy cart is gone.");
    expect(fake.find("deployments", "shop", "cart")).toBeUndefined();
  });

  test("of a namespace counts what is in it, and the cluster's own are never deleted", async () => {
    const { run, fake } = await cluster();
    fake.add({ apiVersion: "v1", kind: "Namespace", metadata: { name: "kube-system" } });
    const { preview } = await run("delete", { kind: "ns", name: "shop" });
    expect(preview?.blastRadius).toBe(
      "Everything in namespace shop goes: 4 pods, 2 deployments, 1 services, 1 secrets.",
    );
    await expect(run("delete", { kind: "ns", name: "kube-system" })).rejects.toThrow(
      /The cluster needs namespace kube-system/,
    );
  });

  test("that finalizers hold up is not said to be done", async () => {
    const { run, fake } = await cluster();
    const cart = fake.find("services", "shop", "cart");
    fake.add({
      ...cart,
      apiVersion: "v1",
      kind: "Service",
      metadata: { ...cart?.["metadata"], finalizers: ["example.com/hold"] },
    });
    const { text } = await run("delete", { kind: "svc", name: "cart", namespace: "shop" });
    expect(text).toContain("NOT verified: cart is being deleted; it waits for example.com/hold.");
    await expect(run("delete", { kind: "svc", name: "cart", namespace: "shop" })).rejects.toThrow(
      /is being deleted already/,
    );
  });
});

test("every change is tried as a dry run before it is shown, and the dry run changes nothing", async () => {
  const calls: [string, Record<string, unknown>][] = [
    ["scale", { ...WEB, replicas: 7 }],
    ["restart", WEB],
    ["undo_rollout", WEB],
    ["set_image", { ...WEB, image: "x:2" }],
    ["cordon", { node: "n1", action: "cordon" }],
    [
      "patch",
      { kind: "deploy", name: "web", namespace: "shop", patch: { spec: { paused: true } } },
    ],
    ["delete_pod", { pod: "cart-7c8d9-ccccc", namespace: "shop" }],
    ["delete", { kind: "svc", name: "cart", namespace: "shop" }],
    ["drain", { node: "n1" }],
  ];
  const { fake, dispatcher } = await cluster({ seed: seedShop });
  const state = () =>
    JSON.stringify(
      ["web", "cart"].map((name) => [
        fake.find("deployments", "shop", name),
        fake.find("services", "shop", name),
      ]),
    );
  const before = state();
  for (const [tool, args] of calls) {
    fake.asked.length = 0;
    const signal = new AbortController().signal;
    const prepared = await dispatcher.prepare(`kubernetes_${tool}`, args as never, signal);
    await dispatcher.preview(prepared, signal);
    const sent = fake.asked.filter(({ method }) => method !== "GET");
    expect(sent.length, tool).toBeGreaterThan(0);
    for (const { url, body, method } of sent)
      expect(`${url} ${method === "DELETE" ? body : ""}`, tool).toMatch(/dryRun.*All/);
  }
  expect(state()).toBe(before);
});
