import { expect, onTestFinished, test } from "vitest";
import { createHandoffs } from "../../src/app/handoffs.ts";
import type { AppendKind, Draft } from "../../src/core/entry.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { isQuiet } from "../../src/handoff/handoff.ts";
import { handoffText } from "../../src/handoff/words.ts";
import { readPeriod } from "../../src/incidents/period.ts";
import type { Lease } from "../../src/journal/journal.ts";
import { createChat } from "../fakes/chat.ts";
import { createLedger } from "../fakes/ledger.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";

const ZONE = "Europe/Madrid";
const [ANA, C1, C2]: [string, JournalKey, JournalKey] = [
  "slack:T1:U0ANA",
  "slack:T1:C1:1.1",
  "slack:T1:C2:2.1",
];
const SECRET: JournalKey = "slack:T1:G1:3.1";

/** Threads on Slack, with a clock of the test's; G1 is private. */
function stage() {
  const clock = { now: 0 };
  const journal = openMemoryJournal({ now: () => clock.now });
  onTestFinished(() => journal.close());
  const ledger = createLedger(journal);
  const { adapter } = createChat({ transport: "slack" });
  adapter.audience = async (key) => (key.startsWith("slack:T1:G1") ? "slack:T1:G1" : undefined);
  adapter.link = (key) => `https://slack/${key}`;
  const handoffs = createHandoffs({
    journal,
    adapters: new Map([["slack", adapter]]),
    ledger,
    tools: () => [{ name: "remember", own: true }],
    freezes: { known: () => [] },
    encode: (text) => text,
  });
  const at = (time: string) => void (clock.now = Date.parse(time));
  let runs = 0;
  const leases = new Map<JournalKey, Lease>();
  async function write(key: JournalKey, drafts: Draft<AppendKind>[]) {
    const lease = leases.get(key) ?? (await journal.lease(key, 1e12))?.lease;
    if (lease === undefined) throw new Error("no lease");
    leases.set(key, lease);
    for (const draft of drafts) {
      const { last = 0, head } = (await journal.summary(key)) ?? {};
      expect(await journal.append(lease, { last, head }, [draft])).toMatchObject({ kind: "ok" });
    }
  }
  return {
    at,
    clock,
    ledger,
    journal,
    write,
    /** A person's command that runs a tool, up to how it ended. */
    async call(
      key: JournalKey,
      tool: string,
      end: Partial<Draft<"tool_finished">> = {},
      effect: "read" | "write" = "read",
    ) {
      const [run, call] = [`r${(runs += 1)}`, `r${runs}.t1`];
      await journal.post(key, {
        id: `msg:${runs}`,
        kind: "command",
        actor: { account: ANA, name: "ana" },
        text: `run ${tool}`,
        command: { name: "run", tool, args: {} },
      });
      await write(key, [
        {
          id: `started:${run}`,
          kind: "run_started",
          run,
          answers: [`msg:${runs}`],
          principals: [ANA],
          calls: [{ call, tool, args: {} }],
        },
        {
          id: `started:${call}`,
          kind: "tool_started",
          run,
          call,
          tool,
          effect,
          doing: `Doing ${tool}`,
        },
        {
          id: `finished:${call}`,
          kind: "tool_finished",
          run,
          call,
          outcome: "ok",
          text: "",
          ...end,
        },
        { id: `ended:${run}`, kind: "run_ended", run, status: "completed" },
      ]);
    },
    /** A person's question that no model, check or tool answers. */
    async ask(key: JournalKey, text: string) {
      const [run, id] = [`r${(runs += 1)}`, `msg:${runs}`];
      await journal.post(key, { id, kind: "message", actor: { account: ANA, name: "ana" }, text });
      await write(key, [
        {
          id: `started:${run}`,
          kind: "run_started",
          run,
          answers: [id],
          principals: [ANA],
          calls: [],
        },
        { id: `ended:${run}`, kind: "run_ended", run, status: "failed", text: "I have no tool." },
      ]);
    },
    async text(period: string, audience?: string) {
      const read = await readPeriod(period, { zone: ZONE, now: clock.now });
      const found = await handoffs.of(read, { audience, tenants: ["slack:T1"] }, clock.now);
      return { found, text: handoffText(found, (text) => text) };
    },
  };
}

test("what happened last week is exact to the second, at both bounds and where the clocks change", async () => {
  const { at, call, text, ledger } = stage();
  const opened = (by: string, title: string, now: number) =>
    ledger.open(
      {
        actor: { account: ANA, name: "ana" },
        thread: C1,
        call: by,
        link: undefined,
        audience: undefined,
        tenants: ["slack:T1"],
        at: now,
      },
      { title },
    );
  // In Madrid the clocks are put back on Sunday: that week has 169 hours.
  const [first, last] = ["2026-10-18T22:00:00Z", "2026-10-25T22:59:59.999Z"];
  for (const [i, time] of [
    "2026-10-18T21:59:59.999Z",
    first,
    last,
    "2026-10-25T23:00:00Z",
  ].entries()) {
    at(time);
    await call(C1, `change_${i}`, {}, "write");
    await opened(`r${i}.t9`, `Incident ${i}`, Date.parse(time));
  }
  at("2026-10-28T12:00:00Z");
  const { text: said } = await text("last week");
  expect(said.split("\n")[0]).toBe(
    "Last week (Mon 2026-10-19 00:00:00 to Mon 2026-10-26 00:00:00 Europe/Madrid): 2 incidents opened, 0 resolved, 3 open at its end; 2 changes; 0 approvals waiting.",
  );
  expect([...said.matchAll(/change_\d/g)].map(String)).toEqual(["change_1", "change_2"]);
  expect([...said.matchAll(/Incident \d/g)].map(String)).toEqual([
    "Incident 2",
    "Incident 1",
    "Incident 0",
  ]);
  expect(said).toContain("Mon 2026-10-19 00:00:00 r2.t1 Doing change_1: done");
  expect(said).toContain("Sun 2026-10-25 23:59:59 r3.t1 Doing change_2: done");
  expect(said).toContain("Cost: 2 runs in 1 thread, 0 tokens.");
});

test("what could not be seen is counted by what would help, and refused reads name their rule", async () => {
  const { at, call, text } = stage();
  at("2026-11-20T10:00:00Z");
  const gap = {
    what: "secrets in namespace shop",
    why: "forbidden",
    help: "Allow get on secrets.",
  };
  for (const key of [C1, C1, C2]) await call(key, "kubernetes_get", { gaps: [gap, gap] });
  await call(SECRET, "kubernetes_get", { gaps: [{ ...gap, what: "nodes" }] });
  const blocked = { outcome: "blocked", text: "No logs here." } as const;
  await call(C2, "read_log", { ...blocked, deniedBy: "approvals.rules" });
  // No rule says so: what its words begin with is no reason to change one.
  await call(C2, "read_file", { ...blocked, text: "Rule of the file: it is too long." });
  at("2026-11-20T11:00:00Z");
  const { text: said } = await text("today");
  expect(said).toContain(`What I could not see:
- secrets in namespace shop: forbidden (3 calls). Allow get on secrets.
- what read_log shows: No logs here (1 call). If people here should have read_log, allow it in approvals.rules of watchkeeper.yaml.`);
  expect(said).not.toContain("nodes");
  expect(said).not.toContain("read_file");
  expect((await text("today", "slack:T1:G1")).text).toContain("nodes");
});

test("what is done and was not yet looked at again, and what came back in several threads, is named; reads are quiet", async () => {
  const { at, call, text } = stage();
  at("2026-11-20T10:00:00Z");
  await call(C1, "disk_usage");
  await call(C1, "remember", {}, "write");
  at("2026-11-20T10:00:01Z");
  expect(isQuiet((await text("today")).found)).toBe(true);
  await call(C1, "kubernetes_scale", { verifyAfterMs: 300_000 }, "write");
  const found = {
    object: { kind: "Filesystem", namespace: "", name: "/var" },
    cause: "full",
    severity: "error" as const,
    evidence: "100 %",
    since: null,
  };
  for (const key of [C1, C2]) await call(key, "disk_usage", { findings: [found] });
  at("2026-11-20T10:01:00Z");
  const { text: said, found: all } = await text("today");
  expect(isQuiet(all)).toBe(false);
  expect(said).toContain(
    "Not verified yet:\n- r3.t1 Doing kubernetes_scale; to be looked at again Fri 2026-11-20 11:05:01",
  );
  expect(said).toContain("Recurring:\n- Filesystem /var: full (in 2 threads)");
  expect(said).not.toContain("remember");
});

test("silences are told until they end or are ended, questions without an answer with how often", async () => {
  const { at, call, ask, text } = stage();
  at("2026-11-20T10:00:00Z");
  const until = Date.parse("2026-11-20T12:00:00Z");
  const undo = (id: string) => ({
    undo: { tool: "alertmanager_expire_silence", args: { id, until } },
  });
  await call(C1, "alertmanager_silence", undo("s1"), "write");
  await ask(C1, "Is the coffee machine well?");
  await ask(C2, "is the coffee  machine well?");
  at("2026-11-20T11:00:00Z");
  const { text: said } = await text("last 30 hours");
  expect(said).toContain(
    "Silenced:\n- r1.t1 Doing alertmanager_silence; ends Fri 2026-11-20 13:00:00, within the next 30 h; https://slack/slack:T1:C1:1.1",
  );
  expect(said).toContain('- "is the coffee machine well?" (2 times); https://slack/');
  at("2026-11-20T12:00:00Z");
  expect((await text("today")).text).not.toContain("Silenced");
});

/** How a group of C1's alerts stands, as its thread is told. */
const alertState = (
  group: string,
  more: Pick<Draft<"alert_state">, "last" | "name" | "firing" | "resolved"> &
    Partial<Pick<Draft<"alert_state">, "overAt" | "flaps">>,
): Draft<"alert_state"> => ({
  id: `state:${group}:${more.last}`,
  kind: "alert_state",
  of: "alerts:slack:T1:C1",
  group,
  acknowledged: 0,
  told: 2,
  folded: [],
  startedAt: Date.parse("2026-11-19T09:00:00Z"),
  alerts: [],
  ...more,
});

test("alerts that were over before the period are not told again", async () => {
  const { at, journal, text } = stage();
  at("2026-11-19T10:00:00Z");
  const overAt = Date.parse("2026-11-19T10:00:00Z");
  const over = { last: 1, name: "DiskFull", firing: 0, resolved: 1, overAt };
  await journal.post(C1, alertState("g1", over));
  at("2026-11-20T12:00:00Z");
  expect(isQuiet((await text("today")).found)).toBe(true);
  expect((await text("yesterday")).text).toContain("Alerts that are over:\n- DiskFull");
});

test("of a thread with several groups of alerts each is told of", async () => {
  const { at, journal, text } = stage();
  at("2026-11-20T10:00:00Z");
  const fires = { last: 1, name: "DiskFull", firing: 1, resolved: 0 };
  await journal.post(C1, alertState("g1", fires));
  const over = { last: 2, name: "HighLatency", firing: 0, resolved: 1 };
  await journal.post(C1, alertState("g2", over));
  at("2026-11-20T12:00:00Z");
  const said = (await text("today")).text;
  expect(said).toContain("Alerts that fire:\n- DiskFull");
  expect(said).toContain("Alerts that are over:\n- HighLatency");
});

test("who may see a thread is judged by its places as they are when somebody asks, not as they were", async () => {
  const { at, call, write, text } = stage();
  at("2026-11-19T10:00:00Z");
  await call(C1, "kubernetes_scale", {}, "write");
  at("2026-11-20T10:00:00Z");
  expect((await text("yesterday")).text).toContain("Doing kubernetes_scale");
  await write(C1, [{ id: "view:1", kind: "view_added", view: SECRET }]);
  expect((await text("yesterday")).text).not.toContain("kubernetes_scale");
  await write(C1, [{ id: "unview:1", kind: "view_removed", view: SECRET }]);
  expect((await text("yesterday")).text).toContain("Doing kubernetes_scale");
});

test("who only mistyped was told how to type it: that is no answer that failed, and no question without one", async () => {
  const { at, ask, write, journal, text } = stage();
  at("2026-11-20T10:00:00Z");
  const actor = { account: ANA, name: "ana" };
  const command = { name: "invalid", problem: "Did you mean `status`?" } as const;
  await journal.post(C1, { id: "cmd:1", kind: "command", actor, text: "statsu", command });
  await write(C1, [
    {
      id: "started:h1",
      kind: "run_started",
      run: "h1",
      answers: ["cmd:1"],
      principals: [ANA],
      calls: [],
    },
    { id: "ended:h1", kind: "run_ended", run: "h1", status: "failed", text: command.problem },
  ]);
  await ask(C1, "restart");
  const hinted = (await text("today")).text;
  expect(hinted).not.toMatch(/I failed to answer|no check and no tool/);
  await ask(C1, "why does the payroll fail?");
  const asked = (await text("today")).text;
  expect(asked).toMatch(/I failed to answer in:\n- .*\(1 time\)/);
  expect(asked).toMatch(/no check and no tool for:\n- "why does the payroll fail\?"/);
});

test("a question that was deleted after the period is not shown", async () => {
  const { at, ask, journal, text } = stage();
  at("2026-11-19T10:00:00Z");
  await ask(C1, "why does the payroll fail for Eve?");
  at("2026-11-20T10:00:00Z");
  await journal.post(C1, { id: "msg:1:removed", kind: "removed", of: "msg:1" });
  const said = (await text("yesterday")).text;
  expect(said).toContain("What I had no check and no tool for");
  expect(said).not.toContain("payroll");
});

test("what maintenance kept quiet is told with until when, to who may read the channel; so is what flaps", async () => {
  const { at, journal, text } = stage();
  at("2026-11-20T10:00:00Z");
  const until = Date.parse("2026-11-20T14:30:00Z");
  const alert = (name: string, status: "firing" | "resolved" = "firing") =>
    ({ fingerprint: name, status, name, labels: {} }) as const;
  const rule = { groupBy: [], windowMs: 600_000 };
  const quiet = { window: "nightly backups", until };
  const said = (id: string, ...alerts: ReturnType<typeof alert>[]): Draft<"alert"> => ({
    id: `alert:${id}`,
    kind: "alert",
    source: "alertmanager",
    alerts,
    rule,
    quiet,
  });
  await journal.post("alerts:slack:T1:C1", said("1", alert("BackupSlow"), alert("DiskFull")));
  await journal.post("alerts:slack:T1:C1", said("2", alert("BackupSlow", "resolved")));
  await journal.post("alerts:slack:T1:G1", said("3", alert("Secret")));
  const flaps = { turns: 8, since: Date.parse("2026-11-20T09:40:00Z") };
  const fires = { last: 1, name: "Cpu", firing: 1, resolved: 0, flaps };
  await journal.post(C1, alertState("g1", fires));
  at("2026-11-20T11:00:00Z");
  const { text: told, found } = await text("last 8 hours");
  expect(isQuiet({ ...found, threads: [] })).toBe(false);
  expect(told).toContain(
    "Kept quiet by maintenance:\n- nightly backups: 3 alerts kept quiet (BackupSlow, DiskFull), 1 still fires; ends Fri 2026-11-20 15:30:00, within the next 8 h; slack:T1:C1",
  );
  expect(told).not.toContain("Secret");
  expect(told).toMatch(/- Cpu: 1 firing since .*, told 2 times, flapping: 8 changes in 20 min;/);
  expect((await text("last 8 hours", "slack:T1:G1")).text).toContain("Secret");
  at("2026-11-20T20:00:00Z");
  expect((await text("last 4 hours")).text).not.toContain("nightly backups");
});

test("in the terminal of a store that serves Slack the answer says what it does not cover, instead of a wrong 0", async () => {
  const { at, call, journal, clock } = stage();
  at("2026-11-20T10:00:00Z");
  await call(C1, "kubernetes_scale", {}, "write");
  await call(SECRET, "kubernetes_scale", {}, "write");
  const { adapter } = createChat({ transport: "terminal" });
  const handoffs = createHandoffs({
    journal,
    adapters: new Map([["terminal", adapter]]),
    ledger: createLedger(journal),
    tools: () => [],
    freezes: { known: () => [] },
    encode: (said) => said,
  });
  const period = await readPeriod("today", { zone: ZONE, now: clock.now + 1 });
  const viewer = { audience: undefined, tenants: "all" } as const;
  const found = await handoffs.of(period, viewer, clock.now);
  const said = handoffText(found, (each) => each);
  expect(said).toContain(
    "Not in these numbers: 2 threads of Slack. Only the process that serves Slack can say who may read them: ask for the hand-off there",
  );
  expect(said).not.toContain("Nothing to hand over");
  // Nobody here can say which of them is private.
  expect(said).not.toContain("kubernetes_scale");
});

test("a platform that does not answer fails the hand-off alone: nothing is left that nobody waits for", async () => {
  const { journal, ledger } = stage();
  await journal.post("alerts:slack:T1:C1", {
    id: "a1",
    kind: "message",
    actor: { account: ANA, name: "ana" },
    text: "x",
  });
  const { adapter } = createChat({ transport: "slack" });
  adapter.audience = () => Promise.reject(new Error("Slack is away"));
  const lost: unknown[] = [];
  const note = (error: unknown) => void lost.push(error);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  const handoffs = createHandoffs({
    journal,
    adapters: new Map([["slack", adapter]]),
    // It answers only after Slack has failed.
    ledger: {
      list: async (...asked) => {
        await new Promise((done) => setTimeout(done, 20));
        return ledger.list(...asked);
      },
    },
    tools: () => [],
    freezes: { known: () => [] },
    encode: (said) => said,
  });
  const period = await readPeriod("today", { zone: ZONE, now: Date.now() });
  const viewer = { audience: undefined, tenants: ["slack:T1"] };
  await expect(handoffs.of(period, viewer, Date.now())).rejects.toThrow("Slack is away");
  await new Promise((done) => setTimeout(done, 40));
  expect(lost).toEqual([]);
});
