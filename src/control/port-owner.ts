import { readdir, readFile, readlink } from "node:fs/promises";
import path from "node:path";

/** In words, which process of this user listens on a port, and for which workspace it was started; null where the system does not say (it does on Linux). */
export async function portOwner(port: number): Promise<string | null> {
  const sockets = new Set((await Promise.all(["tcp", "tcp6"].map((table) => listening(table, port)))).flat());
  if (sockets.size === 0) return null;
  for (const pid of await readdir("/proc").catch(() => [])) {
    if (/^\d+$/.test(pid) && (await holds(pid, sockets))) return `pid ${pid}, ${await startedFor(pid)}`;
  }
  return null;
}

/** What `/proc/PID/fd` calls the sockets that listen on a port. */
async function listening(table: string, port: number): Promise<string[]> {
  const text = await readFile(`/proc/net/${table}`, "utf8").catch(() => "");
  const hex = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const rows = text.split("\n").map((line) => line.trim().split(/\s+/));
  // Columns: number, local address, remote address, state (0A listens), …, inode.
  return rows.filter((row) => row[1]?.endsWith(hex) && row[3] === "0A").map((row) => `socket:[${row[9]}]`);
}

async function holds(pid: string, sockets: ReadonlySet<string>): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  for (const fd of await readdir(folder).catch(() => [])) if (sockets.has(await readlink(path.join(folder, fd)).catch(() => ""))) return true;
  return false;
}

async function startedFor(pid: string): Promise<string> {
  const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => "");
  const words = (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).split("\0");
  const at = words.findIndex((word) => word === "--topology" || word.startsWith("--topology="));
  const named = at === -1 ? undefined : (words[at]!.split("=", 2)[1] ?? words[at + 1]);
  return named === undefined ? `started in ${cwd}` : `of ${path.resolve(cwd, named)}`;
}
