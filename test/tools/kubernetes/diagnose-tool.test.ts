import { describe, expect, test } from "vitest";
import { cluster, pod, seedShop } from "./world.ts";

/** What the analyzers are given of a cluster, on a fake of its API server. */

describe("a diagnosis", () => {
  test("names the cause first, with the line of the log that says why", async () => {
    const { run, fake } = await cluster();
    fake.log(
      "shop",
      "web-5d4f9-aaaaa",
      "app",
      ["2026-11-23T01:10:00.0Z panic: no route to db"],
      true,
    );
    const { findings, text, outcome } = await run("diagnose", { namespace: "shop" });
    expect(outcome).toBe("ok");
    expect(findings[0]).toMatchObject({
      object: { kind: "Deployment", namespace: "shop", name: "web" },
      severity: "error",
    });
    expect(`${findings[0]?.cause} ${findings[0]?.evidence}`).toMatch(
      /CrashLoopBackOff.*no route to db/,
    );
    expect(text).toContain("Deployment web 0/2 ready");
  });

  test("of one workload is about that one", async () => {
    const { run } = await cluster();
    const { findings } = await run("diagnose", { namespace: "shop", workload: "cart" });
    expect(findings.filter(({ severity }) => severity === "error")).toEqual([]);
  });

  test("of a namespace or a workload that is not there names what was meant", async () => {
    const { run } = await cluster();
    const [place, workload] = await Promise.all([
      run("diagnose", { namespace: "shp" }),
      run("diagnose", { namespace: "shop", workload: "wbe" }),
    ]);
    expect(place.text).toBe("There is no Namespace shp. Did you mean shop?");
    expect(workload.text).toMatch(/Did you mean deployment\/web\?$/);
  });

  test("without a namespace names those that there are, where the kubeconfig's context has none", async () => {
    const { run } = await cluster();
    const { text, outcome } = await run("diagnose", {});
    expect([outcome, text]).toEqual([
      "error",
      expect.stringMatching(/^Which namespace\? .*There are .*shop/),
    ]);
  });

  test("says which lists it could not see, and what each would have told", async () => {
    const { run } = await cluster({
      may: ({ kind }) => !["secrets", "nodes"].includes(kind.plural),
    });
    const { findings, gaps } = await run("diagnose", { namespace: "shop" });
    expect(findings[0]?.object.name).toBe("web");
    expect(gaps.map(({ what, why }) => `${what}: ${why}`).join("\n")).toMatch(/secrets.*forbidden/);
    expect(gaps.map(({ what }) => what).join("\n")).toMatch(/nodes/);
  });

  test("asks for each list once", async () => {
    const { run, fake } = await cluster();
    fake.add({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "c", namespace: "shop" },
      data: { key: "a value" },
    });
    await run("diagnose", { namespace: "shop" });
    const lists = fake.asked.filter(({ url }) => url.includes("?limit="));
    expect(new Set(lists.map(({ url }) => url)).size).toBe(lists.length);
  });

  test("of thousands of pods is short", async () => {
    const { run } = await cluster({
      seed(fake) {
        seedShop(fake);
        for (let index = 0; index < 1_500; index += 1)
          fake.add(pod({ name: `many-${index}`, app: "many" }));
      },
    });
    const { text } = await run("diagnose", { namespace: "shop" });
    expect(text).toContain("1504 pods");
    expect(text.length).toBeLessThan(8_000);
  });

  test("that is stopped ends", async () => {
    const { run, fake } = await cluster();
    const stop = new AbortController();
    fake.interfere(({ url }) => {
      if (url.includes("/pods?limit")) stop.abort();
      return false;
    });
    expect((await run("diagnose", { namespace: "shop" }, { signal: stop.signal })).outcome).toBe(
      "cancelled",
    );
  });
});
