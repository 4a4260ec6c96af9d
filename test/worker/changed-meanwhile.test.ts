import { describe, expect, test } from "vitest";
import { BotError } from "../../src/core/errors.ts";
import { asked } from "../fakes/asked.ts";
import { createStage, fakeTool } from "../fakes/stage.ts";

describe("what changed while an action waited", () => {
  test("voids the approval when its precheck no longer holds, and says why", async () => {
    let holds = true;
    const act = fakeTool({
      name: "act",
      effect: "write",
      precheck: async () => {
        if (!holds) throw new BotError("PRECHECK_FAILED", "the pod is gone");
      },
    });
    const stage = await createStage({ tools: [act] });
    await stage.say("run act name=web");
    await stage.settle();
    holds = false;
    await stage.click("a1", { kind: "approve" });
    await stage.settle();
    expect(act.runs).toEqual([]);
    expect(stage.chat.cards()).toMatchObject([{ phase: "void", ending: "void: the pod is gone" }]);
    expect(stage.chat.answers()).toMatchObject([
      { results: [{ outcome: "blocked", text: "the pod is gone" }] },
    ]);
  });

  test("voids it when policy denies it by now, whoever approved", async () => {
    const { act, chat, click, settle, parts } = await asked();
    parts.policy.rules.push({ match: { tool: ["act"] }, decide: "deny" } as never);
    await click("a1", { kind: "approve" }, "test:bob");
    await settle();
    expect(act.runs).toEqual([]);
    expect(chat.cards()).toMatchObject([
      { phase: "void", ending: expect.stringContaining("Policy denies it") },
    ]);
  });

  test("the tool's schema changed: it is asked anew", async () => {
    const { chat, click, settle, journal } = await asked();
    const { z } = await import("zod");
    const changed = fakeTool({
      name: "act",
      effect: "write",
      input: z.strictObject({ name: z.string().min(1) }),
    });
    const stage = await createStage({ tools: [changed], journal, chat, now: () => 1_000_000 });
    await click("a1", { kind: "approve" }, "test:bob");
    await stage.settle();
    await settle();
    expect(changed.runs).toEqual([]);
    expect(chat.cards()).toMatchObject([
      { action: "a1", phase: "void" },
      { action: "a2", phase: "open" },
    ]);
  });
});
