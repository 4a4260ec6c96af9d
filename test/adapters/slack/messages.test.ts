import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { BotError } from "../../../src/core/errors.ts";
import { typed } from "../../fakes/slack/slack.ts";
import { type Bot, deliver, IMPATIENT, openBot, openOverHttp, skip, until } from "./harness.ts";

let bot: Bot;
beforeEach(async () => {
  bot = await openBot({ slack: IMPATIENT });
});
afterEach(() => bot.close());

/** All that was said in the thread, as it is kept, once Slack has nothing more to deliver. */
async function kept(root: string, channel = bot.ops): Promise<string[]> {
  await bot.slack.idle();
  return bot.texts(channel, root);
}

test("a mention opens a thread: its event and the message's are one entry, without the mention", async () => {
  const { slack, ops, ana } = bot;
  // A name that is not known yet is not waited for long.
  await bot.adapter.people.timezone(bot.account(ana));
  const ts = slack.say(ana, ops, "is web well?", { mention: true });
  const acks = await slack.acknowledged(ts);
  expect(acks.map(({ acknowledged }) => acknowledged)).toEqual([true, true]);
  expect(await bot.entries(ops, ts)).toMatchObject([
    {
      id: `msg:${ts}`,
      kind: "message",
      actor: { account: bot.account(ana), name: "ana" },
      text: "is web well?",
    },
  ]);
});

/** How often each verb of the store and each method of Slack was asked, from now on. */
function counting() {
  const verbs = (["post", "has", "read"] as const).map((verb) => vi.spyOn(bot.journal, verb));
  const asked = bot.slack.calls.length;
  return () => ({
    verbs: Object.fromEntries(verbs.map((spy) => [spy.getMockName(), spy.mock.calls.length])),
    calls: bot.slack.calls.slice(asked).map(({ method }) => method),
  });
}

test("a burst in threads that just begin costs one post per message, and asks Slack for nobody's root", async () => {
  const { slack, ops, ana, bob } = bot;
  for (const user of [ana, bob]) await bot.adapter.people.timezone(bot.account(user));
  const counts = counting();
  const roots = Array.from({ length: 10 }, () => slack.say(ana, ops, "what?", { mention: true }));
  for (let i = 0; i < 4; i += 1)
    for (const thread of roots) slack.say(bob, ops, `and ${i}?`, { thread, mention: true });
  await slack.idle();
  const acks = await Promise.all(roots.map((root) => slack.acknowledged(root)));
  expect(acks.flat().every(({ acknowledged }) => acknowledged)).toBe(true);
  const { verbs, calls } = counts();
  // A message's second event shares the first one's way, unless it comes only when that is done.
  expect(verbs).toMatchObject({ has: 0, read: 0 });
  expect(verbs["post"]).toBeGreaterThanOrEqual(50);
  expect(verbs["post"]).toBeLessThan(75);
  expect(calls).toEqual([]);
  for (const root of roots)
    expect(await bot.texts(ops, root)).toEqual(["what?", "and 0?", "and 1?", "and 2?", "and 3?"]);
});

test("a mention that could not be kept is kept when it comes again, with both its events", async () => {
  const { slack, ops, ana } = bot;
  bot.breakStore(1);
  const ts = slack.say(ana, ops, "is web well?", { mention: true });
  await slack.idle();
  const acks = await slack.acknowledged(ts);
  expect(acks.map(({ acknowledged }) => acknowledged)).toEqual([true, true]);
  expect(await bot.texts(ops, ts)).toEqual(["is web well?"]);
});

test("a person who has been looked up once is not waited for again, and a new name counts from the next line", async () => {
  const { slack, ops, ana } = bot;
  const root = slack.say(ana, ops, "is web well?", { mention: true });
  await slack.idle();
  skip(61_000);
  slack.fail("users.info", { timeout: true });
  const ts = slack.say(ana, ops, "and now?", { thread: root });
  await slack.acknowledged(ts);
  expect((await bot.entries(ops, root)).at(-1)).toMatchObject({ actor: { name: "ana" } });
});

test("what is written in the channel without a mention is nobody's business", async () => {
  const ts = bot.slack.say(bot.ana, bot.ops, "lunch?");
  expect(await kept(ts)).toEqual([]);
  expect(bot.slack.calls.map(({ method }) => method)).not.toContain("conversations.replies");
});

test("in a thread of its own every line is kept, with whom it is to", async () => {
  const { slack, ops, ana, bob } = bot;
  const root = slack.say(ana, ops, "is web well?", { mention: true });
  await slack.acknowledged(root);
  slack.say(bob, ops, "and the disk?", { thread: root });
  slack.say(bob, ops, `<@${ana.id}> was that you?`, { thread: root });
  slack.say(bob, ops, "<!subteam^S1|@sre> please look", { thread: root });
  slack.say(ana, ops, `no, <@${bob.id}> did it`, { thread: root, broadcast: true });
  await slack.idle();
  const named = (user: typeof ana, at: string) => ({
    others: [{ account: bot.account(user), at }],
  });
  const entries = (await bot.entries(ops, root)).filter((entry) => entry.kind === "message");
  expect(new Map(entries.map(({ text, address }) => [text, address]))).toEqual(
    new Map([
      ["@ana was that you?", named(ana, "start")],
      ["@sre please look", { others: [{ account: "slack:group:S1", at: "start" }] }],
      ["and the disk?", {}],
      ["is web well?", { bot: true }],
      ["no, @bob did it", named(bob, "start")],
    ] as [string, object][]),
  );
});

test("in direct messages each message is a thread, nothing needs a mention, and thanks get a 👍", async () => {
  const { slack, ana } = bot;
  const dm = slack.openDm(ana);
  const first = slack.say(ana, dm, "is web well?");
  const second = slack.say(ana, dm, "and db?");
  await slack.idle();
  slack.say(ana, dm, "I mean db-2", { thread: second });
  expect(await kept(first, dm)).toEqual(["is web well?"]);
  expect(await kept(second, dm)).toEqual(["and db?", "I mean db-2"]);
  const thanks = slack.say(ana, dm, "ok thanks!", { thread: second });
  await until(() => slack.reactions(dm, thanks).length > 0);
  expect(slack.reactions(dm, thanks)).toEqual(["+1"]);
  slack.say(ana, dm, "lol", { thread: second });
  slack.say(ana, dm, "thanks, but db-3?", { thread: second });
  await slack.idle();
  expect(slack.calls.filter(({ method }) => method === "reactions.add")).toHaveLength(1);
});

test("a mention inside a thread of other people's begins a conversation there", async () => {
  const { slack, ops, ana, bob } = bot;
  const root = slack.say(ana, ops, "web is slow");
  slack.say(bob, ops, "since when?", { thread: root });
  await slack.idle();
  slack.say(bob, ops, "why is that?", { thread: root, mention: true });
  await slack.idle();
  slack.say(ana, ops, "since noon", { thread: root });
  expect(await kept(root)).toEqual(["why is that?", "since noon"]);
});

/** A question that nobody took, as the bot was away for longer than Slack repeats it. */
async function missedQuestion(): Promise<string> {
  await bot.close();
  bot = await openBot({ slack: IMPATIENT, start: false });
  const root = bot.slack.say(bot.ana, bot.ops, "is web well?", { mention: true });
  await bot.slack.acknowledged(root);
  await bot.adapter.start(bot.parts);
  return root;
}

test("a reply that overtakes its thread's first message brings it along, in the right order", async () => {
  const root = await missedQuestion();
  const { slack, ops, bob } = bot;
  slack.say(bob, ops, "anybody there?", { thread: root });
  expect(await kept(root)).toEqual(["is web well?", "anybody there?"]);
  expect(await bot.entries(ops, root)).toMatchObject([
    { id: `msg:${root}`, actor: { name: "ana" } },
    { actor: { name: "bob" } },
  ]);
});

test("a thread of other people's is looked at once, not for every reply", async () => {
  const { slack, ops, ana, bob } = bot;
  const root = slack.say(ana, ops, "web is slow");
  for (let i = 0; i < 10; i += 1) slack.say(bob, ops, `reply ${i}`, { thread: root });
  expect(await kept(root)).toEqual([]);
  const asked = slack.calls.filter(({ method }) => method === "conversations.replies");
  expect(asked).toHaveLength(1);
});

test("every event three times and out of order is still one entry each, the thread's first one first", async () => {
  const { slack, ops, ana, bob } = bot;
  for (let seed = 1; seed <= 5; seed += 1) {
    slack.shuffle = { copies: 3, seed };
    const root = slack.say(ana, ops, "is web well?", { mention: true });
    const replies = ["and db?", "and the disk?"].map((text) =>
      slack.say(bob, ops, text, { thread: root }),
    );
    await slack.idle();
    const ids = (await bot.entries(ops, root)).map(({ id }) => id);
    expect(ids[0]).toBe(`msg:${root}`);
    expect(ids.toSorted()).toEqual([root, ...replies].map((ts) => `msg:${ts}`).toSorted());
  }
});

test("an event is acknowledged when it is in the journal, and comes again when it could not be kept", async () => {
  const { slack, ana } = bot;
  const dm = slack.openDm(ana);
  bot.breakStore(2);
  const ts = slack.say(ana, dm, "is web well?");
  const [ack] = await slack.acknowledged(ts);
  expect(ack).toMatchObject({ acknowledged: true, attempts: 3 });
  expect(await kept(ts, dm)).toEqual(["is web well?"]);
});

test("what could not be kept in all of Slack's attempts was acknowledged in none", async () => {
  const { slack, ana, ops, ...other } = await openOverHttp();
  try {
    other.breakStore(99);
    const lost = slack.say(ana, ops, "and now?", { mention: true });
    expect(await slack.acknowledged(lost)).toMatchObject([
      { acknowledged: false, attempts: 4 },
      { acknowledged: false, attempts: 4 },
    ]);
    expect(await other.texts(ops, lost)).toEqual([]);
  } finally {
    await other.close();
  }
});

test("edits, deletions, joins and other bots' messages are no messages to the bot", async () => {
  const { slack, ops, ana } = bot;
  const robot = slack.addUser({ name: "robot", standing: "bot" });
  slack.join(ops, robot);
  const root = slack.say(ana, ops, "is web well?", { mention: true });
  await slack.idle();
  slack.edit(ana, ops, root, `<@${slack.botUser.id}> is db well?`);
  await slack.idle();
  const reply = slack.say(ana, ops, "hm", { thread: root });
  await slack.idle();
  slack.remove(ana, ops, reply);
  slack.say(robot, ops, "deployed", { thread: root, mention: true });
  slack.say(robot, ops, "deployed", { mention: true });
  const view = bot.adapter.view(bot.key(ops, root));
  await view?.postPrivately(bot.account(ana), "psst");
  // An edit is an entry of its own.
  expect(await kept(root)).toEqual(["is web well?", "is db well?", "hm"]);
});

test("what Slack itself writes in a person's name is no message, whoever it mentions", async () => {
  const { slack, ops, ana } = bot;
  const text = `<@${ana.id}> set the topic: ask <@${slack.botUser.id}>`;
  const said = { type: "message", channel: ops.id, user: ana.id, text };
  await deliver(bot, { ...said, subtype: "channel_topic", ts: "1795000000.000100" });
  await deliver(bot, { ...said, ts: "1795000000.000200" });
  expect(await bot.texts(ops, "1795000000.000100")).toEqual([]);
  expect(await bot.texts(ops, "1795000000.000200")).toHaveLength(1);
});

test("commands come through as they were typed, whatever Slack makes of addresses and quotes", async () => {
  const { slack, ops, ana } = bot;
  const root = slack.say(ana, ops, typed("run http_check url=http://web.test/?a=1&b=2"), {
    mention: true,
  });
  await slack.idle();
  for (const text of [
    "run tcp_check host=web.example.com port=443",
    "mail ops@example.com if 3 > 2 && 1 < 2",
    "name=‘two words’ stays",
  ]) {
    slack.say(ana, ops, typed(text), { thread: root });
    await slack.idle();
  }
  expect(await bot.entries(ops, root)).toMatchObject([
    {
      kind: "command",
      command: { name: "run", tool: "http_check", args: { url: "http://web.test/?a=1&b=2" } },
    },
    { kind: "command", command: { args: { host: "web.example.com", port: "443" } } },
    { text: "mail ops@example.com if 3 > 2 && 1 < 2" },
    { text: "name=‘two words’ stays" },
  ]);
});

test("a mention and nothing else asks for help", async () => {
  const root = bot.slack.say(bot.ana, bot.ops, "", { mention: true });
  await bot.slack.idle();
  expect(await bot.entries(bot.ops, root)).toMatchObject([
    { kind: "command", command: { name: "help" } },
  ]);
});

test("what cannot be kept is acknowledged, and whoever wrote it is told", async () => {
  const { slack, ops, ana } = bot;
  bot.breakStore(2, new BotError("USAGE", "That cannot be kept."));
  const ts = slack.say(ana, ops, "is web well?", { mention: true });
  const acks = await slack.acknowledged(ts);
  expect(acks).toMatchObject([{ acknowledged: true, attempts: 1 }, { acknowledged: true }]);
  await until(() => slack.ephemerals(ana).length > 0);
  const told = slack.ephemerals(ana).map((each) => [each.thread_ts, slack.textOf(each)]);
  expect(told[0]).toEqual([ts, "That cannot be kept."]);
});

test("who cannot be looked up in time is called by the account's id", async () => {
  const { slack, ops, ana } = bot;
  slack.fail("users.info", { error: "internal_error", times: 99 });
  const ts = slack.say(ana, ops, `hello, ask <@${bot.bob.id}>`, { mention: true });
  await slack.idle();
  expect(await bot.entries(ops, ts)).toMatchObject([
    { actor: { account: bot.account(ana), name: ana.id }, text: `hello, ask @${bot.bob.id}` },
  ]);
});

test("somebody from another workspace is named by their own", async () => {
  const { slack, ops } = bot;
  const eve = slack.addUser({ name: "eve", standing: "external" });
  slack.join(ops, eve);
  const ts = slack.say(eve, ops, "hello", { mention: true });
  await slack.idle();
  expect(await bot.entries(ops, ts)).toMatchObject([
    { actor: { account: `slack:T0AWAY:${eve.id}` } },
  ]);
  expect(await bot.adapter.people.membership(`slack:T0AWAY:${eve.id}`, bot.key(ops, ts))).toBe(
    "guest",
  );
});

test("when Slack cannot say what a thread is about, the reply comes again, and one to the bot is taken", async () => {
  const root = await missedQuestion();
  const { slack, ops, ana, bob } = bot;
  slack.fail("conversations.replies", { status: 503, times: 1 });
  const reply = slack.say(bob, ops, "hello?", { thread: root });
  expect(await slack.acknowledged(reply)).toMatchObject([{ acknowledged: true, attempts: 2 }]);
  expect(await kept(root)).toEqual(["is web well?", "hello?"]);
  const other = slack.say(ana, ops, "web is slow");
  slack.fail("conversations.replies", { status: 503, times: 99 });
  slack.say(bob, ops, "why?", { thread: other, mention: true });
  expect(await kept(other)).toEqual(["why?"]);
});
