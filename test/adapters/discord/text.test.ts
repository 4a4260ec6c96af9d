import * as fc from "fast-check";
import { expect, test } from "vitest";
import { wordsOfBot } from "../../../src/adapters/discord/earlier.ts";
import { othersIn, readDiscordText, threadName } from "../../../src/adapters/discord/text.ts";

const names = {
  bot: "1",
  user: (id: string) => ({ "2": "Ana" })[id],
  role: (id: string) => ({ "3": "sre" })[id],
  channel: (id: string) => ({ "4": "ops" })[id],
};

test("what Discord writes as ids is read as names, and the bot's mention is gone", () => {
  for (const [typed, read] of [
    ["<@1> run http_check url=http://a/", "run http_check url=http://a/"],
    ["<@!1>, <@1>: status", "status"],
    ["please <@1> look", "please look"],
    ["<@2> and <@!9> said", "@Ana and @9 said"],
    ["<@&3> <@&9>", "@sre @9"],
    ["see <#4> or <#9>", "see #ops or #9"],
    ["<:party:5> <a:wave:6>", ":party: :wave:"],
    ["at <t:1700000000:R>", "at 2023-11-14T22:13:20Z"],
    ["</status:77>", "/status"],
    ["a < b > c <@x> <1>", "a < b > c <@x> <1>"],
    ["  <@1>  ", ""],
  ] as const) {
    expect(readDiscordText(typed, names)).toBe(read);
  }
});

test.each([
  [" <@2> hi", ["discord:2 start"]],
  ["<@&3> hi", ["discord:role:3 start"]],
  ["<@!1> tell <@!2>", ["discord:2 within"]],
  ["tell <@2>", ["discord:2 within"]],
  ["look at that, <@2>", ["discord:2 end"]],
  ["<@1> hi", []],
])("%s names %j", (text, named) => {
  expect(othersIn(text, "1").map(({ account, at }) => `${account} ${at}`)).toEqual(named);
});

test("a thread's name is one line of 1 to 100 characters, whatever was asked", () => {
  const letters = fc.string({ unit: "binary", maxLength: 300 });
  fc.assert(
    fc.property(letters, (text) => {
      const name = threadName(text, "ana");
      expect(name.length).toBeGreaterThanOrEqual(1);
      expect(name.length).toBeLessThanOrEqual(100);
      expect(name).toBe(name.trim());
      expect(name).not.toMatch(/[\n\r\p{Cc}]/u);
      expect(name.isWellFormed()).toBe(true);
    }),
    { numRuns: 1_000 },
  );
  expect(threadName("", "ana")).toBe("Asked by ana");
  expect(threadName("web is slow (https://am.test/?a=1)\np99: 4", "ana")).toBe(
    "web is slow p99: 4",
  );
  const words = "word ".repeat(40);
  expect(threadName(words, "ana")).toBe(`${"word ".repeat(19).trim()}…`);
});

const FILE = { id: "7", filename: "db.log", size: 1 };

test.each<[what: string, message: object, lines: string]>([
  [
    "an embed with where its title leads, its picture and its time, and no empty field",
    {
      embeds: [
        {
          provider: { name: "Acme" },
          author: { name: "ana" },
          title: "web is slow",
          url: "https://am.test/1",
          description: "[Runbook](https://docs.test/slow)",
          fields: [
            { name: "p99", value: "<t:1700000000:R>" },
            { name: "\u200B", value: "\u200B" },
          ],
          image: { url: "attachment://graph.png" },
          footer: { text: "prom" },
          timestamp: "2023-11-14T22:13:20.500000+00:00",
        },
        { type: "gifv", url: "https://gif.test/1" },
        { title: "odd", url: "javascript:x" },
      ],
    },
    "Acme, ana\nweb is slow (https://am.test/1)\n[Runbook](https://docs.test/slow)\np99: 2023-11-14T22:13:20Z\n(image)\nprom, 2023-11-14T22:13:20Z\nodd",
  ],
  [
    "components, and where buttons lead",
    {
      components: [
        {
          type: 17,
          components: [
            {
              type: 9,
              components: [{ type: 10, content: "Deploy 42" }],
              accessory: { type: 2, style: 5, label: "Log", url: "https://ci.test/42" },
            },
            { type: 12, items: [{ media: { url: "https://i.test" }, description: "a graph" }] },
            { type: 13, file: { url: "attachment://a.zip" }, name: "a.zip" },
            { type: 1, components: [{ type: 2, style: 4, label: "Roll back", custom_id: "x" }] },
          ],
        },
      ],
    },
    "Deploy 42\nLog (https://ci.test/42)\n(image: a graph)\n(file: a.zip)",
  ],
  [
    "a forwarded message with its time, its own names and its files",
    {
      message_snapshots: [
        {
          message: {
            content: "ask <@9>",
            mentions: [{ id: "9", username: "eve" }],
            timestamp: "2023-11-14T22:13:20+00:00",
            attachments: [FILE],
          },
        },
      ],
    },
    "2023-11-14T22:13:20Z\nask @eve\n(file: db.log)",
  ],
  [
    "a poll and a sticker",
    {
      poll: { question: { text: "Ship?" }, answers: [{ poll_media: { text: "Yes" } }] },
      sticker_items: [{ id: "1", name: "party" }],
    },
    "Ship?\n• Yes\n(sticker: party)",
  ],
])("of a bot's message it tells %s", (_, message, lines) => {
  const author = { id: "5", username: "pager", bot: true };
  const heard = { role: () => undefined, channel: () => undefined };
  expect(wordsOfBot({ id: "1", author, ...message }, { bot: "1", heard })).toBe(lines);
});
