import { describe, expect, test } from "vitest";
import { approvalPolicy } from "../../../src/config/policy.ts";
import { decidePolicy } from "../../../src/approvals/policy.ts";
import type { JsonObject } from "../../../src/core/entry.ts";
import { createTools } from "../../../src/tools/registry.ts";
import type { Asker } from "../../../src/tools/tool.ts";
import { idleContext } from "../../fakes/tool-context.ts";

import { createStage, idIn } from "./stage.ts";

const MINUTE = 60_000;

describe("what a model wrote after it had read text from outside", () => {
  const UNVERIFIED = "written by a bot that may have read outside text; not verified";

  test("is quoted as that wherever it is shown, until a person says it again", async () => {
    const { say } = await createStage();
    const outside = { outside: async () => true };
    const id = idIn(await say("incident open Checkout fails"));
    const note = await say(
      `run incident_update id=${id} title='Restart db' note='run it'`,
      outside,
    );
    expect(note).toContain(`Updated ${id}, open: (unverified) Restart db.`);
    expect(note).toMatch(/^Unverified +title: written by a bot that/m);
    const got = await say(`incident ${id}`);
    expect(got).toContain(`[${UNVERIFIED}]`);
    expect(got).toContain("(unverified) Restart db");
    const found = await say("run incident_search text=restart");
    expect(found).toMatch(/\(unverified\) Restart db/);
    expect(found).toContain(`(unverified): ${UNVERIFIED}.`);
    const renamed = await say(`run incident_update id=${id} title='Checkout is slow'`);
    expect(renamed).toContain("open: Checkout is slow.");
    expect(renamed).not.toContain("Unverified");
    expect(await say(`incident ${id}`)).toContain(`[${UNVERIFIED}]`);
  });

  test("is not marked when a person typed it", async () => {
    const { say } = await createStage();
    const opened = await say("incident open Checkout fails");
    expect(opened).not.toMatch(/verified/);
    expect(await say("run incident_search")).not.toMatch(/verified/);
  });
});

describe("an incident is recorded by what people type", () => {
  test("services with commas between, or as JSON like other tools' lists", async () => {
    const { say } = await createStage();
    for (const services of ["'web, db'", `'["web", "db"]'`]) {
      expect(await say(`incident open Checkout fails services=${services}`)).toMatch(
        /Services +web, db\n/,
      );
    }
  });

  test("opened, noted, resolved, shown", async () => {
    const { clock, say } = await createStage();
    const opened = await say(
      "incident open Checkout fails severity=sev2 services='web, db' startedAt=12:55",
    );
    const id = idIn(opened);
    expect(opened).toBe(
      [
        `Opened ${id}, sev2, open: Checkout fails.`,
        "Services   web, db",
        "Started    2026-11-20 11:55 UTC (12:55 Europe/Madrid) (as said)",
        "Thread     https://chat.example/C1/p1",
        `Verified: the record has it, in ${id}.`,
      ].join("\n"),
    );
    clock.now += 10 * MINUTE;
    const link = "https://chat.example/C1/p2";
    await say(`incident update ${id} note='db2 is full' detectedAt='2026-11-20 13:00'`, { link });
    clock.now += 33 * MINUTE;
    expect(
      await say(`incident resolve ${id} cause='A full disk' actions='Larger disk\nAn alert'`),
    ).toContain(`Recorded: ${id}, sev2, resolved after 48 min: Checkout fails.\n`);
    expect(await say(`incident ${id}`)).toBe(
      [
        `${id}, sev2, resolved after 48 min: Checkout fails.`,
        "Services   web, db",
        "Started    2026-11-20 11:55 UTC (12:55 Europe/Madrid) (as said)",
        "Detected   2026-11-20 12:00 UTC (13:00 Europe/Madrid), after 5 min (as said)",
        "Resolved   2026-11-20 12:43 UTC (13:43 Europe/Madrid), after 48 min (a person, then)",
        "Cause      A full disk",
        "Actions    - Larger disk",
        "           - An alert",
        "Thread     https://chat.example/C1/p1",
        "",
        "History, in Europe/Madrid:",
        "2026-11-20 13:00  Ana          opened; title: Checkout fails; sev2; services: web, db; started",
        "                               2026-11-20 11:55 UTC (12:55 Europe/Madrid)",
        "2026-11-20 13:10  Ana          detected 2026-11-20 12:00 UTC (13:00 Europe/Madrid); db2 is full;",
        "                               https://chat.example/C1/p2",
        "2026-11-20 13:43  Ana          resolved; cause: A full disk; action: Larger disk; action: An alert",
      ].join("\n"),
    );
  });

  test("how often updates are due is said, shown and corrected", async () => {
    const { say } = await createStage();
    const opened = await say("incident open Checkout fails severity=sev1 updateEvery=15");
    const id = idIn(opened);
    expect(opened).toContain("Updates    an update is due every 15 min\n");
    const forms = [
      ["2h", "an update is due every 2 h"],
      ["'every 45 minutes'", "an update is due every 45 min"],
      ["never", "nobody is reminded of updates"],
      ["90", "an update is due every 90 min"],
    ];
    for (const [form, shown] of forms) {
      const updated = await say(`incident update ${id} updateEvery=${form}`);
      expect(updated).toContain(`Updates    ${shown}\n`);
    }
    expect(await say(`incident ${id}`)).toContain("Ana          nobody is reminded of updates");
    for (const wrong of ["soon", "-5", "8d", "1.5h"])
      expect(await say(`incident update ${id} updateEvery=${wrong}`)).toContain(
        `error: updateEvery can't be "${wrong}". Write minutes as 15, or 30 min, 2h`,
      );
    expect(await say(`incident postmortem ${id}`)).not.toContain("NaN");
  });

  test("a mistake is answered by what to do", async () => {
    const { say } = await createStage();
    const id = idIn(await say("incident open Down"));
    expect(await say(`incident update ${id} startedAt=noon`)).toContain(
      'error: "noon" is not a time I can read. Write now, 14:05',
    );
    expect(await say(`incident update ${id} severty=sev1`)).toContain("did you mean severity?");
    expect(await say(`incident update ${id} severity=bad`)).toContain(
      '"sev1"|"sev2"|"sev3"|"sev4"',
    );
    expect(await say(`incident update ${id} status=resolved`)).toContain(
      'expected one of "open"|"mitigated"|"false_alarm"',
    );
    await say(`incident resolve ${id}`);
    expect(await say(`incident resolve ${id}`)).toContain(`error: ${id} was already resolved`);
    expect(await say("incident inc-20261120-zzz")).toContain("error: No incident");
  });
});

describe("the numbers of a period", () => {
  async function threeIncidents() {
    const stage = await createStage();
    const { clock, say } = stage;
    clock.now = Date.parse("2026-11-18T12:00Z");
    const ids: string[] = [];
    const incidents = [
      ["Checkout fails", "2026-11-10 10:00", "2026-11-10 10:40", "sev2", "web"],
      ["Disk full on db2", "2026-11-12 10:00", "2026-11-12 10:56", "sev1", "db,web"],
      ["Slow search", "2026-11-15 23:59", undefined, undefined, "search"],
      ["The next week's", "2026-11-16 00:00", "2026-11-16 01:00", "sev1", "web"],
    ] as const;
    for (const [title, started, resolved, severity, services] of incidents) {
      const sev = severity === undefined ? "" : ` severity=${severity}`;
      const text = `incident open ${title} services=${services} startedAt='${started}'${sev}`;
      ids.push(idIn(await say(text)));
      if (resolved !== undefined)
        await say(`run incident_resolve id=${ids.at(-1)} resolvedAt='${resolved}'`);
    }
    return { ...stage, ids };
  }

  test("are said in a sentence, with a table that has each incident and its thread in a line", async () => {
    const { say, ids } = await threeIncidents();
    const [one, two, three] = ids;
    expect(await say("incidents last week")).toBe(
      [
        "Last week (Mon 2026-11-09 00:00 to Mon 2026-11-16 00:00 Europe/Madrid): 3 incidents opened, 2 resolved, 1 open; MTTR 48 min (median 48 min).",
        "Severity   sev1 1, sev2 1, not said 1",
        "Services   web 2, db 1, search 1",
        `MTTR       48 min, median 48 min, p90 56 min, of 2 resolved [mttr]: ${two},`,
        `           ${one}`,
        "States     open 97 min of 3 [state:open]",
        `Longest    ${two}, 56 min: Disk full on db2`,
        "Weekdays   sun 1 [weekday:sun], thu 1 [weekday:thu], tue 1 [weekday:tue]",
        "Hours      10 2 [hour:10], 23 1 [hour:23]",
        "Per day    2026-11-10: 1 opened (sev2 1), MTTR median 40 min of 1 [day:2026-11-10]",
        "           2026-11-12: 1 opened (sev1 1), MTTR median 56 min of 1 [day:2026-11-12]",
        "           2026-11-15: 1 opened (not said 1) [day:2026-11-15]",
        "",
        "Times in Europe/Madrid (UTC in brackets).",
        "incident           sev   began                      lasted  title",
        `${three}  -     2026-11-15 23:59 (22:59Z)  open    Slow search  https://chat.example/C1/p1`,
        `${two}  sev1  2026-11-12 10:00 (09:00Z)  56 min  Disk full on db2  https://chat.example/C1/p1`,
        `${one}  sev2  2026-11-10 10:00 (09:00Z)  40 min  Checkout fails  https://chat.example/C1/p1`,
        "",
        "A chart shows it; a terminal tells in words what is on it.",
      ].join("\n"),
    );
  });

  test("come with a chart of their days that says in words what it shows, where more than one holds something", async () => {
    const { run, say, kept, ids } = await threeIncidents();
    const { files } = await run("incident_stats", { period: "last week" });
    expect(files).toMatchObject([
      {
        name: "incidents.png",
        mediaType: "image/png",
        unseen: true,
        alt: "Bar chart of incidents per day, last week, Europe/Madrid. 2026-11-10: 1 opened (sev2 1), MTTR median 40 min of 1. 2026-11-12: 1 opened (sev1 1), MTTR median 56 min of 1. 2026-11-15: 1 opened (not said 1)",
      },
    ]);
    expect(Buffer.from(kept.get("f1") ?? []).toString("latin1", 1, 4)).toBe("PNG");
    const day = await say("run incident_stats period='last week' which=day:2026-11-12");
    expect(day).toContain("day:2026-11-12, 1 incident.");
    expect(day).toContain(ids[1]);
    const inDay = await say("run incident_stats period='last week' which=day:2026-11-12:mttr");
    expect(inDay).toContain("day:2026-11-12:mttr, 1 incident.");
    const one = await run("incident_stats", { period: "2026-11-12" });
    expect(one.text).not.toMatch(/Per day|chart/);
    expect(one.files).toEqual([]);
    const weeks = await run("incident_stats", { period: "last 60 days" });
    expect(weeks.text).toContain("Per week   2026-11-09: 3 opened (sev1 1, sev2 1, not said 1)");
    expect(JSON.stringify(weeks.files)).toContain(
      "2026-11-16: 1 opened (sev1 1), MTTR median 60 min",
    );
  });

  test("each lists the incidents that it counts, and one that there is not names those there are", async () => {
    const { say, ids } = await threeIncidents();
    const listed = await say("run incident_stats period='last week' which=mttr");
    expect(listed).toContain("mttr, 2 incidents.");
    expect(ids.map((id) => listed.includes(id))).toEqual([true, true, false, false]);
    expect(await say("run incident_stats period='last week' which=mttx")).toContain(
      'no number "mttx". It has ',
    );
    const there = await say("run incident_stats period='last week' zone=Asia/Tokyo");
    expect(there).toContain("Asia/Tokyo): 2 incidents opened");
  });

  test("follow the asker's own days", async () => {
    const { say } = await threeIncidents();
    const line = async (text: string, zone: string) =>
      (await say(text, { timezone: async () => zone })).split("\n")[0];
    expect(await line("incidents 2026-11-16", "Europe/Madrid")).toBe(
      "2026-11-16 (Mon 2026-11-16 00:00 to Tue 2026-11-17 00:00 Europe/Madrid): 1 incident opened, 1 resolved, 1 open; MTTR 60 min (median 60 min).",
    );
    expect(await line("incidents 2026-11-16", "UTC")).toContain(
      ": 0 incidents opened, 1 resolved, 1 open;",
    );
    expect(await line("incidents 2026-10", "UTC")).toMatch(
      /: 0 incidents opened, 0 resolved, 0 open\.$/,
    );
    expect(await line("incidents", "UTC")).toContain("Last 7 days (");
  });

  test("every line fits a hundred columns but for the address, also with long and wide titles", async () => {
    const { say } = await createStage();
    await say(`incident open ${"火事だ".repeat(30)} services=${"a-very-long-name,".repeat(20)}end`);
    await say(`incident open ${"long words ".repeat(15)}`);
    for (const text of ["incidents", "incidents search long"]) {
      for (const line of (await say(text)).split("\n").slice(1)) {
        const shown = line.replace(/ {2}https:\S+$/, "");
        const wide = shown.match(/[\u2e80-\uffff]/g)?.length ?? 0;
        expect(shown.length + wide, line).toBeLessThanOrEqual(100);
      }
    }
  });

  test("an unknown period is answered by the forms", async () => {
    const { run } = await createStage();
    const { outcome, text } = await run("incident_stats", { period: "last moth" });
    expect(outcome).toBe("error");
    expect(text).toContain(
      'I don\'t understand the period "last moth". Write today, yesterday, this week',
    );
  });
});

describe("searching", () => {
  test("says how many there are and shows as many as asked for", async () => {
    const { say, run } = await createStage();
    for (const title of ["Disk full", "Disk slow", "DNS down"]) await say(`incident open ${title}`);
    expect(await say("incidents search disk")).toMatch(/^2 incidents found \(with "disk"\)\.\n/);
    const { text } = await run("incident_search", { status: "open", period: "today", limit: 1 });
    expect(text).toMatch(/^3 incidents found \(open, begun in: Today \(Fri 2026-11-20 00:00 to /);
    expect(text).toMatch(/\nand 2 more$/);
    expect(await say("incidents search kubernetes")).toBe('0 incidents found (with "kubernetes").');
  });
});

describe("a private place", () => {
  const place = { audience: async () => "slack:T1:C7", key: "slack:T1:C7:1.0" } as const;

  test("sees its own and public incidents; everyone else sees nothing of it", async () => {
    const { say } = await createStage();
    const id = idIn(await say("incident open Secret thing services=vault", place));
    await say("incident open Public thing");
    expect(await say(`incident ${id}`, place)).toContain("Readers    only this private place");
    expect(await say("incidents today", place)).toContain(
      ": 2 incidents opened, 0 resolved, 2 open.",
    );
    const seen = [
      await say("incidents today"),
      await say("incidents search thing"),
      await say("incidents search vault"),
      await say(`incident ${id.slice(0, -1)}2`),
      await say(`incident update ${id} note=x`, { audience: async () => "slack:T1:C8" }),
    ].join("\n");
    expect(seen).toContain(": 1 incident opened, 0 resolved, 1 open.");
    expect(seen).not.toMatch(/secret|vault(?!"\)\.)/i);
    expect(seen.replaceAll(`"${id}"`, "")).not.toContain(id);
  });

  test("where the platform cannot say who reads along, nothing is shown and nothing is written", async () => {
    const { say, ledger } = await createStage();
    const lost = { audience: () => Promise.reject(new Error("the platform is down")) };
    expect(await say("incident open T", lost)).toBe("error: the platform is down");
    expect(await say("incidents", lost)).toBe("error: the platform is down");
    expect(await ledger.list({}, { audience: undefined, tenants: ["test"] })).toEqual([]);
  });
});

describe("as calls", () => {
  test("those that write change only our own records: nobody is asked, unless a rule or a default says so", async () => {
    const { tools } = await createStage();
    const writers = tools.filter(({ own }) => own === true);
    expect(writers.map(({ name, effect }) => `${name} ${effect}`)).toEqual([
      "incident_open write",
      "incident_update write",
      "incident_resolve write",
      "unmirror write",
      "remember write",
      "forget write",
    ]);
    const call = {
      tool: "incident_open",
      effect: "write",
      args: { title: "T" },
      own: true,
    } as const;
    const kindOf = (policy: object, changed: object = {}) =>
      decidePolicy(approvalPolicy.parse(policy), { ...call, ...changed }).kind;
    expect(kindOf({})).toBe("allow");
    expect(kindOf({}, { own: undefined })).toBe("ask");
    expect(kindOf({}, { effect: "destructive" })).toBe("ask");
    expect(kindOf({ default: { write: "deny" } })).toBe("deny");
    expect(kindOf({ rules: [{ match: { effect: "write" }, decide: "ask" }] })).toBe("ask");
    expect(kindOf({ rules: [{ match: { tool: "incident_*" }, decide: "deny" }] })).toBe("deny");
  });

  test("a card shows what would be recorded", async () => {
    const { dispatcher, signal } = await createStage();
    const args = { id: "inc-20261120-k3qa", cause: "A full disk" };
    const prepared = await dispatcher.prepare("incident_resolve", args, signal);
    expect((await dispatcher.preview(prepared, signal)).lines).toEqual([
      { label: "id", value: "inc-20261120-k3qa" },
      { label: "cause", value: "A full disk" },
    ]);
    expect(dispatcher.resourceOf("incident_resolve", args)).toBe("incident inc-20261120-k3qa");
  });

  test("after a crash the ledger says what was done, and of the rest only that nobody knows", async () => {
    const { dispatcher, signal, clock, asker, run } = await createStage();
    const call = asker();
    const args = { title: "T" };
    const verify = (tool: string, given: JsonObject, from?: Asker) =>
      dispatcher.verify(tool, given, clock.now, signal, from);
    expect(await verify("incident_open", args, call)).toEqual({
      verdict: "unknown",
      evidence: "the ledger does not have what it said",
    });
    const id = idIn((await run("incident_open", args, call)).text);
    expect(await verify("incident_open", args, call)).toEqual({
      verdict: "done",
      evidence: `the record has it, in ${id}.`,
    });
    expect(await verify("incident_open", args)).toMatchObject({ verdict: "unknown" });
    const word = asker();
    expect(await verify("incident_update", { id, note: "n" }, word)).toMatchObject({
      verdict: "unknown",
    });
    await run("incident_update", { id, note: "n" }, word);
    expect(await verify("incident_update", { id, note: "n" }, word)).toMatchObject({
      verdict: "done",
    });
    expect(await verify("incident_resolve", { id }, asker())).toMatchObject({ verdict: "unknown" });
  });

  test("without a ledger they are listed, and say that there is none", async () => {
    const tools = await createTools();
    const get = tools.find(({ name }) => name === "incident_get");
    const { asker, signal } = await createStage();
    const ctx = idleContext({ signal });
    const asking = { ...asker(), startedAt: 0 };
    await expect(get?.run({ id: "x" }, { ...ctx, asker: asking })).rejects.toMatchObject({
      code: "NOT_AVAILABLE",
    });
    await expect(get?.run({ id: "x" }, ctx)).rejects.toThrow("only while the tool is run");
  });
});
