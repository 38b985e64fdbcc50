import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";

const POSIX = process.platform !== "win32";
const LINUX = process.platform === "linux";

/** One process of a group, as the system lists it. */
interface Member {
  readonly session: number;
}

/** Sends a signal to a whole process group. Gives false when there is none (any more). Windows: ends the process tree, whatever the signal. */
export function signalGroup(leader: number, signal: "SIGTERM" | "SIGKILL"): boolean {
  // pid 0 and 1 would mean "my own group" and "everybody".
  if (!Number.isSafeInteger(leader) || leader <= 1) return false;
  if (!POSIX) return spawnSync("taskkill", ["/PID", String(leader), "/T", "/F"], { windowsHide: true, timeout: 5000 }).status === 0;
  try {
    process.kill(-leader, signal);
    return true;
  } catch {
    return false;
  }
}

/** Whether anything but zombies is left in a process group. */
export function groupAlive(leader: number): boolean {
  if (!POSIX) return false;
  try {
    process.kill(-leader, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  // The signal reaches zombies too; in a container whose pid 1 does not reap they stay for ever.
  return LINUX ? membersOf(leader).length > 0 : true;
}

/** Whether what is left of a group without its leader still belongs to the session that the leader opened, so that it is no later group with a recycled id. */
export function groupIsOwnSession(leader: number): boolean {
  const members = membersOf(leader);
  return members.length > 0 && members.every((member) => member.session === leader);
}

/**
 * When a live process started, as text that equals only itself: pid and start time together name one process for ever, over reboots too.
 * Null for a process that is gone or a zombie, and on Windows.
 */
export function startTimeOf(pid: number): string | null {
  if (!Number.isSafeInteger(pid) || pid <= 0 || !POSIX) return null;
  if (!LINUX) {
    const ps = spawnSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], { encoding: "utf8", timeout: 2000, env: { PATH: "/bin:/usr/bin", LC_ALL: "C" } });
    const text = ps.stdout?.trim() ?? "";
    return text === "" || text.startsWith("Z") ? null : text.replace(/^\S+\s+/, "");
  }
  const fields = statFields(pid);
  return fields === null || isDead(fields) ? null : `${bootId()}:${fields[19]}`;
}

function membersOf(leader: number): Member[] {
  if (!LINUX) {
    // No session ids to be had here: a group without its leader is taken at its number.
    const ps = spawnSync("ps", ["-axo", "pid=,pgid=,stat="], { encoding: "utf8", timeout: 2000, env: { PATH: "/bin:/usr/bin" } });
    return (ps.stdout ?? "")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter((f) => Number(f[1]) === leader && !f[2]?.startsWith("Z"))
      .map(() => ({ session: leader }));
  }
  const out: Member[] = [];
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const fields = statFields(pid);
    if (fields !== null && !isDead(fields) && Number(fields[2]) === leader) out.push({ session: Number(fields[3]) });
  }
  return out;
}

/** The fields of /proc/<pid>/stat after the program's name: state, parent, group, session, …, start time at 19. */
function statFields(pid: number): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name may hold spaces and brackets; the last bracket ends it.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return null;
  }
}

function isDead(fields: readonly string[]): boolean {
  return fields[0] === "Z" || fields[0] === "X";
}

let knownBootId: string | undefined;

function bootId(): string {
  if (knownBootId === undefined) {
    try {
      knownBootId = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    } catch {
      knownBootId = "-";
    }
  }
  return knownBootId;
}
