import { defineConfig } from "vitest/config";

/** Suites that need more than Node and npm, or minutes: conformance, foreign clients and servers, chaos, fuzz, browser. */
export default defineConfig({
  test: {
    include: ["test/slow/**/*.test.ts"],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: "forks",
    maxWorkers: 1,
    fileParallelism: false,
    reporters: ["default", "./scripts/plain-reporter.ts"],
  },
});
