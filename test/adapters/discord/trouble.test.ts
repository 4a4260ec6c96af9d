import { afterEach, beforeEach, expect, test } from "vitest";
import { answer, type Bot, openBot, until } from "./harness.ts";

let bot: Bot;
beforeEach(async () => {
  bot = await openBot();
});
afterEach(() => bot.close());

test("what Discord refuses is left alone for a minute: refusals get an address banned", async () => {
  const thread = await bot.begin();
  const view = bot.view(thread);
  bot.discord.removeChannel(thread);
  await expect(view.post(answer("r1", "well"), { id: "e1", isRetry: false })).rejects.toMatchObject(
    {
      code: "PLATFORM_REFUSED",
      retryAfterMs: 60_000,
      refused: "place",
    },
  );
});

test("a channel in which Discord asks to wait before new threads is not asked again, and another is", async () => {
  const { discord, ana, ops, guild } = bot;
  const route = "POST /channels/:channel/messages/:message/threads";
  const asked = () => discord.calls.filter((call) => call.route.endsWith("/threads")).length;
  discord.fail(route, { status: 429, retryAfter: 60, times: 1 });
  discord.say(ana, ops, "is web well?", { mention: true });
  await until(() => asked() === 1);
  discord.say(ana, ops, "and now?", { mention: true });
  const there = discord.say(ana, discord.addChannel(guild, { name: "web" }), "and here?", {
    mention: true,
  });
  await until(() => discord.threadOf(there) !== undefined);
  expect(asked()).toBe(2);
});

test.each([50035, 50006, 40005])(
  "what Discord refuses with %i goes as plain words",
  async (code) => {
    const thread = await bot.begin();
    bot.discord.fail("POST /channels/:channel/messages", { status: 400, code });
    await bot.view(thread).post(answer("r1", "all is well"), { id: "e1", isRetry: false });
    expect(bot.discord.calls.filter(({ route }) => route.endsWith("/messages")).length).toBe(2);
  },
);

test("what Discord shows in no form is said to be in a file, which comes once", async () => {
  const thread = await bot.begin();
  const route = "POST /channels/:channel/messages";
  bot.discord.fail(route, { status: 400, code: 50035, times: 2 });
  const edits = "PATCH /channels/:channel/messages/:message";
  bot.discord.fail(edits, { status: 400, code: 50035, times: 2 });
  for (const isRetry of [false, true])
    await bot.view(thread).post(answer("r1", "all is well"), { id: "e1", isRetry });
  const files = bot.discord.messages(thread).flatMap(({ attachments }) => attachments);
  expect(files.map(({ name }) => name)).toEqual(["message.txt"]);
});

test.each([10003, 50001, 50013, 160005, 50024])(
  "a place that refuses with %i is named as one",
  async (code) => {
    const thread = await bot.begin();
    bot.discord.fail("POST /channels/:channel/messages", { status: 403, code });
    const posted = bot.view(thread).post(answer("r1", "well"), { id: "e1", isRetry: false });
    await expect(posted).rejects.toMatchObject({ refused: "place" });
  },
);

test("so is a thread that is archived and locked", async () => {
  const thread = await bot.begin();
  const view = bot.view(thread);
  bot.discord.archive(thread, { locked: true });
  await expect(view.post(answer("r1", "well"), { id: "e1", isRetry: false })).rejects.toMatchObject(
    {
      message: expect.stringContaining("archived and locked"),
      refused: "place",
      retryAfterMs: 60_000,
    },
  );
});

test("a thread that cannot be looked up now is neither public nor private: nothing is said of it", async () => {
  const thread = await bot.begin();
  const later = bot.discord.addThread(bot.ops, { name: "later" });
  bot.discord.fail("GET /channels/:channel", { status: 503 });
  const asked = bot.adapter.audience(bot.key(later));
  await expect(asked).rejects.toMatchObject({ code: "PLATFORM_UNREACHABLE" });
  expect(await bot.adapter.audience(bot.key(later))).toBeUndefined();
  expect(await bot.adapter.audience(bot.key(thread))).toBeUndefined();
});

test("a message with a file that waits for the store is kept with its file", async () => {
  const thread = await bot.begin();
  bot.breakStore(2);
  const file = { name: "web.log", type: "text/plain", bytes: Buffer.from("it broke") };
  bot.discord.say(bot.ana, thread, "look", { attachments: [file] });
  await until(async () => (await bot.texts(thread)).length > 1);
  expect((await bot.entries(thread)).at(-1)).toMatchObject({
    text: "look",
    files: [{ name: "web.log" }],
  });
});

test("it ends soon, although Discord does not answer what it is in the middle of", async () => {
  bot.discord.fail("POST /channels/:channel/messages/:message/threads", { timeout: true });
  bot.discord.say(bot.ana, bot.ops, "is web well?", { mention: true });
  await until(() => bot.discord.calls.some(({ route }) => route.endsWith("/threads")));
  const from = performance.now();
  await bot.adapter.stop();
  expect(performance.now() - from).toBeLessThan(20_000);
});

test("a channel that Discord limits waits as long, and another one does not", async () => {
  const [one, other] = [await bot.begin("one?"), await bot.begin("two?")];
  const post = (thread: typeof one) =>
    bot.view(thread).post(answer("r1", "well"), { id: "e1", isRetry: false });
  bot.discord.fail("POST /channels/:channel/messages", { status: 400, code: 20028 });
  await expect(post(one)).rejects.toMatchObject({ code: "PLATFORM_RATE_LIMITED" });
  const before = bot.discord.calls.length;
  await expect(post(one)).rejects.toMatchObject({ code: "PLATFORM_RATE_LIMITED" });
  expect(bot.discord.calls).toHaveLength(before);
  await post(other);
});
