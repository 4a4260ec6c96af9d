import { Client, Events, GatewayIntentBits } from "discord.js";
import { describe, expect, test } from "vitest";
import { heard, INTENTS, useDesk } from "./discord/desk.ts";
import { eventually } from "../until.ts";

const desk = useDesk();

/** A client of the bare wire: says one thing, and reports with which code it is sent away, or that its session is void. */
async function knock(identify?: object): Promise<unknown> {
  const socket = new WebSocket(`${desk.discord.apiUrl.replace("http", "ws")}?v=10&encoding=json`);
  const end = await new Promise((resolve) => {
    socket.addEventListener("close", (event) => resolve(event.code));
    socket.addEventListener("message", ({ data }) => {
      const { op } = JSON.parse(String(data)) as { op: number };
      if (op === 10 && identify !== undefined) socket.send(JSON.stringify({ op: 2, d: identify }));
      if (op === 9) resolve("invalid session");
    });
  });
  socket.close();
  return end;
}

/** Every message as it arrives, before the client leaves out what it has in its cache. */
function heardRaw(client: Client): string[] {
  const contents: string[] = [];
  client.on(Events.Raw, ({ t, d }: { t: string; d: { content: string } }) => {
    if (t === "MESSAGE_CREATE") contents.push(d.content);
  });
  return contents;
}

/** The next session of a client's, with its guilds. */
function nextSession(client: Client): Promise<unknown> {
  return new Promise((resolve) => client.once(Events.ShardReady, resolve));
}

describe("the gateway", () => {
  test("lets a client in that shows its token, and names the guilds and channels", async () => {
    const client = await desk.login();
    expect(client.user.id).toBe(desk.discord.botUser.id);
    expect(client.guilds.cache.get(desk.guild.id)?.members.cache.size).toBe(1);
    expect(desk.textChannel(client).name).toBe("ops");
    expect(desk.discord.connected).toBe(1);
  });

  test("refuses a wrong token at the door and on the wire", async () => {
    await expect(desk.createClient().login("wrong")).rejects.toThrow("invalid token");
    expect(await knock({ token: "wrong", intents: 1 })).toBe(4004);
  });

  test("closes with 4010 for a shard that there is not, and with 4011 for too few", async () => {
    await desk.reopen({ minShards: 2 });
    const { token } = desk.discord;
    expect(await knock({ token, intents: 1, shard: [2, 2] })).toBe(4010);
    expect(await knock({ token, intents: 1, shard: [0] })).toBe(4010);
    expect(await knock({ token, intents: 1 })).toBe(4011);
  });

  test("closes with 4014 for an intent that is not switched on", async () => {
    await desk.reopen({ privileged: [] });
    const client = desk.createClient();
    const closed = new Promise((resolve) => {
      client.on(Events.ShardDisconnect, ({ code }) => resolve(code));
    });
    client.on(Events.ShardError, () => {});
    await expect(client.login(desk.discord.token)).rejects.toThrow("disallowed intents");
    expect(await closed).toBe(4014);
  });

  test("without MessageContent only mentions and direct messages have text", async () => {
    await desk.reopen({ privileged: [] });
    const client = await desk.login({
      intents: INTENTS.filter((each) => each !== GatewayIntentBits.MessageContent),
    });
    const messages = heard(client);
    desk.discord.say(desk.ana, desk.channel, "hello all");
    desk.discord.say(desk.ana, desk.channel, "status", { mention: true });
    const dm = desk.discord.openDm(desk.ana);
    desk.discord.say(desk.ana, dm, "hello you");
    await eventually(() => expect(messages).toHaveLength(3));
    expect(messages.map((each) => each.content)).toEqual([
      "",
      `<@${desk.discord.botUser.id}> status`,
      "hello you",
    ]);
    expect(messages[1]?.mentions.has(client.user)).toBe(true);
    expect(messages[2]?.guildId).toBeNull();
  });

  test("a dropped client resumes and gets what it missed, once", async () => {
    const client = await desk.login();
    const messages = heardRaw(client);
    const resumed = new Promise((resolve) => client.on(Events.ShardResume, resolve));
    desk.discord.say(desk.ana, desk.channel, "before");
    await eventually(() => expect(messages).toHaveLength(1));
    desk.discord.dropConnections();
    desk.discord.say(desk.ana, desk.channel, "meanwhile");
    await resumed;
    desk.discord.say(desk.ana, desk.channel, "after");
    await eventually(() => expect(messages).toHaveLength(3));
    expect(messages).toEqual(["before", "meanwhile", "after"]);
  });

  test("a forgotten session begins anew, and what was said meanwhile is lost", async () => {
    const client = await desk.login();
    const messages = heard(client);
    const anew = nextSession(client);
    desk.discord.dropConnections({ resumable: false });
    desk.discord.say(desk.ana, desk.channel, "meanwhile");
    await anew;
    desk.discord.say(desk.ana, desk.channel, "after");
    await eventually(() => expect(messages.at(-1)?.content).toBe("after"));
    expect(messages).toHaveLength(1);
  });

  test("every client gets every event, in its own time", async () => {
    await desk.reopen({ delayMs: [0, 20], copies: 2 });
    const all = [heardRaw(await desk.login()), heardRaw(await desk.login())];
    desk.discord.say(desk.ana, desk.channel, "one");
    desk.discord.say(desk.ana, desk.channel, "two");
    const sorted = (): unknown => all.map((each) => each.toSorted());
    await eventually(() => {
      expect(sorted()).toEqual([
        ["one", "one", "two", "two"],
        ["one", "one", "two", "two"],
      ]);
    });
  });

  test("a client that does not beat is sent away", async () => {
    await desk.reopen({ times: { heartbeatMs: 20 } });
    expect(await knock()).toBe(4009);
  });

  test("holds back identifies that come too fast, and those of a used-up day", async () => {
    await desk.reopen({ limits: true });
    await desk.login();
    expect(await knock({ token: desk.discord.token, intents: 1 })).toBe("invalid session");
    await desk.reopen({ identifies: 1 });
    await desk.login();
    expect(await knock({ token: desk.discord.token, intents: 1 })).toBe("invalid session");
    await expect(desk.createClient().login(desk.discord.token)).rejects.toThrow(
      "Not enough sessions remaining",
    );
  });
});
