import type { Logger } from "pino";
import type { Adapter } from "../adapters/adapter.ts";
import type { Queries } from "../adapters/queries.ts";
import type { Config } from "../config/config.ts";
import { watchingPart } from "../config/watching.ts";
import { createBearerCheck } from "../core/bearer.ts";
import type { HttpRoute } from "../core/http-route.ts";
import { programVersion } from "../core/installation.ts";
import { settingsOf } from "../core/settings.ts";
import { createBus, type Publisher } from "../events/bus.ts";
import { logEvents, logFault } from "../events/log.ts";
import { startBeating } from "../journal/heartbeat.ts";
import type { Stoppable } from "../journal/journal.ts";
import type { Dispatcher } from "../tools/dispatch.ts";
import type { Wakeups } from "../wakeups/wakeups.ts";
import type { Worker } from "../worker/worker.ts";
import { createFigures, type FigureParts } from "./figures.ts";
import { createHealth } from "./health.ts";
import { startWatchdog } from "./watchdog.ts";

/** Until then a start loads code, which holds the event loop. */
const START_MS = 3_000;

/** Figures and traces are to be whole also after a burst, such as a hundred threads that are taken up at once. */
const CAPACITY = 8_192;

export interface Watching extends Stoppable {
  readonly events: Publisher;
  readonly routes: {
    /** Figures, for who has the token. */
    readonly metricsRoutes: readonly HttpRoute[];
    /** Whether this process can work, for anybody. */
    readonly healthRoute: HttpRoute;
  };
  /** From now on work is taken up for these, and the store hears that this host is at work. */
  start(served: readonly Adapter[]): Stoppable;
  /** From now on nothing new is begun. */
  drain(): void;
}

interface Watched {
  dispatcher: Pick<Dispatcher, "find">;
  worker: Pick<Worker, "atWork" | "serves">;
  wakeups: Pick<Wakeups, "load">;
  queries: Pick<Queries, "openActions">;
}

/**
 * The bus, and who watches by this configuration: the log always, figures and traces where they are wanted. `watched`: what
 * is made after it.
 */
export async function openEvents(
  config: Config,
  log: Logger,
  journal: FigureParts["journal"],
  watched: () => Watched,
): Promise<Watching> {
  const { host } = config;
  const health = createHealth({ beat: async () => journal.beat(host) });
  const { metricsToken, tracesEndpoint, tracesHeaders } = settingsOf(watchingPart, config.values);
  const bus = createBus(logFault(log));
  bus.subscribe("log", logEvents(log), { capacity: CAPACITY });
  const metricsRoutes: HttpRoute[] = [];
  if (metricsToken !== undefined) {
    const { createMetrics } = await import("../events/metrics.ts");
    const metrics = createMetrics({
      isTool: (name) => watched().dispatcher.find(name) !== undefined,
      dropped: bus.dropped,
      figures: createFigures({
        journal,
        health,
        host,
        serves: (key) => watched().worker.serves(key),
        load: () => watched().wakeups.load(),
        openActions: (transport) => watched().queries.openActions(transport),
      }),
      version: programVersion(),
    });
    bus.subscribe("metrics", metrics.subscriber, { capacity: CAPACITY });
    metricsRoutes.push(metricsRoute(metricsToken, metrics));
  }
  const traces =
    tracesEndpoint && (await openTraces(config, { url: tracesEndpoint, headers: tracesHeaders }));
  if (traces) bus.subscribe("traces", traces.subscriber, { capacity: CAPACITY });
  return {
    events: bus,
    routes: { metricsRoutes, healthRoute: health.route },
    start(served) {
      health.start(served);
      const beats = startBeating(journal, host, log);
      const { atWork } = watched().worker;
      const watchdog = startWatchdog({ log, atWork, afterMs: START_MS });
      return {
        async stop() {
          await beats.stop();
          await watchdog.stop();
        },
      };
    },
    drain: health.stop,
    async stop() {
      bus.flush();
      if (traces) await traces.stop();
    },
  };
}

function metricsRoute(
  token: string,
  { text, contentType }: { text(): Promise<string>; contentType: string },
): HttpRoute {
  const isAllowed = createBearerCheck(token);
  const denied = {
    status: 401,
    text: "Send METRICS_TOKEN as Authorization: Bearer.\n",
    headers: { "www-authenticate": "Bearer" },
  };
  return {
    method: "GET",
    path: "/metrics",
    refuse: (headers) => (isAllowed(headers) ? undefined : denied),
    handle: async () => ({
      status: 200,
      text: await text(),
      headers: { "content-type": contentType },
    }),
  };
}

/** What writes traces and sends them by OTLP. */
export async function openTraces(
  { host }: Pick<Config, "host">,
  { url, headers }: { url: string; headers: string | undefined },
) {
  const [{ createTraces }, { OTLPTraceExporter }] = await Promise.all([
    import("../events/traces.ts"),
    import("@opentelemetry/exporter-trace-otlp-http"),
  ]);
  const exporter = new OTLPTraceExporter({
    url: `${url.replace(/\/$/, "")}/v1/traces`,
    headers: Object.fromEntries(
      (headers ?? "").split(",").flatMap((pair) => (pair === "" ? [] : [splitPair(pair)])),
    ),
    timeoutMillis: 5_000,
    httpAgentOptions: async (protocol) => {
      const [{ createAgent }, { readProxies }] = await Promise.all([
        import("../net/agent.ts"),
        import("../net/proxy.ts"),
      ]);
      return createAgent(protocol === "https:" ? "https:" : "http:", readProxies());
    },
  });
  return createTraces({ exporter, version: programVersion(), instance: `${host} ${process.pid}` });
}

function splitPair(pair: string): [string, string] {
  const at = pair.indexOf("=");
  return [pair.slice(0, at), decodeURIComponent(pair.slice(at + 1))];
}
