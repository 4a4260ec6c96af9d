import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FakeDiscord, type FakeChannel, type FakeUser } from "../fakes/discord/discord.ts";
import { collect, Program } from "../fakes/program.ts";
import { type Provider, startProvider, WIRES } from "../fakes/provider.ts";
import { FakeSlack, typed } from "../fakes/slack/slack.ts";
import { until } from "../until.ts";

/**
 * The program itself on Slack and Discord, walked by those who belong and those who do not: a stranger with a server of
 * their own that the bot is in, guests, people of another company, and members in direct messages.
 */

const LOG = "LOGIN root from 10.0.0.9";
const cleanups: (() => unknown)[] = [];
let program: Program;
let provider: Provider;
let log: () => string;
let discord: FakeDiscord;
let slack: FakeSlack;

beforeAll(async () => {
  [discord, slack] = await Promise.all([FakeDiscord.start(), FakeSlack.start()]);
  const guild = discord.addGuild({ name: "corp" });
  const wire = WIRES["openai-compatible"];
  provider = await startProvider(wire, () => ({ content: "Hello." }));
  program = new Program({
    ...provider.env,
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    DISCORD_GUILDS: guild.id,
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
  });
  cleanups.push(
    () => slack.stop(),
    () => discord.stop(),
    () => provider.stop(),
    () => program.remove(),
  );
  mkdirSync(join(program.folder, "logs"));
  writeFileSync(join(program.folder, "logs/auth.log"), `${LOG}\n`);
  writeFileSync(
    join(program.folder, "watchkeeper.yaml"),
    `logs: { roots: [${program.folder}/logs] }\nbudgets: { tokensPerGuestDay: 0 }\n`,
  );
  log = collect(program.start().stderr);
  people = furnish(guild);
  await until(() => log().includes('"serving"'));
});
afterAll(async () => {
  for (const clean of cleanups.toReversed()) await clean();
});

/** Who there is. The stranger has a server of their own with the bot in it. */
function furnish(guild: ReturnType<FakeDiscord["addGuild"]>) {
  const [ana, bob, gus, mallory] = ["ana", "bob", "gus", "mallory"].map((name) =>
    discord.addUser({ name }),
  ) as [FakeUser, FakeUser, FakeUser, FakeUser];
  for (const user of [ana, bob, gus]) discord.addMember(guild, user, { pending: user === gus });
  const lair = discord.addGuild({ name: "lair" });
  discord.addMember(lair, mallory);
  const onSlack = {
    ana: slack.addUser({ name: "ana" }),
    hal: slack.addUser({ name: "hal" }),
    gus: slack.addUser({ name: "gus", standing: "guest" }),
    eve: slack.addUser({ name: "eve", standing: "external" }),
  };
  return {
    ana,
    bob,
    gus,
    mallory,
    ops: discord.addChannel(guild, { name: "ops" }),
    lair: discord.addChannel(lair, { name: "lair" }),
    onSlack,
    slackOps: slack.addChannel({ name: "ops", members: Object.values(onSlack) }),
  };
}
let people: ReturnType<typeof furnish>;

const mark = (name: string) => join(program.folder, name);
const touch = (file: string) => `run run_command argv='["/usr/bin/touch","${file}"]'`;
const READ = "run read_log path=auth.log";

/** What the bot says in a channel of Discord's. */
function shown(channel: FakeChannel): string {
  const ours = discord.messages(channel).filter(({ author }) => author === discord.botUser);
  return ours.map((message) => discord.textOf(message).replaceAll("\\", "")).join("\n");
}

/** Not yet while it says that it works. */
const isAnswer = (text: string) => text !== "" && !text.includes("⏳");

/** Says it on Discord, in a channel with a mention; where it is answered, once something was. */
async function askDiscord(who: FakeUser, channel: FakeChannel, text: string): Promise<string> {
  const before = shown(channel);
  const message = discord.say(who, channel, text, { mention: channel.guildId !== undefined });
  if (channel.guildId === undefined) {
    await until(() => isAnswer(shown(channel).slice(before.length)));
    return shown(channel).slice(before.length);
  }
  await until(() => discord.threadOf(message) !== undefined);
  const thread = discord.threadOf(message);
  if (thread === undefined) throw new Error("no thread was opened");
  await until(() => isAnswer(shown(thread)));
  return shown(thread);
}

/** The same on Slack, where each message has a thread. */
async function askSlack(
  who: { id: string },
  channel: { id: string },
  text: string,
): Promise<string> {
  const mention = !channel.id.startsWith("D");
  const ts = slack.say(who, channel, typed(text), { mention });
  const answered = () =>
    slack
      .messages(channel, ts)
      .slice(1)
      .map((message) => slack.textOf(message))
      .join("\n");
  await until(() => isAnswer(answered()));
  return answered();
}

describe("a stranger", () => {
  test("runs nothing and reads nothing from a server of their own, nor by direct message", async () => {
    const { ana, ops, mallory, lair } = people;
    expect(await askDiscord(ana, ops, "incident open Checkout leaks severity=sev1")).toMatch(
      /inc-\d{8}/,
    );
    const orders = [touch(mark("lair")), "incidents search checkout", "is web well?"].map((text) =>
      discord.say(mallory, lair, text, { mention: true }),
    );
    const dm = discord.openDm(mallory);
    for (const text of [touch(mark("dm")), "incidents search checkout"]) {
      expect(await askDiscord(mallory, dm, text)).toContain(
        "I only answer members of the servers that I serve.",
      );
    }
    await expect.poll(log).toContain("a message from a server that is not served was refused");
    // What came after it was answered, so what came before it was looked at.
    expect(await askDiscord(ana, ops, "incidents search checkout")).toContain("Checkout leaks");
    expect(orders.map((message) => discord.threadOf(message))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(shown(lair)).toBe("");
    expect(shown(dm)).not.toMatch(/Approve|Checkout leaks/);
    expect([mark("lair"), mark("dm")].filter((file) => existsSync(file))).toEqual([]);
  });

  test("decides nothing by a press from there, while a member's colleague does", async () => {
    const { ana, bob, ops, mallory, lair } = people;
    const asked = discord.say(ana, ops, touch(mark("ops")), { mention: true });
    await until(() => discord.threadOf(asked) !== undefined);
    const thread = discord.channel(asked);
    const button = () =>
      discord
        .messages(thread)
        .flatMap((message) =>
          discord.buttonsOf(message).map((each) => ({ ...each, message: message.id })),
        )
        .find(({ label }) => label === "Approve");
    await until(() => button() !== undefined);
    const { customId = "", message = "" } = button() ?? {};
    const answers = () => discord.calls.filter(({ route }) => route.endsWith("/callback"));
    const press = (id: string, place: Record<string, unknown>) =>
      discord.send("INTERACTION_CREATE", {
        id,
        application_id: discord.application.id,
        token: `token-${id}`,
        version: 1,
        type: 3,
        entitlements: [],
        data: { custom_id: customId, component_type: 2 },
        ...place,
      });
    const user = { id: mallory.id, username: "ana", global_name: "ana" };
    const dm = discord.openDm(mallory);
    press("112233445566778801", {
      guild_id: lair.guildId,
      channel_id: lair.id,
      channel: { id: lair.id, type: 0 },
      member: { user, roles: [], permissions: "0" },
    });
    press("112233445566778802", { channel_id: dm.id, channel: { id: dm.id, type: 1 }, user });
    await until(() => answers().length >= 2);
    expect(answers().map(({ body }) => JSON.stringify(body))).toContainEqual(
      expect.stringContaining("I only answer members"),
    );
    await discord.press(ana, message, customId);
    expect(existsSync(mark("ops"))).toBe(false);
    await discord.press(bob, message, customId);
    await until(() => existsSync(mark("ops")));
    await until(() => /by bob \(@bob, \d+\)/.test(shown(thread)));
    expect(shown(thread)).not.toMatch(/mallory|by ana/);
  });
});

describe("a guest", () => {
  test("gets what is public and nothing else, on both platforms, in channels and in direct messages", async () => {
    const { ana, ops, gus, onSlack, slackOps } = people;
    const incident = await askSlack(onSlack.ana, slackOps, "incident open Slow shop severity=sev2");
    expect(incident).toMatch(/inc-\d{8}/);
    const places = [
      // Who has yet to accept a server's rules can write to the bot alone.
      (text: string) => askDiscord(gus, discord.openDm(gus), text),
      (text: string) => askSlack(onSlack.gus, slackOps, text),
      (text: string) => askSlack(onSlack.gus, slack.openDm(onSlack.gus), text),
      (text: string) => askSlack(onSlack.eve, slackOps, text),
    ];
    for (const ask of places) {
      for (const text of [READ, touch(mark("guest")), "incident open Mine severity=sev4"]) {
        const answer = await ask(text);
        expect(answer).toMatch(/full member/i);
        expect(answer).not.toMatch(/Approve|LOGIN|inc-\d/);
      }
    }
    // Their own standing is what tells them apart, not the command.
    expect(await askSlack(onSlack.ana, slackOps, READ)).toContain(LOG);
    expect(await askSlack(onSlack.gus, slackOps, "incidents")).toContain("Slow shop");
    expect(await askDiscord(ana, ops, "incidents")).not.toContain("Slow shop");
    expect(existsSync(mark("guest"))).toBe(false);
  });

  test("uses up none of the model's tokens where guests are to have none", async () => {
    const { onSlack, slackOps } = people;
    expect(await askSlack(onSlack.gus, slackOps, "how are you?")).toContain(
      "budgets.tokensPerGuestDay",
    );
    expect(provider.requests).toHaveLength(0);
    expect(await askSlack(onSlack.ana, slackOps, "how are you?")).toContain("Hello.");
  });
});

describe("a member in a direct message", () => {
  test("is answered, and approves nothing of their own: it says which key and where else", async () => {
    const { ana, onSlack } = people;
    const dm = discord.openDm(ana);
    const slackDm = slack.openDm(onSlack.hal);
    const ways = [
      {
        ask: (text: string) => askDiscord(ana, dm, text),
        say: (text: string) => discord.say(ana, dm, text),
      },
      {
        ask: (text: string) => askSlack(onSlack.hal, slackDm, text),
        say: (text: string) => slack.say(onSlack.hal, slackDm, text),
      },
    ];
    for (const { ask, say } of ways) {
      expect(await ask(READ)).toContain(LOG);
      expect(await ask(touch(mark("alone")))).toMatch(
        /Nobody here can approve this except you.*Ask in a channel.*approvals\.singleOperator/s,
      );
      say("approve a1");
      // It was looked at, as it or what came after it was answered.
      expect(await ask("help")).toMatch(/ype a command|no action a1/);
    }
    expect(existsSync(mark("alone"))).toBe(false);
  });
});
