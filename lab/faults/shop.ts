import { join } from "node:path";
import type { Lab } from "../lab.ts";
import type { Fault } from "../part.ts";
import { makeCertificate, shop } from "../parts/shop.ts";

/** The shop and what stands in front of it. */

/** People who visit the shop, three times a second: without them its metrics say nothing. */
export function visit(lab: Lab): void {
  if (lab.isRunning("visitors")) return;
  const url = `http://127.0.0.1:${lab.state.ports["web"]}/`;
  lab.run("visitors", [
    "sh",
    "-c",
    `while :; do curl -s -m 5 -o /dev/null ${url}; sleep 0.3; done`,
  ]);
}

function tellApp(lab: Lab, query: string): void {
  visit(lab);
  const url = `http://127.0.0.1:${lab.state.ports["app"]}/fault?${query}`;
  // With a connection of its own: one that is kept may be closed by the app while it is used.
  lab.output(["curl", "-sS", "-f", "-m", "10", "-X", "POST", url]);
}

function reloadNginx(lab: Lab): void {
  const folder = join(lab.folder, "nginx");
  lab.output(["nginx", "-p", folder, "-c", join(folder, "nginx.conf"), "-s", "reload"]);
}

/** Runs the app once more, as a deploy does. */
async function deploy(lab: Lab, version: string): Promise<void> {
  await lab.end("app");
  const env = {
    PORT: String(lab.state.ports["app"]),
    POSTGRES_PORT: String(lab.state.ports["postgres"]),
    VERSION: version,
  };
  lab.run("app", [process.execPath, join(import.meta.dirname, "../app.ts")], { env });
  const url = `http://127.0.0.1:${lab.state.ports["app"]}/healthz`;
  await lab.until("the app", async () => (await fetch(url)).ok);
}

/** What fires, since when, with which value, and by which rule. */
const ALERTS = ["curl -s $PROMETHEUS_URL/api/v1/rules?type=alert"];

export const SHOP_FAULTS: readonly Fault[] = [
  {
    name: "upstream-down",
    about: "the app behind nginx is gone: 502 for everybody",
    asked: {
      question: "$SHOP_URL answers 502",
      cause: /answers 502(?:: | and )what is behind/,
    },
    parts: ["postgres", "shop", "metrics"],
    named: {
      raw: ["curl -sv $SHOP_URL", "tail -n 20 nginx/error.log", "ss -ltnp"],
      ask: "run prometheus_alerts",
      says: /TargetDown.*: shop on \S+ does not answer/,
    },
    async break(lab) {
      visit(lab);
      await lab.end("app");
    },
    mend: (lab) => shop.start(lab),
  },
  {
    name: "latency",
    about: "the app takes three seconds for each request",
    asked: {
      question: "the shop is slow: $SHOP_URL takes seconds",
      cause: /is slow, or does not answer at all|ShopSlow fires/,
    },
    parts: ["postgres", "shop", "metrics"],
    named: {
      raw: ALERTS,
      ask: "run prometheus_alerts",
      says: /ShopSlow/,
    },
    break: async (lab) => tellApp(lab, "latencyMs=3000"),
    mend: async (lab) => tellApp(lab, "latencyMs=0"),
  },
  {
    name: "bad-deploy",
    about: "version v2 of the app fails four requests in five",
    asked: {
      question: "many errors in the shop since the last deploy",
      cause: /^ShopErrors fires: .*version v2|^Errors are told by version: .*version v2/,
    },
    parts: ["postgres", "shop", "metrics"],
    named: {
      raw: ALERTS,
      ask: "run prometheus_alerts",
      says: /ShopErrors.*: version v2/,
    },
    async break(lab) {
      await deploy(lab, "v2");
      tellApp(lab, "errors=0.8");
    },
    async mend(lab) {
      await deploy(lab, "v1");
    },
  },
  {
    name: "memory-hog",
    about: "the app holds 400 MB",
    asked: {
      question: "the shop takes more and more memory",
      cause: /ShopMemory fires: The shop uses more than 300 MB/,
    },
    parts: ["postgres", "shop", "metrics"],
    named: {
      raw: ALERTS,
      ask: "run prometheus_alerts",
      says: /ShopMemory/,
    },
    break: async (lab) => tellApp(lab, "memoryMb=400"),
    mend: async (lab) => tellApp(lab, "memoryMb=0"),
  },
  {
    name: "expired-certificate",
    about: "nginx's certificate has ended",
    asked: {
      question: "browsers warn about the certificate of $SHOP_TLS_URL",
      cause: /is refused for its certificate: .*it expired/,
    },
    parts: ["postgres", "shop"],
    named: {
      raw: [
        "curl -svk $SHOP_TLS_URL",
        "echo | openssl s_client -connect $(echo $SHOP_TLS_URL | cut -d/ -f3) 2>&1 | openssl x509 -noout -subject -issuer -dates -ext subjectAltName",
      ],
      ask: "run http_check url=$SHOP_TLS_URL",
      says: /expired/i,
    },
    async break(lab) {
      makeCertificate(join(lab.folder, "nginx"), 0, lab.output);
      reloadNginx(lab);
    },
    async mend(lab) {
      makeCertificate(join(lab.folder, "nginx"), 90, lab.output);
      reloadNginx(lab);
    },
  },
];
