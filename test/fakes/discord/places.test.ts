import { describe, expect, test } from "vitest";
import { codeOf, heard, useDesk } from "./desk.ts";
import { PERMISSIONS } from "./discord.ts";
import { eventually } from "../../until.ts";

const desk = useDesk();

describe("threads", () => {
  test("a thread has its message's id, and there is only one", async () => {
    const client = await desk.login();
    const messages = heard(client);
    const id = desk.discord.say(desk.ana, desk.channel, "look", { mention: true });
    await eventually(() => expect(messages).toHaveLength(1));
    const thread = await messages[0]?.startThread({ name: "look", autoArchiveDuration: 60 });
    expect(thread?.id).toBe(id);
    expect(thread?.ownerId).toBe(client.user.id);
    await eventually(() => expect(messages[0]?.hasThread).toBe(true));
    const path = `/channels/${desk.channel.id}/messages/${id}/threads` as const;
    expect(await codeOf(client.rest.post(path, { body: { name: "look" } }))).toBe(160004);
    const shown = desk.discord.threadOf(id) ?? expect.fail();
    desk.discord.say(desk.ana, shown, "and?");
    await thread?.send("found");
    await eventually(() => expect(messages.at(-1)?.content).toBe("found"));
    expect(desk.discord.messages(shown).map((each) => each.content)).toEqual(["and?", "found"]);
    // Discord puts a message of its own at the beginning.
    expect(messages.find((each) => each.system)?.channelId).toBe(id);
  });

  test.for([
    [{ name: "" }, 50035],
    [{ name: "x".repeat(101) }, 50035],
    [{ name: "x", auto_archive_duration: 61 }, 50035],
  ] as const)("refuses one with %j", async ([body, code]) => {
    const { rest } = await desk.login();
    const id = desk.discord.say(desk.ana, desk.channel, "look");
    const path = `/channels/${desk.channel.id}/messages/${id}/threads` as const;
    expect(await codeOf(rest.post(path, { body }))).toBe(code);
    expect(desk.discord.threadOf(id)).toBeUndefined();
  });

  test("an archived one takes nothing until it is opened again; a locked one stays shut", async () => {
    const client = await desk.login();
    const place = desk.discord.addThread(desk.channel, { name: "old" });
    const thread = await client.channels.fetch(place.id);
    if (thread?.isThread() !== true) return expect.fail();
    const sent = await thread.send("a");
    desk.discord.archive(place);
    await eventually(() => expect(thread.archived).toBe(true));
    expect(await codeOf(thread.send("b"))).toBe(50083);
    expect(await codeOf(sent.edit("b"))).toBe(50083);
    await thread.setArchived(false);
    await thread.send("b");
    desk.discord.archive(place, { locked: true });
    expect(
      await codeOf(client.rest.patch(`/channels/${place.id}`, { body: { archived: false } })),
    ).toBe(50013);
    expect(() => desk.discord.say(desk.ana, place, "c")).toThrow("may not write");
  });

  test("a private one is seen by its members alone", async () => {
    const client = await desk.login();
    const messages = heard(client);
    const place = desk.discord.addThread(desk.channel, {
      name: "quiet",
      isPrivate: true,
      members: [desk.ana],
    });
    desk.discord.say(desk.ana, place, "psst");
    expect(await codeOf(client.channels.fetch(place.id))).toBe(50001);
    desk.discord.say(desk.ana, desk.channel, "loud");
    await eventually(() => expect(messages.map((each) => each.content)).toEqual(["loud"]));
  });
});

describe("who may what", () => {
  test("missing access and missing permissions have their codes", async () => {
    const client = await desk.login();
    const { rest } = client;
    const hidden = desk.discord.addChannel(desk.guild, {
      name: "hidden",
      visibleTo: [desk.ana],
      withoutBot: true,
    });
    const send = (id: string): Promise<unknown> =>
      rest.post(`/channels/${id}/messages`, { body: { content: "a" } });
    expect(await codeOf(send(hidden.id))).toBe(50001);
    expect(await codeOf(send(desk.ana.id))).toBe(10003);
    desk.discord.overwrite(desk.channel, desk.discord.botUser, {
      deny: PERMISSIONS.sendMessages | PERMISSIONS.createPublicThreads,
    });
    expect(await codeOf(send(desk.channel.id))).toBe(50013);
    const id = desk.discord.say(desk.ana, desk.channel, "look");
    const path = `/channels/${desk.channel.id}/messages/${id}/threads` as const;
    expect(await codeOf(rest.post(path, { body: { name: "a" } }))).toBe(50013);
    desk.discord.overwrite(desk.channel, desk.discord.botUser, {
      allow: PERMISSIONS.createPublicThreads,
      deny: PERMISSIONS.sendMessagesInThreads,
    });
    await rest.post(path, { body: { name: "a" } });
    expect(await codeOf(send(id))).toBe(50013);
    expect(await codeOf(rest.delete(`/channels/${desk.channel.id}/messages/${id}`))).toBe(50013);
    expect(
      await codeOf(
        rest.patch(`/channels/${desk.channel.id}/messages/${id}`, { body: { content: "a" } }),
      ),
    ).toBe(50005);
  });

  test("nothing is heard of a channel the bot cannot view", async () => {
    const messages = heard(await desk.login());
    const options = { name: "hidden", visibleTo: [desk.ana], withoutBot: true };
    const hidden = desk.discord.addChannel(desk.guild, options);
    desk.discord.say(desk.ana, hidden, "psst", { mention: true });
    desk.discord.say(desk.ana, desk.channel, "loud");
    await eventually(() => expect(messages.map((each) => each.content)).toEqual(["loud"]));
  });

  test("the client computes the same permissions", async () => {
    const role = desk.discord.addRole(desk.guild);
    const bob = desk.discord.addUser({ name: "Bob" });
    desk.discord.addMember(desk.guild, bob, { roles: [role], pending: true });
    const secret = desk.discord.addChannel(desk.guild, { name: "secret", visibleTo: [role] });
    const client = await desk.login();
    const here = client.guilds.cache.get(desk.guild.id) ?? expect.fail();
    const place = here.channels.cache.get(secret.id) ?? expect.fail();
    const [a, b] = [await here.members.fetch(desk.ana.id), await here.members.fetch(bob.id)];
    expect([a, b].map((each) => place.permissionsFor(each).has("ViewChannel"))).toEqual([
      false,
      true,
    ]);
    expect(b.pending).toBe(true);
    expect(place.permissionsFor(desk.guild.id)?.has("ViewChannel")).toBe(false);
    expect(await codeOf(here.members.fetch("1"))).toBe(10013);
    desk.discord.removeMember(desk.guild, bob);
    expect(await codeOf(here.members.fetch({ user: bob.id, force: true }))).toBe(10007);
    expect(await codeOf(here.members.list())).toBe(50001);
  });

  test("says which privileged intents the application has", async () => {
    const client = await desk.login();
    const application = await client.application.fetch();
    expect(application.flags.toArray()).toEqual(["GatewayMessageContentLimited"]);
  });

  test("direct messages reach who takes them", async () => {
    const client = await desk.login();
    await client.users.send(desk.ana.id, "hello");
    expect(desk.discord.dms(desk.ana).map((each) => each.content)).toEqual(["hello"]);
    const shy = desk.discord.addUser({ name: "Shy", refusesDms: true });
    desk.discord.addMember(desk.guild, shy);
    expect(await codeOf(client.users.send(shy.id, "hello"))).toBe(50007);
    const stranger = desk.discord.addUser({ name: "Stranger" });
    expect(await codeOf(client.users.send(stranger.id, "hello"))).toBe(50278);
  });

  test("a wrong token and an unknown route are refused", async () => {
    const { rest } = await desk.login();
    expect(await codeOf(rest.get("/channels/1/nothing"))).toBe(0);
    expect(await codeOf(desk.createClient().rest.setToken("wrong").get("/users/@me"))).toBe(0);
    expect(desk.discord.calls.slice(-2).map((call) => call.status)).toEqual([404, 401]);
    expect(desk.discord.invalidRequests).toBe(1);
  });
});
