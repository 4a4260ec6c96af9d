import { describe, expect, test } from "vitest";
import { BotError } from "../../src/core/errors.ts";
import { createStage, fakeTool } from "../fakes/stage.ts";
import { until } from "../until.ts";
import {
  ANSWER,
  call,
  expectPaired,
  lastAnswer,
  ofKind,
  rolesIn,
  silent,
  talking,
  wordsIn,
} from "./talking.ts";

describe("a Stop", () => {
  test("while the model is thinking ends the request and the run at once", async () => {
    const stage = await talking([
      async (request, options) => {
        await stage.say("stop", "test:bob");
        return silent(request, options);
      },
    ]);
    await stage.ask("is web well?");
    expect(stage.chat.answers()).toMatchObject([
      { status: "cancelled", text: "Stopped by bob before the first check." },
    ]);
    // Nothing was counted, so no line of zeros stands below.
    expect(stage.chat.answers()[0]).not.toHaveProperty("spent");
    expect(ofKind(await stage.entries(), "assistant")).toEqual([]);
  });

  test("keeps what the model had written, and says that it is not finished", async () => {
    const words = Array.from({ length: 80 }, (_, at) => `finding${at}`).join(" ");
    const stage = await talking([
      { calls: [call("look")] },
      async (request, options) => {
        options.onDelta?.(words);
        // What the read found is on its way to the store; who writes first has the worker begin again, and the draft is gone.
        await until(async () => (await stage.kinds()).includes("tool_finished"));
        await stage.say("stop", "test:bob");
        return silent(request, options);
      },
    ]);
    await stage.ask("is web well?");
    expect(lastAnswer(stage)).toMatch(
      /^Stopped by bob after 1 check\.\n\nSo far, unfinished and not checked:\n\nfinding0 [^]*finding5\d? …$/,
    );
  });

  test("of a command that was cut says who sent it, and what may still be running", async () => {
    const act = fakeTool({
      name: "act",
      effect: "write",
      timeoutMs: 200,
      run: async () => {
        await stage.say("stop", "test:bob");
        throw new BotError("TIMEOUT", "It took too long.");
      },
    });
    const stage = await talking([], { tools: [act] });
    await stage.ask("run act name=web");
    await stage.ask("approve a1", "test:bob");
    const [answer] = stage.chat.answers();
    expect(answer).toMatchObject({ status: "cancelled", results: [{ outcome: "unknown" }] });
    expect(answer?.text).toBe(
      "Stopped by bob after 1 check.\n\nact may still be running: its outcome is unknown.",
    );
  });

  test("cuts a read, gives it a result, and asks the model nothing more", async () => {
    const look = fakeTool({
      name: "look",
      run: async (_input, { signal }) => {
        await stage.say("stop");
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        throw signal.reason;
      },
    });
    const stage = await talking([{ calls: [call("look")] }], { tools: [look] });
    await stage.ask("is web well?");
    expect(ofKind(await stage.entries(), "tool_finished")).toMatchObject([
      { outcome: "cancelled" },
    ]);
    expect(stage.model.requests).toHaveLength(1);
    expect(stage.chat.answers()).toMatchObject([{ status: "cancelled" }]);
  });

  test("waits for a write that runs and says so", async () => {
    const act = fakeTool({
      name: "act",
      effect: "write",
      run: async (_input, { signal }) => {
        await stage.say("stop");
        await expect.poll(async () => (await stage.kinds()).includes("notice")).toBe(true);
        expect(signal.aborted).toBe(false);
        return { text: "restarted" };
      },
    });
    const stage = await talking([{ calls: [call("act")] }], { tools: [act] });
    await stage.ask("fix it");
    await stage.ask("approve a1");
    expect(stage.chat.notices()).toMatchObject([
      { text: expect.stringContaining("waiting for act to finish") },
    ]);
    expect(ofKind(await stage.entries(), "tool_finished")).toMatchObject([{ outcome: "ok" }]);
    expect(stage.chat.answers()).toMatchObject([{ status: "cancelled" }]);
    expect(stage.model.requests).toHaveLength(1);
  });

  test("while a card is open cancels it; a late approval changes nothing", async () => {
    const stage = await talking([{ calls: [call("look"), call("act")] }]);
    await stage.ask("fix it");
    await stage.ask("stop");
    expect(stage.chat.cards()).toMatchObject([{ phase: "cancelled" }]);
    await stage.ask("approve a1");
    expect(stage.act.runs).toEqual([]);
    expect(stage.chat.whispers()).toMatchObject(["ana already withdrew a1."]);
    expect(stage.chat.answers()).toMatchObject([{ status: "cancelled" }]);
  });

  test("that ends a message's wait for a card says so in its answer", async () => {
    const stage = await talking([{ calls: [call("act")] }]);
    await stage.ask("fix it");
    await stage.say("is it safe?", "test:bob");
    await stage.ask("stop");
    const [answer, ...more] = stage.chat.answers();
    expect(more).toEqual([]);
    expect(answer?.text).toBe(
      "Stopped by ana before the first check.\n\nThat covers what was written meanwhile too: write it again if you still need an answer.",
    );
  });

  test("then a message begins a new run that knows of it, with every call's result in place", async () => {
    const stage = await talking([{ calls: [call("look"), call("act")] }, ANSWER]);
    await stage.ask("fix it");
    await stage.say("stop");
    await stage.say("only look, please");
    await stage.settle();
    const [, request] = stage.model.requests;
    expect(rolesIn(request)).toEqual(["user", "assistant", "tool", "user"]);
    expect(wordsIn(request).slice(1)).toEqual([
      expect.stringContaining("ana stopped everything said so far."),
      expect.stringContaining("only look, please"),
    ]);
    expectPaired(request ?? { turns: [] });
    expect(stage.chat.answers()).toMatchObject([{ status: "cancelled" }, { run: "r2" }]);
  });

  test("before the run began ends what waited, and each is told", async () => {
    const stage = await talking([]);
    await stage.say("is web well?");
    await stage.say("stop");
    await stage.settle();
    expect(stage.model.requests).toEqual([]);
    expect(stage.chat.answers()).toMatchObject([
      { status: "cancelled", text: "Stopped by ana before it began." },
    ]);
  });

  test("drops the message that had joined the run, and a message after it is answered", async () => {
    const stage = await talking([
      async (request, options) => {
        await stage.say("also the disk");
        await stage.say("stop");
        await stage.say("hello again");
        return silent(request, options);
      },
      { text: "Hello." },
    ]);
    await stage.ask("is web well?");
    expect(stage.chat.answers()).toMatchObject([{ status: "cancelled" }, { text: "Hello." }]);
    expect(ofKind(await stage.entries(), "run_started").at(-1)).toMatchObject({
      answers: ["msg:4"],
    });
    expect(wordsIn(stage.model.requests[1]).join("\n")).toContain("also the disk");
  });

  test("with nothing running says so, to whoever sent it alone", async () => {
    const stage = await talking([]);
    await stage.ask("stop", "test:bob");
    expect(stage.chat.shown).toMatchObject([
      { kind: "whisper", to: "test:bob", text: "Nothing was running." },
    ]);
  });

  test("just as the model answered: either the answer or the Stop, never both, and nothing is run", async () => {
    const stage = await talking([
      async () => {
        await stage.say("stop");
        return { calls: [call("look")], text: "Looking." };
      },
    ]);
    await stage.ask("is web well?");
    expect(stage.look.runs).toEqual([]);
    expect(stage.chat.answers()).toMatchObject([{ status: "cancelled" }]);
    expect(lastAnswer(stage)).toBe("Stopped by ana before the first check.");
  });
});

test("a shutdown while the model is thinking leaves the run to the next start", async () => {
  const stage = await talking([
    async (request, options) => {
      void stage.worker.stop(1_000);
      return silent(request, options);
    },
    { text: "It is well." },
  ]);
  await stage.ask("is web well?");
  expect(stage.chat.answers()).toEqual([]);
  const next = await createStage({
    model: stage.model,
    journal: stage.journal,
    chat: stage.chat,
    tools: [stage.look, stage.act],
  });
  await next.settle();
  expect(stage.chat.answers()).toMatchObject([{ text: "It is well." }]);
});
