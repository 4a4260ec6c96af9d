import { createHash } from "node:crypto";
import {
  type Attributes,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from "@opentelemetry/api";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  type IdGenerator,
  RandomIdGenerator,
  type SpanExporter,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { LRUCache } from "lru-cache";
import type { Entry } from "../core/entry.ts";
import { atMost } from "../core/time-limit.ts";
import type { Subscriber } from "./bus.ts";
import { applyKind, type ByKind } from "./event.ts";

/** Runs, calls and actions whose beginning is known here. */
const MAX_OPEN = 3_000;
const STOP_MS = 2_000;

export interface Traces {
  readonly subscriber: Subscriber;
  /** Sends what is left, for at most 2 s. Never throws. */
  stop(): Promise<void>;
}

interface TracesOptions {
  exporter: SpanExporter;
  version: string;
  /** What tells one process from another. */
  instance: string;
}

/**
 * A trace per run, by the names that OpenTelemetry has for generative AI: the run (`invoke_agent`), in it each turn of the model
 * (`chat`), each call (`execute_tool`) and each wait for people (`approval`). A run's ids follow from its thread and name, so that several
 * processes that worked on it have written one trace. It holds names, times, tokens and outcomes, never what was said or found.
 */
export function createTraces({ exporter, version, instance }: TracesOptions): Traces {
  const ids = new NextIds();
  const provider = new TracerProvider({
    idGenerator: ids,
    resource: resourceFromAttributes({
      "service.name": "watchkeeper",
      "service.version": version,
      "service.instance.id": instance,
    }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const { written } = new Spans(provider.getTracer("watchkeeper", version), ids);
  return {
    subscriber(event) {
      if (event.kind === "written") applyKind(written, event.key, event.entry);
    },
    async stop() {
      // Its own limits add up: a collector that hangs must not hold up a shutdown.
      await atMost(
        STOP_MS,
        provider.shutdown().catch(() => undefined),
        () => undefined,
      );
    },
  };
}

interface Span {
  run: string;
  name: string;
  /** Ms since 1970. */
  from: number;
  to: number;
  attributes: Attributes;
  error?: string | undefined;
}

/** Writes spans when what they stand for is over. */
class Spans {
  readonly #tracer: Tracer;
  readonly #ids: NextIds;
  /** What is open, by its thread and name: runs, calls, actions. */
  readonly #open = new LRUCache<string, { at: number; name: string }>({ max: MAX_OPEN });

  readonly written: ByKind = {
    run_started: (key, { run, at, talk }) => this.#begin(key, run, { at, name: talk?.model ?? "" }),
    run_ended: (key, entry) => this.#writeRun(key, entry),
    assistant: (key, entry) => this.#writeTurn(key, entry),
    tool_started: (key, { call, tool, action, at }) => {
      if (action !== undefined) this.#writeWait(key, action, at, "approved");
      this.#begin(key, call, { at, name: tool });
    },
    tool_finished: (key, entry) => this.#writeCall(key, entry),
    // An edit is the same wait.
    action_proposed: (key, { run, tool, action, at, revision }) => {
      if (revision === 1) this.#begin(key, action, { at, name: `${run} ${tool}` });
    },
    action_closed: (key, { action, at, outcome }) => this.#writeWait(key, action, at, outcome),
  };

  constructor(tracer: Tracer, ids: NextIds) {
    this.#tracer = tracer;
    this.#ids = ids;
  }

  #begin(key: string, what: string, begun: { at: number; name: string }): void {
    this.#open.set(`${key} ${what}`, begun);
  }

  #ended(key: string, what: string): { at: number; name: string } | undefined {
    const begun = this.#open.get(`${key} ${what}`);
    this.#open.delete(`${key} ${what}`);
    return begun;
  }

  #write(key: string, { run, name, from, to, attributes, error }: Span): void {
    const parent = { ...idsOf(key, run), traceFlags: TraceFlags.SAMPLED, isRemote: true };
    const context = trace.setSpanContext(ROOT_CONTEXT, parent);
    const kind = name.startsWith("chat ") ? SpanKind.CLIENT : SpanKind.INTERNAL;
    const span = this.#tracer.startSpan(name, { startTime: from, kind, attributes }, context);
    if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
    span.end(to);
  }

  #writeRun(key: string, { run, status, at, error }: Entry<"run_ended">): void {
    const begun = this.#ended(key, run);
    if (begun === undefined) return;
    this.#ids.next = idsOf(key, run);
    const attributes = {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "watchkeeper",
      "gen_ai.conversation.id": key,
      ...(begun.name !== "" && { "gen_ai.request.model": begun.name }),
      "watchkeeper.run": run,
      "watchkeeper.status": status,
    };
    const options = { startTime: begun.at, attributes };
    const span = this.#tracer.startSpan("invoke_agent watchkeeper", options, ROOT_CONTEXT);
    if (status === "failed")
      span.setStatus({ code: SpanStatusCode.ERROR, ...(error && { message: error }) });
    span.end(at);
  }

  #writeTurn(key: string, entry: Entry<"assistant">): void {
    const { run, at, ms, stop, usage } = entry;
    const model = entry.model ?? this.#open.get(`${key} ${run}`)?.name ?? "";
    const slash = model.indexOf("/");
    const attributes = {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": model.slice(0, Math.max(0, slash)),
      "gen_ai.request.model": model.slice(slash + 1),
      "gen_ai.conversation.id": key,
      "gen_ai.response.finish_reasons": [stop],
      "gen_ai.usage.input_tokens": usage.input + usage.cacheRead + usage.cacheWrite,
      "gen_ai.usage.output_tokens": usage.output,
      "gen_ai.usage.cache_read.input_tokens": usage.cacheRead,
    };
    this.#write(key, { run, name: `chat ${model}`, from: at - ms, to: at, attributes });
  }

  #writeCall(key: string, entry: Entry<"tool_finished">): void {
    const { run, call, outcome, at, ms = 0 } = entry;
    const begun = this.#ended(key, call);
    const tool = entry.tool ?? begun?.name ?? "unknown";
    const attributes = {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": tool,
      "gen_ai.tool.call.id": call,
      "watchkeeper.outcome": outcome,
    };
    const error = outcome === "error" || outcome === "unknown" ? outcome : undefined;
    const name = `execute_tool ${tool}`;
    this.#write(key, { run, name, from: at - ms, to: at, attributes, error });
  }

  /** People's time: from the card to the call's start, or to the word that closed it. */
  #writeWait(key: string, action: string, to: number, outcome: string): void {
    const asked = this.#ended(key, action);
    if (asked === undefined) return;
    const [run = "", tool = ""] = asked.name.split(" ");
    const attributes = {
      "gen_ai.tool.name": tool,
      "watchkeeper.action": action,
      "watchkeeper.outcome": outcome,
    };
    this.#write(key, { run, name: `approval ${tool}`, from: asked.at, to, attributes });
  }
}

interface SpanIds {
  traceId: string;
  spanId: string;
}

function idsOf(key: string, run: string): SpanIds {
  const hash = createHash("sha256").update(`${key} ${run}`).digest("hex");
  return { traceId: hash.slice(0, 32), spanId: hash.slice(32, 48) };
}

/** Random ids, but for a root span whose ids were named just before it is begun. */
class NextIds implements IdGenerator {
  next: SpanIds | undefined;
  readonly #random = new RandomIdGenerator();

  generateSpanId(): string {
    return this.next?.spanId ?? this.#random.generateSpanId();
  }

  /** Asked after the other, and for root spans only. */
  generateTraceId(): string {
    const id = this.next?.traceId ?? this.#random.generateTraceId();
    this.next = undefined;
    return id;
  }
}
