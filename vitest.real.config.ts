import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/real/**/*.real.ts"],
    setupFiles: ["./test/silent.ts"],
    globalSetup: ["./test/real/install.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 45_000, interval: 10 } },
    fileParallelism: false,
  },
});
