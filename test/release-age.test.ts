import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { added, judge, type Lock } from "../lint/release-age.ts";

const lock = (packages: Lock["packages"]): Lock => ({ packages });
const DAY_MS = 86_400_000;
const T0 = 1_780_000_000_000;

test("what came into a lockfile is told by name and version, wherever it lies there", () => {
  const before = lock({
    "": { version: "0.4.0" },
    "node_modules/pino": { version: "10.3.0" },
    "node_modules/zod": { version: "4.6.7" },
  });
  const after = lock({
    "": { version: "0.5.0" },
    "node_modules/pino": { version: "10.4.0" },
    "node_modules/zod": { version: "4.6.7" },
    "node_modules/a/node_modules/@b/c": { version: "1.0.0" },
    "node_modules/d/node_modules/@b/c": { version: "1.0.0" },
    "node_modules/alias": { name: "real", version: "2.0.0" },
    "node_modules/linked": { link: true },
  });
  expect(added(before, after)).toEqual(["@b/c@1.0.0", "pino@10.4.0", "real@2.0.0"]);
  expect(added(after, after)).toEqual([]);
});

test("what was published less than a week before the commit is too young, whenever it is asked", () => {
  const published = new Map([
    ["old@1", T0 - 7 * DAY_MS],
    ["new@1", T0 - 7 * DAY_MS + 1],
    ["later@1", T0 + DAY_MS],
  ]);
  const packages = [...published.keys(), "gone@1"];
  expect(judge(packages, T0, (name) => published.get(name))).toEqual({
    young: ["new@1", "later@1"],
    unknown: ["gone@1"],
  });
});

test("the lockfile is read as npm writes it, and names no server", () => {
  const text = readFileSync("package-lock.json", "utf8");
  expect(added(lock({}), JSON.parse(text))).toContain("prom-client@15.1.3");
  expect(text).not.toMatch(/"resolved": "https?:\/\/(?!registry\.npmjs\.org\/)/);
});
