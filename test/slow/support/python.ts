import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { access, mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

const CACHE = fileURLToPath(new URL("../../../node_modules/.cache/aurora-python/", import.meta.url));
const SCRIPTS = fileURLToPath(new URL("../python/", import.meta.url));
/** Making an environment downloads packages; LiteLLM alone is large. */
export const INSTALL_MS = 15 * 60_000;

interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end; killed after `timeoutMs`. */
function run(program: string, args: readonly string[], timeoutMs: number, stdin = "", env: NodeJS.ProcessEnv = process.env): Promise<Finished> {
  return new Promise((resolve) => {
    const child = execFile(program, args, { timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: 64 * 1024 * 1024, env }, (error, stdout, stderr) => {
      resolve({
        code: error === null ? 0 : typeof error.code === "number" ? error.code : 127,
        stdout,
        stderr: stderr === "" && error !== null ? error.message : stderr,
      });
    });
    child.stdin?.on("error", () => {});
    child.stdin?.end(stdin);
  });
}

/** The Python of a virtual environment with some packages, and the way to run the scripts beside these tests. */
export interface Python {
  readonly program: string;
  /** Path of a script in test/slow/python. */
  script(name: string): string;
  /** Runs a script and gives the JSON that it prints last. Throws with its stderr when it fails. */
  json(
    name: string,
    options?: { readonly args?: readonly string[]; readonly stdin?: string; readonly env?: NodeJS.ProcessEnv; readonly timeoutMs?: number },
  ): Promise<unknown>;
}

/**
 * A virtual environment with these packages (pinned), made once and kept under node_modules/.cache. Null, with a printed line that
 * says why, when there is no python3 or the packages cannot be downloaded; any other failure throws.
 */
export async function pythonWith(requirements: readonly string[]): Promise<Python | null> {
  const folder = path.join(CACHE, createHash("sha256").update(requirements.join("\n")).digest("hex").slice(0, 12));
  const program = path.join(folder, "bin", "python");
  const marker = path.join(folder, "complete");
  if (
    !(await access(marker).then(
      () => true,
      () => false,
    ))
  ) {
    await rm(folder, { recursive: true, force: true });
    await mkdir(CACHE, { recursive: true });
    const made = await run("python3", ["-m", "venv", folder], 120_000);
    if (made.code !== 0) return unavailable("python3 with venv", made.stderr);
    const installed = await run(
      program,
      ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", ...requirements],
      INSTALL_MS - 130_000,
    );
    if (installed.code !== 0) {
      if (/connection|resolution|timed out|proxy|no matching distribution/i.test(installed.stderr))
        return unavailable(`PyPI (for ${requirements.join(", ")})`, installed.stderr);
      throw new Error(`pip install ${requirements.join(" ")} failed:\n${installed.stderr}`);
    }
    await writeFile(marker, `${requirements.join("\n")}\n`);
  }
  return {
    program,
    script: (name) => path.join(SCRIPTS, name),
    async json(name, { args = [], stdin = "", env, timeoutMs = 120_000 } = {}) {
      const { code, stdout, stderr } = await run(program, [path.join(SCRIPTS, name), ...args], timeoutMs, stdin, { ...process.env, ...env });
      if (code !== 0) throw new Error(`${name} ended with code ${code}:\n${stderr}`);
      return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
    },
  };
}

function unavailable(what: string, why: string): null {
  process.stdout.write(`SKIPPED, ${what} is not to be had: ${why.trim().split("\n").at(-1) ?? ""}\n`);
  return null;
}
