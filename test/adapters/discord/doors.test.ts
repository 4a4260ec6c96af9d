import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { COMMANDS } from "../../../src/adapters/discord/command-definitions.ts";
import { BotError } from "../../../src/core/errors.ts";
import { type FakeChannel, PERMISSIONS } from "../../fakes/discord/discord.ts";
import { type Bot, type BotOptions, cardOf, openBot, until } from "./harness.ts";

let bot: Bot;
async function open(options: BotOptions = {}): Promise<void> {
  bot = await openBot(options);
  await until(() => bot.discord.commands.all.length === COMMANDS.length);
}
beforeEach(() => open());
afterEach(() => bot.close());

const INCIDENT = {
  title: "Checkout fails",
  severity: "sev1",
  startedAt: 0,
  thread: undefined,
  link: undefined,
};
const said = (who = bot.ana) =>
  bot.discord.ephemerals(who).map((each) => bot.discord.textOf(each).replaceAll("\\", ""));
const last = (who = bot.ana) => said(who).at(-1) ?? "";
/** Does it, and waits for what is told: on a busy machine Discord hears at first that it is awaited. */
async function answered<T>(act: () => Promise<T>, who = bot.ana): Promise<T> {
  const before = said(who).length;
  const outcome = await act();
  await until(() => said(who).length > before);
  return outcome;
}
const wk = (words: string, values = {}, who = bot.ana, where = bot.ops) =>
  answered(() => bot.discord.give(who, where, { words, values }), who);
const pick = (message: string, name: string, who = bot.ana) =>
  answered(() => bot.discord.pick(who, message, name), who);
const choices = (words: string, focused: string, typed = "", who = bot.ana) =>
  bot.discord.type(who, bot.ops, { words, focused, values: { [focused]: typed } });
const roots = (where = bot.ops) =>
  bot.discord.messages(where).filter(({ author }) => author === bot.discord.botUser);
function threadOf(message: string): FakeChannel {
  const thread = bot.discord.threadOf(message);
  if (thread === undefined) throw new Error("no thread was opened");
  return thread;
}
const rootThread = () => threadOf(roots()[0]?.id ?? "");
const creations = () =>
  bot.discord.calls.filter(
    ({ method, route }) => method === "POST" && route === "/applications/:application/commands",
  );

/** A thread in which an action waits for approval. */
async function waiting(action = "a1", changes = {}): Promise<FakeChannel> {
  const thread = await bot.begin("restart web");
  const key = bot.key(thread);
  bot.cards.set(action, cardOf(key, { action, ...changes }));
  const { thread: look } = bot.parts.queries;
  bot.parts.queries.thread = async (asked) => {
    const found = await look(asked);
    return found && asked === key ? { ...found, openActions: [action] } : found;
  };
  return thread;
}

describe("the commands", () => {
  test("are registered once, and again only where they changed", async () => {
    const known = { ok: true, text: "Discord has /wk and the message commands." };
    expect(await bot.adapter.examine()).toContainEqual(known);
    Object.assign(bot.discord.commands.all[0] ?? {}, { description: "Of an earlier version" });
    const before = creations().length;
    await bot.replica();
    await until(() => creations().length > before);
    expect(creations().at(-1)?.body).toMatchObject({ name: "wk" });
    expect(await bot.adapter.examine()).toContainEqual(known);
    expect(bot.discord.commands.created).toBe(COMMANDS.length);
  });

  test.each([
    [400, 30034, "made too often today"],
    [400, 30032, "delete some of the others"],
    [403, 50001, "can't see this channel"],
  ])("that Discord refuses (%i, %i) cost only themselves: %s", async (status, code, words) => {
    await bot.close();
    bot = await openBot({ start: false });
    bot.discord.fail("POST /applications/:application/commands", { status, code });
    await bot.adapter.start(bot.parts);
    await until(() => bot.log.some(({ msg }) => String(msg).startsWith("the commands could not")));
    expect(JSON.stringify(bot.log)).toContain(words);
    await bot.begin();
  });

  test("from a server that is not served are refused in words", async () => {
    const other = bot.discord.addGuild({ name: "Elsewhere" });
    bot.discord.addMember(other, bot.ana);
    const lobby = bot.discord.addChannel(other, { name: "lobby" });
    await wk("status", {}, bot.ana, lobby);
    expect(last()).toBe("I only answer members of the servers that I serve.");
  });
});

describe("/wk", () => {
  test("ask opens a thread, and is acknowledged once the journal has it", async () => {
    const outcome = await wk("ask", { question: "why is web slow?", about: "prometheus" });
    expect(outcome).toMatchObject({ kind: "acked" });
    expect(bot.shown(bot.ops)).toEqual(["ana: why is web slow? (about prometheus)"]);
    expect(rootThread().name).toBe("why is web slow? (about prometheus)");
    expect(await bot.texts(rootThread())).toEqual(["why is web slow? (about prometheus)"]);
    expect(last()).toContain("in the thread");
    bot.discord.say(bot.bob, rootThread(), "since noon");
    await until(async () => (await bot.texts(rootThread())).length === 2);
  });

  test("ask in a thread, and in a direct message, goes on there", async () => {
    const thread = await bot.begin();
    await wk("ask", { question: "and the database?" }, bot.ana, thread);
    expect(await bot.texts(thread)).toEqual(["is web well?", "and the database?"]);
    const dm = bot.discord.openDm(bot.ana);
    await wk("ask", { question: "how are you?" }, bot.ana, dm);
    expect(await bot.texts(dm)).toEqual(["how are you?"]);
    expect(last()).toBe("I'm on it; the answer comes here.");
  });

  test("of several processes that hear it one thread comes, and nothing typed pings or shows a secret", async () => {
    await bot.replica();
    await wk("ask", { question: "@everyone is hunter2-held the password?" });
    await until(() => bot.discord.calls.filter(({ route }) => /callback/.test(route)).length > 1);
    await until(async () => (await bot.texts(rootThread())).length > 0);
    expect(roots()).toHaveLength(1);
    expect(bot.shown(bot.ops)[0]).toContain(String.raw`is \[secret\] the password?`);
    expect(await bot.entries(rootThread())).toHaveLength(1);
  });

  test("incident open, update and resolve are commands as they would be typed, whatever is in them", async () => {
    await wk("incident open", { title: 'Checkout "v2" fails severity=sev4', severity: "sev1" });
    expect(rootThread().name).toBe('Checkout "v2" fails severity=sev4');
    const [opened] = await bot.entries(rootThread());
    expect(opened).toMatchObject({
      kind: "command",
      command: {
        tool: "incident_open",
        args: { title: 'Checkout "v2" fails severity=sev4', severity: "sev1" },
      },
    });
    bot.incidents.push({ ...INCIDENT, id: "inc-20261123-aaaa" });
    await wk("incident update", { incident: "inc-20261123-aaaa", note: 'said "no" \\ left' });
    await wk("incident resolve", { incident: "inc-20261123-aaaa", cause: "a disk" });
    const commands = await Promise.all(
      roots().map(async ({ id }) => (await bot.entries(threadOf(id)))[0]),
    );
    const id = "inc-20261123-aaaa";
    expect(commands.slice(1)).toMatchObject([
      { command: { tool: "incident_update", args: { id, note: 'said "no" \\ left' } } },
      { command: { tool: "incident_resolve", args: { id, cause: "a disk" } } },
    ]);
    const home = rootThread();
    bot.incidents.push({ ...INCIDENT, id: "inc-20261123-aaac", thread: bot.key(home) });
    const before = roots().length;
    await wk("incident update", { incident: "inc-20261123-aaac", note: "db is back" });
    expect(last()).toContain(`Its card shows it, its thread what goes wrong: <https:`);
    expect((await bot.entries(home)).at(-1)).toMatchObject({
      id: expect.stringMatching(/door:/),
      command: { tool: "incident_update", args: { id: "inc-20261123-aaac", note: "db is back" } },
    });
    expect(roots()).toHaveLength(before);
    await wk("incident resolve", { incident: "inc-20261123-aaab" });
    expect(last()).toContain("Did you mean inc-20261123-aaaa? Nothing was started.");
  });

  test("status, approvals and incidents are for that person alone, and only what they may see", async () => {
    bot.discord.overwrite(bot.ops, bot.bob, { deny: PERMISSIONS.viewChannel });
    const thread = await waiting("a1", { host: "web-1" });
    await wk("status");
    expect(last()).toContain("Model: none\nTools: 1 tool\nHost: web-1\n\nWaiting for approval:");
    await wk("approvals");
    expect(last()).toMatch(/restart_service on web-1 · #ops · .*left \(a1\) <https:/);
    expect(last()).toContain(thread.id);
    const lobby = bot.discord.addChannel(bot.guild, { name: "lobby" });
    await wk("approvals", {}, bot.bob, lobby);
    expect(last(bot.bob)).toBe("Nothing waits for approval.");
    bot.incidents.push({ ...INCIDENT, id: "inc-20261123-aaaa" });
    await wk("incidents", {}, bot.ana, bot.discord.openDm(bot.ana));
    expect(last()).toContain("sev1 · Checkout fails");
    expect(roots()).toEqual([]);
  });

  test("approvals shows one with its details; for one that there is not it says which is meant", async () => {
    const thread = await waiting();
    const [choice] = (await choices("approvals", "action", "RESTART")) ?? [];
    expect(choice).toMatchObject({ value: `${bot.key(thread)} a1` });
    await wk("approvals", { action: choice?.value ?? "" });
    expect(said().join("\n")).toContain('{"name":"web"}');
    expect(last()).toContain(`/${bot.guild.id}/${thread.id}`);
    await wk("approvals", { action: "a9" });
    expect(last()).toContain("Did you mean a1?");
  });

  test("what can be chosen is at most 25, at most 100 characters, and what fits to what is typed", async () => {
    for (let i = 0; i < 40; i += 1)
      bot.incidents.push({ ...INCIDENT, id: `inc-20261123-a${i}`, title: "x".repeat(300) });
    expect(await choices("incident update", "incident")).toHaveLength(25);
    expect(await choices("incident update", "incident", "a39")).toMatchObject([
      { value: "inc-20261123-a39" },
    ]);
    expect(await choices("ask", "about", "prom")).toEqual([
      { name: "prometheus", value: "prometheus" },
    ]);
    bot.discord.fail("GET /guilds/:guild/members/:user", { status: 500 });
    expect(await choices("incident update", "incident", "", bot.bob)).toEqual([]);
  });

  test("a store that does not answer leaves the thread with a note, and it is recorded later", async () => {
    bot.breakStore(1);
    await wk("ask", { question: "why?" });
    expect(last()).toContain("I can't reach my database");
    await until(async () => (await bot.texts(rootThread())).length === 1);
    await until(() => bot.shown(rootThread()).length === 0);
  });

  test("a slow store is awaited before Discord's eyes, and then it is said how that went", async () => {
    bot.breakStore(1, new BotError("STORE_UNAVAILABLE", "late"), 900);
    expect(await wk("ask", { question: "why?" })).toMatchObject({ kind: "acked", how: "defer" });
    expect(last()).toContain("I can't reach my database");
  });

  test("where they or the bot can't write, or there are no threads, nothing stays and they are told", async () => {
    bot.discord.overwrite(bot.ops, bot.bob, { deny: PERMISSIONS.sendMessages });
    await wk("ask", { question: "why?" }, bot.bob);
    expect(last(bot.bob)).toContain("You can't write here");
    bot.discord.overwrite(bot.ops, bot.discord.botUser, { deny: PERMISSIONS.createPublicThreads });
    await wk("ask", { question: "why?" });
    expect(last()).toContain('I lack "Create Public Threads" here.');
    bot.discord.overwrite(bot.ops, bot.discord.botUser, { allow: PERMISSIONS.createPublicThreads });
    bot.discord.fail("POST /channels/:channel/messages/:message/threads", {
      status: 400,
      code: 160006,
    });
    await wk("ask", { question: "why?" });
    expect(last()).toContain("I can't open a thread here");
    expect(roots()).toEqual([]);
  });
});

describe("a message's menu", () => {
  test("Investigate names the thread after what is shown, and in a thread it names the message", async () => {
    const pager = bot.discord.addUser({ name: "Pager", bot: true });
    const embeds = [{ title: "[FIRING] web is slow, run x" }];
    const alert = bot.discord.say(pager, bot.ops, "", { webhook: true, embeds });
    expect(await pick(alert, "Investigate")).toMatchObject({ kind: "acked" });
    const thread = threadOf(alert);
    expect(thread.name).toBe("[FIRING] web is slow, run x");
    const [entry] = await bot.entries(thread);
    expect(await bot.view(thread).earlier?.(entry?.id ?? "")).toEqual({
      messages: [
        expect.objectContaining({ account: undefined, text: "[FIRING] web is slow, run x" }),
      ],
    });
    const reply = bot.discord.say(bot.bob, thread, "is it over?");
    await bot.discord.pick(bot.bob, reply, "Investigate");
    const asked = (await bot.texts(thread)).filter((text) => text.startsWith("Investigate the"));
    expect(asked).toEqual([
      expect.stringMatching(/^Investigate the message of .* in this thread\.$/),
    ]);
  });

  test("on what can have no thread it says why, to that person alone", async () => {
    const joined = bot.discord.say(bot.bob, bot.ops, "joined", { system: true });
    await pick(joined, "Investigate");
    expect(last()).toContain("one of Discord's own messages");
    bot.discord.overwrite(bot.ops, bot.discord.botUser, { deny: PERMISSIONS.viewChannel });
    const hidden = bot.discord.say(bot.bob, bot.ops, "hm");
    await pick(hidden, "Investigate");
    expect(last()).toContain('I lack "View Channels"');
    expect(roots()).toEqual([]);
  });
});

describe("a post in a forum", () => {
  const forum = () => bot.discord.addChannel(bot.guild, { name: "help", isForum: true });
  const mention = () => `<@${bot.discord.botUser.id}>`;
  const readAbove = async (thread: FakeChannel) => {
    const entry = (await bot.entries(thread)).at(-1);
    return bot.view(thread).earlier?.(entry?.id ?? "");
  };

  test("that mentions it is its thread, and its title is read", async () => {
    const post = bot.discord.post(bot.ana, forum(), "Checkout is down", `${mention()} why?`);
    await until(async () => (await bot.texts(post)).length === 1);
    expect(await bot.texts(post)).toEqual(["why?"]);
    expect(await readAbove(post)).toEqual({
      messages: [
        expect.objectContaining({
          text: "Title of this post: Checkout is down",
          name: "ana",
          account: `discord:${bot.ana.id}`,
        }),
      ],
    });
    bot.discord.say(bot.bob, post, "since noon");
    await until(async () => (await bot.texts(post)).length === 2);
  });

  test("in which it is mentioned later is read from its title and first message on, however long it is", async () => {
    const post = bot.discord.post(bot.bob, forum(), "Slow", "p99 is 4 s");
    for (let i = 0; i < 60; i += 1) bot.discord.say(bot.bob, post, `line ${i}`);
    bot.discord.say(bot.ana, post, "why?", { mention: true });
    await until(async () => (await bot.texts(post)).length === 1);
    const texts = (await readAbove(post))?.messages.map(({ text }) => text) ?? [];
    expect(texts.slice(0, 2)).toEqual(["Title of this post: Slow", "p99 is 4 s"]);
    expect(texts.at(-1)).toBe("line 59");
    expect(texts).toHaveLength(51);
  });
});

test("a mention of the role that Discord made for the bot is one of the bot", async () => {
  const own = [...bot.guild.roles.values()].find(({ botId }) => botId !== undefined);
  const other = bot.discord.addRole(bot.guild, { name: "Watchkeeper" });
  bot.discord.say(bot.ana, bot.ops, `<@&${other.id}> is db well?`);
  const asked = bot.discord.say(bot.ana, bot.ops, `<@&${own?.id}> is web well?`);
  await until(() => bot.discord.threadOf(asked) !== undefined);
  await until(async () => (await bot.texts(threadOf(asked))).length === 1);
  expect(await bot.entries(threadOf(asked))).toMatchObject([
    { text: "is web well?", address: { bot: true } },
  ]);
  expect(bot.discord.calls.filter(({ route }) => route.endsWith("/threads"))).toHaveLength(1);
});

test("the owner of a served server that it is added to is told once, alone, what it does there", async () => {
  await bot.close();
  const id = "1100000000000000001";
  bot = await openBot({ guilds: (_, own) => [own.id, id] });
  await bot.replica();
  bot.discord.addGuild({ id, name: "Shop" });
  const told = () => bot.discord.dms(bot.discord.owner).map((each) => bot.discord.textOf(each));
  await until(() => told().length > 0);
  await until(
    () => bot.discord.calls.filter(({ route }) => route === "/users/@me/channels").length === 2,
  );
  expect(told()).toEqual([expect.stringContaining("Thanks for adding me to Shop")]);
});
