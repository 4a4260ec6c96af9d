import fc from "fast-check";
import { expect, test } from "vitest";
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
  ["<!here> <!channel> <!everyone|everyone>", "@here @channel everyone"],
  ["<!subteam^S1|@sre> <!subteam^S2>", "@sre @S2"],
  ["at <!date^1700000000^{date}|14 Nov>", "at 14 Nov"],
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
