import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { assemble } from "../../src/app/assemble.ts";
import { connectPlatforms, loadPlatforms } from "../../src/app/platforms.ts";
import { loadConfig } from "../../src/config/config.ts";
import { isThanks } from "../../src/thread/tone.ts";
import { inDiscord, inSlack } from "../alerts/chats.ts";
import { until } from "../until.ts";

const log = pino({ level: "silent" });

test.each([
  ["slack", inSlack],
  ["discord", inDiscord],
])(
  "%s: the whole program answers beneath a listed bot's alert, without a webhook and without a model",
  async (name, open) => {
    const { channel, bot: listed, env, say, threadOf, shown, pings } = await open();
    const folder = await mkdtemp(join(tmpdir(), "wk-bots-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const yaml = `${name}: { bots: ["${listed}"] }\n`;
    await writeFile(join(folder, "watchkeeper.yaml"), yaml, { mode: 0o600 });
    const config = await loadConfig({ ...env, DATA_DIR: join(folder, "data") }, { cwd: folder });
    const bot = await assemble(config, log, { local: false });
    const platforms = await loadPlatforms(config, log);
    bot.start(...platforms);
    onTestFinished(() => bot.stop());
    const terms = { log, signal: new AbortController().signal };
    await connectPlatforms(platforms, { ...bot, isThanks }, terms);

    const id = say("firing", "shop");
    await until(async () => (await bot.journal.read(`alerts:${channel}`)).length > 0);
    await until(async () => {
      const entries = await bot.journal.read(threadOf(id));
      return entries.some(({ kind }) => kind === "run_ended");
    });
    say("resolved", "shop");
    await until(async () => {
      const entries = await bot.journal.read(threadOf(id));
      return entries.some((entry) => entry.kind === "alert_state" && entry.overAt !== undefined);
    });
    await until(() => shown(id).length > 0);
    const runs = (await bot.journal.read(threadOf(id))).filter(
      ({ kind }) => kind === "run_started",
    );
    expect(runs).toHaveLength(1);
    expect(pings()).toEqual([]);
  },
);
