import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { createSlack } from "../../../src/adapters/slack/adapter.ts";
import { startHttpServer } from "../../../src/app/http.ts";
import { createVault } from "../../../src/app/secrets.ts";
import type { JournalKey } from "../../../src/core/journal-key.ts";
import { openMemoryJournal } from "../../fakes/memory-journal.ts";
import { createSecretKeys } from "../../../src/team/secret-keys.ts";
import { createSecrets } from "../../../src/team/secrets.ts";
import { FakeSlack } from "../../fakes/slack/slack.ts";
import { startFakeApp } from "../../fakes/slack/installs.ts";
import { answer, openParts } from "../parts.ts";

const SECRET = "a secret that is long enough to be one";
const AWAY = { id: "T0AWAY", domain: "away", name: "Away" };

/** One app, the workspaces Home and Away with the same people and channel each, and processes in front of one store. */
async function opened({ workspaces = ["T0HOME", "T0AWAY"], clientSecret = "" } = {}) {
  const slacks = [await FakeSlack.start(), await FakeSlack.start({ team: AWAY })] as const;
  const app = await startFakeApp(slacks);
  const journal = openMemoryJournal();
  const keys = createSecretKeys({ secret: SECRET, older: undefined, file: undefined });
  const { parts } = openParts(journal);
  const places = slacks.map((slack) => {
    const ana = slack.addUser({ name: "ana" });
    return { slack, ana, ops: slack.addChannel({ name: "ops", members: [ana] }) };
  });
  const ends: (() => Promise<void>)[] = [];
  onTestFinished(async () => {
    for (const end of ends) await end();
    for (const slack of slacks) await slack.stop();
    await app.stop();
    await journal.close();
  });

  async function run() {
    const log: Record<string, unknown>[] = [];
    const vault = createVault(createSecrets(journal, keys), journal);
    const adapter = createSlack({
      signingSecret: slacks[0].signingSecret,
      install: {
        clientId: app.clientId,
        clientSecret: clientSecret || app.clientSecret,
        workspaces,
      },
      apiUrl: app.apiUrl,
      log: pino({ level: "debug" }, { write: (line) => void log.push(JSON.parse(line)) }),
      now: () => Date.now() + app.laterMs,
    });
    const { routes = [] } = adapter;
    const server = await startHttpServer({ routes, port: 0, log: pino({ level: "silent" }) });
    await adapter.start({ ...parts, vault });
    const at = `http://127.0.0.1:${server.port}/slack`;
    for (const slack of slacks) await slack.deliverTo(`${at}/events`);
    ends.push(async () => {
      await adapter.stop();
      await server.stop();
    });

    async function begin() {
      const asked = await fetch(`${at}/install`, { redirect: "manual" });
      const [cookie = ""] = asked.headers.getSetCookie();
      return { location: asked.headers.get("location") ?? "", cookie: cookie.split(";")[0] ?? "" };
    }
    async function finish(query: string, cookie: string) {
      const page = await fetch(`${at}/oauth?${query}`, { headers: { cookie } });
      return { status: page.status, text: await page.text() };
    }
    async function install(team: string, more?: { isOrgWide?: boolean }) {
      const { location, cookie } = await begin();
      return finish(app.allow(location, team, more), cookie);
    }
    /** An event that people cannot cause. */
    async function deliver(slack: FakeSlack, event: Record<string, unknown>, more = {}) {
      const body = JSON.stringify({ ...slack.envelope(event), ...more });
      const headers = { "content-type": "application/json", ...slack.sign(body) };
      return (await fetch(`${at}/events`, { method: "POST", headers, body })).status;
    }
    return { adapter, vault, log, begin, finish, install, deliver };
  }

  const [home, away] = places;
  if (home === undefined || away === undefined) throw new Error("there are two workspaces");
  const kept = async () => {
    const names: string[] = [];
    for await (const { key } of journal.list({ prefix: "team:secret:" })) names.push(key);
    return names.toSorted();
  };
  return { app, journal, home, away, run, kept };
}

test("two workspaces are served side by side: the same channel id in both is two places, each asked with its own token", async () => {
  const { app, journal, home, away, run, kept } = await opened();
  const { adapter, install } = await run();
  expect(await install("T0HOME")).toEqual({
    status: 200,
    text: expect.stringContaining("Watchkeeper is installed in Home."),
  });
  await install("T0AWAY");
  expect(home.ops.id).toBe(away.ops.id);
  const threads = [];
  for (const { slack, ana, ops } of [home, away]) {
    const root = slack.say(ana, ops, `hello ${slack.team.name}`, { mention: true });
    await slack.idle();
    const key: JournalKey = `slack:${slack.team.id}:${ops.id}:${root}`;
    expect(await journal.read(key)).toMatchObject([{ text: `hello ${slack.team.name}` }]);
    await adapter
      .view(key)
      ?.post(answer("r1", `for ${slack.team.name}`), { id: "1", isRetry: false });
    expect(
      slack
        .messages(ops, root)
        .map((each) => slack.textOf(each))
        .at(-1),
    ).toContain(`for ${slack.team.name}`);
    threads.push(key);
    expect(await adapter.tenants(key, `slack:${slack.team.id}:${ana.id}`)).toEqual([
      `slack:${slack.team.id}`,
    ]);
  }
  const [one = "slack:", other = "slack:"] = threads as JournalKey[];
  expect(home.slack.messages(home.ops)).toHaveLength(2);
  expect(adapter.link(one)).toContain("https://home.slack.com/");
  expect(adapter.link(other)).toContain("https://away.slack.com/");
  // The same user id, and nobody of there is anybody here.
  const standing = (team: string, key: JournalKey) =>
    adapter.people.membership(`slack:${team}:${home.ana.id}`, key);
  expect([await standing("T0HOME", one), await standing("T0AWAY", one)]).toEqual([
    "member",
    "guest",
  ]);
  expect([await standing("T0AWAY", other), await standing("T0HOME", other)]).toEqual([
    "member",
    "guest",
  ]);
  const posts = app.asked.filter(({ method }) => method === "chat.postMessage");
  expect(posts.map(({ team }) => team)).toEqual(["T0HOME", "T0AWAY"]);
  expect(await kept()).toEqual(["team:secret:slack:T0AWAY", "team:secret:slack:T0HOME"]);
  for (const key of await kept())
    expect(JSON.stringify(await journal.read(key as JournalKey))).not.toContain("xoxb");
});

test("in a channel that both share the bot that is mentioned has the thread, through whichever workspace Slack sends", async () => {
  const { journal, home, away, run } = await opened();
  const { install, deliver } = await run();
  await install("T0HOME");
  await install("T0AWAY");
  const channel = home.ops.id;
  const through = (team: string) => ({
    is_ext_shared_channel: true,
    // The workspace that shared the channel first.
    team_id: "T0HOME",
    authorizations: [{ team_id: team, user_id: "U1", is_bot: true }],
  });
  const posted = { type: "message", channel, channel_type: "channel", user: away.ana.id };
  const event = (ts: string, text: string) => ({
    ...posted,
    team: "T0AWAY",
    ts,
    text,
    event_ts: ts,
  });
  const texts = async (team: string, root: string) =>
    (await journal.read(`slack:${team}:${channel}:${root}`)).flatMap((entry) =>
      "text" in entry ? [entry.text] : [],
    );
  for (const [i, { slack }] of [home, away].entries()) {
    const [root, team] = [`1700000000.00000${i}`, slack.team.id];
    const other = team === "T0HOME" ? "T0AWAY" : "T0HOME";
    const asked = event(root, `<@${slack.botUser.id}> is web well?`);
    await deliver(slack, asked, through("T0HOME"));
    await deliver(slack, { ...asked, type: "app_mention" }, through("T0AWAY"));
    const reply = { ...event(`1700000001.00000${i}`, "and db?"), thread_ts: root };
    await deliver(slack, reply, through(other));
    expect(await texts(team, root)).toEqual(["is web well?", "and db?"]);
    expect(await texts(other, root)).toEqual([]);
  }
});

test("an installation that is not this browser's, not of now, not once, or not welcome installs nothing", async () => {
  const { app, run, kept } = await opened({ workspaces: ["T0HOME"] });
  const { begin, finish, install } = await run();
  const { location, cookie } = await begin();
  expect(new URL(location).searchParams.get("team")).toBe("T0HOME");
  const query = app.allow(location, "T0HOME");
  const other = await begin();
  expect((await finish(query, "")).text).toContain("did not begin in this browser");
  expect((await finish(query, other.cookie)).text).toContain("did not begin in this browser");
  const forged = query.replace(/state=./, "state=_");
  expect((await finish(forged, cookie.replace(/=./, "=_"))).status).toBe(400);
  app.laterMs += 601_000;
  expect((await finish(query, cookie)).text).toContain("more than ten minutes");
  app.laterMs = 0;
  const denied = new URLSearchParams({
    error: "access_denied",
    state: new URL(other.location).searchParams.get("state") ?? "",
  });
  expect((await finish(denied.toString(), other.cookie)).text).toContain(
    "cancelled (access_denied)",
  );
  // Whatever became of it, a state is used up.
  expect((await finish(app.allow(other.location, "T0HOME"), other.cookie)).text).toContain(
    "finished or given up before",
  );
  expect(await install("T0AWAY")).toEqual({
    status: 403,
    text: expect.stringContaining("doesn't serve the workspace Away (T0AWAY)"),
  });
  expect((await install("T0HOME", { isOrgWide: true })).text).toContain("Enterprise Grid");
  expect(app.asked.map(({ method }) => method)).toEqual(["auth.revoke", "auth.revoke"]);
  expect(await kept()).toEqual([]);
  expect((await finish(query, cookie)).status).toBe(200);
  expect((await finish(query, cookie)).text).toContain("finished or given up before");
});

test("what Slack says against a code is said in words", async () => {
  const { app, run } = await opened();
  const { begin, finish } = await run();
  const { location, cookie } = await begin();
  const query = app.allow(location, "T0HOME").replace(/code=[^&]+/, "code=used");
  const page = await finish(query, cookie);
  expect(page).toEqual({ status: 502, text: expect.stringContaining("older than ten minutes") });
  const wrong = await (await opened({ clientSecret: "another secret" })).run();
  expect((await wrong.install("T0HOME")).text).toContain("Compare SLACK_CLIENT_ID");
});

test("a token that ends soon is renewed once, by one of the processes; a renewal that fails waits while the old one holds", async () => {
  const { app, home, run } = await opened({ workspaces: ["T0HOME"] });
  app.rotates = true;
  const one = await run();
  await one.install("T0HOME");
  const other = await run();
  const asks = async (name: string) => {
    const user = home.slack.addUser({ name });
    const key: JournalKey = `slack:T0HOME:${home.ops.id}:1.1`;
    return Promise.all(
      [one, other].map(({ adapter }) => adapter.people.membership(`slack:T0HOME:${user.id}`, key)),
    );
  };
  await asks("b");
  expect(app.renewals).toBe(0);
  app.laterMs += 11 * 3_600_000;
  expect(await asks("c")).toEqual(["outsider", "outsider"]);
  expect(app.renewals).toBe(1);
  app.laterMs += 11 * 3_600_000;
  app.renewalError = "internal_error";
  expect(await asks("d")).toEqual(["outsider", "outsider"]);
  app.laterMs += 2 * 3_600_000;
  app.renewalError = "invalid_refresh_token";
  await expect(asks("e")).rejects.toThrow("install it again at /slack/install");
  app.renewalError = undefined;
  expect(await asks("f")).toEqual(["outsider", "outsider"]);
});

test("a workspace that takes the app out is forgotten with its token; word of it that comes late changes nothing", async () => {
  const { app, journal, home, run } = await opened();
  const one = await run();
  await one.install("T0HOME");
  // Another process learns of it when something comes.
  const other = await run();
  const key = (root: string): JournalKey => `slack:T0HOME:${home.ops.id}:${root}`;
  const say = async () => {
    const root = home.slack.say(home.ana, home.ops, "hello", { mention: true });
    await home.slack.idle();
    return (await journal.read(key(root))).length;
  };
  expect(await say()).toBe(1);
  expect(await one.deliver(home.slack, { type: "app_uninstalled" })).toBe(200);
  expect(one.adapter.view(key("1.1"))).toBeDefined();
  app.uninstall("T0HOME");
  const revoked = { type: "tokens_revoked", tokens: { bot: [home.slack.botUser.id] } };
  expect(await one.deliver(home.slack, revoked)).toBe(200);
  expect(one.adapter.view(key("1.1"))).toBeUndefined();
  expect(await one.vault.read("slack:T0HOME")).toMatchObject({ value: undefined });
  expect(await other.deliver(home.slack, { type: "app_uninstalled" })).toBe(200);
  expect(other.adapter.view(key("1.1"))).toBeUndefined();
  expect(await say()).toBe(0);
  await other.install("T0HOME");
  expect(await say()).toBe(1);
});

test("doctor names each workspace, those that may install the app and did not, and what is wrong with a token", async () => {
  const { app, run } = await opened({ workspaces: ["T0HOME", "T0AWAY", "T0NEW"] });
  const { adapter, vault, install } = await run();
  await install("T0HOME");
  await install("T0AWAY");
  app.uninstall("T0AWAY", "account_inactive");
  const found = await adapter.examine(undefined, vault);
  expect(found.map(({ ok, text }) => `${ok} ${text}`)).toEqual([
    expect.stringContaining("true Slack sends events by HTTP"),
    expect.stringMatching(/^false Slack, Away \(T0AWAY\): .*install it again at \/slack\/install/),
    expect.stringContaining("true Slack: @watchkeeper in the workspace Home (T0HOME"),
    expect.stringContaining("true Slack: the bot token has every scope."),
    expect.stringContaining("true Slack: not installed yet in T0NEW"),
  ]);
});
