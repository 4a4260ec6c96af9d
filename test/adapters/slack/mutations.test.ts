import { expect, test } from "vitest";
import * as z from "zod";
import { publicRecords } from "../../public-data.ts";
import { faultsDuring, MUTATIONS, mutations } from "../mutations.ts";
import { type Bot, openBot, until } from "./harness.ts";

const recorded = z
  .object({ kind: z.string(), body: z.record(z.string(), z.unknown()) })
  .array()
  .parse(publicRecords("payloads/slack.ndjson"));

/** What Slack sends of this workspace: our own forms, and what others recorded, said to be of it. */
function seedsFor({ slack, ana, ops }: Bot): Record<string, unknown>[] {
  const here = { team_id: slack.team.id, context_team_id: slack.team.id, api_app_id: slack.appId };
  const team = { id: slack.team.id };
  const user = { id: ana.id, team_id: slack.team.id };
  const event = {
    user: ana.id,
    ts: "1795000000.000100",
    thread_ts: "1795000000.000050",
    channel: ops.id,
    text: `<@${slack.botUser.id}> is web well?`,
    files: [{ name: "a.txt", mimetype: "text/plain", size: 3, url_private: "https://x.test/a" }],
  };
  const container = { channel_id: ops.id, message_ts: "1795000000.000100", thread_ts: "1.1" };
  const action = { action_id: "wk:approve:a1:1", action_ts: "1.1", block_id: "b", type: "button" };
  const own = [
    slack.envelope({ type: "app_mention", ...event }),
    slack.envelope({ type: "message", channel_type: "channel", ...event }),
    slack.envelope({ type: "agent_session_stopped", event_ts: "1.2", ...event }),
    { type: "block_actions", team, user, container, trigger_id: "1.2.3", actions: [action] },
    {
      type: "view_submission",
      team,
      user,
      view: {
        id: "V1",
        callback_id: "wk:because:a1:1",
        private_metadata: JSON.stringify({ channel: ops.id, root: "1.1" }),
        state: { values: { text: { input: { value: "no" } } } },
      },
    },
    { type: "app_rate_limited", minute_rate_limited: 1, ...here },
  ];
  const theirs = recorded.map(({ kind, body }) => ({
    ...body,
    // Documents show some events without what Slack puts round them.
    ...(kind === "event" ? { ...here, type: body["type"] || "event_callback" } : { team }),
  }));
  return [...own, ...theirs];
}

test("whatever form what Slack sends has, it is answered in time, and the next mention is heard", async () => {
  const bot = await openBot({
    adapter: { appToken: undefined, signingSecret: "fake-signing-secret" },
  });
  try {
    const statuses = new Map<number, number>();
    const faults = await faultsDuring(async () => {
      for (const { of, is } of mutations(seedsFor(bot), MUTATIONS)) {
        const json = JSON.stringify(is ?? null);
        const isForm = !("event" in of);
        const body = isForm ? new URLSearchParams({ payload: json }).toString() : json;
        const type = isForm ? "application/x-www-form-urlencoded" : "application/json";
        const { status } = await fetch(`http://127.0.0.1:${bot.port}/slack/events`, {
          method: "POST",
          headers: { "content-type": type, ...bot.slack.sign(body) },
          body,
          signal: AbortSignal.timeout(9_000),
        });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    });
    expect(faults).toEqual([]);
    // 500: Slack's own API refused what it was asked about that; it may send it again.
    expect([...statuses.keys()].filter((status) => ![200, 500].includes(status))).toEqual([]);
    await bot.slack.deliverTo(`http://127.0.0.1:${bot.port}/slack/events`);
    const ts = bot.slack.say(bot.ana, bot.ops, "is web well?", { mention: true });
    await until(async () => (await bot.texts(bot.ops, ts)).length > 0);
    expect(await bot.texts(bot.ops, ts)).toEqual(["is web well?"]);
  } finally {
    await bot.close();
  }
}, 900_000);

test("whatever frame comes over Socket Mode, the connection stays, and the next mention is heard", async () => {
  const bot = await openBot();
  try {
    const { slack, ana, ops } = bot;
    const frames = [
      null,
      [],
      7,
      "text",
      {},
      { type: "events_api" },
      { type: "events_api", envelope_id: "e1" },
      { type: "events_api", envelope_id: "e2", payload: null },
      { type: "events_api", envelope_id: "e3", payload: { event: null } },
      { type: "events_api", envelope_id: "e4", payload: { event: { type: "disconnected" } } },
      { type: "events_api", envelope_id: 5, payload: { event: { type: "error" } } },
      { type: "interactive", envelope_id: "e6", payload: [] },
      { type: "slash_commands", envelope_id: "e7", payload: { command: "/x" } },
      { type: null, envelope_id: null, payload: null },
    ];
    const seeds = frames.map((frame) => ({ frame }));
    const faults = await faultsDuring(async () => {
      for (const frame of frames) slack.sendFrame(frame);
      for (const { is } of mutations(seeds, MUTATIONS)) slack.sendFrame(is);
      const ts = slack.say(ana, ops, "is web well?", { mention: true });
      await until(async () => (await bot.texts(ops, ts)).length > 0);
      expect(await bot.texts(ops, ts)).toEqual(["is web well?"]);
    });
    expect(faults).toEqual([]);
    expect(slack.connections).toBe(1);
  } finally {
    await bot.close();
  }
}, 120_000);
