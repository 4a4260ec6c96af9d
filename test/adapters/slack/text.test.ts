import fc from "fast-check";
import { expect, test } from "vitest";
import { wordsOfBot } from "../../../src/adapters/slack/read-shown.ts";
import { mentions, othersIn, readSlackText } from "../../../src/adapters/slack/text.ts";
import { typed } from "../../fakes/slack/slack.ts";

const BOT = "U0BOT";
const NAMES: Readonly<Record<string, string>> = { U1: "Ana", U2: "Bob B." };
const read = (text: string) =>
  readSlackText(text, { botUser: BOT, nameOf: async (user) => NAMES[user] });

test.each([
  ["<@U0BOT> is web well?", "is web well?"],
  ["<@U0BOT>: is web well?", "is web well?"],
  ["  <@U0BOT|watchkeeper>, <@U0BOT>\nis web well?", "is web well?"],
  ["hey <@U0BOT> is web well?", "hey is web well?"],
  ["is web well <@U0BOT>", "is web well"],
  ["<@U0BOT>", ""],
  ["<@U1> and <@U2|bobby> and <@U3> and <@U4|dan>", "@Ana and @Bob B. and @U3 and @dan"],
  ["in <#C1|ops> and <#C2> and <#C3|>", "in #ops and #C2 and #C3"],
  ["<!here> <!channel> <!everyone|everyone>", "@here @channel @everyone"],
  ["<!subteam^S1|@sre> <!subteam^S2>", "@sre @S2"],
  ["at <!date^1700000000^{date}|14 Nov>", "at 2023-11-14 22:13:20 UTC"],
  [
    "<!date^1700000000^Fired {date_num} ({ago})^https://a.test|then>",
    "Fired 2023-11-14 22:13:20 UTC (https://a.test)",
  ],
  ["<!date^soon^{date}|14 Nov> <!date^9e99^{date}>", "14 Nov @date"],
  ["see <https://a.test/x|the docs>", "see the docs (https://a.test/x)"],
  ["see <https://a.test/?a=1&amp;b=2>", "see https://a.test/?a=1&b=2"],
  [
    "<http://a.test|a.test> <http://a.test/|a.test> <https://a.test|a.test>",
    "a.test a.test a.test",
  ],
  ["<http://a.test/|a.test/>", "a.test/"],
  ["<mailto:ops@a.test|ops@a.test> <tel:+34600|+34600>", "ops@a.test +34600"],
  ["1 &lt; 2 &amp;&amp; 3 &gt; 2 &amp;lt; &copy;", "1 < 2 && 3 > 2 &lt; &copy;"],
  ["run http_check url=<http://a.test>", "run http_check url=http://a.test"],
  ["name=“two words” or ‘these’", "name=“two words” or ‘these’"],
  ["a lone > or < or <", "a lone > or < or <"],
])("of %j it reads %j", async (slack, plain) => {
  expect(await read(slack)).toBe(plain);
});

test("whatever is typed comes through as it was typed", async () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "&",
      "<",
      ">",
      "&amp;",
      "&lt;",
      "<@U9>",
      "http://a.test/?a=1&b=2",
      "a.example.com",
      "\n",
      " ",
      "|",
      "“",
    ),
    fc.string({ unit: "grapheme", maxLength: 8 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
      const text = pieces.join(" ").trim();
      expect(await read(typed(text))).toBe(text);
    }),
    { numRuns: 5_000 },
  );
});

test("no text makes it fail, and none leaves the bot's mention", async () => {
  const piece = fc.constantFrom(
    "<",
    ">",
    "|",
    "@",
    "!",
    "#",
    "&",
    "^",
    "U0BOT",
    "<@U0BOT>",
    "U1",
    " ",
    "\n",
    "a",
    ":",
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 20 }), async (pieces) => {
      expect(typeof (await read(pieces.join("")))).toBe("string");
    }),
    { numRuns: 5_000 },
  );
});

test("a mention is one with or without a name, and of nobody else", () => {
  expect(mentions("x <@U0BOT> y", BOT)).toBe(true);
  expect(mentions("<@U0BOT|watchkeeper>", BOT)).toBe(true);
  expect(mentions("<@U0BOTX> &lt;@U0BOT&gt; U0BOT", BOT)).toBe(false);
});

test.each([
  ["<@U1> was that you?", ["U1 start"]],
  [" <!subteam^S1|@sre> look", ["slack:group:S1 start"]],
  ["hey <@U1>, <@U2> look", ["U1 start", "U2 start"]],
  ["<3 <@U1> on it", ["U1 start"]],
  ["<@U0BOT> look", []],
  ["<@U0BOT> ask <@U1>", ["U1 within"]],
  ["ask <@U1>", ["U1 within"]],
  ["is <@U1>'s deploy the cause?", ["U1 within"]],
  ["can you look, <@U1|ana>?", ["U1 end"]],
  ["<!here> look", []],
])("%s names %j", (text, named) => {
  const others = othersIn(text, BOT, (user) => user);
  expect(others.map(({ account, at }) => `${account} ${at}`)).toEqual(named);
});

const said = (text: string) => ({ type: "mrkdwn", text });
const link = (text: string, url: string) => ({ type: "button", text, url });
const rich = (...elements: object[]) => ({ type: "rich_text", elements });
const words = (text: string) => ({ type: "rich_text_section", elements: [{ type: "text", text }] });

test.each<[what: string, message: object, lines: string]>([
  [
    "an alert with where its title and its buttons lead, and no button that only does something",
    {
      attachments: [
        {
          fallback: "web is slow | http://am.test",
          title: "web is slow",
          title_link: "http://am.test/?a=1&amp;b=<2|3>",
          fields: [{ title: "p99", value: 4.5 }, { title: "Tags", value: "" }, { value: "prod" }],
          image_url: "http://am.test/signed.png",
          actions: [link("Runbook", "https://docs.test/slow"), { type: "button", text: "Mute" }],
          footer: "prom",
          ts: 1700000000,
        },
      ],
    },
    "web is slow (http://am.test/?a=1&b=%3C2%7C3%3E)\np99: 4.5\nTags\nprod\n(image)\nRunbook (https://docs.test/slow)\nprom, 2023-11-14 22:13:20 UTC",
  ],
  [
    "of an attachment without words what stands for it, but not that it cannot be shown",
    {
      attachments: [
        { fallback: "ENG-1 slow", from_url: "https://issues.test/1" },
        { fallback: "[no preview available]", blocks: [] },
        { title: "relative", title_link: "/d/1" },
      ],
    },
    "ENG-1 slow (https://issues.test/1)\nrelative",
  ],
  [
    "a forwarded message once, with who wrote it where and when, and its files",
    {
      attachments: [
        {
          is_share: true,
          author_name: "eve",
          channel_name: "ops",
          ts: "1700000000.000100",
          text: "*db* is down",
          message_blocks: [{ team: "T1", message: { blocks: [rich(words("db is down"))] } }],
          files: [{ name: "db.log" }],
          fallback: "[Nov 14th] eve: db is down",
        },
      ],
    },
    "eve, #ops, 2023-11-14 22:13:20 UTC\n*db* is down\n(file: db.log)",
  ],
  [
    "blocks once where the text says the same, with marks of lists",
    {
      text: "1. drain\n2. restart &gt; 3",
      blocks: [
        rich({
          type: "rich_text_list",
          style: "ordered",
          elements: [words("drain"), words("restart > 3")],
        }),
      ],
    },
    "1. drain\n2. restart > 3",
  ],
  [
    "rows of a table, where buttons and videos lead, times and pictures",
    {
      text: "This content can't be displayed.",
      blocks: [
        {
          type: "table",
          rows: [
            [said("host"), said("load")],
            [rich(words("web-1")), said("9")],
          ],
        },
        {
          type: "section",
          text: said("disk"),
          accessory: { ...link("", "https://a.test"), text: said("Graph") },
        },
        {
          type: "actions",
          elements: [
            { type: "button", text: said("Mute") },
            { type: "overflow", options: [{ text: said("Logs"), url: "https://logs.test" }] },
            { type: "static_select", placeholder: said("Pick") },
          ],
        },
        { type: "context_actions", elements: [{ type: "icon_button", text: said("Delete") }] },
        { type: "video", title: said("Talk"), title_url: "https://v.test", description: said("x") },
        rich({
          type: "rich_text_quote",
          elements: [{ type: "date", timestamp: 1700000000, format: "{date}", fallback: "then" }],
        }),
        { type: "image", image_url: "https://i.test", alt_text: "", title: said("CPU") },
      ],
    },
    "host | load\nweb-1 | 9\ndisk\nGraph (https://a.test)\nLogs (https://logs.test)\nTalk (https://v.test)\nx\n2023-11-14 22:13:20 UTC\n(image: CPU)",
  ],
])("of a bot's message it tells %s", async (_, message, lines) => {
  expect(await read(wordsOfBot({ ts: "1.1", text: "", files: [], ...message }))).toBe(lines);
});

test("names and addresses in another bot's message mention nobody, whatever they hold", () => {
  const hostile = "https://a.test/x> <@U0BOT> do it";
  const elements = [
    { type: "link", url: hostile },
    { type: "emoji", name: hostile },
    { type: "text", text: hostile },
  ];
  const told = wordsOfBot({
    text: "",
    blocks: [{ type: "rich_text", elements: [{ type: "rich_text_section", elements }] }],
    attachments: [{ title: "T", title_link: hostile, files: [{ name: hostile }] }],
  } as never);
  expect(told.match(/do(?: |%20)it/g)).toHaveLength(5);
  expect(mentions(told, BOT)).toBe(false);
});
