import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { answers, type Lab } from "../lab.ts";
import type { Part } from "../part.ts";
import { RULES } from "./rules.ts";

/** Prometheus with rules about the shop, exporters of what it needs, and Alertmanager. Intervals are short: nobody waits in a lab. */
export const metrics: Part = {
  name: "metrics",
  packages: {
    prometheus: "prometheus",
    "prometheus-alertmanager": "prometheus-alertmanager",
    "prometheus-node-exporter": "prometheus-node-exporter",
    "prometheus-blackbox-exporter": "prometheus-blackbox-exporter",
    "prometheus-postgres-exporter": "prometheus-postgres-exporter",
  },
  async start(lab) {
    const folder = lab.place("metrics");
    const names = [
      "prometheus",
      "alertmanager",
      "node",
      "fleet",
      "blackbox",
      "postgres-exporter",
    ] as const;
    for (const name of [...names, "app", "web", "postgres", "gossip"]) await lab.port(name);
    writeFileSync(join(folder, "prometheus.yml"), scrapes(lab, folder));
    writeFileSync(join(folder, "rules.yml"), RULES);
    writeFileSync(join(folder, "alertmanager.yml"), ROUTES);
    writeFileSync(
      join(folder, "blackbox.yml"),
      "modules: { http: { prober: http, timeout: 4s } }\n",
    );
    for (const name of names) startServer(lab, folder, name);
    const { prometheus, alertmanager } = lab.state.ports;
    await lab.until("Prometheus", () => answers(`http://127.0.0.1:${prometheus}/-/ready`));
    await lab.until("Alertmanager", () => answers(`http://127.0.0.1:${alertmanager}/-/ready`));
    await silenceSome(lab);
    lab.state.variables["PROMETHEUS_URL"] = `http://127.0.0.1:${prometheus}`;
    lab.state.variables["ALERTMANAGER_URL"] = `http://127.0.0.1:${alertmanager}`;
  },
};

/** Machines that are well: one exporter speaks for all. */
const MACHINES = ["web", "api", "worker", "db", "cache", "search"].flatMap((role) =>
  [1, 2, 3, 4].map((n) => `${role}-0${n}.shop.example:9100`),
);

const HOUR_MS = 3_600_000;

/** Work that people announced: each silence is of one machine, and none hides anything. */
async function silenceSome(lab: Lab): Promise<void> {
  const url = `http://127.0.0.1:${lab.state.ports["alertmanager"]}/api/v2/silences`;
  const known = await (await fetch(url)).json();
  if (Array.isArray(known) && known.length > 0) return;
  for (const [at, instance] of MACHINES.slice(0, 12).entries()) {
    const body = JSON.stringify({
      matchers: [
        { name: "alertname", value: "Node.*", isRegex: true, isEqual: true },
        { name: "instance", value: instance, isRegex: false, isEqual: true },
      ],
      startsAt: new Date().toISOString(),
      endsAt: new Date(Date.now() + (at + 2) * HOUR_MS).toISOString(),
      createdBy: ["ana", "ben", "chris"][at % 3],
      comment: `OPS-${1200 + at}: new disks`,
    });
    await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  }
}

/** Starts one of them where it does not run; a fault that ended it is mended so. */
export function startServer(lab: Lab, folder: string, name: string): void {
  if (lab.isRunning(name)) return;
  const at = (port: string) => `127.0.0.1:${lab.state.ports[port]}`;
  const argv: Readonly<Record<string, readonly string[]>> = {
    prometheus: [
      "prometheus",
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/tsdb`,
      `--web.listen-address=${at("prometheus")}`,
      "--web.enable-lifecycle",
    ],
    alertmanager: [
      "prometheus-alertmanager",
      `--config.file=${folder}/alertmanager.yml`,
      `--storage.path=${folder}/alerts`,
      `--web.listen-address=${at("alertmanager")}`,
      `--cluster.listen-address=`,
    ],
    node: ["prometheus-node-exporter", `--web.listen-address=${at("node")}`],
    fleet: [
      "prometheus-node-exporter",
      `--web.listen-address=${at("fleet")}`,
      "--collector.disable-defaults",
      "--collector.loadavg",
      "--collector.meminfo",
    ],
    blackbox: [
      "prometheus-blackbox-exporter",
      `--config.file=${folder}/blackbox.yml`,
      `--web.listen-address=${at("blackbox")}`,
    ],
    "postgres-exporter": [
      "prometheus-postgres-exporter",
      `--web.listen-address=${at("postgres-exporter")}`,
    ],
  };
  const source = `postgresql://postgres@${at("postgres")}/shop?sslmode=disable`;
  lab.run(
    name,
    argv[name] ?? [],
    name === "postgres-exporter" ? { env: { DATA_SOURCE_NAME: source } } : {},
  );
}

function scrapes({ state: { ports } }: Lab, folder: string): string {
  const job = (name: string, port: string) =>
    `  - { job_name: ${name}, static_configs: [{ targets: ["127.0.0.1:${ports[port]}"] }] }\n`;
  return `global: { scrape_interval: 2s, evaluation_interval: 2s }
rule_files: ["${folder}/rules.yml"]
alerting: { alertmanagers: [{ static_configs: [{ targets: ["127.0.0.1:${ports["alertmanager"]}"] }] }] }
scrape_configs:
${job("prometheus", "prometheus")}${job("shop", "app")}${job("node", "node")}${job("postgres", "postgres-exporter")}  - job_name: machines
    scrape_interval: 10s
    static_configs: [{ targets: ${JSON.stringify(MACHINES)} }]
    relabel_configs:
      - { source_labels: [__address__], target_label: instance }
      - { target_label: __address__, replacement: "127.0.0.1:${ports["fleet"]}" }
  - job_name: web
    metrics_path: /probe
    params: { module: [http] }
    static_configs: [{ targets: ["http://127.0.0.1:${ports["web"]}/"] }]
    relabel_configs:
      - { source_labels: [__address__], target_label: __param_target }
      - { source_labels: [__param_target], target_label: instance }
      - { target_label: __address__, replacement: "127.0.0.1:${ports["blackbox"]}" }
`;
}

const ROUTES = `route: { receiver: nobody, group_by: [alertname, service], group_wait: 1s, group_interval: 2s, repeat_interval: 1h }
receivers: [{ name: nobody }]
`;
