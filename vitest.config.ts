import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["./test/install.ts"],
    setupFiles: ["./test/silent.ts"],
    // As many as the cores of a small machine: by default one is left idle, and most tests wait for something.
    maxWorkers: 2,
    testTimeout: 10_000,
  },
});
