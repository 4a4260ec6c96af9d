import { describe, expect, test } from "vitest";
import { cardText, runPrepared, takeBack } from "./calls.ts";
import { cluster, pod } from "./world.ts";

/** Cordoning and draining nodes, on a fake API server. */

const writes = (asked: { method: string; url: string }[]) =>
  asked.filter(({ method, url }) => method !== "GET" && !url.includes("dryRun"));

test("a node is cordoned, and the reverse lets pods on it again", async () => {
  const { run, fake, dispatcher } = await cluster();
  const { preview, undo } = await run("cordon", { node: "n1", action: "cordon" });
  expect(preview?.blastRadius).toBe(
    "4 pods there stay as they are. 0 of 1 node then take new pods.",
  );
  expect(fake.find("nodes", "", "n1")?.["spec"].unschedulable).toBe(true);
  await takeBack(dispatcher, undo);
  expect(fake.find("nodes", "", "n1")?.["spec"].unschedulable).toBeUndefined();
});

describe("draining a node", () => {
  const budget = (allowed: number) => ({
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: "cart", namespace: "shop" },
    spec: { selector: { matchLabels: { app: "cart" } } },
    status: { disruptionsAllowed: allowed },
  });

  test("cordons it, evicts what may go, and leaves pods of daemon sets", async () => {
    const { run, fake } = await cluster();
    fake.add(
      pod({
        name: "agent-x",
        app: "agent",
        owner: { kind: "DaemonSet", name: "agent", uid: "uid-agent" },
      }),
    );
    fake.add(budget(2));
    const { preview, text } = await run("drain", { node: "n1" });
    expect(cardText(preview)).toContain(
      "Evicted: shop/cart-7c8d9-ccccc, shop/cart-7c8d9-ddddd, shop/web-5d4f9-aaaaa, shop/web-5d4f9-bbbbb",
    );
    expect(preview?.blastRadius).toContain("2 of 2 ready pods of ReplicaSet cart-7c8d9 (100 %)");
    expect(preview?.blastRadius).toContain(
      "shop/cart allows 2 disruptions now, 2 pods of it would go",
    );
    expect(text).toMatch(
      /^n1 is cordoned; 4 pods evicted\.\nVerified: n1 is cordoned; 0 pods to evict, 4 ending\./,
    );
    expect(fake.find("pods", "shop", "agent-x")?.["metadata"].deletionTimestamp).toBeUndefined();
    expect(
      fake.asked
        .filter(({ url }) => url.endsWith("/eviction"))
        .map(({ body }) => JSON.parse(body).apiVersion),
    ).toEqual(Array(4).fill("policy/v1"));
  });

  test("speaks the eviction API of an older server", async () => {
    const { run, fake } = await cluster({ old: true });
    const { text } = await run("drain", { node: "n1" });
    expect(text).toContain("4 pods evicted");
    expect(fake.asked.some(({ body }) => body.includes("policy/v1beta1"))).toBe(true);
  });

  test("does not lose data or pods for good unless it was asked to", async () => {
    const { run, fake } = await cluster();
    fake.add(pod({ name: "alone", app: "x" }));
    fake.add(
      pod({
        name: "cache",
        app: "y",
        owner: { kind: "ReplicaSet", name: "y", uid: "y" },
        spec: { volumes: [{ name: "tmp", emptyDir: {} }] },
      }),
    );
    await expect(run("drain", { node: "n1" })).rejects.toThrow(
      "Not without asking for it: shop/alone has no controller (force=true); shop/cache keeps data in tmp (deleteLocalData=true).",
    );
    expect(writes(fake.asked)).toEqual([]);
    const { outcome } = await run("drain", { node: "n1", force: true, deleteLocalData: true });
    expect(outcome).toBe("ok");
  });

  test("that was stopped half-way says so", async () => {
    const { fake, dispatcher } = await cluster();
    fake.add(budget(0));
    const stop = new AbortController();
    const { args } = await dispatcher.prepare("kubernetes_drain", { node: "n1" }, stop.signal);
    fake.interfere(({ url }) => {
      if (url.endsWith("/eviction")) setTimeout(() => stop.abort(), 20);
      return false;
    });
    const { outcome, text } = await runPrepared(dispatcher, "kubernetes_drain", args, stop.signal);
    expect(outcome).toBe("unknown");
    expect(text).toContain("Whether it happened is not known.");
  });
});
