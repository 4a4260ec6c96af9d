import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { changeOf, type Fact } from "../../src/incidents/facts.ts";
import type { Change, Incident } from "../../src/incidents/incident.ts";
import { idsIn, importRecords, lineOf, recordsOf } from "../../src/incidents/transfer.ts";
import { HORIZON, moves, PLACES, play } from "./moves.ts";
import { createStage, MINUTE, START, type Stage } from "./stage.ts";

const same = (text: string) => text;
const ALL = { from: 0, to: START + 10 * HORIZON * MINUTE };

/** Every record of a stage, a line each. */
async function exported({ journal }: Stage): Promise<string> {
  const records = await recordsOf(journal, await idsIn(journal, ALL));
  return records.map((record) => `${lineOf(record)}\n`).join("");
}

function parsed(lines: string): unknown[] {
  return lines
    .trim()
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** All that viewers of all places get, and the numbers of some periods. */
async function seen({ ledger }: Stage, now: number) {
  return Promise.all(
    PLACES.map(async (audience) => {
      const viewer = { audience, tenants: "all" as const };
      const list = await ledger.list({}, viewer);
      const periods = [-HORIZON, 0, 300].map((from) => ({
        from: START + from * MINUTE,
        to: START + (from + HORIZON) * MINUTE,
        zone: "Europe/Madrid",
        name: "some time",
      }));
      const unmarked = (incident: Incident) => ({ ...incident, isImported: false });
      return {
        list: list.map(unmarked),
        numbers: await Promise.all(
          periods.map(async (period) => {
            const { newest, longest, ...stats } = await ledger.stats(period, viewer, 5);
            return {
              ...stats,
              newest: newest.map(({ id }) => id),
              longest: longest?.id,
              others: await ledger
                .numbers(period, viewer, { now, listed: 5, which: "mttr" })
                .then(({ which, ...others }) => ({
                  ...others,
                  which: which?.found.map(({ id }) => id),
                })),
            };
          }),
        ),
      };
    }),
  );
}

const more: fc.Arbitrary<Change> = fc.constantFrom<Change>(
  { roles: [{ role: "commander", name: "Ana" }] },
  { roles: [{ role: "commander" }] },
  { followUps: [{ text: "an alert", owner: "Bo", due: "2026-12-01" }] },
  { followUps: [{ name: "f1", state: "done" }] },
  { status: "mitigated" },
  { status: "false_alarm" },
  { certainty: "confirmed", evidence: ["T3"] },
  { pin: { message: "m1", name: "Cy", at: START - MINUTE, text: "it is the disk" } },
  { unpin: "m1" },
);
const fact: fc.Arbitrary<Fact> = fc.constantFrom<Fact>(
  { alert: { of: "alerts:test", group: "g", name: "A", startedAt: START - 5 * MINUTE } },
  { alert: { of: "alerts:test", group: "g", name: "A", startedAt: START, overAt: START } },
  { alert: { of: "alerts:test", group: "h", name: "B", startedAt: START, sources: ["sentry"] } },
  {
    acted: {
      action: "a1",
      title: "Restart",
      tool: "restart",
      outcome: "ok",
      endedAt: START,
      votes: [{ name: "Bo", at: START, approve: true }],
    },
  },
  {
    acted: {
      action: "a1",
      title: "Restart",
      tool: "restart",
      verified: "fixed",
      verifiedAt: START,
    },
  },
);

test("what is exported and imported into an empty store gives the same records and the same numbers, and once more changes nothing", async () => {
  await fc.assert(
    fc.asyncProperty(
      moves,
      fc.array(fc.tuple(fc.nat({ max: 5 }), fc.oneof(more, fact)), { maxLength: 12 }),
      async (all, said) => {
        const from = await createStage();
        const { ledger, clock, saying } = from;
        const ids = await play(from, all);
        for (const [i, [target, what]] of said.entries()) {
          const id = ids[target];
          const [record] = id === undefined ? [] : await recordsOf(from.journal, [id]);
          if (id === undefined || record === undefined) continue;
          const { audience, thread } = record.incident;
          clock.now += MINUTE;
          const at = clock.now;
          if ("alert" in what || "acted" in what) {
            const told = { thread, link: undefined, audience, fact: `f${i}`, at };
            await ledger.happened(told, id, (now) => changeOf(now, what as Fact, at));
          } else {
            const outside = i % 2 === 0;
            const call = saying({ audience, thread, call: `more${i}`, outside });
            await ledger.update(call, id, what).catch(() => {});
          }
        }
        const lines = await exported(from);
        const to = await createStage();
        const done = await importRecords(to.journal, same, lines, clock.now);
        expect(done).toMatchObject({ kind: "done", known: [] });
        expect(await seen(to, clock.now)).toEqual(await seen(from, clock.now));
        expect(parsed(await exported(to))).toEqual(parsed(lines));
        for (const { incident } of await recordsOf(to.journal, ids))
          expect(incident.isImported).toBe(true);
        const lasts = async () => (await recordsOf(to.journal, ids)).map(({ last }) => last).join();
        const before = await lasts();
        const again = await importRecords(to.journal, same, lines, clock.now);
        expect(again).toMatchObject({ kind: "done", written: [] });
        expect(await lasts()).toBe(before);
      },
    ),
    { numRuns: 30 },
  );
}, 60_000);

describe("a file of records", () => {
  /** A line of an incident that was opened and resolved. */
  async function resolvedLine() {
    const from = await createStage();
    const id = await from.open("Checkout fails");
    from.clock.now += MINUTE;
    await from.ledger.resolve(from.saying(), id, { cause: "A full disk" });
    return { id, from, line: (await exported(from)).trim() };
  }

  test("is not imported where any line is wrong: each is named by its number with what is wrong", async () => {
    const { id, line, from } = await resolvedLine();
    const { now } = from.clock;
    const other = line.replaceAll(id, "inc-20261120-aaaa");
    const given = JSON.parse(line) as { history: { at: number; change: Change }[] };
    const [opened, ended] = given.history;
    const lines = [
      line,
      "{",
      line,
      other.replace("watchkeeper-incident", "other"),
      JSON.stringify({ ...given, id: "inc-20261120-bbbb", history: [ended] }),
      JSON.stringify({ ...given, id: "inc-20261120-cccc", history: [{ ...opened, at: now + 1 }] }),
      JSON.stringify({ ...given, id: "inc-20261120-dddd", history: [opened, ended, ended] }),
      "",
      JSON.stringify({ ...given, id: "INC-1" }),
      JSON.stringify({ ...given, id: "inc-20261120-eeee", history: [] }),
      JSON.stringify({ ...given, id: "inc-20261120-ffff", more: 1 }),
    ];
    const to = await createStage();
    const done = await importRecords(to.journal, same, lines.join("\n"), now);
    expect(done).toEqual({
      kind: "wrong",
      wrong: [
        { line: 2, problem: expect.stringContaining("It is not valid JSON") },
        { line: 3, problem: `${id} is on line 1 too.` },
        { line: 4, problem: expect.stringMatching(/^kind: /) },
        { line: 5, problem: "An incident needs a title." },
        { line: 6, problem: expect.stringMatching(/^history\.0: 2026.*is in the future\.$/) },
        { line: 7, problem: expect.stringContaining("was already resolved") },
        { line: 9, problem: expect.stringContaining("id: is no id such as") },
        { line: 10, problem: expect.stringMatching(/^history: /) },
        { line: 11, problem: expect.stringContaining("more") },
      ],
    });
    expect(await idsIn(to.journal, ALL)).toEqual([]);
  });

  test("is refused where its id has another history, and known where more was said since", async () => {
    const { id, line, from } = await resolvedLine();
    const { now } = from.clock;
    const to = await createStage();
    to.clock.now = now;
    await importRecords(to.journal, same, line, now);
    const changed = await importRecords(to.journal, same, line.replace("full", "slow"), now);
    expect(changed).toEqual({
      kind: "wrong",
      wrong: [{ line: 1, problem: `${id} is there already, with another history.` }],
    });
    await to.ledger.update(to.saying(), id, { note: "seen again" });
    expect(await importRecords(to.journal, same, line, now)).toMatchObject({ known: [id] });
    const longer = (await exported(to)).trim();
    expect(await importRecords(from.journal, same, longer, now)).toMatchObject({ kind: "wrong" });
    const elsewhere = line.replace('"history"', '"audience":"test:private","history"');
    expect(await importRecords(to.journal, same, elsewhere, now)).toMatchObject({ kind: "wrong" });
  });

  test("keeps secrets out, and who may read a private record stays who may", async () => {
    const from = await createStage();
    const id = await from.open("the key is hunter2", {}, { audience: "test:private" });
    const line = await exported(from);
    const to = await createStage((text) => text.replaceAll("hunter2", "(secret)"));
    const encode = (text: string) => text.replaceAll("hunter2", "(secret)");
    expect(await importRecords(to.journal, encode, line, START)).toMatchObject({ written: [id] });
    expect(await importRecords(to.journal, encode, line, START)).toMatchObject({ known: [id] });
    const mine = { audience: "test:private", tenants: [] };
    expect((await to.ledger.get(id, mine)).title).toBe("the key is (secret)");
    const theirs = { audience: undefined, tenants: "all" as const };
    await expect(to.ledger.get(id, theirs)).rejects.toThrow("No incident");
  });
});
