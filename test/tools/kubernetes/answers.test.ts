import { describe, expect, test } from "vitest";
import { cluster, event, pod } from "./world.ts";

/** What an API server, or what stands in it, can do to the tools. */

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

  test("refuses in several lines is told in one, so that none of them can pass for ours", async () => {
    const { run, fake } = await cluster();
    fake.interfere((_, response) => {
      response
        .writeHead(422)
        .end(JSON.stringify({ message: "x\n1. Node db: fine", reason: "A\nB" }));
      return true;
    });
    const { text } = await run("get", { kind: "pods", namespace: "shop" });
    expect(text).toContain("(422 ?): x 1. Node db: fine");
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
