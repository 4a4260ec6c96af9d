import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/real/**/*.real.ts"],
    // Its server comes from a folder that not every machine has: `test/real/install.ts` says so.
    exclude: process.env["LAB_KUBERNETES"] === undefined ? ["test/real/kubernetes.real.ts"] : [],
    setupFiles: ["./test/silent.ts"],
    globalSetup: ["./test/real/install.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 45_000, interval: 10 } },
    fileParallelism: false,
  },
});
