import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/entry.ts";
import { fake, pull, SHA, write, freshWorld } from "./world.ts";

freshWorld();

describe("running a workflow again", () => {
  test("shows what is run, runs its failed jobs, reads the attempt back, and is undone by cancelling", async () => {
    const { precheck, preview, run: carryOut, verify, pinned } = await write("rerun", { run: 103 });
    expect(pinned).toMatchObject({ repository: "acme/shop", before: { sha: SHA, attempt: 1 } });
    await precheck();
    expect((await preview())?.lines).toContainEqual({ label: "Jobs", value: "those that failed" });
    expect(await verify()).toMatchObject({ verdict: "not done" });
    expect(fake.writes).toEqual([]);
    const { text, undo } = (await carryOut()) as {
      text: string;
      undo: { tool: string; args: JsonObject };
    };
    expect(text).toMatch(/^Started attempt 2 of run 103 of CI/);
    expect(fake.writes.map(({ path }) => path)).toEqual([
      "repos/acme/shop/actions/runs/103/rerun-failed-jobs",
    ]);
    expect(await verify()).toMatchObject({ verdict: "done", undo });
    await expect(precheck()).rejects.toThrow("attempt was 1 and is 2");
    const back = await write(undo.tool.replace("github_", ""), undo.args);
    await back.precheck();
    await back.run();
    expect(await back.verify()).toMatchObject({ verdict: "done" });
    await expect(back.precheck()).rejects.toThrow("has ended: cancelled");
  });

  test.each([
    [{ run: 101 }, /No job of the run failed/],
    [{ run: 999 }, /There is no run 999/],
  ])("%j is refused before anybody is asked", async (args, why) => {
    await expect(write("rerun", args).then(({ precheck }) => precheck())).rejects.toThrow(why);
  });
});

describe("reverting a pull request", () => {
  test("opens the one that takes it back, reads it back, and is undone by closing that", async () => {
    const { precheck, preview, run: carryOut, verify } = await write("revert", { pull: 12 });
    await precheck();
    expect((await preview())?.lines[1]).toEqual({
      label: "Reverts",
      value: '#12 "Change 12" by ana',
    });
    expect(await verify()).toMatchObject({ verdict: "unknown" });
    const { text, undo } = (await carryOut()) as {
      text: string;
      undo: { tool: string; args: JsonObject };
    };
    expect(text).toBe("Opened #13, which reverts #12: https://github.com/acme/shop/pull/13");
    expect(fake.writes).toMatchObject([{ path: "graphql", json: { variables: { id: "PR_12" } } }]);
    expect(await verify()).toMatchObject({ verdict: "done", undo });
    await expect(precheck()).rejects.toThrow("#13 reverts it already, and is open.");
    const back = await write("set_state", undo.args);
    await back.precheck();
    await back.run();
    expect(fake.repositories["acme/shop"]?.pulls?.[0]).toMatchObject({
      number: 13,
      state: "closed",
    });
    expect(await back.verify()).toMatchObject({ verdict: "done" });
  });

  test("that is not merged, was merged again or may not be taken back is refused", async () => {
    fake.repositories["acme/shop"]?.pulls?.push(pull(20, 1, { state: "open", merged_at: null }));
    await expect((await write("revert", { pull: 20 })).precheck()).rejects.toThrow(
      "#20 is not merged",
    );
    const { precheck, run: carryOut } = await write("revert", { pull: 12 });
    fake.forbidden = /graphql revert/;
    expect(await carryOut()).toMatchObject({
      failed: true,
      gaps: [{ help: expect.stringContaining("Contents: write") }],
    });
    Object.assign(fake.repositories["acme/shop"]?.pulls?.[0] ?? {}, { merge_commit_sha: "other" });
    await expect(precheck()).rejects.toThrow("It has changed since it was shown: sha was");
  });
});

describe("opening an issue", () => {
  const ISSUE = { title: "Checkout is slow", body: "See #12. @acme/sre", labels: ["incident"] };

  test("shows every word and whom it tells, opens it, reads it back, and is undone by closing it", async () => {
    const { precheck, preview, run: carryOut, verify } = await write("open_issue", ISSUE);
    await precheck();
    const card = await preview();
    expect(card?.lines).toContainEqual({ label: "Text", value: ISSUE.body });
    expect(card?.blastRadius).toBe(
      "Whoever sees the repository can read it. GitHub tells @acme/sre.",
    );
    const { text, undo } = (await carryOut()) as {
      text: string;
      undo: { tool: string; args: JsonObject };
    };
    expect(text).toBe("Opened #13: https://github.com/acme/shop/issues/13");
    expect(await verify()).toMatchObject({ verdict: "done", undo });
    await expect(precheck()).rejects.toThrow("#13 with this title is open already.");
    const back = await write("set_state", undo.args);
    const closed = (await back.run()) as { undo: { args: JsonObject } };
    expect(closed.undo.args).toMatchObject({ number: 13, state: "open" });
    // Somebody else has closed it by then.
    await expect(back.precheck()).rejects.toThrow("state was open and is closed");
  });

  test("whose answer is an error of the server's may have happened", async () => {
    fake.failing = 502;
    const { run: carryOut, verify } = await write("open_issue", ISSUE);
    await expect(carryOut()).rejects.toMatchObject({
      code: "ABORTED",
      message: "GitHub answered 502.",
    });
    expect(await verify()).toMatchObject({ verdict: "done" });
  });
});
