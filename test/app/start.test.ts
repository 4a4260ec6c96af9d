import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
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

test("the compiled code that is kept beside other data is the owner's alone", () => {
  const data = mkdtempSync(join(tmpdir(), "wk-data-"));
  onTestFinished(() => rmSync(data, { recursive: true }));
  start(["--version"], { DATA_DIR: data });
  expect((statSync(join(data, "cache")).mode & 0o777).toString(8)).toBe("700");
});
