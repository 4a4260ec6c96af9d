import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ChatAdapter } from "../../src/adapters/adapter.ts";
import { createAlertInbox } from "../../src/alerts/bot-posts.ts";
import { alertsKey, createAlertsHandler } from "../../src/alerts/handler.ts";
import type { AlertRoute } from "../../src/alerts/routes.ts";
import type { Entry } from "../../src/core/entry.ts";
import { BotError } from "../../src/core/errors.ts";
import { type JournalKey, tryJournalKey } from "../../src/core/journal-key.ts";
import { createWorker } from "../../src/worker/worker.ts";
import { openParts } from "../adapters/parts.ts";
import { wordsIn } from "../agent/talking.ts";
import { openHost } from "../fakes/host.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import { type ScriptedModel, scriptedModel } from "../fakes/scripted-model.ts";
import { until } from "../until.ts";
import { type AlertChat, inDiscord, inSlack } from "./chats.ts";

const log = pino({ level: "silent" });
const RULE = { groupBy: [], windowMs: 600_000 };

/** Processes of the bot in front of one store, and what works on the channel's journal of alerts. */
async function stage(
  open: () => Promise<AlertChat>,
  { routes = [] as AlertRoute[], replicas = 1 } = {},
) {
  const chat = await open();
  const journal = openMemoryJournal();
  onTestFinished(() => journal.close());
  const adapters: ChatAdapter[] = [];
  const key = alertsKey(chat.channel);
  const { parts } = openParts(journal);
  /** With a model: a whole bot that talks. */
  async function start(model?: ScriptedModel): Promise<ChatAdapter> {
    const adapter = chat.connect();
    adapters.push(adapter);
    const hide = (text: string) => text.replaceAll("hunter2", "•••");
    const alerts = createAlertInbox({ routes, rule: RULE, hide, journal, wake: () => {}, log });
    const host = model && (await openHost(adapter, { journal, model }));
    await adapter.start({ ...parts, ...host, alerts });
    onTestFinished(async () => {
      await host?.stop();
      await adapter.stop();
    });
    return adapter;
  }
  for (let i = 0; i < replicas; i += 1) await start();
  const entries = async (of: JournalKey = key): Promise<Entry[]> =>
    (await journal.read(of)).filter((entry) => entry.kind !== "newer");
  const words = async () => (await entries()).filter((entry) => entry.kind === "alert");
  const states = async (of: JournalKey) =>
    (await entries(of)).filter((entry) => entry.kind === "alert_state");
  return {
    ...chat,
    start,
    stop: async () => adapters.pop()?.stop(),
    journal,
    entries,
    words,
    states,
    said: async (count: number) => until(async () => (await words()).length >= count),
    /** Until nothing is owed now. */
    async work() {
      const handler = createAlertsHandler({
        openerOf: () => adapters.at(-1)?.open.bind(adapters.at(-1)),
        beneathOf: () => adapters.at(-1)?.beneath?.bind(adapters.at(-1)),
        encode: (text) => text,
        wake: () => {},
        tellOps: async () => {},
      });
      const worker = createWorker(
        { journal, log, leaseMs: 2_000, wakeAt: () => {} },
        () => handler,
      );
      await worker.work(key);
    },
  };
}

describe.each([
  ["Slack", inSlack],
  ["Discord", inDiscord],
])("in %s", (platform, open) => {
  const transport = platform.toLowerCase();

  test("a listed bot's alert has its own thread; repeats are counted there, and its end is told there", async () => {
    const { say, said, work, states, threads, threadOf, words, entries } = await stage(open);
    const first = say("firing", "shop");
    await said(1);
    await work();
    expect(await states(threadOf(first))).toMatchObject([
      { firing: 1, told: 1, triage: true, alerts: [{ status: "firing" }] },
    ]);
    const second = say("firing", "shop");
    await said(2);
    say("resolved", "shop");
    await said(3);
    expect((await words()).map(({ source, own }) => [source, own])).toEqual([
      [transport, threadOf(first)],
      [transport, threadOf(second)],
      [transport, expect.anything()],
    ]);
    await until(async () => {
      await work();
      return (await states(threadOf(first))).at(-1)?.overAt !== undefined;
    });
    expect((await states(threadOf(first))).at(-1)).toMatchObject({ told: 3, resolved: 1 });
    expect(await entries(threadOf(second))).toEqual([]);
    expect(threads()).toBe(platform === "Slack" ? 0 : 1);
    // No model is asked for any of it.
    expect((await entries(threadOf(first))).map(({ kind }) => kind)).not.toContain("message");
  });

  test("what a bot changes its message into is the same alert's state", async () => {
    const { post, change, said, work, states, threadOf, words } = await stage(open);
    const id = post("firing");
    await said(1);
    await work();
    change(id, "resolved");
    await said(2);
    await until(async () => {
      await work();
      return (await states(threadOf(id))).at(-1)?.overAt !== undefined;
    });
    expect((await words()).map((entry) => entry.id)).toEqual([
      `alert:msg:${id}:0`,
      expect.stringMatching(new RegExp(`^alert:msg:${id}:edit:[\\d.]+:0$`)),
    ]);
  });

  test("two processes that both hear of it write it once", async () => {
    const { say, said, words, entries } = await stage(open, { replicas: 2 });
    say("firing", "shop");
    say("firing", "blog");
    await said(2);
    say("resolved", "shop");
    await said(3);
    expect(await words()).toHaveLength(3);
    expect((await entries()).filter(({ kind }) => kind !== "alert")).toEqual([]);
  });

  test("what is no alert begins what it always did", async () => {
    const { chat, words, entries, threadOf } = await stage(open);
    const id = chat("Deploy of checkout v42 finished");
    await until(async () => (await entries(threadOf(id))).length > 0);
    expect(await entries(threadOf(id))).toMatchObject([{ kind: "message", app: true }]);
    expect(await words()).toEqual([]);
  });

  test("a store that is away loses no alert, and keeps their order", async () => {
    const { say, said, words, start, journal } = await stage(open, { replicas: 0 });
    const { post } = journal;
    let broken = 2;
    journal.post = async (...args) => {
      if (broken > 0) {
        broken -= 1;
        throw new BotError("STORE_UNAVAILABLE", "The store did not answer.");
      }
      return post.apply(journal, args);
    };
    await start();
    say("firing", "shop");
    say("resolved", "shop");
    await said(2);
    expect((await words()).map(({ alerts }) => alerts[0]?.status)).toEqual(["firing", "resolved"]);
  });

  test("a route says who is mentioned, whether it is looked into, and whether a model looks", async () => {
    const routes: AlertRoute[] = [
      {
        match: { alertname: "*blog*" },
        channel: "slack:T9:C9",
        triage: false,
        mention: ["slack:group:S1"],
        rule: RULE,
      },
      {
        match: {},
        channel: "slack:T9:C9",
        investigate: true,
        mention: [],
        rule: { ...RULE, groupBy: ["service"] },
      },
    ];
    const { say, said, words, work, entries, threadOf, bot } = await stage(open, { routes });
    say("firing", "blog");
    await said(1);
    const second = say("firing", "shop");
    await said(2);
    const [first, other] = await words();
    expect(first).toMatchObject({ mention: ["slack:group:S1"], rule: { groupBy: [] } });
    expect(first?.triage).toBeUndefined();
    expect(other).toMatchObject({
      triage: true,
      rule: { groupBy: ["service"] },
      investigate: { account: expect.stringContaining(bot) },
    });
    await work();
    expect(await entries(threadOf(second))).toMatchObject([
      { kind: "message", app: true, text: expect.stringMatching(/^firing: .*shop/), address: {} },
      { kind: "alert_state" },
    ]);
  });

  test("who asks in the alert's thread is answered by a model that has read the alert, and nobody else is", async () => {
    const { say, said, work, start, states, threadOf, ask, write, shown, entries } = await stage(
      open,
      {
        replicas: 0,
      },
    );
    const model = scriptedModel([{ text: "The shop is down." }]);
    await start(model);
    const id = say("firing", "shop");
    await said(1);
    await work();
    await until(async () => (await states(threadOf(id))).length > 0);
    expect(model.requests).toEqual([]);
    write(id, "I think it is the database again");
    ask(id, "what is it?");
    await until(() => shown(id).some((text) => text.includes("The shop is down.")));
    const told = wordsIn(model.requests[0]).join("\n");
    expect(told).toMatch(/app, output\][^[]*shop/s);
    expect(told).toMatch(/, quoted\] I think it is the database again/);
    expect(told).toContain("what is it?");
    const runs = (await entries(threadOf(id))).filter((entry) => entry.kind === "run_started");
    expect(runs.filter(({ talk }) => talk !== undefined)).toHaveLength(1);
  });

  test("of what was missed, what is over by now gets no thread, and what is not gets one", async () => {
    const { say, said, work, states, threadOf, threads, words, start, stop, chat } =
      await stage(open);
    // A thread of its own makes the channel one that is read again.
    const known = say("firing", "known");
    await said(1);
    await work();
    await stop();
    say("firing", "shop");
    say("resolved", "shop");
    const still = say("firing", "blog");
    say("resolved", "known");
    chat("Good morning");
    await start();
    await said(4);
    await until(async () => {
      await work();
      return (await states(threadOf(known))).at(-1)?.overAt !== undefined;
    });
    expect(await states(threadOf(still))).toHaveLength(1);
    const told = (await words()).map(({ alerts: [first] }) => `${first?.status} ${first?.name}`);
    // Slack itself sends again what it could not send, and keeps no order with what is read.
    if (platform === "Discord") {
      expect(told.filter((text) => /firing .*shop/.test(text))).toEqual([]);
      expect(threads()).toBe(3);
    }
  });

  test("an alert whose message is gone gets a thread of ours", async () => {
    const { say, said, work, remove, entries, threadOf, states } = await stage(open);
    const id = say("firing", "shop");
    await said(1);
    remove(id);
    await work();
    const [opened] = (await entries()).filter((entry) => entry.kind === "alert_thread");
    if (platform === "Slack") expect(opened?.thread).toBe(threadOf(id));
    else {
      expect(opened?.thread).not.toBe(threadOf(id));
      expect(await states(tryJournalKey(opened?.thread ?? "") ?? "test:none")).toHaveLength(1);
    }
  });

  test("what it says in a thread is the alert's too", async () => {
    const { say, said, work, states, threadOf } = await stage(open);
    const id = say("firing", "shop");
    await said(1);
    await work();
    say("resolved", "shop", id);
    await said(2);
    await until(async () => {
      await work();
      return (await states(threadOf(id))).at(-1)?.overAt !== undefined;
    });
    expect((await states(threadOf(id))).at(-1)).toMatchObject({ firing: 0, resolved: 1 });
  });
});
