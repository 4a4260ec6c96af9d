import { expect, onTestFinished, test } from "vitest";
import { httpApp } from "../fakes/slack/scene.ts";
import { FakeSlack } from "../fakes/slack/slack.ts";
import { until } from "../until.ts";
import { alertsStage, sendTo, TOKEN } from "./alerts-stage.ts";

/** A program to which Slack sends events by HTTP: its one server takes alerts, too. */
async function stage() {
  const slack = await FakeSlack.start();
  onTestFinished(() => slack.stop());
  const ana = slack.addUser({ name: "ana" });
  const ops = slack.addChannel({ name: "ops", members: [ana] });
  const channel = `slack:${slack.team.id}:${ops.id}`;
  const env = {
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_SIGNING_SECRET: slack.signingSecret,
    SLACK_API_URL: slack.apiUrl,
  };
  const { start } = await alertsStage({ env, channel });
  return { slack, ana, ops, channel, ...(await start()), send: sendTo };
}

const bearer = { authorization: `Bearer ${TOKEN}` };
const ALERT = JSON.stringify({
  alerts: [{ status: "firing", labels: { alertname: "HighCpu" }, annotations: {} }],
});

test("Slack's events and alerts are taken by one server, each by its own proof alone", async () => {
  const { slack, ana, ops, channel, bot, at, send } = await stage();
  await slack.deliverTo(at("/slack/events"));
  const root = slack.say(ana, ops, `<@${slack.botUser.id}> help`);
  await until(() =>
    slack.messages(ops).some((message) => message.thread_ts === root && message.ts !== root),
  );
  expect(await send(at("/alerts/alertmanager"), ALERT, bearer)).toMatchObject({ status: 202 });
  await until(() =>
    slack.messages(ops).some((message) => slack.textOf(message).includes("HighCpu")),
  );

  expect((await send(at("/alerts/alertmanager"), ALERT, slack.sign(ALERT))).status).toBe(401);
  expect((await send(at("/slack/events"), ALERT, bearer)).status).toBe(401);
  const kept = await bot.journal.read(`alerts:${channel}`);
  expect(kept.filter(({ kind }) => kind === "alert")).toHaveLength(1);
});

test("what a receiver of bolt's takes and refuses, the endpoint beside the alerts takes and refuses", async () => {
  const { slack, at, send } = await stage();
  const bolt = await httpApp(slack);
  const body = JSON.stringify({ type: "url_verification", challenge: "c1" });
  const ways = [
    [slack.sign(body), 200],
    [slack.sign(body, Date.now(), "other"), 401],
    [slack.sign(body, Date.now() - 6 * 60_000), 401],
    [bearer, 401],
  ] as const;
  for (const [headers, status] of ways) {
    const [theirs, ours] = await Promise.all([
      send(bolt.url, body, headers),
      send(at("/slack/events"), body, headers),
    ]);
    expect([theirs.status, ours.status]).toEqual([status, status]);
    if (status === 200) expect(JSON.parse(ours.text)).toEqual(JSON.parse(theirs.text));
  }
});
