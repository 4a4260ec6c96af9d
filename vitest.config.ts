import { defineConfig } from "vitest/config";

const testsOf = (...rooms: string[]) => rooms.map((room) => `test/${room}/**/*.test.ts`);

/**
 * Rooms whose tests leave nothing behind in their process: their files share some, which saves loading the same modules for each.
 * Those that connect to servers of their own stay apart from those that count every connection of the process, and what reads the
 * environment once for the whole process (`proxied`) is alone.
 */
const QUIET = testsOf(
  "agent",
  "alerts",
  "approvals",
  "checks",
  "commands",
  "config",
  "core",
  "evals",
  "events",
  "handoff",
  "incidents",
  "security",
  "skills",
  "thread",
  "tools",
);
const BUSY = testsOf(
  "adapters/render",
  "adapters/shared",
  "adapters/slack",
  "adapters/terminal",
  "app",
  "charts",
  "docs",
  "models",
  "net",
  "protocol",
  "puppet",
  "team",
  "trials",
  "wakeups",
  "worker",
);

export default defineConfig({
  test: {
    globalSetup: ["./test/install.ts"],
    setupFiles: ["./test/silent.ts", "./test/leaks.ts"],
    // Twice the cores of a small machine: most tests wait for something, and the suite is to stay under four minutes.
    maxWorkers: 4,
    // A limit for what hangs, not for what is slow: others may use the machine too.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 45_000, interval: 10 } },
    projects: [
      {
        extends: true,
        test: { name: "alone", include: testsOf("**"), exclude: [...QUIET, ...BUSY] },
      },
      { extends: true, test: { name: "quiet", include: QUIET, isolate: false } },
      { extends: true, test: { name: "busy", include: BUSY, isolate: false } },
    ],
  },
});
