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
    },
  );
});

test("so is a thread that is archived and locked", async () => {
  const thread = await bot.begin();
  const view = bot.view(thread);
  bot.discord.archive(thread, { locked: true });
  await expect(view.post(answer("r1", "well"), { id: "e1", isRetry: false })).rejects.toMatchObject(
    {
      message: expect.stringContaining("archived and locked"),
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
  expect(performance.now() - from).toBeLessThan(9_000);
});
