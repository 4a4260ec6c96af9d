import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/entry.ts";
import { createStage, idIn } from "./stage.ts";

describe("a message that somebody pins", () => {
  /** What bob wrote in the thread, as it stands. */
  async function pinning() {
    const stage = await createStage();
    const { dispatcher, signal, clock, asker } = stage;
    const bob = { message: "msg:1.5", name: "Bob", account: "test:bob", at: clock.now - 60_000 };
    const link = "https://chat.example/C1/p15";
    let words: string | undefined = "rolled back [secret:DB_PASSWORD]\nand *done*";
    const said = async (post: string) =>
      // On another platform the same message is shown as another one.
      ["msg:1.5", "msg:777"].includes(post) ? { ...bob, text: words, link } : undefined;
    const id = idIn(await stage.say("incident open Checkout fails"));
    const call = async (args: JsonObject, account = "test:ana") => {
      const prepared = await dispatcher.prepare("incident_update", { id, ...args }, signal, {
        said,
      });
      const from = asker({ account, said });
      const nowhere = () => Promise.reject(new Error("no such thing on this stage"));
      const asked = { signal, startedAt: clock.now, keep: nowhere, artifact: nowhere };
      return {
        preview: await dispatcher.preview(prepared, signal),
        prepared,
        run: async () =>
          dispatcher.run("incident_update", prepared.args, { ...asked, asker: from }),
      };
    };
    const change = (text: string | undefined) => {
      words = text;
    };
    return { ...stage, id, call, change };
  }

  test("is shown to whoever approves it, and recorded as it was shown, with when it was said", async () => {
    const { id, call, say } = await pinning();
    const { preview, prepared, run } = await call({ pin: "msg:777" });
    expect(preview.lines).toEqual([
      { label: "id", value: id },
      { label: "Message of Bob", value: "rolled back (secret:DB_PASSWORD) and *done*" },
      { label: "Said", value: expect.stringContaining("11:59") },
      { label: "Link", value: "https://chat.example/C1/p15" },
    ]);
    expect(preview.filled).toEqual(["quote"]);
    expect(prepared.args).toMatchObject({ quote: { message: "msg:1.5" } });
    expect(await run()).toMatchObject({ outcome: "ok" });
    const got = await say(`incident ${id}`);
    expect(got).toMatch(/12:59 +Ana +pinned Bob: "rolled back .*";\s+https:\/\/chat/);
    expect(await say("incidents search rolled")).toContain(id);
  });

  test("is quoted once, and goes when who pinned it says so, in whichever place", async () => {
    const { id, call, ledger } = await pinning();
    const pins = async () => (await ledger.get(id, { audience: undefined, tenants: "all" })).pins;
    const second = await call({ pin: "msg:1.5" }, "test:bob");
    await (await call({ pin: "msg:777" })).run();
    expect(await second.run()).toMatchObject({ outcome: "ok" });
    expect(await pins()).toHaveLength(1);
    expect(await (await call({ unpin: "msg:1.5" }, "test:bob")).run()).toMatchObject({
      outcome: "ok",
    });
    expect(await pins()).toHaveLength(1);
    await (await call({ unpin: "msg:1.5" })).run();
    expect(await pins()).toEqual([]);
    expect(await (await call({ unpin: "msg:1.5" })).run()).toMatchObject({ outcome: "ok" });
  });

  test("says that it is not what was pinned any more, once its author has changed it", async () => {
    const { id, call, ledger, clock } = await pinning();
    await (await call({ pin: "msg:1.5" })).run();
    const follow = async (text: string | undefined, n: number) => {
      const by = { call: `edit${n}`, at: clock.now };
      await ledger.follow("test:thread", { message: "msg:1.5", text, incidents: [id] }, by);
      const { pins } = await ledger.get(id, { audience: undefined, tenants: "all" });
      return pins.map((pin) => pin.text);
    };
    const first = "rolled back [secret:DB_PASSWORD]\nand *done*";
    expect(await follow(first, 1)).toEqual(["rolled back (secret:DB_PASSWORD) and *done*"]);
    expect(await follow("never rolled back", 2)).toEqual(["(edited) never rolled back"]);
    expect(await follow("never rolled back", 3)).toEqual(["(edited) never rolled back"]);
    expect(await follow(undefined, 4)).toEqual(["(removed)"]);
  });

  test("that was changed or taken away before it was approved is not recorded", async () => {
    const { id, call, change, ledger } = await pinning();
    for (const now of ["not rolled back", undefined]) {
      change("rolled back");
      const { run } = await call({ pin: "msg:1.5" });
      change(now);
      expect((await run()).text).toContain("The message was changed meanwhile. Pin it once more.");
    }
    await expect(call({ pin: "msg:1.5" })).rejects.toThrow("I haven't read it");
    await expect(call({ pin: "msg:9.9" })).rejects.toThrow("I haven't read it");
    const { pins } = await ledger.get(id, { audience: undefined, tenants: "all" });
    expect(pins).toEqual([]);
  });
});
