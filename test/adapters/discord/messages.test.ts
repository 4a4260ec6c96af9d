import { FORWARDED } from "../../../src/adapters/shared/phrases.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { BotError } from "../../../src/core/errors.ts";
import type { JournalKey } from "../../../src/core/journal-key.ts";
import {
  type FakeChannel,
  type Fault,
  PERMISSIONS,
  type SayOptions,
} from "../../fakes/discord/discord.ts";
import { answer, type Bot, openBot, until } from "./harness.ts";

let bot: Bot;
beforeEach(async () => {
  // So soon forgotten that what is said once is not said once because of it.
  bot = await openBot({ discord: { times: { nonceMs: 40 } } });
});
afterEach(() => bot.close());

const startsOf = () => bot.discord.calls.filter(({ route }) => route.endsWith("/threads"));
/** What was said before has been taken once this has. */
async function settled() {
  const marker = await bot.begin("marker");
  await until(async () => (await bot.texts(marker)).length > 0);
}

test("a held secret in the question is not in the thread's name", async () => {
  const thread = await bot.begin("why does hunter2-held not work?");
  expect(thread.name).toBe("why does [secret] not work?");
});

test("a mention opens a thread that is named after the question, and is kept in it without the mention", async () => {
  const thread = await bot.begin("is web well?");
  expect(thread).toMatchObject({ name: "is web well?", thread: { parentId: bot.ops.id } });
  expect(await bot.entries(thread)).toMatchObject([
    {
      id: `msg:${thread.id}`,
      kind: "message",
      text: "is web well?",
      actor: { account: `discord:${bot.ana.id}`, name: "ana" },
    },
  ]);
});

test("what is written in the thread then needs no mention, whoever writes it", async () => {
  const thread = await bot.begin();
  bot.discord.say(bot.bob, thread, "and the disk?");
  await until(async () => (await bot.texts(thread)).length > 1);
  expect(await bot.texts(thread)).toEqual(["is web well?", "and the disk?"]);
});

test("in other threads and channels only a mention is heard, and the thread it comes in is the session", async () => {
  const thread = bot.discord.addThread(bot.ops, { name: "lunch", owner: bot.bob });
  bot.discord.say(bot.bob, thread, "pizza?");
  bot.discord.say(bot.bob, bot.ops, "anyone?");
  await settled();
  expect(await bot.entries(thread)).toEqual([]);
  bot.discord.say(bot.bob, thread, "is web well?", { mention: true });
  await until(async () => (await bot.texts(thread)).length > 0);
  bot.discord.say(bot.ana, thread, "and db?");
  await until(async () => (await bot.texts(thread)).length > 1);
  expect(await bot.texts(thread)).toEqual(["is web well?", "and db?"]);
  expect(startsOf()).toHaveLength(1);
});

test("a line is kept with whom it is to, also where that is somebody else", async () => {
  const thread = await bot.begin();
  bot.discord.say(bot.ana, thread, `<@${bot.bob.id}> lunch?`);
  bot.discord.say(bot.ana, thread, `<@${bot.bob.id}> asks: is it well?`, { mention: true });
  await until(async () => (await bot.texts(thread)).length > 2);
  const account = `discord:${bot.bob.id}`;
  expect(await bot.entries(thread)).toMatchObject([
    { text: "is web well?", address: { bot: true }, tone: "request" },
    { text: "@bob lunch?", address: { others: [{ account, at: "start" }] } },
    { text: "@bob asks: is it well?", address: { bot: true } },
  ]);
});

test("bots, webhooks and Discord's own messages say nothing to it", async () => {
  const robot = bot.discord.addUser({ name: "robot", bot: true });
  bot.discord.addMember(bot.guild, robot);
  const thread = await bot.begin();
  bot.discord.say(robot, thread, "alert!", { mention: true });
  bot.discord.say(bot.bob, thread, "alert!", { mention: true, webhook: true });
  bot.discord.say(bot.bob, thread, "joined", { system: true });
  await settled();
  expect(await bot.texts(thread)).toEqual(["is web well?"]);
});

test("a direct message is a session by itself, needs no mention, and thanks there get a 👍", async () => {
  const dm = bot.discord.openDm(bot.ana);
  bot.discord.say(bot.ana, dm, "is web well?");
  await until(async () => (await bot.texts(dm)).length > 0);
  expect(await bot.texts(dm)).toEqual(["is web well?"]);
  expect(bot.key(dm)).toBe(`discord:dm:${dm.id}`);
  const messageId = bot.discord.say(bot.ana, dm, "thank you!");
  await until(() => bot.discord.reactions.length > 0);
  expect(bot.discord.reactions).toEqual([{ messageId, emoji: "👍" }]);
});

test("in a direct message new begins another conversation, the same for every process and after a restart", async () => {
  const { discord, parts } = bot;
  await bot.replica();
  const dm = discord.openDm(bot.ana);
  const keyOf = (since: string): JournalKey => `discord:dm:${dm.id}:${since}`;
  const said = async (key = bot.key(dm)) =>
    (await bot.journal.read(key)).map((entry) => ("text" in entry ? entry.text : entry.kind));
  const isThere = (what: string, key?: JournalKey) =>
    until(async () => (await said(key)).includes(what));
  const wrong = discord.say(bot.ana, dm, "is web wel?");
  const first = discord.say(bot.ana, dm, " New! ");
  discord.say(bot.ana, dm, "and the disk?");
  await isThere("and the disk?", keyOf(first));
  discord.edit(wrong, "is web well?");
  discord.edit(first, "newer");
  await isThere("is web well?");
  await bot.replica();
  const second = discord.say(bot.ana, dm, "/new");
  const about = discord.say(bot.ana, dm, "new disks?");
  await isThere("new disks?", keyOf(second));
  discord.remove(about);
  await isThere("removed", keyOf(second));
  // A reply belongs where the message is that it replies to, and so does its edit.
  const reply = discord.say(bot.ana, dm, "and dbb?", { replyTo: wrong });
  await isThere("and dbb?");
  discord.edit(reply, "and db?");
  await isThere("and db?");
  await settled();
  expect(await said()).toEqual([
    "is web wel?",
    "New!",
    "is web well?",
    "/new",
    "and dbb?",
    "and db?",
  ]);
  expect(await said(keyOf(second))).toEqual(["new disks?", "removed"]);
  expect(await said(keyOf(first))).toEqual(["and the disk?"]);
  expect(await parts.queries.beginnings(bot.key(dm))).toEqual([`msg:${first}`, `msg:${second}`]);
  // The place is one: for rules, budgets and records.
  expect(await bot.adapter.channel(keyOf(first))).toBe(bot.key(dm));
  expect(await bot.adapter.audience(keyOf(first))).toBe(bot.key(dm));
});

test("a mention without words asks for help", async () => {
  const thread = await bot.begin("");
  expect(await bot.entries(thread)).toMatchObject([{ kind: "command", text: "help" }]);
});

test("two processes that hear the same message open one thread and keep it once", async () => {
  await bot.replica();
  const thread = await bot.begin();
  bot.discord.say(bot.bob, thread, "and the disk?");
  await until(async () => (await bot.texts(thread)).length > 1);
  await settled();
  expect(await bot.texts(thread)).toEqual(["is web well?", "and the disk?"]);
  expect(startsOf().filter(({ path }) => path.includes(thread.id))).toHaveLength(2);
});

test("a thread whose opening was cut off half-way is found again", async () => {
  bot.discord.fail("POST /channels/:channel/messages/:message/threads", {
    cutAfterCarryingOut: true,
  });
  const thread = await bot.begin();
  expect(await bot.texts(thread)).toEqual(["is web well?"]);
});

test("a channel in which no thread may be opened is told once which permission is missing", async () => {
  bot.discord.overwrite(bot.ops, bot.discord.botUser, { deny: PERMISSIONS.createPublicThreads });
  bot.discord.say(bot.ana, bot.ops, "one", { mention: true });
  await until(() => bot.shown(bot.ops).length > 0);
  bot.discord.say(bot.ana, bot.ops, "two", { mention: true });
  await until(() => startsOf().length > 1);
  bot.discord.say(bot.ana, bot.discord.openDm(bot.ana), "later");
  await until(async () => (await bot.texts(bot.discord.openDm(bot.ana))).length > 0);
  expect(bot.shown(bot.ops)).toEqual([
    expect.stringMatching(/^I can't open a thread here: I lack "Create Public Threads" here\./),
  ]);
});

test("while the store is away the thread is told once, and everything is kept in order when it is back", async () => {
  const thread = await bot.begin();
  bot.breakStore(2);
  bot.discord.say(bot.ana, thread, "one");
  bot.discord.say(bot.bob, thread, "two");
  await until(() => bot.shown(thread).length > 0);
  expect(bot.shown(thread)).toEqual([expect.stringContaining("I can't reach my database")]);
  bot.discord.say(bot.ana, thread, "three");
  await until(async () => (await bot.texts(thread)).length > 3);
  expect(await bot.texts(thread)).toEqual(["is web well?", "one", "two", "three"]);
  await until(() => bot.shown(thread).length === 0);
  expect(bot.shown(thread)).toEqual([]);
});

test("what cannot be kept at all is said to whoever wrote it, and those after it are kept", async () => {
  const thread = await bot.begin();
  bot.breakStore(1, new BotError("USAGE", "That is not a thing."));
  bot.discord.say(bot.bob, thread, "odd");
  bot.discord.say(bot.bob, thread, "fine");
  await until(async () => (await bot.texts(thread)).length > 1);
  expect(bot.shown(thread)).toEqual(["bob: That is not a thing."]);
  expect(await bot.texts(thread)).toEqual(["is web well?", "fine"]);
});

test("stopping does not wait for a store that stays away, and says in the log what was lost", async () => {
  const thread = await bot.begin();
  bot.breakStore(1_000);
  bot.discord.say(bot.ana, thread, "one");
  bot.discord.say(bot.ana, thread, "two");
  await until(() => bot.shown(thread).length > 0);
  const before = Date.now();
  await bot.adapter.stop();
  expect(Date.now() - before).toBeLessThan(20_000);
  expect(bot.log).toContainEqual(expect.objectContaining({ lost: 2 }));
});

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

test("pictures and texts come with the message, and what cannot be read is named", async () => {
  const id = bot.discord.say(bot.ana, bot.ops, "what is this?", {
    mention: true,
    attachments: [
      { name: "graph.png", type: "image/png", bytes: PNG },
      { name: "app.log", type: "text/plain; charset=utf-8", bytes: Buffer.from("ERROR x") },
      { name: "fake.png", type: "image/png", bytes: Buffer.from("no picture") },
      { name: "tool.exe", type: "application/x-msdownload", bytes: Buffer.from("MZ") },
    ],
  });
  await until(() => bot.discord.threadOf(id) !== undefined);
  const thread = bot.discord.threadOf(id);
  if (thread === undefined) throw new Error("no thread");
  await until(async () => (await bot.entries(thread)).length > 0);
  expect(await bot.entries(thread)).toMatchObject([
    {
      text: "what is this?",
      unread: [
        { name: "fake.png", bytes: 10, why: "not image/png, though it says so" },
        { name: "tool.exe", bytes: 2, why: "type not supported" },
      ],
      files: [
        { name: "graph.png", mediaType: "image/png" },
        { name: "app.log", mediaType: "text/plain" },
      ],
    },
  ]);
});

test("a message in a thread that was archived is heard, also by a process that never saw the thread", async () => {
  const thread = await bot.begin();
  bot.discord.archive(thread);
  const other = await bot.replica();
  await bot.adapter.stop();
  bot.discord.say(bot.bob, thread, "still there?");
  await until(async () => (await bot.texts(thread)).length > 1);
  expect(await bot.texts(thread)).toEqual(["is web well?", "still there?"]);
  await other.stop();
});

/** What is read above what Bob asks in this channel or thread. */
async function readAbove(channel: FakeChannel, options: SayOptions = {}, after?: string) {
  const { discord, bob } = bot;
  const asked = discord.say(bob, channel, "why?", { mention: true, ...options });
  const place = channel.thread === undefined ? asked : channel.id;
  await until(() => discord.threadOf(place) !== undefined || channel.thread !== undefined);
  return bot.view(discord.channel(place)).earlier?.(`msg:${asked}`, after);
}

test("above a mention in a channel stand its last 15 messages: embeds, components, forwards, the one it answers", async () => {
  const { discord, ops, ana } = bot;
  const pager = discord.addUser({ name: "pager", bot: true });
  const old = discord.say(pager, ops, "the first alert", { webhook: true });
  for (let i = 0; i < 12; i += 1) discord.say(ana, ops, `${i}`);
  const field = { name: "service", value: "checkout" };
  const embeds = [
    { title: "CheckoutErrors", description: "5xx", fields: [field], footer: { text: "prom" } },
  ];
  discord.say(pager, ops, "", { webhook: true, embeds });
  const components = [{ type: 17, components: [{ type: 10, content: "**Deploy** 42" }] }];
  discord.say(pager, ops, "", { webhook: true, components });
  const file = { name: "web.log", type: "text/plain", bytes: Buffer.from("x") };
  discord.say(ana, ops, "", {
    attachments: [file],
    forwards: { content: "from elsewhere", embeds },
  });
  const read = await readAbove(ops, { replyTo: old });
  // It is about the alert, and so is the thread's name.
  const named = discord.messages(ops).map(({ id }) => discord.threadOf(id)?.name);
  expect(named.at(-1)).toBe("the first alert");
  const texts = read?.messages.map(({ text }) => text);
  expect(texts?.slice(0, 3)).toEqual(["1", "2", "3"]);
  const embedded = "CheckoutErrors\n5xx\nservice: checkout\nprom";
  expect(texts?.slice(11)).toEqual([embedded, "**Deploy** 42", "", "the first alert"]);
  expect(read?.messages[13]).toMatchObject({
    name: "ana",
    account: `discord:${ana.id}`,
    attached: `from elsewhere\n${embedded}`,
    files: ["web.log"],
  });
  expect(read?.messages.at(-1)?.account).toBeUndefined();
  expect(read?.older).toBe(true);
  for (let i = 0; i < 9; i += 1) discord.say(ana, ops, `more ${i}`);
  const more = await readAbove(ops);
  expect(more?.messages).toHaveLength(15);
  expect(more?.older).toBe(true);
});

test("above a mention in others' thread stands the thread, then only what is newer; ours is left out", async () => {
  const { discord, ops, ana } = bot;
  const thread = discord.addThread(ops, { name: "web is slow" });
  const said = discord.say(ana, thread, "since noon");
  const read = await readAbove(thread);
  expect(read?.messages.map(({ text }) => text)).toEqual(["since noon"]);
  await bot.view(thread).post(answer("r1", "ours"), { id: "x", isRetry: false });
  discord.say(ana, thread, "still");
  const newer = await readAbove(thread, {}, `msg:${said}`);
  expect(newer?.messages.map(({ text }) => text)).toEqual(["why?", "still"]);
});

test("of a direct message what it forwards is read, and nothing else; one without words is a question too", async () => {
  const { discord, ana } = bot;
  const dm = discord.openDm(ana);
  const asked = discord.say(ana, dm, "", { forwards: { content: "db is down" } });
  const plain = discord.say(ana, dm, "well?");
  await until(async () => (await bot.texts(dm)).length === 2);
  expect(await bot.texts(dm)).toEqual([FORWARDED, "well?"]);
  const { earlier } = bot.view(dm);
  expect(await earlier?.(`msg:${asked}`)).toMatchObject({
    messages: [{ name: "ana", text: "", attached: "db is down" }],
  });
  expect(await earlier?.(`msg:${plain}`)).toEqual({ messages: [] });
  expect((await earlier?.(`msg:${plain}`, "msg:1"))?.messages).toHaveLength(1);
});

test.each<[string, Fault, string]>([
  ["50001", { status: 403, code: 50001 }, "I can't see this channel's messages"],
  ["50013", { status: 403, code: 50013 }, "I can't see this channel's messages"],
  ["10003", { status: 404, code: 10003 }, "I can't see this channel's messages"],
  ["50024", { status: 400, code: 50024 }, "Discord doesn't let me"],
  ["429", { status: 429, retryAfter: 60 }, "Discord asked me to slow down"],
  ["503", { status: 503 }, "Discord didn't answer in time"],
])(
  "above a question that Discord does not let be read (%s) nothing is, and why",
  async (_, fault, why) => {
    const thread = await bot.begin();
    bot.discord.fail("GET /channels/:channel/messages", fault);
    expect(await readAbove(thread)).toEqual({ messages: [], why });
  },
);

test("without Read Message History Discord gives nothing, and that is said", async () => {
  const { discord, ops } = bot;
  const thread = await bot.begin();
  discord.overwrite(ops, discord.botUser, { deny: PERMISSIONS.readMessageHistory });
  expect(await readAbove(thread)).toEqual({
    messages: [],
    why: "I need the permission Read Message History",
  });
});

test("an edit or removal of what was posted is one entry each; embeds, others' messages and our own are none", async () => {
  const { discord, ops, bob } = bot;
  const thread = await bot.begin("restart web");
  const second = discord.say(bob, thread, "and db");
  const third = discord.say(bob, thread, "and http://a.test");
  const lunch = discord.say(bob, ops, "lunch?");
  await until(async () => (await bot.texts(thread)).length === 3);
  const own = await bot.view(thread).post(answer("r1", "ours"), { id: "x", isRetry: false });
  discord.embed(third, { type: "rich", title: "A page" });
  discord.edit(second, `<@${discord.botUser.id}> and db-2`);
  discord.edit(thread.id, "restart web-1");
  discord.edit(lunch, "lunch at one?");
  discord.removeAll([second, third]);
  discord.remove(thread.id);
  discord.remove(lunch);
  await bot.view(thread).delete(own);
  discord.send("MESSAGE_UPDATE", { id: third, channel_id: thread.id });
  discord.send("MESSAGE_DELETE", { id: 7 });
  await settled();
  await until(async () => (await bot.entries(thread)).length >= 8);
  const changes = (await bot.entries(thread)).slice(3);
  expect(changes.map(({ id }) => id.replace(/edit:\d+/, "edit")).toSorted()).toEqual(
    [
      `msg:${second}:edit`,
      `msg:${thread.id}:edit`,
      `msg:${second}:removed`,
      `msg:${third}:removed`,
      `msg:${thread.id}:removed`,
    ].toSorted(),
  );
  expect(changes).toContainEqual(
    expect.objectContaining({
      kind: "edited",
      of: `msg:${second}`,
      text: "and db-2",
      actor: { account: `discord:${bob.id}`, name: "bob" },
    }),
  );
});
