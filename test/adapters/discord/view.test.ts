import { setTimeout as sleep } from "node:timers/promises";
import { MessageFlags } from "discord.js";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { View } from "../../../src/adapters/view.ts";
import { type FakeChannel, PERMISSIONS } from "../../fakes/discord/discord.ts";
import { answer, type Bot, cardOf, holds, openBot, until } from "./harness.ts";

let bot: Bot;
let thread: FakeChannel;
let view: View;
beforeEach(async () => {
  bot = await openBot({ discord: { oldEdits: 1, times: { nonceMs: 40 } } });
  thread = await bot.begin();
  view = bot.view(thread);
});
afterEach(() => bot.close());

const POST = "POST /channels/:channel/messages";
const first = (id: string) => ({ id, isRetry: false });
const again = (id: string) => ({ id, isRetry: true });
const sent = (method: string) => bot.discord.calls.filter((call) => call.method === method);
const long = Array.from({ length: 400 }, (_, i) => `finding number ${i} of many`).join("\n");

test("a long answer is several messages in order, one reference, and taken back whole", async () => {
  const ref = await view.post(answer("r1", long), first("ended:r1"));
  expect(ref.split(",")).toHaveLength(bot.shown(thread).length);
  expect(bot.shown(thread).length).toBeGreaterThan(2);
  const numbers = [
    ...bot
      .shown(thread)
      .join("\n")
      .matchAll(/number (\d+)/g),
  ].map(([, n]) => Number(n));
  expect(numbers).toEqual(Array.from({ length: 400 }, (_, i) => i));
  await view.delete(ref);
  await view.delete(ref);
  expect(bot.shown(thread)).toEqual([]);
});

test("every message is marked as no ping, and carries a nonce that Discord enforces", async () => {
  await view.post(
    answer("r1", `@everyone <@${bot.bob.id}> <@&${bot.guild.id}>`),
    first("ended:r1"),
  );
  await view.postCard(cardOf(bot.key(thread)), first("a1"));
  const bodies = sent("POST").flatMap(({ route, body }) =>
    route.endsWith("/messages") ? [body] : [],
  );
  expect(bodies.length).toBe(2);
  for (const body of bodies) {
    expect(body).toMatchObject({
      allowed_mentions: { parse: [] },
      enforce_nonce: true,
      nonce: expect.stringMatching(/^[\w-]{10,25}$/),
    });
  }
});

test("only whom the program names is notified: by a card once, and by a reminder", async () => {
  const role = "112233445566778899";
  const mentions = [`discord:role:${role}`, `discord:${bot.bob.id}`, "slack:T1:U1"];
  const words = `<@${bot.ana.id}> @everyone`;
  const card = cardOf(bot.key(thread), { mentions, reason: words });
  const ref = await view.postCard(card, first("a1"));
  await view.updateCard(ref, { ...card, editing: "Bob" });
  const pinged = () => bot.discord.pings.map(({ target }) => target);
  expect(pinged()).toEqual([bot.bob.id, role]);
  const notice = { kind: "notice" as const, settles: undefined, asks: undefined, holds: [] };
  const text = `a1 expires in 9 minutes. ${words}`;
  await view.post({ ...notice, text, mentions }, first("expiring:a1"));
  expect(pinged()).toEqual([bot.bob.id, role, bot.bob.id, role]);
  const bodies = sent("POST").filter(({ route }) => route.endsWith("/messages"));
  const exactly = { parse: [], users: [bot.bob.id], roles: [role], replied_user: false };
  for (const { body } of bodies) expect(body).toMatchObject({ allowed_mentions: exactly });
  // Whatever is left is nobody's intention.
  bot.discord.pings.splice(0);
});

test("a delivery whose answer was cut off is found again, within minutes and long after", async () => {
  for (const waitMs of [0, 50]) {
    const id = `ended:r${waitMs}`;
    bot.discord.fail(POST, { cutAfterCarryingOut: true });
    await expect(view.post(answer("r1", `well ${waitMs}`), first(id))).rejects.toMatchObject({
      code: "PLATFORM_UNREACHABLE",
    });
    await sleep(waitMs);
    const ref = await view.post(answer("r1", `well ${waitMs}`), again(id));
    expect(bot.discord.messages(thread).at(-1)?.id).toBe(ref);
  }
  expect(bot.shown(thread)).toEqual(["well 0", "well 50"]);
});

test("a delivery that broke off in the middle goes on where it ended", async () => {
  bot.discord.fail(POST, { status: 500, times: 1 });
  const ref = view.post(answer("r1", long), first("ended:r1"));
  await expect(ref).rejects.toMatchObject({ code: "PLATFORM_UNREACHABLE" });
  bot.discord.mend();
  await view.post(answer("r1", long), first("ended:r1"));
  const whole = bot.shown(thread);
  await sleep(50);
  await view.post(answer("r1", long), again("ended:r1"));
  expect(bot.shown(thread)).toEqual(whole);
});

test("two deliveries of the same words are two messages, also when one is repeated", async () => {
  const one = await view.post(answer("r1", "Done."), first("ended:r1"));
  const two = await view.post(answer("r2", "Done."), again("ended:r2"));
  expect(one).not.toBe(two);
  expect(await view.post(answer("r1", "Done."), again("ended:r1"))).toBe(one);
  expect(bot.shown(thread)).toHaveLength(2);
});

test("a run is followed in a message that notifies nobody, and answered in a new one", async () => {
  const ref = await view.openProgress?.(first("run:r1"), [
    { kind: "tool_started", call: "r1.t1", tool: "http", args: {} },
  ]);
  expect(bot.shown(thread)).toEqual([expect.stringContaining("http")]);
  const silent = (id: string) =>
    ((bot.discord.message(id)?.flags ?? 0) & MessageFlags.SuppressNotifications) !== 0;
  expect(silent(ref ?? "")).toBe(true);
  await view.delete(ref ?? "");
  expect(silent(await view.post(answer("r1", "All is well."), first("ended:r1")))).toBe(false);
  expect(bot.shown(thread)).toEqual(["All is well."]);
});

test("typing is shown within a second while a run is at work, and not before a quick answer", async () => {
  const typed = () => bot.discord.typing.some(({ channelId }) => channelId === thread.id);
  view.progress({ kind: "thinking", run: "r1", step: 1 });
  await view.post(answer("r1", "quick"), first("ended:r1"));
  await holds(() => !typed(), 600);
  expect(typed()).toBe(false);
  view.progress({ kind: "thinking", run: "r2", step: 1 });
  await until(typed);
  expect(typed()).toBe(true);
});

test("progress is edited in, the newest state, at most every 1.2 s, and never over the answer", async () => {
  const ref = (await view.openProgress?.(first("run:r1"), [])) ?? "";
  const begunAt = performance.now();
  for (let i = 1; i <= 20; i += 1) {
    view.progress({ kind: "tool_started", call: `r1.t${i}`, tool: `tool${i}`, args: {} }, ref);
  }
  await until(() => bot.shown(thread)[0]?.includes("tool20") === true);
  expect(bot.shown(thread)).toEqual([expect.stringContaining("tool20")]);
  expect(sent("PATCH")).toHaveLength(1);
  expect(performance.now() - begunAt).toBeGreaterThan(1_100);
  view.progress({ kind: "draft", run: "r1", text: "so far" }, ref);
  await view.delete(ref);
  await view.post(answer("r1", "All is well."), first("ended:r1"));
  view.progress({ kind: "draft", run: "r1", text: "late" }, ref);
  // One for the tools; the drafts' would come within 1.2 s.
  await holds(() => sent("PATCH").length <= 1, 1_300);
  expect(bot.shown(thread)).toEqual(["All is well."]);
});

test("an archived thread is opened again for whatever is to be shown in it", async () => {
  const card = await view.postCard(cardOf(bot.key(thread)), first("a1"));
  for (const act of [
    () => view.post(answer("r1", "well"), first("ended:r1")),
    () =>
      view.updateCard(card, cardOf(bot.key(thread), { phase: "denied", ending: "denied by Bob" })),
  ]) {
    bot.discord.archive(thread);
    await act();
    expect(thread.thread?.archived).toBe(false);
  }
  bot.discord.archive(thread);
  await view.delete(card);
  expect(bot.shown(thread)).toEqual(["well"]);
});

test("where nothing can be shown the refusal says what to do", async () => {
  bot.discord.archive(thread, { locked: true });
  await expect(view.post(answer("r1", "x"), first("ended:r1"))).rejects.toMatchObject({
    code: "PLATFORM_REFUSED",
    message: expect.stringContaining("unlock"),
  });
  const other = await bot.begin("another");
  bot.discord.overwrite(bot.ops, bot.discord.botUser, { deny: PERMISSIONS.sendMessagesInThreads });
  await expect(bot.view(other).post(answer("r1", "x"), first("ended:r1"))).rejects.toMatchObject({
    code: "PLATFORM_REFUSED",
    message: expect.stringContaining("invite link"),
  });
  bot.discord.removeChannel(other);
  await expect(bot.view(other).post(answer("r1", "x"), first("ended:r1"))).rejects.toMatchObject({
    code: "PLATFORM_REFUSED",
    message: expect.stringContaining("gone"),
  });
});

test("a card that somebody deleted does not hold anything up", async () => {
  const card = await view.postCard(cardOf(bot.key(thread)), first("a1"));
  bot.discord.remove(card);
  await view.updateCard(card, cardOf(bot.key(thread), { phase: "done", ending: "done" }));
  expect(bot.shown(thread)).toEqual([]);
});

test("a card has its buttons until it is decided, and then only its details", async () => {
  const card = await view.postCard(cardOf(bot.key(thread)), first("a1"));
  const labels = () => {
    const message = bot.discord.message(card);
    return message && bot.discord.buttonsOf(message).map(({ label }) => label);
  };
  expect(labels()).toEqual(["Approve", "Deny…", "Edit…", "Details", "Withdraw"]);
  await view.updateCard(
    card,
    cardOf(bot.key(thread), { phase: "denied", ending: "denied by Bob" }),
  );
  expect(labels()).toEqual(["Details"]);
});

test("only addresses within the same server are links", async () => {
  const here = `https://discord.com/channels/${bot.guild.id}/1`;
  const text = `${here} https://discord.com/channels/1/2 https://evil.test/${bot.guild.id}`;
  await view.post({ ...answer("r1", text), talk: true } as never, first("ended:r1"));
  expect(bot.shown(thread)[0]).toContain(`<${here}>`);
  expect(bot.shown(thread)[0]).not.toContain("<https://discord.com/channels/1/2>");
  expect(bot.shown(thread)[0]).not.toContain("<https://evil");
});

test("Discord's limits only slow a long answer down", async () => {
  const limited = await openBot({ discord: { limits: true, times: { windowMs: 200 } } });
  try {
    const other = await limited.begin();
    const text = Array.from({ length: 1_200 }, (_, i) => `finding number ${i} of many`).join("\n");
    await limited.view(other).post(answer("r1", text), first("ended:r1"));
    const shown = limited.shown(other);
    expect(shown.length).toBeGreaterThan(7);
    const numbers = [...shown.join("\n").matchAll(/number (\d+)/g)].map(([, n]) => Number(n));
    expect(numbers).toEqual(Array.from({ length: 1_200 }, (_, i) => i));
  } finally {
    await limited.close();
  }
});

test("progress that a process began and died with goes when the answer comes by another", async () => {
  await view.openProgress?.(first("begun:r1"), []);
  expect(bot.shown(thread)).toHaveLength(1);
  await view.post(answer("r1", "all is well"), { ...again("ended:r1"), orphan: "begun:r1" });
  expect(bot.shown(thread)).toEqual([expect.stringContaining("all is well")]);
});

test("an answer in a script of three bytes a letter is cut by its bytes, and arrives whole", async () => {
  const line = "調査の結果、異常は見つかりませんでした。".repeat(4);
  const text = Array.from({ length: 60 }, (_, i) => `${i} ${line}`).join("\n\n");
  await view.post(answer("r1", text), first("ended:r1"));
  const numbers = [
    ...bot
      .shown(thread)
      .join("\n")
      .matchAll(/^(\d+) 調査/gm),
  ].map(([, n]) => Number(n));
  expect(numbers).toEqual(Array.from({ length: 60 }, (_, i) => i));
});

test("a card whose edit would take more messages than stand there is told of as not shown", async () => {
  const stars = "*_".repeat(400);
  const lines = ["one", "two", "three"].map((label) => ({ label, value: stars }));
  const preview = { lines, blastRadius: stars, undo: stars };
  const canonical = JSON.stringify({ argv: [stars] });
  const card = cardOf(bot.key(thread), { canonical, preview, reason: stars });
  const ref = await view.postCard(card, first("a1"));
  const told: string[] = [];
  const unshown = ({ to }: { to: string }) => void told.push(to);
  await view.updateCard(ref, { ...card, revision: 2 }, { unshown });
  expect(told).toEqual([]);
  const patch = "PATCH /channels/:channel/messages/:message";
  bot.discord.fail(patch, { status: 400, code: 50035, times: 1 });
  await view.updateCard(ref, { ...card, revision: 3 }, { unshown });
  expect(bot.shown(thread).join()).not.toContain(canonical);
  expect(told).toEqual(["nobody"]);
});
