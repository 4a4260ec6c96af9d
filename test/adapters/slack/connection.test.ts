import { setImmediate as turnOfLoop } from "node:timers/promises";
import { pino } from "pino";
import { afterEach, expect, test } from "vitest";
import { createSdkLogger } from "../../../src/adapters/slack/sdk-log.ts";
import { type Bot, type BotOptions, openBot, openOverHttp, until } from "./harness.ts";

const open: Bot[] = [];
async function opened(options?: BotOptions): Promise<Bot> {
  const bot = await openBot(options);
  open.push(bot);
  return bot;
}
afterEach(async () => {
  for (const bot of open.splice(0)) await bot.close();
});

async function overHttp() {
  const bot = await openOverHttp();
  open.push(bot);
  return bot;
}

test("when Slack asks for a new connection or it breaks off, it is connected again, and nothing is lost", async () => {
  const { slack, ops, ana, ...bot } = await opened();
  for (const end of [() => slack.disconnect(), () => slack.dropConnections()]) {
    end();
    const ts = slack.say(ana, ops, "is web well?", { mention: true });
    await slack.idle();
    await until(() => slack.connections === 1);
    expect(slack.connections).toBe(1);
    const later = slack.say(ana, ops, "and db?", { thread: ts, mention: true });
    await slack.idle();
    expect(await bot.texts(ops, ts)).toContain("and db?");
    expect((await bot.entries(ops, ts)).map(({ id }) => id)).toContain(`msg:${later}`);
  }
});

test("while Slack cannot be reached it goes on trying, and the process lives", async () => {
  const { slack, ops, ana, ...bot } = await opened();
  slack.fail("apps.connections.open", { error: "invalid_auth" });
  slack.fail("apps.connections.open", { status: 503 });
  slack.dropConnections();
  await until(() => slack.connections === 1);
  expect(slack.connections).toBe(1);
  const ts = slack.say(ana, ops, "is web well?", { mention: true });
  await slack.idle();
  expect(await bot.texts(ops, ts)).toEqual(["is web well?"]);
  const complaints = bot.log.filter(({ msg }) => String(msg).startsWith("no connection"));
  expect(complaints.map(({ level }) => level)).toEqual([50, 40]);
});

test("it is up while it is connected, and not before, between and after", async () => {
  const { slack, adapter, parts } = await opened({ start: false });
  expect(adapter.isUp()).toBe(false);
  await adapter.start(parts);
  expect(adapter.isUp()).toBe(true);
  slack.fail("apps.connections.open", { status: 503 });
  slack.dropConnections();
  // Between two timers it may be back: each turn of the event loop is looked at.
  while (adapter.isUp()) await turnOfLoop();
  await until(() => adapter.isUp());
  await adapter.stop();
  expect(adapter.isUp()).toBe(false);
});

test("over HTTP it is up from its start to its stop", async () => {
  const { adapter } = await overHttp();
  expect(adapter.isUp()).toBe(true);
  await adapter.stop();
  expect(adapter.isUp()).toBe(false);
});

test("once it stops it takes nothing more, and what it was taking is acknowledged", async () => {
  const bot = await opened();
  const { slack, ops, ana } = bot;
  slack.latencyMs = 60;
  const taken = slack.say(ana, ops, "is web well?", { mention: true });
  await until(() => slack.calls.some(({ method }) => method === "users.info"));
  await bot.adapter.stop();
  expect(await slack.acknowledged(taken)).toMatchObject([
    { acknowledged: true, attempts: 1 },
    { acknowledged: true, attempts: 1 },
  ]);
  expect(await bot.texts(ops, taken)).toEqual(["is web well?"]);
  await until(() => slack.connections === 0);
  expect(slack.connections).toBe(0);
});

test.each(["invalid_auth", "token_revoked", "account_inactive"] as const)(
  "a bot token that is %s is named at the start",
  async (state) => {
    const bot = await opened({ start: false });
    bot.slack.tokenState = state;
    await expect(bot.adapter.start(bot.parts)).rejects.toMatchObject({
      code: "PLATFORM_REFUSED",
      message: expect.stringContaining("SLACK_BOT_TOKEN"),
    });
    await expect(bot.adapter.examine()).rejects.toMatchObject({ code: "PLATFORM_REFUSED" });
  },
);

test("an app token that is not valid is named at the start, and by doctor", async () => {
  const bot = await opened({ start: false, adapter: { appToken: "xapp-1-wrong" } });
  await expect(bot.adapter.start(bot.parts)).rejects.toMatchObject({
    code: "PLATFORM_REFUSED",
    message: expect.stringContaining("SLACK_APP_TOKEN"),
  });
  expect(await bot.adapter.examine()).toContainEqual({
    ok: false,
    text: expect.stringContaining("SLACK_APP_TOKEN"),
  });
  expect(bot.adapter.view(bot.key(bot.ops, "1.1"))).toBeUndefined();
});

test("where there is no server at all, that is said, and a later start succeeds", async () => {
  const bot = await opened({ start: false });
  bot.slack.fail("auth.test", { cut: true });
  await expect(bot.adapter.start(bot.parts)).rejects.toMatchObject({
    code: "PLATFORM_UNREACHABLE",
  });
  bot.slack.fail("apps.connections.open", { status: 502 });
  await expect(bot.adapter.start(bot.parts)).rejects.toMatchObject({
    code: "PLATFORM_UNREACHABLE",
  });
  await bot.adapter.start(bot.parts);
  expect(bot.slack.connections).toBe(1);
});

test("stopped while it connects, it does not connect", async () => {
  const bot = await opened({ start: false });
  bot.slack.latencyMs = 60;
  const started = bot.adapter.start(bot.parts).catch((error: unknown) => error);
  await until(() => bot.slack.calls.some(({ method }) => method === "apps.connections.open"));
  await bot.adapter.stop();
  expect(await started).toMatchObject({ code: expect.stringMatching(/ABORTED|UNREACHABLE/) });
  await until(() => bot.slack.connections === 0);
  expect(bot.slack.connections).toBe(0);
  expect(bot.adapter.view(bot.key(bot.ops, "1.1"))).toBeUndefined();
});

test("neither an app token nor a signing secret is a mistake of the settings", async () => {
  const bot = await opened({ start: false, adapter: { appToken: undefined } });
  await expect(bot.adapter.start(bot.parts)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
});

test("doctor hears who the bot is, what its token lacks, and that Socket Mode opens", async () => {
  const bot = await opened();
  const { slack } = bot;
  expect(await bot.adapter.examine()).toEqual([
    {
      ok: true,
      text: `Slack: @watchkeeper in the workspace Home (${slack.team.id}, ${slack.team.url}).`,
    },
    { ok: true, text: "Slack: the bot token has every scope." },
    { ok: true, text: "Slack: the app token opens Socket Mode." },
  ]);
  slack.scopes = ["chat:write", "app_mentions:read", "channels:history"];
  const [, scopes] = await bot.adapter.examine();
  expect(scopes).toMatchObject({ ok: false, text: expect.stringContaining("users:read") });
  expect(scopes?.text).not.toContain("chat:write");
});

test("over HTTP an event is answered when it is in the journal, else Slack sends it again", async () => {
  const { slack, ops, ana, ...bot } = await overHttp();
  const dm = slack.openDm(ana);
  bot.breakStore(2);
  const ts = slack.say(ana, dm, "is web well?");
  expect(await slack.acknowledged(ts)).toMatchObject([{ acknowledged: true, attempts: 3 }]);
  expect(await bot.texts(dm, ts)).toEqual(["is web well?"]);
  slack.shuffle = { copies: 3, seed: 1 };
  const root = slack.say(ana, ops, "and db?", { mention: true });
  slack.say(ana, ops, "now", { thread: root });
  await slack.idle();
  expect(await bot.texts(ops, root)).toEqual(["and db?", "now"]);
});

test("over HTTP presses and forms are answered too", async () => {
  const { slack, ops, ana, bob, ...bot } = await overHttp();
  const root = slack.say(ana, ops, "stop", { mention: true });
  const begun = await bot.adapter
    .view(bot.key(ops, root))
    ?.openProgress?.({ id: "b", isRetry: false }, []);
  const press = () => slack.press(bob, ops, begun ?? "", "wk:stop");
  expect(await press()).toMatchObject({ acknowledged: true });
  bot.breakStore(1);
  expect(await press()).toMatchObject({ acknowledged: false });
  expect(await bot.entries(ops, root)).toMatchObject([{ kind: "stop" }, { kind: "stop" }]);
});

test("what Slack did not sign, or signed long ago, is refused; what it sends twice is one entry", async () => {
  const { slack, ops, ana, url, ...bot } = await overHttp();
  const ts = slack.say(ana, ops, "is web well?", { mention: true });
  await slack.idle();
  const event = {
    type: "message",
    channel: ops.id,
    user: ana.id,
    ts: "1795000000.000100",
    thread_ts: ts,
    text: "forged",
  };
  const body = JSON.stringify(slack.envelope(event));
  const send = async (headers: Record<string, string>) => {
    const sent = { "content-type": "application/json", ...headers };
    const response = await fetch(url, { method: "POST", headers: sent, body });
    await response.text();
    return response.status;
  };
  expect(await send({})).toBe(401);
  expect(await send(slack.sign(body, Date.now(), "another secret"))).toBe(401);
  expect(await send(slack.sign(`${body} `))).toBe(401);
  expect(await send(slack.sign(body, Date.now() - 301_000))).toBe(401);
  expect(await bot.texts(ops, ts)).toEqual(["is web well?"]);
  expect(await send(slack.sign(body, Date.now() - 290_000))).toBe(200);
  expect(await send(slack.sign(body))).toBe(200);
  expect(await bot.texts(ops, ts)).toEqual(["is web well?", "forged"]);
});

test("over HTTP nothing is taken once it has stopped, though the program still listens", async () => {
  const { slack, adapter, url } = await overHttp();
  await adapter.stop();
  const body = JSON.stringify(slack.envelope({ type: "message" }));
  const headers = { "content-type": "application/json", ...slack.sign(body) };
  expect((await fetch(url, { method: "POST", headers, body })).status).toBe(503);
});

test("over HTTP what it is taking when it stops is in the journal before it has stopped, and answered once", async () => {
  const bot = await overHttp();
  const { slack, ops, ana } = bot;
  slack.latencyMs = 60;
  const taken = slack.say(ana, ops, "is web well?", { mention: true });
  await until(() => slack.calls.some(({ method }) => method === "users.info"));
  await bot.adapter.stop();
  expect(await bot.texts(ops, taken)).toEqual(["is web well?"]);
  expect(await slack.acknowledged(taken)).toMatchObject([{ attempts: 1 }, { attempts: 1 }]);
});

test("what Slack's libraries complain of is logged without tokens and connection addresses", () => {
  const lines: string[] = [];
  const log = createSdkLogger(pino({ level: "debug" }, { write: (line) => void lines.push(line) }));
  const address = "wss://wss-primary.slack.com/link/?ticket=abc&app_id=x";
  log.error("failed with xoxb-1-a at", address, new Error("xapp-1-b"), "ticket=def");
  log.warn("Bearer xoxe.xoxp-1-c");
  log.debug("hello");
  expect(lines).toHaveLength(2);
  for (const secret of ["1-a", "1-b", "1-c", "abc", "def", "hello"]) {
    expect(lines.join("")).not.toContain(secret);
  }
});

test("the log holds no token, no connection address and nothing that people wrote", async () => {
  const { slack, ops, ana, ...bot } = await opened();
  slack.say(ana, ops, "the password is hunter2", { mention: true });
  await slack.idle();
  slack.fail("chat.postMessage", { status: 500 });
  const root = slack.say(ana, ops, "x");
  const view = bot.adapter.view(bot.key(ops, root));
  await expect(view?.postPrivately("slack:T0HOME:U0NOBODY", "psst")).rejects.toThrow("HTTP 500");
  slack.dropConnections();
  await until(() => slack.connections === 1);
  const log = JSON.stringify(bot.log);
  expect(log).toContain("Connected to Home as @watchkeeper. Try, in a channel:");
  for (const secret of [slack.botToken, slack.appToken, "ws://", "hunter2"]) {
    expect(log).not.toContain(secret);
  }
});

test("whether the bot can say something in a channel is known before it starts", async () => {
  const { slack, ops, adapter } = await opened({ start: false });
  const other = slack.addChannel({ name: "other", members: [], bot: false });
  const team = slack.team.id;
  expect(await adapter.examineChannel(`slack:${team}:${ops.id}`)).toBeUndefined();
  expect(await adapter.examineChannel(`slack:${team}:${other.id}`)).toBe(
    `Slack: the bot isn't in slack:${team}:${other.id}. Invite it there.`,
  );
  expect(await adapter.examineChannel("slack:T0OTHER:C1")).toContain("no workspace that is served");
});
