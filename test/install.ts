import { execFileSync, spawnSync } from "node:child_process";
import { COMPILE_CACHE } from "./fakes/program.ts";

/** Installs the Debian packages whose program is not on the search path, as root or in CI; else says what to do. */
export function install(packages: Readonly<Record<string, string>>): void {
  const path = `${process.env["PATH"] ?? ""}:/usr/sbin`;
  const missing = Object.entries(packages)
    .filter(([, program]) => {
      const look = ["-c", 'command -v "$0"', program];
      return spawnSync("sh", look, { env: { PATH: path } }).status !== 0;
    })
    .map(([name]) => name);
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0 && process.env["CI"] === undefined) {
    throw new Error(
      `These tests need real servers; install them: sudo apt-get install -y ${missing.join(" ")}`,
    );
  }
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  execFileSync("apt-get", ["update", "-qq"], { env, stdio: "ignore" });
  execFileSync("apt-get", ["install", "-y", "-qq", ...missing], { env, stdio: "ignore" });
}

/** What \`npm test\` needs beside npm. */
export function setup(): void {
  // For the threads that tests start, as programs have one: else each compiles its sources again.
  process.env["NODE_COMPILE_CACHE"] ??= COMPILE_CACHE;
  install({ "redis-server": "redis-server" });
}
