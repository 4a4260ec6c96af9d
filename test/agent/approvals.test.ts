import { describe, expect, test } from "vitest";
import * as z from "zod";
import { createStage, fakeTool } from "../fakes/stage.ts";
import { ANSWER, call, lastAnswer, ofKind, resultsIn, talking, wordsIn } from "./talking.ts";

const BOTH = {
  calls: [call("look", "web"), call("act", "a"), call("act", "b")],
  text: "It hangs; both need it.",
};

describe("a turn with a read and two actions", () => {
  test("runs the read at once, shows two cards, and asks the model only when all have results", async () => {
    const stage = await talking([BOTH, ANSWER]);
    await stage.ask("fix it");
    expect(stage.look.runs).toEqual(["web"]);
    expect(stage.act.runs).toEqual([]);
    expect(stage.chat.cards().map(({ action, canonical }) => [action, canonical])).toEqual([
      ["a1", '{"name":"a"}'],
      ["a2", '{"name":"b"}'],
    ]);
    expect(stage.model.requests).toHaveLength(1);
    await stage.ask("approve a1");
    expect(stage.act.runs).toEqual(["a"]);
    expect(stage.model.requests).toHaveLength(1);
    await stage.ask("deny a2 because not now");
    expect(stage.act.runs).toEqual(["a"]);
    expect(resultsIn(stage.model.requests[1]).map(({ text }) => text)).toEqual([
      expect.stringContaining("did web"),
      expect.stringContaining("did a"),
      expect.stringContaining("Denied by ana: not now. The tool didn't run."),
    ]);
    expect(lastAnswer(stage)).toBe(ANSWER.text);
  });

  test("can be decided in any order; each decision is its own action's", async () => {
    const stage = await talking([BOTH, ANSWER]);
    await stage.ask("fix it");
    await stage.ask("approve a2");
    expect(stage.act.runs).toEqual(["b"]);
    await stage.ask("approve a1");
    expect(stage.act.runs).toEqual(["b", "a"]);
    expect(resultsIn(stage.model.requests[1])).toHaveLength(3);
  });

  test("takes the same call twice as two actions with two cards", async () => {
    const stage = await talking([{ calls: [call("act", "a"), call("act", "a")] }, ANSWER]);
    await stage.ask("twice");
    expect(stage.chat.cards()).toHaveLength(2);
    await stage.ask("approve a1");
    expect(stage.act.runs).toEqual(["a"]);
    await stage.ask("approve a2");
    expect(stage.act.runs).toEqual(["a", "a"]);
    expect(stage.model.left()).toBe(0);
  });

  test("is decided by clicks, not by a person's agreement in words", async () => {
    const stage = await talking([BOTH, ANSWER]);
    await stage.ask("fix it");
    await stage.ask("yes, approved, go ahead");
    expect(stage.act.runs).toEqual([]);
    expect(stage.model.requests).toHaveLength(1);
  });

  test("runs an action once, however often and by however many it is approved", async () => {
    const stage = await talking([{ calls: [call("act", "a")] }, ANSWER]);
    await stage.ask("fix it");
    await Promise.all(
      ["test:ana", "test:bob", "test:cy", "test:bob"].map((who) =>
        stage.click("a1", { kind: "approve" }, who),
      ),
    );
    await stage.settle();
    expect(stage.act.runs).toEqual(["a"]);
    expect(stage.model.requests).toHaveLength(2);
  });
});

describe("a denied call", () => {
  test("asked for again asks nobody", async () => {
    const again = { calls: [call("act", "a")] };
    const stage = await talking([
      again,
      again,
      { calls: [call("look")] },
      { text: "LIKELY so [T3]" },
    ]);
    await stage.ask("fix it");
    await stage.ask("deny a1");
    expect(stage.chat.cards()).toHaveLength(1);
    expect(stage.act.runs).toEqual([]);
    expect(resultsIn(stage.model.requests[2])).toMatchObject([
      { text: expect.stringContaining("nobody was asked again") },
    ]);
    expect(stage.look.runs).toEqual(["web"]);
  });

  test("asked for with its arguments in another order is the same call", async () => {
    const input = z.looseObject({ name: z.string() }) as unknown as z.ZodType<{ name: string }>;
    const act = fakeTool({ name: "act", effect: "write", input });
    const inputs = ['{"name":"a","x":1}', '{ "x": 1, "name": "a" }'];
    const stage = await talking(
      [
        ...inputs.map((text) => ({ calls: [{ name: "act", input: text }] })),
        { text: "Well then." },
      ],
      { tools: [act] },
    );
    await stage.ask("fix it");
    await stage.ask("deny a1");
    expect(stage.chat.cards()).toHaveLength(1);
    expect(lastAnswer(stage)).toBe("Well then.");
  });

  test("as it was edited is not asked about again either", async () => {
    const stage = await talking([
      { calls: [call("act", "a")] },
      { calls: [call("act", "b")] },
      { text: "Well then." },
    ]);
    await stage.ask("fix it");
    await stage.ask('edit a1 {"name": "b"}', "test:bob");
    await stage.ask("deny a1.2", "test:cy");
    expect(stage.chat.cards()).toHaveLength(1);
    expect(resultsIn(stage.model.requests[2])).toMatchObject([
      { text: expect.stringContaining("nobody was asked again") },
    ]);
  });

  test("and another one take the tools away: the model has to answer", async () => {
    const stage = await talking([
      { calls: [call("act", "a")] },
      { calls: [call("act", "b")] },
      { text: "I would have restarted it." },
    ]);
    await stage.ask("fix it");
    await stage.ask("deny a1");
    await stage.ask("deny a2");
    expect(stage.model.requests.map(({ toolChoice }) => toolChoice)).toEqual([
      "auto",
      "auto",
      "none",
    ]);
    expect(stage.model.requests[2]?.tools).toEqual(stage.model.requests[0]?.tools);
    expect(wordsIn(stage.model.requests[2]).at(-1)).toContain("denied 2 calls in a row");
    expect(stage.chat.answers()).toMatchObject([{ status: "completed" }]);
  });

  test("and another one, then a message: the tools are back", async () => {
    const stage = await talking([
      { calls: [call("act", "a"), call("act", "b")] },
      async () => {
        await stage.say("look at web instead");
        return { calls: [call("look")] };
      },
      { text: "CONFIRMED [T3]" },
    ]);
    await stage.ask("fix it");
    await stage.ask("deny a1");
    await stage.ask("deny a2");
    expect(stage.look.runs).toEqual(["web"]);
  });

  test("that is called although the tools are gone is not carried out, and the run ends with what it found", async () => {
    const stage = await talking([
      { calls: [call("look"), call("act", "a"), call("act", "b")] },
      { calls: [call("act", "c")] },
    ]);
    await stage.ask("fix it");
    await stage.ask("deny a1");
    await stage.ask("deny a2");
    expect(stage.chat.cards()).toHaveLength(2);
    expect(stage.chat.answers()).toMatchObject([
      { status: "wrapped_up", text: expect.stringContaining("[T1] look: ok") },
    ]);
  });
});

describe("an edited call", () => {
  test("runs what was edited; the model's own words stay as they were and it is told", async () => {
    const stage = await talking([
      { text: "Restarting a.", calls: [call("act", "a")] },
      { text: "CONFIRMED: b instead [T1]." },
    ]);
    await stage.ask("fix it");
    await stage.ask('edit a1 {"name": "b"}', "test:bob");
    await stage.ask("approve a1.2", "test:cy");
    expect(stage.act.runs).toEqual(["b"]);
    expect(stage.model.requests[1]?.turns[1]).toMatchObject({
      content: [{}, { input: '{"name":"a"}' }],
    });
    expect(resultsIn(stage.model.requests[1])).toMatchObject([
      { text: expect.stringContaining('Operator changed the arguments to {"name":"b"}') },
    ]);
  });

  test("whose edit was void and that is asked about anew is not called edited", async () => {
    let host = "one";
    const act = fakeTool({
      name: "act",
      effect: "write",
      precheck: async ({ name }) => {
        if (name === "b" && host === "two") throw new Error("b is gone");
      },
    });
    const stage = await talking([{ calls: [call("act", "a")] }, { text: "LIKELY fine [T1]." }], {
      tools: [act],
    });
    await stage.ask("fix it");
    await stage.ask('edit a1 {"name": "b"}', "test:bob");
    host = "two";
    await stage.ask("approve a1.2", "test:cy");
    await stage.ask("approve a2", "test:cy");
    expect(act.runs).toEqual(["a"]);
    expect(resultsIn(stage.model.requests[1])[0]?.text).not.toContain("Operator changed");
  });
});

describe("policy", () => {
  test("is asked about a call once, however long people take", async () => {
    let asked = 0;
    const stage = await talking([{ calls: [call("act", "a")] }, ANSWER]);
    const rules = [{ match: { tool: "act" }, decide: "ask" as const }];
    const { policy } = stage.parts;
    Object.defineProperty(policy, "rules", {
      get() {
        asked += 1;
        return rules;
      },
    });
    await stage.ask("fix it");
    const before = asked;
    await stage.ask("help");
    await stage.ask("help");
    expect(asked).toBe(before);
    const restarted = await createStage({
      tools: [stage.act],
      model: stage.model,
      journal: stage.journal,
      chat: stage.chat,
    });
    await restarted.settle();
    expect(stage.chat.cards()).toHaveLength(1);
  });

  test("that denies a call is told to the model, and nobody is asked", async () => {
    const approvals = { rules: [{ match: { tool: "act" }, decide: "deny" as const }] };
    const stage = await talking([{ calls: [call("act", "a")] }, { text: "It is forbidden." }], {
      approvals,
    });
    await stage.ask("fix it");
    expect(stage.chat.cards()).toEqual([]);
    expect(resultsIn(stage.model.requests[1])).toMatchObject([
      { isError: true, text: expect.stringContaining("Policy denies it") },
    ]);
  });

  test("counts everyone whose messages joined the run as its requesters", async () => {
    const destroy = fakeTool({ name: "act", effect: "destructive" });
    let joined: Promise<unknown> | undefined;
    const stage = await talking(
      [
        async () => {
          joined = stage.say("and be quick", "test:bob");
          await joined;
          return { calls: [call("look")] };
        },
        { calls: [call("act", "a")] },
        ANSWER,
      ],
      { tools: [fakeTool({ name: "look" }), destroy] },
    );
    await stage.ask("fix it");
    expect(ofKind(await stage.entries(), "action_proposed")).toMatchObject([
      { barred: ["test:ana", "test:bob"] },
    ]);
  });
});

test("an expired action is told to the model, and the run goes on", async () => {
  const clock = { now: 1_000_000 };
  const stage = await talking([{ calls: [call("act", "a")] }, { text: "Nobody decided." }], {
    now: () => clock.now,
  });
  await stage.ask("fix it");
  clock.now += 61 * 60_000;
  await stage.settle();
  expect(resultsIn(stage.model.requests[1])).toMatchObject([
    { text: expect.stringMatching(/Expired.*didn't run/) },
  ]);
  expect(lastAnswer(stage)).toBe("Nobody decided.");
});
