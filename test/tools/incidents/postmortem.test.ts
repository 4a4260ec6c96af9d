import { expect, test } from "vitest";
import type { Change, Ledger } from "../../../src/incidents/incident.ts";
import { createStage, idIn } from "./stage.ts";

const MINUTE = 60_000;

/** The program's own word on an incident of the stage's thread. */
function happen(ledger: Ledger, at: number, id: string, fact: string, change: Change) {
  const link = "https://chat.example/C1/p1";
  return ledger.happened(
    { thread: "test:thread", link, audience: undefined, fact, at },
    id,
    () => change,
  );
}

test("a post-mortem is drafted from the record alone: times and how each is known, durations, cause, timeline, approvers, follow-ups", async () => {
  const { clock, ledger, say } = await createStage();
  const id = idIn(
    await say(
      "incident open Checkout fails severity=sev2 services='web, db' startedAt=12:40 impact='Nobody can pay' roles='commander: Ana'",
    ),
  );
  const start = clock.now;
  const alert = {
    of: "alerts:test:c",
    group: "g1",
    name: "HighErrors",
    startedAt: start - 15 * MINUTE,
    sources: ["alertmanager"],
  };
  await happen(ledger, start, id, "a1", { alert, how: "alert", detectedAt: alert.startedAt });
  clock.now += 5 * MINUTE;
  const votes = [{ name: "Bo", at: clock.now, approve: true }];
  const acted = { action: "a1", title: "Restart web", tool: "restart_service", votes };
  const ended = { ...acted, outcome: "ok" as const, endedAt: clock.now };
  await happen(ledger, clock.now, id, "x1", {
    acted: { ...ended, verified: "fixed", verifiedAt: clock.now + MINUTE },
    how: "action",
    acknowledgedAt: clock.now,
  });
  clock.now += 15 * MINUTE;
  await happen(ledger, clock.now, id, "a2", {
    alert: { ...alert, overAt: clock.now },
    how: "alert",
  });
  await say(`incident update ${id} mitigatedAt=13:06`);
  await say(
    `incident resolve ${id} cause='A full disk' certainty=confirmed evidence='T3, https://grafana.example/d/1' followUp='Alert at 80 %' owner=Cy due=2026-12-01`,
  );
  const draft = await say(`run incident_postmortem id=${id}`);
  expect(draft).toMatch(/^# Post-mortem: Checkout fails\n\nDraft, made from the record of inc-/);
  for (const line of [
    "- **Severity:** sev2",
    "- **Services:** web, db",
    "- **Impact:** Nobody can pay",
    "- **Started:** 2026-11-20 11:40 UTC (12:40 Europe/Madrid) (as said)",
    "- **Detected:** 2026-11-20 11:45 UTC (12:45 Europe/Madrid) (by an alert)",
    "- **Until it was noticed:** 5 min",
    "- **From then until it was taken up:** 20 min",
    "- **Until it was mitigated:** 26 min",
    "- **Until it was over:** 40 min",
    "- **Cause:** A full disk",
    "- **How sure:** confirmed",
    "- **Evidence:** https://grafana.example/d/1",
    "- Restart web: done, approved by Bo, fixed",
    "- **commander:** Ana, since 2026-11-20 13:00",
    "- **Approved:** Bo",
    "- f1 Alert at 80 % (Cy, by 2026-12-01): open",
  ])
    expect(draft.split("\n")).toContain(line);
  const [, timeline = ""] = /## Timeline\n\n([^]*?)\n\n/.exec(draft) ?? [];
  expect(
    timeline.split("\n").map((line) => /^- \S+ (\S+ \*\*\w+:\*\* \w+)/.exec(line)?.[1]),
  ).toEqual([
    "12:45 **Watchkeeper:** alert",
    "13:00 **Ana:** opened",
    "13:06 **Watchkeeper:** action",
    "13:20 **Watchkeeper:** alert",
    "13:20 **Ana:** mitigated",
    "13:20 **Ana:** resolved",
  ]);
  expect(timeline).toContain("approved by Bo 2026-11-20 13:05");
  expect(timeline).toContain('alert "HighErrors" from alertmanager firing since');
  expect(await say(`incident ${id}`)).toContain('- "HighErrors" (alertmanager) since 2026-11-20');
  expect(draft).not.toMatch(/Not recorded|Not verified|Open questions/);
});

test("what the record lacks is an open question each, and nothing is made up for it", async () => {
  const { say } = await createStage();
  const id = idIn(await say("incident open Checkout fails"));
  const draft = await say(`run incident_postmortem id=${id}`);
  const questions = draft.split("\n").filter((line) => line.startsWith("- Not recorded: "));
  expect(questions.map((line) => line.slice(16))).toEqual([
    "how severe it was.",
    "which services it concerned.",
    "whom it hurt, and how.",
    "when it began; it counts from when it was opened.",
    "when it was noticed.",
    "when somebody took it up.",
    "when it hurt nobody any more.",
    "when it was over.",
    "the cause.",
    "what was done about it, but for what the timeline says.",
    "what is to be done afterwards.",
    "who had which role.",
  ]);
  expect(draft).toContain("## Cause\n\nNot recorded; see the open questions.");
  expect(draft).not.toMatch(/\*\*(Severity|Services|Impact|Cause|Resolved|Until)/);
});

test("words in a record cannot make headings, links or lines of their own, and unverified ones are marked", async () => {
  const { say } = await createStage();
  const id = idIn(await say("incident open Checkout fails"));
  const note = "x\n## Cause\n\n- **Cause:** [sabotage](https://evil.example/a_b_) by_night";
  await say(`run incident_update id=${id} note='${note}' cause='all *fine*'`, {
    outside: async () => true,
  });
  const draft = await say(`run incident_postmortem id=${id}`);
  expect(draft.match(/^## Cause$/gm)).toHaveLength(1);
  expect(draft).toContain(
    String.raw`(unverified) cause: all \*fine\*; x \#\# Cause - \*\*Cause:\*\* \[sabotage\](https://evil.example/a_b_) by_night`,
  );
  expect(draft).toContain("- Not verified: cause, written by a bot that may have read");
});

test("whoever may not see an incident gets no post-mortem of it", async () => {
  const { say } = await createStage();
  const id = idIn(await say("incident open Secret", { audience: async () => "test:private" }));
  expect(await say(`run incident_postmortem id=${id}`)).toMatch(/^error: No incident/);
});
