import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ChatAdapter } from "../../../src/adapters/adapter.ts";
import {
  createSessionTurns,
  readShards,
  type Shards,
} from "../../../src/adapters/discord/shards.ts";
import { pino } from "pino";
import type { FakeChannel, FakeGuild } from "../../fakes/discord/discord.ts";
import { answer, type Bot, cardOf, openBot, until } from "./harness.ts";

test.each([
  ["0/1", { ids: [0], count: 1 }],
  [" 2/8 ", { ids: [2], count: 8 }],
  ["0-3/8", { ids: [0, 1, 2, 3], count: 8 }],
  ["", "such as 0-3/8"],
  ["0-3", "such as 0-3/8"],
  ["-1/8", "such as 0-3/8"],
  ["8/8", "there is no shard 8 of 8: they are numbered from 0 to 7"],
  ["3-0/8", "write 0-3/8"],
  ["0/0", "expected 1 to 1000 shards"],
  ["0-1999/2000", "expected 1 to 1000 shards"],
])("DISCORD_SHARDS=%s is %o", (text, expected) => {
  if (typeof expected === "string") expect(readShards(text)).toContain(expected);
  else expect(readShards(text)).toEqual(expected);
});

test("processes of one store begin their sessions one after the other, each shard's remainder by itself", async () => {
  const taken = new Map<string, number>();
  const once = async (what: string) => !taken.has(what) && Boolean(taken.set(what, Date.now()));
  let waits = 0;
  const log = pino({ level: "silent" });
  const parts = { concurrency: 2, onWait: () => void (waits += 1), log, turnMs: 10 };
  const processes = [1, 2, 3].map(() => createSessionTurns({ ...parts, vault: { once } }));
  const { signal } = new AbortController();
  // All want the same turn, also where the machine pauses between them.
  const now = vi.spyOn(Date, "now").mockReturnValue(Date.now());
  const begun = processes.map((each, shard) => each.waitForIdentify(shard, signal));
  now.mockRestore();
  await Promise.all(begun);
  const spans = [...taken.keys()].map((what) => what.split(":").slice(2));
  expect(
    spans
      .map(([remainder = ""]) => remainder)
      .toSorted()
      .join(),
  ).toBe("0,0,1");
  expect(new Set(spans.map(String)).size).toBe(3);
  expect(waits).toBeGreaterThan(3);
  const away = createSessionTurns({
    ...parts,
    vault: { once: () => Promise.reject(new Error("away")) },
  });
  await away.waitForIdentify(0, signal);
});

/** A server that this shard of two hears. */
const guildOn = (shard: number) => String(BigInt(260_000_000_000 + shard) << 22n);
const FIRST: Shards = { ids: [0], count: 2 };
const SECOND: Shards = { ids: [1], count: 2 };

let bot: Bot | undefined;
afterEach(async () => {
  await bot?.close();
  bot = undefined;
});

describe("two processes with a shard each", () => {
  let first: Bot;
  let second: ChatAdapter;
  let far: FakeGuild;
  let lobby: FakeChannel;
  const turns = new Set<string>();
  const { ana, bob } = { ana: () => first.ana, bob: () => first.bob };

  beforeEach(async () => {
    turns.clear();
    first = await openBot({
      discord: { privileged: ["MessageContent", "GuildMembers"] },
      guilds: () => [guildOn(0), guildOn(1)],
      guildId: guildOn(0),
      shards: FIRST,
      start: false,
    });
    bot = first;
    far = first.discord.addGuild({ id: guildOn(1), name: "Far" });
    for (const user of [ana(), bob()]) first.discord.addMember(far, user);
    lobby = first.discord.addChannel(far, { name: "lobby" });
    const once = async (what: string) => !turns.has(what) && Boolean(turns.add(what));
    first.parts.vault = { once } as NonNullable<typeof first.parts.vault>;
    const connecting = first.replica(SECOND);
    await first.adapter.start(first.parts);
    second = await connecting;
  });

  const ask = async (where: FakeChannel, text: string) => {
    const id = first.discord.say(ana(), where, text, { mention: true });
    await until(() => first.discord.threadOf(id) !== undefined);
    const thread = first.discord.threadOf(id);
    if (thread === undefined) throw new Error("no thread was opened");
    await until(async () => (await first.texts(thread)).length > 0);
    return thread;
  };
  const made = (route: string) =>
    first.discord.calls.filter((call) => call.method === "POST" && call.route === route).length;

  test("answer every mention once, and a direct message at the first shard", async () => {
    const near = await ask(first.ops, "is web well?");
    const thread = await ask(lobby, "is db well?");
    const dm = first.discord.openDm(ana());
    first.discord.say(ana(), dm, "hello");
    await until(async () => (await first.texts(dm)).length > 0);
    expect(await Promise.all([near, thread, dm].map(first.texts))).toEqual([
      ["is web well?"],
      ["is db well?"],
      ["hello"],
    ]);
    expect(made("/channels/:channel/messages/:message/threads")).toBe(2);
    expect(turns.size).toBe(2);
    expect(first.adapter.about?.()).toEqual(["Discord: shard 0 of 2, connected"]);
    expect(second.about?.()).toEqual(["Discord: shard 1 of 2, connected"]);
    const told = first.log.map(({ msg }) => String(msg));
    expect(told).toContainEqual(expect.stringMatching(/^Connected to Far as .* \(shard 1 of 2\)/));

    // What is for the first shard waits for the process that has it.
    await first.adapter.stop();
    first.discord.say(ana(), dm, "anybody?");
    first.discord.say(ana(), near, "and now?");
    const other = await ask(lobby, "still there?");
    expect([await first.texts(dm), await first.texts(near)]).toEqual([["hello"], ["is web well?"]]);
    await first.replica(FIRST);
    await until(async () => (await first.texts(dm)).length === 2);
    await until(async () => (await first.texts(near)).length === 2);
    expect(await first.texts(other)).toEqual(["still there?"]);
    // The commands are the application's: the first process sees to them.
    const route = "/applications/:application/commands";
    await until(
      () =>
        first.discord.calls.filter((call) => call.route === route && call.method === "GET")
          .length === 2,
    );
  });

  test("show and decide each other's threads, and know each other's roles", async () => {
    const thread = await ask(lobby, "restart web");
    const key = first.key(thread);
    const card = cardOf(key);
    first.cards.set("a1", card);
    const shown = first.adapter.view(key);
    await shown?.post(answer("r1", "Here it is."), { id: "ended:r1", isRetry: false });
    await shown?.postCard(card, { id: "card:a1", isRetry: false });
    const message = first.discord.messages(thread).at(-1);
    const button =
      message && first.discord.buttonsOf(message).find(({ label }) => label === "Approve");
    const pressed = await first.discord.press(bob(), message?.id ?? "", button?.customId ?? "");
    expect(pressed).toMatchObject({ kind: "acked" });
    await until(async () => (await first.entries(thread)).some(({ kind }) => kind === "click"));
    // Only the process that heard the press can answer under it; the other one writes directly.
    const account = `discord:${bob().id}`;
    await second.view(key)?.postPrivately(account, "under the card");
    await first.adapter.view(key)?.postPrivately(account, "directly");
    const texts = (some: ReturnType<typeof first.discord.dms>) =>
      some.map((each) => first.discord.textOf(each));
    expect(texts(first.discord.ephemerals(bob()))).toEqual(["under the card"]);
    expect(texts(first.discord.dms(bob())).join()).toContain("directly");
    const role = first.discord.addRole(far, { name: "sre" });
    first.discord.addMember(far, bob(), { roles: [role] });
    expect(await first.adapter.people.members(`discord:role:${role.id}`)).toEqual([account]);
  });
});

test("without the setting a process connects as many shards as Discord recommends", async () => {
  bot = await openBot({ discord: { minShards: 2, concurrency: 2 }, guildId: guildOn(1) });
  expect(bot.discord.connected).toBe(2);
  const thread = await bot.begin();
  bot.discord.dropConnections();
  const dm = bot.discord.openDm(bot.ana);
  bot.discord.say(bot.ana, dm, "hello");
  bot.discord.say(bot.ana, thread, "and db?");
  await until(async () => (await bot?.texts(thread))?.length === 2);
  await until(async () => (await bot?.texts(dm))?.length === 1);
  expect(bot.adapter.about?.()).toEqual([]);
});

test("too few shards are refused in words, and the doctor knows better", async () => {
  bot = await openBot({
    discord: { minShards: 3 },
    guildId: guildOn(1),
    shards: { ids: [0], count: 2 },
    start: false,
  });
  await expect(bot.adapter.start(bot.parts)).rejects.toMatchObject({
    code: "PLATFORM_REFUSED",
    message: expect.stringMatching(/\(4011\).*too many servers for so few shards.*DISCORD_SHARDS/),
  });
  const texts = (await bot.adapter.examine(`discord:${guildOn(1)}`)).map(({ text }) => text);
  expect(texts).toContain("Discord recommends 3 shards, and DISCORD_SHARDS has 2.");
  expect(texts).toContain(
    "This process connects shard 0 of 2; another one has to connect those of Operations (shard 1).",
  );
});
