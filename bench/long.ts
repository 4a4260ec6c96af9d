import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NO_USAGE } from "../src/core/block.ts";
import type { JournalKey } from "../src/core/journal-key.ts";
import { openSqliteJournal } from "../src/journal/sqlite/journal.ts";
import type { Model } from "../src/models/model.ts";
import { createChat } from "../test/fakes/chat.ts";
import { createStage, fakeTool } from "../test/fakes/stage.ts";
import { type Figure, median } from "./journal.ts";
import { ANSWER, createWorld } from "./peers/peer.ts";

/** Entries of a thread, about. */
const SHORT = 10;
const LONG = 10_000;
/** Of each length: threads that a new worker takes up. */
const THREADS = 3;
const MENTIONS = 40;

const ANA = { account: "test:ana", name: "ana" };

/** A worker on a file, and a model that calls `look` so many times in each run before it answers. */
async function openBot(path: string) {
  const journal = await openSqliteJournal({ path });
  const world = createWorld();
  const looks = { left: 0 };
  let calls = 0;
  const model: Model = {
    id: "bench/script",
    contextWindow: 1e9,
    async generate() {
      const usage = { ...NO_USAGE, input: 1, output: 1 };
      if (looks.left-- <= 0)
        return { content: [{ kind: "text", text: ANSWER }], stop: "end_turn", usage };
      const id = `call_${++calls}`;
      const input = JSON.stringify({ name: `web-${calls.toString(26)}` });
      return { content: [{ kind: "tool_use", id, name: "look", input }], stop: "tool_use", usage };
    },
  };
  const look = fakeTool({
    name: "look",
    run: async (input) => ({ text: await world.look(input) }),
  });
  const stage = await createStage({
    journal,
    model,
    tools: [look],
    chat: createChat(),
    talk: {
      contextWindow: 1e9,
      tokensPerDay: 1e12,
      budget: { steps: 1_000, tokens: 1e9, minutes: 60 },
    },
  });
  let posts = Date.now();
  /** From the message to when its answer is shown and the thread was let go, ms. */
  async function mention(key: JournalKey, reads = 0): Promise<number> {
    looks.left = reads;
    const began = performance.now();
    await journal.post(key, {
      id: `msg:${++posts}`,
      kind: "message",
      actor: ANA,
      text: "Why is the shop slow?",
    });
    await stage.worker.work(key);
    return performance.now() - began;
  }
  return { journal, mention };
}

type Bot = Awaited<ReturnType<typeof openBot>>;

async function grow({ journal, mention }: Bot, key: JournalKey, entries: number): Promise<void> {
  for (let last = 0; last < entries; last = (await journal.summary(key))?.last ?? 0)
    await mention(key, entries > SHORT ? 15 : 1);
}

const keyOf = (name: string, i: number): JournalKey => `test:${name}${i}`;

/** A mention in a thread of some entries and in one of many, by turns: by the worker that has both, and by one that has neither. */
export async function longFigures(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "wk-bench-"));
  const path = join(folder, "long.db");
  const bot = await openBot(path);
  for (let i = 0; i < THREADS; i++) {
    await grow(bot, keyOf("long", i), LONG);
    await grow(bot, keyOf("short", i), SHORT);
  }
  const same = await alternate(bot, MENTIONS, () => 0);
  await bot.journal.close();
  const other = await openBot(path);
  const taken = await alternate(other, THREADS, (i) => i);
  await other.journal.close();
  rmSync(folder, { recursive: true });
  const name = `mention at ${SHORT} / ${LONG} entries`;
  return [
    { name: `${name}, the worker has the threads (aim ≤ 2 times)`, value: same },
    { name: `${name}, a new worker (aim ≤ 10 ms)`, value: taken },
  ];
}

async function alternate(
  bot: Bot,
  mentions: number,
  thread: (i: number) => number,
): Promise<string> {
  const short: number[] = [];
  const long: number[] = [];
  for (let i = 0; i < mentions; i++) {
    short.push(await bot.mention(keyOf("short", thread(i))));
    long.push(await bot.mention(keyOf("long", thread(i))));
  }
  const [one, many] = [median(short), median(long)];
  return `${one.toFixed(1)} / ${many.toFixed(1)} ms; × ${(many / one).toFixed(2)}`;
}
