import { expect, test } from "vitest";
import { createGoalWork } from "../../../src/app/goal-work.ts";
import { mostOf } from "../../../src/tools/goals/summarize.ts";
import { createTools } from "../../../src/tools/registry.ts";
import { looksOnce, pursuing } from "../../agent/goal-stage.ts";
import { KEY } from "../../fakes/stage.ts";

test("the tools of goals are there where goals are on, and do nothing for any other run", async () => {
  const names = async (values: object) =>
    (await createTools({ ...values })).map(({ name }) => name);
  expect(await names({})).not.toContain("write_note");
  expect(await names({ "goals.enabled": true })).toEqual(
    expect.arrayContaining(["write_note", "list_completed", "summarize", "append_to_report"]),
  );
  const stage = await pursuing({ plan: () => ({ done: true }), task: looksOnce });
  await stage.ask("hello");
  const work = createGoalWork(stage.journal);
  const other = { key: KEY, call: "r1.t1" } as Parameters<typeof work.check>[0];
  await expect(work.check(other)).rejects.toThrow(/Only a run that does a task of a goal/);
});

test("a task's run is told what is done and how much room the report has", async () => {
  let [completed, room] = ["", { sections: -1, left: -1 }];
  const stage = await pursuing({
    plan: () => ({ tasks: ["look at web", "look at db"] }),
    task: (told, calls) =>
      calls === 1
        ? { calls: [["append_to_report", { heading: "Web", text: "It is well [T1]." }]] }
        : looksOnce(told, calls),
  });
  const work = createGoalWork(stage.journal);
  stage.look.run = async ({ name }: { name: string }) => {
    const asker = { key: KEY, call: name === "web" ? "r2.t1" : "r3.t3" };
    completed = await work.completed(asker as Parameters<typeof work.completed>[0]);
    room = await work.check(asker as Parameters<typeof work.check>[0]);
    return { text: "well" };
  };
  await stage.pursue("look around");
  expect(completed).toMatch(/^Done:\n- look at web: CONFIRMED: seen web/);
  expect(completed).toMatch(/Sections of the report: \n- Web$/);
  expect(room.sections).toBe(1);
  expect(room.left).toBe(256 * 1_024 - "It is well [T1].".length);
});

test("a summary keeps what was asked about, errors and what is rare, once each and in order", () => {
  const noise = Array.from({ length: 3_000 }, (_, i) => `GET /health 200 in ${i} ms`);
  const rare = Array.from({ length: 200 }, (_, i) => `job ${"x".repeat(i)} done`);
  const lines = [...noise, "ERROR pool exhausted after 30 s", ...rare, "checkout waits for db-1"];
  const summary = mostOf(lines.join("\n"), "checkout database");
  expect(summary.length).toBeLessThan(4_300);
  expect(summary).toMatch(/^\d+ lines of \d+ different ones; the whole text has 3,202\./);
  expect(summary).toContain("ERROR pool exhausted after 30 s");
  expect(summary.split("\n").at(-1)).toBe("checkout waits for db-1");
  expect(summary.match(/GET \/health/g) ?? []).toHaveLength(0);
  expect(mostOf(noise.join("\n"), "")).toContain("GET /health 200 in 0 ms (×3000)");
});
