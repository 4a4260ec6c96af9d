import { defineConfig } from "vitest/config";

/** Rooms whose tests leave no connection behind: their files share a process, which saves loading the same modules for each. */
const QUIET = [
  "agent",
  "approvals",
  "commands",
  "config",
  "core",
  "incidents",
  "security",
  "skills",
  "thread",
  "tools",
].map((room) => `test/${room}/**/*.test.ts`);

export default defineConfig({
  test: {
    globalSetup: ["./test/install.ts"],
    setupFiles: ["./test/silent.ts", "./test/leaks.ts"],
    // One more than the cores of a small machine: most tests wait for something, and the suite is to stay under four minutes.
    maxWorkers: 3,
    // A limit for what hangs, not for what is slow: others may use the machine too.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 45_000, interval: 10 } },
    projects: [
      { extends: true, test: { name: "alone", include: ["test/**/*.test.ts"], exclude: QUIET } },
      { extends: true, test: { name: "together", include: QUIET, isolate: false } },
    ],
  },
});
