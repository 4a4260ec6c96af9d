import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import type { JournalKey } from "../../src/core/journal-key.ts";
import type { Change } from "../../src/incidents/incident.ts";
import { createIncidentNews } from "../../src/app/incident-news.ts";
import { createLedger } from "../../src/incidents/ledger.ts";
import type { UpdateMinutes } from "../../src/incidents/updates.ts";
import { createWorker } from "../../src/worker/worker.ts";
import { openCatalog } from "../../src/incidents/catalog.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";

const THREAD: JournalKey = "slack:T1:C1:1.0";

/** An incident at 12:00, a clock of the test's, and a channel that is told of incidents. */
async function stage(
  change: Change = { severity: "sev1" },
  updateMinutes: UpdateMinutes = { sev1: 30, sev2: 60 },
  hasOutsiders: () => Promise<boolean> = async () => false,
  served = "slack",
) {
  const clock = { now: Date.parse("2026-11-24T12:00Z") };
  const journal = openMemoryJournal({ now: () => clock.now });
  onTestFinished(() => journal.close());
  const woken = new Set<JournalKey>();
  const newsOf = () =>
    createIncidentNews({
      config: { incidentChannels: ["slack:T1:C9"], updateMinutes },
      journal,
      catalog: openCatalog(),
      adapters: new Map([[served, { hasOutsiders }]]),
      wake: (key) => void woken.add(key),
    });
  const news = newsOf();
  const ledger = createLedger(journal, (text) => text, {
    catalog: openCatalog(),
    announce: news.announce,
  });
  let calls = 0;
  const saying = () => ({
    actor: { account: "slack:T1:U1", name: "ana" },
    thread: THREAD,
    call: `r${(calls += 1)}.t1`,
    link: "https://slack/1",
    audience: undefined,
    tenants: ["slack:T1"],
    at: clock.now,
  });
  const { id } = await ledger.open(saying(), { ...change, title: "Checkout fails" });
  const key: JournalKey = `updates:${id}`;
  const parts = { journal, log: pino({ level: "silent" }), leaseMs: 2_000, wakeAt: () => {} };
  const textsOf = async (journalKey: JournalKey) =>
    (await journal.read(journalKey)).flatMap((each) => (each.kind === "alarm" ? [each.text] : []));
  const workerOf = () => {
    const [[, handler] = []] = newsOf().handlers();
    return createWorker(parts, () => handler);
  };
  return {
    clock,
    journal,
    id,
    key,
    workerOf,
    say: (said: Change) => ledger.update(saying(), id, said),
    resolve: () => ledger.resolve(saying(), id, {}),
    async at(time: string) {
      clock.now = Date.parse(`2026-11-24T${time}Z`);
      if (woken.has(key)) await workerOf().work(key);
    },
    reminders: () => textsOf(THREAD),
    news: () => textsOf("ops:slack:T1:C9"),
    /** Status lines in the channel. */
    lines: async () =>
      (await textsOf("ops:slack:T1:C9")).filter((text) => text.includes("next update due")),
    async dueAt() {
      for await (const { dueAt } of journal.list({ prefix: key })) return dueAt;
      return undefined;
    },
  };
}

test("an open incident that nobody says a word of is reminded of once per interval, and channels hear how it stands", async () => {
  const { at, reminders, lines, id, dueAt, say } = await stage({
    severity: "sev1",
    impact: "nobody can pay",
    roles: [{ role: "commander", name: "Bo" }],
  });
  await at("12:00");
  expect(await dueAt()).toBe(Date.parse("2026-11-24T12:30Z"));
  await at("12:29");
  expect(await reminders()).toEqual([]);
  await at("12:30");
  await at("12:31");
  expect(await reminders()).toEqual([
    `${id} (sev1) has had no update for 30 min. Bo, please say how it stands: \`incident update ${id} note="…"\`, or \`incident resolve ${id}\`. I remind you again at 2026-11-24 13:00 UTC; \`stop\` ends it until the next update.`,
  ]);
  expect(await lines()).toEqual([
    `Incident open for 30 min: Checkout fails · ${id}, sev1 · since 2026-11-24 12:00 UTC · impact: nobody can pay · no note yet · next update due by 2026-11-24 13:00 UTC · https://slack/1`,
  ]);
  // A word begins the time again.
  await at("12:50");
  await say({ note: "Rolled back, waiting for the queue" });
  await at("13:00");
  expect(await reminders()).toHaveLength(1);
  await at("13:20");
  expect(await reminders()).toHaveLength(2);
  expect((await lines())[1]).toContain(
    "last note, 2026-11-24 12:50 UTC: Rolled back, waiting for the queue · next update due by 2026-11-24 13:50 UTC",
  );
});

test("what was missed while nobody was awake is made up for once, by whichever replica comes first", async () => {
  const { at, reminders, lines, key, workerOf } = await stage();
  await at("12:00");
  await at("14:10");
  await Promise.all([workerOf().work(key), workerOf().work(key)]);
  expect(await reminders()).toHaveLength(1);
  expect((await reminders())[0]).toContain("no update for 2 h 10 min");
  await at("14:30");
  expect(await reminders()).toHaveLength(2);
  expect(await lines()).toHaveLength(2);
});

test("whoever takes over from a process that died after the timer tells it once", async () => {
  const { at, journal, reminders, key } = await stage();
  await at("12:00");
  await at("12:31");
  const entries = await journal.read(key);
  expect(entries.map(({ kind }) => kind)).toEqual(["timer", "timer", "delivered"]);
  const killed = await stage();
  await killed.at("12:00");
  await killed.journal.post(killed.key, {
    id: `due:${Date.parse("2026-11-24T12:30Z")}`,
    kind: "timer",
  });
  await killed.at("12:31");
  await killed.at("12:32");
  expect(await killed.reminders()).toHaveLength(1);
  expect(await reminders()).toHaveLength(1);
});

test("what is resolved, of another severity or stopped is not reminded of; a word after Stop begins again", async () => {
  const other = await stage({ severity: "sev3" });
  await other.at("13:00");
  expect(await other.reminders()).toEqual([]);
  // Another severity begins it.
  await other.say({ severity: "sev1" });
  await other.at("13:30");
  expect(await other.reminders()).toHaveLength(1);
  await other.at("13:40");
  await other.resolve();
  await other.at("15:00");
  expect(await other.reminders()).toHaveLength(1);
  expect(await other.dueAt()).toBeUndefined();

  const stopped = await stage();
  await stopped.at("12:10");
  await stopped.journal.post(THREAD, {
    id: "stop:1",
    kind: "stop",
    actor: { account: "slack:T1:U1", name: "ana" },
  });
  await stopped.at("13:00");
  expect(await stopped.reminders()).toEqual([]);
  await stopped.say({ note: "Still looking" });
  await stopped.at("13:30");
  expect(await stopped.reminders()).toHaveLength(1);
});

test("clocks that are put back remind of nothing again", async () => {
  const { at, reminders } = await stage();
  await at("12:30");
  await at("12:10");
  await at("12:30");
  expect(await reminders()).toHaveLength(1);
  await at("13:00");
  expect(await reminders()).toHaveLength(2);
});

test("an incident's own interval counts in place of its severity's, from when it is set, and never is never", async () => {
  const { at, reminders, say, dueAt, lines } = await stage();
  await at("12:00");
  await at("12:20");
  await say({ updateEvery: 15 });
  await at("12:30");
  expect(await reminders()).toEqual([]);
  expect(await dueAt()).toBe(Date.parse("2026-11-24T12:35Z"));
  await at("12:35");
  expect(await reminders()).toHaveLength(1);
  // Nobody said how it stands: that it is to be said more often is no word of it.
  expect((await reminders())[0]).toContain("no update for 35 min");
  expect((await lines())[0]).toContain("next update due by 2026-11-24 12:50 UTC");
  // Longer, and back to what it was, in one minute.
  await say({ updateEvery: 60 });
  await say({ updateEvery: 15 });
  await at("12:50");
  expect(await reminders()).toHaveLength(2);
  await say({ updateEvery: 0 });
  await at("15:00");
  expect(await reminders()).toHaveLength(2);
  expect(await dueAt()).toBeUndefined();
  await say({ updateEvery: 120 });
  await at("17:00");
  expect(await reminders()).toHaveLength(3);
});

test("an interval of its own reminds where none is set, and another process keeps it", async () => {
  const { at, reminders, key, workerOf, journal } = await stage({ updateEvery: 10 }, {});
  expect((await journal.read(key)).map(({ kind }) => kind)).toEqual(["timer"]);
  await at("12:05");
  await at("12:10");
  expect(await reminders()).toHaveLength(1);
  // All that it knows stands in the journal.
  await Promise.all([workerOf().work(key), workerOf().work(key)]);
  expect(await reminders()).toHaveLength(1);
  await at("12:20");
  expect(await reminders()).toHaveLength(2);
  const none = await stage({}, {});
  expect(await none.journal.read(none.key)).toEqual([]);
});

test("a channel that other companies read along, or of which nobody can say so, hears of no incident of elsewhere", async () => {
  expect(await (await stage()).news()).toHaveLength(1);
  expect(await (await stage(undefined, undefined, async () => true)).news()).toEqual([]);
  let isAway = true;
  const { news, say } = await stage(undefined, undefined, async () => {
    if (isAway) throw new Error("away");
    return false;
  });
  expect(await news()).toEqual([]);
  isAway = false;
  await say({ severity: "sev2" });
  // What was left out meanwhile is told now.
  expect(await news()).toHaveLength(2);
});

test("a channel of a platform that this process does not serve counts as shared and hears nothing", async () => {
  const here = await stage();
  expect((await here.news()).length).toBeGreaterThan(0);
  const elsewhere = await stage({ severity: "sev1" }, {}, async () => false, "discord");
  expect(await elsewhere.news()).toEqual([]);
});
