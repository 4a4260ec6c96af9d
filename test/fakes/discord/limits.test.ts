import { describe, expect, test } from "vitest";
import { codeOf, useDesk } from "./desk.ts";

const desk = useDesk();

describe("limits and faults", () => {
  test("five messages a channel, then the client waits as it is told", async () => {
    await desk.reopen({ limits: true, times: { windowMs: 100 } });
    const target = desk.textChannel(await desk.login());
    const startedAt = Date.now();
    await Promise.all(Array.from({ length: 6 }, (_, index) => target.send(`m${index}`)));
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(90);
    expect(desk.discord.calls.every((call) => call.status !== 429)).toBe(true);
    expect(desk.discord.messages(desk.channel)).toHaveLength(6);
  });

  test("who does not wait gets 429, and a client that tries again comes through", async () => {
    // However slow the six messages are, they fall into one window, which is over once one was refused.
    const wasRefused = () => desk.discord.calls.some((call) => call.status === 429);
    await desk.reopen({
      limits: true,
      times: { windowMs: 50 },
      now: () => (wasRefused() ? 1_050 : 1_000),
    });
    const [one, other] = [
      desk.textChannel(await desk.login()),
      desk.createClient().rest.setToken(desk.discord.token),
    ];
    for (let count = 0; count < 5; count += 1) await one.send("a");
    await other.post(`/channels/${desk.channel.id}/messages`, { body: { content: "b" } });
    const refused = desk.discord.calls.filter((call) => call.status === 429);
    expect(refused).toHaveLength(1);
    expect(desk.discord.messages(desk.channel)).toHaveLength(6);
    expect(desk.discord.invalidRequests).toBe(1);
  });

  test("fifty requests a second in all, whatever they ask", async () => {
    // All within one second, however slow they are.
    await desk.reopen({ limits: true, now: () => 1_000 });
    const paths = [
      "/users/@me",
      "/applications/@me",
      `/guilds/${desk.guild.id}`,
      "/users/@me/guilds",
    ];
    const headers = { authorization: `Bot ${desk.discord.token}` };
    const ask = async (path: string): Promise<Response> =>
      fetch(`${desk.discord.apiUrl}/v10${path}`, { headers });
    const asked = Array.from({ length: 30 }, () => paths.map(ask)).flat();
    const refused = (await Promise.all(asked)).filter((each) => each.status === 429);
    expect(refused[0]?.headers.get("x-ratelimit-scope")).toBe("global");
    expect(await refused[0]?.json()).toMatchObject({ global: true });
  });

  test("an address with too many invalid requests is banned", async () => {
    await desk.reopen({ bannedFrom: 20 });
    const address = `${desk.discord.apiUrl}/v10/users/@me`;
    for (let count = 0; count < 20; count += 1) expect((await fetch(address)).status).toBe(401);
    const response = await fetch(address, {
      headers: { authorization: `Bot ${desk.discord.token}` },
    });
    expect(response.status).toBe(429);
    expect(await response.text()).toContain("1015");
  });

  test("faults strike as often as they are told to", async () => {
    const target = desk.textChannel(await desk.login());
    const hasty = desk.textChannel(await desk.login({ rest: { timeout: 50 } }));
    const route = "POST /channels/:channel/messages";
    desk.discord.fail(route, { status: 403, code: 50013, times: 2 });
    expect([await codeOf(target.send("a")), await codeOf(target.send("a"))]).toEqual([
      50013, 50013,
    ]);
    desk.discord.fail(route, { cut: true });
    await expect(target.send("a")).rejects.toMatchObject({ code: "ECONNRESET" });
    desk.discord.fail(route, { timeout: true });
    await expect(hasty.send("a")).rejects.toThrow("aborted");
    desk.discord.fail(route, { status: 502 });
    await expect(target.send("a")).rejects.toMatchObject({ status: 502 });
    expect(desk.discord.messages(desk.channel)).toHaveLength(0);
    desk.discord.fail(route, { cutAfterCarryingOut: true });
    await expect(target.send("a")).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(desk.discord.messages(desk.channel)).toHaveLength(1);
    desk.discord.fail(route, { status: 429, retryAfter: 0.03 });
    await target.send("b");
    expect(desk.discord.messages(desk.channel)).toHaveLength(2);
    expect(desk.discord.calls.filter((call) => call.status === 0)).toHaveLength(3);
  });

  test("typing is noticed, and its answer has no body", async () => {
    const target = desk.textChannel(await desk.login());
    await target.sendTyping();
    expect(desk.discord.typing).toMatchObject([{ channelId: desk.channel.id }]);
    desk.discord.latencyMs = 30;
    const startedAt = Date.now();
    await target.sendTyping();
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(29);
  });
});
