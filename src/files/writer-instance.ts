import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { isCode } from "./atomic-write.ts";
import type { WriterInstance } from "./inbox-names.ts";

/** This process as a writer of temp files. */
export function thisWriter(): WriterInstance {
  return { host: thisHost(), pid: process.pid, start: startOf(process.pid) ?? "0" };
}

/** Whether a writer still runs: `foreign` when it is of another machine (or container), where nobody can tell. */
export function writerState(writer: WriterInstance): "alive" | "dead" | "foreign" {
  if (writer.host !== thisHost()) return "foreign";
  const start = startOf(writer.pid);
  if (start !== null) return start === writer.start ? "alive" : "dead";
  try {
    process.kill(writer.pid, 0);
    return "alive";
  } catch (error) {
    return isCode(error, "EPERM") ? "alive" : "dead";
  }
}

function thisHost(): string {
  return createHash("sha256").update(hostname()).digest("hex").slice(0, 8);
}

/** When a process began, as the kernel counts (Linux); null where that cannot be known. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The program's name, in parentheses, may hold spaces; the start is the 20th field after it.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}
