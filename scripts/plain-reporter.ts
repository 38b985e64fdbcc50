import type { Reporter, TestModule } from "vitest/node";

/** Prints one plain closing line that any CI can read: `N passed, N failed, N skipped`. */
export default class PlainReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) count[test.result().state] += 1;
      if (module.state() === "failed" && [...module.children.allTests("failed")].length === 0) count.failed += 1;
    }
    process.stdout.write(`${count.passed} passed, ${count.failed} failed, ${count.skipped + count.pending} skipped\n`);
  }
}
