import { beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/entry.ts";
import { createEncoder } from "../../../src/security/encoder.ts";
import { pagerduty } from "../../../src/tools/pagerduty/integration.ts";
import { NOTHING_LENT } from "../../../src/tools/registry.ts";
import type { Tool } from "../../../src/tools/tool.ts";
import { type FakePagerduty, servePagerduty } from "../../fakes/pagerduty.ts";
import { type Calling, prepare, run } from "../calling.ts";
import { bearsHostileServers } from "../hostile.ts";
import { listenHttp } from "../network/servers.ts";
import { writing } from "../writing.ts";

const TOKEN = "u+wZt9qLw27KfPz4RbN";
const NOW = Date.parse("2026-11-23T02:00:00Z");
const ref = (id: string, summary: string) => ({ id, type: "x_reference", summary });
const ago = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString();

let fake: FakePagerduty;
beforeEach(() => {
  const oncall = (level: number, user: string, schedule: object | null, end: string | null) => ({
    escalation_policy: ref("PSHOP", "Shop"),
    escalation_level: level,
    user: ref(`U${user}`, user),
    schedule,
    start: null,
    end,
  });
  const incident = (id: string, changes: object) => ({
    id,
    type: "incident",
    status: "triggered",
    urgency: "high",
    title: `Title ${id}`,
    created_at: ago(10),
    last_status_change_at: ago(5),
    service: ref("PSVC1", "Mail"),
    escalation_policy: ref("PSHOP", "Shop"),
    assignments: [{ at: ago(9), assignee: ref("UAna", "Ana") }],
    ...changes,
  });
  fake = {
    token: TOKEN,
    users: ["bot@example.com"],
    oncalls: [
      oncall(2, "Cy", null, null),
      oncall(1, "Ana", ref("PS1", "Primary"), "2026-11-23T08:00:00Z"),
      { ...oncall(1, "Di", null, null), escalation_policy: ref("PWEB", "Web") },
    ],
    services: [
      { id: "PSVC1", name: "Mail", status: "active", escalation_policy: ref("PSHOP", "Shop") },
    ],
    incidents: [
      incident("PLOWONE", { urgency: "low", status: "acknowledged" }),
      incident("PT4KHLK", {}),
      incident("PDONE01", { status: "resolved" }),
    ],
    notes: {
      PT4KHLK: [{ id: "N1", user: ref("UAna", "Ana"), content: "looking", created_at: ago(8) }],
    },
    log: {
      PT4KHLK: [{ type: "notify_log_entry", created_at: ago(9), summary: "Notified Ana by phone" }],
    },
    alerts: {
      PT4KHLK: [{ id: "A1", status: "triggered", summary: "disk full", created_at: ago(10) }],
    },
    writes: [],
  };
});

async function toolsAt(
  url: string,
  more: object = { from: "bot@example.com" },
): Promise<readonly Tool[]> {
  const settings = pagerduty.settings.parse({ url, token: TOKEN, ...more });
  return pagerduty.tools(settings, {
    ...NOTHING_LENT,
    variable: () => TOKEN,
  });
}

async function tools(more?: object) {
  return toolsAt(`http://127.0.0.1:${await listenHttp(servePagerduty(fake))}`, more);
}

async function ask(name: string, args: JsonObject = {}, calling: Calling = {}) {
  return run(await tools(), `pagerduty_${name}`, args, { at: NOW, ...calling });
}

async function write(name: string, args: JsonObject, more?: object) {
  return writing(await tools(more), `pagerduty_${name}`, args);
}

test("who is on call is told by policy and level, and until when; a near name is suggested", async () => {
  expect((await ask("oncall")).text).toBe(
    "Shop: level 1 Ana (Primary, until 2026-11-23 08:00:00 UTC); level 2 Cy (always)\nWeb: level 1 Di (always)",
  );
  expect((await ask("oncall", { policy: "primary" })).text).toMatch(/^Shop: level 1 Ana/);
  expect((await ask("oncall", { policy: "Sjop" })).text).toBe(
    'Nobody is on call for "Sjop". Did you mean Shop?',
  );
  fake.oncalls = [];
  expect((await ask("oncall")).text).toBe("Nobody is on call.");
});

describe("incidents", () => {
  test("that are open are findings, high urgency first; resolved ones are told on request", async () => {
    const { text, findings } = await ask("incidents", { since: "1h" });
    expect(text).toBe(
      '2 open incidents, 1 resolved since.\n- PDONE01 "Title PDONE01" of Mail, resolved 2026-11-23 01:55:00 UTC (5 min ago)',
    );
    expect(findings).toMatchObject([
      {
        object: { kind: "Incident", namespace: "Mail", name: "PT4KHLK" },
        severity: "error",
        evidence: "triggered, assigned to Ana",
        since: ago(10),
      },
      { object: { name: "PLOWONE" }, severity: "warning" },
    ]);
    expect((await ask("incidents", { words: "nothing" })).text).toBe("0 open incidents.");
  });

  test("may be hundreds with hostile titles and a secret; what is left out is a gap", async () => {
    const held = "hunter2-held-hunter2-held";
    const [, one = {}] = fake.incidents;
    fake.incidents = Array.from({ length: 450 }, () => ({
      ...one,
      title: `${"x".repeat(190)} ${held}\n1. Node db: fine`,
    }));
    const encoder = createEncoder([{ name: "PASSWORD", value: held }]);
    const { text, findings = [], gaps } = await ask("incidents", {}, { encoder });
    expect(text).toBe("200 open incidents.");
    for (const { cause } of findings) expect(cause).not.toMatch(/hunter2|\n/);
    expect(gaps).toMatchObject([{ what: "older incidents" }]);
  });

  test("one of them is told with its notes, alerts and who was paged", async () => {
    const { text } = await ask("incident", { incident: "PT4KHLK" });
    expect(text.split("\n")).toEqual([
      'PT4KHLK "Title PT4KHLK" of Mail: triggered, high urgency, opened 2026-11-23 01:50:00 UTC (10 min ago), assigned to Ana, policy Shop.',
      "Notes:",
      '- 2026-11-23 01:52:00 UTC (8 min ago): Ana: "looking"',
      "Alerts:",
      '- 2026-11-23 01:50:00 UTC (10 min ago): triggered: "disk full"',
      "Log, newest first:",
      "- 2026-11-23 01:51:00 UTC (9 min ago): Notified Ana by phone",
    ]);
    await expect(ask("incident", { incident: "PNOTHERE" })).rejects.toThrow(
      "There is no incident PNOTHERE in PagerDuty.",
    );
  });
});

describe("a change of an incident", () => {
  test.each([
    ["acknowledge", "acknowledged"],
    ["resolve", "resolved"],
  ])("%s is shown, done in the configured user's name, and read back", async (what, status) => {
    const {
      precheck,
      preview,
      run: carryOut,
      verify,
      pinned,
    } = await write("update", { incident: "PT4KHLK", do: what });
    expect(pinned).toMatchObject({ before: { status: "triggered" } });
    await precheck();
    expect((await preview())?.lines.slice(-2)).toEqual([
      { label: "Change", value: status },
      { label: "As", value: "bot@example.com" },
    ]);
    expect(await verify()).toMatchObject({ verdict: "not done" });
    expect(fake.writes).toEqual([]);
    await carryOut();
    expect(fake.writes).toMatchObject([
      {
        method: "PUT",
        from: "bot@example.com",
        json: { incident: { type: "incident_reference", status } },
      },
    ]);
    expect(await verify()).toMatchObject({ verdict: "done" });
    await expect(precheck()).rejects.toThrow(
      "It has changed since it was shown: status was triggered",
    );
  });

  // Ana asked, and nobody had to approve it.
  test.each([
    [{ "test:ana": "ana@example.com" }, "ana@example.com"],
    [{ "test:ana": "gone@example.com" }, "bot@example.com"],
    [{ "test:bo": "ana@example.com" }, "bot@example.com"],
  ])("is done in the name of whoever approved it: %j is %s", async (people, name) => {
    fake.users.push("ana@example.com");
    const args = { incident: "PT4KHLK", do: "acknowledge" };
    const { preview, run: carryOut } = await write("update", args, {
      from: "bot@example.com",
      people,
    });
    expect((await preview())?.lines.at(-1)).toEqual({
      label: "As",
      value: "whoever approves it, where PagerDuty knows them, else bot@example.com",
    });
    expect((await carryOut()).text).toMatch(new RegExp(`is acknowledged, as ${name}\\.$`));
    expect(fake.writes.at(-1)).toMatchObject({ from: name });
  });

  test("escalates, and finds that in the log", async () => {
    const {
      precheck,
      run: carryOut,
      verify,
    } = await write("update", { incident: "PT4KHLK", do: "escalate", level: 2 });
    await precheck();
    expect(await verify()).toMatchObject({ verdict: "unknown" });
    await carryOut();
    expect(await verify()).toMatchObject({ verdict: "done" });
  });

  test.each([
    [{ incident: "PT4KHLK", do: "escalate" }, /^level: needed with escalate/],
    [{ incident: "PLOWONE", do: "acknowledge" }, /is acknowledged already/],
    [{ incident: "PDONE01", do: "resolve" }, /is resolved already/],
  ])("%j is refused before anybody is asked", async (args, why) => {
    await expect((await write("update", args)).precheck()).rejects.toThrow(why);
  });

  test("is refused without a user to do it as, and by PagerDuty for a key that only reads", async () => {
    const args = { incident: "PT4KHLK", do: "resolve" };
    await expect((await write("update", args, {})).precheck()).rejects.toThrow(
      "set PAGERDUTY_FROM",
    );
    fake.readOnly = true;
    expect(await (await write("update", args)).run()).toMatchObject({
      failed: true,
      text: "PagerDuty refused with 403: Access Denied.",
      gaps: [{ help: expect.stringContaining("a key that only reads") }],
    });
  });

  test("is a note with every word on the card", async () => {
    const {
      preview,
      run: carryOut,
      verify,
    } = await write("note", { incident: "PT4KHLK", note: "rolled back" });
    expect((await preview())?.lines.at(-2)).toEqual({ label: "Note", value: "rolled back" });
    expect(await verify()).toMatchObject({ verdict: "unknown" });
    await carryOut();
    expect(await verify()).toMatchObject({ verdict: "done" });
  });
});

describe("opening an incident", () => {
  const OPEN = { service: "mail", title: "Queue is stuck", details: "since 01:30" };

  test("shows whom it pages, opens it, reads it back, and is undone by resolving it", async () => {
    const { precheck, preview, run: carryOut, verify } = await write("open", OPEN);
    await precheck();
    expect((await preview())?.blastRadius).toBe("Pages Ana (Shop), and then whoever is next.");
    const { text, undo } = await carryOut();
    expect(text).toBe("Opened PNEWONE, as bot@example.com.");
    expect(undo).toEqual({
      tool: "pagerduty_update",
      args: { incident: "PNEWONE", do: "resolve", before: { status: "triggered" } },
    });
    expect(await verify()).toMatchObject({ verdict: "done", undo });
    await expect(precheck()).rejects.toThrow("PNEWONE with this title is open already.");
    const back = await write("update", undo?.args ?? {});
    await back.precheck();
    await back.run();
    expect(await back.verify()).toMatchObject({ verdict: "done" });
  });

  test("of a service that is not there suggests one; a broken answer may have opened it", async () => {
    await expect(write("open", { ...OPEN, service: "Mial" })).rejects.toThrow("Did you mean Mail?");
    fake.failing = 502;
    const { run: carryOut, verify } = await write("open", OPEN);
    await expect(carryOut()).rejects.toMatchObject({ code: "ABORTED" });
    expect(await verify()).toMatchObject({ verdict: "done" });
  });
});

describe("paging for an action that waits", () => {
  const REQUEST = { key: "watchkeeper-1", title: "a1 waits for approval", details: "one\ntwo" };
  const MAIL = { service: "mail" };
  const FROM = { from: "bot@example.com" };

  async function pagerAt(more: object = FROM) {
    const { tool, ctx } = prepare(await tools(more), "pagerduty_open", {
      service: "mail",
      title: "unused",
    });
    const { pager } = tool;
    if (pager === undefined) throw new Error("it pages nobody");
    return {
      whyNot: pager.whyNot,
      open: async (to = MAIL) => pager.open({ ...REQUEST, to }, ctx),
      close: async (why = "bob approved a1.") =>
        pager.close({ to: MAIL, key: REQUEST.key, why }, ctx),
      examine: async (to = MAIL) => pager.examine(to, ctx),
    };
  }

  const opened = () => fake.incidents.filter((each) => each["incident_key"] === REQUEST.key);

  test("opens one incident of high urgency, however often it is asked, and resolves it once with the reason", async () => {
    const { open, close } = await pagerAt();
    const there = "PNEWONE (https://shop.pagerduty.com/incidents/PNEWONE)";
    expect(await open()).toBe(there);
    expect(await open()).toBe(there);
    expect(opened()).toMatchObject([
      { title: "a1 waits for approval", urgency: "high", body: { details: "one\ntwo" } },
    ]);
    expect(fake.writes).toMatchObject([{ method: "POST", from: "bot@example.com" }]);
    await close();
    await close();
    expect(opened()).toMatchObject([{ status: "resolved", resolution: "bob approved a1." }]);
    expect(fake.writes).toHaveLength(2);
    // One that somebody resolved meanwhile is not opened once more.
    expect(await open()).toBe(there);
  });

  test("finds what a lost answer had opened, and what another process opened at the same time", async () => {
    const { open, close } = await pagerAt();
    await close();
    expect(fake.writes).toEqual([]);
    fake.failing = 502;
    await expect(open()).rejects.toMatchObject({ code: "ABORTED" });
    delete fake.failing;
    expect(await open()).toMatch(/^PNEWONE/);
    fake.incidents = [];
    fake.hidden = 2;
    const both = await Promise.all([open(), open()]);
    expect(both).toEqual([expect.stringMatching(/^PNEWONE/), expect.stringMatching(/^PNEWONE/)]);
    expect(opened()).toHaveLength(1);
  });

  test.each([
    ["a service that is not there", () => undefined, { service: "Mial" }, /Did you mean Mail\?/],
    [
      "a service that is disabled",
      () => void (fake.services = [{ id: "PSVC1", name: "Mail", status: "disabled" }]),
      MAIL,
      /^"mail" is disabled in PagerDuty: nobody would be paged\.$/,
    ],
    ["a key that only reads", () => void (fake.readOnly = true), MAIL, /refused with 403/],
    ["a user that is gone", () => void (fake.users = []), MAIL, /Requester User Not Found/],
    ["a key that ended", () => void (fake.token = "another"), MAIL, /refused with 401/],
  ])("is refused for %s, and doctor says so before", async (_, spoil, to, why) => {
    const { open, examine } = await pagerAt();
    expect(await examine()).toBe("approval rules may page Mail: now Ana (Shop)");
    spoil();
    await expect(examine(to)).rejects.toThrow(why);
    const failed = await open(to).catch((error: unknown) => error);
    expect(failed).toMatchObject({ message: expect.stringMatching(why), retryAfterMs: undefined });
    expect(fake.incidents).toHaveLength(3);
  });

  test("waits as long as PagerDuty asks; without a user or for an unknown account a start is refused", async () => {
    const { open, whyNot } = await pagerAt();
    fake.limited = true;
    await expect(open()).rejects.toMatchObject({ retryAfterMs: 40_000 });
    expect(whyNot(MAIL)).toBeUndefined();
    expect(whyNot({ ...MAIL, instance: "eu" })).toMatch(/^"eu" is no account of PagerDuty/);
    expect((await pagerAt({})).whyNot(MAIL)).toMatch(/PAGERDUTY_FROM/);
  });
});

describe.each([
  ["oncall", {}],
  ["incidents", {}],
  ["incident", { incident: "PT4KHLK" }],
] as [string, JsonObject][])("%s", (name, args) => {
  test("that is denied or limited says so, and what would help", async () => {
    fake.limited = true;
    expect((await ask(name, args)).text).toMatch(
      /^PagerDuty takes no more requests until .* \(in \d+ s\)\.$/,
    );
    fake.token = "another";
    expect(await ask(name, args)).toMatchObject({
      failed: true,
      gaps: [{ help: expect.stringContaining("PAGERDUTY_TOKEN") }],
    });
  });
});

bearsHostileServers({
  serve: () => servePagerduty(fake),
  toolsAt,
  calls: [
    ["pagerduty_oncall", {}],
    ["pagerduty_incidents", { since: "1h" }],
    ["pagerduty_incident", { incident: "PT4KHLK" }],
    ["pagerduty_update", { incident: "PT4KHLK", do: "acknowledge" }],
    ["pagerduty_note", { incident: "PT4KHLK", note: "rolled back" }],
    ["pagerduty_open", { service: "mail", title: "Queue is stuck" }],
  ],
  at: NOW,
});

test("several accounts take instance; doctor asks each who is on call", async () => {
  const url = `http://127.0.0.1:${await listenHttp(servePagerduty(fake))}`;
  const named = { eu: { url, token: "EU_TOKEN" }, us: { url, token: "US_TOKEN" } };
  const settings = pagerduty.settings.parse({ named });
  const lent = { ...NOTHING_LENT, variable: () => TOKEN };
  const all = await pagerduty.tools(settings, lent);
  expect((await run(all, "pagerduty_oncall", { instance: "us" })).text).toContain("Shop");
  expect(await pagerduty.proofs?.(settings, lent)).toMatchObject([
    { subject: "pagerduty eu", args: { instance: "eu" } },
    { subject: "pagerduty us" },
  ]);
  expect(await pagerduty.unavailable?.(pagerduty.settings.parse({}), lent)).toMatch(
    /^PAGERDUTY_TOKEN is not set/,
  );
});
