import { beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/entry.ts";
import { createEncoder } from "../../../src/security/encoder.ts";
import { grafana } from "../../../src/tools/grafana/integration.ts";
import { NOTHING_LENT } from "../../../src/tools/registry.ts";
import { type FakeGrafana, serveGrafana } from "../../fakes/grafana.ts";
import { type Calling, prepare, run } from "../calling.ts";
import { bearsHostileServers } from "../hostile.ts";
import { listenHttp } from "../network/servers.ts";
import { writing } from "../writing.ts";

const TOKEN = "glsa_Zt9qLw27KfPz4RbNcTy83HmVdSa6EjUoGi1Qls";
const NOW = Date.parse("2026-11-23T02:00:00Z");
const MINUTE_MS = 60_000;
const EXPR = 'sum by (pod) (rate(errors{namespace=~"(shop|web)"}[$__rate_interval]))';

let fake: FakeGrafana;
beforeEach(() => {
  const prometheus = { type: "prometheus", uid: "${source}" };
  const times = Array.from({ length: 60 }, (_, at) => NOW - (60 - at) * MINUTE_MS);
  fake = {
    token: TOKEN,
    boards: [
      {
        uid: "shop-1",
        title: "Shop",
        templating: {
          list: [
            { name: "source", current: { value: "prom-1" } },
            { name: "ns", current: { value: ["shop", "web"] } },
            { name: "pod", current: { value: ["$__all"] } },
          ],
        },
        panels: [
          {
            id: 2,
            title: "Errors",
            type: "timeseries",
            datasource: prometheus,
            targets: [
              { refId: "A", expr: EXPR.replace("(shop|web)", "$ns") },
              { refId: "B", expr: "off", hide: true },
            ],
          },
          {
            id: 9,
            title: "More",
            type: "row",
            panels: [
              {
                id: 3,
                title: "Logs",
                type: "logs",
                datasource: { type: "loki", uid: "l" },
                targets: [{ refId: "A", expr: "{}" }],
              },
            ],
          },
          { id: 4, title: "Words", type: "text" },
        ],
      },
    ],
    annotations: [
      {
        id: 1,
        time: NOW - 5 * MINUTE_MS,
        text: "deploy 1.2",
        tags: ["shop"],
        login: "ci",
        dashboardUID: "shop-1",
      },
    ],
    results: {
      [EXPR]: {
        status: 200,
        frames: [
          {
            schema: {
              refId: "A",
              fields: [
                { name: "Time", type: "time" },
                { name: "Value", type: "number", labels: { pod: "a" } },
              ],
            },
            data: { values: [times, times.map((_, at) => (at < 30 ? 1 : 90))] },
          },
        ],
      },
    },
    queries: [],
    writes: [],
  };
});

async function toolsAt(url: string) {
  return grafana.tools(grafana.settings.parse({ url, token: TOKEN }), NOTHING_LENT);
}

const tools = async () => toolsAt(`http://127.0.0.1:${await listenHttp(serveGrafana(fake))}`);

async function ask(name: string, args: JsonObject = {}, calling: Calling = {}) {
  return run(await tools(), `grafana_${name}`, args, { at: NOW, ...calling });
}

describe("dashboards", () => {
  test("are found by words; their panels are told with queries and variables", async () => {
    expect((await ask("search", { words: "sho" })).text).toBe(
      '1 dashboard:\n- shop-1 "Shop" in Shop [prod]',
    );
    expect((await ask("search", { words: "nothing" })).text).toBe("No dashboard was found.");
    expect((await ask("panels", { dashboard: "shop-1" })).text.split("\n")).toEqual([
      '"Shop", 3 panels:',
      "Variables: source=prom-1 ns=shop|web pod=.*",
      `- 2 "Errors" (timeseries): prometheus: ${EXPR.replace("(shop|web)", "$ns")}`,
      '- 3 "Logs" (logs): loki: {}',
      '- 4 "Words" (text)',
    ]);
    await expect(ask("panels", { dashboard: "nope" })).rejects.toThrow(
      "There is no dashboard nope.",
    );
  });

  test("may be hundreds with hostile titles and a secret", async () => {
    const held = "hunter2-held-hunter2-held";
    fake.boards = Array.from({ length: 300 }, (_, at) => ({
      uid: `u${at}`,
      title: `${"x".repeat(80)} ${held}\n1. fine`,
      panels: [],
    }));
    const { text } = await ask(
      "search",
      {},
      { encoder: createEncoder([{ name: "PASSWORD", value: held }]) },
    );
    expect(text.split("\n")).toHaveLength(27);
    expect(text).not.toMatch(/hunter2|^1\./m);
  });
});

describe("a panel", () => {
  test("is run with the dashboard's variables: what moved is told, and the thread sees a chart", async () => {
    const { text, images } = await ask("panel", { dashboard: "shop-1", panel: 2 });
    expect(fake.queries).toMatchObject([
      { refId: "A", expr: EXPR, datasource: { uid: "prom-1" }, range: true },
    ]);
    expect(text).toMatch(
      /^Shop: Errors: 1 series over 1 h, .*\n- .*moved from 1 to 90 at 2026-11-23 01:30:00 UTC .*\nA chart shows it; a terminal tells in words what is on it\.$/,
    );
    expect(images).toMatchObject([{ name: "chart.png" }]);
  });

  test("may have no data, a query that failed, or another source", async () => {
    fake.results = { [EXPR.replace("(shop|web)", "x")]: { status: 400, error: "parse error" } };
    const asked = { dashboard: "shop-1", panel: 2, variables: { ns: "x" } };
    expect(await ask("panel", asked)).toMatchObject({
      failed: true,
      text: "Grafana refused with 400: A: parse error.",
    });
    fake.results = {};
    expect((await ask("panel", asked)).text).toMatch(/^Shop: Errors: no data over 1 h/);
    expect(await ask("panel", { dashboard: "shop-1", panel: 3 })).toMatchObject({
      failed: true,
      text: "The panel asks loki; only Prometheus is asked from here.",
    });
    await expect(ask("panel", { dashboard: "shop-1", panel: 4 })).rejects.toThrow(
      "4 has no queries of its own",
    );
    await expect(ask("panel", { dashboard: "shop-1", panel: 7 })).rejects.toThrow(
      'there is no 7; there are 2 "Errors"',
    );
  });
});

describe("annotations", () => {
  test("are told newest first, and to what_changed", async () => {
    expect((await ask("annotations")).text).toBe(
      '1 annotation.\n- 2026-11-23 01:55:00 UTC (5 min ago) "deploy 1.2" [shop] by ci, id 1',
    );
    expect((await ask("annotations", { tags: ["other"] })).text).toBe("0 annotations.");
    const url = `http://127.0.0.1:${await listenHttp(serveGrafana(fake))}`;
    const source = await grafana.changes?.(
      grafana.settings.parse({ url, token: TOKEN }),
      NOTHING_LENT,
    );
    expect(Object.keys(source?.endpoints ?? {})).toEqual(["default"]);
  });

  test("are made and read back, and removed to undo it", async () => {
    const {
      precheck,
      preview,
      run: carryOut,
      verify,
    } = await writing(await tools(), "grafana_annotate", {
      text: "rolled back",
      dashboard: "shop-1",
    });
    await precheck();
    expect((await preview())?.lines).toContainEqual({ label: "Dashboard", value: '"Shop"' });
    expect(await verify()).toMatchObject({ verdict: "unknown" });
    const { undo } = await carryOut();
    expect(fake.writes).toMatchObject([
      {
        method: "POST",
        json: { text: "rolled back", tags: ["watchkeeper"], dashboardUID: "shop-1" },
      },
    ]);
    expect(await verify()).toMatchObject({ verdict: "done", undo });
    const back = await writing(await tools(), undo?.tool ?? "", undo?.args ?? {});
    await back.precheck();
    await back.run();
    expect(fake.annotations).toHaveLength(1);
    expect(await back.verify()).toMatchObject({ verdict: "done" });
  });

  test("that others changed meanwhile are not removed; a broken answer may have made one", async () => {
    const { precheck } = await writing(await tools(), "grafana_remove_annotation", {
      id: 1,
      before: { text: "other" },
    });
    await expect(precheck()).rejects.toThrow("It has changed since it was shown: text was other");
    fake.failing = 502;
    const { run: carryOut, verify } = await writing(await tools(), "grafana_annotate", {
      text: "x",
    });
    await expect(carryOut()).rejects.toMatchObject({ code: "ABORTED" });
    expect(await verify()).toMatchObject({ verdict: "done" });
  });
});

describe("an action that was done", () => {
  const done = {
    id: "d1",
    tool: "docker_restart",
    resource: "container shop of default",
    isUndo: false,
    approvers: ["Ana <b>"],
    link: "https://chat.example.com/t/1",
    at: NOW - MINUTE_MS,
  };

  test("is marked once, however often it is asked for, and told among what changed", async () => {
    const url = `http://127.0.0.1:${await listenHttp(serveGrafana(fake))}`;
    const settings = grafana.settings.parse({ url, token: TOKEN, markActions: "yes" });
    const { tool, ctx } = prepare(
      await grafana.tools(settings, NOTHING_LENT),
      "grafana_annotate",
      { text: "x" },
      { at: NOW },
    );
    await tool.mark?.(done, ctx);
    await tool.mark?.(done, ctx);
    expect(fake.writes.map(({ json }) => json)).toEqual([
      {
        text: "docker_restart (container shop), approved by Ana  b \nhttps://chat.example.com/t/1",
        tags: ["watchkeeper", "watchkeeper:d1", "shop"],
        time: done.at,
      },
    ]);
    const source = await grafana.changes?.(settings, NOTHING_LENT);
    expect(await source?.changes({ from: NOW - 2 * MINUTE_MS, to: NOW }, ctx)).toMatchObject({
      changes: [{ at: done.at, text: expect.stringMatching(/\[watchkeeper, shop\]$/) }],
    });
    fake.forbidden = /./;
    await expect(tool.mark?.({ ...done, id: "d2" }, ctx)).rejects.toThrow("refused with 403");
  });

  test("is not marked unless that was set", async () => {
    for (const each of await tools()) expect(each.mark).toBeUndefined();
  });
});

describe.each([
  ["search", {}],
  ["panels", { dashboard: "shop-1" }],
  ["panel", { dashboard: "shop-1", panel: 2 }],
  ["annotations", {}],
] as [string, JsonObject][])("%s", (name, args) => {
  test("that is denied says so, and what would help", async () => {
    fake.forbidden = /./;
    expect(await ask(name, args)).toMatchObject({
      failed: true,
      gaps: [{ help: expect.stringContaining("Viewer") }],
    });
    fake.token = "another";
    expect(await ask(name, args)).toMatchObject({
      failed: true,
      gaps: [{ help: expect.stringContaining("GRAFANA_TOKEN") }],
    });
  });
});

bearsHostileServers({
  // Each series would cost a chart.
  serve: () => serveGrafana({ ...fake, results: {} }),
  toolsAt,
  calls: [
    ["grafana_search", {}],
    ["grafana_panels", { dashboard: "shop-1" }],
    ["grafana_panel", { dashboard: "shop-1", panel: 2 }],
    ["grafana_annotations", {}],
    ["grafana_annotate", { text: "rolled back", dashboard: "shop-1" }],
    ["grafana_remove_annotation", { id: 1 }],
  ],
  at: NOW,
});

test("doctor asks each server for its dashboards", async () => {
  const settings = grafana.settings.parse({ url: "https://grafana.example.com", token: TOKEN });
  expect(await grafana.proofs?.(settings, NOTHING_LENT)).toEqual([
    { subject: "grafana", tool: "grafana_search", args: {} },
  ]);
  expect(await grafana.unavailable?.(grafana.settings.parse({}), NOTHING_LENT)).toMatch(
    /^GRAFANA_URL is not set/,
  );
});
