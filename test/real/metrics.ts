import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../until.ts";
import { closedPort } from "../tools/network/servers.ts";

/** Prometheus, VictoriaMetrics, Alertmanager and a node exporter from Debian's packages, on loopback. */
export interface Metrics {
  prometheus: string;
  victoria: string;
  alertmanager: string;
  /** The port of the one target that does not answer. */
  gone: number;
  close(): Promise<void>;
}

const RULES = `groups:
- name: basics
  rules:
  - record: job:up:count
    expr: count by (job) (up)
  - alert: TargetDown
    expr: up == 0
    labels: { severity: critical }
    annotations: { summary: "{{ $labels.job }} does not answer" }
`;
/** Where Alertmanager sends its alerts. */
interface Webhook {
  url: string;
  token: string;
}

function routesTo(webhook: Webhook | undefined): string {
  const to = webhook && [
    { url: webhook.url, http_config: { authorization: { credentials: webhook.token } } },
  ];
  return JSON.stringify({
    route: { receiver: "one", group_wait: "1s", group_interval: "2s" },
    receivers: [{ name: "one", ...(to !== undefined && { webhook_configs: to }) }],
  });
}

export async function startMetrics(webhook?: Webhook): Promise<Metrics> {
  const folder = mkdtempSync(join(tmpdir(), "watchkeeper-metrics-"));
  const ports = await Promise.all([
    closedPort(),
    closedPort(),
    closedPort(),
    closedPort(),
    closedPort(),
  ]);
  const [prometheus, victoria, alertmanager, node, gone] = ports;
  const scrapes = `scrape_configs:
- { job_name: prometheus, static_configs: [{ targets: ["127.0.0.1:${prometheus}"] }] }
- { job_name: node, static_configs: [{ targets: ["127.0.0.1:${node}"] }] }
- { job_name: gone, static_configs: [{ targets: ["127.0.0.1:${gone}"] }] }
`;
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  file("rules.yml", RULES);
  const config = file(
    "prometheus.yml",
    `global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [rules.yml]
alerting: { alertmanagers: [{ static_configs: [{ targets: ["127.0.0.1:${alertmanager}"] }] }] }
${scrapes}`,
  );
  const plain = file("scrape.yml", `global: { scrape_interval: 1s }\n${scrapes}`);
  const at = (port: number) => `127.0.0.1:${port}`;
  const children = [
    start("prometheus", [
      `--config.file=${config}`,
      `--storage.tsdb.path=${folder}/p`,
      `--web.listen-address=${at(prometheus)}`,
    ]),
    start("victoria-metrics", [
      `-httpListenAddr=${at(victoria)}`,
      `-storageDataPath=${folder}/v`,
      `-promscrape.config=${plain}`,
    ]),
    start("prometheus-alertmanager", [
      `--config.file=${file("am.yml", routesTo(webhook))}`,
      `--storage.path=${folder}/a`,
      `--web.listen-address=${at(alertmanager)}`,
      "--cluster.listen-address=",
    ]),
    start("prometheus-node-exporter", [`--web.listen-address=${at(node)}`]),
  ];
  const urls = {
    prometheus: `http://${at(prometheus)}`,
    victoria: `http://${at(victoria)}`,
    alertmanager: `http://${at(alertmanager)}`,
  };
  // Three targets are asked and one alert has arrived.
  for (const url of [urls.prometheus, urls.victoria])
    await until(async () => (await read(`${url}/api/v1/query?query=count(up)`)).includes('"3"'));
  await until(async () =>
    (await read(`${urls.alertmanager}/api/v2/alerts`)).includes("TargetDown"),
  );
  return {
    ...urls,
    gone,
    async close() {
      await Promise.all(children.map(end));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function start(program: string, argv: string[]): ChildProcess {
  return spawn(program, argv, { stdio: "ignore" });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

async function read(url: string): Promise<string> {
  try {
    return await (await fetch(url)).text();
  } catch (error) {
    return String(error);
  }
}
