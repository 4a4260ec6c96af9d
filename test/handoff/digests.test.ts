import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { BotError } from "../../src/core/errors.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { type Announce, createDigestHandler } from "../../src/handoff/digest-handler.ts";
import { createSchedule } from "../../src/handoff/schedule.ts";
import { createWorker } from "../../src/worker/worker.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";

const CHANNEL = "slack:T1:C1";
const KEY: JournalKey = `digest:${CHANNEL}:0123`;

/** A digest at 8:00 on weekdays, with a clock of the test's; `said` is what the channel shows. */
async function stage(cron = "0 8 * * 1-5", since = "2026-11-23T10:00Z") {
  const clock = { now: Date.parse(since) };
  const journal = openMemoryJournal({ now: () => clock.now });
  onTestFinished(() => journal.close());
  const schedule = await createSchedule(cron, "Europe/Madrid");
  const said = new Map<string, string>();
  const [trouble, ops, tries]: [(() => void)[], Map<string, string>, string[]] = [
    [],
    new Map(),
    [],
  ];
  /** The process dies when it has said it. */
  const deaths: string[] = [];
  const announce: Announce = async (channel, text, { id }) => {
    tries.push(text);
    trouble[0]?.();
    if (!said.has(id)) said.set(id, `${channel} ${text}`);
    const death = deaths.shift();
    if (death !== undefined) throw new Error(death);
    return `ref ${id}`;
  };
  const quiet = { is: false };
  const workerOf = () => {
    const handler = createDigestHandler({
      digestOf: (key) =>
        key === KEY
          ? {
              key,
              channel: CHANNEL,
              what: "digest",
              schedule,
              text: async (at, now) =>
                quiet.is
                  ? undefined
                  : `${new Date(at).toISOString().slice(5, 16)} ${Math.floor((now - at) / 60_000)} min late`,
            }
          : undefined,
      announcerOf: (transport) => (transport === "slack" ? announce : undefined),
      tellOps: async (id, text) => void ops.set(id, text),
    });
    const parts = { journal, log: pino({ level: "silent" }), leaseMs: 2_000, wakeAt: () => {} };
    return createWorker(parts, () => handler);
  };
  await journal.post(KEY, { id: "begin", kind: "timer" });
  return {
    clock,
    journal,
    quiet,
    trouble,
    deaths,
    ops,
    tries,
    said: () => [...said.values()].map((text) => text.slice(CHANNEL.length + 1)),
    workerOf,
    /** The clock shows this, and whoever is awake looks. */
    async at(time: string, worker = workerOf()) {
      clock.now = Date.parse(time);
      await worker.work(KEY);
    },
    async dueAt() {
      for await (const { dueAt } of journal.list({ prefix: KEY })) return dueAt;
      return undefined;
    },
  };
}

test("a digest is made when it is due, once for all replicas and restarts, and the journal says when the next is", async () => {
  const { at, said, workerOf, dueAt } = await stage();
  await at("2026-11-23T10:00Z");
  expect(await dueAt()).toBe(Date.parse("2026-11-24T07:00Z"));
  await at("2026-11-24T06:59:59Z");
  expect(said()).toEqual([]);
  const [one, other] = [workerOf(), workerOf()];
  await Promise.all([at("2026-11-24T07:00Z", one), at("2026-11-24T07:00Z", other)]);
  await at("2026-11-24T07:00:01Z");
  expect(said()).toEqual(["11-24T07:00 0 min late"]);
  // Friday is followed by Monday.
  await at("2026-11-27T07:05Z");
  expect(await dueAt()).toBe(Date.parse("2026-11-30T07:00Z"));
});

test("where nobody was awake it is made late, once for all that were missed; too late it is left out and operators hear of it", async () => {
  const { at, said, ops } = await stage();
  await at("2026-11-23T10:00Z");
  await at("2026-11-26T09:30Z");
  await at("2026-11-26T09:31Z");
  expect(said()).toEqual(["11-26T07:00 150 min late"]);
  await at("2026-11-27T20:00Z");
  expect(said()).toHaveLength(1);
  expect([...ops.values()]).toEqual([
    "The digest for slack:T1:C1 that was due at 2026-11-27T07:00:00Z was not made in time, so it is left out.",
  ]);
  await at("2026-11-30T07:00Z");
  expect(said()).toEqual(["11-26T07:00 150 min late", "11-30T07:00 0 min late"]);
});

test("what was due before it was configured is not made", async () => {
  const { at, said } = await stage();
  await at("2026-11-23T10:00:05Z");
  expect(said()).toEqual([]);
});

test("whoever takes over from a process that died between the timer and the message, or after it, says it once", async () => {
  const { at, said, trouble } = await stage();
  trouble.push(() => {
    throw new Error("killed before");
  });
  await expect(at("2026-11-24T07:00Z")).rejects.toThrow("killed before");
  trouble.length = 0;
  expect(said()).toEqual([]);
  await at("2026-11-24T07:00:05Z");
  expect(said()).toHaveLength(1);

  const after = await stage();
  after.deaths.push("killed after");
  await expect(after.at("2026-11-24T07:00Z")).rejects.toThrow("killed after");
  expect(after.said()).toHaveLength(1);
  await after.at("2026-11-24T07:00:05Z");
  expect(after.said()).toHaveLength(1);
  expect(after.tries).toHaveLength(2);
});

test("nothing to say: nothing is said, and it is not looked for again", async () => {
  const { at, said, quiet, journal } = await stage();
  quiet.is = true;
  await at("2026-11-24T07:00Z");
  quiet.is = false;
  await at("2026-11-24T07:01Z");
  expect(said()).toEqual([]);
  expect((await journal.read(KEY)).at(-1)).toMatchObject({
    kind: "delivered",
    instead: { to: "nobody", why: "there is nothing to say" },
  });
});

test("a channel that cannot be reached is told to operators once and tried again, until it is too late", async () => {
  const { at, said, trouble, ops, tries } = await stage();
  const refuse = () => {
    throw new BotError("PLATFORM_REFUSED", "I'm not in slack:T1:C1.");
  };
  trouble.push(refuse);
  await at("2026-11-24T07:00Z");
  await at("2026-11-24T07:00:30Z");
  expect(said()).toEqual([]);
  expect(tries).toHaveLength(2);
  expect([...ops.values()]).toEqual([
    "The digest for slack:T1:C1 that was due at 2026-11-24T07:00:00Z could not be shown, and is tried again. I'm not in slack:T1:C1.",
  ]);
  trouble.length = 0;
  await at("2026-11-24T08:00Z");
  expect(said()).toEqual(["11-24T07:00 60 min late"]);
  trouble.push(refuse);
  await at("2026-11-25T07:00Z");
  await at("2026-11-25T19:30Z");
  expect([...ops.values()].at(-1)).toContain("was not made in time");
  expect(said()).toHaveLength(1);
});

test("clocks that are put back make nothing again, and clocks that ran ahead hold nothing up", async () => {
  const { at, said, dueAt } = await stage();
  await at("2026-11-24T07:00Z");
  await at("2026-11-24T06:00Z");
  await at("2026-11-24T07:00:30Z");
  expect(said()).toHaveLength(1);
  // A clock that is years ahead, and then right again.
  await at("2031-01-06T07:00Z");
  expect(said()).toHaveLength(2);
  await at("2026-11-24T12:00Z");
  expect(await dueAt()).toBe(Date.parse("2026-11-25T07:00Z"));
  await at("2026-11-25T07:00Z");
  expect(said()).toEqual([
    "11-24T07:00 0 min late",
    "01-06T07:00 0 min late",
    "11-25T07:00 0 min late",
  ]);
});

test("on the days on which clocks change there is one digest each", async () => {
  const autumn = await stage("30 2 * * *", "2026-10-24T12:00Z");
  for (const time of ["24T23:00Z", "25T00:30Z", "25T01:30Z", "25T02:00Z", "26T01:30Z"])
    await autumn.at(`2026-10-${time}`);
  expect(autumn.said()).toEqual(["10-25T00:30 0 min late", "10-26T01:30 0 min late"]);
  const spring = await stage("30 2 * * *", "2026-03-28T12:00Z");
  for (const time of ["29T00:30Z", "29T01:00Z", "29T01:30Z", "30T00:30Z"])
    await spring.at(`2026-03-${time}`);
  expect(spring.said()).toEqual(["03-29T01:00 0 min late", "03-30T00:30 0 min late"]);
});
