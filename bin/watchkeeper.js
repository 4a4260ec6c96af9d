#!/usr/bin/env node
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import * as nodeModule from "node:module";
import { constants } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/*
 * Starts the program: by a Node that can run it, from what `npm run build` made, or else from the sources. In JavaScript, as an
 * old Node reads it first.
 */

/** It runs TypeScript as it is, and has node:sqlite without a flag. */
const OLDEST_NODE = 24;
const FOLDER = fileURLToPath(new URL("..", import.meta.url));
const BUILT = join(FOLDER, "dist/main.js");
const SOURCES = join(FOLDER, "src");
const SIGNALS = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);

/** The Node that was installed with the program on Linux. */
function ownNode() {
  const installed = nodeModule.createRequire(import.meta.url);
  try {
    return installed.resolve(`node-${process.platform}-${process.arch}/bin/node`);
  } catch {
    return undefined;
  }
}

/** Runs this again in its own process, and ends as that does. */
function startWith(/** @type {string} */ node) {
  const args = [...process.execArgv, fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  const child = spawn(node, args, { stdio: "inherit" });
  // A terminal sends its own to both.
  const isSentTwice = process.stdin.isTTY;
  for (const signal of SIGNALS)
    process.on(signal, () => (signal === "SIGTERM" || !isSentTwice) && child.kill(signal));
  child.on("error", ({ message }) => {
    process.stderr.write(`${node} could not be started (${message}).\n`);
    process.exitCode = 1;
  });
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? 128 + (signal === null ? 1 : constants.signals[signal]);
  });
}

/** The newest change in a folder, which costs less than Node's own listing of all that is below it. */
function newestIn(/** @type {string} */ folder) {
  let newest = statSync(folder).mtimeMs;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    newest = Math.max(newest, entry.isDirectory() ? newestIn(path) : statSync(path).mtimeMs);
  }
  return newest;
}

/** Whether there is a build that is no older than what it was made from. A package holds no sources. */
function isBuilt() {
  const built = statSync(BUILT, { throwIfNoEntry: false })?.mtimeMs;
  if (built === undefined || !existsSync(SOURCES)) return built !== undefined;
  const made = ["package.json", "package-lock.json"].map(
    (name) => statSync(join(FOLDER, name)).mtimeMs,
  );
  return Math.max(newestIn(SOURCES), ...made) <= built;
}

/** Who may write into a folder decides what code is run from it. */
function isOurs(/** @type {string} */ folder) {
  const { mode, uid } = statSync(folder);
  const own = process.getuid?.();
  return own === undefined || ((uid === own || uid === 0) && (mode & 0o022) === 0);
}

/**
 * Where Node keeps the compiled code; absolute. Made here, for its owner only: Node makes it for everybody, and tries for ever where the
 * system takes no folder. Undefined: others may write there, it cannot be made, or it is a command alone, such as `--version`, which makes
 * no folder for the program's data.
 */
function cacheFolder() {
  const data = resolve(process.env["DATA_DIR"] || "data");
  const cache = join(data, "cache");
  const isCommand = process.argv.length > 2;
  try {
    for (const folder of isCommand ? [cache] : [data, cache])
      if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
    return isOurs(data) && isOurs(cache) ? cache : undefined;
  } catch {
    return undefined;
  }
}

/** Has this thread use the folder, and every thread that it starts, which know it by the variable. One that is set comes first. */
function useCache(/** @type {string} */ folder) {
  if (process.env["NODE_COMPILE_CACHE"] !== undefined) return;
  const { status } = nodeModule.enableCompileCache(folder);
  const { ENABLED } = nodeModule.constants.compileCacheStatus;
  if (status === ENABLED) process.env["NODE_COMPILE_CACHE"] = folder;
}

if (Number(process.versions.node.split(".")[0]) >= OLDEST_NODE) {
  const cache = cacheFolder();
  if (cache !== undefined) useCache(cache);
  await import(isBuilt() ? BUILT : join(SOURCES, "main.ts"));
} else {
  const node = ownNode();
  if (node === undefined) {
    process.stderr.write(
      `Node ${process.versions.node} is too old, ${OLDEST_NODE} is needed. On Linux it comes with the program; elsewhere install it.\n`,
    );
    process.exitCode = 2;
  } else startWith(node);
}
