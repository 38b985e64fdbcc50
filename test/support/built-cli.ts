import { execFile, spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const projectRoot = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..", "..");
const dist = path.join(projectRoot, "dist");
const stamp = path.join(dist, ".built-for-tests");
const lock = path.join(projectRoot, "node_modules", ".built-cli-lock");

/** Path of dist/cli/main.js, built first when a source is newer. Several test workers may ask at once; one builds. */
export async function builtCli(): Promise<string> {
  while (await isStale()) {
    if (await takeLock()) {
      try {
        if (await isStale()) await build();
      } finally {
        await rm(lock, { recursive: true, force: true });
      }
    } else {
      await sleep(200);
    }
  }
  return path.join(dist, "cli", "main.js");
}

async function build(): Promise<void> {
  const tsc = path.join(projectRoot, "node_modules", "typescript", "bin", "tsc");
  const startedAt = new Date();
  // Emits whatever the types say: types are checked elsewhere, and a test wants to see the program run.
  await promisify(execFile)(process.execPath, [tsc, "-p", projectRoot, "--noCheck"], { cwd: projectRoot });
  await writeFile(stamp, `${startedAt.getTime()}\n`);
}

async function isStale(): Promise<boolean> {
  const built = (await stat(stamp).catch(() => null))?.mtimeMs ?? 0;
  const sources = await readdir(path.join(projectRoot, "src"), { recursive: true, withFileTypes: true });
  for (const entry of sources) if (entry.name.endsWith(".ts") && (await stat(path.join(entry.parentPath, entry.name))).mtimeMs > built) return true;
  return false;
}

/** Takes the build lock; one that is older than two minutes belongs to a worker that died. */
async function takeLock(): Promise<boolean> {
  try {
    await mkdir(lock);
    return true;
  } catch {
    const info = await stat(lock).catch(() => null);
    if (info !== null && Date.now() - info.mtimeMs > 120_000) await rm(lock, { recursive: true, force: true });
    return false;
  }
}

export interface CliResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly stdin?: string;
}

/** Runs one command to its end. */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const cli = await startCli(args, options);
  cli.child.stdin.end(options.stdin ?? "");
  return cli.done;
}

/** Runs one command with `--json`; rejects when it prints no JSON. */
export async function runCliJson(args: readonly string[], options: CliOptions = {}): Promise<{ code: number | null; value: any }> {
  const { code, stdout, stderr } = await runCli(["--json", ...args], options);
  try {
    return { code, value: JSON.parse(stdout) };
  } catch {
    throw new Error(`no JSON from ${args.join(" ")}: ${stdout}\n${stderr}`);
  }
}

export interface RunningCli {
  readonly child: ChildProcessWithoutNullStreams;
  /** What it has written so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly done: Promise<CliResult>;
  /** Resolves once stdout or stderr holds the text; rejects when the process ends without it. */
  until(text: string | RegExp, timeoutMs?: number): Promise<void>;
}

/** Starts a command and leaves it running. */
export async function startCli(args: readonly string[], options: CliOptions = {}): Promise<RunningCli> {
  const main = await builtCli();
  const child = spawn(process.execPath, [main, ...args], {
    cwd: options.cwd ?? projectRoot,
    env: { ...process.env, NO_COLOR: "1", ...options.env },
    stdio: "pipe",
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  child.stdin.on("error", () => {});
  let ended = false;
  const done = new Promise<CliResult>((resolve) =>
    child.once("close", (code, signal) => {
      ended = true;
      resolve({ code, signal, stdout, stderr });
    }),
  );
  const has = (text: string | RegExp): boolean => [stdout, stderr].some((out) => (typeof text === "string" ? out.includes(text) : text.test(out)));
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    done,
    async until(text, timeoutMs = 15_000) {
      for (const end = Date.now() + timeoutMs; !has(text); await sleep(20)) {
        if (ended || Date.now() > end) throw new Error(`${ended ? "it ended" : "timed out"} before ${String(text)}\nstdout: ${stdout}\nstderr: ${stderr}`);
      }
    },
  };
}
