import { InMemorySpanExporter } from "@opentelemetry/sdk-trace";
import { pino } from "pino";
import { expect, test } from "vitest";
import type { Entry, Kind } from "../../src/core/entry.ts";
import type { BotEvent } from "../../src/events/event.ts";
import { logEvents } from "../../src/events/log.ts";
import type { Figures } from "../../src/events/gauges.ts";
import { createMetrics, type Metrics } from "../../src/events/metrics.ts";
import { createTraces } from "../../src/events/traces.ts";

const KEY = "slack:T1:C1:1.5";
/** OpenTelemetry takes small times for milliseconds since the process began. */
const T0 = 1_780_000_000_000;
const MODEL = "anthropic/claude-sonnet-5-5";
const HASH = "0".repeat(64);

function written<K extends Kind>(
  at: number,
  fields: Omit<Entry<K>, "seq" | "at" | "id">,
): BotEvent {
  const entry = { seq: at, at: T0 + at, id: `e${at}`, ...fields };
  // The fields are those of one kind; TypeScript cannot tell so of a generic one.
  return { kind: "written", key: KEY, entry: entry as unknown as Entry };
}

const USAGE = { input: 10, output: 5, cacheRead: 100, cacheWrite: 0 };
const budget = { steps: 30, tokens: 1_000, minutes: 15 };

/** A run in which a person approved the one write, and a read was asked for that is no tool. */
const RUN: readonly BotEvent[] = [
  written<"run_started">(1_000, {
    kind: "run_started",
    run: "r1",
    answers: ["msg:1"],
    principals: ["slack:T1:U1"],
    calls: [],
    talk: { model: MODEL, prefix: HASH, budget },
  }),
  { kind: "model_asked", key: KEY, run: "r1", step: 1 },
  written<"assistant">(3_000, {
    kind: "assistant",
    run: "r1",
    step: 1,
    seen: 1_000,
    content: [],
    stop: "tool_use",
    microdollars: 420_000,
    usage: USAGE,
    request: HASH.slice(0, 32),
    ms: 1_500,
  }),
  written<"tool_finished">(3_100, {
    kind: "tool_finished",
    run: "r1",
    call: "r1.t1",
    outcome: "blocked",
    text: "There is no such tool.",
    tool: "made_up_by_the_model",
    ms: 0,
  }),
  written<"action_closed">(3_200, { kind: "action_closed", action: "a0", outcome: "expired" }),
  written<"tool_started">(60_000, {
    kind: "tool_started",
    run: "r1",
    call: "r1.t2",
    tool: "restart_service",
    effect: "write",
    action: "a1",
  }),
  written<"tool_finished">(62_000, {
    kind: "tool_finished",
    run: "r1",
    call: "r1.t2",
    outcome: "ok",
    text: "done",
    ms: 2_000,
  }),
  {
    kind: "tool_crashed",
    tool: "restart_service",
    args: {},
    error: new TypeError("x is not a function"),
  },
  { kind: "circuit_opened", tool: "restart_service", failures: 5, waitMs: 30_000 },
  written<"run_ended">(63_000, {
    kind: "run_ended",
    run: "r1",
    status: "completed",
    text: "Done.",
  }),
];

/** What memory did, with a provider of vectors that failed. */
const MEMORY: readonly BotEvent[] = [
  { kind: "memory", did: "remembered", what: "note", id: "m-a", thread: KEY },
  { kind: "memory", did: "merged", id: "m-b", thread: KEY },
  { kind: "memory", did: "recalled", found: 3, ms: 12 },
  { kind: "memory", did: "recalled", found: 0, ms: 2 },
  { kind: "memory", did: "forgotten", id: "m-a", thread: KEY },
  { kind: "memory", did: "failed", doing: "recall", error: new Error("away") },
  {
    kind: "memory",
    did: "failed",
    doing: "embed",
    error: new Error("no route"),
    model: "openai/text-embedding-3-small",
  },
];

const MINUTE_MS = 60_000;
const FIGURES: Figures = {
  isReady: true,
  platforms: new Map([
    ["slack", true],
    ["discord", false],
  ]),
  slots: { slots: 64, busy: 3, held: 7, waiting: { people: 1, runs: 2, found: 0 } },
  store: {
    dueLagMs: 1_500,
    clockMs: -250,
    bytes: 4_096,
    left: 8_192,
    waitingMs: [MINUTE_MS, 5 * MINUTE_MS, 14 * MINUTE_MS, 2_820_000],
  },
};

function metrics(figures = async (): Promise<Figures> => FIGURES) {
  const dropped = () => new Map([["log", 3]]);
  const isTool = (name: string) => name === "restart_service";
  return createMetrics({ isTool, dropped, figures, version: "1.2.3" });
}

const readLines = async (read: Metrics["text"]) => (await read()).split("\n");

test("figures count what was done, and a name that is no tool's is no label", async () => {
  const { subscriber, text, contentType } = metrics();
  for (const event of RUN) subscriber(event);
  const lines = (await text()).split("\n");
  for (const line of [
    'watchkeeper_runs_total{status="completed"} 1',
    `watchkeeper_model_requests_total{model="${MODEL}",stop="tool_use"} 1`,
    `watchkeeper_model_tokens_total{model="${MODEL}",kind="cacheRead"} 100`,
    `watchkeeper_model_cost_dollars_total{model="${MODEL}"} 0.42`,
    `watchkeeper_model_request_seconds_sum{model="${MODEL}"} 1.5`,
    'watchkeeper_tool_calls_total{tool="other",outcome="blocked"} 1',
    'watchkeeper_tool_calls_total{tool="restart_service",outcome="ok"} 1',
    'watchkeeper_tool_call_seconds_sum{tool="restart_service"} 2',
    'watchkeeper_actions_closed_total{outcome="expired"} 1',
    'watchkeeper_tool_crashes_total{tool="restart_service"} 1',
    'watchkeeper_circuits_opened_total{tool="restart_service"} 1',
    'watchkeeper_events_dropped_total{subscriber="log"} 3',
  ])
    expect(lines).toContain(line);
  expect(lines.join()).not.toContain("made_up_by_the_model");
  expect(contentType).toContain("text/plain");
});

test("figures count what memory did, found and could not do", async () => {
  const { subscriber, text } = metrics();
  for (const event of MEMORY) subscriber(event);
  const lines = (await text()).split("\n");
  for (const line of [
    'watchkeeper_memory_total{did="remembered"} 1',
    'watchkeeper_memory_total{did="merged"} 1',
    'watchkeeper_memory_total{did="recalled"} 2',
    'watchkeeper_memory_total{did="forgotten"} 1',
    "watchkeeper_memory_found_total 3",
    'watchkeeper_memory_failures_total{doing="embed"} 1',
    'watchkeeper_memory_failures_total{doing="recall"} 1',
    "watchkeeper_memory_recall_seconds_sum 0.014",
  ])
    expect(lines).toContain(line);
});

test("the log has what memory does at debug, and warns of a provider of vectors that fails", () => {
  const lines: Record<string, unknown>[] = [];
  const stream = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const log = pino({ level: "debug" }, stream);
  for (const event of MEMORY) logEvents(log)(event);
  expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
    [20, "memory remembered"],
    [20, "memory merged"],
    [20, "memory recalled"],
    [20, "memory recalled"],
    [20, "memory forgotten"],
    [20, "memory failed to recall"],
    [
      40,
      "openai/text-embedding-3-small makes no vectors; memory compares words alone for a minute",
    ],
  ]);
  expect(lines[0]).toMatchObject({ what: "note", id: "m-a", thread: KEY });
  expect(lines[6]).toMatchObject({ err: { message: "no route" } });
});

test("figures say what is lost, set aside, refused and shown twice, and name no thread", async () => {
  const { subscriber, text } = metrics();
  const parked = { kind: "notice", text: "It rests.", parks: true } as const;
  const events: BotEvent[] = [
    ...[1, 1, 2, 3, 9].map((attempts): BotEvent => ({ kind: "taken", key: KEY, attempts })),
    written<"notice">(1, parked),
    { kind: "refused", key: KEY, transport: "slack", code: "PLATFORM_RATE_LIMITED" },
    { kind: "refused", key: KEY, transport: "slack", code: undefined },
    { kind: "copied", key: KEY, transport: "slack" },
  ];
  for (const event of events) subscriber(event);
  const lines = await readLines(text);
  for (const line of [
    'watchkeeper_journals_taken_total{attempt="1"} 2',
    'watchkeeper_journals_taken_total{attempt="2"} 1',
    'watchkeeper_journals_taken_total{attempt="3_or_more"} 2',
    "watchkeeper_threads_parked_total 1",
    'watchkeeper_deliveries_refused_total{transport="slack",code="PLATFORM_RATE_LIMITED"} 1',
    'watchkeeper_deliveries_refused_total{transport="slack",code="other"} 1',
    'watchkeeper_copies_taken_back_total{transport="slack"} 1',
  ])
    expect(lines).toContain(line);
  expect(lines.join("\n")).not.toMatch(/T1|C1|U1/);
});

test("gauges say how the process and the store are now", async () => {
  const lines = await readLines(metrics().text);
  for (const line of [
    'watchkeeper_build_info{version="1.2.3"} 1',
    "watchkeeper_ready 1",
    'watchkeeper_platform_connected{transport="slack"} 1',
    'watchkeeper_platform_connected{transport="discord"} 0',
    "watchkeeper_slots 64",
    "watchkeeper_slots_busy 3",
    "watchkeeper_journals_held 7",
    'watchkeeper_journals_waiting{lane="people"} 1',
    'watchkeeper_journals_waiting{lane="runs"} 2',
    'watchkeeper_journals_waiting{lane="found"} 0',
    "watchkeeper_store_up 1",
    "watchkeeper_due_lag_seconds 1.5",
    "watchkeeper_store_clock_ahead_seconds -0.25",
    "watchkeeper_store_bytes 4096",
    "watchkeeper_store_left_bytes 8192",
    "watchkeeper_approvals_oldest_seconds 2820",
    'watchkeeper_approvals_waiting{age="under_5m"} 1',
    'watchkeeper_approvals_waiting{age="5m_to_15m"} 2',
    'watchkeeper_approvals_waiting{age="15m_to_45m"} 0',
    'watchkeeper_approvals_waiting{age="over_45m"} 1',
  ])
    expect(lines).toContain(line);
  // The event loop's come with the library.
  expect(lines.filter((line) => /^nodejs_eventloop_lag_p99_seconds \d/.test(line))).toHaveLength(1);
});

test("what the store does not say now is left out: nothing of an earlier time stands for it", async () => {
  const noCards = FIGURES.store && { ...FIGURES.store, waitingMs: undefined };
  const figures = [
    FIGURES,
    { ...FIGURES, store: noCards },
    { ...FIGURES, isReady: false, store: undefined },
  ];
  const { text } = metrics(async () => figures.shift() ?? FIGURES);
  await text();
  const withoutCards = await readLines(text);
  expect(withoutCards).toContain("watchkeeper_store_up 1");
  expect(withoutCards.filter((line) => line.startsWith("watchkeeper_approvals"))).toEqual([]);
  const lines = await readLines(text);
  expect(lines).toContain("watchkeeper_ready 0");
  expect(lines).toContain("watchkeeper_store_up 0");
  const names = /^watchkeeper_(due_lag|store_clock|store_bytes|store_left|approvals)/;
  expect(lines.filter((line) => names.test(line))).toEqual([]);
});

test("a run is one trace, with its turns, calls and people's time, also where two processes wrote it", async () => {
  const exporters = [new InMemorySpanExporter(), new InMemorySpanExporter()];
  const [first, second] = exporters.map((exporter, i) =>
    createTraces({ exporter, version: "1", instance: `p${i}` }),
  );
  const proposed = written<"action_proposed">(10_000, {
    kind: "action_proposed",
    run: "r1",
    call: "r1.t2",
    action: "a1",
    revision: 1,
    tool: "restart_service",
    effect: "write",
    args: {},
    digest: HASH,
    preview: { text: "", blastRadius: "", undo: "" },
    approvers: { kind: "members" },
    quorum: 1,
    barred: [],
    expiresAt: 99_000,
  } as unknown as Omit<Entry<"action_proposed">, "seq" | "at" | "id">);
  for (const event of [...RUN.slice(0, 4), proposed, ...RUN.slice(4)]) first?.subscriber(event);
  second?.subscriber(RUN[2] as BotEvent);
  // The last spans are taken before the exporter forgets them with its end.
  const seen = async (i: number) => {
    const spans: {
      name: string;
      ms: number;
      traceId: string;
      parent: string | undefined;
      id: string;
    }[] = [];
    const exporter = exporters[i];
    if (exporter !== undefined)
      exporter.shutdown = async () => {
        for (const span of exporter.getFinishedSpans()) {
          const { traceId, spanId } = span.spanContext();
          const ms =
            (span.endTime[0] - span.startTime[0]) * 1_000 +
            (span.endTime[1] - span.startTime[1]) / 1e6;
          spans.push({
            name: span.name,
            ms,
            traceId,
            parent: span.parentSpanContext?.spanId,
            id: spanId,
          });
        }
      };
    await [first, second][i]?.stop();
    return spans;
  };
  const [spans, others] = [await seen(0), await seen(1)];
  expect(spans.map(({ name, ms }) => [name, Math.round(ms)])).toEqual([
    [`chat ${MODEL}`, 1_500],
    ["execute_tool made_up_by_the_model", 0],
    ["approval restart_service", 50_000],
    ["execute_tool restart_service", 2_000],
    ["invoke_agent watchkeeper", 62_000],
  ]);
  const root = spans.at(-1);
  expect(root?.parent).toBeUndefined();
  for (const span of [...spans.slice(0, -1), ...others])
    expect([span.traceId, span.parent]).toEqual([root?.traceId, root?.id]);
  expect(new Set(spans.map(({ id }) => id)).size).toBe(spans.length);
});

test("the log has a tool's crash with its stack, and not what people wrote", () => {
  const lines: Record<string, unknown>[] = [];
  const stream = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const log = pino({ level: "info" }, stream);
  for (const event of RUN) logEvents(log)(event);
  expect(lines.map(({ msg }) => msg)).toEqual([
    "run started",
    "a tool crashed; its caller was told: this is a fault in it",
    "a tool only fails and is left alone",
    "run ended",
  ]);
  expect(lines[1]).toMatchObject({
    tool: "restart_service",
    err: { type: "TypeError", stack: expect.stringContaining("subscribers.test.ts") },
  });
  expect(lines[3]).toMatchObject({ key: KEY, run: "r1", status: "completed" });
});

test("what goals' planners and judges used is counted as tokens and money, with their verdicts and ends", async () => {
  const { subscriber, text } = metrics();
  const thought = { model: MODEL, requests: 1, usage: USAGE, ms: 10, microdollars: 1_000_000 };
  const goal = { goal: "g1" };
  for (const event of [
    written<"goal_planned">(1, {
      kind: "goal_planned",
      ...goal,
      revision: 1,
      seen: 0,
      tasks: [],
      done: false,
      thought,
    }),
    written<"goal_judged">(2, {
      kind: "goal_judged",
      ...goal,
      task: "g1.k1",
      run: "r2",
      number: 1,
      reason: "so",
      by: "model",
      verdict: "done",
      thought,
    }),
    written<"goal_state">(3, {
      kind: "goal_state",
      ...goal,
      number: 1,
      state: "ended",
      status: "partly",
    }),
  ])
    subscriber(event);
  const lines = (await text()).split("\n");
  expect(lines).toContain(`watchkeeper_model_tokens_total{model="${MODEL}",kind="output"} 10`);
  expect(lines).toContain(`watchkeeper_model_cost_dollars_total{model="${MODEL}"} 2`);
  expect(lines).toContain('watchkeeper_goal_tasks_total{verdict="done"} 1');
  expect(lines).toContain('watchkeeper_goals_total{status="partly"} 1');
});
