import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { metricNames } from "../fakes/metric-names.ts";

const page = readFileSync("docs/operate.md", "utf8");

test("the page on operating has every figure of ours, and no other", async () => {
  const section = page.slice(page.indexOf("\n## Metrics"), page.indexOf("\n## Traces"));
  const rows = section.split("\n").filter((line) => line.startsWith("| `"));
  const named = rows.flatMap((row) => (row.split("|")[1] ?? "").match(/[a-z_]+/g) ?? []);
  const names = (await metricNames()).filter((name) => name.startsWith("watchkeeper_"));
  expect(named.toSorted()).toEqual(names.map((name) => name.slice("watchkeeper_".length)));
});
