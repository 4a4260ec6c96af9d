import { isThanks } from "../../src/thread/tone.ts";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import type { ChatAdapter } from "../../src/adapters/adapter.ts";
import { assemble, type Bot } from "../../src/app/assemble.ts";
import { connectPlatforms, loadPlatforms } from "../../src/app/platforms.ts";
import { loadConfig } from "../../src/config/config.ts";
import { FakeDiscord, type FakeUser } from "../fakes/discord/discord.ts";
import { FakeSlack, typed } from "../fakes/slack/slack.ts";
import { until } from "../until.ts";

/** Slack with Ana and Bob, Discord with Ana and Dora; the configuration knows whose accounts are Ana's and Bob's. */
async function openChats() {
  const [slack, discord] = await Promise.all([FakeSlack.start(), FakeDiscord.start()]);
  onTestFinished(async () => {
    await Promise.all([slack.stop(), discord.stop()]);
  });
  const [ana, bob] = [slack.addUser({ name: "ana" }), slack.addUser({ name: "bob" })];
  const ops = slack.addChannel({ name: "ops", members: [ana, bob] });
  const guild = discord.addGuild({ name: "corp" });
  const [anaThere, dora] = [discord.addUser({ name: "ana" }), discord.addUser({ name: "dora" })];
  for (const user of [anaThere, dora]) discord.addMember(guild, user);
  const war = discord.addChannel(guild, { name: "war-room" });
  const folder = await mkdtemp(join(tmpdir(), "wk-mirror-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const account = ({ id }: { id: string }) => `slack:${slack.team.id}:${id}`;
  const people = `people: [{ name: Ana, accounts: ["${account(ana)}", "discord:${anaThere.id}"] }, { name: Bob, accounts: ["${account(bob)}"] }]`;
  const rules = `approvals: { rules: [{ match: { tool: run_command }, decide: ask, quorum: 2 }] }`;
  const incidents = `incidents: { channels: ["slack:${slack.team.id}:${ops.id}"] }`;
  const yaml = [people, rules, incidents, ""].join("\n");
  await writeFile(join(folder, "watchkeeper.yaml"), yaml, { mode: 0o600 });
  const env = {
    DATA_DIR: join(folder, "data"),
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    DISCORD_GUILDS: guild.id,
  };
  const config = await loadConfig(env, { cwd: folder });

  /** The whole program but for its process. */
  async function start(change: (adapter: ChatAdapter) => ChatAdapter = (same) => same) {
    const log = pino({ level: "silent" });
    const bot = await assemble(config, log, { local: false });
    const platforms = (await loadPlatforms(config, log)).map(change);
    bot.start(...platforms);
    await connectPlatforms(
      platforms,
      { ...bot, isThanks },
      { log, signal: new AbortController().signal },
    );
    return bot;
  }

  const thread = () => {
    const [first] = discord.messages(war);
    return first && discord.threadOf(first.id);
  };
  let root = "";
  const chats = {
    slack,
    ops,
    discord,
    folder,
    start,
    people: { ana, bob, anaThere, dora },
    guild,
    war,
    channel: `discord:${guild.id}:${war.id}`,
    /** Someone writes in the one thread on Slack, or begins it. */
    write(who: { id: string }, text: string) {
      const ts = slack.say(
        who,
        ops,
        typed(text),
        root === "" ? { mention: true } : { thread: root },
      );
      root ||= ts;
      return ts;
    },
    /** The same in its place on Discord. */
    writeThere(who: FakeUser, text: string, to: { replyTo?: string; mention?: boolean } = {}) {
      const there = thread();
      if (there === undefined) throw new Error("it is not mirrored");
      return discord.say(who, there, text, to);
    },
    /** The message there that shows this. */
    shownThere(part: string) {
      const messages = discord.messages(thread() ?? war);
      return messages.find((message) => discord.textOf(message).includes(part))?.id ?? "";
    },
    place: () => `discord:${guild.id}:${thread()?.id}` as const,
    here: () => slack.messages(ops, root).map((message) => slack.textOf(message)),
    there() {
      const found = thread();
      const messages = found === undefined ? [] : discord.messages(found);
      return messages.map((message) => discord.textOf(message).replaceAll("\\", ""));
    },
    canPress: (action: string) =>
      slack
        .messages(ops, root)
        .some((message) =>
          slack.buttonsOf(message).some(({ actionId }) => actionId.includes(action)),
        ),
    async press(who: { id: string }, action: string, label = "Approve") {
      for (const message of slack.messages(ops, root).toReversed()) {
        const found = slack
          .buttonsOf(message)
          .find((each) => each.label === label && each.actionId.includes(action));
        if (found !== undefined) return slack.press(who, ops, message.ts, found.actionId);
      }
      throw new Error(`no ${label} of ${action} on Slack`);
    },
    async pressThere(who: FakeUser, action: string, label = "Approve") {
      for (const message of discord.messages(thread() ?? war).toReversed()) {
        const found = discord
          .buttonsOf(message)
          .find((each) => each.label === label && each.customId.includes(action));
        if (found !== undefined) return discord.press(who, message.id, found.customId);
      }
      throw new Error(`no ${label} of ${action} on Discord`);
    },
    markThere(who: FakeUser, text: string) {
      const found = discord
        .messages(thread() ?? war)
        .find((each) => discord.textOf(each).replaceAll("\\", "").includes(text));
      discord.mark(who, found?.id ?? "", "📌");
    },
    toldThere: (who: FakeUser) => discord.ephemerals(who).map((message) => discord.textOf(message)),
    entries: (bot: Bot) => bot.journal.read(`slack:${slack.team.id}:${ops.id}:${root}`),
    async votes(bot: Bot) {
      const entries = await chats.entries(bot);
      return entries.flatMap((entry) => (entry.kind === "vote" ? [entry] : []));
    },
    /** Ana asks for it and Bob approves. */
    async mirror() {
      chats.write(ana, `mirror to ${chats.channel}`);
      await until(() =>
        chats.here().some((text) => text.includes("Show this thread on Discord too?")),
      );
      expect(chats.here().join()).toContain("except ana");
      await chats.press(bob, "a1");
      await until(() => chats.there().length > 0);
    },
  };
  return chats;
}

const has = (texts: readonly string[], part: string) => texts.filter((text) => text.includes(part));
const command = (file: string) => `run run_command argv='["/usr/bin/touch","${file}"]'`;

test("a thread is shown on Slack and Discord: what people say is quoted, cards are decided in either, and one person counts once", async () => {
  const chats = await openChats();
  const { ana, bob, anaThere, dora } = chats.people;
  const { here, there } = chats;
  let isCut = false;
  const bot = await chats.start((adapter) => ({
    ...adapter,
    async open(...asked) {
      const key = await adapter.open(...asked);
      if (!isCut) return key;
      isCut = false;
      throw new Error("cut off");
    },
  }));
  onTestFinished(() => bot.stop());
  await chats.mirror();
  // Whoever asked elsewhere is told in both places how it went.
  await until(() => has(there(), "is shown in #war-room on Discord too").length === 1);

  const said = chats.write(bob, "is web-1 *well* <!channel> @everyone?");
  await until(() => has(there(), "bob on Slack:").length === 1);
  expect(has(there(), "bob on Slack:")[0]).toContain("> is web-1 *well* <!channel> @");
  const saidThere = chats.writeThere(dora, "it looks slow to me <@&1>");
  await until(() => has(here(), "dora on Discord:").length === 1);
  // A reply to such a quote is to whom it quotes: nobody answers it but them, unless it mentions the bot.
  const quotes = { replyTo: chats.shownThere("bob on Slack:") };
  const replies = [
    chats.writeThere(dora, "ah, so it was the disk", quotes),
    chats.writeThere(dora, "was it the disk?", { ...quotes, mention: true }),
  ].map((id) => `msg:${id}`);
  await until(() => has(here(), "was it the disk?").length === 1);
  const replied = (await chats.entries(bot)).filter(({ id }) => replies.includes(id));
  const others = [{ account: `slack:${chats.slack.team.id}:${bob.id}`, at: "reply" }];
  expect(replied).toMatchObject([{ address: { others } }, { address: { bot: true, others } }]);
  expect(replied[0]).not.toHaveProperty("address.bot");
  // Read again after an absence, what was said there is known; an incident's buttons find it there too.
  expect(await bot.queries.isPosted(chats.place(), `msg:${saidThere}`)).toBe(true);
  chats.writeThere(dora, `incident open "Checkout fails" severity=sev2`);
  await until(() => has(there(), "sev2 · open").length === 1);
  expect(await bot.queries.incident(chats.place())).toMatchObject({ title: "Checkout fails" });
  chats.slack.edit(bob, chats.ops, said, "is web-2 well?");
  await until(() => has(there(), "> is web-2 well?").length === 1);
  chats.slack.remove(bob, chats.ops, said);
  await until(() => has(there(), "bob on Slack:").length === 0);

  // Its incident's card stands in both, and is pressed in either.
  chats.write(bob, 'incident open "web is slow"');
  await until(() => has(there(), "web is slow").length > 1);
  await chats.pressThere(dora, "incident-resolve", "Resolve…");
  expect(chats.discord.modals(dora)).toHaveLength(1);

  // A message is pinned in either, once; what its author changes or takes away is so in the timeline too.
  const clue = chats.write(bob, "db-1 has 40 connections");
  await until(() => has(there(), "> db-1 has 40").length === 1);
  chats.markThere(dora, "> db-1 has 40");
  await until(() => has(here(), 'dora: 📌 bob: "db-1 has 40 ').length === 1);
  chats.slack.mark(ana, chats.ops, clue, "pushpin");
  chats.slack.edit(bob, chats.ops, clue, "db-1 has 400 connections <!here>");
  await until(() => has(here(), 'dora: 📌 bob: "(edited) db-1 has 400 ').length === 1);
  await until(() => has(there(), 'dora: 📌 bob: "(edited) db-1 has 400 ').length === 1);
  chats.slack.remove(bob, chats.ops, clue);
  await until(() => has(there(), 'dora: 📌 bob: "(removed)"').length === 1);
  await until(() => has(here(), 'dora: 📌 bob: "(removed)"').length === 1);
  expect([...here(), ...there()].join("\n")).not.toMatch(/db-1|> 📌/);

  // Asked for on Discord, decided on Slack: Ana's two accounts are one vote.
  const file = join(chats.folder, "made");
  chats.writeThere(dora, command(file));
  await until(() => has(here(), "#ops or #war-room").length > 0);
  await until(() => has(there(), "#ops or #war-room").length > 0);
  await chats.press(ana, "a2");
  await until(() => has(there(), "approved by ana").length > 0);
  await chats.pressThere(anaThere, "a2");
  await until(() => chats.toldThere(anaThere).some((text) => text.includes("You've approved a2")));
  expect(existsSync(file)).toBe(false);
  await chats.press(bob, "a2");
  await until(() => existsSync(file));
  await until(
    () => has(there(), "approved by ana (@ana").length > 0 && has(there(), "bob").length > 0,
  );
  expect((await chats.votes(bot)).map(({ account, person }) => [account, person])).toEqual([
    [expect.stringContaining("slack:"), "person:Bob"],
    [expect.stringContaining("slack:"), "person:Ana"],
    [expect.stringContaining("slack:"), "person:Bob"],
  ]);

  // What Ana asks for on Slack she can't approve on Discord, where it takes somebody else.
  const other = join(chats.folder, "other");
  chats.write(ana, command(other));
  await until(() => has(there(), other).length > 1);
  await chats.pressThere(anaThere, "a3");
  await until(() => chats.toldThere(anaThere).some((text) => text.includes("asked for")));
  await chats.pressThere(dora, "a3", "Deny…").catch(() => undefined);
  chats.writeThere(dora, "deny a3");
  await until(() => has(here(), "dora").some((text) => text.includes("a3")));
  expect(existsSync(other)).toBe(false);

  // Whoever writes there is known as their own platform knows them.
  chats.writeThere(dora, "whoami");
  await until(() => has(there(), "In #war-room you are a full member.").length === 1);
  await until(() => has(here(), `You are dora: discord:${dora.id}.`).length === 1);

  // It ends with a word there; whoever writes on is told where it goes on.
  chats.write(bob, "unmirror");
  await until(() => has(there(), "goes on in Slack:").length === 1);
  chats.writeThere(dora, "hello? still there?");
  await until(() => has(there(), "goes on in Slack:").length === 2);
  chats.write(bob, "nobody reads this there");
  chats.write(bob, "help");
  await until(() => has(here(), "Type a command").length > 0);
  expect(has(there(), "nobody reads this")).toEqual([]);
  expect(has(here(), "hello? still there?")).toEqual([]);

  // A private channel has no name for who isn't in it, and takes somebody who is.
  const secret = chats.discord.addChannel(chats.guild, { name: "secret", visibleTo: [dora] });
  chats.write(ana, `mirror to discord:${chats.guild.id}:${secret.id}`);
  const asked = () => has(here(), "Show this thread on Discord too?").at(-1) ?? "";
  await until(() => asked().includes(secret.id));
  await chats.press(bob, "approve:");
  await until(() => has(here(), "That channel is private").length > 0);
  expect(chats.discord.messages(secret)).toEqual([]);
  expect(has(here(), "#secret")).toEqual([]);

  // What was begun there and cut off is found when it is asked for again.
  isCut = true;
  for (const outcome of ["cut off", "is shown in #war-room on Discord too"]) {
    const before = has(here(), outcome).length;
    chats.write(ana, `mirror to ${chats.channel}`);
    await until(() => asked().includes("#war-room") && chats.canPress("approve:"));
    await chats.press(bob, "approve:");
    await until(() => has(here(), outcome).length > before);
    expect(chats.discord.messages(chats.war)).toHaveLength(2);
  }

  // Its channel hears of an incident, not only the thread.
  chats.write(ana, 'incident open "Checkout fails <!channel>" severity=sev1');
  const inChannel = () => {
    const roots = chats.slack.messages(chats.ops).filter(({ thread_ts }) => !thread_ts);
    return roots.map((message) => chats.slack.textOf(message));
  };
  await until(() => has(inChannel(), "opened by ana as sev1").length === 1);
  expect(has(inChannel(), "opened by")[0]).toContain("/archives/");
  // It sees the card of a sev1, and of no other.
  const broadcast = () =>
    chats.slack
      .messages(chats.ops)
      .flatMap((each) => (each.subtype === "thread_broadcast" ? [chats.slack.textOf(each)] : []));
  await until(() => broadcast().length === 1);
  expect(broadcast()[0]).toContain("sev1 · open");
  // Nobody but those whom the program itself tells what became of their request.
  const pinged = [
    ...chats.slack.pings.map(({ what }) => what),
    ...chats.discord.pings.map(({ target }) => target),
  ];
  expect(new Set(pinged)).toEqual(new Set([`<@${ana.id}>`, dora.id]));
});

test("approvals lists this thread's first, then others' with links: public ones and those of the same private place", async () => {
  const chats = await openChats();
  const { slack, ops, people } = chats;
  const { ana, bob } = people;
  // Each needs two others.
  const cy = slack.addUser({ name: "cy" });
  slack.join(ops, cy);
  const secret = slack.addChannel({ name: "secret", isPrivate: true, members: [ana, bob, cy] });
  const gus = slack.addUser({ name: "gus", standing: "guest" });
  slack.join(ops, gus);
  const bot = await chats.start();
  onTestFinished(() => bot.stop());
  const shown = (channel: typeof ops, root: string) =>
    slack.messages(channel, root).map((message) => slack.textOf(message));
  const ask = async (who: typeof ana, channel: typeof ops, text: string, answer: string) => {
    const root = slack.say(who, channel, typed(text), { mention: true });
    await until(() => has(shown(channel, root).slice(1), answer).length > 0);
    return { root, text: has(shown(channel, root).slice(1), answer).at(-1) ?? "" };
  };
  const open = await ask(ana, ops, command(join(chats.folder, "open")), "Exactly what will run");
  const hidden = await ask(
    bob,
    secret,
    command(join(chats.folder, "hidden")),
    "Exactly what will run",
  );

  const here = await ask(bob, ops, "approvals", "In other threads");
  expect(here.text).toMatch(/^No open approvals in this thread\.\s+In other threads:/);
  expect(here.text).toMatch(/ · #ops · .* left \(a1\) https:/);
  expect(here.text).toContain(open.root.replace(".", ""));
  expect(here.text).not.toContain("#secret");

  const there = await ask(ana, secret, "approvals", "In other threads");
  expect(there.text).toContain(" · #ops · ");
  expect(there.text).toContain(" · #secret · ");
  slack.say(bob, secret, typed("approvals"), { thread: hidden.root });
  await until(() => has(shown(secret, hidden.root), "In other threads").length > 0);
  const [own = ""] = has(shown(secret, hidden.root), "In other threads");
  expect(own).toMatch(/^a1: .*`?approve a1/);
  expect(own).not.toContain("#secret");

  const guest = await ask(gus, ops, "approvals", "No open approvals");
  expect(guest.text).not.toContain("#ops");
});
