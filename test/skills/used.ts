import { expect, onTestFinished } from "vitest";
import type { AppendKind, Draft } from "../../src/core/entry.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import type { Lease } from "../../src/journal/journal.ts";
import { TEAM_FEEDBACK } from "../../src/team/feedback.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";

const ANA = "slack:T1:U0ANA";
export const DAY_MS = 86_400_000;

/** Threads in which skills are used, with a clock of the test's. */
export function usedSkills() {
  const clock = { now: 10 * DAY_MS };
  const journal = openMemoryJournal({ now: () => clock.now });
  onTestFinished(() => journal.close());
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
    clock,
    journal,
    /** A run that takes the skill up, or tries to; gives its name. */
    async take(key: JournalKey, name: string, outcome: "ok" | "error" = "ok") {
      const run = `r${(runs += 1)}`;
      const call = `${run}.t1`;
      const actor = { account: ANA, name: "ana" };
      await journal.post(key, { id: `msg:${runs}`, kind: "message", actor, text: "why?" });
      await write(key, [
        {
          id: `started:${run}`,
          kind: "run_started",
          run,
          answers: [`msg:${runs}`],
          principals: [ANA],
          calls: [{ call, tool: "activate_skill", args: { name } }],
        },
        {
          id: `finished:${call}`,
          kind: "tool_finished",
          run,
          call,
          tool: "activate_skill",
          outcome,
          text: "",
        },
        { id: `ended:${run}`, kind: "run_ended", run, status: "completed" },
        {
          id: `delivered:main:ended:${run}:final`,
          kind: "delivered",
          view: "main",
          entry: `ended:${run}`,
          stage: "final",
          ref: run,
        },
      ]);
      return run;
    },
    async sawDone(key: JournalKey, call: string, verdict: "done" | "not done") {
      const text = "It is as it should be.";
      await write(key, [
        { id: `verified:${call}`, kind: "notice", text, verifies: { call, verdict } },
      ]);
    },
    async say(thread: JournalKey, run: string, helpful: boolean) {
      const id = `feedback:${run}`;
      const actor = { account: ANA, name: "ana" };
      await journal.post(TEAM_FEEDBACK, { id, kind: "feedback", actor, thread, run, helpful });
    },
  };
}
