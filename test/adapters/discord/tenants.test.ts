import { afterEach, describe, expect, test } from "vitest";
import type { FakeChannel, FakeGuild, FakeUser } from "../../fakes/discord/discord.ts";
import { type Bot, type BotOptions, openBot, until } from "./harness.ts";

const open: Bot[] = [];
async function opened(options?: BotOptions): Promise<Bot> {
  const bot = await openBot(options);
  open.push(bot);
  return bot;
}
afterEach(async () => {
  for (const bot of open.splice(0)) await bot.close();
});

interface Lair {
  guild: FakeGuild;
  mallory: FakeUser;
  lair: FakeChannel;
}

/** A server of Mallory's with the bot in it. */
function addLair({ discord }: Bot): Lair {
  const guild = discord.addGuild({ name: "lair" });
  const mallory = discord.addUser({ name: "mallory" });
  discord.addMember(guild, mallory);
  return { guild, mallory, lair: discord.addChannel(guild, { name: "lair" }) };
}

const journals = ({ parts }: Bot) => parts.queries.recent("discord", 0);
const logged = ({ log }: Bot, text: string) => log.filter(({ msg }) => String(msg).includes(text));

describe("which servers are served", () => {
  test("the one that the bot is in at its first start, and that one ever after", async () => {
    const bot = await opened();
    expect(await bot.parts.tenants.kept("discord")).toBe(`discord:${bot.guild.id}`);
    const taken = logged(bot, "serves it alone from now on");
    expect(taken).toMatchObject([{ level: 40, guild: bot.guild.id, name: "Operations" }]);
    expect(taken[0]?.["msg"]).toContain("If it isn't yours, stop the bot");
    expect(taken[0]?.["msg"]).toContain("DISCORD_GUILDS");
    await bot.begin();
    // It is thrown out and added elsewhere: that is still not served.
    bot.discord.removeGuild(bot.guild);
    const other = bot.discord.addGuild({ name: "elsewhere" });
    const again = await bot.replica();
    expect(again.view(`discord:${other.id}:${other.id}`)).toBeUndefined();
    expect(again.view(`discord:${bot.guild.id}:${bot.guild.id}`)).toBeDefined();
    expect(logged(bot, "serves it alone from now on")).toHaveLength(1);
  });

  test("several at the first start are refused and named, and none is left", async () => {
    const bot = await opened({ start: false });
    const { guild } = addLair(bot);
    const refused = await bot.adapter.start(bot.parts).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "PLATFORM_REFUSED" });
    for (const part of [bot.guild.id, guild.id, "lair", "Operations", "DISCORD_GUILDS"]) {
      expect(String(refused)).toContain(part);
    }
    expect(bot.discord.calls.filter(({ method }) => method === "DELETE")).toEqual([]);
    expect(await bot.parts.tenants.kept("discord")).toBeUndefined();
    const findings = await bot.adapter.examine();
    expect(findings).toContainEqual({
      ok: false,
      text: expect.stringContaining("is in 2 servers"),
    });
  });

  test("one that it is added to later is left and logged, while it runs and at the next start", async () => {
    const bot = await opened();
    const { guild } = addLair(bot);
    const left = () => bot.discord.calls.filter(({ method }) => method === "DELETE");
    await until(() => left().length === 1);
    expect(logged(bot, "leaves it")).toMatchObject([{ guild: guild.id, name: "lair" }]);
    expect(left()).toMatchObject([{ path: expect.stringContaining(guild.id) }]);
    const down = await opened({ start: false });
    await down.parts.tenants.keep("discord", `discord:${down.guild.id}`);
    const late = addLair(down);
    await down.adapter.start(down.parts);
    expect(logged(down, "leaves it")).toMatchObject([{ guild: late.guild.id }]);
    expect(down.discord.calls.filter(({ method }) => method === "DELETE")).toHaveLength(1);
    expect(await down.parts.tenants.kept("discord")).toBe(`discord:${down.guild.id}`);
  });

  test("with none at the first start nothing is served, nothing settled, and nothing left", async () => {
    const bot = await opened({ start: false });
    bot.discord.removeGuild(bot.guild);
    await bot.adapter.start(bot.parts);
    const { lair, mallory } = addLair(bot);
    await until(() => logged(bot, "start it again").length === 2);
    bot.discord.say(mallory, lair, "help", { mention: true });
    await until(() => logged(bot, "not served was refused").length === 1);
    expect(bot.shown(lair)).toEqual([]);
    expect(await bot.parts.tenants.kept("discord")).toBeUndefined();
    expect(bot.discord.calls.filter(({ method }) => method === "DELETE")).toEqual([]);
  });

  test("those that are configured, of which doctor says where the bot is not; others are refused, not left", async () => {
    const bot = await opened({ start: false, guilds: (_, own) => [own.id, "112233445566778899"] });
    const { lair, mallory } = addLair(bot);
    await bot.adapter.start(bot.parts);
    expect(logged(bot, "a server is not served")).toMatchObject([{ name: "lair" }]);
    bot.discord.say(mallory, lair, "help", { mention: true });
    await until(() => logged(bot, "not served was refused").length === 1);
    expect(logged(bot, "not served was refused")).toHaveLength(1);
    expect(await journals(bot)).toEqual([]);
    expect(bot.shown(lair)).toEqual([]);
    expect(bot.discord.calls.filter(({ method }) => method === "DELETE")).toEqual([]);
    expect(await bot.parts.tenants.kept("discord")).toBeUndefined();
    expect(await bot.adapter.examine()).toEqual(
      expect.arrayContaining([
        { ok: true, text: `It serves Operations (${bot.guild.id}).` },
        { ok: false, text: expect.stringContaining("It is not in 112233445566778899") },
      ]),
    );
  });
});

describe("a direct message makes nobody a member", () => {
  test("who is in no server that is served is refused in words, once, and begins nothing", async () => {
    const bot = await opened({ start: false, guilds: (_, own) => [own.id] });
    const { mallory: stranger } = addLair(bot);
    await bot.adapter.start(bot.parts);
    const dm = bot.discord.openDm(stranger);
    bot.discord.say(stranger, dm, "incidents");
    await until(() => bot.shown(dm).length === 1);
    expect(bot.shown(dm)).toEqual(["I only answer members of the servers that I serve."]);
    expect(await bot.entries(dm)).toEqual([]);
    const { people } = bot.adapter;
    expect(await people.membership(`discord:${stranger.id}`, bot.key(dm))).toBe("unknown");
    expect(await people.everyone(bot.key(dm))).toEqual([]);
    expect(logged(bot, "a direct message of somebody")).toHaveLength(1);
  });

  test("a member of a server that is served is one there too, one who has yet to accept its rules a guest", async () => {
    const bot = await opened();
    const gus = bot.discord.addUser({ name: "gus" });
    bot.discord.addMember(bot.guild, gus, { pending: true });
    const standing = (user: FakeUser, dm: FakeUser) =>
      bot.adapter.people.membership(`discord:${user.id}`, bot.key(bot.discord.openDm(dm)));
    expect(await standing(bot.ana, bot.ana)).toBe("member");
    expect(await standing(gus, gus)).toBe("guest");
    expect(await standing(bot.bob, bot.ana)).toBe("outsider");
    expect(await standing(bot.discord.botUser, bot.ana)).toBe("bot");
    const everyone = await bot.adapter.people.everyone(bot.key(bot.discord.openDm(gus)));
    expect(everyone).toEqual([]);
  });

  test("shows what is public in the servers that its writer is a member of, a thread what is in its own", async () => {
    const bot = await opened();
    const stranger = bot.discord.addUser({ name: "stranger" });
    const dm = bot.key(bot.discord.openDm(bot.ana));
    const own = [`discord:${bot.guild.id}`];
    expect(await bot.adapter.tenants(dm, `discord:${bot.ana.id}`)).toEqual(own);
    expect(await bot.adapter.tenants(dm, `discord:${stranger.id}`)).toEqual([]);
    expect(await bot.adapter.tenants(bot.key(bot.ops), `discord:${stranger.id}`)).toEqual(own);
    expect(await bot.adapter.tenants("discord:1:2", `discord:${bot.ana.id}`)).toEqual([]);
  });

  test("while Discord does not say who somebody is, the message waits; it is neither taken nor refused", async () => {
    const bot = await opened();
    const dm = bot.discord.openDm(bot.ana);
    bot.discord.fail("GET /guilds/:guild/members/:user", { status: 500, times: 2 });
    bot.discord.say(bot.ana, dm, "is web well?");
    await until(async () => (await bot.texts(dm)).length === 1);
    expect(await bot.texts(dm)).toEqual(["is web well?"]);
    expect(bot.shown(dm)).toEqual([]);
  });

  test("whoever left the server is shown nothing more of an old card, and told why", async () => {
    const bot = await opened();
    const dm = bot.discord.openDm(bot.ana);
    bot.discord.say(bot.ana, dm, "is web well?");
    await until(async () => (await bot.texts(dm)).length === 1);
    const { cardOf } = await import("../parts.ts");
    const card = cardOf(bot.key(dm));
    bot.cards.set("a1", card);
    await bot.view(dm).postCard(card, { id: "proposed:a1.1", isRetry: false });
    const message = bot.discord.messages(dm).at(-1);
    bot.discord.removeMember(bot.guild, bot.ana);
    const later = await bot.replica();
    await bot.adapter.stop();
    const outcome = await bot.discord.press(bot.ana, message?.id ?? "", "wk:details:a1");
    expect(outcome).toMatchObject({ kind: "acked", how: "reply" });
    expect(bot.discord.ephemerals(bot.ana).map((each) => bot.discord.textOf(each))).toEqual([
      "I only answer members of the servers that I serve.",
    ]);
    expect(later.transport).toBe("discord");
  });
});

test("in a server that is not served nobody stands for anything, and no role of it names approvers", async () => {
  const bot = await opened({
    discord: { privileged: ["MessageContent", "GuildMembers"] },
    guilds: (_, own) => [own.id],
  });
  const { guild, mallory, lair } = addLair(bot);
  const role = bot.discord.addRole(guild, { name: "sre" });
  bot.discord.addMember(guild, mallory, { roles: [role] });
  const { people } = bot.adapter;
  expect(await people.membership(`discord:${mallory.id}`, bot.key(lair))).toBe("unknown");
  expect(await people.everyone(bot.key(lair))).toEqual([]);
  expect(await people.members(`discord:role:${role.id}`)).toBeUndefined();
  expect(bot.adapter.view(bot.key(lair))).toBeUndefined();
});

test("doctor says that anybody can add a public bot, and what to switch off", async () => {
  const shown = await opened({ discord: { isPublic: true } });
  const found = (await shown.adapter.examine()).filter(({ weak }) => weak === true);
  // That it serves this one is not kept where doctor looks at no store.
  expect(found.map(({ text }) => text)).toEqual([
    expect.stringMatching(/will serve Operations .* Anybody may have added.*DISCORD_GUILDS/),
    expect.stringContaining('"Public Bot"'),
  ]);
  const closed = await opened();
  expect((await closed.adapter.examine()).filter(({ weak }) => weak === true)).toEqual([]);
});
