import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { alertLinkRule } from "../../src/app/alert-link-rule.ts";
import { loadConfig } from "../../src/config/config.ts";

test("addresses that alerts name lead to the monitoring that is configured, at its very port, and to links.allow", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "watchkeeper-links-"));
  onTestFinished(() => rm(cwd, { recursive: true }));
  const yaml = `
links: { allow: ["wiki.example.com"] }
integrations:
  grafana: { eu: { url: "https://grafana.example.com/sub" } }
`;
  await writeFile(join(cwd, "watchkeeper.yaml"), yaml);
  const urls = {
    PROMETHEUS_URL: "http://prometheus:9090",
    ALERTMANAGER_URL: "http://10.0.0.5:9093",
  };
  const mayLink = alertLinkRule(await loadConfig(urls, { cwd }));
  for (const address of [
    "http://prometheus:9090/graph?g0.expr=up",
    "https://grafana.example.com/d/x",
    "http://10.0.0.5:9093/#/silences/new",
    "https://wiki.example.com/runbooks/cpu",
  ])
    expect([address, mayLink(address)]).toEqual([address, true]);
  for (const address of [
    "http://prometheus:9091/",
    "http://prometheus/",
    "http://ana@prometheus:9090/",
    "https://grafana.example.com.evil.test/",
    "https://eu.grafana.example.com/",
    "javascript://prometheus:9090/%0aalert(1)",
  ])
    expect([address, mayLink(address)]).toEqual([address, false]);
});
