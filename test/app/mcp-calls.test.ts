import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { assemble, type Bot } from "../../src/app/assemble.ts";
import { createCaller } from "../../src/app/mcp-calls.ts";
import { loadConfig } from "../../src/config/config.ts";

test("an agent is not told what the store has lost meanwhile", async () => {
  const folder = await mkdtemp(join(tmpdir(), "watchkeeper-mcp-"));
  const config = await loadConfig({ DATA_DIR: folder }, { cwd: folder });
  const bot = await assemble(config, pino({ level: "silent" }), { local: true });
  onTestFinished(async () => {
    await bot.stop();
    await rm(folder, { recursive: true });
  });
  const account = "terminal:ana";
  const caller = createCaller({ account, threads: "terminal:mcp-", tenants: "all" });
  bot.start(caller.adapter);
  const text = "/run tcp_check host=127.0.0.1 port=1";
  const call = { name: "agent a", tool: "tcp_check", text };
  const { thread } = await caller.call(bot, call, new AbortController().signal);

  let reads = 0;
  const read: Bot["journal"]["read"] = async (key) => {
    const entries = await bot.journal.read(key);
    const newest = entries.at(-1);
    reads += 1;
    if (newest === undefined || reads > 1) return entries;
    return [...entries, { ...newest, seq: newest.seq + 1, id: "lost", head: "lost" }];
  };
  const setBack = { ...bot, journal: { ...bot.journal, read } };
  expect(await caller.standing(setBack, thread)).toMatchObject({ status: "completed" });
  expect(reads).toBe(2);
});
