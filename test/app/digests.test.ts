import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { createDigests } from "../../src/app/digests.ts";
import { createHandoffs } from "../../src/app/handoffs.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { loadConfig } from "../../src/config/config.ts";
import { createWorker } from "../../src/worker/worker.ts";
import { createChat } from "../fakes/chat.ts";
import { createLedger } from "../fakes/ledger.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import { until } from "../until.ts";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ANA = "slack:T1:U0ANA";

async function configOf(yaml: string) {
  const cwd = await mkdtemp(join(tmpdir(), "digests-"));
  onTestFinished(() => rm(cwd, { recursive: true }));
  await writeFile(join(cwd, "watchkeeper.yaml"), yaml);
  return loadConfig({}, { cwd });
}

/** A program with digests, and a clock of the test's; G1 is a private channel, and other companies read X1 along. */
async function stage(yaml: string, frozen: string[] = []) {
  const config = await configOf(yaml);
  const clock = { now: Date.parse("2026-11-23T10:00Z") };
  const journal = openMemoryJournal({ now: () => clock.now });
  onTestFinished(() => journal.close());
  const ledger = createLedger(journal);
  const said: { channel: string; text: string }[] = [];
  const { adapter } = createChat({ transport: "slack" });
  const own = ["slack:T1:G1", "slack:T1:X1"];
  adapter.audience = async (key) => own.find((place) => key.startsWith(place));
  adapter.hasOutsiders = async (key) => key.startsWith("slack:T1:X1");
  adapter.announce = async (channel, { text }) => `m${said.push({ channel, text })}`;
  const adapters = new Map([["slack", adapter]]);
  const encode = (text: string) => text.replaceAll("hunter2", "•••");
  const log = pino({ level: "silent" });
  const woken: JournalKey[] = [];
  const digests = await createDigests({
    config,
    journal,
    adapters,
    handoffs: createHandoffs({
      journal,
      adapters,
      ledger,
      tools: () => [],
      freezes: {
        known: (now) =>
          frozen.map((what) => ({
            id: what,
            what,
            until: now + 60_000,
            by: { account: ANA, name: "ana" },
            because: undefined,
          })),
      },
      encode,
    }),
    ops: { tell: async () => false },
    encode,
    wake: (key) => void woken.push(key),
    log,
  });
  const started = digests.start();
  onTestFinished(() => started.stop());
  await until(() => woken.length === digests.coming().length);
  const [[, handler] = []] = digests.handlers();
  const parts = { journal, log, leaseMs: 2_000, wakeAt: () => {} };
  return {
    digests,
    said,
    woken,
    async at(time: string) {
      clock.now = Date.parse(time);
      for (const key of new Set(woken)) await createWorker(parts, () => handler).work(key);
    },
    open: (channel: string, title: string, audience?: string) =>
      ledger.open(
        {
          actor: { account: ANA, name: "ana" },
          thread: `slack:T1:${channel}:1.1`,
          call: title,
          link: undefined,
          audience,
          tenants: ["slack:T1"],
          at: clock.now,
        },
        { title },
      ),
  };
}

const TWO = `
timezone: Europe/Madrid
digests:
  - { cron: "0 8 * * 1-5", channel: "slack:T1:C1" }
  - { cron: "0 9 * * 1", zone: UTC, channel: "slack:T1:G1", period: last week }
`;

test("each channel is told what its readers may read, of the period that ended when it was due, and secrets are taken out", async () => {
  const { at, open, said, digests, woken } = await stage(TWO);
  expect(woken).toHaveLength(2);
  await at("2026-11-23T11:00Z");
  await open("C1", "Checkout fails with hunter2");
  await open("G1", "Payroll leaks", "slack:T1:G1");
  await at("2026-11-24T07:00:30Z");
  expect(said).toHaveLength(1);
  expect(said[0]?.channel).toBe("slack:T1:C1");
  expect(said[0]?.text).toMatch(
    /^Last 12 hours \(Mon 2026-11-23 20:00:00 to Tue 2026-11-24 08:00:00 Europe\/Madrid\): 0 incidents opened/,
  );
  expect(said[0]?.text).toContain("Checkout fails with •••");
  expect(said[0]?.text).not.toContain("Payroll");
  await at("2026-11-30T09:30Z");
  expect(said.map(({ channel }) => channel)).toEqual(["slack:T1:C1", "slack:T1:C1", "slack:T1:G1"]);
  expect(said[2]?.text).toMatch(
    /^This was due 30 min ago\. Last week \(Mon 2026-11-23 00:00:00 to/,
  );
  expect(said[2]?.text).toContain("Payroll leaks");
  expect(digests.coming()).toHaveLength(2);
});

test("a channel that other companies read along is told of what belongs to it, and of nothing else", async () => {
  const yaml = 'digests:\n  - { cron: "0 8 * * *", channel: "slack:T1:X1" }\n';
  const { at, open, said } = await stage(yaml, ["payments"]);
  await at("2026-11-23T11:00Z");
  await open("C1", "Checkout fails");
  await open("G1", "Payroll leaks", "slack:T1:G1");
  await at("2026-11-24T08:00:30Z");
  expect(said).toEqual([]);
  await open("X1", "The partner's feed is late", "slack:T1:X1");
  await at("2026-11-25T08:00:30Z");
  expect(said).toHaveLength(1);
  expect(said[0]?.text).toContain("The partner's feed is late");
  expect(said[0]?.text).not.toMatch(/Checkout|Payroll|payments/);
});

test("nothing to say: nothing said", async () => {
  const { at, said } = await stage(TWO);
  await at("2026-11-24T07:00Z");
  expect(said).toEqual([]);
});

test("mistakes are told with their lines", async () => {
  await expect(
    configOf('digests:\n  - { cron: "0 8 * *", zone: Mars, channel: C1, period: soon }\n'),
  ).rejects.toThrow(
    /yaml:2:7: digests\[0\].cron: expected five fields[^]*zone: expected a zone[^]*channel: expected one channel[^]*period: expected today/,
  );
});
