import { expect, onTestFinished, test } from "vitest";
import { createMemory, type Saying } from "../../src/memory/memory.ts";
import { createForget, createNotes } from "../../src/tools/memory/notes.ts";
import type { Floor } from "../../src/memory/policy.ts";
import { createRecall } from "../../src/tools/memory/recall.ts";
import { ASKER } from "../fakes/asker.ts";
import { openTestIndex } from "../fakes/memory.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import { idleContext } from "../fakes/tool-context.ts";

const START = Date.parse("2026-11-20T12:00:00Z");
const HERE = { audience: undefined, tenants: ["slack:T1"] };

/** A team's memory, and what the tools answer somebody who asks in its public channel. */
function asking() {
  const journal = openMemoryJournal({ now: () => START });
  onTestFinished(() => journal.close());
  const memory = createMemory({ journal, index: openTestIndex(), encode: (text) => text });
  let calls = 0;
  const saying = (changes: Partial<Saying> = {}): Saying => ({
    ...HERE,
    actor: { account: "slack:T1:U1", name: "Ana" },
    thread: "slack:T1:C1:1.1",
    call: `r1.t${(calls += 1)}`,
    link: undefined,
    at: START,
    ...changes,
  });
  const ctx = idleContext({
    asker: {
      ...ASKER,
      account: "slack:T1:U1",
      key: "slack:T1:C1:2.2",
      startedAt: START,
      audience: async () => undefined,
      tenants: async () => ["slack:T1"],
      outside: async () => false,
    },
  });
  const lent = () => memory;
  return {
    memory,
    note: async (text: string, changes: Partial<Saying> = {}) =>
      (await memory.note(saying(changes), text)).item.id,
    recall: async (text: string, floor?: Floor) =>
      (await createRecall(lent, [], floor).run({ text, limit: 5 }, ctx)).text,
    /** As a command that this account typed; without one as a model. */
    forget: async (text: string, typedBy: string | undefined = "slack:T1:U1") => {
      const tool = createForget(lent);
      const args =
        (await tool.pin?.({ text }, { ...idleContext(), viewer: async () => HERE, typedBy })) ?? {};
      return (await tool.run(args, ctx)).text;
    },
    card: async (id: string) => {
      const tool = createForget(lent);
      const args = (await tool.pin?.({ id }, { ...idleContext(), viewer: async () => HERE })) ?? {};
      return tool.preview?.(args, ctx);
    },
    byModel: async (text: string) =>
      createForget(lent).pin?.({ text }, { ...idleContext(), viewer: async () => HERE }),
    notes: async () => (await createNotes(lent).run({ limit: 50 }, ctx)).text,
  };
}

test("what shares only some words is shown as that, without what was done then", async () => {
  const { memory, recall } = asking();
  const place = { thread: "slack:T1:C5:5.5", link: undefined, audience: undefined } as const;
  await memory.record(
    { ...place, asOf: "ended:r1" },
    {
      kind: "task",
      question: "checkout answers 502",
      begun: START,
      cause: "the pool of connections was used up",
      looked: ["http_check"],
      fixes: [{ tool: "restart", title: "Restart api", approved: true, result: "done" }],
      outcome: "solved",
    },
  );
  const alike = await recall("checkout gives a 502");
  expect(alike).toContain("checkout answers 502");
  expect(alike).toContain("What was done in the 1 that are alike:");
  const partly = await recall("checkout shows a currency of another country");
  expect(partly).toMatch(
    /^Nothing is clearly alike\. These share some words:\n.*checkout answers 502/m,
  );
  expect(partly).not.toContain("What was done");
  const similar = "checkout answers 502 in Madrid";
  expect(await recall(similar)).not.toContain("Nothing is clearly alike.");
  const strict = await recall(similar, { threshold: 0.99, nearness: 0.99 });
  expect(strict).toContain("Nothing is clearly alike.");
  expect(await recall("the printer is jammed")).toBe(
    "Nothing that is remembered here is like that.",
  );
});

test("words that one note has take it away; words that several have list those and take none away", async () => {
  const { note, forget, notes } = asking();
  const drained = await note("web-2 is drained on Sundays");
  const canary = await note("web-2 is the canary");
  const primary = await note("db-1 is the primary");
  const several = await forget("web-2");
  expect(several).toContain("I forgot nothing: 2 notes have all of the words");
  expect(several).toContain(`${drained}, note by Ana: web-2 is drained on Sundays`);
  expect(several).toContain(`${canary}, note by Ana: web-2 is the canary`);
  expect(several).not.toContain(primary);
  expect(await notes()).toContain("3 notes:");
  // Nearly the same name is another one.
  expect(await forget("web-3 drained")).toContain("I forgot nothing: no note here has all");
  expect(await forget("drained Sundays")).toMatch(new RegExp(`^Forgotten: .*${drained}`));
  const left = await notes();
  expect(left).toContain("2 notes:");
  expect(left).not.toContain(drained);
  expect(await forget("drained Sundays")).toContain("I forgot nothing: no note here has all");
});

test("a card says what is forgotten, models give the name, and somebody else's note is only listed", async () => {
  const { note, forget, notes, card, byModel } = asking();
  const id = await note("web-2 is the canary");
  expect(await card(id)).toMatchObject({
    lines: [{ label: "Forgets", value: expect.stringContaining("web-2 is the canary") }],
  });
  await expect(byModel("web-2")).rejects.toThrow("Give the note's name as `id`");
  expect(await forget("web-2", "slack:T1:U2")).toContain(
    `I forgot nothing: one note has all of the words "web-2". Say which one, such as \`forget ${id}\``,
  );
  expect(await notes()).toContain("1 note:");
});

test("words that only notes of other places have take nothing away, and are answered as words that nobody wrote", async () => {
  const { memory, note, forget } = asking();
  const elsewhere: Partial<Saying>[] = [
    { thread: "slack:T1:G1:1.1", audience: "slack:T1:G1" },
    { thread: "slack:T2:C1:1.1", tenants: ["slack:T2"] },
    { thread: "slack:T1:D1:1.1", audience: "slack:T1:D1" },
  ];
  for (const place of elsewhere) await note("the vault of payroll moves on Monday", place);
  const said = await forget("vault payroll");
  expect(said.replace("vault payroll", "…")).toBe(
    (await forget("words nobody")).replace("words nobody", "…"),
  );
  for (const { audience, tenants = ["slack:T1"] } of elsewhere)
    expect(await memory.newest({ audience, tenants }, { limit: 9 })).toHaveLength(1);
  // One here is the only one that counts.
  const mine = await note("payroll has a vault");
  expect(await forget("vault payroll")).toContain(`Forgotten: 2026-11-20 ${mine}`);
  for (const { audience, tenants = ["slack:T1"] } of elsewhere)
    expect(await memory.newest({ audience, tenants }, { limit: 9 })).toHaveLength(1);
});

test("machines that differ in one digit are told apart: the one that was asked about comes first", async () => {
  const { memory, note, recall } = asking();
  for (const number of [1, 2, 3, 4]) await note(`web-${number} is drained at noon`);
  for (const number of [4, 2, 3, 1]) {
    const [first] = await memory.search(`is web-${number} drained?`, HERE);
    expect(first?.item.what).toMatchObject({ text: `web-${number} is drained at noon` });
    const [line = ""] = (await recall(`web-${number}`)).split("\n").slice(1);
    expect(line).toContain(`web-${number} is drained`);
  }
});
