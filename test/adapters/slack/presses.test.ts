import { afterEach, beforeEach, expect, test } from "vitest";
import type { View } from "../../../src/adapters/view.ts";
import { BotError } from "../../../src/core/errors.ts";
import type { JournalKey } from "../../../src/core/journal-key.ts";
import { answer, type Bot, cardOf, openBot, until } from "./harness.ts";

let bot: Bot;
let root: string;
let key: JournalKey;
let view: View;
let card: string;
beforeEach(async () => {
  bot = await openBot({ slack: { ackWithinMs: 1_200 } });
  root = bot.slack.say(bot.ana, bot.ops, "restart web");
  key = bot.key(bot.ops, root);
  bot.cards.set("a1", cardOf(key));
  const found = bot.adapter.view(key);
  if (found === undefined) throw new Error("the thread is not shown");
  view = found;
  card = await view.postCard(cardOf(key), { id: "a1", isRetry: false });
});
afterEach(() => bot.close());

/** Presses the button with this label, as Bob. */
async function press(label: string, ts = card) {
  const message = bot.slack.messages(bot.ops, root).find((each) => each.ts === ts);
  const button = message && bot.slack.buttonsOf(message).find((each) => each.label === label);
  return bot.slack.press(bot.bob, bot.ops, ts, button?.actionId ?? "");
}
const told = () => bot.slack.ephemerals(bot.bob).map((each) => bot.slack.textOf(each));
/** But for who has a form open. */
const kept = async () =>
  (await bot.entries(bot.ops, root)).filter(
    (entry) => entry.kind !== "click" || entry.choice.kind !== "editing",
  );
const form = () => bot.slack.views(bot.bob).at(-1)?.id ?? "";

test("a click is kept as that person's, in the thread where the card stands, before it is acknowledged", async () => {
  expect(await press("Approve")).toMatchObject({ acknowledged: true });
  expect(await kept()).toMatchObject([
    {
      id: expect.stringMatching(`^click:${card}:${bot.bob.id}:[0-9.]+$`),
      kind: "click",
      actor: { account: bot.account(bot.bob), name: "bob" },
      action: "a1",
      revision: 1,
      choice: { kind: "approve" },
      via: "button",
      digest: "abababababab",
    },
  ]);
});

test("a click counts where it was made: a button of another thread's action says nothing about this one", async () => {
  const other = bot.slack.say(bot.ana, bot.ops, "restart db");
  const there = bot.adapter.view(bot.key(bot.ops, other));
  const ts = (await there?.postCard(cardOf(key), { id: "a1", isRetry: false })) ?? "";
  const message = bot.slack.messages(bot.ops, other).find((each) => each.ts === ts);
  const button = message && bot.slack.buttonsOf(message)[0];
  await bot.slack.press(bot.bob, bot.ops, ts, button?.actionId ?? "");
  expect(await kept()).toEqual([]);
  expect(await bot.entries(bot.ops, other)).toMatchObject([{ kind: "click" }]);
});

test("a click that could not be kept is not acknowledged, and the person is told to press again", async () => {
  bot.breakStore(1);
  expect(await press("Approve")).toMatchObject({ acknowledged: false });
  await until(() => told().length > 0);
  expect(told()).toEqual(["The store did not answer. Press again in a moment."]);
  expect(await press("Approve")).toMatchObject({ acknowledged: true });
  expect(await kept()).toHaveLength(1);
});

test("a denial's form asks for the reason and keeps it", async () => {
  expect(await press("Deny…")).toMatchObject({ acknowledged: true });
  expect(await bot.slack.submit(bot.bob, form(), "peak hour")).toMatchObject({
    acknowledged: true,
  });
  expect(bot.slack.views(bot.bob)).toEqual([]);
  expect(await kept()).toMatchObject([
    {
      id: expect.stringMatching(/^form:/),
      actor: { account: bot.account(bot.bob) },
      action: "a1",
      revision: 1,
      choice: { kind: "deny", reason: "peak hour" },
    },
  ]);
});

test("the edit form shows the arguments; what does not fit stays in the form with the reason under it", async () => {
  await press("Edit…");
  expect(JSON.stringify(bot.slack.views(bot.bob).at(-1)?.view)).toContain('"initial_value":"web"');
  await bot.slack.submit(bot.bob, form(), "No Service");
  expect(bot.slack.views(bot.bob).at(-1)?.errors).toEqual({ name: "expected a service's name" });
  expect(await kept()).toEqual([]);
  bot.breakStore(1, new BotError("USAGE", "That cannot be kept."));
  await bot.slack.submit(bot.bob, form(), "db");
  expect(Object.values(bot.slack.views(bot.bob).at(-1)?.errors ?? {})).toEqual([
    "That cannot be kept.",
  ]);
  bot.breakStore(1);
  expect(await bot.slack.submit(bot.bob, form(), "db")).toMatchObject({
    acknowledged: false,
  });
  await bot.slack.submit(bot.bob, form(), "db");
  expect(await kept()).toMatchObject([{ choice: { kind: "edit", args: { name: "db" } } }]);
});

test("a form that Slack does not open any more is said, with what to type instead", async () => {
  bot.slack.fail("views.open", { error: "expired_trigger_id" });
  expect(await press("Edit…")).toMatchObject({ acknowledged: true });
  expect(told()).toEqual([expect.stringMatching(/3 s had passed.*Type it instead: edit a1/)]);
});

test("details are for the one who asks", async () => {
  expect(await press("Details")).toMatchObject({ acknowledged: true });
  expect(told().join("\n")).toContain("ab".repeat(32));
  expect(bot.slack.ephemerals(bot.ana)).toEqual([]);
  expect(await kept()).toEqual([]);
});

test("an action that the thread no longer knows is said to be unknown", async () => {
  const ts = await view.postCard(cardOf(key, { action: "a7" }), { id: "a7", isRetry: false });
  await press("Details", ts);
  await press("Edit…", ts);
  const unknown = "I don't know a7 in this thread any more.";
  expect(told()).toEqual([unknown, unknown]);
  expect(bot.slack.views(bot.bob)).toEqual([]);
});

test("Undo on a card that is done is kept as that person's click, and goes with the card's next state", async () => {
  const done = { phase: "done", ending: "done in 3 ms" } as const;
  await view.updateCard(card, cardOf(key, { ...done, undo: { state: "offered" } }));
  await press("Undo");
  expect(await kept()).toMatchObject([
    { action: "a1", revision: 1, choice: { kind: "undo" }, digest: "abababababab" },
  ]);
  const undone = { state: "undone", by: "a2" } as const;
  await view.updateCard(card, cardOf(key, { ...done, undo: undone }));
  const shown = bot.slack.messages(bot.ops, root).find(({ ts }) => ts === card);
  expect(shown && bot.slack.textOf(shown)).toContain("done in 3 ms · undone by a2");
  expect(shown && bot.slack.buttonsOf(shown).map(({ label }) => label)).toEqual(["Details"]);
});

test("the run's Stop button stops, and so does Slack's own", async () => {
  bot.slack.fail("assistant.threads.setStatus", { error: "unknown_method" });
  const delivery = { id: "begun:r1", isRetry: false, run: "r1" };
  const begun = (await view.openProgress?.(delivery, [])) ?? "";
  await press("Stop", begun);
  await until(() => bot.slack.session(bot.ops, root) === "processing");
  expect(await bot.slack.stopSession(bot.bob, bot.ops, root)).toMatchObject({ acknowledged: true });
  const bob = { account: bot.account(bot.bob), name: "bob" };
  expect(await kept()).toMatchObject([
    { id: expect.stringMatching(/^stop:/), kind: "stop", actor: bob },
    { id: expect.stringMatching(/^stop:/), kind: "stop", actor: bob },
  ]);
});

test("a choice of a question is the answer to it", async () => {
  const asks = { call: "r1.t1", choices: ["web-1", "web-2"] };
  const notice = { kind: "notice" as const, text: "Which?", settles: undefined, asks, holds: [] };
  const ts = await view.post(notice, { id: "n1", isRetry: false });
  await press("web-2", ts);
  expect(await kept()).toMatchObject([
    { action: "r1.t1", choice: { kind: "answer", text: "web-2" } },
  ]);
});

test("a button of another version is said to be one, and nothing is kept", async () => {
  const { slack, ops, bob } = bot;
  const ts = await view.post(answer("r1", "hello"), { id: "e1", isRetry: false });
  const message = slack.messages(ops, root).find((each) => each.ts === ts);
  const button = {
    type: "button",
    action_id: "wk:dance:a1",
    text: { type: "plain_text", text: "x" },
  };
  message?.blocks?.push({ type: "actions", block_id: "b", elements: [button] });
  expect(await slack.press(bob, ops, ts, "wk:dance:a1")).toMatchObject({ acknowledged: true });
  expect(told()).toEqual([expect.stringContaining("another version of Watchkeeper")]);
  expect(await kept()).toEqual([]);
});

test("every press three times and out of order is one click", async () => {
  bot.slack.shuffle = { copies: 3, seed: 3 };
  await press("Approve");
  await bot.slack.idle();
  expect(await kept()).toHaveLength(1);
});

test("Save as eval below a model's answer is the command that keeps it, by whoever pressed", async () => {
  const said = { ...answer("r2", "CONFIRMED: down"), isModelRun: true, canSave: true as const };
  const ts = await view.post(said, { id: "ended:r2", isRetry: false });
  expect(await press("Save as eval", ts)).toMatchObject({ acknowledged: true });
  expect(await kept()).toMatchObject([
    {
      kind: "command",
      actor: { account: bot.account(bot.bob), name: "bob" },
      command: { name: "run", tool: "save_eval", args: { run: "r2" } },
    },
  ]);
});
