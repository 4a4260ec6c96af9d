import { expect, test } from "vitest";
import * as z from "zod";
import { readAnyInteraction } from "../../../src/adapters/discord/payloads.ts";
import { publicRecords } from "../../public-data.ts";
import { cardOf } from "../parts.ts";
import { faultsDuring, MUTATIONS, mutations } from "../mutations.ts";
import { type Bot, openBot, until } from "./harness.ts";

const recorded = z
  .object({ t: z.string(), d: z.record(z.string(), z.unknown()) })
  .array()
  .parse(publicRecords("payloads/discord.ndjson"));

/** What Discord sends of this server: our own forms, and what others recorded, said to be of it. */
function seedsFor({ discord, guild, ops, ana }: Bot): { t: string; d: Record<string, unknown> }[] {
  const place = { guild_id: guild.id, channel_id: ops.id, channel: { id: ops.id, type: 0 } };
  const user = { id: ana.id, username: "ana", global_name: null };
  const interaction = {
    id: "1234968734674853908",
    application_id: discord.application.id,
    token: "token",
    version: 1,
    entitlements: [],
    member: { user, nick: null, roles: [], permissions: "0" },
    ...place,
  };
  const button = { custom_id: "wk:approve:a1:1", component_type: 2 };
  const input = { type: 18, component: { type: 4, custom_id: "text", value: "no" } };
  const own = [
    { t: "INTERACTION_CREATE", d: { ...interaction, type: 3, data: button } },
    {
      t: "INTERACTION_CREATE",
      d: { ...interaction, type: 5, data: { custom_id: "wk:because:a1:1", components: [input] } },
    },
    { t: "INTERACTION_CREATE", d: { ...interaction, type: 2, data: { type: 1, name: "link" } } },
    {
      t: "MESSAGE_CREATE",
      d: {
        ...place,
        id: "334385199974967042",
        type: 0,
        author: user,
        content: "hello",
        mentions: [],
        mention_roles: [],
        attachments: [],
      },
    },
  ];
  return [...own, ...recorded.map(({ t, d }) => ({ t, d: { ...d, guild_id: guild.id } }))];
}

/** The interaction with a token of its own, where it has one. */
function named(interaction: unknown, token: string): unknown {
  const isOne = typeof interaction === "object" && interaction !== null && "token" in interaction;
  return isOne && typeof interaction.token === "string" ? { ...interaction, token } : interaction;
}

const PING = 1;

test("whatever form what Discord sends has, the process and its connection stay, each interaction is answered once, and the next mention and press are taken", async () => {
  const bot = await openBot();
  try {
    const { discord } = bot;
    const faults = await faultsDuring(async () => {
      const kinds = new Map(seedsFor(bot).map(({ t, d }) => [d, t]));
      const awaited: string[] = [];
      for (const [i, { of, is }] of mutations([...kinds.keys()], MUTATIONS).entries()) {
        const kind = kinds.get(of) ?? "";
        const sent = kind === "INTERACTION_CREATE" ? named(is, `token${i}`) : is;
        const asked = kind === "INTERACTION_CREATE" ? readAnyInteraction(sent) : undefined;
        if (asked !== undefined && asked.type !== PING) awaited.push(asked.token);
        discord.send(kind, sent);
        // As fast as it is read, or thousands would wait.
        await new Promise((resolve) => setImmediate(resolve));
      }
      const answered = () =>
        discord.calls.flatMap(({ path }) => /\/(token\d+)\/callback$/.exec(path)?.[1] ?? []);
      expect(awaited.length).toBeGreaterThan(20);
      await until(() => answered().length >= awaited.length);
      expect(answered().toSorted()).toEqual(awaited.toSorted());
      for (const frame of [null, [], 7, {}, { op: 0, t: "MESSAGE_CREATE", d: null }, { op: 0 }]) {
        discord.sendFrame(frame);
      }
      const thread = await bot.begin("and now?");
      expect(await bot.texts(thread)).toEqual(["and now?"]);
      const card = cardOf(bot.key(thread));
      bot.cards.set("a1", card);
      await bot.view(thread).postCard(card, { id: "proposed:a1.1", isRetry: false });
      const message = discord.messages(thread).at(-1);
      const button = message && discord.buttonsOf(message).find(({ label }) => label === "Approve");
      const outcome = await discord.press(bot.ana, message?.id ?? "", button?.customId ?? "");
      expect(outcome).toMatchObject({ kind: "acked" });
    });
    expect(faults).toEqual([]);
    expect(discord.connected).toBe(1);
  } finally {
    await bot.close();
  }
}, 300_000);

test("an interaction without entitlements is answered, slash commands in words, and what names nobody is dropped", async () => {
  const bot = await openBot();
  try {
    const seed = seedsFor(bot)[0]?.d ?? {};
    const answers = () =>
      bot.discord.calls.filter(({ route }) => route.endsWith("/callback")).map(({ body }) => body);
    const faults = await faultsDuring(async () => {
      bot.discord.send("INTERACTION_CREATE", { ...seed, entitlements: undefined });
      bot.discord.send("INTERACTION_CREATE", { ...seed, type: 2, data: null });
      bot.discord.send("INTERACTION_CREATE", { ...seed, type: 4, data: null });
      bot.discord.send("INTERACTION_CREATE", { ...seed, guild_id: "41771983423143937" });
      bot.discord.send("INTERACTION_CREATE", { ...seed, member: null });
      await until(() => answers().length === 5);
      bot.discord.send("INTERACTION_CREATE", null);
      bot.discord.send("INTERACTION_CREATE", { id: "1" });
      await until(() => bot.log.some(({ msg }) => /cannot be answered/.test(String(msg))));
    });
    expect(faults).toEqual([]);
    const shown = answers().map((body) => JSON.stringify(body));
    expect(shown).toEqual(
      expect.arrayContaining([
        expect.stringContaining("This command is from another version"),
        expect.stringContaining('"choices":[]'),
        expect.stringContaining("I only answer members"),
        expect.stringContaining("another version of Watchkeeper"),
      ]),
    );
    // The first was ours: it was kept.
    await until(async () => (await bot.entries(bot.ops)).length === 1);
    expect(await bot.entries(bot.ops)).toMatchObject([{ kind: "click", action: "a1" }]);
  } finally {
    await bot.close();
  }
});
