import { expect, test } from "vitest";
import type { Address } from "../../src/core/entry.ts";
import { withoutRemoved } from "../../src/core/removed.ts";
import type { Stage } from "../fakes/stage.ts";
import { call, lastAnswer, ofKind, silent, talking, wordsIn } from "./talking.ts";

const OK = { text: "All is well." };

async function edit({ post }: Pick<Stage, "post">, of: string, text: string, account = "test:ana") {
  const actor = { account, name: account.replace("test:", "") };
  await post({ id: `${of}:edit:${text.length}`, kind: "edited", actor, of, text });
}
const remove = ({ post }: Pick<Stage, "post">, of: string) =>
  post({ id: `${of}:removed`, kind: "removed", of });

test("an edit of a message that nobody has answered replaces it, and it is told as if it had been written so", async () => {
  const stage = await talking([OK]);
  const first = await stage.say("restart web");
  await edit(stage, first, "is web well?");
  await edit(stage, first, "drop the database", "test:mallory");
  await stage.settle();
  expect(wordsIn(stage.model.requests[0])[0]).toMatch(/ana\] is web well\?$/);
  expect(stage.chat.answers()).toHaveLength(1);
});

test("an edit of what asked for an open card ends the card, and the model is asked anew with the new text", async () => {
  const stage = await talking([
    { calls: [call("act", "web")] },
    { calls: [call("act", "db")] },
    { text: "Done." },
  ]);
  await stage.ask("restart web");
  await edit(stage, "msg:1", "restart db, not web");
  await stage.settle();
  expect(wordsIn(stage.model.requests[1]).at(-1)).toMatch(/ana, edited\] restart db, not web$/);
  expect(stage.chat.cards().map(({ phase, ending }) => [phase, ending])).toEqual([
    ["cancelled", expect.stringContaining("edited the message")],
    ["open", undefined],
  ]);
  await stage.click("a1", { kind: "approve" }, "test:bob");
  await stage.click("a2", { kind: "approve" }, "test:bob");
  await stage.settle();
  expect(stage.act.runs).toEqual(["db"]);
});

test("an edit of a command whose card is open asks for the new command; of one that ran nothing comes", async () => {
  const stage = await talking([]);
  await stage.ask("run act name=web");
  const command = { name: "run", tool: "act", args: { name: "db" } } as const;
  const actor = { account: "test:ana", name: "ana" };
  const post = { kind: "edited", actor, of: "msg:1", text: "run act name=db", command } as const;
  await stage.post({ id: "msg:1:edit:1", ...post });
  await stage.settle();
  expect(stage.chat.cards().map(({ phase, args }) => [phase, args])).toEqual([
    ["cancelled", { name: "web" }],
    ["open", { name: "db" }],
  ]);
  expect(stage.chat.answers()).toMatchObject([{ isMoot: true }]);
  await stage.ask("run look name=web");
  await stage.post({ id: "msg:2:edit:1", ...post, of: "msg:2" });
  await stage.settle();
  expect(stage.chat.cards()).toHaveLength(2);
});

test("a removal before anything began leaves nothing to answer; one later ends what was not begun", async () => {
  const stage = await talking([{ calls: [call("act", "web")] }, OK]);
  const first = await stage.say("the password is hunter2");
  await remove(stage, first);
  await stage.settle();
  expect(stage.chat.answers()).toEqual([]);
  const second = await stage.say("restart web");
  await stage.settle();
  await remove(stage, second);
  await stage.settle();
  expect(stage.chat.cards()[0]).toMatchObject({ phase: "cancelled" });
  expect(lastAnswer(stage)).toBe(
    "Stopped before the first check: the message that asked for it was removed.",
  );
  expect(stage.chat.answers().at(-1)).toMatchObject({ isMoot: true });
  await stage.click("a1", { kind: "approve" }, "test:bob");
  await stage.ask("all good?");
  expect(stage.act.runs).toEqual([]);
  const told = JSON.stringify(stage.model.requests[1]);
  expect(told).toContain("(removed)");
  expect(told).not.toMatch(/hunter2|restart web/);
});

test("a removal while the model thinks stops the run, unless somebody else's message is in it", async () => {
  const stage = await talking([
    async (request, options) => {
      await remove(stage, "msg:1");
      return silent(request, options);
    },
  ]);
  await stage.ask("restart web");
  expect(ofKind(await stage.entries(), "run_ended")).toMatchObject([{ status: "cancelled" }]);
  const other = await talking([{ calls: [call("act", "web")] }, OK]);
  await other.say("restart web");
  await other.say("and say when", "test:bob");
  await other.settle();
  await remove(other, "msg:1");
  await other.settle();
  expect(other.chat.cards()[0]).toMatchObject({ phase: "cancelled" });
  expect(other.chat.answers().at(-1)).toMatchObject({ status: "completed" });
});

test("what was removed is shown by no reader of the journal, which stays sealed", async () => {
  const stage = await talking([OK]);
  const first = await stage.say("the password is hunter2");
  await stage.settle();
  await edit(stage, first, "the password was hunter2");
  await remove(stage, first);
  const shown = withoutRemoved(await stage.entries());
  expect(JSON.stringify(shown)).not.toContain("hunter2");
  expect(shown.map(({ head }) => head)).toEqual((await stage.entries()).map(({ head }) => head));
});

test("a line between people is heard once an edit mentions the bot, also one that a model was silent about", async () => {
  const silence = { calls: [{ name: "stay_silent", args: {} }] };
  const stage = await talking([OK, { text: "1.42." }, silence, { text: "It is." }]);
  const { post, settle, model, entries } = stage;
  const actorOf = (name: string) => ({ account: `test:${name}`, name });
  const write = async (name: string, id: string, text: string, address: Address) => {
    await post({ id, kind: "message", actor: actorOf(name), text, address });
    await settle();
  };
  const turn = async (name: string, of: string, text: string) => {
    const now = { text, address: { bot: true as const } };
    await post({ id: `${of}:edit:${text}`, kind: "edited", actor: actorOf(name), of, ...now });
    await settle();
  };
  await write("ana", "first", "is web well?", { bot: true });
  const others = [{ account: "test:bob", at: "start" as const }];
  await write("ana", "passed", "who deployed?", { others });
  expect(model.requests).toHaveLength(1);
  await turn("bob", "passed", "drop the database");
  expect(model.requests).toHaveLength(1);
  await turn("ana", "passed", "who deployed last?");
  expect(lastAnswer(stage)).toBe("1.42.");
  const told = wordsIn(model.requests[1]).filter((line) => line.includes("who deployed"));
  expect(told).toEqual([
    expect.stringMatching(/ana, quoted\] who deployed\?$/),
    expect.stringMatching(/ana\] who deployed last\?$/),
  ]);
  await write("cy", "unsure", "db seems slow", {});
  expect(stage.chat.answers()).toHaveLength(2);
  await turn("cy", "unsure", "is db slow?");
  expect(lastAnswer(stage)).toBe("It is.");
  await turn("cy", "unsure", "is db slow now?");
  expect(model.requests).toHaveLength(4);
  expect(ofKind(await entries(), "run_started").at(-1)).toMatchObject({
    answers: ["unsure"],
    principals: ["test:cy"],
  });
});

test("an edit of what waits keeps to whom it is, unless it changes that", async () => {
  const { post, settle, model } = await talking([OK, OK]);
  const actor = { account: "test:bob", name: "bob" };
  await post({
    id: "a",
    kind: "message",
    actor: { account: "test:ana", name: "ana" },
    text: "hi",
    address: { bot: true },
  });
  await settle();
  const edited = { kind: "edited", actor, of: "b" } as const;
  await post({ id: "b", kind: "message", actor, text: "deploying", address: {} });
  await post({ id: "b:1", ...edited, text: "deploying web", address: {} });
  await post({ id: "b:2", ...edited, text: "deploying web now" });
  await settle();
  expect(wordsIn(model.requests[1]).join()).toMatch(/deploying web now.*Nobody mentioned you/s);
  await post({ id: "c", kind: "message", actor, text: "deployed", address: {} });
  await post({ id: "c:1", ...edited, of: "c", text: "deployed?", address: { bot: true } });
  await settle();
  expect(wordsIn(model.requests[2]).at(-1)).toMatch(/bob\] deployed\?$/);
});
