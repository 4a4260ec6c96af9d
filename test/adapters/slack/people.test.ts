import { afterEach, beforeEach, expect, test } from "vitest";
import type { FakeStanding } from "../../fakes/slack/slack.ts";
import type { JournalKey } from "../../../src/core/journal-key.ts";
import type { People } from "../../../src/core/people.ts";
import { type Bot, openBot, skip, until } from "./harness.ts";

let bot: Bot;
let people: People;
let key: JournalKey;
beforeEach(async () => {
  bot = await openBot();
  ({ people } = bot.adapter);
  key = bot.key(bot.ops, bot.slack.say(bot.ana, bot.ops, "is web well?"));
});
afterEach(() => bot.close());

const calls = (method: string) => bot.slack.calls.filter((call) => call.method === method).length;

test.each<[FakeStanding, string]>([
  ["member", "member"],
  ["guest", "guest"],
  ["ultra guest", "guest"],
  ["bot", "bot"],
  ["deactivated", "deactivated"],
  ["external", "guest"],
  ["stranger", "guest"],
])("of a %s in the channel it says %s", async (standing, expected) => {
  const user = bot.slack.addUser({ name: "zoe", standing });
  bot.slack.join(bot.ops, user);
  expect(await people.membership(bot.account(user), key)).toBe(expected);
  // Nor does the account become another's by another team's name.
  expect(await people.membership(`slack:T0ELSE:${user.id}`, key)).not.toBe("member");
});

test("who comes from elsewhere is the same person with a file, of which Slack does not say whose workspace it is", async () => {
  const { slack, ops } = bot;
  const zoe = slack.addUser({ name: "zoe", standing: "external" });
  slack.join(ops, zoe);
  const root = slack.say(zoe, ops, "is web well?", { mention: true });
  await until(async () => (await bot.texts(ops, root)).length === 1);
  const files = [{ name: "a.txt", mimetype: "text/plain", content: "see" }];
  slack.say(zoe, ops, "see", { thread: root, files });
  await until(async () => (await bot.texts(ops, root)).length === 2);
  const actors = (await bot.entries(ops, root)).flatMap((each) =>
    "actor" in each ? each.actor : [],
  );
  expect(new Set(actors.map(({ account }) => account))).toEqual(new Set([bot.account(zoe)]));
});

test("a full member who is not in the channel is an outsider, who is not in the workspace unknown", async () => {
  const cy = bot.slack.addUser({ name: "cy" });
  expect(await people.membership(bot.account(cy), key)).toBe("outsider");
  expect(await people.membership(bot.account(bot.ana), key)).toBe("member");
  expect(await people.membership(`slack:${bot.slack.team.id}:U0NOBODY`, key)).toBe("unknown");
  for (const account of ["discord:1", "slack:U1", "", "slack:T0HOME:USLACKBOT:1"]) {
    expect(await people.membership(account, key)).toBe("unknown");
  }
});

test("of direct messages the two are the members", async () => {
  const { slack, ana, bob } = bot;
  const dm = slack.openDm(ana);
  const direct = bot.key(dm, slack.say(ana, dm, "hello"));
  expect(await people.membership(bot.account(ana), direct)).toBe("member");
  expect(await people.membership(bot.account(bob), direct)).toBe("outsider");
  expect(await people.everyone(direct)).toEqual([bot.account(ana)]);
  expect(await bot.adapter.audience(direct)).toBe(`slack:${slack.team.id}:${dm.id}`);
});

test("a group is its members of now, and undefined when there is none of this name", async () => {
  bot.slack.addGroup("S0SRE", [bot.ana, bot.bob]);
  const members = [bot.account(bot.ana), bot.account(bot.bob)];
  expect(await people.members("slack:group:S0SRE")).toEqual(members);
  expect(await people.members("slack:group:S0GONE")).toBeUndefined();
  expect(await people.members("discord:role:1")).toBeUndefined();
  expect(await people.label?.("slack:group:S0SRE", key)).toBe("@s0sre");
  expect(await people.label?.("slack:group:S0GONE", key)).toBeUndefined();
  expect(await people.label?.(bot.account(bot.ana), key)).toBe("ana");
});

test("everyone in the channel is listed, in as many pages as Slack makes of it, but the bot itself", async () => {
  const many = Array.from({ length: 1_200 }, (_, i) => bot.slack.addUser({ name: `u${i}` }));
  const crowd = bot.slack.addChannel({ name: "crowd", members: many });
  const root = bot.slack.say(many[0] ?? "", crowd, "hello");
  expect(await people.everyone(bot.key(crowd, root))).toEqual(
    many.map((user) => bot.account(user)),
  );
});

test("of a channel larger than five pages nobody says who is in it", async () => {
  const many = Array.from({ length: 5_001 }, (_, i) => bot.slack.addUser({ name: `u${i}` }));
  const crowd = bot.slack.addChannel({ name: "crowd", members: many });
  const root = bot.slack.say(many[0] ?? "", crowd, "hello");
  expect(await people.everyone(bot.key(crowd, root))).toBeUndefined();
});

test("answers are kept for a minute, shared by all who ask at once, and failures are not kept", async () => {
  const ana = bot.account(bot.ana);
  const before = calls("users.info");
  bot.slack.fail("users.info", { error: "internal_error", times: 1 });
  await expect(people.membership(ana, key)).rejects.toMatchObject({ code: "PLATFORM_UNREACHABLE" });
  const all = await Promise.all(Array.from({ length: 20 }, () => people.membership(ana, key)));
  expect(new Set(all)).toEqual(new Set(["member"]));
  expect(await people.timezone(ana)).toBe("Europe/Madrid");
  expect(calls("users.info") - before).toBe(2);
  expect(calls("conversations.members")).toBe(1);
});

test("what Slack does not answer is thrown, so that nobody decides anything meanwhile", async () => {
  const ana = bot.account(bot.ana);
  bot.slack.fail("conversations.members", { status: 429, retryAfter: 7 });
  await expect(people.membership(ana, key)).rejects.toMatchObject({
    code: "PLATFORM_RATE_LIMITED",
    retryAfterMs: 7_000,
  });
  skip(7_000);
  bot.slack.leave(bot.ops, bot.slack.botUser);
  bot.slack.fail("conversations.members", { error: "channel_not_found" });
  await expect(people.everyone(key)).rejects.toMatchObject({ code: "PLATFORM_REFUSED" });
});

test("a time zone that nobody set is undefined", async () => {
  expect(await people.timezone(bot.account(bot.bob))).toBeUndefined();
  expect(await people.timezone("discord:1")).toBeUndefined();
});

test("a public channel is for everyone; a private one, and one that the bot may not see, is a place of its own", async () => {
  const { slack, adapter, ana } = bot;
  expect(await adapter.audience(key)).toBeUndefined();
  const war = slack.addChannel({ name: "war", isPrivate: true, members: [ana] });
  const inWar = bot.key(war, slack.say(ana, war, "hush"));
  expect(await adapter.audience(inWar)).toBe(`slack:${slack.team.id}:${war.id}`);
  const odd = slack.addChannel({ name: "odd", members: [ana] });
  slack.fail("conversations.info", { error: "channel_not_found" });
  const there = bot.key(odd, slack.say(ana, odd, "hello"));
  expect(await adapter.audience(there)).toBe(`slack:${slack.team.id}:${odd.id}`);
});

test.each(["shared", "invited"] as const)(
  "a public channel that is %s with another company is a place of its own",
  async (sharing) => {
    const { slack, adapter, ana } = bot;
    expect(await adapter.hasOutsiders?.(key)).toBe(false);
    const partner = slack.addChannel({ name: `partner-${sharing}`, members: [ana] });
    slack.share(partner, sharing);
    const place = `slack:${slack.team.id}:${partner.id}` as const;
    const there = bot.key(partner, slack.say(ana, partner, "hello"));
    for (const each of [place, there] as const) {
      expect(await adapter.hasOutsiders?.(each)).toBe(true);
      expect(await adapter.audience(each)).toBe(place);
    }
  },
);

test("a channel of a workspace that is not served counts as shared", async () => {
  expect(await bot.adapter.hasOutsiders?.("slack:T0ELSEWHERE:C0OPS")).toBe(true);
});

test("a thread is in its channel", async () => {
  expect(await bot.adapter.channel(key)).toBe(key.split(":").slice(0, 3).join(":"));
});

test("a thread has the address under which its first message is found", () => {
  const root = key.split(":").at(-1) ?? "";
  const digits = root.replace(".", "");
  expect(bot.adapter.link(key)).toBe(`${bot.slack.team.url}archives/${bot.ops.id}/p${digits}`);
  expect(bot.adapter.link("terminal:x")).toBeUndefined();
});

test("before it is connected nobody has a standing and no thread a view", async () => {
  const unconnected = await openBot({ start: false });
  try {
    expect(unconnected.adapter.view(key)).toBeUndefined();
    expect(unconnected.adapter.link(key)).toBeUndefined();
    const asked = unconnected.adapter.people.membership(bot.account(bot.ana), key);
    await expect(asked).rejects.toMatchObject({ code: "PLATFORM_UNREACHABLE" });
    await expect(unconnected.adapter.audience(key)).rejects.toMatchObject({
      code: "PLATFORM_UNREACHABLE",
    });
  } finally {
    await unconnected.close();
  }
});
