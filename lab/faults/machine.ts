import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import type { Lab } from "../lab.ts";
import type { Fault } from "../part.ts";
import { startContainer } from "../parts/containers.ts";
import { startServer } from "../parts/metrics.ts";

/** The machine, its containers and what watches it. */

async function askAlertmanager(
  lab: Lab,
  method: string,
  path: string,
  body?: object,
): Promise<Response> {
  return fetch(`http://127.0.0.1:${lab.state.ports["alertmanager"]}/api/v2/${path}`, {
    method,
    headers: { "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(5_000),
  });
}

const silenceList = z.array(
  z.object({ id: z.string(), createdBy: z.string(), status: z.object({ state: z.string() }) }),
);

const HOUR_MS = 3_600_000;

/** An alert of another cluster's Prometheus, which fires for so long. */
async function tellFailing(lab: Lab, ms: number): Promise<void> {
  const labels = { alertname: "CheckoutFails", service: "checkout", severity: "critical" };
  const annotations = { summary: "Nobody can pay" };
  const endsAt = new Date(Date.now() + ms).toISOString();
  await askAlertmanager(lab, "POST", "alerts", [{ labels, annotations, endsAt }]);
}

/** Load, memory, processes, disks and what waits for them. */
const MACHINE = [
  "top -bn1 | head -n 30",
  "ps aux --sort=-rss | head -n 6",
  "free -h",
  "vmstat 1 2",
  "df -h",
  "df -i",
];

export const MACHINE_FAULTS: readonly Fault[] = [
  {
    name: "disk-full",
    about: "a file system of 16 MB is full",
    asked: {
      question: "no space left on device on this machine",
      cause: /disk on \S+ is full: (?:99|100) % of its space/,
    },
    parts: [],
    named: {
      raw: MACHINE,
      ask: "run host_overview",
      says: /Filesystem \S*disk: (?:99|100) % of its space is used/,
    },
    async break(lab) {
      const folder = lab.place("disk");
      lab.output(["mount", "-t", "tmpfs", "-o", "size=16m", "lab-disk", folder]);
      writeFileSync(join(folder, "core.4711"), Buffer.alloc(15.9 * 1024 * 1024));
    },
    async mend(lab) {
      lab.output(["umount", join(lab.folder, "disk")]);
    },
  },
  {
    name: "cpu-hog",
    about: "a process uses a whole core for nothing",
    asked: {
      question: "this machine is slow, its load is high",
      cause: /^sh\b.* works without end: it uses|Cores used: .*\bsh\b/,
    },
    parts: [],
    named: {
      raw: MACHINE,
      ask: "run host_overview",
      says: /Process \S*sh\S* (?:\(\S+\) )?\d+.*: it uses [\d.]+ of/,
    },
    async break(lab) {
      lab.run("cpu-hog", ["nice", "-n", "19", "sh", "-c", "while :; do :; done"]);
    },
    mend: (lab) => lab.end("cpu-hog"),
  },
  {
    name: "container-exits",
    about: "the container cart ends with an error, since its address of the database is missing",
    asked: {
      question: "the container cart is down",
      cause: /Container cart is down: it ended with code 3: FATAL: DATABASE_URL is not set/,
    },
    parts: ["containers"],
    async break(lab) {
      startContainer(lab, "cart", "echo 'FATAL: DATABASE_URL is not set'; exit 3");
    },
    named: {
      raw: [
        "podman --remote --url $DOCKER_HOST ps --all",
        "podman --remote --url $DOCKER_HOST logs cart",
      ],
      ask: "run docker_diagnose",
      says: /Container cart: it ended with code 3: FATAL: DATABASE_URL is not set/,
    },
    async mend(lab) {
      startContainer(lab, "cart", "echo cart listens; exec sleep 100000");
    },
  },
  {
    name: "exporter-down",
    about: "the node exporter is gone, so Prometheus knows nothing of the machine",
    asked: {
      question: "the dashboards of our machines have no data",
      cause: /Prometheus cannot scrape .*1 target down: node/,
    },
    parts: ["metrics"],
    named: {
      raw: ["curl -s $PROMETHEUS_URL/api/v1/targets"],
      ask: "run prometheus_targets",
      says: /Target 127\.0\.0\.1:\d+: .*refused\s+1 target down: node/,
    },
    break: (lab) => lab.end("node"),
    async mend(lab) {
      startServer(lab, join(lab.folder, "metrics"), "node");
    },
  },
  {
    name: "forgotten-silence",
    about: "a silence hides every critical alert until tomorrow",
    asked: {
      question: "checkout failed tonight and nobody was paged",
      cause: /A silence keeps people from being told: it hides \d+ critical alert/,
    },
    parts: ["metrics"],
    named: {
      raw: [
        "amtool --alertmanager.url=$ALERTMANAGER_URL silence query -o extended",
        "amtool --alertmanager.url=$ALERTMANAGER_URL alert query --silenced",
      ],
      ask: "run alertmanager_silences",
      says: /it hides \d+ critical alerts?[^]*\{severity="critical"\} until .* by lab/,
    },
    async break(lab) {
      const now = Date.now();
      await tellFailing(lab, HOUR_MS);
      await askAlertmanager(lab, "POST", "silences", {
        matchers: [{ name: "severity", value: "critical", isRegex: false, isEqual: true }],
        startsAt: new Date(now).toISOString(),
        endsAt: new Date(now + 24 * HOUR_MS).toISOString(),
        createdBy: "lab",
        comment: "during the move",
      });
    },
    async mend(lab) {
      await tellFailing(lab, 0);
      const answer = await askAlertmanager(lab, "GET", "silences");
      for (const { id, createdBy, status } of silenceList.parse(await answer.json()))
        if (createdBy === "lab" && status.state !== "expired")
          await askAlertmanager(lab, "DELETE", `silence/${id}`);
    },
  },
];
