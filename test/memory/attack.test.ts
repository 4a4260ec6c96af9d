import { expect, onTestFinished, test } from "vitest";
import { createReadIncident } from "../../src/app/episodes.ts";
import type { MemoryIndex } from "../../src/memory/index-port.ts";
import { createMemory, type Memory, type Saying } from "../../src/memory/memory.ts";
import { createForget, createNotes } from "../../src/tools/memory/notes.ts";
import { createRecall } from "../../src/tools/memory/recall.ts";
import { createLedger } from "../fakes/ledger.ts";
import { openTestIndex } from "../fakes/memory.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import { ASKER } from "../fakes/asker.ts";
import { idleContext } from "../fakes/tool-context.ts";
import { talking, wordsIn } from "../agent/talking.ts";
import { ALL, hiddenFrom, type Place, placeOf } from "./places.ts";
import { trigramVector, VECTOR_MODEL } from "./retrieval.ts";

const START = Date.parse("2026-11-20T12:00:00Z");

const saying = (name: Place, call: string): Saying => ({
  actor: { account: "slack:T1:U1", name: "Ana" },
  call,
  link: undefined,
  at: START,
  ...placeOf(name),
});

/** Each of `filled` has a note, a thread's record and an incident, all with the same words. */
async function world(filled: readonly Place[], hasVectors: boolean) {
  const journal = openMemoryJournal({ now: () => START });
  onTestFinished(() => journal.close());
  const asked: string[] = [];
  const real = openTestIndex(hasVectors ? { model: VECTOR_MODEL } : {});
  const verbs = new Set(["find", "newest", "statistics", "matching", "nearest"]);
  const index = new Proxy(real, {
    get: (target, verb: keyof MemoryIndex) =>
      verbs.has(verb)
        ? (...args: unknown[]) => (
            asked.push(`${verb} ${JSON.stringify(args)}`),
            Reflect.apply(target[verb], target, args)
          )
        : target[verb],
  });
  const readIncident = createReadIncident(journal);
  const embedder = {
    id: VECTOR_MODEL,
    embed: async (texts: readonly string[]) => texts.map(trigramVector),
  };
  const memory = createMemory({
    journal,
    index,
    encode: (text) => text,
    readIncident,
    embedder: hasVectors ? embedder : undefined,
  });
  const ledger = createLedger(journal, (text) => text);
  for (const name of filled) {
    const { thread, audience } = placeOf(name);
    await memory.note(saying(name, "r1.t1"), `the vault of checkout is ${name}`);
    await memory.record(
      { thread, link: undefined, audience, asOf: "ended:r1" },
      {
        kind: "task",
        question: `checkout vault fails ${name}`,
        begun: START,
        looked: ["http_check"],
        fixes: [{ tool: `mend_${name}`, title: "Mend", approved: true, result: "done" }],
        outcome: "explained",
      },
    );
    await ledger.open(
      { ...saying(name, "r1.t2"), thread: `${thread}9` },
      { title: `Vault of checkout lost ${name}` },
    );
  }
  await memory.newest({ audience: undefined, tenants: [] }, { limit: 1 });
  asked.length = 0;
  return { journal, memory, asked };
}

/** Everything that somebody in this place can read, in words. */
async function readAll(memory: Memory, name: Place, names: readonly string[]): Promise<string[]> {
  const { thread: key, ...viewer } = placeOf(name);
  const asker = {
    ...ASKER,
    startedAt: START,
    key,
    audience: async () => viewer.audience,
    tenants: async () => viewer.tenants,
    outside: async () => false,
  };
  const ctx = idleContext({ asker });
  const lent = () => memory;
  const [recall, notes, forget] = [createRecall(lent, []), createNotes(lent), createForget(lent)];
  const said = [
    await recall.run({ text: "checkout vault", limit: 20 }, ctx),
    await notes.run({ limit: 50 }, ctx),
    await notes.run({ text: "checkout vault", limit: 50 }, ctx),
    await forget.run({ text: "the vault of nothing" }, ctx),
    // What a run's first message and an alert's checks are told from.
    await memory.alike("checkout vault", viewer, { threshold: 0, nearness: 0 }),
    await memory.search("checkout vault", viewer, { limit: 50 }),
    await memory.newest(viewer, { limit: 50 }),
  ];
  const byName: unknown[] = [];
  for (const id of names)
    byName.push(
      await memory.get(id, viewer),
      await memory.forget({ ...saying(name, "r9.t9"), ...viewer }, id).catch(String),
    );
  return [...said, ...byName].map((each) => JSON.stringify(each) ?? "");
}

/** What a model is told of memory when somebody in this place asks. */
async function toldIn(memory: Memory, name: Place): Promise<string[]> {
  const recall = { recent: 20, similar: 20, threshold: 0, nearness: 0, tokens: 20_000 };
  const stage = await talking([{ text: "Hm." }], { memory: { memory, recall, keep: 2 } });
  const { audience, tenants } = placeOf(name);
  stage.chat.adapter.audience = async () => audience;
  stage.chat.adapter.tenants = async () => tenants;
  await stage.ask("the checkout vault fails?");
  const words = wordsIn(stage.model.requests[0]);
  expect(words.at(-1)).toMatch(/the checkout vault fails\?$/);
  return words.slice(0, -1);
}

const WAYS = ALL.flatMap((name) => [
  [name, "words alone"],
  [name, "vectors too"],
]);

test.each(WAYS)(
  "from %s, by %s, nothing of another place can be read or taken away, and its answers and questions are those of a store without it",
  async (name = "", how) => {
    const hasVectors = how === "vectors too";
    const theirs = hiddenFrom(name);
    const seen = ALL.filter((other) => !theirs.includes(other));
    const full = await world(ALL, hasVectors);
    const ids: string[] = [];
    for (const other of theirs)
      for (const { id } of await full.memory.newest(placeOf(other), { limit: 50 })) {
        const isSeen = await full.memory.get(id, placeOf(name));
        if (isSeen === undefined) ids.push(id);
      }
    expect(ids.length).toBeGreaterThanOrEqual(3 * theirs.length);
    full.asked.length = 0;
    const before = (await full.journal.changes("memory")).changed;
    const told = await toldIn(full.memory, name);
    // Its own note, record and incident are told, so what is missing is hidden and not forgotten.
    expect(told.join("\n")).toContain(`the vault of checkout is ${name}`);
    const read = [...told, ...(await readAll(full.memory, name, ids))];
    for (const other of theirs)
      for (const text of read)
        expect(text).not.toMatch(new RegExp(`(?:is|fails|lost|mend_)\\W*${other}\\b`));
    expect((await full.journal.changes("memory")).changed).toEqual(before);
    expect(full.asked.some((question) => question.startsWith("nearest"))).toBe(hasVectors);
    // Not a count, not a word of a hint, and not a look more: so no time either that it would take.
    const alone = await world(seen, hasVectors);
    alone.asked.length = 0;
    const toldAlone = await toldIn(alone.memory, name);
    expect([...toldAlone, ...(await readAll(alone.memory, name, ids))]).toEqual(read);
    expect(full.asked).toEqual(alone.asked);
  },
);
