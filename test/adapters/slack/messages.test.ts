import { afterEach, beforeEach, expect, test } from "vitest";
import { BotError } from "../../../src/core/errors.ts";
import { answerWithin } from "../../../src/adapters/slack/api.ts";
import { readEarlier } from "../../../src/adapters/shared/earlier.ts";
import { type Fault, typed } from "../../fakes/slack/slack.ts";
import { answer, type Bot, deliver, IMPATIENT, openBot, openOverHttp, until } from "./harness.ts";

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

test("what is written in the channel without a mention is nobody's business", async () => {
  const ts = bot.slack.say(bot.ana, bot.ops, "lunch?");
  expect(await kept(ts)).toEqual([]);
  expect(bot.slack.calls.map(({ method }) => method)).not.toContain("conversations.replies");
});

test("in a thread of its own everything is for the bot, but what begins with somebody else's name", async () => {
  const { slack, ops, ana, bob } = bot;
  const root = slack.say(ana, ops, "is web well?", { mention: true });
  await slack.acknowledged(root);
  slack.say(bob, ops, "and the disk?", { thread: root });
  slack.say(bob, ops, `<@${ana.id}> was that you?`, { thread: root });
  slack.say(bob, ops, "<!subteam^S1|@sre> please look", { thread: root });
  slack.say(ana, ops, `no, <@${bob.id}> did it`, { thread: root, broadcast: true });
  expect((await kept(root)).toSorted()).toEqual([
    "and the disk?",
    "is web well?",
    "no, @bob did it",
  ]);
});

test("in direct messages each message is a thread, and nothing needs a mention", async () => {
  const { slack, ana } = bot;
  const dm = slack.openDm(ana);
  const first = slack.say(ana, dm, "is web well?");
  const second = slack.say(ana, dm, "and db?");
  await slack.idle();
  slack.say(ana, dm, "I mean db-2", { thread: second });
  expect(await kept(first, dm)).toEqual(["is web well?"]);
  expect(await kept(second, dm)).toEqual(["and db?", "I mean db-2"]);
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
  const reply = slack.say(ana, ops, "hm", { thread: root });
  await slack.idle();
  slack.remove(ana, ops, reply);
  slack.say(robot, ops, "deployed", { thread: root, mention: true });
  slack.say(robot, ops, "deployed", { mention: true });
  const view = bot.adapter.view(bot.key(ops, root));
  await view?.postPrivately(bot.account(ana), "psst");
  // An edit is an entry of its own.
  expect(await kept(root)).toEqual(["is web well?", "hm", "is db well?"]);
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

/** What is read above the newest message of the thread, a question of Bob's. */
async function readAbove(root: string, after?: string) {
  const { slack, ops, bob } = bot;
  const asked = slack.say(bob, ops, "why?", { thread: root, mention: true });
  await slack.idle();
  return bot.adapter.view(bot.key(ops, root))?.earlier?.(`msg:${asked}`, after);
}

test("above a reply stands its thread, the alert first: attachments and blocks of bots, files by name", async () => {
  const { slack, ops, ana } = bot;
  const pager = slack.addUser({ name: "pager", standing: "bot" });
  slack.join(ops, pager);
  const root = slack.say(pager, ops, "", {
    attachments: [
      {
        pretext: "Alert for <!channel>",
        title: "CheckoutErrors &amp; more",
        title_link: "https://alerts.test/1",
        text: "5xx at <https://shop.test|shop>",
        fields: [{ title: "service", value: "checkout", short: true }],
        fallback: "not shown",
        actions: [{ type: "button", text: "Silence" }],
      },
    ],
  });
  const blocks = [
    { type: "header", text: { type: "plain_text", text: "Deploy 42" } },
    { type: "section", fields: [{ type: "mrkdwn", text: `*by* <@${ana.id}>` }] },
    {
      type: "rich_text",
      elements: [
        {
          type: "rich_text_section",
          elements: [{ type: "link", url: "https://ci.test", text: "log" }],
        },
      ],
    },
    {
      type: "context",
      elements: [{ type: "image", image_url: "https://x.test", alt_text: "a graph" }, 7],
    },
    {
      type: "actions",
      elements: [{ type: "button", text: { type: "plain_text", text: "Roll back" } }],
    },
    { type: "new_kind", body: { text: "of a later Slack" } },
  ];
  slack.say(pager, ops, "Deploy 42", { thread: root, blocks });
  const files = [{ name: "web.log", mimetype: "text/plain", content: "x" }];
  slack.say(ana, ops, `<@${bot.bob.id}> look`, {
    thread: root,
    files,
    attachments: [{ is_share: true, author_name: "eve", text: "forwarded" }],
  });
  const read = await readAbove(root);
  expect(read).toEqual({
    messages: [
      {
        id: `msg:${root}`,
        at: Math.round(Number(root) * 1_000),
        name: expect.any(String),
        account: undefined,
        text: "Alert for @channel\nCheckoutErrors & more\n5xx at shop (https://shop.test)\nservice: checkout",
      },
      expect.objectContaining({
        text: "Deploy 42\n*by* @ana\nlog (https://ci.test)\n(image: a graph)\nof a later Slack",
      }),
      expect.objectContaining({
        name: "ana",
        account: bot.account(ana),
        text: "@bob look",
        attached: "eve\nforwarded",
        files: ["web.log"],
      }),
    ],
  });
});

test("above a mention in the channel stand its last 15 messages, and of a direct message nothing is read", async () => {
  const { slack, ops, ana, bob } = bot;
  for (let i = 1; i <= 20; i += 1) slack.say(bob, ops, `${i}`);
  const root = slack.say(ana, ops, "what happened?", { mention: true });
  slack.say(bob, ops, "later");
  await slack.idle();
  const read = await bot.adapter.view(bot.key(ops, root))?.earlier?.(`msg:${root}`);
  expect(read?.messages.map(({ text }) => text)).toEqual(
    Array.from({ length: 15 }, (_, i) => `${i + 6}`),
  );
  expect(read?.older).toBe(true);
  const dm = slack.openDm(ana);
  const direct = slack.say(ana, dm, "hello");
  expect(bot.adapter.view(bot.key(dm, direct))?.earlier).toBeUndefined();
});

test("of a long thread the first and the newest are read, page by page; then only what is newer, and never our own", async () => {
  const { slack, ops, ana } = bot;
  const root = slack.say(ana, ops, "web is slow");
  const replies = Array.from({ length: 450 }, (_, i) =>
    slack.say(ana, ops, `${i}`, { thread: root }),
  );
  await slack.idle();
  const read = await readAbove(root);
  expect(read?.messages).toHaveLength(50);
  expect(read?.messages.map(({ text }) => text).slice(0, 2)).toEqual(["web is slow", "401"]);
  expect(read?.older).toBe(true);
  await bot.adapter
    .view(bot.key(ops, root))
    ?.post(answer("r1", "ours"), { id: "x", isRetry: false });
  const newer = await readAbove(root, `msg:${replies.at(-1)}`);
  expect(newer?.messages.map(({ text }) => text)).toEqual([`<@U0BOT> why?`.slice(9)]);
  expect(newer?.older).toBeUndefined();
});

test.each<[string, Fault, string]>([
  ["not_in_channel", { error: "not_in_channel" }, "I'm not in this channel; /invite me"],
  ["channel_not_found", { error: "channel_not_found" }, "I'm not in this channel; /invite me"],
  [
    "missing_scope",
    { error: "missing_scope", with: { needed: "channels:history" } },
    "the Slack app lacks the permission to read messages here",
  ],
  ["thread_not_found", { error: "thread_not_found" }, "Slack doesn't let me"],
  ["ratelimited", { status: 429, retryAfter: 60 }, "Slack asked me to slow down"],
  ["internal_error", { error: "internal_error" }, "Slack didn't answer in time"],
  ["a server that is away", { status: 503 }, "Slack didn't answer in time"],
])(
  "above a question that Slack does not let be read (%s) nothing is, and why",
  async (_, fault, why) => {
    const { slack, ops, ana } = bot;
    const root = slack.say(ana, ops, "web is slow");
    const asked = slack.say(ana, ops, "why?", { thread: root, mention: true });
    await slack.idle();
    slack.fail("conversations.replies", fault);
    const read = await bot.adapter.view(bot.key(ops, root))?.earlier?.(`msg:${asked}`);
    expect(read).toEqual({ messages: [], why });
  },
);

test("where Slack stops half-way, what came is used; and nobody waits for one that does not answer", async () => {
  const { slack, ops, ana } = bot;
  const root = slack.say(ana, ops, "web is slow");
  for (let i = 0; i < 250; i += 1) slack.say(ana, ops, `${i}`, { thread: root });
  const asked = slack.say(ana, ops, "why?", { thread: root, mention: true });
  await slack.idle();
  slack.latencyMs = 20;
  const first = bot.adapter.view(bot.key(ops, root))?.earlier?.(`msg:${asked}`);
  await until(() => slack.calls.some(({ args, status }) => args["limit"] === "200" && status > 0));
  slack.fail("conversations.replies", { status: 429, retryAfter: 60 });
  const read = await first;
  expect(read?.why).toBe("Slack asked me to slow down");
  expect(read?.messages).toHaveLength(50);
  const late = await readEarlier(
    "Slack",
    () => undefined,
    (_, left) => answerWithin(left(), new Promise(() => {})),
    20,
  );
  expect(late).toEqual({ messages: [], why: "Slack didn't answer in time" });
});

test("an edit or removal of what was posted is one entry each; previews, others' messages and our own are none", async () => {
  const { slack, ops, ana, bob } = bot;
  const root = slack.say(ana, ops, "restart web", { mention: true });
  const reply = slack.say(bob, ops, "and db", { thread: root });
  const lunch = slack.say(bob, ops, "lunch?");
  await slack.idle();
  await bot.adapter
    .view(bot.key(ops, root))
    ?.post(answer("r1", "ours"), { id: "x", isRetry: false });
  slack.edit(bob, ops, reply, "<@U0BOT> and db-2 &amp; db-3");
  slack.edit(bob, ops, lunch, "lunch at one?");
  await slack.idle();
  const [own] = slack.messages(ops, root).filter(({ user }) => user === "U0BOT");
  if (own === undefined) throw new Error("nothing was posted");
  await bot.adapter.view(bot.key(ops, root))?.delete(own.ts);
  slack.remove(bob, ops, reply);
  slack.remove(ana, ops, root);
  slack.remove(bob, ops, lunch);
  await slack.idle();
  const entries = await bot.entries(ops, root);
  expect(entries.slice(2)).toMatchObject([
    {
      id: expect.stringMatching(`^msg:${reply}:edit:`),
      kind: "edited",
      of: `msg:${reply}`,
      text: "and db-2 & db-3",
      actor: { name: "bob" },
    },
    { id: `msg:${reply}:removed`, kind: "removed", of: `msg:${reply}` },
    { id: `msg:${root}:removed`, kind: "removed", of: `msg:${root}` },
  ]);
  expect(await bot.entries(ops, lunch)).toEqual([]);
  const message = { ts: root, user: ana.id, text: "same", edited: { user: ana.id, ts: "1.1" } };
  await deliver(bot, {
    type: "message",
    subtype: "message_changed",
    channel: ops.id,
    message,
    previous_message: message,
    ts: "1.2",
  });
  expect(await bot.entries(ops, root)).toHaveLength(entries.length);
});
