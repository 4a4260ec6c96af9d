import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { ROOMS, whyNotImported, whyNoWayOut } from "../lint/rooms.ts";

const SRC = join(import.meta.dirname, "../src");

test("a room imports only what stands above it in the table, so rooms make no circles", () => {
  const names = Object.keys(ROOMS);
  for (const [position, name] of names.entries()) {
    const above = names.slice(0, position);
    const roomOf = (path: string) =>
      [path, path.split("/").slice(0, 2).join("/"), path.split("/")[0]].find((one) =>
        names.includes(one ?? ""),
      );
    for (const allowed of ROOMS[name] ?? [])
      expect([name, above]).toEqual([name, expect.arrayContaining([roomOf(allowed)])]);
  }
});

test("every folder of src is a room of the table or joins them all", () => {
  const folders = readdirSync(SRC, { withFileTypes: true }).filter((each) => each.isDirectory());
  for (const { name } of folders) {
    if (name === "app" || name === "config") continue;
    expect(Object.keys(ROOMS)).toContain(name);
  }
});

test("no file leads back to itself, by `import()` neither", () => {
  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" });
  const imports = new Map(
    files
      .filter((file) => file.endsWith(".ts"))
      .map((file) => {
        const text = readFileSync(join(SRC, file), "utf8");
        const specs = text.matchAll(/(?:\bfrom|\bimport\()\s*"(\.[^"]+)"/g);
        return [file, [...specs].map(([, spec = ""]) => join(dirname(file), spec))] as const;
      }),
  );
  expect([...imports.values()].flat().length).toBeGreaterThan(1_000);
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) throw new Error([...path.slice(path.indexOf(file)), file].join(" → "));
    if (done.has(file)) return;
    for (const next of imports.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  expect(() => [...imports.keys()].forEach((file) => visit(file, []))).not.toThrow();
});

test.each([
  ["core/json.ts", "tools/tool.ts"],
  ["thread/fold.ts", "journal/journal.ts"],
  ["adapters/slack/view.ts", "adapters/discord/view.ts"],
  ["tools/host/services.ts", "tools/network/format.ts"],
  ["tools/weather/forecast.ts", "tools/host/moment.ts"],
  ["tools/tool.ts", "tools/registry.ts"],
  ["worker/worker.ts", "app/assemble.ts"],
  ["cellar/wine.ts", "core/json.ts"],
])("%s may not import %s", (from, to) => {
  expect(whyNotImported(from, to)).toMatch(/lint\/rooms\.ts/);
});

test.each([
  ["app/assemble.ts", "worker/worker.ts"],
  ["worker/thread/show.ts", "adapters/render/phrases.ts"],
  ["adapters/slack/view.ts", "adapters/render/card.ts"],
  ["tools/weather/integration.ts", "tools/integration.ts"],
  ["tools/registry.ts", "tools/weather/integration.ts"],
])("%s may import %s", (from, to) => {
  expect(whyNotImported(from, to)).toBeUndefined();
});

test.each([
  ["tools/network/dns-lookup.ts", "node:dns"],
  ["tools/host/disk-usage.ts", "node:child_process"],
  ["worker/worker.ts", "node:http"],
  ["commands/answers.ts", "fetch"],
  ["network.ts", "undici"],
  ["tools/host/disk-usage.ts", "node:module"],
  ["net/dial.ts", "getBuiltinModule"],
  ["tools/network/tcp-check.ts", "WebSocket"],
  ["charts/chart.ts", "node:worker_threads"],
])("%s may not reach out by %s", (from, module) => {
  expect(whyNoWayOut(from, module)).toMatch(/lint\/rooms\.ts/);
});

test.each([
  ["net/dial.ts", "node:net"],
  ["tools/process.ts", "node:child_process"],
  ["core/bare-thread.ts", "node:worker_threads"],
  ["worker/worker.ts", "node:path"],
])("%s may use %s", (from, module) => {
  expect(whyNoWayOut(from, module)).toBeUndefined();
});

test("what test files share registers no hooks when it is loaded: it is loaded once for all files of a process", () => {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" });
  const shared = files.filter((file) => /(?<!\.test|\.real)\.ts$/.test(file));
  const hooked = shared.filter((file) =>
    /^(?:before|after)(?:Each|All)\(/m.test(readFileSync(join(import.meta.dirname, file), "utf8")),
  );
  // These are loaded for each file.
  expect(hooked.toSorted()).toEqual(["leaks.ts", "silent.ts"]);
});
