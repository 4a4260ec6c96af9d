import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readText } from "../../src/commands/grammar.ts";
import { problemOf, run } from "./reading.ts";

describe("the commands about incidents call the ledger's tools", () => {
  const ID = "inc-20261120-k3qa";
  it.each([
    ["incidents", run("incident_stats")],
    ["/incidents", run("incident_stats")],
    ["Incidents last week", run("incident_stats", { period: "last week" })],
    ["handoff", run("handoff", {})],
    ["/handoff last 8 hours", run("handoff", { period: "last 8 hours" })],
    ["What happened last week?", run("handoff", { period: "last week" })],
    ["what happened in the last 24 hours", run("handoff", { period: "last 24 hours" })],
    [
      "incidents 2026-11-01..2026-11-15",
      run("incident_stats", { period: "2026-11-01..2026-11-15" }),
    ],
    ["incidents November", run("incident_stats", { period: "November" })],
    ["incidents search disk full", run("incident_search", { text: "disk full" })],
    ["incidents search 'disk full'", run("incident_search", { text: "disk full" })],
    [`incident ${ID}`, run("incident_get", { id: ID })],
    [`/Incident ${ID.toUpperCase()}`, run("incident_get", { id: ID })],
    ["incident open Checkout fails", run("incident_open", { title: "Checkout fails" })],
    [
      "incident open People can't pay, don't ask severity=sev2 note='since noon'",
      run("incident_open", {
        title: "People can't pay, don't ask",
        severity: "sev2",
        note: "since noon",
      }),
    ],
    [
      'incident open "p99=5s is back" services=web,db',
      run("incident_open", { title: "p99=5s is back", services: "web,db" }),
    ],
    [
      `incident update ${ID} severity=sev1 note="it's the disk"`,
      run("incident_update", { id: ID, severity: "sev1", note: "it's the disk" }),
    ],
    [`incident resolve ${ID}`, run("incident_resolve", { id: ID })],
    [
      `incident resolve ${ID} cause='full disk'`,
      run("incident_resolve", { id: ID, cause: "full disk" }),
    ],
    [`incident postmortem ${ID}`, run("incident_postmortem", { id: ID })],
    [`/incident Post-mortem ${ID.toUpperCase()}`, run("incident_postmortem", { id: ID })],
    ["incident stats", run("incident_stats")],
    ["/incident stats", run("incident_stats")],
    ["Incident statistics, please", run("incident_stats")],
    ["incidents stats", run("incident_stats")],
    ["stats", run("incident_stats")],
    ["incident stats last week", run("incident_stats", { period: "last week" })],
    ["/incident stats last week", run("incident_stats", { period: "last week" })],
    ["show me the incident stats for last week", run("incident_stats", { period: "last week" })],
    ["incident stats 30 days", run("incident_stats", { period: "30 days" })],
    ["incident stats for the last 30 days", run("incident_stats", { period: "last 30 days" })],
    ["incident stats 24h", run("incident_stats", { period: "24h" })],
    ["incidents 30d", run("incident_stats", { period: "30d" })],
    ["any open incidents?", run("incident_search", { status: "open" })],
    ["open incidents", run("incident_search", { status: "open" })],
    [
      "Are there any open sev1 incidents?",
      run("incident_search", { status: "open", severity: "sev1" }),
    ],
    [
      "which incidents are still open for checkout",
      run("incident_search", { status: "open", text: "checkout" }),
    ],
    ["offene Incidents", run("incident_search", { status: "open" })],
    ["incident status", run("incident_search", { status: "open" })],
    ["incident list", run("incident_search", {})],
    ["/incident list", run("incident_search", {})],
    ["list incidents", run("incident_search", {})],
    ["search incidents for disk", run("incident_search", { text: "disk" })],
    ["incident search disk full", run("incident_search", { text: "disk full" })],
    ["did we have a disk incident before?", run("incident_search", { text: "disk" })],
    [
      "incident open Checkout fails sev1",
      run("incident_open", { title: "Checkout fails", severity: "sev1" }),
    ],
    [
      "incident open SEV-2: Checkout fails",
      run("incident_open", { title: "Checkout fails", severity: "sev2" }),
    ],
    [
      "incident open Checkout fails (P1) note=x",
      run("incident_open", { title: "Checkout fails", severity: "sev1", note: "x" }),
    ],
    [
      "incident open Checkout fails sev1 severity=sev3",
      run("incident_open", { title: "Checkout fails sev1", severity: "sev3" }),
    ],
    ["incident open 'Alerts say sev1'", run("incident_open", { title: "Alerts say sev1" })],
    [
      "incident open the sev1 alert is wrong",
      run("incident_open", { title: "the sev1 alert is wrong" }),
    ],
    ["incident open sev1", run("incident_open", { title: "sev1" })],
    ["How many incidents did we have last month?", run("incident_stats", { period: "last month" })],
    ["how many incidents in november?", run("incident_stats", { period: "november" })],
    ["MTTR this month", run("incident_stats", { period: "this month" })],
  ])("%j", (text, expected) => {
    expect(readText(text)).toEqual(expected);
  });

  it.each([
    "handoff of the pager is at nine",
    "what happened?",
    "what happened to web last week?",
    "what happened",
    "incidents happen",
    "incidents last longer than last week",
    "incidents in november were worse",
    "incidents searched",
    "incident",
    "approved",
    "nodes",
    "shop",
    "tool failed",
    "costs today were high",
    "the open incidents worry me",
    "any incidents should be told to Ana",
    "search the logs for incidents",
    "incident management is hard",
    "incident opened by Ana",
    "incident update please",
    "incident resolve it now",
    "incident response: who is on call?",
    "incident postmortem was good reading",
    "incident stats are bad this month",
    "how many incidents are due to the new proxy?",
    "mttr is too long",
    "stats of the pods",
  ])("%j is a message", (text) => {
    expect(readText(text)).toEqual({ kind: "message" });
  });

  it.each([
    [
      "/incidents last moth",
      'I don\'t understand the period "last moth". Write today, yesterday, this week',
    ],
    ["incidents search", "Usage: `incidents"],
    ["/incident", "Usage: `incident <id>"],
    ["/incident update it", "Usage: `incident update <id>"],
    [`incident ${ID} severity=sev1`, "`incident update <id>"],
    [`incident update ${ID}`, "Usage: `incident update <id>"],
    [
      `incident update ${ID} it is the disk`,
      "I expected name=value, not it. Usage: `incident update <id>",
    ],
    [`incident resolve ${ID} id=x`, "You gave id twice"],
    ["incident postmortem", "Usage: `incident postmortem <id>`"],
    [
      `incident postmortem ${ID} now`,
      "I expected name=value, not now. Usage: `incident postmortem",
    ],
    ["incident stats last moth", 'I don\'t understand the period "last moth". Write today'],
    [
      `incident close ${ID}`,
      "I don't know `incident close`. Usage: `incident <id>` or `incident open",
    ],
    ["incident close", "`incident resolve <id> [cause='…']` or `incident postmortem <id>`"],
    ["incident opne", "Did you mean `incident open`?"],
    [
      "incident opne Checkout is down",
      "Did you mean `incident open Checkout is down`? I did nothing.",
    ],
    [`incident udpate ${ID} note=x`, "Did you mean `incident update`?"],
    ["incidents serach disk", "Did you mean `incidents search disk`?"],
    ["incidnet open Checkout is down", "Did you mean `incident open Checkout is down`?"],
    ["stauts", "Did you mean `status`? I did nothing."],
    ["aprovals", "Did you mean `approvals`?"],
    ["handof last week", "Did you mean `handoff last week`?"],
    ["freze prod until 14:00", "Did you mean `freeze prod until 14:00`?"],
    ["/incident ack", "I don't know `incident ack`."],
    ["incident open", "Usage: `incident open <title>"],
    ["incident open severity=sev1", "Usage: `incident open <title>"],
    ["incident open Down title=Up", "You gave title twice"],
    ["incident open Down note='x", "You opened a quote and didn't close it."],
    ["/incidnets", "Did you mean /incidents?"],
  ])("%j says what to type", (text, problem) => {
    expect(problemOf(text)).toContain(problem);
  });

  it("what people type about them never makes it throw", () => {
    const part = fc.constantFrom(
      ..."incident incidents open update resolve postmortem stats close search inc- inc-20261120-k3qa last week x= '\" ' \"".split(
        " ",
      ),
      " ",
      " ",
      "\n",
    );
    const kinds = ["message", "command"];
    fc.assert(
      fc.property(
        fc.array(part).map((parts) => parts.join("")),
        (text) => {
          expect(kinds).toContain(readText(`incident${text}`).kind);
          expect(readText(` ${text} `)).toEqual(readText(text.trim()));
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
