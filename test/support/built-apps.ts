import { execFile } from "node:child_process";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const APPS = ["clock", "diary", "weather", "qq"] as const;

/** A bundled app by its short name. */
export type BundledApp = (typeof APPS)[number];

/** The compiled server of a bundled app, built first when its sources are newer. Test files that run side by side build it once. */
export async function builtApp(app: BundledApp): Promise<string> {
  if (await isStale()) await inTurn(build);
  return serverOf(app);
}

function serverOf(app: BundledApp): string {
  return join(ROOT, "dist/apps", `aurora-app-${app}`, "mcp-server.js");
}

async function isStale(): Promise<boolean> {
  const built = await Promise.all(APPS.map(async (app) => (await stat(serverOf(app)).catch(() => undefined))?.mtimeMs ?? 0));
  const files = (await readdir(join(ROOT, "apps"), { recursive: true })).filter((file) => file.endsWith(".ts") || file === "tsconfig.json");
  const sources = await Promise.all(files.map(async (file) => (await stat(join(ROOT, "apps", file))).mtimeMs));
  return Math.min(...built) < Math.max(...sources);
}

async function build(): Promise<void> {
  // Whoever had the lock before may have built it.
  if (!(await isStale())) return;
  await promisify(execFile)(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", join(ROOT, "apps"), "--noCheck"], { cwd: ROOT });
}

/** Runs a job while no other test process does: whoever makes the folder first has the lock. */
async function inTurn(job: () => Promise<void>): Promise<void> {
  const lock = join(ROOT, "dist", ".apps-build-lock");
  await mkdir(join(ROOT, "dist"), { recursive: true });
  for (;;) {
    try {
      await mkdir(lock);
      break;
    } catch {
      await delay(100);
      // A test process that was killed leaves its lock behind.
      const made = (await stat(lock).catch(() => undefined))?.mtimeMs;
      if (made !== undefined && Date.now() - made > 60_000) await rm(lock, { recursive: true, force: true });
    }
  }
  try {
    await job();
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
}
