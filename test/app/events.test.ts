import { once } from "node:events";
import { createServer } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { openEvents } from "../../src/app/events.ts";
import { startHttpServer } from "../../src/app/http.ts";
import { loadConfig } from "../../src/config/config.ts";

const TOKEN = "0123456789abcdef";
const log = pino({ level: "silent" });
const JOURNAL = {
  beat: async () => {},
  hosts: async () => [],
  async *owed() {},
  size: async () => ({ bytes: 0, left: undefined }),
};
const NONE = { slots: 64, busy: 0, held: 0, waiting: { people: 0, runs: 0, found: 0 } };
const watched = () => ({
  dispatcher: { find: () => undefined },
  worker: { atWork: () => [], serves: () => true },
  wakeups: { load: () => NONE },
  queries: { async *openActions() {} },
});
const PARTS = [log, JOURNAL, watched] as const;

async function configOf(env: Record<string, string>) {
  const cwd = await mkdtemp(join(tmpdir(), "wk-events-"));
  onTestFinished(() => rm(cwd, { recursive: true }));
  return loadConfig({ DATA_DIR: join(cwd, "data"), ...env }, { cwd });
}

const ended = {
  kind: "written",
  key: "slack:T1:C1:1.5",
  entry: {
    seq: 2,
    id: "e2",
    at: 1_780_000_002_000,
    kind: "run_ended",
    run: "r1",
    status: "completed",
  },
} as const;

test("figures are served to who has the token, and to nobody where none is set", async () => {
  const { routes: none } = await openEvents(await configOf({}), ...PARTS);
  expect(none.metricsRoutes).toEqual([]);
  const config = await configOf({ METRICS_TOKEN: TOKEN });
  const { events, routes } = await openEvents(config, ...PARTS);
  const server = await startHttpServer({
    routes: routes.metricsRoutes,
    port: 0,
    host: "127.0.0.1",
    log,
  });
  onTestFinished(() => server.stop());
  const read = async (token: string) =>
    fetch(`http://127.0.0.1:${server.port}/metrics`, { headers: { authorization: token } });
  const refused = await read(TOKEN);
  expect([refused.status, await refused.text()]).toEqual([
    401,
    "Send METRICS_TOKEN as Authorization: Bearer.\n",
  ]);
  events.publish(ended);
  await expect
    .poll(async () => (await read(`Bearer ${TOKEN}`)).text())
    .toContain('watchkeeper_runs_total{status="completed"} 1');
  const { headers } = await read(`Bearer ${TOKEN}`);
  expect(headers.get("content-type")).toContain("text/plain");
});

test("traces go to the collector with its headers, and a stop sends what is left", async () => {
  const asked: { url: string | undefined; key: unknown; authorization: unknown; body: string }[] =
    [];
  const collector = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      const { "x-key": key, authorization } = request.headers;
      asked.push({ url: request.url, key, authorization, body });
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  }).listen(0, "127.0.0.1");
  await once(collector, "listening");
  onTestFinished(() => void collector.close());
  const address = collector.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const config = await configOf({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_EXPORTER_OTLP_HEADERS: "x-key=a=b,authorization=Bearer%20held-by-nobody",
  });
  const { events, stop } = await openEvents(config, ...PARTS);
  events.publish({
    ...ended,
    entry: {
      ...ended.entry,
      id: "e1",
      at: 1_780_000_001_000,
      kind: "run_started",
      answers: [],
      principals: [],
      calls: [],
    },
  });
  events.publish(ended);
  await stop();
  expect(asked).toHaveLength(1);
  const [{ url, key, authorization, body } = { url: "", key: "", authorization: "", body: "" }] =
    asked;
  expect([url, key, authorization]).toEqual(["/v1/traces", "a=b", "Bearer held-by-nobody"]);
  expect(config.secrets.map(({ value }) => value)).toContain("Bearer held-by-nobody");
  expect(body).toContain("invoke_agent watchkeeper");
  expect(body).toContain('"1780000001000000000"');
});

test("a header or an address in the wrong form is a mistake with the variable's name", async () => {
  await expect(configOf({ OTEL_EXPORTER_OTLP_HEADERS: "no" })).rejects.toThrow(
    "OTEL_EXPORTER_OTLP_HEADERS",
  );
  for (const address of ["collector", "http://user:password@collector:4318"])
    await expect(configOf({ OTEL_EXPORTER_OTLP_ENDPOINT: address })).rejects.toThrow(
      "OTEL_EXPORTER_OTLP_ENDPOINT",
    );
  await expect(configOf({ OTEL_EXPORTER_OTLP_HEADERS: "x-key=100%" })).rejects.toThrow(
    "OTEL_EXPORTER_OTLP_HEADERS",
  );
  await expect(configOf({ METRICS_TOKEN: "short" })).rejects.toThrow("METRICS_TOKEN");
});

test("a collector that hangs does not hold up a stop for more than its limit", async () => {
  const collector = createServer(() => {}).listen(0, "127.0.0.1");
  await once(collector, "listening");
  onTestFinished(() => {
    collector.closeAllConnections();
    collector.close();
  });
  const address = collector.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const config = await configOf({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
  const { events, stop } = await openEvents(config, ...PARTS);
  events.publish(ended);
  // Without the limit it waits for the exporter's own, of 5 s and more; how fast this machine is does not matter.
  const other = new Promise((resolve) => setTimeout(resolve, 4_500, "waited"));
  expect(await Promise.race([Promise.resolve(stop()).then(() => "stopped"), other])).toBe(
    "stopped",
  );
});
