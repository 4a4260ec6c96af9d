import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { Choice } from "../../src/core/entry.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { card } from "../fakes/dial.ts";
import { createStage, fakeTool, type StageOptions } from "../fakes/stage.ts";

const NAME = "web".padEnd(1_000, "x");

/** Ana asks for what is too long for its card. */
async function asked(options: StageOptions = {}) {
  const act = fakeTool({ name: "act", effect: "write", resource: () => "service web" });
  const stage = await createStage({ tools: [act], ...options });
  const ask = async () => {
    await stage.say(`run act name=${NAME}`);
    await stage.settle();
  };
  await ask();
  let presses = 0;
  /** By a button of the card as it stands. */
  const press = async (choice: Choice, by = "bob", digest = card(stage, "a1")?.digest) => {
    presses += 1;
    await stage.post({
      id: `press:${presses}`,
      kind: "click",
      actor: { account: `test:${by}`, name: by },
      action: "a1",
      revision: card(stage, "a1")?.revision ?? 1,
      choice,
      via: "button",
      digest: digest?.slice(0, 12) ?? "",
    });
    await stage.settle();
  };
  return { ...stage, act, ask, press };
}

describe("an action that is too long for its card", () => {
  test("may be denied without being opened", async () => {
    const stage = await asked();
    await stage.press({ kind: "deny" });
    expect(card(stage, "a1")?.phase).toBe("denied");
  });

  const WAYS: [string, string, object?][] = [
    ["approve", "approve a1"],
    ["the same for half an hour", "grant a1"],
    ["typed words", "confirm a1 service web", { confirm: "typed" }],
    ["break-glass", "break-glass a1 because nobody else is awake", { quorum: 2 }],
  ];
  test.each(WAYS)("is let run by %s only of who has opened it", async (_, words, more = {}) => {
    const rule = { match: { tool: "act" }, decide: "ask" as const, ...more };
    const stage = await asked({ approvals: { rules: [rule] } });
    stage.parts.policy.breakGlass = { who: ["test:bob", "test:cy"] };
    expect(card(stage, "a1")?.mustOpen).toBe(true);
    // Another person's look, one at another card, and Details of an earlier revision are none of Bob's.
    await stage.press({ kind: "open" }, "cy");
    await stage.press({ kind: "open" }, "bob", "f".repeat(12));
    await stage.say(words, "test:bob");
    await stage.settle();
    expect(stage.chat.whispers()).toEqual([expect.stringContaining("too long for its card")]);
    expect(stage.act.runs).toEqual([]);
    await stage.press({ kind: "open" });
    await stage.say(words, "test:bob");
    await stage.settle();
    expect(stage.act.runs).toEqual([NAME]);
  });

  test("is let run by a press only of who has opened it, and once more after an edit", async () => {
    const stage = await asked();
    const grants = { kind: "approve", grants: true } as const;
    await stage.press({ kind: "approve" });
    await stage.press(grants, "bob", card(stage, "a1")?.offer?.digest);
    await stage.press({ kind: "open" });
    await stage.press({ kind: "edit", args: { name: `${NAME}y` } });
    await stage.press({ kind: "approve" });
    expect(stage.act.runs).toEqual([]);
    await stage.press({ kind: "open" });
    await stage.press(grants, "bob", card(stage, "a1")?.offer?.digest);
    expect(stage.act.runs).toEqual([`${NAME}y`]);
  });

  test("runs again by the grant of who has opened the very same", async () => {
    const stage = await asked();
    await stage.press({ kind: "open" });
    await stage.say("grant a1", "test:bob");
    await stage.settle();
    await stage.ask();
    expect(stage.act.runs).toEqual([NAME, NAME]);
  });

  test("waits for people where what the program looked up has become too long since the grant", async () => {
    const world = { text: "short" };
    const set: Tool<{ seen?: string | undefined }> = {
      name: "set",
      description: "Sets it anew.",
      input: z.strictObject({ seen: z.string().optional().meta({ internal: true }) }),
      effect: "write",
      timeoutMs: 5_000,
      pin: async ({ seen = world.text }) => ({ seen }),
      preview: async () => ({ lines: [], blastRadius: "it", undo: "none" }),
      run: async () => ({ text: "set" }),
    };
    const stage = await createStage({ tools: [set] });
    const phases: unknown[] = [];
    for (const action of ["a1", "a2", "a3"]) {
      if (action === "a3") world.text = NAME;
      await stage.say("run set");
      await stage.settle();
      if (action === "a1") await stage.say("grant a1", "test:bob");
      await stage.settle();
      phases.push(card(stage, action)?.phase);
    }
    expect(phases).toEqual(["done", "done", "open"]);
  });
});
