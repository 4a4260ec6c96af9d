import { describe, expect, test } from "vitest";
import { BotError } from "../../src/core/errors.ts";
import type { Saying } from "../fakes/scripted-model.ts";
import { createChat } from "../fakes/chat.ts";
import { askUser } from "../../src/tools/thread/ask-user.ts";
import { createStage, fakeTool, KEY, type Stage } from "../fakes/stage.ts";
import {
  ANSWER,
  call,
  expectPaired,
  lastAnswer,
  ofKind,
  resultsIn,
  rolesIn,
  silent,
  talking,
  wordsIn,
} from "./talking.ts";

function whispersIn({ chat }: Stage) {
  return chat.shown.flatMap((each) => (each.kind === "whisper" ? [each] : []));
}

const ANA = { account: "test:ana", name: "ana" };

function destroying() {
  return fakeTool({ name: "act", effect: "destructive" });
}

/** Says something while the model is asked, before it answers. */
function saying(stage: () => Stage, text: string, line: object, account?: string) {
  return async () => {
    await stage().say(text, account);
    return line;
  };
}

describe("what people write while a run goes on", () => {
  test("joins it after the results of the calls that are open", async () => {
    const slow = fakeTool({
      name: "look",
      run: async () => {
        await stage.say("look at the disk too", "test:bob");
        return { text: "did web" };
      },
    });
    const stage = await talking([{ calls: [call("look")] }, ANSWER], { tools: [slow] });
    await stage.ask("is web well?");
    expect(rolesIn(stage.model.requests[1])).toEqual(["user", "assistant", "tool", "user"]);
    expect(wordsIn(stage.model.requests[1]).at(-1)).toContain("bob] look at the disk too");
    expect(stage.chat.answers()).toHaveLength(1);
  });

  test("while the model is thinking comes with the next request of the same run", async () => {
    const stage = await talking([
      saying(() => stage, "also the disk", { calls: [call("look")] }),
      ANSWER,
    ]);
    await stage.ask("is web well?");
    expect(rolesIn(stage.model.requests[0])).toEqual(["user"]);
    expect(rolesIn(stage.model.requests[1])).toEqual(["user", "assistant", "tool", "user"]);
    expect(ofKind(await stage.entries(), "run_started")).toHaveLength(1);
  });

  test("too late for the last request is answered by a run of its own", async () => {
    const stage = await talking([
      saying(() => stage, "and db?", { text: "web is well." }),
      { text: "db is well." },
    ]);
    await stage.ask("is web well?");
    expect(stage.chat.answers().map(({ text }) => text)).toEqual(["web is well.", "db is well."]);
    expect(ofKind(await stage.entries(), "run_started")).toMatchObject([
      { answers: ["msg:1"] },
      { answers: ["msg:2"] },
    ]);
    expect(rolesIn(stage.model.requests[1])).toEqual(["user", "assistant", "user"]);
  });

  test("at once, before anyone worked, becomes one run", async () => {
    const stage = await talking([{ text: "Both are well." }]);
    await Promise.all([stage.say("is web well?"), stage.say("is db well?", "test:bob")]);
    await stage.settle();
    expect(wordsIn(stage.model.requests[0])).toHaveLength(2);
    expect(ofKind(await stage.entries(), "run_started")).toMatchObject([
      { principals: ["test:ana", "test:bob"] },
    ]);
    expect(stage.chat.answers()).toHaveLength(1);
  });

  test("twice under the same id, as platforms repeat, is said once", async () => {
    const stage = await talking([{ text: "It is." }]);
    const actor = { account: "test:ana", name: "ana" };
    const again = () => stage.post({ id: "event-1", kind: "message", actor, text: "is web well?" });
    await Promise.all([again(), again(), again()]);
    await stage.settle();
    await again();
    await stage.settle();
    expect(stage.model.requests).toHaveLength(1);
    expect(stage.chat.answers()).toHaveLength(1);
  });

  test("as a direct command is run beside it, and the model hears of it later", async () => {
    const stage = await talking([{ calls: [call("act", "a")] }, ANSWER]);
    await stage.ask("fix it");
    await stage.ask("run look name=web");
    expect(stage.look.runs).toEqual(["web"]);
    await stage.ask("approve a1");
    expect(rolesIn(stage.model.requests[1])).toEqual(["user", "assistant", "tool", "user"]);
    expect(wordsIn(stage.model.requests[1]).at(-1)).toContain("A person ran look");
  });
});

describe("what people write while an approval is open", () => {
  test("is answered by a side run that reads, and the card holds nothing back", async () => {
    const stage = await talking([
      { calls: [call("act", "a")] },
      { calls: [call("look", "redis")] },
      { text: "CONFIRMED: only web depends on it [T2]." },
      { text: "CONFIRMED: done [T1]." },
    ]);
    await stage.ask("fix it");
    await stage.ask("is it safe? what depends on redis?", "test:bob");
    expect(stage.look.runs).toEqual(["redis"]);
    expect(stage.chat.answers()).toMatchObject([
      { text: "CONFIRMED: only web depends on it [T2]." },
    ]);
    expect(stage.chat.cards()).toMatchObject([{ phase: "open" }]);
    expect(whispersIn(stage)).toEqual([]);
    // The card's call has no result yet, and says so.
    expect(rolesIn(stage.model.requests[1])).toEqual(["user", "assistant", "tool", "user"]);
    expect(resultsIn(stage.model.requests[1])).toMatchObject([
      { text: "[T1] a1 waits for people's decision." },
    ]);
    await stage.ask("approve a1", "test:bob");
    expect(stage.act.runs).toEqual(["a"]);
    // The first run is told the whole exchange, after its call's result.
    const last = stage.model.requests[3];
    expect(rolesIn(last)).toEqual([
      "user",
      "assistant",
      "tool",
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
    ]);
    expect(wordsIn(last).at(-1)).toContain("It needs no other answer.");
    for (const request of stage.model.requests) expectPaired(request);
    expect(lastAnswer(stage)).toBe("CONFIRMED: done [T1].");
    expect(ofKind(await stage.entries(), "run_started")).toMatchObject([
      { principals: ["test:ana"] },
      {
        principals: ["test:bob"],
        reads: true,
        talk: { budget: { steps: 10, tokens: 200_000, minutes: 5 } },
      },
    ]);
  });

  test("and asks for a change waits for the card, with one private notice; then it is the first run's", async () => {
    const stage = await talking([
      { calls: [call("act", "a")] },
      { calls: [call("act", "b")] },
      { text: "That waits for a1." },
      { calls: [call("act", "b")] },
      { text: "CONFIRMED: both done [T1] [T3]." },
    ]);
    await stage.ask("fix it");
    await stage.ask("restart b too", "test:bob");
    expect(stage.act.runs).toEqual([]);
    expect(stage.chat.cards()).toHaveLength(1);
    expect(whispersIn(stage)).toMatchObject([
      {
        to: "test:bob",
        text: "I only read for now. The change you asked for comes after a1 is approved or denied.",
        offer: { holds: ["a1"] },
      },
    ]);
    await stage.ask("approve a1", "test:cy");
    expect(whispersIn(stage)).toEqual([]);
    expect(wordsIn(stage.model.requests[3]).at(-1)).toContain('act {"name":"b"}: that part is for');
    // Who asked for it in the side run is a requester of the first run's next action.
    expect((await stage.thread()).actions.get("a2")?.askers).toEqual(
      new Set(["test:ana", "test:bob"]),
    );
    await stage.ask("approve a2", "test:cy");
    expect(stage.act.runs).toEqual(["a", "b"]);
    expect(ofKind(await stage.entries(), "run_started")).toHaveLength(2);
    for (const request of stage.model.requests) expectPaired(request);
  });

  test("only reads to its end, also once the card is decided, and what it hands over then has a run of its own", async () => {
    const stage = await talking([
      { calls: [call("act", "a")] },
      async () => {
        await stage.say("deny a1", "test:cy");
        return { calls: [call("act", "b")] };
      },
      { text: "Denied, as it should be." },
      { text: "That comes next." },
      { calls: [call("act", "b")] },
      { text: "It was denied." },
    ]);
    await stage.ask("fix it");
    await stage.ask("restart b instead", "test:bob");
    const started = ofKind(await stage.entries(), "run_started");
    expect(started.map(({ run, reads = false }) => [run, reads])).toEqual([
      ["r1", false],
      ["r2", true],
      ["r3", false],
    ]);
    expect(started[2]).toMatchObject({ answers: ["msg:2"], principals: ["test:bob"] });
    expect(stage.chat.cards()).toMatchObject([
      { phase: "denied" },
      { action: "a2", phase: "open" },
    ]);
    await stage.ask("deny a2");
    expect(stage.act.runs).toEqual([]);
    for (const request of stage.model.requests) expectPaired(request);
  });

  test("is stopped with everything by a word, and alone by the button on its own message", async () => {
    const stage = await talking([
      { calls: [call("act", "a")] },
      async (...asked) => {
        await stage.post({ id: "stop:1", kind: "stop", run: "r2", actor: ANA });
        return silent(...asked);
      },
      async (...asked) => {
        await stage.say("stop", "test:bob");
        return silent(...asked);
      },
    ]);
    await stage.ask("fix it");
    await stage.ask("is it safe?", "test:bob");
    expect(stage.chat.answers()).toMatchObject([{ run: "r2", status: "cancelled" }]);
    expect(stage.chat.cards()).toMatchObject([{ phase: "open" }]);
    await stage.ask("and now?", "test:bob");
    expect(stage.chat.cards()).toMatchObject([{ phase: "cancelled" }]);
    const ended = stage.chat.answers().map(({ run, status }) => [run, status]);
    expect(ended).toHaveLength(3);
    expect(ended).toEqual(
      expect.arrayContaining([
        ["r1", "cancelled"],
        ["r3", "cancelled"],
      ]),
    );
  });

  test("may be asked back in a side run: the answer is its author's, the card stays", async () => {
    const ask = { name: "ask_user", args: { question: "Which redis?" } };
    const stage = await talking(
      [{ calls: [call("act", "a")] }, { calls: [ask] }, { text: "That one is fine." }],
      { tools: [fakeTool({ name: "act", effect: "write" }), askUser] },
    );
    await stage.ask("fix it");
    await stage.ask("is redis safe?", "test:bob");
    await stage.ask("the cache", "test:bob");
    expect(resultsIn(stage.model.requests[2])).toMatchObject([
      { text: expect.stringContaining("bob answered: the cache") },
    ]);
    expect(lastAnswer(stage)).toBe("That one is fine.");
    expect(stage.chat.cards()).toMatchObject([{ phase: "open" }]);
  });

  test("that only agrees is no approval: who may approve gets the button, alone, and the model hears nothing", async () => {
    const stage = await talking([{ calls: [call("act", "a"), call("act", "b")] }, ANSWER]);
    await stage.ask("fix it");
    await stage.ask("ok approved, go ahead", "test:bob");
    expect(stage.act.runs).toEqual([]);
    expect(whispersIn(stage)).toMatchObject([
      {
        to: "test:bob",
        text: "That alone doesn't approve a1 (act name=a) or a2 (act name=b). `approve a1` or `approve a2` does.",
        offer: { holds: [], approves: [{ action: "a1" }, { action: "a2" }] },
      },
    ]);
    await stage.ask("approve a1", "test:bob");
    await stage.ask("LGTM :+1:", "test:bob");
    expect(whispersIn(stage).at(-1)?.text).toContain("That alone doesn't approve a2 (act name=b).");
    await stage.ask("approve a2", "test:bob");
    expect(whispersIn(stage)).toEqual([]);
    expect(wordsIn(stage.model.requests[1]).join("\n")).not.toMatch(/go ahead|LGTM/);
    expect((await stage.thread()).liveNotices.size).toBe(0);
  });

  test("that agrees, from somebody who may not approve, is answered with why", async () => {
    const approvals = { rules: [{ match: { tool: "act" }, decide: "ask" as const }] };
    const stage = await talking([{ calls: [call("act", "a")] }, ANSWER], {
      approvals,
      tools: [destroying()],
    });
    await stage.ask("fix it");
    await stage.ask("yes!");
    await stage.ask("👍", "test:dee");
    expect(stage.chat.whispers()).toEqual([
      "You asked for a1, so someone else has to approve it. You can still deny or withdraw it.",
      "Only full members of this thread can approve a1.",
    ]);
    expect(stage.chat.cards()).toMatchObject([{ phase: "open" }]);
  });

  test("that agrees is answered after a restart too, and by a worker that cannot look people up", async () => {
    const chat = createChat();
    const stage = await talking([{ calls: [call("act", "a")] }, ANSWER], { chat });
    await stage.ask("fix it");
    chat.adapter.people.membership = async () => {
      throw new Error("no answer");
    };
    await stage.say("go ahead", "test:bob");
    const { model, journal, look, act } = stage;
    const next = await createStage({ tools: [look, act], model, journal, chat });
    await next.settle();
    expect(whispersIn(stage)).toMatchObject([{ to: "test:bob", text: expect.any(String) }]);
  });

  test("to withdraw what somebody else asked for takes a second word", async () => {
    const stage = await talking([{ calls: [call("act", "a")] }, { text: "Hm." }, ANSWER]);
    await stage.ask("fix it");
    // What bob writes now does not make him one who asked.
    await stage.ask("hm", "test:bob");
    await stage.click("a1", { kind: "cancel" }, "test:bob");
    await stage.settle();
    expect(stage.chat.cards()).toMatchObject([{ phase: "open" }]);
    expect(whispersIn(stage).at(-1)).toMatchObject({
      to: "test:bob",
      text: "You didn't ask for a1; ana did. To withdraw it for everyone, press the button or type: cancel a1 for everyone",
      offer: { confirms: "a1" },
    });
    await stage.ask("cancel a1 for everyone", "test:bob");
    expect(stage.chat.cards()).toMatchObject([{ phase: "cancelled" }]);
    expect(whispersIn(stage)).toEqual([]);
  });

  test("just before it was opened does not wait for it either", async () => {
    const stage = await talking([
      saying(() => stage, "wait, what is it for?", { calls: [call("act", "a"), call("act", "b")] }),
      { text: "It restarts both." },
      { text: "Very well." },
    ]);
    await stage.ask("fix it");
    expect(lastAnswer(stage)).toBe("It restarts both.");
    await stage.ask("cancel a1");
    expect(stage.model.requests).toHaveLength(2);
    await stage.ask("cancel a2");
    expect(wordsIn(stage.model.requests[2]).join("\n").split("what is it for?")).toHaveLength(2);
  });
});

test("cards come in the order of their actions, also one whose action was decided before it could be shown", async () => {
  let now = 1_000_000;
  let isAway = true;
  const chat = createChat({
    refuse: (what) => {
      if (what === "card" && isAway) throw new BotError("PLATFORM_UNREACHABLE", "away");
    },
  });
  const calls = [call("act", "a"), call("act", "b")];
  const stage = await talking([{ calls }, { text: "Very well." }], { chat, now: () => now });
  await stage.ask("fix it");
  await stage.ask("deny a1");
  expect(chat.cards()).toEqual([]);
  isAway = false;
  now += 60_000;
  await stage.settle();
  expect(chat.cards().map(({ action, phase }) => [action, phase])).toEqual([
    ["a1", "denied"],
    ["a2", "open"],
  ]);
});

describe("two workers on one thread", () => {
  test("ask the model once per step, whoever is faster", async () => {
    const one = await talking([{ calls: [call("look")] }, ANSWER]);
    const { model, journal, chat, look } = one;
    const other = await createStage({ tools: [look, one.act], model, journal, chat });
    await one.say("is web well?");
    await Promise.all([one.settle(), other.settle(), one.settle(), other.settle()]);
    expect(ofKind(await one.entries(), "assistant").map(({ id }) => id)).toEqual([
      "assistant:r1.1",
      "assistant:r1.2",
    ]);
    expect(model.requests).toHaveLength(2);
    expect(look.runs).toEqual(["web"]);
    expect(chat.answers()).toHaveLength(1);
  });

  test("of which one lost its lease while the model was thinking: its turn is not written", async () => {
    const clock = { now: 1_000_000 };
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const now = () => clock.now;
    const first: Saying = async () => {
      clock.now += 60_000;
      const { model, journal, chat, look, act } = one;
      const other = await createStage({ tools: [look, act], model, journal, chat, now });
      await other.settle();
      setImmediate(resolve);
      return { calls: [call("act", "a")], text: "I am late." };
    };
    const one = await talking([first, { calls: [call("look")] }, ANSWER], { now, leaseMs: 30_000 });
    await one.ask("is web well?");
    await late;
    expect(ofKind(await one.entries(), "assistant")).toHaveLength(2);
    expect(one.chat.cards()).toEqual([]);
    expect(JSON.stringify(await one.entries())).not.toContain("I am late.");
    expect(one.chat.answers()).toHaveLength(1);
  });
});

test("a message in another thread is not in this one's requests", async () => {
  const stage = await talking([{ text: "Hi." }]);
  const actor = { account: "test:ana", name: "ana" };
  await stage.journal.post("test:other", {
    id: "m",
    kind: "message",
    actor,
    text: "the other thread's secret",
  });
  await stage.ask("hello");
  expect(JSON.stringify(stage.model.requests)).not.toContain("other thread");
  expect(KEY).toBe("test:thread");
});
