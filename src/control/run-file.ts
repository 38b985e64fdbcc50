import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { link, readFile, rename, rm, stat, unlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "../base/errors.ts";
import { isObject, own } from "../base/json.ts";
import { makeFolder } from "../base/make-folder.ts";

/** The host that runs in a workspace, as `data/run/host.json` tells it. */
export interface RunningHost {
  readonly pid: number;
  /** What the system calls the start of the process; tells it from a later one with the same pid. Empty where the system does not say. */
  readonly pid_start: string;
  readonly started_at: string;
  /** Absolute path of topology.yaml. */
  readonly topology: string;
  /** Base URL of the HTTP door; null while the host starts. */
  readonly url: string | null;
  /** Certificate file of an https door. */
  readonly tls_cert: string | null;
  /** Folder of run-time state that it was started with; its tokens lie there. */
  readonly data_dir: string;
}

/** A workspace that this process has claimed. */
export interface RunFile {
  /** Tells where the door is, once it is open. */
  publish(door: { readonly url: string; readonly tlsCert: string | null }): Promise<void>;
  /**
   * Shows the host in another data folder too: one that topology.yaml names by now and that only a restart will change to.
   * Commands look there, and must neither miss this host nor start a second one.
   */
  showIn(dataDir: string): Promise<void>;
  /**
   * Looks whether the run file is still what this host wrote, and makes it anew where it is gone or says something else. One that names
   * another live host is left alone. Throws the system's error where the file cannot be made.
   */
  hold(): Promise<Hold>;
  /** Gives the workspace free. */
  release(): Promise<void>;
}

/** What became of a run file: nothing; it was made anew, or the same one was put back in another folder; or another live host has the workspace. */
export type Hold = { readonly state: "held" | "remade" | "back" } | { readonly state: "taken"; readonly by: RunningHost };

/** Thrown when another host runs in the workspace. */
export class HostRunningError extends Error {
  readonly host: RunningHost;
  constructor(host: RunningHost) {
    super(`a host already runs for ${host.topology}: pid ${host.pid}${host.url ? `, ${host.url}` : ""}, since ${host.started_at}`);
    this.name = "HostRunningError";
    this.host = host;
  }
}

/** Where a workspace says which host runs in it. */
export function runFilePath(dataDir: string): string {
  return join(dataDir, "run", "host.json");
}

/** Claims a workspace for this process. Throws a {@link HostRunningError} when a live host has it; a dead host's file is replaced. */
export async function claimRunFile(dataDir: string, topology: string, startedAt: string): Promise<RunFile> {
  const file = runFilePath(dataDir);
  let mine: RunningHost = {
    pid: process.pid,
    pid_start: await processStart(process.pid),
    started_at: startedAt,
    topology,
    url: null,
    tls_cert: null,
    data_dir: dataDir,
  };
  const shown = new Set<string>();
  /** The file as this process left it. */
  let seen: string | null = null;
  /** Makes the file, unless a live host has made one: gives that host then. An older file of the host that holds the workspace is replaced. */
  const make = async (holder: RunningHost | null): Promise<RunningHost | null> => {
    await makeFolder(dirname(file), 0o700);
    while (!(await createWhole(file, mine))) {
      const found = await readHost(file);
      const known = found.host !== null && holder !== null && isSame(found.host, holder);
      if (found.host && !known && (await isAlive(found.host))) return found.host;
      if (found.text !== null) await removeStale(file, found.text);
    }
    seen = await identity(file);
    return null;
  };
  const other = await make(null).catch((error: unknown) => {
    throw new Error(`the data folder ${dataDir} cannot be used: ${messageOf(error)}; mend that, or name another folder as data_dir`, { cause: error });
  });
  if (other !== null) throw new HostRunningError(other);
  return {
    async publish(door) {
      mine = { ...mine, url: door.url, tls_cert: door.tlsCert };
      const temp = tempName(file);
      await writeFile(temp, text(mine), { mode: 0o600, flag: "wx" });
      await rename(temp, file);
      seen = await identity(file);
    },
    async hold() {
      const now = await identity(file);
      if (now !== null && now === seen) return { state: "held" };
      if (now !== null && (await readHost(file)).text === text(mine)) {
        seen = now;
        return { state: "back" };
      }
      const by = await make(mine);
      return by === null ? { state: "remade" } : { state: "taken", by };
    },
    async showIn(other) {
      const there = runFilePath(other);
      if (there === file || shown.has(there)) return;
      shown.add(there);
      await makeFolder(dirname(there), 0o700);
      if (await createWhole(there, mine)) return;
      const found = await readHost(there);
      if (found.host && (await isAlive(found.host))) return;
      if (found.text !== null) await removeStale(there, found.text);
      await createWhole(there, mine);
    },
    async release() {
      for (const each of [file, ...shown]) {
        const found = await readHost(each);
        if (found.host && isSame(found.host, mine)) await unlink(each);
      }
    },
  };
}

/** The live host of a data folder, or null. */
export async function findRunningHost(dataDir: string): Promise<RunningHost | null> {
  const { host } = await readHost(runFilePath(dataDir));
  return host && (await isAlive(host)) ? host : null;
}

const text = (host: RunningHost): string => `${JSON.stringify(host, null, 2)}\n`;
const isSame = (a: RunningHost, b: RunningHost): boolean => a.pid === b.pid && a.pid_start === b.pid_start;
const tempName = (file: string): string => join(dirname(file), `.host-${process.pid}-${randomBytes(6).toString("hex")}.tmp`);

/** Another text for another file and for another writing of it; null when there is none, or no folder on the way to it. */
async function identity(file: string): Promise<string | null> {
  try {
    const { dev, ino, mtimeMs, size } = await stat(file);
    return `${dev}:${ino}:${mtimeMs}:${size}`;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Also where a file stands in place of a folder on the way. */
function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
}

/** Makes the file with its whole content in one step; false when there is one already. */
async function createWhole(file: string, host: RunningHost): Promise<boolean> {
  const temp = tempName(file);
  await writeFile(temp, text(host), { mode: 0o600, flag: "wx" });
  try {
    await link(temp, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await unlink(temp);
  }
}

/** Takes a dead host's file away, unless another starting host has replaced it meanwhile: then that one's is put back. */
async function removeStale(file: string, stale: string): Promise<void> {
  const aside = tempName(file);
  try {
    await rename(file, aside);
    if ((await readFile(aside, "utf8")) !== stale) await link(aside, file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== "ENOENT" && code !== "EEXIST") throw error;
  } finally {
    await rm(aside, { force: true });
  }
}

async function readHost(file: string): Promise<{ text: string | null; host: RunningHost | null }> {
  let content: string;
  try {
    content = await readFile(file, "utf8");
  } catch (error) {
    if (isMissing(error)) return { text: null, host: null };
    throw error;
  }
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    return { text: content, host: null };
  }
  const pid = own(value, "pid");
  if (!isObject(value) || typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 0) return { text: content, host: null };
  const word = (key: string): string => {
    const found = own(value, key);
    return typeof found === "string" ? found : "";
  };
  return {
    text: content,
    host: {
      pid,
      pid_start: word("pid_start"),
      started_at: word("started_at"),
      topology: word("topology"),
      url: word("url") || null,
      tls_cert: word("tls_cert") || null,
      data_dir: word("data_dir") || dirname(dirname(file)),
    },
  };
}

async function isAlive(host: RunningHost): Promise<boolean> {
  try {
    process.kill(host.pid, 0);
  } catch (error) {
    // EPERM: it lives, but belongs to somebody else.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  return host.pid_start === "" || host.pid_start === (await processStart(host.pid));
}

/** What the system says of a process's start, as an opaque text; empty when it does not say. */
export async function processStart(pid: number): Promise<string> {
  if (process.platform === "linux") {
    try {
      const stat = await readFile(`/proc/${pid}/stat`, "utf8");
      // Field 22; the command in field 2 may hold spaces and brackets, so the count starts after its last bracket.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (fields[0] === "Z" || fields[0] === "X") return "";
      const started = fields[19] ?? "";
      const boot = (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
      return `${boot}/${started}`;
    } catch {
      return "";
    }
  }
  if (process.platform === "win32") return "";
  try {
    const { stdout } = await promisify(execFile)("ps", ["-o", "lstart=", "-p", String(pid)]);
    return stdout.trim();
  } catch {
    return "";
  }
}
