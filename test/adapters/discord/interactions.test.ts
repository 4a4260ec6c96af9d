import { afterEach, beforeEach, expect, test } from "vitest";
import { BotError } from "../../../src/core/errors.ts";
import type { JournalKey } from "../../../src/core/journal-key.ts";
import type { FakeChannel, FakeUser } from "../../fakes/discord/discord.ts";
import { answer, type Bot, cardOf, openBot, until } from "./harness.ts";

let bot: Bot;
let thread: FakeChannel;
let card: string;
beforeEach(async () => {
  bot = await openBot({ discord: { times: { responseMs: 2_600 } } });
  thread = await bot.begin();
  const key = bot.key(thread);
  bot.cards.set("a1", cardOf(key));
  card = await bot.view(thread).postCard(cardOf(key), { id: "a1", isRetry: false });
});
afterEach(() => bot.close());

async function press(label: string, { who = bot.bob, on = card } = {}) {
  const message = bot.discord.message(on);
  const button = message && bot.discord.buttonsOf(message).find((each) => each.label === label);
  return bot.discord.press(who, on, button?.customId ?? `no ${label}`);
}
const told = (who: FakeUser = bot.bob) =>
  bot.discord.ephemerals(who).map((each) => bot.discord.textOf(each));
const clicks = async (channel = thread) =>
  (await bot.entries(channel)).filter(
    // But for who has a form open.
    (entry) => entry.kind === "click" && entry.choice.kind !== "editing",
  );

/** What is logged as a warning or worse, but for the word on the server that a first start takes. */
function alarmsIn(log: readonly Record<string, unknown>[]): unknown[] {
  return log.filter(
    ({ level, msg }) => Number(level) > 30 && !String(msg).startsWith("no server is named"),
  );
}

test("a click is kept as that person's, in the thread it was made in, before it is acknowledged", async () => {
  const outcome = await press("Approve");
  expect(outcome).toMatchObject({ kind: "acked", how: "deferUpdate" });
  expect(await clicks()).toMatchObject([
    {
      id: `click:${outcome.interaction}`,
      actor: { account: `discord:${bot.bob.id}`, name: "bob" },
      action: "a1",
      revision: 1,
      choice: { kind: "approve" },
      via: "button",
      digest: "abababababab",
    },
  ]);
});

test("Undo on a card that is done is kept as that person's click, and goes with the card's next state", async () => {
  const done = { phase: "done", ending: "done in 3 ms" } as const;
  const key = bot.key(thread);
  await bot.view(thread).updateCard(card, cardOf(key, { ...done, undo: { state: "offered" } }));
  expect(await press("Undo")).toMatchObject({ kind: "acked", how: "deferUpdate" });
  expect(await clicks()).toMatchObject([
    { action: "a1", revision: 1, choice: { kind: "undo" }, digest: "abababababab" },
  ]);
  const undone = { state: "undone", by: "a2" } as const;
  await bot.view(thread).updateCard(card, cardOf(key, { ...done, undo: undone }));
  expect(bot.shown(thread)[0]).toContain("done in 3 ms · undone by a2");
  await expect(press("Undo")).rejects.toThrow("No button");
});

test("a click that could not be kept is not acknowledged as taken: its person alone is told to press again", async () => {
  bot.breakStore(1);
  expect(await press("Approve")).toMatchObject({ kind: "acked", how: "reply" });
  expect(await clicks()).toEqual([]);
  expect(told()).toEqual([expect.stringContaining("Couldn't record that")]);
  expect(await press("Approve")).toMatchObject({ how: "deferUpdate" });
  expect(await clicks()).toHaveLength(1);
});

test("a store that is too slow for Discord's 3 s is not waited for", async () => {
  bot.breakStore(1, new BotError("STORE_UNAVAILABLE", "late"), 2_700);
  const outcome = await press("Approve");
  expect(outcome).toMatchObject({ kind: "acked", how: "reply" });
  expect(told()).toEqual([expect.stringContaining("Press again")]);
});

test("a click counts where it was made: the thread comes from Discord, never from the button", async () => {
  const other = await bot.begin("restart db");
  const on = await bot.view(other).postCard(cardOf(bot.key(thread)), { id: "a1", isRetry: false });
  await press("Approve", { on });
  expect(await clicks()).toEqual([]);
  expect(await clicks(other)).toHaveLength(1);
});

test("of two processes that hear a click one acknowledges it, and it is kept once", async () => {
  await bot.replica();
  expect(await press("Approve")).toMatchObject({ kind: "acked", how: "deferUpdate" });
  const callbacks = () => bot.discord.calls.filter(({ route }) => route.includes("/callback"));
  await until(() => callbacks().length > 1);
  expect(callbacks().map(({ code }) => code)).toEqual(expect.arrayContaining([undefined, 40060]));
  expect(await clicks()).toHaveLength(1);
  expect(alarmsIn(bot.log)).toEqual([]);
});

test("Stop is kept as that person's", async () => {
  const begun = await bot.view(thread).openProgress?.({ id: "run:r1", isRetry: false }, []);
  expect(await press("Stop", { on: begun ?? "" })).toMatchObject({ how: "deferUpdate" });
  expect(await bot.entries(thread)).toContainEqual(
    expect.objectContaining({ kind: "stop", actor: expect.objectContaining({ name: "bob" }) }),
  );
});

test("a denial's reason is asked for in a form, and kept with it", async () => {
  expect(await press("Deny…")).toMatchObject({ how: "modal" });
  const [modal] = bot.discord.modals(bot.bob);
  const [input] = modal?.inputs ?? [];
  if (modal === undefined || input === undefined) throw new Error("no form");
  const outcome = await bot.discord.submit(bot.bob, modal, { [input.customId]: "peak hour" });
  expect(outcome).toMatchObject({ kind: "acked", how: "deferUpdate" });
  expect(await clicks()).toMatchObject([
    { id: `form:${outcome.interaction}`, choice: { kind: "deny", reason: "peak hour" } },
  ]);
});

test("what is pressed and sent in a direct message counts in the conversation whose message it is", async () => {
  const dm = bot.discord.openDm(bot.bob);
  const begun = bot.discord.say(bot.bob, dm, "new");
  const key: JournalKey = `discord:dm:${dm.id}:${begun}`;
  const posted = (to: JournalKey) =>
    bot.adapter.view(to)?.postCard(cardOf(to), { id: "a1", isRetry: false });
  const [later, earlier] = [await posted(key), await posted(bot.key(dm))];
  // Each is its a1, and the card of the earlier conversation came later.
  await press("Deny…", { on: later ?? "" });
  await press("Deny…", { on: earlier ?? "" });
  const reasons = ["of the new one", "of the first"];
  for (const [i, modal] of bot.discord.modals(bot.bob).entries()) {
    const [input] = modal.inputs;
    await bot.discord.submit(bot.bob, modal, { [input?.customId ?? ""]: reasons[i] ?? "" });
  }
  const kept = async (of: JournalKey) =>
    (await bot.journal.read(of)).filter(({ kind }) => kind === "click");
  expect(await kept(key)).toMatchObject([{ choice: { reason: "of the new one" } }]);
  expect(await kept(bot.key(dm))).toMatchObject([{ choice: { reason: "of the first" } }]);
});

test("an edit comes filled in; what does not fit is said, kept, and can be corrected from there", async () => {
  await press("Edit…");
  const [modal] = bot.discord.modals(bot.bob);
  const [input] = modal?.inputs ?? [];
  if (modal === undefined || input === undefined) throw new Error("no form");
  expect(input).toMatchObject({ label: "name", value: "web" });
  await bot.discord.submit(bot.bob, modal, { [input.customId]: "No ``` Service" });
  expect(told()).toEqual([expect.stringContaining("name: expected a service's name")]);
  expect(await clicks()).toEqual([]);
  const message = bot.discord.ephemerals(bot.bob).at(-1);
  const [button] = message === undefined ? [] : bot.discord.buttonsOf(message);
  expect(button?.label).toBe("Edit again…");
  await bot.discord.press(bot.bob, message?.id ?? "", button?.customId ?? "");
  const again = bot.discord.modals(bot.bob).at(-1);
  if (again === undefined) throw new Error("no form");
  expect(again.inputs[0]?.value).toBe("No ``` Service");
  await bot.discord.submit(bot.bob, again, { [input.customId]: "db" });
  expect(await clicks()).toMatchObject([{ choice: { kind: "edit", args: { name: "db" } } }]);
});

test("details are for whoever asked, whole also when they take several messages", async () => {
  const note = "word ".repeat(1_500);
  const preview = { lines: [{ label: "Diff", value: note }], blastRadius: "None.", undo: "None." };
  bot.cards.set("a1", cardOf(bot.key(thread), { preview }));
  await press("Details");
  await until(() => told().join("").length > note.length);
  expect(told()[0]).toContain('{"name":"web"}');
  expect(told(bot.ana)).toEqual([]);
  expect(bot.shown(thread)).toHaveLength(1);
});

test("what is pressed for an action that is not known any more is answered so", async () => {
  bot.cards.clear();
  expect(await press("Details")).toMatchObject({ how: "reply" });
  expect(await press("Edit…")).toMatchObject({ how: "reply" });
  expect(told()).toEqual(
    Array.from({ length: 2 }, () => expect.stringContaining("I don't know a1")),
  );
});

test("private words come under a click of that person's, and else as a direct message with the thread's address", async () => {
  const view = bot.view(thread);
  await press("Approve");
  await view.postPrivately(`discord:${bot.bob.id}`, "You may not approve this.");
  expect(told()).toEqual(["You may not approve this."]);
  await view.postPrivately(`discord:${bot.ana.id}`, "Only for you.");
  const dms = bot.discord.dms(bot.ana).map((each) => bot.discord.textOf(each));
  expect(dms).toEqual([expect.stringContaining("Only for you.")]);
  const link = bot.adapter.link(bot.key(thread)) ?? "none";
  expect(dms[0]).toContain(link);
  expect(bot.shown(thread)).toHaveLength(1);

  // What names the thread itself does not name it twice.
  await view.postPrivately(`discord:${bot.ana.id}`, `Look at ${link}.`);
  expect(bot.shown(bot.discord.openDm(bot.ana)).at(-1)?.split(link)).toHaveLength(2);
});

test("private words that are ready before Discord has the click's answer wait for it", async () => {
  bot.discord.fail("POST /interactions/:id/:token/callback", { delayMs: 150 });
  const outcome = press("Approve");
  await until(async () => (await clicks()).length > 0);
  await bot.view(thread).postPrivately(`discord:${bot.bob.id}`, "You may not approve this.");
  expect(await outcome).toMatchObject({ how: "deferUpdate" });
  expect(told()).toEqual(["You may not approve this."]);
});

test("private words for a person who takes no direct messages are said in the thread, by name and without a ping", async () => {
  const shy = bot.discord.addUser({ name: "shy", refusesDms: true });
  bot.discord.addMember(bot.guild, shy);
  await bot.view(thread).postPrivately(`discord:${shy.id}`, "You may not approve this.");
  expect(bot.shown(thread)[1]).toBe("shy: You may not approve this.");
});

test("private words whose click is too long ago come as a direct message", async () => {
  await press("Approve");
  bot.discord.fail("POST /webhooks/:app/:token", { status: 401, code: 50027 });
  await bot.view(thread).postPrivately(`discord:${bot.bob.id}`, "You may not approve this.");
  expect(told()).toEqual([]);
  expect(bot.discord.dms(bot.bob)).toHaveLength(1);
  // The bot's own token is still good after a 401.
  await bot.view(thread).post(answer("r1", "fine"), { id: "ended:r1", isRetry: false });
});

test("a click that Discord gave up on is kept all the same, once and without alarm", async () => {
  const hasty = await openBot({ discord: { times: { responseMs: 30 } } });
  try {
    const other = await hasty.begin();
    const key = hasty.key(other);
    const on = await hasty.view(other).postCard(cardOf(key), { id: "a1", isRetry: false });
    hasty.discord.latencyMs = 120;
    expect(await hasty.discord.press(hasty.bob, on, "wk:approve:a1:1:abababababab")).toMatchObject({
      kind: "failed",
    });
    await until(() => hasty.discord.calls.some(({ code }) => code === 10062));
    expect(await hasty.entries(other)).toContainEqual(expect.objectContaining({ kind: "click" }));
    expect(alarmsIn(hasty.log)).toEqual([]);
  } finally {
    await hasty.close();
  }
});

test("Save as eval below a model's answer is the command that keeps it, by whoever pressed", async () => {
  const said = { ...answer("r2", "CONFIRMED: down"), isModelRun: true, canSave: true as const };
  const on = await bot.view(thread).post(said, { id: "ended:r2", isRetry: false });
  expect(await press("Save as eval", { on })).toMatchObject({ kind: "acked" });
  expect((await bot.entries(thread)).at(-1)).toMatchObject({
    kind: "command",
    actor: { account: `discord:${bot.bob.id}`, name: "bob" },
    command: { name: "run", tool: "save_eval", args: { run: "r2" } },
  });
});
