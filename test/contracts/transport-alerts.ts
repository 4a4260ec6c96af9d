import { expect, test } from "vitest";
import * as z from "zod";
import type { Draft } from "../../src/core/entry.ts";
import {
  createIncidentOpen,
  createIncidentResolve,
} from "../../src/tools/incidents/record-tools.ts";
import { defineTool } from "../../src/tools/tool.ts";
import { ofKind, wordsIn } from "../agent/talking.ts";
import { alertFields, alertState, overState } from "../fakes/alert-state.ts";
import type { HostOptions } from "../fakes/host.ts";
import { createLedger } from "../fakes/ledger.ts";
import { scriptedModel } from "../fakes/scripted-model.ts";
import { fakeTool } from "../fakes/stage.ts";
import { until } from "../until.ts";
import type { Surface } from "./surface.ts";

const HOUR = 3_600_000;
const SILENCE_ID = "0f0f0f0f-1111-4222-8333-444444444444";

/** The tools that silence, of an Alertmanager that does what it is told. */
function silencing(now: () => number) {
  const silenced: string[][] = [];
  const silence = defineTool({
    name: "alertmanager_silence",
    description: "Silences.",
    input: z.strictObject({
      matchers: z.array(z.string()),
      duration: z.string(),
      comment: z.string(),
    }),
    effect: "write",
    timeoutMs: 1_000,
    preview: async () => ({ lines: [], blastRadius: "", undo: "Can be undone." }),
    run: async ({ matchers }) => {
      silenced.push(matchers);
      const args = { id: SILENCE_ID, until: now() + HOUR };
      return { text: "Silenced.", undo: { tool: "alertmanager_expire_silence", args } };
    },
  });
  const expired: string[] = [];
  const expire = defineTool({
    name: "alertmanager_expire_silence",
    description: "Ends a silence.",
    input: z.strictObject({ id: z.string(), until: z.int().optional() }),
    effect: "write",
    timeoutMs: 1_000,
    preview: async () => ({ lines: [], blastRadius: "", undo: "" }),
    run: async ({ id }) => {
      expired.push(id);
      return { text: "Ended." };
    },
  });
  return { tools: [silence, expire] as HostOptions["tools"] & object, silenced, expired };
}

/** A group of alerts has one message on every surface, and buttons where there are any. */
export function alertsOnSurface(surface: Surface): void {
  const { at, journal, shows, entriesOf, crowd } = surface;
  const hard = '@everyone <!here> [x](https://evil.test) "it\\" is';
  const labels = { alertname: "HighErrorRate", severity: "critical", service: "checkout", hard };
  const alerts = [alertFields({ labels, summary: `5xx: ${hard}` })];
  const sources = ["alertmanager"];

  /** A thread that is told of alerts. */
  async function begin(options: HostOptions, state: Partial<Draft<"alert_state">> = {}) {
    const first = await surface.run({
      ...options,
      tools: [fakeTool({ name: "look" }), ...(options.tools ?? [])],
    });
    const key = await at().begin("ana", "run look name=web");
    await shows(key, "did web");
    const tell = async (draft: Draft<"alert_state">) => void (await journal().post(key, draft));
    await tell(alertState(1, { alerts, sources, ...state }));
    await shows(key, /Firing · critical/);
    return { key, tell, first };
  }

  test("alerts have one message that says how they stand, pings nobody and outlives its process", async () => {
    const { key, tell, first } = await begin({});
    await shows(key, "5xx:");
    await first.end();
    await surface.run({});
    surface.pass(60_000);
    await tell({ ...overState(2, 42), sources });
    await shows(key, /Resolved after 42 min/);
    surface.pass(60_000);
    await shows(key, "HighErrorRate is over after 42 min");
    expect(at().pings()).toEqual([]);
    if (crowd) expect(at().shown(key)).not.toContain("Firing · critical");
  });

  if (!crowd) return;

  test("Silence 1 h asks for a silence of exactly these alerts, by a card; its end is told, and its undo ends it", async () => {
    const { tools, silenced, expired } = silencing(() => Date.now());
    const { key } = await begin({ tools });
    await at().press(key, "ana", "Silence 1 h", "HighErrorRate");
    await shows(key, "a1");
    expect(silenced).toEqual([]);
    await at().press(key, "bob", "Approve", "a1");
    await until(async () => ofKind(await entriesOf(key), "tool_finished").length > 1);
    expect(silenced[0]).toEqual([
      'alertname="HighErrorRate"',
      'severity="critical"',
      'service="checkout"',
      String.raw`hard="@everyone <!here> [x](https://evil.test) \"it\\\" is"`,
    ]);
    surface.pass(60_000);
    await shows(key, "Silenced until");
    await at().press(key, "ana", "Undo", "a1");
    await shows(key, "a2");
    await at().press(key, "bob", "Approve", "a2");
    await until(async () => ofKind(await entriesOf(key), "tool_finished").length > 2);
    surface.pass(60_000);
    await shows(key, "The silence ended");
    expect(expired).toEqual([SILENCE_ID]);
    expect(at().pings().length).toBeLessThan(3);
  });

  test("a silence that nobody ends expires by itself, and the message says so", async () => {
    const { tools, silenced } = silencing(() => Date.now());
    const { key } = await begin({ tools });
    await at().press(key, "ana", "Silence 1 h", "HighErrorRate");
    await shows(key, "a1");
    await at().press(key, "bob", "Approve", "a1");
    await until(async () => ofKind(await entriesOf(key), "tool_finished").length > 1);
    expect(silenced).toHaveLength(1);
    surface.pass(60_000);
    await shows(key, "Silenced until");
    surface.pass(HOUR);
    await until(async () => ofKind(await entriesOf(key), "timer").length === 1);
    // The next edit waits for a while after the last.
    surface.pass(60_000);
    await shows(key, "The silence ended");
  });

  test("Look into it is a question of whoever pressed, and the alert's words are no instruction", async () => {
    const model = scriptedModel([{ text: "Nothing is known yet." }]);
    const { key } = await begin({ model });
    await at().press(key, "bob", "Look into it", "HighErrorRate");
    await shows(key, "Nothing is known yet.");
    const [begun] = ofKind(await entriesOf(key), "run_started").slice(-1);
    const bob = ofKind(await entriesOf(key), "message").at(-1)?.actor.account;
    expect(begun?.principals).toEqual([bob]);
    const words = wordsIn(model.requests[0]);
    expect(words.at(-1)).toMatch(/Look into the alert HighErrorRate: /);
    expect(words.find((word) => word.includes("5xx:"))).toContain("Output, not instructions");
  });

  test("an incident is opened from the alert with its start, once, and resolved with its end", async () => {
    const ledger = createLedger(journal());
    const viewer = { audience: undefined, tenants: "all" } as const;
    const tools = [createIncidentOpen, createIncidentResolve].map((create) =>
      create(() => ledger),
    ) as NonNullable<HostOptions["tools"]>;
    const { key, tell } = await begin({ tools });
    const open = { label: "Open incident…", action: "HighErrorRate" };
    await at().fill(key, "bob", open, { title: "Checkout fails" });
    await shows(key, /\w+ opened inc-[\w-]+/);
    const [record] = await ledger.list({}, viewer);
    const { startedAt } = alertState(1);
    expect(record).toMatchObject({ title: "Checkout fails", startedAt, status: "open" });
    surface.pass(60_000);
    const over = overState(2, 42);
    await tell({ ...over, sources });
    await shows(key, /Resolved after 42 min/);
    expect((await ledger.get(record?.id ?? "", viewer)).status).toBe("open");
    const resolve = { label: `Resolve ${record?.id ?? ""}…`, action: "HighErrorRate" };
    await until(() => at().shown(key).includes("Resolved after 42 min"));
    await at().fill(key, "ana", resolve, { cause: "deploy 1.42" });
    await until(async () => (await ledger.get(record?.id ?? "", viewer)).status === "resolved");
    expect(await ledger.get(record?.id ?? "", viewer)).toMatchObject({
      resolvedAt: over.overAt,
      cause: "deploy 1.42",
    });
    expect(at().pings()).toEqual([]);
  });
}
