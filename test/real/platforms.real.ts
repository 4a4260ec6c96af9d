import { once } from "node:events";
import { pino } from "pino";
import { afterEach, expect, test } from "vitest";
import type { ChatAdapter } from "../../src/adapters/adapter.ts";
import { BotError } from "../../src/core/errors.ts";
import { connectPlatforms } from "../../src/app/platforms.ts";
import { createChat } from "../fakes/chat.ts";
import { FakeDiscord } from "../fakes/discord/discord.ts";
import { collect, Program } from "../fakes/program.ts";
import { FakeSlack } from "../fakes/slack/slack.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** A platform that refuses its first connections, one error after the other. */
function platform(...errors: BotError[]) {
  let starts = 0;
  const adapter: ChatAdapter = {
    ...createChat().adapter,
    async start() {
      const error = errors[starts];
      starts += 1;
      if (error !== undefined) throw error;
    },
    stop: async () => {},
    isUp: () => starts > 0,
    channelAt: async () => ({ name: "#c", isPublic: true, has: async () => true }),
    open: async () => "chat:T1:C1",
    examine: async () => [],
    examineChannel: async () => undefined,
  };
  return { adapter, starts: () => starts };
}

const nowhere = () => Promise.reject(new Error("nothing is asked here"));
const PARTS = {
  inbox: { post: nowhere },
  queries: {
    async *threads() {},
    thread: nowhere,
    isSaid: nowhere,
    beginnings: nowhere,
    quoted: nowhere,
    isPosted: nowhere,
    recent: nowhere,
    isKnown: nowhere,
    action: nowhere,
    incident: nowhere,
    answer: nowhere,
    output: nowhere,
    editForm: nowhere,
    checkEdit: nowhere,
    alerts: nowhere,
    history: nowhere,
    async *openActions() {},
    tools: () => [],
  },
  overview: { about: () => [], systems: () => [], today: nowhere, incidents: nowhere },
  tenants: { kept: nowhere, keep: nowhere },
  isThanks: () => false,
  encode: (text: string) => text,
};
const connect = (adapters: ChatAdapter[], signal = new AbortController().signal) =>
  connectPlatforms(adapters, PARTS, { log: pino({ level: "silent" }), signal });

test("a platform that is away is tried again, one that refuses is not, and neither holds up the other", async () => {
  const away = platform(new BotError("PLATFORM_UNREACHABLE", "away"));
  const refused = platform(new BotError("PLATFORM_REFUSED", "wrong token"));
  const fine = platform();
  const connected = connect([away.adapter, refused.adapter, fine.adapter]);
  expect([away.starts(), refused.starts(), fine.starts()]).toEqual([1, 1, 1]);
  expect(await connected).toEqual([away.adapter, fine.adapter]);
  expect([away.starts(), refused.starts(), fine.starts()]).toEqual([2, 1, 1]);
});

test("a shutdown ends the waiting for a platform that is away", async () => {
  const away = platform(
    ...Array.from({ length: 9 }, () => new BotError("PLATFORM_UNREACHABLE", "")),
  );
  const stop = new AbortController();
  const connected = connect([away.adapter], stop.signal);
  stop.abort();
  expect(await connected).toEqual([]);
  expect(away.starts()).toBe(1);
});

async function serve(env: Record<string, string>) {
  const program = new Program(env);
  ends.push(() => program.remove());
  const child = program.start();
  return { child, log: collect(child.stderr) };
}

test("npm start serves the platform that works while the other refuses its token, and ends when none is left", async () => {
  const slack = await FakeSlack.start();
  const discord = await FakeDiscord.start();
  ends.push(
    () => slack.stop(),
    () => discord.stop(),
  );
  slack.tokenState = "token_revoked";
  const onSlack = {
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
  };
  const both = await serve({
    ...onSlack,
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
  });
  await expect.poll(both.log).toContain('"serving"');
  expect(both.log()).toMatch(/token_revoked[^]*not connected|not connected[^]*token_revoked/);
  expect(discord.connected).toBe(1);
  const alone = await serve(onSlack);
  const [code] = (await once(alone.child, "close")) as [number];
  expect(code).toBe(1);
  expect(alone.log()).toContain("token_revoked");
});
