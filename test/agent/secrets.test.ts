import { expect, test } from "vitest";
import { readText } from "../../src/commands/grammar.ts";
import { createInbox } from "../../src/worker/thread/inbox.ts";
import type { Saying } from "../fakes/scripted-model.ts";
import { fakeTool, KEY } from "../fakes/stage.ts";
import { call, talking } from "./talking.ts";
import { encoderOf } from "../fakes/encoder.ts";

const SECRET = "hunter2 with spaces";
const hide = (text: string) => text.replaceAll(SECRET, "[secret:DB_PASSWORD]");

test("a held secret is in no request, entry, message or draft, wherever it came from", async () => {
  const look = fakeTool({ name: "look", run: async () => ({ text: `password=${SECRET}` }) });
  const act = fakeTool({ name: "act", effect: "write" });
  const words = `It says ${SECRET} there. ${"And so on. ".repeat(60)}`;
  const stage = await talking(
    [
      { text: words, calls: [call("look"), { name: "act", args: { name: SECRET } }] },
      { text: `CONFIRMED: the password is ${SECRET} [T1]. ${words}` },
    ],
    { tools: [look, act], hide },
  );
  const { journal } = stage;
  const inbox = createInbox({ journal, read: readText, encoder: encoderOf(hide), wake: () => {} });
  const actor = { account: "test:ana", name: "ana" };
  await inbox.post(KEY, "m1", { kind: "text", actor, text: `is ${SECRET} right?` });
  await stage.settle();
  expect(stage.chat.answers()).toMatchObject([{ status: "completed" }]);
  expect(act.runs).toEqual([]);
  const seen = JSON.stringify([
    stage.model.requests,
    await stage.entries(),
    stage.chat.shown,
    stage.chat.progress,
  ]);
  expect(seen).toContain("[secret:DB_PASSWORD]");
  expect(seen).not.toContain(SECRET);
});

test("a draft shows no part of a secret, however much of it has been written", async () => {
  const whole = `It is: ${SECRET} ${"and more ".repeat(60)}`;
  // The first piece of a response is shown at once: one run for each length that it may have.
  const lengths = [...Array(30).keys()].map((i) => (i % 2 === 0 ? 6 + i : 203 + i));
  const lines = lengths.map((): Saying => (_request, { onDelta }) => {
    onDelta?.(whole.slice(0, lengths.shift()));
    return { text: "Done." };
  });
  const stage = await talking(lines, { hide });
  for (let left = lines.length; left > 0; left -= 1) await stage.ask("tell me");
  const drafts = stage.chat.progress.flatMap((each) => (each.kind === "draft" ? [each.text] : []));
  expect(drafts.some((text) => text.includes("[secret:DB_PASSWORD]"))).toBe(true);
  expect(drafts.join()).not.toMatch(/hunter2|with spaces/);
});
