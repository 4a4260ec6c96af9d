import { describe, expect, test } from "vitest";
import { BotError } from "../../src/core/errors.ts";
import { fakeTool } from "../fakes/stage.ts";
import { ANSWER, call, lastAnswer, ofKind, talking, wordsIn } from "./talking.ts";
import { cpuMs } from "../cpu-time.ts";

const LOOK = { calls: [call("look")] };

describe("an answer", () => {
  test.each([
    [
      "that is certain without a reference",
      "CONFIRMED: the disk is full.",
      "CONFIRMED without a reference",
    ],
    [
      "that refers to a call that was not made",
      "CONFIRMED: the disk is full [T7].",
      "[T7] names no call that ran",
    ],
    ["without a grade", "The disk is full [T1].", "none of CONFIRMED, LIKELY, INCONCLUSIVE"],
    [
      "that says it acted",
      "CONFIRMED: it was full [T1]. DONE: service restarted.",
      "this run changed nothing",
    ],
    [
      "that marks a read as what it did",
      "CONFIRMED: it was full [T1].\n\n- **DONE** [T1]: Dienst neu gestartet.",
      "this run changed nothing",
    ],
  ])(
    "%s is sent back once with what is wrong, and people see only the corrected one",
    async (_what, text, problem) => {
      const stage = await talking([LOOK, { text }, ANSWER]);
      await stage.ask("why?");
      expect(wordsIn(stage.model.requests[2]).at(-1)).toContain(problem);
      expect(stage.chat.answers()).toMatchObject([{ status: "completed", text: ANSWER.text }]);
      expect(ofKind(await stage.entries(), "gate")).toMatchObject([{ gate: "evidence" }]);
    },
  );

  test.each([
    [
      "CONFIRMED: the disk is full.",
      "⚠ Not verified: the disk is full.\n\n> ⚠ It says “Confirmed”, but cites no check that shows it.",
    ],
    [
      "CONFIRMED: full [T1], and the net is down [T7].",
      "CONFIRMED: full [T1], and the net is down.\n\n> ⚠ It cited checks that never ran; I removed them.",
    ],
    [
      "The disk is full [T1].",
      "The disk is full [T1].\n\n> ⚠ Unverified: the answer doesn't say how sure it is.",
    ],
    [
      "LIKELY full [T1]. DONE: logs deleted.",
      "⚠ Not verified: ~~DONE: logs deleted.~~ Nothing was changed in this run.\n\nLIKELY full [T1].",
    ],
    [
      "CONFIRMED: DONE: nginx neu gestartet [T9].",
      "⚠ Not verified: ~~DONE: nginx neu gestartet.~~ Nothing was changed in this run.\n\n> ⚠ It cited checks that never ran; I removed them.",
    ],
    [
      "CONFIRMED: it was full [T1].\n\n- **DONE**: service restarted. It answers.\n- Nothing else.",
      "CONFIRMED: it was full [T1].\n\n> ⚠ Nothing was changed in this run.\n\n- ~~DONE: service restarted.~~ It answers.\n- Nothing else.",
    ],
  ])(
    "that is no better the second time is shown with what is wrong marked, and only that: %s",
    async (text, marked) => {
      const stage = await talking([LOOK, { text }, { text }]);
      await stage.ask("why?");
      expect(stage.model.left()).toBe(0);
      expect(lastAnswer(stage)).toBe(marked);
    },
  );

  test("that says other numbers than the statistics it cites is sent back, and marked if it says them again", async () => {
    const output = "Last week: 14 incidents opened, 12 resolved, 2 open; MTTR 90 min.";
    const tools = [
      fakeTool({ name: "look" }),
      fakeTool({ name: "incident_stats", run: async () => ({ text: output }) }),
    ];
    const count = { calls: [call("look"), call("incident_stats")] };
    const wrong = "CONFIRMED: 15 incidents, resolved after 2 h 5 min [T2].\n\n77 restarts [T1].";
    const right = "CONFIRMED: 14 incidents, resolved after 1.5 hours [T2].\n\n77 restarts [T1].";
    const mended = await talking([count, { text: wrong }, { text: right }], { tools });
    await mended.ask("how was last week?");
    expect(wordsIn(mended.model.requests[2]).at(-1)).toContain('It says "15", "2 h 5 min" with');
    expect(lastAnswer(mended)).toBe(right);
    const stage = await talking([count, { text: wrong }, { text: wrong }], { tools });
    await stage.ask("how was last week?");
    expect(lastAnswer(stage)).toBe(
      "CONFIRMED: 15 incidents, resolved after 2 h 5 min [T2].\n\n> ⚠ Unverified: the statistics it cites don't say 15 or 2 h 5 min.\n\n77 restarts [T1].",
    );
  });

  test("that rests on an action whose outcome is unknown is not verified, whatever it says", async () => {
    const act = fakeTool({
      name: "look",
      effect: "write",
      own: true,
      run: async () => {
        throw new BotError("TIMEOUT", "The shop did not answer in time.");
      },
    });
    const text = "CONFIRMED: the queue is empty [T1].";
    const stage = await talking([LOOK, { text }, { text }], { tools: [act] });
    await stage.ask("purge it");
    expect(lastAnswer(stage)).toBe(
      "⚠ Not verified: the queue is empty [T1].\n\n> ⚠ It says “Confirmed”, but every check it cites failed or is unknown.",
    );
  });

  test("that a failed call cannot show is not verified", async () => {
    const look = fakeTool({
      name: "look",
      run: async () => {
        throw new Error("no route to host");
      },
    });
    const text = "CONFIRMED: web is running again [T1].";
    const stage = await talking([LOOK, { text }, { text }], { tools: [look] });
    await stage.ask("why?");
    expect(lastAnswer(stage)).toBe(
      "⚠ Not verified: web is running again [T1].\n\n> ⚠ It says “Confirmed”, but every check it cites failed or is unknown.",
    );
  });

  test("that quotes what is no longer kept of a long run's results is not doubted", async () => {
    const text = `${"line of a log\n".repeat(1_000)}no route to host`;
    const look = fakeTool({ name: "look", run: async () => ({ text, failed: true }) });
    const answer = "CONFIRMED: web ist nicht erreichbar, no route to host [T6].";
    const calls = ["a", "b", "c", "d", "e", "f"].map((name) => call("look", name));
    const stage = await talking([{ calls }, { text: answer }], { tools: [look] });
    await stage.ask("why?");
    expect(lastAnswer(stage)).toBe(answer);
  });

  test("that says what a failed call said is well founded, in any language", async () => {
    const look = fakeTool({
      name: "look",
      run: async () => {
        throw new Error("no route to host");
      },
    });
    const text = "CONFIRMED: web ist nicht erreichbar, no route to host [T1].";
    const stage = await talking([LOOK, { text }], { tools: [look] });
    await stage.ask("why?");
    expect(lastAnswer(stage)).toBe(text);
  });

  test.each([
    "LIKELY: redis was not restarted, since it was denied.",
    "The restart was denied, so redis is as it was.",
    "OK, I leave it then.",
  ])("about what people decided needs no call that shows it: %s", async (text) => {
    const stage = await talking([{ calls: [call("look"), call("act", "redis")] }, { text }]);
    await stage.ask("fix it");
    await stage.ask("deny a1");
    expect(lastAnswer(stage)).toBe(text);
    expect(stage.model.left()).toBe(0);
  });

  test.each(["You are welcome.", "Thanks, noted.", "Do you want me to look at the disk as well?"])(
    "that is chat after a call needs no grade: %s",
    async (text) => {
      const stage = await talking([LOOK, { text }]);
      await stage.ask("thanks");
      expect(lastAnswer(stage)).toBe(text);
    },
  );

  test.each([
    "LIKELY: the disk is full [T1][T2].",
    "INCONCLUSIVE: I could not tell.",
    "**CONFIRMED**: the disk is full [T2].\n\nNobody has restarted it.",
  ])("that keeps to the rules passes at once: %s", async (text) => {
    const stage = await talking([{ calls: [call("look", "a"), call("look", "b")] }, { text }]);
    await stage.ask("why?");
    expect(lastAnswer(stage)).toBe(text);
  });

  test("that refers to several calls in one bracket is shown with one bracket for each", async () => {
    const stage = await talking([
      { calls: [call("look", "a"), call("look", "b")] },
      { text: "LIKELY: the disk is full [T1, T2]." },
    ]);
    await stage.ask("why?");
    expect(lastAnswer(stage)).toBe("LIKELY: the disk is full [T1][T2].");
  });

  test("to small talk needs neither grade nor evidence", async () => {
    const stage = await talking([{ text: "You are welcome." }]);
    await stage.ask("thanks");
    expect(lastAnswer(stage)).toBe("You are welcome.");
  });

  test("that is certain without any call of this run is sent back", async () => {
    const stage = await talking([
      { text: "CONFIRMED: it is DNS." },
      { text: "INCONCLUSIVE: it may be DNS." },
    ]);
    await stage.ask("why?");
    expect(lastAnswer(stage)).toContain("INCONCLUSIVE: it may be DNS.");
  });

  test("cannot be founded on a call that was denied or blocked", async () => {
    const stage = await talking([
      { calls: [call("look"), call("act", "a"), call("nothing")] },
      { text: "CONFIRMED: restarted [T2] and seen [T3]." },
      { text: "INCONCLUSIVE: it was denied." },
    ]);
    await stage.ask("fix it");
    await stage.ask("deny a1");
    expect(wordsIn(stage.model.requests[2]).at(-1)).toMatch(
      /\[T2\] names no call[^]*\[T3\] names no call/,
    );
  });

  test("may say what was done when it was done", async () => {
    const stage = await talking([
      { calls: [call("act", "a")] },
      { text: "CONFIRMED: it hung. DONE: service restarted [T1]." },
    ]);
    await stage.ask("fix it");
    await stage.ask("approve a1");
    expect(lastAnswer(stage)).toBe("CONFIRMED: it hung. DONE: service restarted [T1].");
  });

  test("may not say that it was done when the action failed", async () => {
    const act = fakeTool({
      name: "act",
      effect: "write",
      run: async () => {
        throw new Error("no such service");
      },
    });
    const claim = { text: "DONE: service restarted [T1]." };
    const stage = await talking([{ calls: [call("act", "a")] }, claim, claim], { tools: [act] });
    await stage.ask("fix it");
    await stage.ask("approve a1");
    expect(lastAnswer(stage)).toBe(
      "⚠ Not verified: ~~DONE: service restarted [T1].~~ No change in this run is known to have worked.",
    );
  });

  test("that is empty is asked for once more, then said to be missing", async () => {
    const stage = await talking([LOOK, {}, { text: "  \n" }]);
    await stage.ask("why?");
    expect(stage.model.left()).toBe(0);
    expect(stage.chat.answers()).toMatchObject([
      { status: "failed", text: expect.stringMatching(/gave no answer[^]*\[T1\] look: ok/) },
    ]);
  });

  test("of nothing but line breaks and signs is looked at without a stall", async () => {
    const stage = await talking([{ text: `a${"\n\t| - ".repeat(40_000)}b` }]);
    expect(await cpuMs(() => stage.ask("why?"))).toBeLessThan(4_000);
  });

  test("that its server could not read as a call is sent back once, as the model's mistake", async () => {
    const mistake = {
      text: "<function=look>{name: web}</function>",
      stop: "malformed_call",
    } as const;
    const stage = await talking([mistake, LOOK, ANSWER]);
    await stage.ask("why?");
    expect(wordsIn(stage.model.requests[1]).at(-1)).toContain("not a valid call");
    expect(stage.chat.answers()).toMatchObject([{ status: "completed", text: ANSWER.text }]);

    const again = await talking([mistake, mistake]);
    await again.ask("why?");
    expect(again.chat.answers()).toMatchObject([
      { status: "failed", text: expect.stringContaining("could not read, twice") as string },
    ]);
  });

  test("that was cut off is asked for once more, shorter, then shown as cut", async () => {
    const cut = { text: "CONFIRMED [T1]: and so on and", stop: "max_tokens" as const };
    const stage = await talking([LOOK, cut, cut]);
    await stage.ask("why?");
    expect(wordsIn(stage.model.requests[2]).at(-1)).toContain("shorter");
    expect(lastAnswer(stage)).toMatch(/and so on and[^]*Cut off/);
  });

  test.each([
    ["refusal", /declined/],
    ["content_filter", /filter withheld/],
  ] as const)("that was ended by %s ends the run and says so", async (stop, words) => {
    const stage = await talking([LOOK, { text: "I must not.", stop }]);
    await stage.ask("why?");
    expect(stage.chat.answers()).toMatchObject([
      { status: "failed", text: expect.stringMatching(words) },
    ]);
    expect(lastAnswer(stage)).toContain("[T1] look: ok");
  });

  test("that pauses without end comes to one", async () => {
    const pause = { text: "Thinking.", stop: "pause" as const };
    const stage = await talking(
      Array.from({ length: 10 }, () => pause),
      { talk: { budget: { steps: 4, tokens: 1e6, minutes: 15 } } },
    );
    await stage.ask("why?");
    expect(stage.model.requests.length).toBeLessThanOrEqual(4);
    expect(stage.chat.answers()).toMatchObject([
      { status: "wrapped_up", text: expect.stringMatching(/^Thinking\.[^]*4 steps/) },
    ]);
  });
});

test("what a run changed stands below its answer as the journal has it, whatever the answer says", async () => {
  const claim = "INCONCLUSIVE [T1]. Ich habe web neu gestartet.";
  const idle = await talking([LOOK, { text: claim }]);
  await idle.ask("why?");
  expect(idle.chat.answers()).toMatchObject([{ text: claim, changed: { done: [], maybe: [] } }]);
  const busy = await talking([{ calls: [call("look"), call("act")] }, { text: "DONE: web [T2]." }]);
  await busy.ask("fix it");
  await busy.ask("approve a1");
  expect(busy.chat.answers().at(-1)).toMatchObject({ changed: { done: ["T2"], maybe: [] } });
});
