import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clientScenarios, REQUIREMENTS, runSuite, type SuiteVersion } from "../conformance/suite.ts";
import { builtCli } from "../support/built-cli.ts";

const CLIENT = fileURLToPath(new URL("../conformance/client.mjs", import.meta.url));
const RESULTS = path.join(tmpdir(), `aurora-conformance-results-${process.pid}`);

/** An extension (SEP-990) that the kit does not have: an identity provider of a company grants access across apps. */
const NOT_OFFERED = new Set(["auth/cross-app-access-complete-flow"]);

beforeAll(async () => void (await builtCli()));
afterAll(() => rm(RESULTS, { recursive: true, force: true }));

const SETS: readonly [SuiteVersion, string, number][] = [
  ["released", "all client scenarios of the released suite", 25],
  ["next", `client scenarios required for ${REQUIREMENTS}`, 18],
];

for (const [version, title, count] of SETS) {
  const scenarios = (await clientScenarios(version)).filter((name) => !NOT_OFFERED.has(name));

  describe(title, () => {
    test(`there are ${count}`, () => expect(scenarios).toHaveLength(count));

    // One at a time: sse-retry measures times.
    test.each(scenarios)("%s", { timeout: 90_000 }, async (scenario) => {
      const { code, output } = await runSuite(
        version,
        ["client", "--command", `${process.execPath} ${CLIENT}`, "--scenario", scenario, "--timeout", "45000", "-o", RESULTS],
        80_000,
      );
      expect(code, output).toBe(0);
    });
  });
}
