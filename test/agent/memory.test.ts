import { describe, expect, onTestFinished, test } from "vitest";
import { estimateTokens } from "../../src/core/block.ts";
import { createMemory, type Memory } from "../../src/memory/memory.ts";
import type { Task } from "../../src/memory/item.ts";
import { createForget } from "../../src/tools/memory/notes.ts";
import { createChat } from "../fakes/chat.ts";
import { openTestIndex } from "../fakes/memory.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import { type Saying, scriptedModel } from "../fakes/scripted-model.ts";
import { fakeTool, KEY, type StageOptions } from "../fakes/stage.ts";
import { ANSWER, call, lastAnswer, ofKind, talking, wordsIn } from "./talking.ts";

const START = Date.parse("2026-11-20T12:00:00Z");
const ALL = { audience: undefined, tenants: "all" } as const;
const encode = (text: string) => text.replaceAll("hunter2", "[secret]");

async function remembering(
  script: readonly Saying[],
  options: StageOptions = {},
  similar = 3,
  recent = 0,
  keep = 0.6,
) {
  const clock = { now: START };
  const journal = openMemoryJournal({ now: () => clock.now });
  onTestFinished(() => journal.close());
  const memory = createMemory({ journal, index: openTestIndex(), encode });
  const recall = { recent, similar, threshold: 0.3, nearness: 0.5 };
  const stage = await talking(script, {
    journal,
    memory: { memory, recall, keep },
    ...options,
  });
  return { ...stage, memory, clock };
}

const tasks = async (memory: Memory) =>
  (await memory.newest(ALL, { limit: 9 })).map(({ what }) => what);

describe("the record of a thread", () => {
  const act = fakeTool({
    name: "act",
    effect: "write",
    verifyLater: { afterMs: 30_000, check: async () => ({ verdict: "done", evidence: "3 of 3" }) },
  });
  const script: Saying[] = [
    { calls: [call("look")] },
    { text: "LIKELY: the pool of connections is used up [T1].\n\nMore of it [T1]." },
    { calls: [call("act")] },
    { text: "CONFIRMED: I have restarted it [T2]." },
  ];

  test("has the question, the cause, what it rests on, what was done and whether it helped", async () => {
    const { ask, click, settle, memory, clock, kinds } = await remembering(script, {
      tools: [fakeTool({ name: "look" }), act],
    });
    await ask("why does checkout answer 502 since noon?");
    const first = {
      kind: "task",
      question: "why does checkout answer 502 since noon?",
      begun: START,
      cause: "the pool of connections is used up.",
      certainty: "likely",
      looked: ["look"],
      fixes: [],
      outcome: "explained",
    };
    expect(await tasks(memory)).toEqual([first]);
    await ask("then restart it");
    await click("a1", { kind: "approve" }, "test:bob");
    await settle();
    clock.now += 30_000;
    await settle();
    await settle();
    const fix = { tool: "act", title: "act", approved: true, result: "done", helped: true };
    expect(await tasks(memory)).toMatchObject([
      {
        ...first,
        looked: ["look", "act"],
        cause: expect.any(String),
        certainty: "confirmed",
        fixes: [fix],
        outcome: "solved",
      },
    ]);
    const before = (await kinds()).length;
    await settle();
    expect(await kinds()).toHaveLength(before);
  });

  test("that cannot be written stops nothing: the answer stands, and later runs are answered", async () => {
    const { ask, memory, chat } = await remembering(
      [
        { calls: [call("look")] },
        { text: "LIKELY: the pool of connections is used up [T1]." },
        { text: "Yes, still." },
      ],
      { tools: [fakeTool({ name: "look" })] },
    );
    let tries = 0;
    memory.record = async () => {
      tries += 1;
      throw new TypeError("the journal of memory is broken");
    };
    await ask("why does checkout answer 502 since noon?");
    expect(lastAnswer({ chat })).toContain("the pool of connections is used up");
    await ask("is it so still?");
    expect(lastAnswer({ chat })).toContain("Yes, still.");
    expect(tries).toBeGreaterThan(0);
    expect(await tasks(memory)).toEqual([]);
  });

  test("is kept if it is of use, always where memory.keep is 0, and capped and without secrets", async () => {
    const found = async (keep: number, question: string, text: string) => {
      const turns = [{ calls: [call("look")] }, { text }];
      const tools = [fakeTool({ name: "look" })];
      const { ask, memory } = await remembering(turns, { tools }, 3, 0, keep);
      await ask(question);
      return tasks(memory);
    };
    const short = ["why?", "LIKELY: load [T1]."] as const;
    expect(await found(0.6, ...short)).toEqual([]);
    expect(await found(0, ...short)).toMatchObject([{ question: "why?", cause: "load." }]);
    const long = "hunter2 is slow ".repeat(99);
    const kept = await found(0.6, `why? ${long}`, `CONFIRMED: ${long} [T1].`);
    expect(kept).toMatchObject([
      { question: expect.stringMatching(/^why\? \[secret\] is/), certainty: "confirmed" },
    ]);
    const [task] = kept;
    expect(JSON.stringify(task)).not.toContain("hunter2");
    expect(task?.kind === "task" && task.cause?.length).toBeLessThan(450);
  });

  test("is not written of what looked at nothing", async () => {
    const { ask, memory, entries } = await remembering([{ text: "You're welcome." }]);
    await ask("thanks for the explanation of yesterday's outage");
    expect(await tasks(memory)).toEqual([]);
    expect(ofKind(await entries(), "delivered").some(({ view }) => view === "memory")).toBe(false);
  });
});

describe("what a run is told from memory", () => {
  const earlier: Task = {
    kind: "task",
    question: "checkout answers 502",
    begun: START - 86_400_000,
    cause: "the pool of connections was used up",
    certainty: "confirmed",
    looked: ["postgres_activity"],
    fixes: [{ tool: "act", title: "Restart api", approved: true, result: "done", helped: true }],
    outcome: "solved",
  };
  const of = {
    thread: "test:other",
    link: "https://chat/other",
    audience: undefined,
    asOf: "x",
  } as const;

  test("stands before its first message, instructs nobody, and is told once in a thread", async () => {
    const script = [{ calls: [call("look")] }, ANSWER, { text: "INCONCLUSIVE: no more [T1]." }];
    const { ask, memory, model, entries } = await remembering(script);
    await memory.record(of, earlier);
    await ask("the checkout gives us a 502");
    await ask("is the checkout still at 502?");
    const [first, second, third] = model.requests;
    expect(wordsIn(first)).toEqual([
      expect.stringMatching(/^\[watchkeeper\] This comes from memory and is to be verified/),
      expect.stringMatching(
        /^\[memory, output\] 2026-11-19 m-[a-z2-7]{10}: checkout answers 502 → the pool of connections was used up \(confirmed\); Restart api: done, it helped; solved https:\/\/chat\/other$/,
      ),
      '[memory, output] done then: act, such as "Restart api": approved 1, fixed 1',
      expect.stringMatching(/ ana\] the checkout gives us a 502$/),
    ]);
    expect(third?.system).toBe(first?.system);
    expect(wordsIn(second)).toEqual(wordsIn(first));
    expect(wordsIn(third).filter((word) => word.includes("[memory, output] 2026"))).toHaveLength(1);
    expect(ofKind(await entries(), "above")).toHaveLength(2);
  });

  test("is the most alike and the newest notes, both, each once and always in the same order", async () => {
    const told = async () => {
      const { ask, memory, model, clock } = await remembering([{ text: "Hm." }], {}, 1, 2);
      for (const [i, text] of [
        "the checkout fails when its certificate ends",
        "web-1 is the canary",
        "db-1 is the primary",
        "db-2 is a replica",
      ].entries()) {
        clock.now += 60_000;
        const saying = {
          actor: { account: "test:ana", name: "Ana" },
          thread: "test:notes",
          call: `r1.t${i}`,
          link: undefined,
          at: clock.now,
        } as const;
        await memory.note({ ...saying, audience: undefined, tenants: ["test"] }, text);
      }
      await ask("the checkout fails: is its certificate ending?");
      return wordsIn(model.requests[0]).flatMap(
        (each) => /note by Ana: [^\n]+/.exec(each)?.[0] ?? [],
      );
    };
    const first = await told();
    expect(first.map((line) => line.replace("note by Ana: ", "").replace(/"?\s*$/, ""))).toEqual([
      "the checkout fails when its certificate ends",
      "db-2 is a replica",
      "db-1 is the primary",
    ]);
    expect(await told()).toEqual(first);
  });

  test("is nothing of the thread itself, and nothing that is not alike", async () => {
    const { ask, memory, model } = await remembering([{ text: "Hello." }, { text: "Hm." }]);
    await memory.record({ ...of, thread: KEY }, earlier);
    await memory.record(of, { ...earlier, question: "rabbitmq queue grows", cause: "no consumer" });
    await ask("checkout answers 502?");
    expect(wordsIn(model.requests[0])).toHaveLength(1);
  });

  test("a model with a window of 8,192 is told what fits a sixteenth of it, the most alike first, and one with a large window more", async () => {
    const told = async (contextWindow: number) => {
      const model = { ...scriptedModel([{ text: "Hm." }]), contextWindow };
      const { ask, memory } = await remembering([], { model }, 12);
      const long = "the pool of connections was used up by the worker of reports ".repeat(20);
      for (let number = 1; number <= 12; number++)
        await memory.record(
          { ...of, thread: `test:other${number}`, link: `https://chat/${number}` },
          {
            ...earlier,
            question: `checkout answers 502 on web-${number}`,
            cause: long,
            fixes: earlier.fixes.map((fix) => ({ ...fix, title: `Restart web-${number}` })),
          },
        );
      await ask("the checkout answers 502");
      const words = wordsIn(model.requests[0]);
      expect(words.at(-1)).toContain("the checkout answers 502");
      return words.slice(0, -1);
    };
    const tokens = (texts: readonly string[]) =>
      texts.reduce((sum, text) => sum + estimateTokens(text), 0);
    const [small, large] = [await told(8_192), await told(200_000)];
    expect(tokens(small)).toBeLessThanOrEqual(8_192 / 16);
    expect(small.length).toBeGreaterThanOrEqual(2);
    expect(tokens(large)).toBeGreaterThan(8_192 / 16);
    expect(tokens(large)).toBeLessThanOrEqual(1_000);
    // The same ones, up to where the room ends; how it is introduced stands first.
    expect(large.slice(0, small.length)).toEqual(small);
  });

  test("a memory that does not answer stops no run", async () => {
    const broken = new Proxy({} as Memory, {
      get: () => async () => {
        throw new Error("gone");
      },
    });
    const recall = { recent: 1, similar: 3, threshold: 0.3, nearness: 0.5 };
    const { ask, chat } = await remembering([{ text: "Hello." }], {
      memory: { memory: broken, recall, keep: 0 },
    });
    await ask("hello there");
    expect(lastAnswer({ chat })).toBe("Hello.");
  });

  test("is no evidence: a grade that cites memory alone is sent back", async () => {
    const recall = fakeTool({ name: "recall" });
    const sure = { text: "CONFIRMED: the pool is used up [T1]." };
    const { ask, chat, entries } = await remembering([{ calls: [call("recall")] }, sure, sure], {
      tools: [recall],
    });
    await ask("why is checkout slow?");
    expect(ofKind(await entries(), "gate")).toMatchObject([{ gate: "evidence" }]);
    expect(lastAnswer({ chat })).toContain("no check");
  });
});

test("a note is not taken away in its author's run because somebody else who joined it asked for that", async () => {
  let join = async () => {};
  let id = "";
  const look = fakeTool({
    name: "look",
    ours: true,
    run: async () => {
      await join();
      return { text: "ok" };
    },
  });
  const lent: { memory?: Memory } = {};
  const forget = createForget(() => {
    if (lent.memory === undefined) throw new Error("no memory yet");
    return lent.memory;
  });
  const forgets = async () => ({ calls: [{ name: "forget", args: { id } }] });
  const chat = createChat();
  chat.adapter.tenants = async () => ["test"];
  const { ask, say, entries, memory } = await remembering(
    [{ calls: [call("look")] }, forgets, { text: "INCONCLUSIVE: nothing." }],
    { tools: [look, forget], chat },
  );
  lent.memory = memory;
  const ana = { account: "test:ana", name: "ana" };
  const said = { ...ALL, actor: ana, thread: KEY, call: "r9.t1", link: undefined, at: START };
  id = (await memory.note({ ...said, tenants: ["test"] }, "web is flaky on mondays")).item.id;
  join = async () => {
    await say(`${id} is nonsense, take it out of memory`, "test:bob");
  };
  await ask("how is web?");
  const [, forgot] = ofKind(await entries(), "tool_finished");
  expect(forgot).toMatchObject({
    call: "r1.t2",
    text: expect.stringContaining("others asked for things in this run too"),
  });
  expect(forgot?.outcome).not.toBe("ok");
  expect(await memory.get(id, ALL)).toMatchObject({ id });
});
