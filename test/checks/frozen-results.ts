import type { Finding } from "../../src/core/finding.ts";
import type { ToolOutput } from "../../src/tools/tool.ts";

/** What the reads of the shipped skills' checks bring, made up in each tool's form: some is broken, most is well. */

function broken(
  [kind, namespace, name]: readonly [kind: string, namespace: string, name: string],
  cause: string,
  evidence: string,
): Finding {
  const object = { kind, namespace, name };
  return { object, cause, severity: "error", evidence, since: "2026-11-24T09:12:00Z" };
}

const OVERVIEW = `web-1: Debian GNU/Linux 12 (bookworm), Linux 6.1.0-28-amd64, up 41 days
Processors: 4 cores, 62 % busy, 3 % waiting for disks; load 2.91, 2.40, 2.22
Memory: 1.4 GiB of 15.6 GiB is available, no swap
Memory used: java 2210 7.9 GiB, postgres 811 2.1 GiB, node 3051 640.2 MiB, nginx 977 88.1 MiB
Cores used: java 2210 1.7, postgres 811 0.4, node 3051 0.2
Waiting over the last minute: cpu some 4.12 %, memory some 0.30 %, io some 1.75 %
Disk vda: 21 % busy, reads 1.2 MiB/s, writes 3.8 MiB/s
/: 71 % used, 35.5 GiB of 50 GiB, 14.5 GiB available, inodes 12 % (ext4, /dev/vda1)
/var: 93 % used, 93 GiB of 100 GiB, 7 GiB available, inodes 31 % (ext4, /dev/vdb1)`;

const POSTGRES = `PostgreSQL 15.9, primary, 41 of 100 connections: 29 idle, 11 active, 1 idle in transaction
4117 shop (10.0.0.21) active 3 min, waits for Lock transactionid, held by 4002: UPDATE orders SET total = 1 WHERE id = 1
4120 shop (10.0.0.22) active 2 min, waits for Lock transactionid, held by 4002: UPDATE orders SET total = 1 WHERE id = 1
4131 report (10.0.0.40) active 12 s: SELECT day, sum(total) FROM orders GROUP BY day
Replicas: db-2 streaming, 0.2 s behind. Slots: none without a reader.`;

const LOG_LINES = Array.from(
  { length: 12 },
  (_, at) =>
    `- ${97 - at * 7} × error, last 09:${40 + at}:07: request <uuid> of tenant <n> failed after <n> ms: upstream shop-${at} closed the connection before it answered`,
).join("\n");

export const FROZEN_RESULTS: Readonly<Record<string, ToolOutput>> = {
  http_check: {
    findings: [
      broken(
        ["URL", "", "https://shop.example.com"],
        "502 Bad Gateway",
        "GET https://shop.example.com/ answered 502 in 38 ms",
      ),
    ],
    text: `server: nginx; content-type: text/html; 157 bytes
times: DNS 4 ms, connect 9 ms, TLS 14 ms, first byte 38 ms
the certificate of shop.example.com ends in 61 days, issued by R11
<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center></body></html>`,
  },
  tcp_check: {
    text: "10.0.0.5:5432 is open\ntimes: DNS 3 ms, connect 2 ms, total 5 ms\nThe server says nothing first.",
  },
  dns_lookup: {
    text: `By this machine's DNS (10.0.0.2):
  A 203.0.113.10, 203.0.113.11, TTL 300 s (2.1 ms)
  AAAA none (1.9 ms)
Programs on this machine get 203.0.113.10, 203.0.113.11.`,
  },
  host_overview: { text: OVERVIEW },
  disk_usage: {
    findings: [
      broken(
        ["Filesystem", "web-1", "/var"],
        "93 % of its space is used",
        "93 GiB of 100 GiB, 7 GiB available",
      ),
    ],
    text: `/: 71 % used, 35.5 GiB of 50 GiB, 14.5 GiB available, inodes 12 % (ext4, /dev/vda1)
Left out: 6 pseudo or memory filesystems below 90 %.`,
  },
  host_processes: {
    text: `171 of 171 processes of web-1; shown: 4, by memory
java 2210: 1.70 cores, 7.9 GiB, shop, state Sl, started 3 d ago
postgres 811: 0.40 cores, 2.1 GiB, postgres, state Ss, started 41 d ago
node 3051: 0.20 cores, 640.2 MiB, shop, state Sl, started 2 h ago
nginx 977: 0.05 cores, 88.1 MiB, www-data, state S, started 41 d ago`,
  },
  host_ports: {
    text: `web-1 listens on 4 sockets.
tcp 0.0.0.0:80 0.0.0.0:443: nginx 977
tcp 127.0.0.1:8080: java 2210
tcp 127.0.0.1:5432: postgres 811`,
  },
  service_status: {
    text: `nginx.service: active (running) since 2026-11-21 03:10:44 UTC (3 d ago), enabled
Main process 977 (nginx), 5 tasks, 88.1 MiB, 4 min of CPU; 0 restarts
Its last lines:
  Nov 24 09:12:01 web-1 nginx[977]: upstream prematurely closed connection while reading response header`,
  },
  search_logs: { text: `1 204 lines of the last hour, folded into 12:\n${LOG_LINES}` },
  search_host_logs: { text: `860 lines of the last hour, folded into 12:\n${LOG_LINES}` },
  prometheus_alerts: {
    findings: [
      broken(
        ["Alert", "shop", "ShopErrors"],
        "more than 5 % of requests fail",
        'value 0.12, rule sum(rate(http_requests_total{code=~"5.."}[5m])) > 0.05; severity=critical namespace=shop',
      ),
    ],
    text: "1 firing, 1 pending; 64 alerting rules, 0 of all rules fail.\n- pending ShopSlow severity=warning, since 2026-11-24 09:31:00 UTC (9 min ago)",
  },
  prometheus_targets: {
    text: "41 targets: 0 down.\n- all up: node 12, shop 20, postgres 3, nginx 6",
  },
  alertmanager_alerts: {
    text: "1 alert: 1 active, 0 silenced, 0 inhibited.\n- ShopErrors severity=critical namespace=shop, since 2026-11-24 09:12:00 UTC (28 min ago), to pager",
  },
  alertmanager_silences: {
    text: '1 silence is active.\n- 6f0c: alertname="DiskWillFill" instance="ci-3:9100" until 2026-11-25 08:00:00 UTC by ana: a new disk comes tomorrow; hides 1 alert',
  },
  what_changed: {
    text: `3 changes, the newest first:
- 09:09 deployment shop/checkout: image registry.example.com/shop/checkout:1.4.2 → 1.4.3, by ci
- 07:55 packages: nginx 1.22.1-9 → 1.24.0-1
- 04:00 cron backup finished on db-1
Looked at: deployments, packages, units, commits of shop/web.`,
  },
  kubernetes_diagnose: {
    findings: [
      broken(
        ["Deployment", "shop", "checkout"],
        "CrashLoopBackOff: Error, exit 1",
        "2 of 3 pods; last lines: FATAL: DATABASE_URL is not set",
      ),
    ],
    text: "Namespace shop: 9 Deployments, 31 pods, 6 Services; 8 Deployments are well.",
  },
  kubernetes_overview: {
    text: `3 nodes, all Ready: 62 % of CPU and 71 % of memory requested
Namespace shop: 31 pods, 29 running, 2 not ready
Namespace batch: 4 pods, 4 running
Namespace monitoring: 11 pods, 11 running
Restarts in the last hour: shop/checkout 14`,
  },
  kubernetes_service_check: {
    text: "Service shop/nginx: port 80 → 8080, 3 of 3 pods ready behind it; no NetworkPolicy selects them.",
  },
  kubernetes_top: {
    text: `31 pods, by memory:
shop/search-5d4f9-2: 1.9 GiB of 2 GiB, 0.31 cores
shop/checkout-7c9b-1: 412 MiB of 512 MiB, 0.12 cores
shop/web-66d8-4: 380 MiB of 1 GiB, 0.22 cores`,
  },
  postgres_diagnose: {
    findings: [
      broken(
        ["Session", "shop", "4002"],
        "it holds locks that 2 sessions wait for",
        "shop (10.0.0.20) is idle in transaction for 6 min; its last statement: UPDATE orders SET state = $1. The longest wait: 3 min, for UPDATE orders SET total = 1 WHERE id = 1",
      ),
    ],
    text: POSTGRES,
  },
  mysql_diagnose: {
    text: "MariaDB 10.11.6, 18 of 151 connections, 2 running\nNo session waits for a lock; no statement runs for more than 10 s.\nReplica: both threads run, 0 s behind.",
  },
  redis_diagnose: {
    text: "Redis 7.0.15, primary, up 41 days, 64 clients\nMemory: 1.1 GiB of 2 GiB, allkeys-lru, 0 keys evicted\nSlow log: nothing above 10 ms in the last hour.\nReplicas: 1, 0 s behind.",
  },
  rabbitmq_diagnose: {
    text: "RabbitMQ 3.13.7, 1 of 1 node runs, no alarms\n12 queues, 37 messages: orders 31 (4 consumers), mail 6 (1 consumer)",
  },
  docker_diagnose: {
    text: "7 containers: 7 run, 0 are unhealthy.\n- shop-web up 3 d, healthy\n- shop-cart up 3 d, healthy\n- 5 more up 41 d",
  },
  github_job_log: {
    text: "shop/web, run 8123 of main (b7bf099), failed 26 min ago: job test, step npm test\nFAIL test/cart.test.ts > takes a voucher once\nAssertionError: expected 2 to be 1",
  },
  gitlab_job_log: {
    text: "shop/web, pipeline 991 of main (b7bf099): all 6 jobs passed 31 min ago.",
  },
};
