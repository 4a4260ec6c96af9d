import { describe, expect, test } from "vitest";
import { until } from "../until.ts";
import { askUser } from "../../src/tools/thread/ask-user.ts";
import { createChat } from "../fakes/chat.ts";
import { createStage, fakeTool } from "../fakes/stage.ts";
import {
  ANSWER,
  call,
  expectPaired,
  lastAnswer,
  ofKind,
  resultsIn,
  rolesIn,
  talking,
  wordsIn,
} from "./talking.ts";

const QUESTION = {
  text: "I need to know one thing.",
  calls: [{ name: "ask_user", args: { question: "Which cluster?", choices: ["blue", "green"] } }],
};
const look = () => fakeTool({ name: "look" });
const options = () => ({ tools: [askUser, look()] });

describe("a question of the model's", () => {
  test("is put to the thread with its choices, and a click answers it", async () => {
    const stage = await talking([QUESTION, { text: "Then blue." }], options());
    await stage.ask("fix it");
    expect(stage.chat.notices()).toMatchObject([
      { text: "Which cluster?", asks: { call: "r1.t1", choices: ["blue", "green"] } },
    ]);
    await stage.click("r1.t1", { kind: "answer", text: "blue" }, "test:bob");
    await stage.settle();
    expect(resultsIn(stage.model.requests[1])).toMatchObject([
      { isError: false, text: expect.stringContaining("bob answered: blue") },
    ]);
    expect(lastAnswer(stage)).toBe("Then blue.");
    expect(stage.chat.whispers()).toEqual([]);
  });

  test("is not put to people where a rule asks for approval of it; a default for reads is not meant", async () => {
    const rules = [{ match: { tool: "ask_user" }, decide: "ask" as const }];
    const held = await talking([QUESTION, ANSWER], { ...options(), approvals: { rules } });
    await held.ask("fix it");
    expect(held.chat.notices()).toEqual([]);
    expect(resultsIn(held.model.requests[1])).toMatchObject([
      { isError: true, text: expect.stringContaining("A rule holds up questions") },
    ]);
    const asks = { default: { read: "ask" as const } };
    const free = await talking([QUESTION], { ...options(), approvals: asks });
    await free.ask("fix it");
    expect(free.chat.notices()).toMatchObject([{ text: "Which cluster?" }]);
  });

  test("is answered by who was asked in words, which are not also a message to the model", async () => {
    const stage = await talking([QUESTION, { text: "Then red." }], options());
    await stage.ask("fix it");
    await stage.ask("red, the old one");
    expect(rolesIn(stage.model.requests[1])).toEqual(["user", "assistant", "tool"]);
    expect(resultsIn(stage.model.requests[1])).toMatchObject([
      { text: expect.stringContaining("ana answered: red, the old one") },
    ]);
    expect(stage.chat.answers()).toHaveLength(1);
  });

  test("is answered once: a second answer is told that it is late", async () => {
    const stage = await talking([QUESTION, { text: "Then blue." }], options());
    await stage.ask("fix it");
    await stage.click("r1.t1", { kind: "answer", text: "blue" });
    await stage.click("r1.t1", { kind: "answer", text: "green" }, "test:bob");
    await stage.settle();
    expect(resultsIn(stage.model.requests[1])).toMatchObject([
      { text: expect.stringContaining("blue") },
    ]);
    expect(stage.chat.whispers()).toEqual(["That question was already answered (ana: blue)."]);
  });

  test("is not answered by chatter: others are told once, alone, how to answer it", async () => {
    const stage = await talking([QUESTION, { text: "Then green." }], options());
    await stage.ask("fix it");
    for (const text of ["hmm let me check", "brb", "it was me who deployed"]) {
      await stage.ask(text, "test:bob");
    }
    expect(stage.model.requests).toHaveLength(1);
    expect(stage.chat.shown.filter(({ kind }) => kind === "whisper")).toMatchObject([
      {
        to: "test:bob",
        text: "I'm waiting for ana's answer to my question. To answer it yourself, press a choice or type: answer r1.t1 <text>",
      },
    ]);
    await stage.ask("answer r1.t1 green", "test:bob");
    expect(resultsIn(stage.model.requests[1])).toMatchObject([
      { text: expect.stringContaining("bob answered: green") },
    ]);
    expect(wordsIn(stage.model.requests[1]).at(-1)).toContain("it was me who deployed");
  });

  test("is not answered by who was asked saying that they need time", async () => {
    const stage = await talking([QUESTION, { text: "Then blue." }], options());
    await stage.ask("fix it");
    await stage.ask("hmm let me check");
    await stage.ask("one sec");
    expect(stage.model.requests).toHaveLength(1);
    expect(stage.chat.whispers()).toEqual([
      "I'm still waiting for your answer: press a choice or write it here.",
    ]);
    await stage.ask("hmm, blue I think");
    expect(resultsIn(stage.model.requests[1])).toMatchObject([
      { text: expect.stringContaining("ana answered: hmm, blue I think") },
    ]);
  });

  test("that is answered shows who chose what, and has no buttons any more", async () => {
    const stage = await talking([QUESTION, { text: "Then blue." }], options());
    await stage.ask("fix it");
    await stage.click("r1.t1", { kind: "answer", text: "blue" }, "test:bob");
    await stage.settle();
    expect(stage.chat.notices()).toEqual([
      {
        kind: "notice",
        text: "Which cluster? → blue (bob)",
        settles: undefined,
        asks: undefined,
        holds: [],
      },
    ]);
    expect((await stage.thread()).liveNotices.size).toBe(0);
  });

  test("that nobody answers is warned of ten minutes before, expires, and the run goes on", async () => {
    const clock = { now: 1_000_000 };
    const stage = await talking([QUESTION, { text: "I take blue." }, { text: "Green then." }], {
      ...options(),
      now: () => clock.now,
    });
    await stage.ask("fix it");
    clock.now += 50 * 60_000 + 1_000;
    await stage.settle();
    expect(stage.chat.notices().at(-1)?.text).toBe(
      "My question “Which cluster?” waits 10 minutes more; then I go on without an answer.",
    );
    await stage.settle();
    clock.now += 10 * 60_000;
    await stage.settle();
    expect(stage.chat.notices().map(({ text, asks }) => [text, asks])).toEqual([
      ["Which cluster? → nobody answered in time", undefined],
      [
        "Nobody answered “Which cluster?” within 60 minutes, so I go on without. Write the answer here whenever you have it.",
        undefined,
      ],
    ]);
    expect(resultsIn(stage.model.requests[1])).toMatchObject([
      { text: expect.stringContaining("Nobody answered within 60 minutes") },
    ]);
    expect(lastAnswer(stage)).toBe("I take blue.");
    await stage.click("r1.t1", { kind: "answer", text: "blue" }, "test:bob");
    await stage.settle();
    expect(stage.chat.whispers()).toEqual([
      "That question expired without an answer. Write the answer here instead.",
    ]);
  });

  test("that is stopped gets its result, and the next message begins anew", async () => {
    const stage = await talking([QUESTION, { text: "Hello." }], options());
    await stage.ask("fix it");
    await stage.ask("stop");
    expect(stage.chat.answers()).toMatchObject([{ status: "cancelled" }]);
    await stage.ask("hello");
    expectPaired(stage.model.requests[1] ?? { turns: [] });
    expect(lastAnswer(stage)).toBe("Hello.");
  });

  test("is not answered by a guest, and a member's answer after it counts", async () => {
    const standings = { "test:ana": "member", "test:guest": "guest" } as const;
    const stage = await talking([QUESTION, { text: "Then green." }], {
      ...options(),
      chat: createChat({ standings }),
    });
    await stage.ask("fix it");
    await stage.ask("blue!", "test:guest");
    await stage.click("r1.t1", { kind: "answer", text: "blue" }, "test:guest");
    await stage.settle();
    expect(stage.chat.whispers()).toHaveLength(2);
    expect(stage.model.requests).toHaveLength(1);
    await stage.ask("green", "test:ana");
    expect(resultsIn(stage.model.requests[1])).toMatchObject([
      { text: expect.stringContaining("ana answered: green") },
    ]);
  });

  test("to which a guest and a member write at once is answered by the member", async () => {
    const standings = { "test:ana": "member", "test:guest": "guest" } as const;
    const stage = await talking([QUESTION, { text: "Then green." }], {
      ...options(),
      chat: createChat({ standings }),
    });
    await stage.ask("fix it");
    await stage.say("blue!", "test:guest");
    await stage.say("green", "test:ana");
    await stage.settle();
    expect(resultsIn(stage.model.requests[1])).toMatchObject([
      { text: expect.stringContaining("ana answered: green") },
    ]);
    expect(lastAnswer(stage)).toBe("Then green.");
  });

  test("holds back nothing else of its turn, and several are answered one after the other", async () => {
    const both = {
      calls: [
        ...QUESTION.calls,
        call("look"),
        { name: "ask_user", args: { question: "Since when?" } },
      ],
    };
    const stage = await talking([both, ANSWER], options());
    await stage.ask("fix it");
    expect(stage.chat.notices().map(({ text }) => text)).toEqual(["Which cluster?", "Since when?"]);
    await stage.say("blue");
    await stage.say("noon");
    await stage.settle();
    expect(resultsIn(stage.model.requests[1]).map(({ text }) => text)).toEqual([
      expect.stringContaining("ana answered: blue"),
      expect.stringContaining("did web"),
      expect.stringContaining("ana answered: noon"),
    ]);
  });

  test("survives a restart: the answer reaches the run", async () => {
    const stage = await talking([QUESTION, { text: "Then blue." }], options());
    await stage.ask("fix it");
    const { model, journal, chat } = stage;
    const next = await createStage({ ...options(), model, journal, chat });
    await next.click("r1.t1", { kind: "answer", text: "blue" });
    await next.settle();
    expect(lastAnswer(stage)).toBe("Then blue.");
    expect(ofKind(await stage.entries(), "notice")).toHaveLength(1);
  });

  test("with words that are none of its form is an error to the model, not a question to people", async () => {
    const stage = await talking(
      [{ calls: [{ name: "ask_user", args: { question: "" } }] }, { text: "Never mind." }],
      options(),
    );
    await stage.ask("fix it");
    expect(stage.chat.notices()).toEqual([]);
    expect(wordsIn(stage.model.requests[1])).toHaveLength(1);
    expect(resultsIn(stage.model.requests[1])).toMatchObject([{ isError: true }]);
  });
});

test("a reply that a click overtook still makes its author one who asked, so they may not approve what follows", async () => {
  const act = fakeTool({ name: "act", effect: "destructive" });
  const accounts = ["test:ana", "test:bob", "test:cy", "test:dee"];
  const chat = createChat({
    standings: Object.fromEntries(accounts.map((account) => [account, "member"])),
  });
  const { people } = chat.adapter;
  const { membership } = people;
  people.membership = async (account, key) => {
    if (account === "test:bob")
      await until(async () => (await stage.kinds()).includes("tool_finished"));
    return membership(account, key);
  };
  const tools = [askUser, act];
  const stage = await talking([QUESTION, { calls: [call("act")] }], { tools, chat });
  await stage.ask("fix it");
  // Both are there before the worker looks; who bob is comes out after the click is judged.
  await stage.click("r1.t1", { kind: "answer", text: "blue" }, "test:cy");
  await stage.say("restart db2 please", "test:bob");
  await stage.settle();
  const [proposed] = ofKind(await stage.entries(), "action_proposed");
  expect(proposed?.barred.toSorted()).toEqual(["test:ana", "test:bob", "test:cy"]);
});
