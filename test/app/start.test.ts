import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const BIN = join(import.meta.dirname, "../../bin/watchkeeper.js");

/** Starts what `npx watchkeeper` starts, in an empty folder. */
function start(args: readonly string[], env: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "wk-start-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { PATH = "" } = process.env;
  const ended = spawnSync(process.execPath, [BIN, ...args], {
    cwd: folder,
    env: { PATH, ...env },
    encoding: "utf8",
    timeout: 20_000,
  });
  return { ...ended, data: join(folder, "data") };
}

test("who only asks for the version gets no folder, also where none can be made", () => {
  const asked = start(["--version"]);
  expect(asked.stdout).toContain("watchkeeper ");
  expect(existsSync(asked.data)).toBe(false);
  expect(start(["--version"], { DATA_DIR: "/proc/none" }).status).toBe(0);
});

/** What Node kept there of what it compiled. */
const keptIn = (data: string) =>
  existsSync(join(data, "cache"))
    ? readdirSync(join(data, "cache"), { recursive: true }).length
    : 0;

test.each([
  ["data", 0o777, 0o700],
  ["the cache in it", 0o700, 0o770],
])(
  "where others may write into %s no compiled code is kept or run, and the program works",
  (_, ofData, ofCache) => {
    const data = mkdtempSync(join(tmpdir(), "wk-data-"));
    onTestFinished(() => rmSync(data, { recursive: true }));
    mkdirSync(join(data, "cache"));
    chmodSync(join(data, "cache"), ofCache);
    chmodSync(data, ofData);
    expect(start(["--version"], { DATA_DIR: data }).stdout).toContain("watchkeeper ");
    expect(keptIn(data)).toBe(0);
  },
);

test("a cache that cannot be made, or is a file, is no failure", () => {
  const data = mkdtempSync(join(tmpdir(), "wk-data-"));
  onTestFinished(() => rmSync(data, { recursive: true }));
  writeFileSync(join(data, "cache"), "");
  const { status, stderr } = start(["--version"], { DATA_DIR: data });
  expect([status, stderr]).toEqual([0, ""]);
});

test("the compiled code that is kept beside other data is the owner's alone", () => {
  const data = mkdtempSync(join(tmpdir(), "wk-data-"));
  onTestFinished(() => rmSync(data, { recursive: true }));
  start(["--version"], { DATA_DIR: data });
  expect(keptIn(data)).toBeGreaterThan(1);
  expect((statSync(join(data, "cache")).mode & 0o777).toString(8)).toBe("700");
});
