import { execFileSync, spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { metricsText } from "../fakes/metric-names.ts";

/** What stands in `deploy/`, before the tools that judge it. */

const PROMETHEUS = "deploy/prometheus/watchkeeper.rules";

test("Prometheus takes the alerts, and each fires when it should and not before", () => {
  const said = execFileSync("promtool", ["check", "rules", `${PROMETHEUS}.yaml`], {
    encoding: "utf8",
  });
  expect(said).toMatch(/SUCCESS: \d+ rules found/);
  const tried = spawnSync("promtool", ["test", "rules", `${PROMETHEUS}.test.yaml`], {
    encoding: "utf8",
  });
  expect([tried.status, tried.stdout, tried.stderr]).toEqual([
    0,
    expect.stringContaining("SUCCESS"),
    "",
  ]);
});

test("the figures keep to Prometheus' conventions", async () => {
  const { stdout, stderr } = spawnSync("promtool", ["check", "metrics"], {
    input: await metricsText(),
    encoding: "utf8",
  });
  const problems = `${stdout}${stderr}`.split("\n").filter((line) => line !== "");
  // The library's own names of Node's figures are older than these conventions.
  expect(problems.filter((line) => !line.startsWith("nodejs_active_"))).toEqual([]);
});

test("systemd takes the unit, and counts it among those that are locked in", () => {
  const unit = "deploy/systemd/watchkeeper.service";
  const { status, stderr } = spawnSync("systemd-analyze", ["verify", unit], { encoding: "utf8" });
  // Not every machine has a Node where the unit expects it.
  const problems = stderr
    .split("\n")
    .filter((line) => line !== "" && !/\/usr\/bin\/node/.test(line));
  expect(problems).toEqual([]);
  expect([0, 1]).toContain(status);
  const { stdout } = spawnSync("systemd-analyze", ["security", "--offline=true", unit], {
    encoding: "utf8",
  });
  const [, exposure] = /Overall exposure level .*: (\d+\.\d)/.exec(stdout) ?? [];
  // "OK" ends at 4.9.
  expect(Number(exposure)).toBeLessThan(2);
});
