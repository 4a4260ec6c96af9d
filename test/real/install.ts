import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";

/** Debian packages that these tests run against, and a file that each brings. */
const SERVERS = { "nginx-light": "/usr/sbin/nginx" };

/** Installs what is missing, as root or in CI; else says what to do. */
export function setup(): void {
  const missing = Object.entries(SERVERS)
    .filter(([, file]) => !existsSync(file))
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
