import { afterEach, beforeEach, expect, test } from "vitest";
import { pino } from "pino";
import { createSlack } from "../../../src/adapters/slack/adapter.ts";
import { FORWARDED } from "../../../src/adapters/shared/phrases.ts";
import { readEarlier } from "../../../src/adapters/shared/earlier.ts";
import { answerWithin } from "../../../src/adapters/slack/api.ts";
import { isQuestion } from "../../../src/adapters/slack/messages.ts";
import type { Fault } from "../../fakes/slack/slack.ts";
import { answer, type Bot, deliver, openBot, until } from "./harness.ts";

let bot: Bot;
beforeEach(async () => {
  bot = await openBot();
});
afterEach(() => bot.close());

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
        text: "Alert for @channel\nCheckoutErrors & more (https://alerts.test/1)\n5xx at shop (https://shop.test)\nservice: checkout",
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

test("words of an app, or of Slack's own, are no person's, whoever they are shown as", async () => {
  const { slack, ops, ana } = bot;
  const root = slack.say(ana, ops, "mine");
  const odd = { bot: { bot_profile: { name: "pager" } }, old: { subtype: "bot_message" } };
  for (const shown of [odd.bot, odd.old, { user: "USLACKBOT" }]) {
    const ts = slack.say(ana, ops, "not mine", { thread: root });
    const message = slack.messages(ops, root).find((each) => each.ts === ts);
    Object.assign(message ?? {}, shown);
  }
  const read = await readAbove(root);
  expect(read?.messages.map(({ name, account }) => [name, account])).toEqual([
    ["ana", bot.account(ana)],
    ["pager", undefined],
    ["app", undefined],
    ["Slackbot", undefined],
  ]);
  const question = { ...odd.bot, channel: ops.id, ts: "1.1", user: ana.id, text: "x" };
  expect(isQuestion(question, true, slack.botUser.id)).toBe(false);
});

test("above a mention in the channel stand its last 15 messages", async () => {
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
});

test("of a direct message what it forwards is read, and nothing else; one without words is a question too", async () => {
  const { slack, ana } = bot;
  const dm = slack.openDm(ana);
  slack.say(ana, dm, "another conversation");
  const alert = { is_share: true, author_name: "eve", text: "db is down" };
  const root = slack.say(ana, dm, "", { attachments: [alert] });
  const reply = slack.say(ana, dm, "and this?", { thread: root, attachments: [alert] });
  const plain = slack.say(ana, dm, "well?", { thread: root });
  await slack.idle();
  expect(await bot.texts(dm, root)).toEqual([FORWARDED, "and this?", "well?"]);
  const view = bot.adapter.view(bot.key(dm, root));
  const forwarded = {
    name: "ana",
    account: bot.account(ana),
    text: "",
    attached: "eve\ndb is down",
  };
  expect(await view?.earlier?.(`msg:${root}`)).toMatchObject({ messages: [forwarded] });
  const both = [`msg:${root}`, `msg:${reply}`].map((id) => ({ ...forwarded, id }));
  expect(await view?.earlier?.(`msg:${plain}`)).toMatchObject({ messages: both });
  expect(await view?.earlier?.(`msg:${plain}`, `msg:${reply}`)).toEqual({ messages: [] });
  slack.fail("conversations.replies", { error: "missing_scope" });
  expect(await view?.earlier?.(`msg:${plain}`)).toEqual({ messages: [] });
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

test("a reaction that Slack limits the look at is over: Slack does not send its event again", async () => {
  const { slack, ops, ana } = bot;
  const root = slack.say(ana, ops, "web is slow", { mention: true });
  await slack.idle();
  slack.fail("conversations.replies", { status: 429, retryAfter: 60 });
  slack.mark(ana, ops, root, "pushpin");
  await slack.idle();
  const [sent] = slack.deliveries.slice(-1);
  expect(sent?.attempts.map(({ outcome }) => outcome)).toEqual(["acknowledged"]);
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

test("after an absence it reads on in its threads and takes the questions of their channels, and nothing twice", async () => {
  const { slack, ops, ana, bob } = bot;
  const other = slack.say(ana, ops, "web is slow");
  slack.say(bob, ops, "since noon", { thread: other });
  slack.say(bob, ops, "why?", { thread: other, mention: true });
  await slack.idle();
  await bot.adapter.stop();
  const missed = Array.from({ length: 32 }, (_, i) => `line ${i}`);
  for (const text of missed) slack.say(ana, ops, text, { thread: other });
  slack.say(bob, ops, "lunch?");
  const asked = slack.say(bob, ops, "is db well?", { mention: true });
  await slack.idle();
  expect(await bot.texts(ops, other)).toEqual(["why?"]);
  const reads = () => slack.calls.filter(({ method }) => method === "conversations.history").length;
  for (const times of [1, 2]) {
    const next = createSlack({
      botToken: slack.botToken,
      appToken: slack.appToken,
      apiUrl: slack.apiUrl,
      awayMs: 0,
      log: pino({ level: "silent" }),
    });
    const before = reads();
    await next.start(bot.parts);
    await until(() => reads() > before);
    await until(async () => (await bot.texts(ops, asked)).length > 0);
    // Without a connection for long enough it is as at the start.
    if (times === 2) {
      slack.dropConnections();
      await until(() => reads() > before + 1);
    }
    await next.stop();
  }
  // Of many the newest are taken, and people are told of the rest, once.
  expect(await bot.texts(ops, other)).toEqual(["why?", ...missed.slice(2)]);
  expect(await bot.texts(ops, asked)).toEqual(["is db well?"]);
  const ours = slack.messages(ops, other).filter(({ user }) => user === slack.botUser.id);
  expect(ours.map((message) => slack.textOf(message))).toEqual([
    expect.stringMatching(/^I was away and didn't read what was written here up to \S+ \S+ UTC\./),
  ]);
});
