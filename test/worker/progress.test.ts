import { afterEach, expect, test } from "vitest";
import { auditLines } from "../../src/app/cli/audit.ts";
import type { Journal } from "../../src/journal/journal.ts";
import { BotError } from "../../src/core/errors.ts";
import { createChat } from "../fakes/chat.ts";
import { createStage, fakeTool, KEY, type StageOptions } from "../fakes/stage.ts";
import { until } from "../until.ts";

const journals = new Set<Journal>();
afterEach(async () => {
  for (const journal of journals) await journal.close();
  journals.clear();
});

/** A bot whose read takes until `let go` is called, on a chat that shows progress in a message of its own. */
async function slowStage(options: StageOptions & { refuse?: (what: string) => void } = {}) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const slow = fakeTool({
    name: "slow",
    run: async (_input, { signal }) => {
      const stopped = new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(new BotError("ABORTED", "stopped")));
      });
      await Promise.race([promise, stopped]);
      return { text: "looked" };
    },
  });
  const chat = options.chat ?? createChat({ begins: true, ...options });
  const stage = await createStage({ tools: [slow], chat, showAfterMs: 5, ...options });
  journals.add(stage.journal);
  return { stage, chat, slow, letGo: resolve };
}

const kindsOf = ({ shown }: { shown: { kind: string }[] }) => shown.map(({ kind }) => kind);

test("a run that takes a while gets a message, which goes when its answer comes as a new one", async () => {
  const { stage, chat, slow, letGo } = await slowStage();
  await stage.say("run slow name=x");
  const work = stage.settle();
  await until(() => chat.shown.length > 0);
  const [begun] = chat.shown;
  await until(() => slow.runs.length > 0);
  // The tool may start before the message is posted, or after it.
  const told = [...(begun?.kind === "begun" ? begun.soFar : []), ...chat.progress];
  expect(told).toContainEqual(expect.objectContaining({ kind: "tool_started", tool: "slow" }));
  letGo();
  await work;
  expect(kindsOf(chat)).toEqual(["say"]);
  expect(chat.shown[0]?.ref).not.toBe(begun?.ref);
  expect(chat.deliveries.map(({ id }) => id)).toEqual(["begun:r1", "ended:r1"]);
});

test("a quick run has its answer only", async () => {
  const quick = fakeTool({ name: "quick" });
  const { stage, chat } = await slowStage({ tools: [quick], showAfterMs: 5_000 });
  await stage.say("run quick name=x");
  await stage.settle();
  expect(chat.deliveries).toMatchObject([{ id: "ended:r1", isRetry: false }]);
});

test("what was said since then stands above the answer", async () => {
  const { stage, chat, letGo } = await slowStage();
  await stage.say("run slow name=x");
  const work = stage.settle();
  await until(() => chat.shown.length > 0);
  const [begun] = chat.shown;
  await stage.say("help", "test:bob");
  await until(() => chat.answers().length > 0);
  letGo();
  await work;
  expect(kindsOf(chat)).toEqual(["say", "say"]);
  expect(chat.shown.some(({ ref }) => ref === begun?.ref)).toBe(false);
  expect(chat.answers().at(-1)?.results).toMatchObject([{ tool: "slow" }]);
});

test("an action that waits for people has its card and no other message, however long it waits", async () => {
  let now = Date.parse("2026-11-22T03:00:00Z");
  const { stage, chat } = await slowStage({
    tools: [fakeTool({ name: "act", effect: "write" })],
    showAfterMs: 5_000,
    now: () => now,
  });
  await stage.say("run act name=web");
  await stage.settle();
  now += 60_000;
  await stage.settle();
  expect(kindsOf(chat)).toEqual(["card"]);
});

test("a worker that takes over takes the message away and answers in a new one", async () => {
  const first = await slowStage();
  await first.stage.say("run slow name=x");
  const work = first.stage.settle();
  await until(() => first.chat.shown.length > 0);
  const [begun] = first.chat.shown;
  await first.stage.worker.stop(1_000);
  await work;
  const quick = fakeTool({ name: "slow" });
  const second = await slowStage({
    tools: [quick],
    chat: first.chat,
    journal: first.stage.journal,
  });
  await second.stage.settle();
  expect(kindsOf(first.chat)).toEqual(["say"]);
  expect(first.chat.shown[0]?.ref).not.toBe(begun?.ref);
});

test("a platform that refuses to show progress is no reason to keep the answer back", async () => {
  const { stage, chat, letGo } = await slowStage({
    refuse: (what) => {
      if (what === "begun") throw new BotError("PLATFORM_RATE_LIMITED", "wait");
    },
  });
  await stage.say("run slow name=x");
  const work = stage.settle();
  await until(() => chat.deliveries.length > 0);
  letGo();
  await work;
  expect(chat.answers()).toHaveLength(1);
});

const archived = () =>
  new BotError("PLATFORM_REFUSED", "The channel is archived.", {
    retryAfterMs: 60_000,
    refused: "place",
  });

test("what its place refuses for good is told to who asked, and holds nothing back", async () => {
  let isArchived = true;
  const { stage, chat } = await slowStage({
    tools: [fakeTool({ name: "quick" }), fakeTool({ name: "act", effect: "write" })],
    showAfterMs: 5_000,
    refuse: (what) => {
      if (isArchived && what !== "whisper") throw archived();
    },
  });
  await stage.say("run quick name=x");
  await stage.settle();
  await stage.say("run act name=x");
  await stage.settle();
  expect(chat.shown.map((each) => each.kind === "whisper" && each.to)).toEqual([
    "test:ana",
    "test:ana",
  ]);
  expect(chat.whispers()[0]).toContain("The channel is archived.");
  expect(chat.shown[0]).toMatchObject({ offer: { answer: { results: [{ text: "did x" }] } } });
  expect(chat.whispers()[1]).toMatch(/a1 \(act\)/);
  const alarms: unknown[] = [];
  for await (const line of auditLines(stage.journal, { key: KEY, since: 0 }))
    if (line.includes('"kind":"delivered"')) alarms.push(JSON.parse(line));
  const instead = { to: "asker", why: "The channel is archived." };
  expect(alarms).toMatchObject([
    { entry: "ended:r1", instead },
    { entry: expect.stringContaining("a1"), instead },
  ]);
  // Nobody there could read what would run.
  await stage.say("approve a1", "test:bob");
  await stage.settle();
  expect(chat.whispers().at(-1)).toContain("has not been shown here");
  expect(chat.shown.at(-1)).toMatchObject({ offer: { approves: [{ mustOpen: true }] } });
  const votes = async () =>
    (await stage.journal.read(KEY)).filter(({ kind }) => kind === "vote").length;
  expect(await votes()).toBe(0);
  // The next word that stands there brings the card with it.
  isArchived = false;
  await stage.say("run quick name=y");
  await stage.settle();
  expect(chat.cards()).toMatchObject([{ action: "a1", phase: "open" }]);
  await stage.say("approve a1", "test:bob");
  await stage.settle();
  expect(await votes()).toBe(1);
});

test("what who asked can't be told is told to the operations channel, without its words", async () => {
  const { stage } = await slowStage({
    tools: [fakeTool({ name: "quick", run: async () => ({ text: "a private thing" }) })],
    showAfterMs: 5_000,
    ops: "test:T1:ops",
    refuse: () => {
      throw archived();
    },
  });
  await stage.say("run quick name=x");
  await stage.settle();
  expect((await stage.journal.read(KEY)).at(-1)).toMatchObject({
    kind: "delivered",
    instead: { to: "ops", why: "The channel is archived." },
  });
  const told = await stage.journal.read("ops:test:T1:ops");
  expect(told).toMatchObject([{ text: expect.stringContaining("the answer of r1") }]);
  expect(JSON.stringify(told)).not.toContain("private");
});

test("what can be shown to nobody is owed for ten minutes, and then holds nothing back", async () => {
  let isArchived = true;
  let now = Date.parse("2026-11-22T03:00:00Z");
  const { stage, chat } = await slowStage({
    tools: [fakeTool({ name: "quick" })],
    showAfterMs: 5_000,
    now: () => now,
    refuse: () => {
      if (isArchived) throw archived();
    },
  });
  await stage.say("run quick name=x");
  await stage.settle();
  const delivered = async () =>
    (await stage.journal.read(KEY)).filter(({ kind }) => kind === "delivered").length;
  expect(await delivered()).toBe(0);
  now += 601_000;
  await stage.settle();
  expect(await delivered()).toBe(1);
  expect((await stage.journal.read(KEY)).at(-1)).toMatchObject({ instead: { to: "nobody" } });
  isArchived = false;
  await stage.say("run quick name=y");
  await stage.settle();
  expect(chat.answers()).toMatchObject([{ run: "r2" }]);
});

test("what was refused comes again after the time that the platform asks for, and is looked for first", async () => {
  let refusals = 1;
  let now = Date.parse("2026-11-22T03:00:00Z");
  const { stage, chat } = await slowStage({
    tools: [fakeTool({ name: "quick" })],
    showAfterMs: 5_000,
    now: () => now,
    refuse: (what) => {
      if (what !== "say" || refusals-- <= 0) return;
      throw new BotError("PLATFORM_RATE_LIMITED", "wait", { retryAfterMs: 30_000 });
    },
  });
  await stage.say("run quick name=x");
  await stage.settle();
  expect(chat.answers()).toEqual([]);
  for await (const { dueAt } of stage.journal.list({ prefix: KEY })) {
    expect(dueAt).toBeGreaterThanOrEqual(now + 29_000);
  }
  now += 31_000;
  await stage.settle();
  expect(chat.answers()).toHaveLength(1);
  expect(chat.deliveries).toMatchObject([
    { id: "ended:r1", isRetry: false },
    { id: "ended:r1", isRetry: true, orphan: "begun:r1" },
  ]);
});

test("an answer by a worker that takes over names the progress message which its predecessor may have left unrecorded", async () => {
  const { stage, chat } = await slowStage({
    tools: [fakeTool({ name: "quick" })],
    showAfterMs: 5_000,
  });
  const asked = await stage.say("run quick name=x");
  const taken = await stage.journal.lease(KEY, 1);
  const calls = [{ call: "r1.t1", tool: "quick", args: { name: "x" } }];
  const begun = { run: "r1", answers: [asked], principals: ["test:ana"], calls };
  expect(taken).toBeDefined();
  if (taken !== undefined) {
    await stage.journal.append(taken.lease, 1, [{ id: "run:r1", kind: "run_started", ...begun }]);
  }
  await new Promise((resolve) => setTimeout(resolve, 5));
  await stage.settle();
  expect(chat.deliveries).toMatchObject([{ id: "ended:r1", isRetry: false, orphan: "begun:r1" }]);
});

test("what a platform took without saying so is looked for, also right after, when somebody writes", async () => {
  const chat = createChat();
  const view = chat.adapter.view(KEY);
  const again: boolean[] = [];
  let isFirst = true;
  const forgetful: typeof view = view && {
    ...view,
    async post(message, delivery) {
      again.push(delivery.isRetry);
      const ref = await view.post(message, delivery);
      if (!isFirst) return ref;
      isFirst = false;
      throw new Error("ECONNRESET after the request was sent");
    },
  };
  chat.adapter.view = () => forgetful;
  const { stage } = await slowStage({ tools: [fakeTool({ name: "quick" })], chat });
  await stage.say("run quick name=x");
  await stage.settle();
  await stage.say("tools");
  await stage.settle();
  expect(chat.deliveries.map(({ id }) => id)).toEqual(["ended:r1", "ended:r1", "ended:r2"]);
  expect(again).toEqual([false, true, false]);
});

test("what was refused is looked for also by the worker that goes on with something else", async () => {
  const gate = Promise.withResolvers<{ text: string }>();
  let refusals = 1;
  const { stage, chat } = await slowStage({
    tools: [fakeTool({ name: "quick" }), fakeTool({ name: "look", run: () => gate.promise })],
    showAfterMs: 60_000,
    refuse: (what) => {
      if (what !== "say" || refusals-- <= 0) return;
      throw new BotError("PLATFORM_RATE_LIMITED", "wait", { retryAfterMs: 20 });
    },
  });
  await stage.say("run look name=x");
  await stage.say("run quick name=x");
  const working = stage.settle();
  await until(() => chat.answers().length === 1);
  expect(chat.deliveries.map(({ id, isRetry }) => ({ id, isRetry }))).toEqual([
    { id: "ended:r2", isRetry: false },
    { id: "ended:r2", isRetry: true },
  ]);
  gate.resolve({ text: "seen" });
  await working;
});

test("an answer that a stopped worker wrote down and did not show is looked for by the next one", async () => {
  const chat = createChat({
    refuse: () => {
      throw new Error("down");
    },
  });
  const { stage } = await slowStage({ tools: [fakeTool({ name: "quick" })], chat });
  await stage.say("run quick name=x");
  await stage.settle();
  const calm = createChat();
  const next = await createStage({ journal: stage.journal, chat: calm });
  await next.settle();
  expect(calm.deliveries).toMatchObject([{ id: "ended:r1", isRetry: true }]);
});

test("a message begun after an edit shows the arguments that run, not those first asked for", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const act = fakeTool({
    name: "act",
    effect: "write",
    run: async () => {
      now += 61_000;
      await promise;
      return { text: "acted" };
    },
  });
  // The minute passes once it runs, and the next renewal of the lease tells of it: no machine is as slow before.
  let now = Date.parse("2026-11-22T03:00:00Z");
  const times = { now: () => now, showAfterMs: 60_000, leaseMs: 300 };
  const { stage, chat } = await slowStage({ tools: [act], ...times });
  await stage.say("run act name=web");
  await stage.settle();
  await stage.click("a1", { kind: "edit", args: { name: "db" } }, "test:bob");
  await stage.settle();
  expect(kindsOf(chat)).not.toContain("begun");
  await stage.click("a1", { kind: "approve" }, "test:cy", 2);
  const work = stage.settle();
  const begun = () => chat.shown.find((each) => each.kind === "begun");
  await until(() => begun() !== undefined);
  const shown = begun();
  resolve();
  await work;
  expect(shown).toMatchObject({ soFar: [{ kind: "tool_started", args: { name: "db" } }] });
  expect(act.runs).toEqual(["db"]);
});

test("a check is told in its tool's words, without secrets and at most 100 characters of them", async () => {
  const doing = ({ name }: { name: string }) => `Looking at ${name}\nwith key-1 ${"x".repeat(200)}`;
  const look = fakeTool({ name: "look", doing });
  const chat = createChat({ begins: true });
  const hide = (text: string) => text.replaceAll("key-1", "[secret]");
  const { stage } = await slowStage({ tools: [look], chat, hide });
  await stage.say("run look name=web");
  await stage.settle();
  const finished = (await stage.journal.read(KEY)).find(({ kind }) => kind === "tool_finished");
  const said = finished?.kind === "tool_finished" ? finished.doing : undefined;
  expect(said).toMatch(/^Looking at web with \[secret\] x+…$/);
  expect(said?.length).toBeLessThanOrEqual(100);
  expect(chat.progress).toContainEqual(
    expect.objectContaining({ kind: "tool_started", doing: said }),
  );
  expect(chat.answers().at(-1)?.results).toMatchObject([{ tool: "look", doing: said }]);
});
