import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["./test/install.ts"],
    setupFiles: ["./test/silent.ts"],
    // One more than the cores of a small machine: most tests wait for something, and the suite is to stay under three minutes.
    maxWorkers: 3,
    testTimeout: 10_000,
  },
});
