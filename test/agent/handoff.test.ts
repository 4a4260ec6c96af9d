import { expect, onTestFinished, test } from "vitest";
import { createAskedHandoffs, createHandoffs } from "../../src/app/handoffs.ts";
import type { Adapter } from "../../src/adapters/adapter.ts";
import { createHandoffTool } from "../../src/tools/handoff/handoff.ts";
import { createChat } from "../fakes/chat.ts";
import { createLedger } from "../fakes/ledger.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import { ofKind, talking } from "./talking.ts";

test("what happened last week is the same to the second, whether a person's words or a model asks the tool", async () => {
  const clock = { now: Date.parse("2026-11-18T12:00:01Z") };
  const journal = openMemoryJournal({ now: () => clock.now });
  onTestFinished(() => journal.close());
  const chat = createChat();
  const adapters = new Map<string, Adapter>([["test", chat.adapter]]);
  const ledger = createLedger(journal);
  const all = createHandoffs({
    journal,
    adapters,
    ledger,
    tools: () => [],
    freezes: { known: () => [] },
    encode: (text) => text,
  });
  await ledger.open(
    {
      actor: { account: "test:ana", name: "ana" },
      thread: "test:other",
      call: "r1.t1",
      link: undefined,
      audience: undefined,
      tenants: "all",
      at: clock.now,
    },
    { title: "Checkout fails" },
  );
  const tool = createHandoffTool(() => createAskedHandoffs(all, { journal, adapters }));
  const said = (text: string) => text.split("\n\n").filter((part) => !part.startsWith("Cost"));
  const script = [
    { calls: [{ name: "handoff", args: { period: "last week" } }] },
    { text: "One incident began and none was resolved [T1]." },
  ];
  const { say, settle, entries } = await talking(script, { journal, chat, tools: [tool] });
  clock.now = Date.parse("2026-11-25T12:00:00Z");
  await say("what happened last week?");
  await settle();
  await say("tell me about the week that is over, and what it means for us");
  await settle();
  const [typed, asked] = ofKind(await entries(), "tool_finished").map(({ text }) => said(text));
  expect(typed?.join("\n")).toContain("1 incident opened, 0 resolved, 1 open at its end");
  expect(typed?.join("\n")).toContain("began Wed 2026-11-18 12:00:01");
  expect(asked).toEqual(typed);
});
