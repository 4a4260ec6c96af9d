import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
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

test("what a thread that is ended from outside has compiled is there for the next", async () => {
  const folder = mkdtempSync(join(tmpdir(), "wk-kept-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const keep = new URL("../../src/core/kept-code.ts", import.meta.url).href;
  const files = {
    "start.mjs": `import { createBareThread } from ${JSON.stringify(HELPER)};
const thread = createBareThread(new URL("thread.mjs", import.meta.url), {});
thread.on("message", () => thread.terminate());`,
    "thread.mjs": `import { parentPort } from "node:worker_threads";
import { keepCompiled } from ${JSON.stringify(keep)};
keepCompiled();
parentPort.postMessage(1);
setInterval(() => {}, 1_000);`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const cache = join(folder, "cache");
  const env = { NODE_COMPILE_CACHE: cache };
  await promisify(execFile)(process.execPath, [join(folder, "start.mjs")], { env });
  const kept = readdirSync(cache, { recursive: true, withFileTypes: true });
  // The thread's own two files, and the two of the process.
  expect(kept.filter((each) => each.isFile()).length).toBeGreaterThanOrEqual(3);
});
