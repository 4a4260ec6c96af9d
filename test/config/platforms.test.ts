import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Config, loadConfig } from "../../src/config/config.ts";
import { discord } from "../../src/adapters/discord/platform.ts";
import { slack } from "../../src/adapters/slack/platform.ts";
import { isBotError } from "../../src/core/errors.ts";
import { settingsOf } from "../../src/core/settings.ts";

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "watchkeeper-config-"));
});
afterEach(async () => {
  await rm(cwd, { recursive: true });
});

async function load(env: Record<string, string>, yaml = ""): Promise<Config> {
  await writeFile(join(cwd, "watchkeeper.yaml"), yaml);
  return loadConfig(env, { cwd });
}

async function mistakes(env: Record<string, string>, yaml?: string): Promise<string[]> {
  const error = await load(env, yaml).catch((reason: unknown) => reason);
  return isBotError(error, "CONFIG_INVALID") ? error.message.split("\n- ").slice(1) : [];
}

const CLIENT = { SLACK_CLIENT_ID: "1.2", SLACK_CLIENT_SECRET: "hidden-secret" };
const SLACK = { SLACK_BOT_TOKEN: "xoxb-1-hidden", SLACK_APP_TOKEN: "xapp-1-hidden" };
const DISCORD = { DISCORD_TOKEN: "MTIz.hidden.abcdefghijklmnop" };

describe("Slack and Discord", () => {
  it("are served when their tokens are set, each for itself", async () => {
    expect(await load({})).toMatchObject({ platforms: [], port: 3000 });
    const onSlack = await load(SLACK);
    expect(onSlack.platforms).toEqual(["slack"]);
    expect(settingsOf(slack, onSlack.values)).toMatchObject({ appToken: "xapp-1-hidden" });
    expect((await load({ ...SLACK, ...DISCORD })).platforms).toEqual(["slack", "discord"]);
    expect((await load({ ...DISCORD, PORT: "8080" })).port).toBe(8080);
  });

  it("take events over HTTP with a signing secret", async () => {
    const signingSecret = "0123456789abcdef0123456789abcdef";
    const { values } = await load({
      SLACK_BOT_TOKEN: "xoxb-1-hidden",
      SLACK_SIGNING_SECRET: signingSecret,
      SLACK_API_URL: "http://127.0.0.1:1/api",
    });
    expect(settingsOf(slack, values)).toEqual({
      botToken: "xoxb-1-hidden",
      appToken: undefined,
      signingSecret,
      apiUrl: "http://127.0.0.1:1/api/",
    });
  });

  it.each([
    [{ SLACK_BOT_TOKEN: "xoxb-1" }, "SLACK_APP_TOKEN: missing"],
    [{ SLACK_APP_TOKEN: "xapp-1" }, "SLACK_BOT_TOKEN: missing"],
    [{ ...SLACK, SLACK_BOT_TOKEN: "xoxp-hidden" }, "SLACK_BOT_TOKEN: expected"],
    [{ ...SLACK, SLACK_APP_TOKEN: "xoxb-hidden" }, "SLACK_APP_TOKEN: expected"],
    [{ ...CLIENT, SLACK_WORKSPACES: "T1, T2" }, "SLACK_APP_TOKEN: missing"],
    [{ ...SLACK, ...CLIENT }, "SLACK_WORKSPACES: missing"],
    [{ ...SLACK, ...CLIENT, SLACK_WORKSPACES: "acme" }, "SLACK_WORKSPACES: expected"],
    [{ ...SLACK, SLACK_API_URL: "slack.test" }, "SLACK_API_URL: expected"],
    [{ DISCORD_TOKEN: "Bot MTIz.hidden.abcdefghijklmnop" }, "DISCORD_TOKEN: expected"],
    [{ ...DISCORD, DISCORD_API_URL: "x" }, "DISCORD_API_URL: expected"],
    [{ PORT: "0" }, "PORT: expected"],
    [{ PORT: "http" }, "PORT: expected"],
  ])("%j is refused: %s", async (env, said) => {
    const found = await mistakes(env);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(said);
    expect(found[0]).not.toContain("hidden");
  });

  it("Discord's servers are named in one place: the yaml, or DISCORD_GUILDS", async () => {
    const guilds = ["112233445566778899", "223344556677889900"];
    const yaml = `discord: { guilds: ["${guilds.join('", "')}"] }\n`;
    const variable = { DISCORD_GUILDS: guilds.join(", ") };
    const served = async (env: Record<string, string>, file?: string) =>
      settingsOf(discord, (await load(env, file)).values);
    expect(await served(DISCORD)).toMatchObject({ guilds: undefined, guildList: undefined });
    expect(await served(DISCORD, yaml)).toMatchObject({ guilds });
    expect(await served({ ...DISCORD, ...variable })).toMatchObject({ guildList: guilds });
    expect(await mistakes({ ...DISCORD, ...variable }, yaml)).toEqual([
      expect.stringMatching(/yaml:1:\d+: discord\.guilds: DISCORD_GUILDS is set too; set one of/),
    ]);
  });

  it.each([
    [{ DISCORD_GUILDS: "corp" }, "", "DISCORD_GUILDS: expected"],
    [{ DISCORD_GUILDS: "112233445566778899,,1" }, "", "DISCORD_GUILDS: expected"],
    [{ DISCORD_GUILDS: "," }, "", "DISCORD_GUILDS: expected"],
    [{}, "discord: { guilds: [] }", "yaml:1:"],
    [{}, "discord: { guilds: [corp] }", "yaml:1:"],
  ])("servers in another form are a mistake: %j %s", async (env, yaml, said) => {
    expect(await mistakes({ ...DISCORD, ...env }, yaml)).toEqual([expect.stringContaining(said)]);
  });

  it("keep their tokens out of everything that is shown", async () => {
    const { secrets } = await load({ ...SLACK, ...DISCORD });
    const names = secrets.map(({ name }) => name);
    expect(names).toEqual(["SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "DISCORD_TOKEN"]);
  });
});

describe("people and time zone", () => {
  it("say which accounts are one human's, and what a week is", async () => {
    const config = await load(
      {},
      'people: [{ name: Ana, accounts: ["slack:T1:U07", "discord:4411"] }]\ntimezone: Europe/Madrid\n',
    );
    expect(config.people).toEqual([{ name: "Ana", accounts: ["slack:T1:U07", "discord:4411"] }]);
    expect(config.timezone).toBe("Europe/Madrid");
  });

  it.each([
    ["timezone: Madrid", "watchkeeper.yaml:1:1: timezone: expected a zone's IANA name"],
    ["people: [{ name: Ana, accounts: [] }]", "people[0].accounts is empty"],
    ["people: [{ name: Ana, accounts: [U07] }]", 'people[0].accounts[0]: expected "slack:'],
    [
      'people: [{ name: A, accounts: ["discord:1"] }, { name: B, accounts: ["discord:1"] }]',
      "people[1].accounts[0] is there twice",
    ],
    [
      'people: [{ name: A, accounts: ["discord:1"] }, { name: A, accounts: ["discord:2"] }]',
      "people[1].name is there twice",
    ],
  ])("%s is refused", async (yaml, said) => {
    const found = await mistakes({}, yaml);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(said);
  });
});
