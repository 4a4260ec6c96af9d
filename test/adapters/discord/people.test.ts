import * as fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { permissionsIn } from "../../../src/adapters/discord/channels.ts";
import { FakeDiscord, PERMISSIONS } from "../../fakes/discord/discord.ts";
import { permissionsIn as theirPermissions } from "../../fakes/discord/permissions.ts";
import { type Bot, openBot, until } from "./harness.ts";

let bot: Bot | undefined;
afterEach(async () => {
  await bot?.close();
  bot = undefined;
});

async function open(options: Parameters<typeof openBot>[0] = {}) {
  bot = await openBot(options);
  const { discord, guild, ana, bob } = bot;
  const sre = discord.addRole(guild, { name: "sre" });
  const add = (name: string, more: Parameters<FakeDiscord["addMember"]>[2] = {}, isBot = false) => {
    const user = discord.addUser({ name, bot: isBot });
    discord.addMember(guild, user, more);
    return user;
  };
  const people = {
    ana,
    bob,
    cy: add("cy", { roles: [sre] }),
    gus: add("gus", { pending: true, roles: [sre] }),
    robot: add("robot", { roles: [sre] }, true),
    away: discord.addUser({ name: "away" }),
  };
  const secret = discord.addChannel(guild, { name: "secret", visibleTo: [sre] });
  return { ...bot, sre, people, secret };
}

type Opened = Awaited<ReturnType<typeof open>>;

/** The standing of each in a thread of the channel. */
async function standings({ adapter, discord, people, key }: Opened, channel: Opened["ops"]) {
  const thread =
    channel.thread === undefined && channel.guildId !== undefined
      ? discord.addThread(channel, { name: "x" })
      : channel;
  const found = Object.entries(people).map(async ([name, { id }]) => [
    name,
    await adapter.people.membership(`discord:${id}`, key(thread)),
  ]);
  return Object.fromEntries(await Promise.all(found));
}

test("members decide; those who have not passed screening, bots, strangers and who cannot see the channel do not", async () => {
  const opened = await open();
  expect(await standings(opened, opened.ops)).toEqual({
    ana: "member",
    bob: "member",
    cy: "member",
    gus: "guest",
    robot: "bot",
    away: "unknown",
  });
  expect(await standings(opened, opened.secret)).toEqual({
    ana: "outsider",
    bob: "outsider",
    cy: "member",
    gus: "guest",
    robot: "bot",
    away: "unknown",
  });
});

test("in a private thread only its members and those who manage threads take part", async () => {
  const opened = await open();
  const { discord, guild, ops, people } = opened;
  const moderators = discord.addRole(guild, { permissions: PERMISSIONS.manageThreads });
  discord.addMember(guild, people.bob, { roles: [moderators] });
  const thread = discord.addThread(ops, {
    name: "quiet",
    isPrivate: true,
    members: [people.ana, discord.botUser],
  });
  expect(await standings(opened, thread)).toMatchObject({
    ana: "member",
    bob: "member",
    cy: "outsider",
  });
});

test("a direct message has one person", async () => {
  const opened = await open();
  const dm = opened.discord.openDm(opened.people.ana);
  expect(await standings(opened, dm)).toMatchObject({ ana: "member", bob: "outsider" });
  expect(await opened.adapter.people.everyone(opened.key(dm))).toEqual([
    `discord:${opened.people.ana.id}`,
  ]);
});

test("while Discord cannot be asked nobody is anything", async () => {
  const opened = await open();
  opened.discord.fail("GET /guilds/:guild/members/:user", { status: 500, times: 10 });
  await expect(standings(opened, opened.ops)).rejects.toMatchObject({
    code: "PLATFORM_UNREACHABLE",
  });
});

test("a role's members are listed where Discord allows it, and else the refusal names the switch", async () => {
  const listed = await open({ discord: { privileged: ["MessageContent", "GuildMembers"] } });
  const { cy, gus, robot } = listed.people;
  const ask = () => listed.adapter.people.members(`discord:role:${listed.sre.id}`);
  // The gateway tells of new roles.
  await until(async () => (await ask()) !== undefined);
  const members = await ask();
  expect(members?.toSorted()).toEqual([cy, gus, robot].map(({ id }) => `discord:${id}`).toSorted());
  expect(await listed.adapter.people.members("discord:role:123456789012345678")).toBeUndefined();
  const { people } = listed.adapter;
  const inOps = listed.key(listed.ops);
  expect(await people.label?.(`discord:role:${listed.sre.id}`, inOps)).toBe("@sre");
  expect(await people.label?.("discord:role:123456789012345678", inOps)).toBeUndefined();
  expect(await people.label?.(`discord:${cy.id}`, inOps)).toBe("cy");
  await listed.close();
  const closed = await open();
  const refused = () =>
    closed.adapter.people.members(`discord:role:${closed.sre.id}`).catch((error: unknown) => error);
  await until(async () => (await refused()) !== undefined);
  await expect(
    closed.adapter.people.members(`discord:role:${closed.sre.id}`),
  ).rejects.toMatchObject({
    code: "PLATFORM_REFUSED",
    message: expect.stringContaining("Server Members Intent"),
  });
});

test("everyone who could take part is known where Discord lists members, and else not", async () => {
  const listed = await open({ discord: { privileged: ["MessageContent", "GuildMembers"] } });
  const thread = listed.discord.addThread(listed.secret, { name: "x" });
  const { cy } = listed.people;
  const found = await listed.adapter.people.everyone(listed.key(thread));
  expect(found?.toSorted()).toEqual(
    [cy, listed.discord.owner].map(({ id }) => `discord:${id}`).toSorted(),
  );
  await listed.close();
  const closed = await open();
  const other = closed.discord.addThread(closed.ops, { name: "x" });
  expect(await closed.adapter.people.everyone(closed.key(other))).toBeUndefined();
});

test("what everyone may read has no audience; a private channel's threads share one, others have their own", async () => {
  const opened = await open();
  const { adapter, discord, guild, ops, secret, people, key } = opened;
  const inPublic = discord.addThread(ops, { name: "x" });
  const inSecret = [1, 2].map((n) => discord.addThread(secret, { name: `x${n}` }));
  const hidden = discord.addThread(ops, { name: "h", isPrivate: true, members: [discord.botUser] });
  const dm = discord.openDm(people.ana);
  expect(await adapter.audience(key(inPublic))).toBeUndefined();
  for (const thread of inSecret) {
    expect(await adapter.audience(key(thread))).toBe(`discord:${guild.id}:${secret.id}`);
  }
  expect(await adapter.audience(key(hidden))).toBe(key(hidden));
  expect(await adapter.audience(key(dm))).toBe(key(dm));
  const gone = discord.addThread(ops, { name: "gone" });
  discord.removeChannel(gone);
  expect(await adapter.audience(key(gone))).toBe(key(gone));
});

test("a thread is in its channel, and a direct message is its own", async () => {
  const { adapter, discord, guild, ops, people, key } = await open();
  const ofOps = `discord:${guild.id}:${ops.id}`;
  expect(await adapter.channel(key(discord.addThread(ops, { name: "x" })))).toBe(ofOps);
  expect(await adapter.channel(`discord:${guild.id}:${ops.id}`)).toBe(ofOps);
  const dm = key(discord.openDm(people.ana));
  expect(await adapter.channel(dm)).toBe(dm);
});

test("a thread's address is the one that people copy", async () => {
  const { adapter, guild } = await open();
  expect(adapter.link(`discord:${guild.id}:123456789012345678`)).toBe(
    `https://discord.com/channels/${guild.id}/123456789012345678`,
  );
  expect(adapter.link("discord:dm:123456789012345678")).toBe(
    "https://discord.com/channels/@me/123456789012345678",
  );
  expect(adapter.link("discord:x:1")).toBeUndefined();
});

test("permissions come out as Discord computes them, for any roles and overwrites", async () => {
  const { viewChannel, sendMessages, manageThreads, administrator } = PERMISSIONS;
  const few = [viewChannel, sendMessages, manageThreads];
  const bits = fc.subarray(few).map((chosen) => chosen.reduce((all, bit) => all | bit, 0n));
  const change = fc.record({ allow: bits, deny: bits });
  const server = fc.record({
    everyone: bits,
    roles: fc.array(fc.record({ bits, held: fc.boolean(), own: change }), { maxLength: 3 }),
    overwrites: fc.record({ everyone: change, member: change }),
    admin: fc.integer({ min: 0, max: 20 }),
    isOwner: fc.integer({ min: 0, max: 20 }).map((n) => n === 0),
  });
  const discord = await FakeDiscord.start();
  const ana = discord.addUser({ name: "ana" });
  fc.assert(
    fc.property(server, ({ everyone, roles, overwrites, admin, isOwner }) => {
      const user = isOwner ? discord.owner : ana;
      const guild = discord.addGuild();
      const base = guild.roles.get(guild.id);
      if (base === undefined) throw new Error("no @everyone");
      // The fake takes a member without any permission for somebody who is not there.
      base.permissions = everyone | PERMISSIONS.embedLinks;
      const channel = discord.addChannel(guild, { name: "c" });
      const made = roles.map((role, i) => {
        const permissions = role.bits | (i === admin ? administrator : 0n);
        const one = discord.addRole(guild, { permissions });
        discord.overwrite(channel, one, role.own);
        return one;
      });
      discord.addMember(guild, user, { roles: made.filter((_, i) => roles[i]?.held === true) });
      discord.overwrite(channel, base, overwrites.everyone);
      discord.overwrite(channel, user, overwrites.member);
      const found = permissionsIn(
        {
          id: guild.id,
          owner_id: guild.ownerId,
          roles: [...guild.roles.values()].map(({ id, permissions }) => ({
            id,
            permissions: String(permissions),
          })),
        } as never,
        {
          type: 0,
          permission_overwrites: [...channel.overwrites.values()].map(
            ({ id, of, allow, deny }) => ({
              id,
              type: of === "role" ? 0 : 1,
              allow: String(allow),
              deny: String(deny),
            }),
          ),
        } as never,
        { user: user.id, roles: [...(guild.members.get(user.id)?.roles ?? [])] },
      );
      const world = { guilds: new Map([[guild.id, guild]]) } as never;
      // Whoever does not see a channel has no permission in it at all.
      const seen = (found & viewChannel) === 0n ? 0n : found;
      for (const bit of few) {
        expect([bit, seen & bit]).toEqual([bit, theirPermissions(world, channel, user.id) & bit]);
      }
    }),
    { numRuns: 400 },
  );
  await discord.stop();
});
