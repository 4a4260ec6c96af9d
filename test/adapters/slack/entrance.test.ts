import net from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { pino } from "pino";
import * as z from "zod";
import { startHttpServer } from "../../../src/app/http.ts";
import { createHttpSource } from "../../../src/adapters/slack/http-source.ts";
import { publicRecords } from "../../public-data.ts";
import { type Bot, openBot, OVER_HTTP, until } from "./harness.ts";

let bot: Bot;
let port: number;
beforeEach(async () => {
  bot = await openBot({ adapter: OVER_HTTP });
  port = bot.port ?? 0;
});
afterEach(() => bot.close());

const JSON_TYPE = "application/json";
const FORM_TYPE = "application/x-www-form-urlencoded";

/** Sends it as Slack does; the status and what was answered. */
async function send(body: string, type = JSON_TYPE, at = Date.now()) {
  const headers = { "content-type": type, ...bot.slack.sign(body, at) };
  const response = await fetch(`http://127.0.0.1:${port}/slack/events`, {
    method: "POST",
    headers,
    body,
  });
  return { status: response.status, text: await response.text() };
}
const payload = (value: unknown) =>
  send(new URLSearchParams({ payload: JSON.stringify(value) }).toString(), FORM_TYPE);
const threads = () => bot.parts.queries.recent("slack:", 0);
const logged = (text: string) => bot.log.filter(({ msg }) => String(msg).includes(text));

/** A mention by Ana in its envelope. */
function mention(changes: Record<string, unknown> = {}, event: Record<string, unknown> = {}) {
  const { slack, ana, ops } = bot;
  const said = {
    type: "app_mention",
    user: ana.id,
    team: slack.team.id,
    ts: `${Math.floor(Date.now() / 1_000)}.000100`,
    channel: ops.id,
    text: `<@${slack.botUser.id}> is web well?`,
    ...event,
  };
  return { ...slack.envelope(said), ...changes };
}

describe("what is of another workspace or app", () => {
  const foreign = { team_id: "T0OTHER", context_team_id: "T0OTHER" };
  const authorizations = [{ team_id: "T0OTHER", user_id: "U1", is_bot: true }];

  test("is refused and logged, and begins nothing", async () => {
    expect(await send(JSON.stringify(mention({ ...foreign, authorizations })))).toMatchObject({
      status: 200,
    });
    expect(await send(JSON.stringify(mention({ api_app_id: "A0OTHER" })))).toMatchObject({
      status: 200,
    });
    const press = { type: "block_actions", team: { id: "T0OTHER" }, user: { id: bot.ana.id } };
    expect(await payload(press)).toMatchObject({ status: 200 });
    expect(await payload({ type: "block_actions" })).toMatchObject({ status: 200 });
    expect(await threads()).toEqual([]);
    const reasons = logged("a request was refused").map(({ about }) => String(about));
    expect(reasons).toEqual([
      "it is of no workspace that is served (T0OTHER)",
      "it is for the app A0OTHER, and this is A0APP",
      "it is of no workspace that is served (none named)",
    ]);
  });

  test("is let in as soon as its envelope names a workspace that is served, whoever wrote it", async () => {
    const { slack, ops } = bot;
    const eve = slack.addUser({ name: "eve", standing: "stranger" });
    const own = [{ team_id: slack.team.id, user_id: "U1", is_bot: true }];
    const written = {
      user: eve.id,
      user_team: "T0OTHER",
      team: "T0OTHER",
      ts: "1795000000.000200",
    };
    const shared = mention({ ...foreign, authorizations: [...authorizations, ...own] }, written);
    expect(await send(JSON.stringify(shared))).toMatchObject({ status: 200 });
    await until(async () => (await threads()).length === 1);
    const [entry] = await bot.entries(ops, written.ts);
    expect(entry).toMatchObject({ kind: "message", actor: { account: `slack:T0OTHER:${eve.id}` } });
    const key = bot.key(ops, written.ts);
    const standing = await bot.adapter.people.membership(`slack:T0OTHER:${eve.id}`, key);
    expect(standing).toBe("guest");
  });

  test.each<[string, boolean, { team?: boolean; context?: boolean; authorized?: boolean[] }]>([
    ["a channel that another company shares with ours", true, { team: false, authorized: [true] }],
    ["our channel, by an installation elsewhere", true, { team: true, authorized: [false] }],
    ["a context of ours, which no installation has", false, { context: true, authorized: [false] }],
    ["a context of ours, where no installation is named", true, { context: true, authorized: [] }],
    ["nothing of ours", false, { context: false, authorized: [false, false] }],
  ])("an event of %s is heard: %s", async (_, isHeard, { team, context, authorized = [] }) => {
    const id = (isOurs = false) => (isOurs ? bot.slack.team.id : "T0OTHER");
    const changes = {
      team_id: id(team),
      context_team_id: id(context ?? authorized.includes(true)),
      authorizations: authorized.map((isOurs) => ({ team_id: id(isOurs), user_id: "U1" })),
      // What presses have counts for no event.
      team: { id: bot.slack.team.id },
      message: { team: bot.slack.team.id },
    };
    expect(await send(JSON.stringify(mention(changes)))).toMatchObject({ status: 200 });
    expect(logged("a request was refused")).toHaveLength(isHeard ? 0 : 1);
    expect(await threads()).toHaveLength(isHeard ? 1 : 0);
  });

  test("events as others recorded them are refused, and heard where their workspace is ours", async () => {
    const events = z
      .object({ kind: z.string(), body: z.looseObject({ team_id: z.string().optional() }) })
      .array()
      .parse(publicRecords("payloads/slack.ndjson"))
      .flatMap(({ kind, body }) => (kind === "event" && body.team_id !== undefined ? [body] : []));
    for (const body of new Map(events.map((each) => [each.team_id, each])).values()) {
      const isOurs = { ...body, api_app_id: bot.slack.appId };
      const refusals = logged("a request was refused").length;
      await send(JSON.stringify(isOurs).replaceAll(String(body.team_id), bot.slack.team.id));
      expect(logged("a request was refused"), body.team_id).toHaveLength(refusals);
      await send(
        JSON.stringify({ ...isOurs, team_id: `${body.team_id}X` }).replaceAll(
          `"${body.team_id}"`,
          `"${body.team_id}X"`,
        ),
      );
    }
    const refused = new Set(logged("a request was refused").map(({ about }) => about));
    expect(refused.size).toBe(new Set(events.map(({ team_id }) => team_id)).size);
  });

  test("two tokens of different apps are refused at the start, and by doctor in the same words", async () => {
    const other = await openBot({ start: false });
    other.slack.fail("bots.info", {
      error: "fake",
      with: { ok: true, bot: { app_id: "A0OTHER" } },
      times: 2,
    });
    const why = expect.stringContaining(
      "SLACK_APP_TOKEN is of the app A0APP, SLACK_BOT_TOKEN of A0OTHER",
    );
    try {
      expect(await other.adapter.examine()).toContainEqual({ ok: false, text: why });
      await expect(other.adapter.start(other.parts)).rejects.toMatchObject({
        code: "PLATFORM_REFUSED",
        message: why,
      });
    } finally {
      await other.close();
    }
  });
});

describe("what is of no form that is known", () => {
  test.each([
    ["null", JSON_TYPE],
    ["[]", JSON_TYPE],
    ['"text"', JSON_TYPE],
    ["7", JSON_TYPE],
    ["payload=null", FORM_TYPE],
    ["payload=%5B%5D", FORM_TYPE],
    ["", FORM_TYPE],
  ])("%j is answered and goes no further", async (body, type) => {
    expect(await send(body, type)).toMatchObject({ status: 200 });
    expect(await threads()).toEqual([]);
  });

  test("a body that cannot be parsed is 400, one without end or a name of ours is answered, all logged", async () => {
    expect(await send("{")).toMatchObject({ status: 400 });
    expect(await send("payload=%7B", FORM_TYPE)).toMatchObject({ status: 400 });
    expect(await send("[".repeat(100_000))).toMatchObject({ status: 400 });
    expect(logged("A request was refused").length).toBeGreaterThan(0);
  });

  test("presses without a container, foreign forms, shortcuts and the like are acknowledged, each logged once", async () => {
    const team = { id: bot.slack.team.id };
    const user = { id: bot.ana.id };
    const sent = [
      { type: "block_actions", actions: [null] },
      { type: "block_actions", actions: [{ action_id: "x", action_ts: "1" }], trigger_id: "1" },
      { type: "view_submission", view: { id: "V1", callback_id: "foreign", state: {} } },
      { type: "view_closed", view: { id: "V1" } },
      { type: "shortcut", callback_id: "x" },
      { type: "message_action", callback_id: "x" },
      { type: "dialog_submission" },
      { type: "something_new" },
      {},
    ];
    for (const one of [...sent, ...sent]) {
      expect(await payload({ ...one, team, user })).toEqual({ status: 200, text: "" });
    }
    expect(await payload({ type: "block_suggestion", team, user })).toEqual({
      status: 200,
      text: '{"options":[]}',
    });
    const kinds = ["view_closed", "shortcut", "message_action", "something_new", "no type"];
    for (const kind of kinds) {
      expect(
        bot.log.filter(({ about }) => about === kind),
        kind,
      ).toHaveLength(1);
    }
    for (const kind of ["block_actions", "view_submission"]) {
      const lines = bot.log.filter(
        ({ about, msg }) => about === kind && /dropped/.test(String(msg)),
      );
      expect(lines, kind).toHaveLength(1);
    }
  });

  test("a field that is null where a text is expected is an absent one", async () => {
    const event = { thread_ts: null, files: null, subtype: null, bot_id: null, user_team: null };
    expect(await send(JSON.stringify(mention({}, event)))).toMatchObject({ status: 200 });
    expect(await threads()).toHaveLength(1);
  });

  test("nobody answers Slack itself, bots or workflows", async () => {
    for (const [i, event] of [
      { user: "USLACK" },
      { user: "USLACKBOT" },
      { bot_id: "B0OTHER" },
      { subtype: "bot_message" },
      { user: bot.slack.botUser.id },
    ].entries()) {
      await send(JSON.stringify(mention({}, { ...event, ts: `1795000000.00030${i}` })));
    }
    expect(await threads()).toEqual([]);
  });

  test("that Slack drops events is logged, and said once where people wrote lately", async () => {
    const event = { ts: bot.slack.say(bot.ana, bot.ops, "is web well?") };
    await send(JSON.stringify(mention({}, event)));
    const limited = {
      type: "app_rate_limited",
      team_id: bot.slack.team.id,
      minute_rate_limited: 1_795_000_000,
      api_app_id: bot.slack.appId,
    };
    for (let i = 0; i < 3; i += 1) {
      expect(await send(JSON.stringify(limited))).toMatchObject({ status: 200 });
    }
    const told = () =>
      bot.slack
        .messages(bot.ops, event.ts)
        .filter((message) => bot.slack.textOf(message).includes("Slack is dropping messages"));
    await until(() => told().length > 0);
    expect(told()).toHaveLength(1);
    expect(logged("Slack is dropping events")).toHaveLength(1);
  });
});

describe("over HTTP", () => {
  /** A connection that says this and leaves it there; what it is answered with. */
  function connection(
    text: string,
    where = port,
  ): { answer(): string; isOpen(): boolean; end(): void } {
    const socket = net.connect(where, "127.0.0.1");
    let answer = "";
    let isOpen = true;
    socket.on("data", (data) => (answer += data.toString()));
    socket.on("error", () => {});
    socket.on("close", () => (isOpen = false));
    socket.write(text);
    return { answer: () => answer, isOpen: () => isOpen, end: () => socket.destroy() };
  }
  const headers = (lines: Record<string, string | number>) =>
    ["POST /slack/events HTTP/1.1", "Host: x", ...Object.entries(lines).map((l) => l.join(": "))]
      .join("\r\n")
      .concat("\r\n\r\n");

  test("a time that lies in the future is refused like an old one", async () => {
    const body = JSON.stringify(mention());
    for (const seconds of [-302, 302, 3_600]) {
      const at = Date.now() + seconds * 1_000;
      expect(await send(body, JSON_TYPE, at)).toMatchObject({ status: 401 });
    }
    for (const seconds of [-290, 290]) {
      const at = Date.now() + seconds * 1_000;
      expect(await send(body, JSON_TYPE, at)).toMatchObject({ status: 200 });
    }
  });

  test("without Slack's headers, with an old time or too long, it is refused before its body has come", async () => {
    const { "x-slack-signature": signature = "", "x-slack-request-timestamp": now = "" } =
      bot.slack.sign("");
    const signed = { "X-Slack-Signature": signature, "X-Slack-Request-Timestamp": now };
    const length = { "Content-Length": 1_000_000 };
    for (const [status, lines] of [
      [401, length],
      [401, { ...length, "X-Slack-Signature": signature }],
      [401, { ...signed, ...length, "X-Slack-Request-Timestamp": "1700000000" }],
      [401, { ...signed, ...length, "X-Slack-Request-Timestamp": "NaN" }],
      [413, { ...signed, "Content-Length": 1_048_577 }],
    ] as const) {
      const { answer, isOpen, end } = connection(headers(lines));
      await until(() => answer() !== "" && !isOpen());
      expect(answer()).toContain(`HTTP/1.1 ${status}`);
      end();
    }
  });

  test("a body that goes on beyond 1 MiB is refused, though it did not say how long it is", async () => {
    const { "x-slack-signature": signature = "", "x-slack-request-timestamp": now = "" } =
      bot.slack.sign("");
    const chunk = `${(65_536).toString(16)}\r\n${"a".repeat(65_536)}\r\n`;
    const { answer, end } = connection(
      headers({
        "X-Slack-Signature": signature,
        "X-Slack-Request-Timestamp": now,
        "Transfer-Encoding": "chunked",
      }) + chunk.repeat(17),
    );
    await until(() => answer() !== "");
    expect(answer()).toContain("HTTP/1.1 413");
    end();
  });

  test("what is begun and not gone on with is ended: headers, a body, a connection that says nothing", async () => {
    const times = {
      headersTimeout: 100,
      requestTimeout: 200,
      keepAliveTimeout: 100,
      connectionsCheckingInterval: 20,
    };
    const { signingSecret } = bot.slack;
    const log = pino({ level: "silent" });
    const source = createHttpSource({ signingSecret, log });
    let taken = 0;
    await source.start(async () => void (taken += 1));
    const server = await startHttpServer({ routes: [source.route], port: 0, log, times });
    const { "x-slack-signature": signature = "", "x-slack-request-timestamp": now = "" } =
      bot.slack.sign("");
    const signed = { "X-Slack-Signature": signature, "X-Slack-Request-Timestamp": now };
    const begun = [
      "",
      "POST /slack/events HTTP/1.1\r\nHost: x\r\nX-A: ",
      headers({ ...signed, "Content-Length": 100 }),
      `${headers({ ...signed, "Content-Length": 100 })}half of i`,
      `${headers({ ...signed, "Transfer-Encoding": "chunked" })}5\r\nhalf `,
    ].map((text) => connection(text, server.port));
    try {
      await until(() => begun.every(({ isOpen }) => !isOpen()));
      for (const { answer } of begun) expect(answer()).toMatch(/^(?:HTTP\/1.1 408 [^]*)?$/);
      expect(taken).toBe(0);
    } finally {
      for (const { end } of begun) end();
      await server.stop();
    }
  });

  test("headers without end are refused", async () => {
    const { answer, isOpen, end } = connection(
      `${headers({}).trim()}\r\nX-A: ${"a".repeat(20_000)}`,
    );
    await until(() => !isOpen());
    expect(answer()).toContain("HTTP/1.1 431");
    end();
  });

  test("of 480 connections with unfinished bodies a hundred are held, and little memory with them", async () => {
    const { "x-slack-signature": signature = "", "x-slack-request-timestamp": now = "" } =
      bot.slack.sign("");
    const lines = {
      "X-Slack-Signature": signature,
      "X-Slack-Request-Timestamp": now,
      "Content-Length": 1_000_000,
    };
    const text = headers(lines) + "a".repeat(200_000);
    const before = process.memoryUsage().rss;
    const all = Array.from({ length: 480 }, () => connection(text));
    const open = () => all.filter(({ isOpen }) => isOpen()).length;
    await until(() => open() <= 100);
    expect(open()).toBeLessThanOrEqual(100);
    const grown = process.memoryUsage().rss - before;
    for (const { end } of all) end();
    // A hundred of at most 1 MiB, and what the 480 of this test hold themselves.
    expect(grown).toBeLessThan(400 * 1024 * 1024);
  });
});
