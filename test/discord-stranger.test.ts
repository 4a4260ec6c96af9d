import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { FakeDiscord, type FakeChannel, type FakeUser } from "./fakes/discord/discord.ts";
import { collect, Program } from "./fakes/program.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean();
});

/** The program itself on a server with Ana, and Mallory, who has another server with the bot in it. */
async function scene() {
  const discord = await FakeDiscord.start();
  cleanups.push(() => discord.stop());
  const guild = discord.addGuild({ name: "corp" });
  const ana = discord.addUser({ name: "ana" });
  discord.addMember(guild, ana);
  const ops = discord.addChannel(guild, { name: "ops" });
  const lair = discord.addGuild({ name: "lair" });
  const mallory = discord.addUser({ name: "mallory" });
  discord.addMember(lair, mallory);
  const program = new Program({
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    DISCORD_GUILDS: guild.id,
  });
  cleanups.push(() => program.remove());
  const child = program.start();
  const log = collect(child.stderr);
  await expect.poll(log).toContain('"serving"');
  const shown = (channel: FakeChannel) =>
    discord
      .messages(channel)
      .filter(({ author }) => author === discord.botUser)
      .map((message) => discord.textOf(message))
      .join("\n");
  const ask = (who: FakeUser, channel: FakeChannel, text: string) =>
    discord.say(who, channel, text, { mention: channel.guildId !== undefined });
  const inThread = async (message: string) => {
    await expect.poll(() => discord.threadOf(message)).toBeDefined();
    const thread = discord.threadOf(message);
    if (thread === undefined) throw new Error("no thread was opened");
    return thread;
  };
  return { discord, program, ana, ops, lair, mallory, log, shown, ask, inThread };
}

test("a stranger runs nothing and reads nothing: not from a server of their own, not by direct message", async () => {
  const { discord, program, ana, ops, lair, mallory, log, shown, ask, inThread } = await scene();
  const opened = await inThread(ask(ana, ops, "incident open Checkout leaks severity=sev1"));
  await expect.poll(() => shown(opened)).toContain("Opened inc");
  const mark = join(program.folder, "pwned");
  const order = `run run_command argv='["/usr/bin/touch","${mark}"]'`;
  const channel = discord.addChannel(lair, { name: "lair" });
  const dm = discord.openDm(mallory);
  const orders = [ask(mallory, channel, order), ask(mallory, channel, "incidents search checkout")];
  ask(mallory, dm, order);
  ask(mallory, dm, "incidents search checkout");
  await expect
    .poll(() => shown(dm))
    .toContain("I only answer members of the servers that I serve.");
  await expect.poll(log).toContain("a message from a server that is not served was refused");
  // What came after it was answered, so what came before it was looked at.
  const last = await inThread(ask(ana, ops, "incidents search checkout"));
  await expect.poll(() => shown(last)).toContain("Checkout leaks");
  expect(orders.map((message) => discord.threadOf(message))).toEqual([undefined, undefined]);
  expect(shown(channel)).toBe("");
  expect(shown(dm)).not.toMatch(/Approve|Checkout leaks/);
  expect(existsSync(mark)).toBe(false);
}, 40_000);
