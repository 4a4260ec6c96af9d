import { describe, expect, onTestFinished, test } from "vitest";
import type { Finding } from "../../src/core/finding.ts";
import { createChat } from "../fakes/chat.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import { createStage, fakeTool, type StageOptions } from "../fakes/stage.ts";
import { DEAD, looking, SKILLS } from "./broken-web.ts";

describe("after an approved action", () => {
  const AFTER_MS = 300_000;

  /** A thread that found something broken, in which `act` was then approved and done. */
  async function acted(after: () => readonly Finding[], options: StageOptions = {}) {
    const clock = { now: 1_000_000 };
    const journal = openMemoryJournal({ now: () => clock.now });
    onTestFinished(() => journal.close());
    const state: { found: () => readonly Finding[] } = { found: () => [DEAD] };
    const look = looking(() => state.found());
    const act = fakeTool({
      name: "act",
      effect: "write",
      run: async () => ({ text: "did", undo: { tool: "act", args: { name: "back" } } }),
    });
    const given = {
      tools: [look, act],
      skills: SKILLS,
      approvals: { singleOperator: true },
      verifyAfterMs: AFTER_MS,
      journal,
      ...options,
    };
    const stage = await createStage(given);
    await stage.say("web is down");
    await stage.settle();
    await stage.say("run act name=web");
    await stage.settle();
    await stage.click("a1", { kind: "approve" });
    await stage.settle();
    state.found = after;
    return { ...stage, clock, given, look };
  }

  test.each([
    ["fixed", () => [], "**CONFIRMED: fixed.", "done"],
    ["not fixed", () => [DEAD], "**CONFIRMED: not fixed.", "not done"],
    [
      "not to be told, where it cannot be seen",
      () => {
        throw new Error("no route");
      },
      "**INCONCLUSIVE: I cannot tell whether a1 (act) fixed it.**",
      "unknown",
    ],
  ] as const)("what was broken is looked at again: %s", async (_, after, said, verdict) => {
    const { clock, chat, settle, thread, kinds, look } = await acted(after);
    expect((await thread()).looks.size).toBe(1);
    clock.now += AFTER_MS - 1_000;
    await settle();
    expect(look.runs).toHaveLength(1);
    clock.now += 1_000;
    await settle();
    await settle();
    expect(look.runs).toHaveLength(2);
    const text = chat.answers().at(-1)?.text ?? "";
    expect(text).toContain(said);
    expect(text).toContain("[T2]");
    expect(text.includes("`undo a1`")).toBe(verdict !== "done");
    const { looks, actions, going } = await thread();
    expect([looks.size, going.size, actions.get("a1")?.verified]).toEqual([0, 0, verdict]);
    expect((await kinds()).filter((kind) => kind === "timer")).toHaveLength(1);
  });

  test("nothing is looked at again where it was taken back, or where nothing was broken", async () => {
    const { click, settle, thread } = await acted(() => []);
    await click("a1", { kind: "undo" });
    await settle();
    await click("a2", { kind: "approve" });
    await settle();
    expect((await thread()).looks.size).toBe(0);
  });

  test("another process looks where this one ended meanwhile, once", async () => {
    const { clock, given, look, chat } = await acted(() => []);
    clock.now += AFTER_MS;
    const later = await createStage({ ...given, chat: createChat() });
    await Promise.all([later.settle(), (await createStage({ ...given, chat })).settle()]);
    await later.settle();
    expect(look.runs).toHaveLength(2);
  });
});
