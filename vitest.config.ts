import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["./test/install.ts"],
    setupFiles: ["./test/silent.ts", "./test/leaks.ts"],
    // One more than the cores of a small machine: most tests wait for something, and the suite is to stay under four minutes.
    maxWorkers: 3,
    // A limit for what hangs, not for what is slow: others may use the machine too.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 45_000, interval: 10 } },
  },
});
