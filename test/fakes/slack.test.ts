import { describe, expect, onTestFinished, test } from "vitest";
import type { FakeSlack } from "./slack/slack.ts";
import {
  answering,
  askWhy,
  BUTTON,
  clientFor,
  httpApp,
  post,
  scene,
  section,
  socketApp,
  socketReceiver,
} from "./slack/scene.ts";
import { eventually } from "../until.ts";

describe("over Socket Mode, with a real bolt app", () => {
  test("a mention in a channel comes as two events with one ts and is answered in its thread", async () => {
    const { slack, ana, ops } = await scene();
    const app = await socketApp(slack);
    app.event("app_mention", async ({ event, say }) => {
      await say({ thread_ts: event.ts, text: "here" });
    });
    const ts = slack.say(ana, ops, "status", { mention: true });
    expect(await slack.acknowledged(ts)).toHaveLength(2);
    const about = slack.deliveries.filter((delivery) => delivery.ts === ts);
    expect(about.map(({ type }) => type).toSorted()).toEqual(["app_mention", "message"]);
    expect(new Set(about.map(({ eventId }) => eventId)).size).toBe(2);
    await eventually(() => expect(slack.messages(ops, ts)).toHaveLength(2));
    expect(slack.messages(ops, ts)[1]).toMatchObject({
      text: "here",
      thread_ts: ts,
      bot_id: "B0BOT",
    });
  });

  test("the bot's own messages and edits come back, and bolt drops only the messages", async () => {
    const { slack, ana, ops, client } = await scene();
    const app = await socketApp(slack);
    const seen: (string | undefined)[] = [];
    app.message(async ({ message }) => void seen.push(message.subtype));
    app.event("message", async ({ event }) => void seen.push(event.subtype));
    const ts = await post(client, { channel: ops.id, text: "one" });
    await client.chat.update({ channel: ops.id, ts, text: "two" });
    await slack.idle();
    slack.say(ana, ops, "last");
    await slack.idle();
    expect(slack.deliveries.map(({ type }) => type)).toEqual([
      "message",
      "message_changed",
      "message",
    ]);
    await eventually(() => expect(seen).toContain(undefined));
    expect(seen.filter((subtype) => subtype === "message_changed")).not.toHaveLength(0);
  });

  test("messages of channels the bot is not in never arrive, direct messages do and without a mention", async () => {
    const { slack, ana } = await scene();
    const app = await socketApp(slack);
    const seen: unknown[] = [];
    app.message(async ({ message }) => void seen.push(message));
    const far = slack.addChannel({ name: "far", members: [ana], bot: false });
    expect(await slack.acknowledged(slack.say(ana, far, "hi", { mention: true }))).toEqual([]);
    const dm = slack.openDm(ana);
    expect(await slack.acknowledged(slack.say(ana, dm, "hi", { mention: true }))).toHaveLength(1);
    await eventually(() => expect(seen).toHaveLength(1));
    expect(seen[0]).toMatchObject({ channel: dm.id, channel_type: "im", text: "<@U0BOT> hi" });
  });

  test("an edit of a mention is told as a change, and as the mention once more", async () => {
    const { slack, ana, ops } = await scene();
    const app = await socketApp(slack);
    const mentions: { ts: string; edited?: unknown }[] = [];
    app.event("app_mention", async ({ event }) => void mentions.push(event));
    const ts = slack.say(ana, ops, "restrat web", { mention: true });
    await slack.idle();
    slack.edit(ana, ops, ts, "<@U0BOT> restart web");
    await slack.idle();
    expect(slack.deliveries.map(({ type }) => type)).toContain("message_changed");
    await eventually(() => expect(mentions.map((event) => event.ts)).toEqual([ts, ts]));
    expect(mentions[1]?.edited).toBeDefined();
  });

  test("a button, the form behind it, and what is wrong in a field", async () => {
    const { slack, ana, ops, client } = await scene();
    const app = await socketApp(slack);
    askWhy(app);
    const blocks = [section("Restart?"), { type: "actions", elements: [BUTTON] } as const];
    const ts = await post(client, { channel: ops.id, text: "card", blocks });
    expect(slack.messages(ops).map((message) => slack.buttonsOf(message))).toEqual([
      [{ label: "Approve", actionId: "approve:a1", value: "a1", style: undefined }],
    ]);
    expect(await slack.press(ana, ops, ts, "approve:a1")).toMatchObject({ acknowledged: true });
    await eventually(() => expect(slack.views(ana)).toHaveLength(1));
    const form = slack.views(ana)[0]?.id ?? "";
    await slack.submit(ana, form, "no");
    expect(slack.views(ana)[0]?.errors).toEqual({ why: "Say more." });
    await expect(slack.submit(ana, form, "x".repeat(21))).rejects.toThrow("21 characters");
    await slack.submit(ana, form, "not now, please");
    expect(slack.views(ana)).toEqual([]);
  });

  test("an event that nobody acknowledges comes three times more, a click only once", async () => {
    const { slack, ana, ops, client } = await scene({ ackWithinMs: 20, retryDelaysMs: [1, 1, 1] });
    const receiver = await socketReceiver(slack);
    const seen: unknown[] = [];
    receiver.client.removeAllListeners("slack_event");
    receiver.client.on("slack_event", ({ retry_num: num, retry_reason: reason }) => {
      seen.push([num, reason]);
    });
    await receiver.client.start();
    expect(await slack.acknowledged(slack.say(ana, ops, "hi"))).toEqual([
      { acknowledged: false, reason: "timeout", attempts: 4 },
    ]);
    expect(seen).toEqual([
      [0, ""],
      [1, "timeout"],
      [2, "timeout"],
      [3, "timeout"],
    ]);
    const blocks = [{ type: "actions", elements: [BUTTON] } as const];
    const ts = await post(client, { channel: ops.id, text: "card", blocks });
    expect(await slack.press(ana, ops, ts, "approve:a1")).toMatchObject({ attempts: 1 });
  });

  test.each(["disconnect", "dropConnections"] as const)(
    "after %s the app connects anew and gets what was missed",
    async (how) => {
      // The last one is for a busy machine: by then the app is there again.
      const { slack, ana, ops } = await scene({ retryDelaysMs: [50, 2_500, 20_000] });
      await socketApp(slack, 200);
      slack[how]();
      await eventually(() => expect(slack.connections).toBe(0));
      const [outcome] = await slack.acknowledged(slack.say(ana, ops, "hi"));
      expect(outcome).toMatchObject({ acknowledged: true });
      expect(outcome?.attempts).toBeGreaterThan(1);
      expect(slack.connections).toBe(1);
    },
  );

  test("of several connections each event takes one", async () => {
    const { slack, ana, ops } = await scene();
    const seen: string[] = [];
    for (const name of ["a", "b"]) {
      const app = await socketApp(slack);
      app.message(async ({ message }) => void seen.push(`${name} ${message.ts}`));
    }
    const sent = Array.from({ length: 20 }, () => slack.say(ana, ops, "hi"));
    await slack.idle();
    await eventually(() => expect(seen).toHaveLength(20));
    expect(new Set(seen.map((line) => line.split(" ")[1]))).toEqual(new Set(sent));
    expect(new Set(seen.map((line) => line.split(" ")[0])).size).toBe(2);
  });

  test("shuffled, every event comes in copies and out of order", async () => {
    const { slack, ana, ops } = await scene({ shuffle: { copies: 3, seed: 7 } });
    const app = await socketApp(slack);
    const seen: string[] = [];
    app.message(async ({ message }) => void seen.push(message.ts));
    const sent = Array.from({ length: 5 }, () => slack.say(ana, ops, "hi"));
    await slack.idle();
    await eventually(() => expect(seen).toHaveLength(15));
    expect(seen.toSorted()).toEqual(sent.flatMap((ts) => [ts, ts, ts]));
    expect(seen).not.toEqual(seen.toSorted());
  });

  test("a removed message is told, and nothing of channels that the token may not read", async () => {
    const { slack, ana, ops } = await scene();
    await socketApp(slack);
    const ts = slack.say(ana, ops, "oops");
    slack.remove(ana, ops, ts);
    await slack.idle();
    expect(slack.deliveries.map(({ type }) => type)).toEqual(["message", "message_deleted"]);
    slack.scopes = ["chat:write", "app_mentions:read"];
    const outcomes = await slack.acknowledged(slack.say(ana, ops, "hi", { mention: true }));
    expect(outcomes).toHaveLength(1);
    expect(slack.deliveries.at(-1)?.type).toBe("app_mention");
  });

  test("ten connections are open at most, and an address opens one", async () => {
    const { slack } = await scene();
    const client = clientFor(slack, slack.appToken);
    const connect = async (url: string) => {
      const socket = new WebSocket(url);
      onTestFinished(() => socket.close());
      const { promise, resolve } = Promise.withResolvers<string>();
      socket.addEventListener("message", ({ data }) => resolve(String(data)));
      socket.addEventListener("error", () => resolve("refused"));
      return promise;
    };
    const greetings: string[] = [];
    let url = "";
    for (let count = 0; count < 11; count++) {
      ({ url = "" } = await client.apps.connections.open({}));
      greetings.push(await connect(url));
    }
    expect(greetings.map((said) => said.includes('"hello"'))).toEqual([
      ...Array(10).fill(true),
      false,
    ]);
    expect(greetings.at(-1)).toContain("too_many_websockets");
    expect(await connect(url)).toBe("refused");
  });

  test("the Stop button is there while a session is processing, and says so to the app", async () => {
    const { slack, ana, ops, client } = await scene();
    const app = await socketApp(slack);
    const stops: unknown[] = [];
    app.event("agent_session_stopped", async ({ event }) => void stops.push(event));
    const ts = slack.say(ana, ops, "look", { mention: true });
    expect(() => slack.stopSession(ana, ops, ts)).toThrow("no Stop button");
    const session = { channel_id: ops.id, thread_ts: ts };
    await client.agents.sessions.setStatus({ ...session, status: "processing" });
    await slack.stopSession(ana, ops, ts);
    await eventually(() => expect(stops).toMatchObject([{ thread_ts: ts }]));
    expect(slack.session(ops, ts)).toBe("processing");
  });
});

describe("over HTTP, with a real bolt app", () => {
  test("events are signed, acknowledged when they are done, and answered", async () => {
    const { slack, ana, ops } = await scene();
    const { app, url } = await httpApp(slack);
    await slack.deliverTo(url);
    app.event("app_mention", async ({ event, say }) => {
      await say({ thread_ts: event.ts, text: "here" });
    });
    const ts = slack.say(ana, ops, "status", { mention: true });
    const outcomes = await slack.acknowledged(ts);
    expect(outcomes.map((outcome) => outcome.acknowledged)).toEqual([true, true]);
    expect(slack.messages(ops, ts).map((message) => slack.textOf(message))).toEqual([
      "<@U0BOT> status",
      "here",
    ]);
  });

  test("an event whose listener fails comes again, and says why", async () => {
    const { slack, ana, ops } = await scene({ retryDelaysMs: [1, 1, 1] });
    const { app, url } = await httpApp(slack);
    await slack.deliverTo(url);
    const seen: unknown[] = [];
    app.message(async ({ context }) => {
      seen.push([context.retryNum, context.retryReason]);
      if (seen.length < 3) throw new Error("the store is away");
    });
    const [outcome] = await slack.acknowledged(slack.say(ana, ops, "hi"));
    expect(outcome).toMatchObject({ acknowledged: true, attempts: 3 });
    expect(seen).toEqual([
      [undefined, undefined],
      [1, "http_error"],
      [2, "http_error"],
    ]);
  });

  test("an app that takes too long, or is away, is tried four times in all", async () => {
    const { slack, ana, ops } = await scene({ ackWithinMs: 30, retryDelaysMs: [1, 1, 1] });
    const { app, url } = await httpApp(slack);
    await slack.deliverTo(url);
    const { promise, resolve } = Promise.withResolvers<void>();
    app.message(() => promise);
    const [slow] = await slack.acknowledged(slack.say(ana, ops, "hi"));
    resolve();
    expect(slow).toEqual({ acknowledged: false, reason: "http_timeout", attempts: 4 });
    await expect(slack.deliverTo("http://127.0.0.1:1/slack/events")).rejects.toThrow(
      /ECONN(?:REFUSED|RESET)/,
    );
  });

  test("x-slack-no-retry on a failure ends the tries", async () => {
    const { slack, ana, ops } = await scene();
    const { url } = await answering((body) => ({
      status: body.includes("challenge") ? 200 : 500,
      headers: { "x-slack-no-retry": "1" },
      body: "3eZbrw1a",
    }));
    await slack.deliverTo(url);
    const outcomes = await slack.acknowledged(slack.say(ana, ops, "hi"));
    expect(outcomes).toEqual([{ acknowledged: false, reason: "http_error", attempts: 1 }]);
  });

  test("a click is acknowledged by an empty response, a form answered in it", async () => {
    const { slack, ana, ops, client } = await scene();
    const { app, url } = await httpApp(slack);
    await slack.deliverTo(url);
    askWhy(app);
    const blocks = [{ type: "actions", elements: [BUTTON] }];
    const ts = await post(client, { channel: ops.id, text: "card", blocks });
    const click = await slack.press(ana, ops, ts, "approve:a1");
    expect(click).toMatchObject({ acknowledged: true, payload: undefined });
    const [form] = slack.views(ana);
    await slack.submit(ana, form?.id ?? "", "no");
    expect(form).toMatchObject({ open: true, errors: { why: "Say more." } });
    await slack.submit(ana, form?.id ?? "", "not now");
    expect(form?.open).toBe(false);
  });

  test.each([
    [
      "a wrong signature",
      (slack: FakeSlack, body: string) => slack.sign(body, Date.now(), "guessed"),
      401,
    ],
    [
      "a signature of 301 s ago",
      (slack: FakeSlack, body: string) => slack.sign(body, Date.now() - 301_000),
      401,
    ],
    ["a good signature", (slack: FakeSlack, body: string) => slack.sign(body), 200],
  ])("bolt answers %s as Slack wants", async (_name, sign, status) => {
    const { slack, ops } = await scene();
    const { url } = await httpApp(slack);
    const body = JSON.stringify(slack.envelope({ type: "message", channel: ops.id, ts: "1.1" }));
    const headers = { "content-type": "application/json", ...sign(slack, body) };
    const response = await fetch(url, { method: "POST", headers, body });
    expect(response.status).toBe(status);
  });
});
