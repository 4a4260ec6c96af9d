import { describe, expect, test } from "vitest";
import { cluster } from "./world.ts";

/** Logs of pods, on a fake API server. */

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
      "There is no container ap. Did you mean app?",
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
