import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/real/**/*.real.ts"],
    setupFiles: ["./test/silent.ts"],
    globalSetup: ["./test/real/install.ts"],
    testTimeout: 60_000,
    fileParallelism: false,
  },
});
