import * as fc from "fast-check";
import { expect, test } from "vitest";
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
  const words = "word ".repeat(40);
  expect(threadName(words, "ana")).toBe(`${"word ".repeat(19).trim()}…`);
});
