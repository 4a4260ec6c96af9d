import { expect, test } from "vitest";
import { goOn, journalOf } from "./cut.ts";
import { helper, helping, type Parts } from "./helping.ts";
import { expectPaired, lastAnswer, ofKind } from "./talking.ts";

/** A helper's helper wants to act while a second helper looks. */
const PARTS: Parts = {
  main: [
    { calls: [helper("outer task"), helper("side task")] },
    { text: "CONFIRMED: it hung, and is mended [T4]." },
  ],
  "outer task": [{ calls: [helper("inner task")] }, { text: "Mended [T4]." }],
  "inner task": [{ text: "It hangs.", calls: [["act", { name: "web" }]] }, { text: "Mended." }],
  "side task": [{ calls: [["look", { name: "db" }]] }, { text: "All well." }],
};

const END = "CONFIRMED: it hung, and is mended [T4].";

test("a thread with an approval of a helper's helper that is cut after any of its entries comes to the same end: the write once, each report once, one answer", async () => {
  const whole = await helping(PARTS);
  await whole.ask("mend web");
  await whole.ask("approve a1", "test:bob");
  expect(lastAnswer(whole)).toBe(END);
  const entries = await whole.entries();
  const acted = ofKind(entries, "tool_started").find(({ tool }) => tool === "act")?.call ?? "";
  expect(acted).toMatch(/^r4\.t/);

  for (let cut = 1; cut < entries.length; cut += 1) {
    const past = entries.slice(0, cut);
    const stage = await helping(PARTS, { journal: await journalOf(past) });
    await goOn(stage, entries.slice(cut));
    const now = await stage.entries();
    const where = `cut after ${cut}, ${entries[cut - 1]?.id}`;
    const startedBefore = past.some(({ id }) => id === `started:${acted}`);
    const wasCut = startedBefore && !past.some(({ id }) => id === `finished:${acted}`);
    expect(stage.act.runs.length + (startedBefore ? 1 : 0), where).toBe(1);
    const acts = ofKind(now, "action_proposed");
    expect(
      acts.map(({ path }) => path?.length),
      where,
    ).toEqual([4]);
    const finished = ofKind(now, "tool_finished");
    expect(new Set(finished.map(({ call }) => call)).size, where).toBe(finished.length);
    expect(
      finished.filter(({ tool }) => tool === "delegate").map(({ outcome }) => outcome),
      where,
    ).toEqual(["ok", "ok", "ok"]);
    const act = finished.find(({ call }) => call === acts[0]?.call);
    expect(act?.outcome, where).toBe(wasCut ? "unknown" : "ok");
    const ended = ofKind(now, "run_ended");
    expect(
      ended.map(({ status }) => status),
      where,
    ).toEqual(Array(4).fill("completed"));
    expect(ended.at(-1)?.run, where).toBe("r1");
    const answered = ofKind(now, "delivered").filter(({ entry }) => entry.startsWith("ended:"));
    expect(
      answered.map(({ entry }) => entry),
      where,
    ).toEqual(["ended:r1"]);
    for (const request of stage.requests) expectPaired(request);
    await stage.journal.close();
  }
});
