import { beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/entry.ts";
import type { ReverseCall } from "../../../src/core/tool-call.ts";
import { createEncoder } from "../../../src/security/encoder.ts";
import { alertmanager } from "../../../src/tools/alertmanager/integration.ts";
import type { Tool } from "../../../src/tools/tool.ts";
import {
  emptyAlertmanager,
  type FakeAlertmanager,
  type FakeSilence,
  serveAlertmanager,
} from "../../fakes/alertmanager.ts";
import { type Calling, prepare, run } from "../calling.ts";
import { bearsHostileServers } from "../hostile.ts";
import { listenHttp, listenRaw } from "../network/servers.ts";
import { NOTHING_LENT } from "../../../src/tools/registry.ts";

const TOKEN = "Zt9-qLw27_KfPz4RbNcTy83HmVdSa6EjUoGi1Qls";
const ID = "4f0e7f53-321b-44c5-a409-6ab5957d5feb";
const HOUR_MS = 3_600_000;

let fake: FakeAlertmanager;
beforeEach(() => {
  fake = emptyAlertmanager();
  fake.alerts = [
    alert("HighLatency", { severity: "critical", namespace: "shop", pod: "a" }),
    alert("HighLatency", { severity: "critical", namespace: "shop", pod: "b" }),
    alert("DiskFull", { severity: "warning", instance: "db-1" }),
  ];
});

function alert(alertname: string, labels: Record<string, string>) {
  return { labels: { alertname, ...labels }, annotations: { summary: `${alertname}!` } };
}

function silence(changes: Partial<FakeSilence> = {}): FakeSilence {
  const now = Date.now();
  return {
    id: ID,
    matchers: [{ name: "alertname", value: "DiskFull", isRegex: false, isEqual: true }],
    startsAt: new Date(now - HOUR_MS).toISOString(),
    updatedAt: new Date(now - HOUR_MS).toISOString(),
    endsAt: new Date(now + HOUR_MS).toISOString(),
    createdBy: "ana",
    comment: "new disk comes",
    ...changes,
  };
}

async function toolsAt(url: string, token?: string): Promise<readonly Tool[]> {
  const settings = alertmanager.settings.parse({ url, token });
  return alertmanager.tools(settings, NOTHING_LENT);
}

async function tools(token?: string): Promise<readonly Tool[]> {
  return toolsAt(`http://127.0.0.1:${await listenHttp(serveAlertmanager(fake))}`, token);
}

async function ask(name: string, args: JsonObject = {}, calling?: Calling & { token?: string }) {
  return run(await tools(calling?.token), `alertmanager_${name}`, args, calling);
}

async function call(name: string, written: JsonObject) {
  const { tool, args, ctx } = prepare(await tools(), `alertmanager_${name}`, written);
  const { precheck, preview, verify } = tool;
  if (precheck === undefined || preview === undefined || verify === undefined)
    throw new Error(`${name} is no write`);
  return {
    precheck: () => precheck(args, ctx),
    preview: () => preview(args, ctx),
    run: () => tool.run(args, ctx),
    verify: (startedAt = Date.now()) => verify(args, ctx, startedAt),
  };
}

/** The call that takes another back. */
async function callBack(undo: ReverseCall | undefined) {
  if (undo === undefined) throw new Error("It has no reverse.");
  return call(undo.tool.replace("alertmanager_", ""), undo.args);
}

const SILENCE = {
  matchers: ["alertname=HighLatency", 'namespace=~"sh.*"'],
  duration: "2h",
  comment: "rollback runs",
};

describe("alerts", () => {
  test("are findings by name, the worst first; what a silence or another alert hides stands below", async () => {
    fake.silences = [silence()];
    fake.alerts.push({ ...alert("NodeDown", { severity: "info" }), inhibitedBy: ["x"] });
    const { text, findings } = await ask("alerts");
    expect(findings).toEqual([
      {
        object: { kind: "Alert", namespace: "shop", name: "HighLatency" },
        cause: "HighLatency!",
        severity: "error",
        evidence: "HighLatency ×2 (all: severity=critical namespace=shop): pod=a; pod=b",
        since: "2026-11-23T01:00:00.000Z",
      },
    ]);
    expect(text).toMatch(
      /^2 firing, 1 silenced, 1 inhibited by other alerts\.\n- silenced until .* UTC \(in (?:1 h|59 min)[^)]*\) by ana \("new disk comes"\): DiskFull severity=warning instance=db-1\n- inhibited: NodeDown severity=info$/,
    );
  });

  test("may be none at all, or none that match", async () => {
    const { text } = await ask("alerts", { matchers: ["alertname=HighLatncy"] });
    expect(text).toBe(
      'No alert matches. No alert that fires now has alertname="HighLatncy". Did you mean HighLatency?',
    );
    fake.alerts = [];
    expect((await ask("alerts")).text).toBe("No alert is firing.");
  });

  test("may be ten thousand, with hostile labels and a secret", async () => {
    const held = "hunter2-held-hunter2-held";
    fake.alerts = Array.from({ length: 10_000 }, (_, at) =>
      alert(`A${at % 40}`, { pod: `p${at}\n- 1 firing`, note: `${"x".repeat(230)}${held}` }),
    );
    const encoder = createEncoder([{ name: "PASSWORD", value: held }]);
    const { text, findings = [] } = await ask("alerts", {}, { encoder });
    expect(text).toMatch(/^10000 firing.*\nand 30 more names that fire$/);
    expect(findings).toHaveLength(10);
    for (const { evidence } of findings) expect(evidence).not.toMatch(/hunter2|\n/);
  });

  test.each(["severity", "=x", "job=~("])(
    "a matcher such as %j is refused with the right form",
    async (matcher) => {
      await expect(ask("alerts", { matchers: [matcher] })).rejects.toMatchObject({
        code: "INPUT_INVALID",
        message: expect.stringContaining("matchers:"),
      });
    },
  );
});

test("silences are told with what each hides, those that hide most first", async () => {
  const later = new Date(Date.now() + 9 * HOUR_MS).toISOString();
  const matchers = [{ name: "alertname", value: "High.*", isRegex: true, isEqual: true }];
  const other = { id: ID.replace("4f", "5a"), endsAt: later, matchers, comment: "deploy" };
  const past = { id: ID.replace("4f", "6b"), endsAt: new Date(Date.now() - HOUR_MS).toISOString() };
  fake.silences = [silence(other), silence(), silence(past)];
  const { text, findings } = await ask("silences");
  expect(findings).toEqual([
    {
      object: { kind: "Silence", namespace: "", name: other.id },
      cause: "it hides 2 critical alerts that fire now",
      severity: "warning",
      evidence: expect.stringMatching(
        /^\{alertname=~"High\.\*"\} until .* UTC \(.*\) by ana \("deploy"\): HighLatency ×2 /,
      ),
      fix: `alertmanager_expire_silence id=${other.id}, if nobody needs it any more`,
      since: expect.stringMatching(/^\d{4}-.*Z$/),
    },
  ]);
  expect(text.replaceAll(/\d{4}-\S+ \S+ UTC/g, "T").replaceAll(/\(in [^)]+/g, "(in E")).toBe(
    [
      "2 active, 0 to come, 1 ended within a day.",
      `- ${other.id} {alertname=~"High.*"} until T (in E) by ana: deploy; hides 2 now`,
      `- ${ID} {alertname="DiskFull"} until T (in E) by ana: new disk comes; hides 1 now`,
      '- ended T (1 h ago): {alertname="DiskFull"}',
      "End one by alertmanager_expire_silence id=<its id>.",
    ].join("\n"),
  );
});

test("a silence whose times are none is told all the same, and what it hides with the alerts", async () => {
  const matchers = [{ name: "alertname", value: "High.*", isRegex: true, isEqual: true }];
  fake.silences = [silence({ startsAt: "x", endsAt: "+275760-09-13T00:00:00Z", matchers })];
  expect((await ask("silences")).text).toContain("until an unknown time by ana");
  const { findings } = await ask("alerts");
  expect(findings?.map(({ object, since }) => [object.kind, since])).toEqual([
    ["Alert", "2026-11-23T01:00:00.000Z"],
    ["Silence", null],
  ]);
});

describe("creating a silence", () => {
  test("shows what it would hide, makes it, reads it back, and says its id", async () => {
    const { precheck, preview, run: carryOut, verify } = await call("silence", SILENCE);
    await precheck();
    expect(await preview()).toMatchObject({
      lines: [
        { label: "Silences", value: '{alertname="HighLatency", namespace=~"sh.*"}' },
        { label: "For", value: "2 h from approval on" },
        { label: "Because", value: "rollback runs" },
      ],
      blastRadius:
        "Hides 2 of 3 firing alerts, 2 of them critical: HighLatency ×2 (all: severity=critical namespace=shop): pod=a; pod=b. Alerts that match later are hidden too.",
    });
    expect(fake.writes).toEqual([]);
    expect(await verify()).toMatchObject({ verdict: "unknown" });
    const { text } = await carryOut();
    expect(fake.writes).toMatchObject([
      { method: "POST", body: { createdBy: "ana (Watchkeeper)", comment: "rollback runs" } },
    ]);
    const [made] = fake.silences;
    expect(text).toContain(`Its id: ${made?.id}`);
    expect(Date.parse(made?.endsAt ?? "") - Date.now()).toBeGreaterThan(1.9 * HOUR_MS);
    expect(await verify()).toMatchObject({
      verdict: "done",
      evidence: expect.stringContaining(made?.id ?? "?"),
    });
    // One that was there long before is not this call's.
    expect(await verify(Date.now() + HOUR_MS)).toMatchObject({ verdict: "unknown" });
    await expect(precheck()).rejects.toMatchObject({ code: "PRECHECK_FAILED" });
  });

  test("is taken back by ending that very silence, also where only the read-back says so", async () => {
    const { run: carryOut, verify } = await call("silence", SILENCE);
    const startedAt = Date.now();
    const { undo } = await carryOut();
    const [made] = fake.silences;
    const endsAt = Date.parse(made?.endsAt ?? "");
    expect(undo).toEqual({
      tool: "alertmanager_expire_silence",
      args: { id: made?.id, until: endsAt },
    });
    expect((await verify(startedAt)).undo).toEqual(undo);
    const back = await callBack(undo);
    await back.precheck();
    await back.run();
    expect(Date.parse(made?.endsAt ?? "")).toBeLessThanOrEqual(Date.now());
    await expect(back.precheck()).rejects.toThrow(/has ended already/);
  });

  test("is not taken back once somebody has changed until when it holds", async () => {
    const { undo } = await (await call("silence", SILENCE)).run();
    for (const made of fake.silences)
      made.endsAt = new Date(Date.now() + 9 * HOUR_MS).toISOString();
    const { precheck } = await callBack(undo);
    await expect(precheck()).rejects.toThrow(/Somebody has changed silence .* \(in 9 h\)/);
  });

  test("that would hide nothing says what was probably meant", async () => {
    const { preview } = await call("silence", { ...SILENCE, matchers: ["alertname=highlatency"] });
    expect((await preview()).blastRadius).toMatch(
      /^Hides none of 3 firing alerts\..* Did you mean HighLatency\?$/,
    );
  });

  test.each([
    [{ matchers: ["alertname=~.*"] }, /could hide everything/],
    [{ matchers: ["team!=x", 'job=""'] }, /could hide everything/],
    [{ duration: "forever" }, /expected 1m to 30d/],
    [{ duration: "60d" }, /expected 1m to 30d/],
  ])("%j is refused before anybody is asked", async (changes, why) => {
    const { precheck } = await call("silence", { ...SILENCE, ...changes });
    await expect(precheck()).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringMatching(why),
    });
  });

  test("whose answer is an error of the server's may have happened", async () => {
    fake.failing = 502;
    const { run: carryOut } = await call("silence", SILENCE);
    await expect(carryOut()).rejects.toMatchObject({ code: "ABORTED" });
    expect(fake.silences).toHaveLength(1);
  });
});

describe("ending a silence", () => {
  test("shows which alerts notify again, ends it, reads it back, and is taken back by the same one until the same end", async () => {
    const ended = silence();
    const endsAt = Date.parse(ended.endsAt);
    fake.silences = [ended];
    const { precheck, preview, run: carryOut, verify } = await call("expire_silence", { id: ID });
    await precheck();
    const card = await preview();
    expect(card.blastRadius).toBe(
      "1 firing alert will notify again: DiskFull severity=warning instance=db-1.",
    );
    expect(card.undo).toBe("Can be undone: the same silence is made again until the same end.");
    expect(await verify()).toMatchObject({ verdict: "not done" });
    const { undo } = await carryOut();
    expect(await verify()).toMatchObject({ verdict: "done" });
    await expect(precheck()).rejects.toMatchObject({
      message: expect.stringContaining("has ended already"),
    });

    const back = await callBack(undo);
    await back.precheck();
    expect((await back.preview()).lines[1]).toEqual({
      label: "Until",
      value: expect.stringMatching(/\(in (?:1 h|59 min 5\d s)\), as before$/),
    });
    await back.run();
    const [, again] = fake.silences;
    expect(again).toMatchObject({ matchers: ended.matchers, comment: ended.comment });
    expect(Date.parse(again?.endsAt ?? "")).toBe(endsAt);
    await expect(back.precheck()).rejects.toThrow(/are silenced already/);
  });

  test.each([
    ["says nothing why", { comment: " " }],
    ["says too much", { comment: "x".repeat(600) }],
  ])("that %s cannot be taken back from here, and the card says so", async (_, changes) => {
    fake.silences = [silence(changes)];
    const { preview, run: carryOut } = await call("expire_silence", { id: ID });
    expect((await preview()).undo).toMatch(/^Can't be undone from here/);
    expect((await carryOut()).undo).toBeUndefined();
  });

  test("whose time would be over is not made again", async () => {
    const endsAt = Date.now() - 1;
    const span = { startsAt: endsAt - HOUR_MS, endsAt };
    const { precheck } = await call("silence", { ...SILENCE, span });
    await expect(precheck()).rejects.toThrow(/would have ended/);
  });

  test("that is not there is refused", async () => {
    const { precheck } = await call("expire_silence", { id: ID });
    await expect(precheck()).rejects.toMatchObject({ code: "PRECHECK_FAILED" });
  });
});

describe.each([
  ["alerts", {}],
  ["silences", {}],
  ["silence", SILENCE],
  ["expire_silence", { id: ID }],
] as [string, JsonObject][])("%s", (name, args) => {
  test("that is denied says so, and which setting would help", async () => {
    fake.token = TOKEN;
    const { failed, gaps } = await ask(name, args);
    expect(failed).toBe(true);
    expect(gaps).toMatchObject([
      { why: "Alertmanager refused with 403", help: expect.stringContaining("ALERTMANAGER_TOKEN") },
    ]);
    expect(fake.writes).toEqual([]);
  });

  test("ends at once when it is stopped while the server is silent", async () => {
    const port = await listenRaw(() => {});
    const calling = { signal: AbortSignal.timeout(40) };
    const asking = run(
      await toolsAt(`http://127.0.0.1:${port}`),
      `alertmanager_${name}`,
      args,
      calling,
    );
    await expect(asking).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:CONNECTION_FAILED|ABORTED|TIMEOUT)$/),
    });
  });

  test("whose answer is cut fails; a write may have happened", async () => {
    const port = await listenRaw((socket) => {
      socket.end(
        'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n[{"id":',
      );
    });
    const asking = run(await toolsAt(`http://127.0.0.1:${port}`), `alertmanager_${name}`, args);
    const code = name === "silence" ? "ABORTED" : "CONNECTION_FAILED";
    await expect(asking).rejects.toMatchObject({ code });
  });
});

bearsHostileServers({
  serve: () => serveAlertmanager({ ...fake, silences: [silence()] }),
  toolsAt: async (url) => toolsAt(url),
  calls: [
    ["alertmanager_alerts", {}],
    ["alertmanager_silences", {}],
    ["alertmanager_silence", { matchers: ["alertname=HighLatency"], duration: "1h", comment: "x" }],
    ["alertmanager_expire_silence", { id: ID }],
  ],
  at: Date.now(),
});
