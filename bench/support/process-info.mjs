import { readdirSync, readFileSync } from "node:fs";

/** CPU time that all threads of a process have used, in microseconds; null where there is no /proc. */
export function cpuMicroseconds(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`).reduce(
      (sum, thread) => sum + Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]) / 1000,
      0,
    );
  } catch {
    return null;
  }
}

/** Memory of a process that is in RAM, in MiB; null where there is no /proc. */
export function residentMebibytes(pid) {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;
  } catch {
    return null;
  }
}
