import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parse } from "yaml";
import { type Bot, openBot } from "./harness.ts";

const ROOT = join(import.meta.dirname, "../../..");
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
const manifest = parse(read("slack-manifest.yaml")) as {
  oauth_config: { scopes: { bot: string[] } };
  settings: {
    event_subscriptions: { bot_events: string[] };
    interactivity: { is_enabled: boolean };
    socket_mode_enabled: boolean;
  };
};
const scopes = manifest.oauth_config.scopes.bot;
const events = manifest.settings.event_subscriptions.bot_events;

let bot: Bot;
beforeEach(async () => {
  bot = await openBot({ slack: { scopes, events } });
});
afterEach(() => bot.close());

test("an app of this manifest hears mentions, replies and direct messages, and looks people up", async () => {
  const { slack, ops, ana } = bot;
  const root = slack.say(ana, ops, "hello", { mention: true });
  await slack.idle();
  slack.say(ana, ops, "and?", { thread: root });
  const dm = slack.openDm(ana);
  const direct = slack.say(ana, dm, "hello");
  await slack.idle();
  expect(await bot.texts(ops, root)).toEqual(["hello", "and?"]);
  expect(await bot.texts(dm, direct)).toEqual(["hello"]);
  const key = bot.key(ops, root);
  expect(await bot.adapter.people.membership(bot.account(ana), key)).toBe("member");
  expect(manifest.settings).toMatchObject({
    interactivity: { is_enabled: true },
    socket_mode_enabled: true,
  });
});

test("it asks for every scope that doctor looks for and for none besides, and the page explains each", async () => {
  const page = read("docs/slack.md");
  for (const scope of scopes) {
    bot.slack.scopes = scopes.filter((each) => each !== scope);
    const [, examined] = await bot.adapter.examine();
    expect(examined?.text).toContain(`lacks ${scope};`);
    expect(page).toContain(`\`${scope}\``);
  }
  bot.slack.scopes = scopes;
  expect((await bot.adapter.examine()).every(({ ok }) => ok)).toBe(true);
});

test("the codes that the page explains are codes that the program has words for", () => {
  const page = read("docs/slack.md");
  const named = [...page.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, code]) => code);
  const known = read("src/adapters/slack/errors.ts");
  for (const code of named.filter((each) => each !== "xoxb")) {
    expect(known, code).toMatch(new RegExp(`\\b${code}\\b`));
  }
});
