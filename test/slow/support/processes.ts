import { readdir, readFile, readlink } from "node:fs/promises";

/** Processes that this one started and that run, by id; with `under`, also those whose working directory lies there, whoever is their parent now. */
export async function runningChildren(under: string): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
      const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (stat === "" || state === "Z" || state === "X") return false;
      return Number(parent) === process.pid || (await readlink(`/proc/${pid}/cwd`).catch(() => "")).startsWith(under);
    }),
  );
  return pids.filter((_, index) => found[index]);
}

/** Open file descriptors of this process. */
export async function openHandles(): Promise<number> {
  return (await readdir("/proc/self/fd")).length;
}
