import { LRUCache } from "lru-cache";
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Entry } from "../core/entry.ts";
import type { Subscriber } from "./bus.ts";
import { applyKind, type ByKind } from "./event.ts";
import { createGauges, type Figures } from "./gauges.ts";
import { memoryFigures } from "./memory-figures.ts";
import { countProcess, type MakeCounter, type MakeHistogram } from "./process-counters.ts";

/** Calls that are going on; one whose beginning fell out counts as `other`. */
const MAX_CALLS = 1_000;
/** Seconds: most requests to a model take 1 to 30, most calls of tools less than one. */
const MODEL_SECONDS = [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300];
const TOOL_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60];

export interface Metrics {
  readonly subscriber: Subscriber;
  /** The figures since the process began, in Prometheus' text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

interface MetricsOptions {
  /** A model may ask for any name: one that is no tool's counts as `other`. */
  isTool(name: string): boolean;
  /** How many events each subscriber has missed. */
  dropped(): ReadonlyMap<string, number>;
  /** What the process is like now. */
  figures(): Promise<Figures>;
  version: string;
}

/** Counts what this process did. Several processes each have their own figures: add them up. */
export function createMetrics(options: MetricsOptions): Metrics {
  const { isTool, dropped, figures, version } = options;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const [counter, seconds] = makersIn(registry);
  const runs = counter("runs_total", "Runs that ended", ["status"]);
  const requests = counter("model_requests_total", "Turns that models wrote", ["model", "stop"]);
  const spent = spentCounters(counter);
  const modelSeconds = seconds(
    "model_request_seconds",
    "Time that models took for a turn",
    ["model"],
    MODEL_SECONDS,
  );
  const calls = counter("tool_calls_total", "Calls of tools that ended", ["tool", "outcome"]);
  const toolSeconds = seconds("tool_call_seconds", "Time that calls took", ["tool"], TOOL_SECONDS);
  const proposals = counter("actions_proposed_total", "Cards that asked for approval", ["effect"]);
  const votes = counter("votes_total", "Votes of people on cards", ["vote"]);
  const closed = counter("actions_closed_total", "Cards that ended without running", ["outcome"]);
  const gates = counter("gates_total", "Words of gates to models", ["gate"]);
  const memory = memoryFigures(counter, seconds);
  const parked = counter("threads_parked_total", "Threads set aside after two crashes", []);
  const setGauges = createGauges([registry]);
  setBuild(registry, version);
  const missed = counter("events_dropped_total", "Events that a subscriber missed", ["subscriber"]);

  /** What runs, by its call. */
  const tools = new LRUCache<string, string>({ max: MAX_CALLS });
  /** The model that a run began with. */
  const models = new LRUCache<string, string>({ max: MAX_CALLS });
  const nameOf = (tool = "") => (isTool(tool) ? tool : "other");
  const countOwn = countProcess(counter, nameOf);

  function countFinished(
    key: string,
    { call, tool: own, outcome, ms }: Entry<"tool_finished">,
  ): void {
    const tool = nameOf(own ?? tools.get(`${key} ${call}`));
    tools.delete(`${key} ${call}`);
    calls.inc({ tool, outcome });
    if (ms !== undefined) toolSeconds.observe({ tool }, ms / 1_000);
  }

  function countTurn(key: string, entry: Entry<"assistant">): void {
    const model = entry.model ?? models.get(`${key} ${entry.run}`) ?? "other";
    requests.inc({ model, stop: entry.stop });
    modelSeconds.observe({ model }, entry.ms / 1_000);
    countSpent(spent, model, entry);
  }

  const counted: ByKind = {
    run_started(key, { run, talk }) {
      if (talk !== undefined) models.set(`${key} ${run}`, talk.model);
    },
    run_ended: (_, { status }) => runs.inc({ status }),
    assistant: countTurn,
    tool_started: (key, { call, tool }) => void tools.set(`${key} ${call}`, tool),
    tool_finished: countFinished,
    action_proposed: (_, { effect }) => proposals.inc({ effect }),
    vote: (_, { approve }) => votes.inc({ vote: approve ? "approve" : "deny" }),
    action_closed: (_, { outcome }) => closed.inc({ outcome }),
    gate: (_, { gate }) => gates.inc({ gate }),
    notice: (_, { parks }) => parks === true && parked.inc(),
    condensed: (key, { run, model = models.get(`${key} ${run}`) ?? "other", ...of }) =>
      countSpent(spent, model, of),
    ...thoughtCounts(counter, spent, (key, run) => models.get(`${key} ${run}`)),
  };

  return {
    subscriber(event) {
      if (event.kind === "written") applyKind(counted, event.key, event.entry);
      else if (event.kind === "memory") memory(event);
      else countOwn(event);
    },
    async text() {
      setGauges(await figures());
      missed.reset();
      for (const [subscriber, count] of dropped()) missed.inc({ subscriber }, count);
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}

function makersIn(registry: Registry) {
  const registers = [registry];
  const counter: MakeCounter = (name, help, labelNames) =>
    new Counter({ name: `watchkeeper_${name}`, help, labelNames, registers });
  const seconds: MakeHistogram = (name, help, labelNames, buckets) =>
    new Histogram({ name: `watchkeeper_${name}`, help, labelNames, buckets, registers });
  return [counter, seconds] as const;
}

function setBuild(registry: Registry, version: string): void {
  const help = "The program's version";
  const labelNames = ["version"];
  new Gauge({ name: "watchkeeper_build_info", help, labelNames, registers: [registry] }).set(
    { version },
    1,
  );
}

interface Spent {
  tokens: Counter<"model" | "kind">;
  dollars: Counter<"model">;
}

function spentCounters(counter: MakeCounter): Spent {
  return {
    tokens: counter("model_tokens_total", "Tokens that models used", ["model", "kind"]),
    dollars: counter("model_cost_dollars_total", "US dollars, of known prices", ["model"]),
  };
}

type Thought = Pick<Entry<"assistant">, "usage" | "microdollars">;

/** What planning used, and what goals came to. */
function thoughtCounts(
  counter: MakeCounter,
  spent: Spent,
  modelOf: (key: string, run: string) => string | undefined,
): ByKind {
  const goals = counter("goals_total", "Goals that ended", ["status"]);
  const verdicts = counter("goal_tasks_total", "Tasks of goals that were judged", ["verdict"]);
  const think = (thought: Thought | undefined, model = "other") => {
    if (thought !== undefined) countSpent(spent, model, thought);
  };
  return {
    plan: (key, { run, thought }) => think(thought, modelOf(key, run)),
    goal_planned: (_, { thought }) => think(thought, thought?.model),
    goal_judged(_, { thought, verdict }) {
      think(thought, thought?.model);
      if (verdict !== undefined) verdicts.inc({ verdict });
    },
    goal_state(_, { state, status }) {
      if (state === "ended") goals.inc({ status: status ?? "stopped" });
    },
  };
}

/** What a request used, whatever it was for, and what it cost where its price was known. */
function countSpent(
  { tokens, dollars }: Spent,
  model: string,
  { usage, microdollars }: Pick<Entry<"assistant">, "usage" | "microdollars">,
): void {
  for (const [kind, count] of Object.entries(usage)) tokens.inc({ model, kind }, count);
  if (microdollars !== undefined) dollars.inc({ model }, microdollars / 1_000_000);
}
