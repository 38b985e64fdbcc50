import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** A version of the official suite: the released one, or the next with its frozen sets of requirements. */
export type SuiteVersion = "released" | "next";

/** The set of requirements of the next version that is asked for. */
export const REQUIREMENTS = "2025-11-25";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const HOOK = fileURLToPath(new URL("node20-hook.mjs", import.meta.url));
const require = createRequire(import.meta.url);
const BUNDLES: Readonly<Record<SuiteVersion, string>> = {
  released: path.join(path.dirname(require.resolve("@modelcontextprotocol/conformance/package.json")), "dist/index.js"),
  next: path.join(path.dirname(require.resolve("conformance-next/package.json")), "dist/index.js"),
};

/** How a run of the suite ended, and all it printed, without colours. */
export interface SuiteRun {
  readonly code: number;
  readonly output: string;
}

/** Runs one command of the suite to its end; after `timeoutMs` it is killed and counts as failed. */
export function runSuite(version: SuiteVersion, args: readonly string[], timeoutMs: number): Promise<SuiteRun> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ["--import", HOOK, BUNDLES[version], ...args],
      { cwd: ROOT, timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const output = `${stdout}\n${stderr}`.replaceAll(new RegExp(String.raw`\u001b\[[0-9;]*m`, "g"), "");
        resolve({ code: error === null ? 0 : typeof error.code === "number" ? error.code : 1, output });
      },
    );
  });
}

/** The client scenarios of a version; of the next one those that its set of requirements scores. */
export async function clientScenarios(version: SuiteVersion): Promise<string[]> {
  const filter = version === "next" ? ["--requirements", REQUIREMENTS] : [];
  const { output } = await runSuite(version, ["list", "--client", ...filter], 30_000);
  const section = output.slice(output.indexOf("Client scenarios"));
  return [...section.matchAll(/^ {2}- (\S+)/gm)].map((match) => match[1]!);
}

/** Scenarios of a server run: how many there were, and the names of those with failed checks. */
export function readSummary(output: string): { readonly scenarios: number; readonly failed: readonly string[]; readonly total: string } {
  const summary = output.slice(output.indexOf("=== SUMMARY ==="));
  const lines = [...summary.matchAll(/^[✓✗] (\S+): \d+ passed, (\d+) failed/gm)];
  return {
    scenarios: lines.length,
    failed: lines.filter((match) => match[2] !== "0").map((match) => match[1]!),
    total: /^Total: .*/m.exec(summary)?.[0] ?? "no summary",
  };
}
