import { beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/entry.ts";
import { createEncoder } from "../../../src/security/encoder.ts";
import { NOTHING_LENT } from "../../../src/tools/registry.ts";
import { sentry } from "../../../src/tools/sentry/integration.ts";
import { type FakeSentry, serveSentry } from "../../fakes/sentry.ts";
import { type Calling, run } from "../calling.ts";
import { bearsHostileServers } from "../hostile.ts";
import { listenHttp } from "../network/servers.ts";

const TOKEN = "sntrys_Zt9qLw27KfPz4RbNcTy83HmVdSa6EjUoGi1Qls";
const NOW = Date.parse("2026-11-23T02:00:00Z");
const ago = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString();

function issue(id: string, changes: object = {}) {
  return {
    id,
    shortId: `SHOP-${id}`,
    title: `TypeError: ${id}`,
    culprit: "checkout(pay)",
    level: "error",
    status: "unresolved",
    count: "12",
    userCount: 3,
    firstSeen: ago(9_000),
    lastSeen: ago(2),
    project: { id: "1", name: "Shop", slug: "shop" },
    ...changes,
  };
}

const frame = (name: string, inApp: boolean) => ({
  filename: `src/${name}.py`,
  function: name,
  lineNo: 7,
  inApp,
  vars: { password: "never" },
});

let fake: FakeSentry;
beforeEach(() => {
  fake = {
    token: TOKEN,
    issues: [issue("1"), issue("2", { firstSeen: ago(30), level: "warning" })],
    events: {
      1: {
        eventID: "e1",
        dateCreated: ago(2),
        tags: [
          { key: "environment", value: "prod" },
          { key: "user", value: "ana@example.com" },
          { key: "release", value: "1.2" },
        ],
        entries: [
          { type: "request", data: { url: "https://x/?token=never" } },
          {
            type: "exception",
            data: {
              values: [
                {
                  type: "KeyError",
                  value: "'price'",
                  stacktrace: {
                    frames: [frame("main", true), frame("django", false), frame("price", true)],
                  },
                },
                {
                  type: "PayError",
                  value: "no price",
                  stacktrace: { frames: [frame("pay", true)] },
                },
              ],
            },
          },
        ],
      },
    },
  };
});

async function toolsAt(url: string) {
  const settings = sentry.settings.parse({ url, token: TOKEN, org: "acme" });
  return sentry.tools(settings, NOTHING_LENT);
}

async function ask(name: string, args: JsonObject = {}, calling: Calling = {}) {
  const tools = await toolsAt(`http://127.0.0.1:${await listenHttp(serveSentry(fake))}`);
  return run(tools, `sentry_${name}`, args, { at: NOW, ...calling });
}

describe("issues", () => {
  test("that are new come first; one that goes on now is an error", async () => {
    const { text, findings } = await ask("issues", { since: "1h", query: "project:shop" });
    expect(fake.query).toBe("is:unresolved lastSeen:-60m project:shop");
    expect(text).toBe("2 unresolved issues seen since, 1 of them new.");
    expect(findings).toEqual([
      {
        object: { kind: "Issue", namespace: "shop", name: "SHOP-2" },
        cause: "TypeError: 2",
        severity: "warning",
        evidence:
          "New: ×12, 3 users in checkout(pay); last seen 2026-11-23 01:58:00 UTC (2 min ago).",
        since: ago(30),
      },
      {
        object: { kind: "Issue", namespace: "shop", name: "SHOP-1" },
        cause: "TypeError: 1",
        severity: "error",
        evidence: "×12, 3 users in checkout(pay); last seen 2026-11-23 01:58:00 UTC (2 min ago).",
        since: ago(9_000),
      },
    ]);
  });

  test("may be none, or more than are listed, with hostile titles and a secret", async () => {
    const held = "hunter2-held-hunter2-held";
    fake.issues = Array.from({ length: 150 }, (_, at) =>
      issue(String(at), { title: `${"x".repeat(240)} ${held}\n1. fine` }),
    );
    const {
      findings = [],
      gaps,
      text,
    } = await ask("issues", {}, { encoder: createEncoder([{ name: "PASSWORD", value: held }]) });
    expect(text).toMatch(/^100 unresolved issues .* The first 15 are shown\.$/);
    for (const { cause } of findings) expect(cause).not.toMatch(/hunter2|\n/);
    expect(gaps).toMatchObject([{ what: "rarer issues" }]);
    fake.issues = [];
    expect((await ask("issues")).text).toBe("0 unresolved issues seen since, 0 of them new.");
    await expect(ask("issues", { since: "now" })).rejects.toThrow(
      "since: expected a time before now.",
    );
  });
});

describe("one issue", () => {
  test("is told by its newest event: what was raised last first, only our own frames, no variables", async () => {
    const { text } = await ask("issue", { issue: "shop-1" });
    expect(text.split("\n")).toEqual([
      "SHOP-1: 12 events, unresolved, first seen 2026-11-16 20:00:00 UTC (6 d 6 h ago), last 2026-11-23 01:58:00 UTC (2 min ago).",
      "Newest event 2026-11-23 01:58:00 UTC (2 min ago): environment=prod release=1.2",
      "PayError: no price",
      "  at pay (src/pay.py:7)",
      "KeyError: 'price'",
      "  at price (src/price.py:7)",
      "  at main (src/main.py:7)",
      "  (1 frame of libraries left out)",
    ]);
    expect(text).not.toMatch(/never|ana@/);
  });

  test("that Sentry found itself has no exception: what it saw is told", async () => {
    const display = (name: string, important: boolean) => ({ name, value: "1.7 s", important });
    fake.events["1"] = {
      dateCreated: ago(2),
      entries: [],
      tags: null,
      occurrence: {
        subtitle: "Slower than before",
        evidenceDisplay: [display("P95", true), display("User", false)],
      },
    };
    const { text } = await ask("issue", { issue: "SHOP-1" });
    expect(text.split("\n").slice(2)).toEqual(["Found: Slower than before", "  P95: 1.7 s"]);
  });

  test("may have lost its events, or not be there", async () => {
    expect((await ask("issue", { issue: "2" })).text).toMatch(/\nIts events are gone\.$/);
    await expect(ask("issue", { issue: "SHOP-9" })).rejects.toThrow(
      "There is no issue SHOP-9 in Sentry.",
    );
  });
});

describe.each([
  ["issues", {}],
  ["issue", { issue: "SHOP-1" }],
] as [string, JsonObject][])("%s", (name, args) => {
  test("that is denied or limited says so, and what would help", async () => {
    fake.limited = true;
    expect((await ask(name, args)).text).toMatch(
      /^Sentry takes no more requests until .* UTC \(in /,
    );
    fake.limited = false;
    fake.forbidden = true;
    expect(await ask(name, args)).toMatchObject({
      failed: true,
      gaps: [
        {
          help: "Give the token the scopes org:read, project:read and event:read in the organization acme.",
        },
      ],
    });
    fake.token = "another";
    expect(await ask(name, args)).toMatchObject({
      gaps: [{ help: expect.stringContaining("SENTRY_TOKEN") }],
    });
  });
});

bearsHostileServers({
  serve: () => serveSentry(fake),
  toolsAt,
  calls: [
    ["sentry_issues", {}],
    ["sentry_issue", { issue: "SHOP-1" }],
  ],
  at: NOW,
});

test("without an organization its tools are not offered; doctor asks for the last hour", async () => {
  const unavailable = async (given: object) =>
    sentry.unavailable?.(sentry.settings.parse(given), NOTHING_LENT);
  expect(await unavailable({})).toMatch(/^SENTRY_TOKEN is not set/);
  expect(await unavailable({ token: TOKEN })).toMatch(/^SENTRY_ORG is not set/);
  expect(await unavailable({ token: TOKEN, org: "acme" })).toBeUndefined();
  const settings = sentry.settings.parse({ token: TOKEN, org: "acme" });
  expect(await sentry.proofs?.(settings, NOTHING_LENT)).toEqual([
    { subject: "sentry", tool: "sentry_issues", args: { since: "1h" } },
  ]);
});
