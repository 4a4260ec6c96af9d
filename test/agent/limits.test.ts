import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Saying } from "../fakes/scripted-model.ts";
import { fakeTool } from "../fakes/stage.ts";
import { ANSWER, call, lastAnswer, ofKind, talking, wordsIn } from "./talking.ts";

const letters = "abcdefghijklmnopqrstuvwxyz";
/** Looks at something new each time, and for ever. */
const curious: Saying = ({ turns }) => ({
  calls: [call("look", letters[turns.length / 2 - 0.5] ?? "z")],
});
/** Does as told when the tools are gone. */
const obedient: Saying = (request, options) => {
  if (request.toolChoice === "none") return ANSWER;
  return typeof curious === "function" ? curious(request, options) : curious;
};
const TERMS = { steps: 30, tokens: 400_000, minutes: 15 };
const many = (saying: Saying) => Array.from({ length: 12 }, () => saying);

describe("a run", () => {
  test.each([2, 3, 5])(
    "of at most %i steps answers in the last one, without tools",
    async (steps) => {
      const stage = await talking(many(obedient), { talk: { budget: { ...TERMS, steps } } });
      await stage.ask("look around");
      expect(stage.model.requests).toHaveLength(steps);
      expect(stage.model.requests.map(({ toolChoice }) => toolChoice)).toEqual([
        ...Array.from({ length: steps - 1 }, () => "auto"),
        "none",
      ]);
      expect(stage.chat.answers()).toMatchObject([
        { status: "wrapped_up", text: expect.stringMatching(/CONFIRMED[^]*steps[^]*"continue"/) },
      ]);
    },
  );

  test("of one step has no tools at all", async () => {
    const stage = await talking(many(obedient), { talk: { budget: { ...TERMS, steps: 1 } } });
    await stage.ask("look around");
    expect(stage.model.requests.length).toBeLessThanOrEqual(1);
    expect(stage.chat.answers()).toHaveLength(1);
  });

  test("that calls tools in its last step all the same ends with what was found", async () => {
    const stage = await talking(many(curious), { talk: { budget: { ...TERMS, steps: 3 } } });
    await stage.ask("look around");
    expect(stage.model.requests).toHaveLength(3);
    expect(stage.look.runs).toHaveLength(2);
    expect(stage.chat.answers()).toMatchObject([
      {
        status: "wrapped_up",
        text: expect.stringMatching(/\[T1\] look: ok[^]*\[T3\] look: blocked/),
      },
    ]);
  });

  test("that has nearly used up its tokens has to answer", async () => {
    const line: Saying = async (request, options) => {
      const said = typeof obedient === "function" ? await obedient(request, options) : obedient;
      return { ...said, usage: { input: 500 } };
    };
    const stage = await talking(many(line), { talk: { budget: { ...TERMS, tokens: 1_000 } } });
    await stage.ask("look around");
    // A second request with tools would leave nothing for the answer.
    expect(stage.model.requests).toHaveLength(2);
    expect(stage.chat.answers()).toMatchObject([
      { status: "wrapped_up", text: expect.stringContaining("1000 tokens") },
    ]);
  });

  test("that has worked for its minutes has to answer; the time that people took does not count", async () => {
    const clock = { now: 1_000_000 };
    const stage = await talking(
      [{ calls: [call("act", "a")] }, { calls: [call("look")] }, { text: "CONFIRMED [T2]" }],
      {
        now: () => clock.now,
        talk: { budget: { ...TERMS, minutes: 1 } },
      },
    );
    await stage.ask("fix it");
    clock.now += 30 * 60_000;
    await stage.ask("approve a1");
    expect(stage.chat.answers()).toMatchObject([{ status: "completed" }]);
    const slow = fakeTool({
      name: "look",
      run: async ({ name }) => {
        await setTimeout(20);
        return { text: `did ${name}` };
      },
    });
    const quick = await talking(many(obedient), {
      tools: [slow],
      talk: { budget: { ...TERMS, minutes: 0.001 } },
    });
    await quick.ask("look around");
    expect(quick.chat.answers()).toMatchObject([
      { status: "wrapped_up", text: expect.stringContaining("minutes of work") },
    ]);
  });

  test("that reached a limit goes on when told to, with all that it found before", async () => {
    const stage = await talking(
      [{ calls: [call("look")] }, ANSWER, { calls: [call("look", "db")] }, ANSWER],
      { talk: { budget: { ...TERMS, steps: 2 } } },
    );
    await stage.ask("look around");
    await stage.ask("continue");
    expect(stage.look.runs).toEqual(["web", "db"]);
    expect(JSON.stringify(stage.model.requests[2])).toContain("did web");
    expect(stage.model.requests[2]?.toolChoice).toBe("auto");
  });

  test("at its limit is not prolonged by messages: what comes late is the next run's", async () => {
    let said = 0;
    const chatty: Saying = async (request, options) => {
      if (said++ < 6) await stage.say(`and ${letters[said]}?`);
      return typeof curious === "function" ? curious(request, options) : curious;
    };
    const stage = await talking(many(chatty), { talk: { budget: { ...TERMS, steps: 3 } } });
    await stage.ask("look around");
    const steps = ofKind(await stage.entries(), "assistant").map(
      ({ run, step }) => `${run}.${step}`,
    );
    expect(steps.every((step) => /\.[123]$/.test(step))).toBe(true);
    expect((await stage.thread()).pending.size).toBe(0);
  });
});

describe("the day's tokens", () => {
  test("are never passed: the run that finds too few left ends and says so", async () => {
    const line = { calls: [call("look")], usage: { input: 3_000 } };
    const stage = await talking([line, ANSWER, line, line], {
      talk: { tokensPerDay: 10_000, maxOutputTokens: 1_000 },
    });
    await stage.ask("look");
    await stage.ask("look again");
    expect(stage.chat.answers().at(-1)).toMatchObject({
      status: "failed",
      text: expect.stringMatching(/day's budget of 10000 tokens.*00:00 UTC/),
    });
    const used = (await stage.thread()).counts.usage;
    expect(used.input + used.output).toBeLessThanOrEqual(10_000);
    await stage.ask("run look name=web");
    expect(stage.look.runs).toHaveLength(3);
  });

  test("begin anew with the next day", async () => {
    const clock = { now: Date.UTC(2026, 0, 1, 23, 59) };
    const line = { text: "Fine.", usage: { input: 9_000 } };
    const stage = await talking([line, line], {
      now: () => clock.now,
      talk: { tokensPerDay: 10_000 },
    });
    await stage.ask("one");
    await stage.ask("two");
    expect(stage.chat.answers().at(-1)?.status).toBe("failed");
    clock.now += 120_000;
    await stage.ask("three");
    expect(lastAnswer(stage)).toBe("Fine.");
  });

  test("are used by requests that were stopped, too", async () => {
    const stop: Saying = async (_request, { signal }) => {
      await stage.say("stop");
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      return {};
    };
    const stage = await talking(
      Array.from({ length: 50 }, () => stop),
      { talk: { tokensPerDay: 20_000 } },
    );
    for (let i = 0; i < 25; i += 1) await stage.ask("look");
    expect(stage.model.requests.length).toBeLessThan(20);
    expect(lastAnswer(stage)).toContain("day's budget");
  });

  test("are given back by requests that failed at once", async () => {
    const fail: Saying = () => {
      throw new Error("no network");
    };
    const stage = await talking([fail, fail, fail, { text: "Fine." }], {
      talk: { tokensPerDay: 3_000 },
    });
    for (const text of ["a", "b", "c", "d"]) await stage.ask(`${text}?`);
    expect(lastAnswer(stage)).toBe("Fine.");
  });

  test("are counted with what a first request holds, so that many at once do not pass them", async () => {
    const stage = await talking([{ text: "Fine." }], {
      talk: { tokensPerDay: 4_000, maxOutputTokens: 100 },
    });
    await stage.ask(`look at this: ${"long ".repeat(3_000)}`);
    expect(stage.model.requests).toEqual([]);
    expect(lastAnswer(stage)).toContain("day's budget");
  });
});

describe("a model that goes in circles", () => {
  const same = { calls: [call("look")] };
  const turns = (...targets: string[]) =>
    targets.map((target) => ({ calls: [call("look", target)] }));
  const tick = () => {
    let count = 0;
    return fakeTool({
      name: "look",
      run: async () => ({ text: `seen at 12:00:0${count++} id 4f6d7e8a9b` }),
    });
  };
  const numbered = () => {
    let count = 0;
    return fakeTool({
      name: "look",
      run: async ({ name }) => ({ text: `${name}: ${letters[count++]}` }),
    });
  };

  test.each([
    ["the same call three times", numbered(), [same, same, same], "same call of look 3 times"],
    [
      "two calls in turn",
      fakeTool({ name: "look" }),
      turns("a", "b", "a", "b"),
      "same two calls in turn",
    ],
    [
      "calls that differ and bring nothing new",
      tick(),
      turns("a", "b", "c", "d", "e"),
      "5 calls of look that brought nothing new",
    ],
    [
      "several of them in one turn",
      numbered(),
      [{ calls: [call("look"), call("look"), call("look")] }],
      "same call of look 3 times",
    ],
  ])("with %s is told so, and may take another way", async (_what, look, script, words) => {
    const stage = await talking([...script, { text: "INCONCLUSIVE: nothing new." }], {
      tools: [look],
    });
    await stage.ask("look");
    expect(wordsIn(stage.model.requests.at(-1)).at(-1)).toContain(words);
    expect(stage.model.requests.at(-1)?.toolChoice).toBe("auto");
    expect(stage.model.left()).toBe(0);
    expect(stage.chat.answers()).toMatchObject([{ status: "completed" }]);
  });

  test("and does so again has to answer, and it is said why", async () => {
    const stage = await talking([same, same, same, ...turns("a", "b", "a", "b"), ANSWER]);
    await stage.ask("look");
    expect(stage.model.requests.at(-1)?.toolChoice).toBe("none");
    expect(stage.model.left()).toBe(0);
    expect(stage.chat.answers()).toMatchObject([
      { status: "wrapped_up", text: expect.stringMatching(/circles.*"continue"/) },
    ]);
  });

  test("and will not stop is ended", async () => {
    const stage = await talking(Array.from({ length: 30 }, () => same));
    await stage.ask("look");
    expect(stage.model.requests).toHaveLength(7);
    expect(stage.chat.answers()).toMatchObject([
      { status: "wrapped_up", text: expect.stringContaining("didn't get to an answer") },
    ]);
  });

  test("is not one that looks at many different things", async () => {
    const stage = await talking([...turns("a", "b", "c", "d", "e", "f", "g"), ANSWER]);
    await stage.ask("look");
    expect(ofKind(await stage.entries(), "gate")).toEqual([]);
  });

  test("is not one that asks the same of many at once, and all are well", async () => {
    const look = fakeTool({ name: "look", run: async () => ({ text: "well" }) });
    const calls = Array.from(letters.slice(0, 8), (letter) => call("look", letter));
    const stage = await talking([{ calls }, ANSWER], { tools: [look] });
    await stage.ask("look at all nodes");
    expect(ofKind(await stage.entries(), "gate")).toEqual([]);
  });

  test("is not one that watches something change", async () => {
    const stage = await talking([same, ...turns("b"), same, ...turns("b"), same, ANSWER], {
      tools: [numbered()],
    });
    await stage.ask("look");
    expect(ofKind(await stage.entries(), "gate")).toEqual([]);
  });

  test("by calling tools that do not exist is one, too", async () => {
    const stage = await talking([
      ...Array.from({ length: 3 }, () => ({ calls: [call("nothing")] })),
      { text: "I see." },
    ]);
    await stage.ask("look");
    expect(ofKind(await stage.entries(), "gate")).toMatchObject([{ gate: "stuck" }]);
  });
});

test("an answer that comes with one more call at the limit is kept, and the call is not carried out", async () => {
  const stage = await talking(
    [{ calls: [call("look", "a")] }, { ...ANSWER, calls: [call("look", "b")] }],
    { talk: { budget: { ...TERMS, steps: 2 } } },
  );
  await stage.ask("look around");
  expect(stage.look.runs).toEqual(["a"]);
  expect(stage.chat.answers()).toMatchObject([
    { status: "wrapped_up", text: expect.stringContaining("as seen in [T1]") },
  ]);
});

test("looking at ten machines that are all well is no circle", async () => {
  const look = (i: number): Saying => ({ calls: [call("look", `web${i}.example.com`)] });
  const stage = await talking([...Array.from({ length: 10 }, (_, i) => look(i)), ANSWER]);
  await stage.ask("look at all of them");
  expect(stage.chat.answers()).toMatchObject([{ status: "completed" }]);
  expect(stage.model.left()).toBe(0);
});
