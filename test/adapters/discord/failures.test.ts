import { afterEach, beforeEach, expect, test } from "vitest";
import { createApi, type Api } from "../../../src/adapters/discord/api.ts";
import { FakeDiscord, type Fault } from "../../fakes/discord/discord.ts";

let discord: FakeDiscord;
let api: Api;
beforeEach(async () => {
  discord = await FakeDiscord.start();
  api = createApi(discord.token, discord.apiUrl);
});
afterEach(async () => {
  api.stop();
  await discord.stop();
});

const ME = "/users/@me";

test.for<[fault: Fault, code: string, message: RegExp]>([
  [{ status: 403, code: 50001 }, "PLATFORM_REFUSED", /can't see this channel/],
  [{ status: 403, code: 50013 }, "PLATFORM_REFUSED", /lacks a permission/],
  [{ status: 404, code: 10003 }, "PLATFORM_REFUSED", /gone/],
  [{ status: 403, code: 50007 }, "PLATFORM_REFUSED", /direct messages/],
  [{ status: 400, code: 50083 }, "PLATFORM_REFUSED", /archived/],
  [{ status: 403, code: 160005 }, "PLATFORM_REFUSED", /locked/],
  [{ status: 400, code: 999, message: "Odd" }, "PLATFORM_REFUSED", /\(999\): Odd/],
  [{ status: 401, code: 0 }, "PLATFORM_REFUSED", /DISCORD_TOKEN/],
  [{ status: 404, code: 10004 }, "PLATFORM_REFUSED", /not in this server/],
  [{ status: 404, code: 10007 }, "PLATFORM_REFUSED", /not in this server/],
  [{ status: 404, code: 10008 }, "PLATFORM_REFUSED", /message is gone/],
  [{ status: 404, code: 10013 }, "PLATFORM_REFUSED", /no such account/],
  [{ status: 404, code: 10015 }, "PLATFORM_REFUSED", /since the click/],
  [{ status: 404, code: 10062 }, "PLATFORM_REFUSED", /more than 3 s/],
  [{ status: 401, code: 50027 }, "PLATFORM_REFUSED", /15 min/],
  [{ status: 400, code: 40060 }, "PLATFORM_REFUSED", /already answered/],
  [{ status: 400, code: 50008 }, "PLATFORM_REFUSED", /50008/],
  [{ status: 400, code: 160004 }, "PLATFORM_REFUSED", /has a thread already/],
  [{ status: 400, code: 160006 }, "PLATFORM_REFUSED", /active threads/],
  [{ status: 400, code: 30046 }, "PLATFORM_RATE_LIMITED", /wait/],
  [{ status: 400, code: 20016 }, "PLATFORM_RATE_LIMITED", /wait/],
  [{ status: 400, code: 20028 }, "PLATFORM_RATE_LIMITED", /wait/],
  [{ status: 503, code: 130000 }, "PLATFORM_UNREACHABLE", /HTTP 503/],
  [{ status: 429, retryAfter: 60 }, "PLATFORM_RATE_LIMITED", /wait/],
  [{ status: 500 }, "PLATFORM_UNREACHABLE", /HTTP 500/],
  [{ status: 502 }, "PLATFORM_UNREACHABLE", /HTTP 502/],
  [{ cut: true }, "PLATFORM_UNREACHABLE", /did not answer/],
])("%o becomes %s", async ([fault, code, message]) => {
  discord.fail(`GET ${ME}`, fault);
  await expect(api.ask("get", ME)).rejects.toMatchObject({
    code,
    message: expect.stringMatching(message),
  });
  expect(discord.calls).toHaveLength(1);
  discord.mend();
  if (fault.status !== 429) await api.ask("get", ME);
});

test("a long wait is handed to whoever asks, in ms, and a short one is waited for", async () => {
  discord.fail(`GET ${ME}`, { status: 429, retryAfter: 0.05 });
  await api.ask("get", ME);
  expect(discord.calls.map(({ status }) => status)).toEqual([429, 200]);
  discord.fail("GET /gateway/bot", { status: 429, retryAfter: 60 });
  const refused = await api.ask("get", "/gateway/bot").catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: "PLATFORM_RATE_LIMITED" });
  expect((refused as { retryAfterMs: number }).retryAfterMs).toBeGreaterThan(59_000);
});

test("an interaction's token is in no error", async () => {
  const asked = api.ask("post", "/webhooks/123456789012345678/a-very-secret-token", {
    body: {},
    auth: false,
  });
  const error = await asked.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "PLATFORM_REFUSED" });
  expect(String(error)).not.toContain("secret");
});
