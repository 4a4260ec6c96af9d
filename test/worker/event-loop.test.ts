import { setImmediate as turnOfLoop } from "node:timers/promises";
import { expect, test } from "vitest";
import { createAside } from "../../src/security/encoder-thread.ts";
import { createEncoder } from "../../src/security/encoder.ts";
import { shownPart } from "../../src/worker/thread/model-call.ts";
import { createWatchdog, startWatchdog } from "../../src/app/watchdog.ts";
import { cpuMs } from "../cpu-time.ts";
import { createQueries } from "../../src/queries/queries.ts";
import { JournalContext } from "../../src/worker/key-handler.ts";
import { catchUp } from "../../src/worker/store.ts";
import { createThreadHandler } from "../../src/worker/thread/thread-handler.ts";
import { createStage, KEY } from "../fakes/stage.ts";

/** How many turns the event loop takes until the work is done. */
async function turnsDuring(work: Promise<unknown>, onTurn = () => {}): Promise<number> {
  const over = new AbortController();
  const ended = work.finally(() => over.abort());
  let turns = 0;
  for (; !over.signal.aborted; turns += 1) {
    await turnOfLoop();
    onTurn();
  }
  await ended;
  return turns;
}

test("messages that wait in a long row are taken up one after the other, and the loop turns in between", async () => {
  const stage = await createStage();
  const messages = 2_000;
  for (let i = 0; i < messages; i += 1) await stage.say(`message ${i}`);
  const answered = [0];
  await turnsDuring(stage.settle(), () => answered.push(stage.chat.answers().length));
  const atOnce = answered.slice(1).map((count, i) => count - (answered[i] ?? 0));
  expect(Math.max(...atOnce)).toBeLessThan(messages / 4);
  expect(stage.chat.answers()).toHaveLength(messages);
});

/** A stage whose thread has that many messages waiting. */
async function waiting(messages: number) {
  const stage = await createStage();
  for (let i = 0; i < messages; i += 1) await stage.say(`message ${i}`);
  return stage;
}

test("a worker folds a long journal a page at a time, and the loop turns between two pages", async () => {
  const { parts, chat, journal } = await waiting(2_000);
  const threads = createThreadHandler(parts, chat.adapter);
  let turns = 0;
  const folded: { entries: number; turn: number }[] = [];
  const handler: typeof threads = {
    ...threads,
    fold(state, entries) {
      folded.push({ entries: entries.length, turn: turns });
      threads.fold(state, entries);
    },
  };
  const granted = await journal.lease(KEY, 60_000);
  if (granted === undefined) throw new Error("no lease");
  const ctx = new JournalContext(parts, handler, granted, handler.empty(), performance.now());
  Object.assign(ctx, handler.open(ctx));
  const over = new AbortController();
  const catchingUp = catchUp(ctx).finally(() => over.abort());
  for (; !over.signal.aborted; turns += 1) await turnOfLoop();
  await catchingUp;
  expect(ctx.state.last).toBe(2_000);
  expect(Math.max(...folded.map(({ entries }) => entries))).toBeLessThanOrEqual(256);
  expect(new Set(folded.map(({ turn }) => turn)).size).toBe(folded.length);
});

test("a question about a long thread, or for its history, leaves the loop its turns", async () => {
  const { journal } = await waiting(2_000);
  const queries = createQueries(journal, [], (text) => text);
  const pages = Math.floor(2_000 / 256);
  expect(await turnsDuring(queries.thread(KEY))).toBeGreaterThanOrEqual(pages);
  expect(await turnsDuring(queries.history(KEY, 10))).toBeGreaterThanOrEqual(pages);
});

test("a long text is encoded beside the loop, to the same as at once", async () => {
  const encoder = createEncoder([{ name: "KEY", value: "Zt9-qLw27_xKfPz4RbNcTy83" }]);
  const hostile = "password= \" Zt9-qLw27_xKfPz4RbNcTy83 'token': ".repeat(2_000);
  const encoding = encoder.aside.encode(hostile);
  let settled = false;
  void encoding.finally(() => {
    settled = true;
  });
  await turnOfLoop();
  // What is done at once is done after one turn.
  expect(settled).toBe(false);
  expect(await encoding).toBe(encoder.encode(hostile));
  expect(await encoder.aside.hide(hostile)).toBe(encoder.hide(hostile));
  expect(await encoder.aside.encode("short Zt9-qLw27_xKfPz4RbNcTy83")).toBe("short [secret:KEY]");
});

test("long texts asked for together each get their own answer", async () => {
  const encoder = createEncoder([]);
  const texts = ["a", "b", "c"].map((letter) => `${letter} `.repeat(20_000));
  expect(await Promise.all(texts.map((text) => encoder.aside.encode(text)))).toEqual(texts);
});

test("a text that takes too long to encode is given up, and the next one gets a thread of its own", async () => {
  // A thread does not even start in a millisecond.
  const hurried = createAside(() => [], 1);
  for (const text of ["first", "second"])
    await expect(hurried(["encode", text])).rejects.toMatchObject({ name: "AbortError" });
  expect(await createAside(() => [])(["encode", "third"])).toBe("third");
});

test("what is shown of a draft ends before its last words, and is found in time in proportion to it", async () => {
  expect(shownPart(`one two ${"x".repeat(150)} ${"y".repeat(60)}`)).toBe("one two ");
  // Looking for the last word from each place of the long one took seconds.
  const text = `${"#".repeat(100_000)} ${"on ".repeat(100)}`;
  expect(await cpuMs(() => expect(shownPart(text)).toMatch(/^#+ (?:on )+$/))).toBeLessThan(2_000);
});

test("the watchdog logs what held the loop, how long and during which work, at most once a second", () => {
  let time = 0;
  const lines: unknown[] = [];
  const look = createWatchdog({
    log: { warn: (line: unknown) => lines.push(line) },
    atWork: () => ["slack:T1:C1:1 call:r1.t1"],
    now: () => time,
  });
  const after = (ms: number) => {
    time += ms;
    look();
  };
  after(20);
  after(90);
  expect(lines).toEqual([]);
  after(170);
  expect(lines).toEqual([{ times: 1, longestMs: 150, atWork: ["slack:T1:C1:1 call:r1.t1"] }]);
  after(320);
  after(220);
  expect(lines).toHaveLength(1);
  after(500);
  expect(lines[1]).toMatchObject({ times: 3, longestMs: 480 });
});

test("a hold while the program starts is not reported, one after it is", () => {
  let time = 0;
  const lines: unknown[] = [];
  const log = { warn: (line: unknown) => lines.push(line) };
  const look = createWatchdog({ log, atWork: () => [], afterMs: 3_000, now: () => time });
  for (const at of [20, 2_000, 2_990]) {
    time = at;
    look();
  }
  expect(lines).toEqual([]);
  time = 4_000;
  look();
  expect(lines).toEqual([{ times: 1, longestMs: 990, atWork: [] }]);
});

test("a loop that was really held is noticed", async () => {
  const lines: unknown[] = [];
  const watchdog = startWatchdog({
    log: { warn: (line: unknown) => lines.push(line) },
    atWork: () => [],
  });
  const until = performance.now() + 150;
  while (performance.now() < until);
  await expect.poll(() => lines.length, { interval: 5 }).toBeGreaterThan(0);
  await watchdog.stop();
});
