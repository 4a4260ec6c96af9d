import { createServer } from "node:net";
import { setImmediate as turnOfLoop } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { pino } from "pino";
import { createDiscord } from "../../../src/adapters/discord/adapter.ts";
import { plainNotice } from "../../../src/adapters/render/phrases.ts";
import { answer, type Bot, holds, openBot, until } from "./harness.ts";

let bot: Bot | undefined;
afterEach(async () => {
  await bot?.close();
  bot = undefined;
});

test("without the privileged intent it does not start, and says where to switch it on", async () => {
  bot = await openBot({ discord: { privileged: [] }, start: false });
  await expect(bot.adapter.start(bot.parts)).rejects.toMatchObject({
    code: "PLATFORM_REFUSED",
    message: expect.stringMatching(/Message Content Intent.*discord\.com\/developers/),
  });
  expect(await bot.adapter.examine()).toContainEqual({
    ok: false,
    text: expect.stringContaining("Message Content Intent is off"),
  });
});

test.each([
  [4010, "does not know this shard"],
  [4011, "too many servers for one connection"],
  [4013, "newer version"],
])("a connection that Discord refuses for good (%i) says why: %s", async (refuseWith, words) => {
  bot = await openBot({ discord: { refuseWith }, start: false });
  await expect(bot.adapter.start(bot.parts)).rejects.toMatchObject({
    code: "PLATFORM_REFUSED",
    message: expect.stringContaining(words),
  });
});

test("a wrong token is refused by name of its variable, and never shown", async () => {
  bot = await openBot({ token: "MTIz.wrong.token-that-is-secret", start: false });
  const refused = { code: "PLATFORM_REFUSED", message: expect.stringContaining("DISCORD_TOKEN") };
  await expect(bot.adapter.start(bot.parts)).rejects.toMatchObject(refused);
  await expect(bot.adapter.examine()).rejects.toMatchObject(refused);
  await expect(bot.adapter.start(bot.parts)).rejects.not.toMatchObject({
    message: expect.stringContaining("secret"),
  });
});

test("a Discord that cannot be reached is away, and starting again later works", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  await new Promise((resolve) => server.close(resolve));
  const adapter = createDiscord({
    token: "x",
    apiUrl: `http://127.0.0.1:${port}/api`,
    log: pino({ level: "silent" }),
  });
  const parts = { inbox: { post: async () => {} } } as never;
  await expect(adapter.start(parts)).rejects.toMatchObject({ code: "PLATFORM_UNREACHABLE" });
  await adapter.stop();
  bot = await openBot({ start: false });
  bot.discord.fail("GET /gateway/bot", { status: 503 });
  await expect(bot.adapter.start(bot.parts)).rejects.toMatchObject({
    code: "PLATFORM_UNREACHABLE",
  });
  expect(bot.adapter.view("discord:dm:123456789012345678")).toBeUndefined();
  await bot.adapter.start(bot.parts);
  expect(bot.adapter.view("discord:dm:123456789012345678")).toBeDefined();
});

test("a conversation is begun, and a channel told something, only where it was named: in a served server, and in no thread", async () => {
  bot = await openBot({ guilds: (_, { id }) => [id] });
  const { adapter, discord, guild } = bot;
  const thread = await bot.begin();
  const theirs = discord.addChannel(discord.addGuild(), { name: "ops" });
  const named = `discord:${guild.id}:${theirs.id}`;
  const refused = { code: "PLATFORM_REFUSED", refused: "place" };
  const once = { id: "told:1", isRetry: false };
  await expect(adapter.channelAt(named)).rejects.toMatchObject(refused);
  await expect(adapter.open(named, "Mirror of a thread", once)).rejects.toMatchObject(refused);
  const told = adapter.announce?.(named, plainNotice("An alarm."), once);
  await expect(told).rejects.toMatchObject(refused);
  const here = `discord:${guild.id}:${thread.id}`;
  await expect(adapter.open(here, "Mirror of a thread", once)).rejects.toMatchObject(refused);
  expect([discord.messages(theirs), bot.shown(thread)]).toEqual([[], []]);

  // Begun again after a crash it is the same one.
  const ours = `discord:${guild.id}:${bot.ops.id}`;
  const begun = await adapter.open(ours, "Mirror of a thread", once);
  expect(await adapter.open(ours, "Mirror of a thread", { ...once, isRetry: true })).toBe(begun);
  const { has, ...there } = await adapter.channelAt(ours);
  expect(there).toEqual({ name: `#${bot.ops.name}`, isPublic: true });
  expect(await Promise.all([has(`discord:${bot.ana.id}`), has("discord:77")])).toEqual([
    true,
    false,
  ]);
});

test("after the connection broke off nothing is lost: a resumed session brings what came meanwhile", async () => {
  bot = await openBot();
  const thread = await bot.begin();
  bot.discord.dropConnections();
  bot.discord.say(bot.bob, thread, "meanwhile");
  await until(async () => (await bot?.texts(thread))?.includes("meanwhile") === true);
  expect(await bot.texts(thread)).toEqual(["is web well?", "meanwhile"]);
});

test(
  "after a session that could not be resumed the bot's own threads are read again, each message once",
  { timeout: 60_000 },
  async () => {
    bot = await openBot();
    const thread = await bot.begin();
    await bot.view(thread).post(answer("r1", "yes"), { id: "ended:r1", isRetry: false });
    // A bot may begin a session every 5 s, and the library keeps to that.
    bot.discord.dropConnections({ resumable: false });
    bot.discord.say(bot.ana, thread, "and db?");
    bot.discord.say(bot.bob, thread, `<@${bot.ana.id}> lunch?`);
    await until(async () => (await bot?.texts(thread))?.includes("and db?") === true);
    await until(async () => (await bot?.texts(thread))?.includes("@ana lunch?") === true);
    expect(await bot.texts(thread)).toEqual(["is web well?", "and db?", "@ana lunch?"]);
  },
);

test("a process that starts takes up what was written in the bot's threads and asked in channels while none ran", async () => {
  bot = await openBot();
  const thread = await bot.begin();
  const other = createDiscord({
    token: bot.discord.token,
    apiUrl: bot.discord.apiUrl,
    log: pino({ level: "silent" }),
  });
  await bot.adapter.stop();
  const missed = Array.from({ length: 31 }, (_, i) => `line ${i}`);
  for (const text of missed) bot.discord.say(bot.ana, thread, text);
  bot.discord.say(bot.ana, bot.ops, "lunch?");
  const asked = bot.discord.say(bot.bob, bot.ops, "is db well?", { mention: true });
  await other.start(bot.parts);
  // A question in a channel begins its thread; of many messages the newest are taken, and people are told of the rest.
  await until(() => bot?.discord.threadOf(asked) !== undefined);
  await until(async () => (await bot?.texts(thread))?.includes("line 30") === true);
  expect(await bot.texts(thread)).toEqual(["is web well?", ...missed.slice(1)]);
  expect(bot.shown(thread)).toEqual([expect.stringMatching(/^I was away and didn't read/)]);
  await other.stop();
});

test("it is up while a shard is connected, and not before, between and after", async () => {
  bot = await openBot({ start: false });
  const { adapter, discord, parts } = bot;
  expect(adapter.isUp()).toBe(false);
  await adapter.start(parts);
  expect(adapter.isUp()).toBe(true);
  discord.dropConnections();
  // Between two timers it may be back: each turn of the event loop is looked at.
  while (adapter.isUp()) await turnOfLoop();
  await until(() => adapter.isUp());
  await adapter.stop();
  expect(adapter.isUp()).toBe(false);
});

test("stopping while it tries to connect again leaves no connection behind", async () => {
  bot = await openBot();
  bot.discord.dropConnections();
  await until(() => bot?.log.some(({ msg }) => msg === "connecting to Discord again") === true);
  await bot.adapter.stop();
  const before = bot.discord.calls.length;
  // The library waits half a second before it connects again.
  await holds(() => bot?.discord.connected === 0, 1_000);
  expect(bot.discord.calls.length).toBe(before);
});

test("the doctor is told of the token, the gateway, the intents, and how to invite the bot", async () => {
  bot = await openBot({ start: false });
  const found = await bot.adapter.examine();
  expect(found.every(({ ok }) => ok)).toBe(true);
  const text = found.map((each) => each.text).join("\n");
  expect(text).toContain("The gateway answers");
  expect(text).toContain("Message Content Intent is on");
  expect(text).toContain("Server Members Intent is off");
  expect(text).toMatch(
    new RegExp(
      `oauth2/authorize\\?client_id=${bot.discord.application.id}&scope=bot\\+applications\\.commands&permissions=309237713920`,
    ),
  );
  expect(bot.discord.connected).toBe(0);
});

test("whether the bot can say something in a channel is known before it starts", async () => {
  bot = await openBot({ start: false });
  const { adapter, guild, ops } = bot;
  expect(await adapter.examineChannel(`discord:${guild.id}:${ops.id}`)).toBeUndefined();
  expect(await adapter.examineChannel(`discord:1:${ops.id}`)).toContain("is in another server");
  expect(await adapter.examineChannel(`discord:${guild.id}:404`)).toContain("can't see");
});
