import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { assemble } from "../../src/app/assemble.ts";
import { connectPlatforms, loadPlatforms } from "../../src/app/platforms.ts";
import { loadConfig } from "../../src/config/config.ts";
import { isThanks } from "../../src/thread/tone.ts";
import { FakeDiscord } from "../fakes/discord/discord.ts";
import { FakeSlack } from "../fakes/slack/slack.ts";
import { until } from "../until.ts";

/** More threads than are worked on at once. */
const THREADS = 80;

/** Slack with Ana and Discord with Dora, and a program that serves both. */
async function serve() {
  const [slack, discord] = await Promise.all([FakeSlack.start(), FakeDiscord.start()]);
  onTestFinished(async () => void (await Promise.all([slack.stop(), discord.stop()])));
  const ana = slack.addUser({ name: "ana" });
  const ops = slack.addChannel({ name: "ops", members: [ana] });
  const guild = discord.addGuild({ name: "corp" });
  const dora = discord.addUser({ name: "dora" });
  discord.addMember(guild, dora);
  const war = discord.addChannel(guild, { name: "war-room" });
  const folder = await mkdtemp(join(tmpdir(), "wk-hang-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const env = {
    DATA_DIR: join(folder, "data"),
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    DISCORD_GUILDS: guild.id,
    DRAIN_SECONDS: "1",
  };
  const config = await loadConfig(env, { cwd: folder });
  const log = pino({ level: "silent" });
  const bot = await assemble(config, log, { local: false });
  const platforms = await loadPlatforms(config, log);
  bot.start(...platforms);
  const { signal } = new AbortController();
  await connectPlatforms(platforms, { ...bot, isThanks }, { log, signal });
  onTestFinished(() => bot.stop());
  return { slack, ana, ops, discord, dora, war };
}

test("while Slack answers nothing any more, whatever it is asked in 80 threads, Discord is served", async () => {
  const { slack, ana, ops, discord, dora, war } = await serve();
  slack.fail("*", { times: 10_000, timeout: true });
  for (let i = 0; i < THREADS; i += 1) slack.say(ana, ops, "help", { mention: true });
  const asked = () => new Set(slack.calls.map(({ args }) => args["thread_ts"])).size;
  await until(() => asked() >= THREADS);
  const first = discord.say(dora, war, "help", { mention: true });
  const answers = () => {
    const thread = discord.threadOf(first);
    return thread === undefined ? [] : discord.messages(thread);
  };
  await until(() => answers().length > 0);
  // Nothing went to Slack meanwhile.
  expect(slack.calls.filter(({ status }) => status !== 0 && status !== 200)).toEqual([]);
  expect(slack.messages(ops)).toHaveLength(THREADS);
});
