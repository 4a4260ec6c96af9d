import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { COMPILE_CACHE } from "../fakes/program.ts";

const HELPER = new URL("../../src/core/bare-thread.ts", import.meta.url).href;
const START = `import { createBareThread } from ${JSON.stringify(HELPER)};
const thread = createBareThread(new URL("thread.mjs", import.meta.url), {});
thread.on("message", (seen) => console.log(JSON.stringify([process.env.FROM_FILE, ...seen])));`;
const THREAD = `import { parentPort } from "node:worker_threads";
parentPort.postMessage([process.env, process.execArgv]);`;

test("a thread has no variables and no flags of the process's, nor what a flag would read into it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "wk-bare-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = { "start.mjs": START, "thread.mjs": THREAD, secrets: "FROM_FILE=secret\n" };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const args = ["--env-file", join(folder, "secrets"), join(folder, "start.mjs")];
  const cache = { NODE_COMPILE_CACHE: COMPILE_CACHE };
  const env = { OF_PROCESS: "secret", NODE_OPTIONS: "--no-warnings", ...cache };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  expect(JSON.parse(stdout)).toEqual(["secret", cache, []]);
});
