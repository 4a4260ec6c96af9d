import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createApi } from "../../../src/adapters/slack/api.ts";
import type { View } from "../../../src/adapters/view.ts";
import type { Fault } from "../../fakes/slack/slack.ts";
import { answer, type Bot, cardOf, openBot, skip } from "./harness.ts";

let bot: Bot;
let root: string;
let view: View;
beforeEach(async () => {
  bot = await openBot();
  root = bot.slack.say(bot.ana, bot.ops, "is web well?");
  const found = bot.adapter.view(bot.key(bot.ops, root));
  if (found === undefined) throw new Error("the thread is not shown");
  view = found;
});
afterEach(() => {
  vi.restoreAllMocks();
  return bot.close();
});

const once = { id: "e1", isRetry: false };
const say = () => view.post(answer("r1", "all is well"), once);

test.each<[string, RegExp]>([
  ["not_in_channel", /invite @/],
  ["channel_not_found", /private.*invite @/],
  [
    "is_archived",
    /^The channel is archived; unarchive it to go on here\. \(Slack refused .*is_archived\)$/,
  ],
  ["restricted_action", /does not let the bot post/],
  ["restricted_action_read_only_channel", /let the bot/],
  ["invalid_auth", /SLACK_BOT_TOKEN/],
  ["not_authed", /SLACK_BOT_TOKEN/],
  ["token_revoked", /reinstall.*SLACK_BOT_TOKEN/],
  ["token_expired", /reinstall.*SLACK_BOT_TOKEN/],
  ["account_inactive", /reinstall.*SLACK_BOT_TOKEN/],
  ["not_allowed_token_type", /xoxb-/],
  ["team_access_not_granted", /administrators/],
  ["thread_not_found", /is gone/],
  ["unknown_method", /SLACK_API_URL/],
  ["method_deprecated", /update Watchkeeper/],
  ["no_permission", /slack-manifest\.yaml/],
  ["ekm_access_denied", /suspended access/],
  ["exchanged_trigger_id", /press again/],
  ["some_new_code", /^Slack refused chat\.postMessage \(some_new_code\)\.$/],
])("a refusal with %s says what to do", async (error, words) => {
  bot.slack.fail("chat.postMessage", { error });
  await expect(say()).rejects.toMatchObject({
    code: "PLATFORM_REFUSED",
    message: expect.stringMatching(words),
  });
});

test("a missing scope is named", async () => {
  bot.slack.scopes = ["channels:history"];
  await expect(say()).rejects.toMatchObject({
    code: "PLATFORM_REFUSED",
    message: expect.stringMatching(/lacks the scope chat:write; add it/),
  });
});

test("an archived channel, and one the bot was taken out of, are what they are in Slack too", async () => {
  bot.slack.leave(bot.ops, bot.slack.botUser);
  await expect(say()).rejects.toThrow("not_in_channel");
  bot.slack.join(bot.ops, bot.slack.botUser);
  bot.slack.archive(bot.ops);
  await expect(say()).rejects.toThrow("is_archived");
});

/** Every place that the worker and people wait for. */
const SITES: readonly (readonly [string, () => Promise<unknown>])[] = [
  ["chat.postMessage", say],
  ["chat.postMessage", () => view.postCard(cardOf(bot.key(bot.ops, root)), once)],
  ["chat.postMessage", async () => view.openProgress?.(once, [])],
  ["chat.update", async () => view.updateCard(await say(), cardOf(bot.key(bot.ops, root)))],
  ["chat.delete", async () => view.delete(await say())],
  ["chat.postEphemeral", () => view.postPrivately(bot.account(bot.ana), "psst")],
  ["conversations.replies", () => view.post(answer("r1", "well"), { id: "e1", isRetry: true })],
  ["users.info", () => bot.adapter.people.membership(bot.account(bot.ana), bot.key(bot.ops, root))],
  [
    "conversations.members",
    () => bot.adapter.people.everyone(bot.key(bot.slack.openDm(bot.bob), root)),
  ],
  [
    "usergroups.list",
    async () => bot.adapter.people.label?.("slack:group:S0SRE", bot.key(bot.ops, root)),
  ],
  ["usergroups.users.list", () => bot.adapter.people.members("slack:group:S0SRE")],
  ["auth.test", () => bot.adapter.examine()],
];

const FAULTS: readonly (readonly [Fault, object])[] = [
  [
    { status: 429, retryAfter: 3 },
    { code: "PLATFORM_RATE_LIMITED", retryAfterMs: 3_000 },
  ],
  [{ status: 429 }, { code: "PLATFORM_RATE_LIMITED" }],
  [{ error: "ratelimited" }, { code: "PLATFORM_RATE_LIMITED" }],
  [{ status: 503 }, { code: "PLATFORM_UNREACHABLE" }],
  [{ error: "internal_error" }, { code: "PLATFORM_UNREACHABLE" }],
  [{ cut: true }, { code: "PLATFORM_UNREACHABLE" }],
  [{ status: 404 }, { code: "PLATFORM_REFUSED" }],
  [{ cutAfterCarryingOut: true }, { code: "PLATFORM_UNREACHABLE" }],
  [{ status: 200 }, { code: "PLATFORM_UNREACHABLE" }],
  [{ error: "access_denied" }, { code: "PLATFORM_REFUSED" }],
];

test("whatever fails wherever, it is one of three errors, asked for once, and the next try succeeds", async () => {
  bot.slack.addGroup("S0SRE", [bot.ana]);
  for (const [method, act] of SITES) {
    for (const [fault, error] of FAULTS) {
      bot.slack.fail(method, fault);
      const before = bot.slack.calls.filter((call) => call.method === method).length;
      await expect(act(), `${method} ${JSON.stringify(fault)}`).rejects.toMatchObject(error);
      expect(bot.slack.calls.filter((call) => call.method === method).length - before).toBe(1);
      // Limits are over.
      skip(600_000);
    }
    await act();
  }
});

/** What is said of a code that has no words of its own above, and whether the next message or place gets it too. */
const MEANINGS: Readonly<Record<string, object>> = {
  internal_error: { code: "PLATFORM_UNREACHABLE" },
  fatal_error: { code: "PLATFORM_UNREACHABLE" },
  service_unavailable: { code: "PLATFORM_UNREACHABLE" },
  request_timeout: { code: "PLATFORM_UNREACHABLE" },
  team_added_to_org: { code: "PLATFORM_UNREACHABLE" },
  rate_limited: { code: "PLATFORM_RATE_LIMITED" },
  message_limit_exceeded: { code: "PLATFORM_REFUSED", refused: undefined },
  invalid_blocks_format: { code: "PLATFORM_REFUSED", refused: "content" },
  restricted_action_thread_only_channel: { code: "PLATFORM_REFUSED", refused: "place" },
  restricted_action_thread_locked: { code: "PLATFORM_REFUSED", refused: "place" },
  restricted_action_non_threadable_channel: { code: "PLATFORM_REFUSED", refused: "place" },
  thread_not_found: { code: "PLATFORM_REFUSED", refused: "place" },
};

test("every code means that Slack is away, asks to wait, or refuses this form, this place or this app", async () => {
  const { botToken: token, apiUrl } = bot.slack;
  const log = pino({ level: "silent" });
  const api = createApi({ token, variable: "SLACK_BOT_TOKEN", apiUrl, log });
  for (const [error, meaning] of Object.entries(MEANINGS)) {
    bot.slack.fail("auth.test", { error });
    const asked = api.ask("auth.test", (client) => client.auth.test());
    await expect(asked, error).rejects.toMatchObject(meaning);
  }
});

test("what is never answered is given up", async () => {
  const api = createApi({
    token: bot.slack.botToken,
    variable: "SLACK_BOT_TOKEN",
    apiUrl: bot.slack.apiUrl,
    log: pino({ level: "silent" }),
    timeoutMs: 30,
  });
  bot.slack.fail("auth.test", { timeout: true });
  const asked = api.ask("auth.test", (client) => client.auth.test());
  await expect(asked).rejects.toMatchObject({ code: "PLATFORM_UNREACHABLE" });
});
