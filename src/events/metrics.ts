import { LRUCache } from "lru-cache";
import { collectDefaultMetrics, Counter, Histogram, Registry } from "prom-client";
import type { Entry } from "../core/entry.ts";
import type { Subscriber } from "./bus.ts";
import { applyKind, type ByKind, type MemoryEvent } from "./event.ts";

/** Calls that are going on; one whose beginning fell out counts as `other`. */
const MAX_CALLS = 1_000;
/** Seconds: most requests to a model take 1 to 30, most calls of tools less than one. */
const MODEL_SECONDS = [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300];
const RECALL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3];
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
}

/** Counts what this process did. Several processes each have their own figures: add them up. */
export function createMetrics({ isTool, dropped }: MetricsOptions): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const counter = (name: string, help: string, labelNames: readonly string[]) =>
    new Counter({ name: `watchkeeper_${name}`, help, labelNames, registers: [registry] });
  const seconds = (name: string, help: string, labelNames: string[], buckets: number[]) =>
    new Histogram({
      name: `watchkeeper_${name}`,
      help,
      labelNames,
      buckets,
      registers: [registry],
    });
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
  const crashes = counter("tool_crashes_total", "Calls whose tool's code failed", ["tool"]);
  const circuits = counter("circuits_opened_total", "Times that a tool was left alone", ["tool"]);
  const proposals = counter("actions_proposed_total", "Cards that asked for approval", ["effect"]);
  const votes = counter("votes_total", "Votes of people on cards", ["vote"]);
  const closed = counter("actions_closed_total", "Cards that ended without running", ["outcome"]);
  const gates = counter("gates_total", "Words of gates to models", ["gate"]);
  const memory = memoryFigures(counter, seconds);
  const missed = counter("events_dropped_total", "Events that a subscriber missed", ["subscriber"]);

  /** What runs, by its call; and the model that a run began with. */
  const [tools, models] = [newOpen(), newOpen()];
  const nameOf = (tool: string | undefined) =>
    tool !== undefined && isTool(tool) ? tool : "other";

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
    condensed: (key, { run, model = models.get(`${key} ${run}`) ?? "other", ...of }) =>
      countSpent(spent, model, of),
  };

  return {
    subscriber(event) {
      if (event.kind === "written") applyKind(counted, event.key, event.entry);
      else if (event.kind === "tool_crashed") crashes.inc({ tool: nameOf(event.tool) });
      else if (event.kind === "memory") memory(event);
      else if (event.kind === "circuit_opened") circuits.inc({ tool: nameOf(event.tool) });
    },
    async text() {
      missed.reset();
      for (const [subscriber, count] of dropped()) missed.inc({ subscriber }, count);
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}

function newOpen(): LRUCache<string, string> {
  return new LRUCache({ max: MAX_CALLS });
}

type NewCounter = (name: string, help: string, labelNames: readonly string[]) => Counter;
type NewHistogram = (
  name: string,
  help: string,
  labelNames: string[],
  buckets: number[],
) => Histogram;

/** What memory did, and how long looking took. */
function memoryFigures(counter: NewCounter, seconds: NewHistogram) {
  const done = counter("memory_total", "What memory did", ["did"]);
  const failed = counter("memory_failures_total", "What memory could not do", ["doing"]);
  const found = counter("memory_found_total", "What was found in memory", []);
  const took = seconds("memory_recall_seconds", "Time that looking took", [], RECALL_SECONDS);
  return (event: MemoryEvent) => {
    if (event.did === "failed") return failed.inc({ doing: event.doing });
    done.inc({ did: event.did });
    if (event.did !== "recalled") return;
    found.inc(event.found);
    took.observe(event.ms / 1_000);
  };
}

interface Spent {
  tokens: Counter<"model" | "kind">;
  dollars: Counter<"model">;
}

function spentCounters(counter: NewCounter): Spent {
  return {
    tokens: counter("model_tokens_total", "Tokens that models used", ["model", "kind"]),
    dollars: counter("model_cost_dollars_total", "US dollars, of known prices", ["model"]),
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
