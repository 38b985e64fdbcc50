import { readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../base/errors.ts";
import { isObject, own } from "../base/json.ts";
import { makeFolderSync } from "../base/make-folder.ts";
import { groupAlive, groupIsOwnSession, signalGroup, startTimeOf } from "./process-group.ts";

/** A process named for ever: its pid and when it started. */
interface ProcessRecord {
  readonly pid: number;
  readonly start: string;
}

/** What one host has written down. */
interface HostRecord {
  readonly host: ProcessRecord;
  readonly children: readonly ProcessRecord[];
}

const KILL_WAIT_MS = 500;

/**
 * The process groups that this host has started, also on disk, one file per host in `<dataDir>/run/children/`, so that a later host
 * can end what a dead one left. Windows has no start times to compare: there nothing is written or reaped, and children end with their pipes.
 */
export class Children {
  readonly #folder: string;
  readonly #onProblem: (message: string) => void;
  readonly #groups = new Map<number, string | null>();
  readonly #onExit = (): void => this.killAll();

  /** `onProblem` hears when the record cannot be written; the children run all the same. */
  constructor(dataDir: string, onProblem: (message: string) => void) {
    this.#folder = join(dataDir, "run", "children");
    this.#onProblem = onProblem;
  }

  /** Remembers a group leader that was just spawned. */
  add(pid: number): void {
    if (this.#groups.size === 0) process.on("exit", this.#onExit);
    this.#groups.set(pid, startTimeOf(pid));
    this.#write();
  }

  /** Forgets a leader whose group is gone. */
  remove(pid: number): void {
    if (!this.#groups.delete(pid)) return;
    if (this.#groups.size === 0) process.off("exit", this.#onExit);
    this.#write();
  }

  /** Ends all groups at once, without waiting. */
  killAll(): void {
    for (const pid of this.#groups.keys()) signalGroup(pid, "SIGKILL");
  }

  /** Ends every group that a dead host wrote down; never one of a live host, and never a process that only has the same pid. Gives how many. */
  async reapOrphans(): Promise<number> {
    let reaped = 0;
    for (const name of this.#files()) {
      const path = join(this.#folder, name);
      const record = readRecord(path);
      if (record !== null && startTimeOf(record.host.pid) === record.host.start) continue;
      for (const child of record?.children ?? []) if (await endGroup(child)) reaped += 1;
      rmSync(path, { force: true });
    }
    return reaped;
  }

  #files(): string[] {
    try {
      return readdirSync(this.#folder).filter((name) => name.endsWith(".json"));
    } catch {
      return [];
    }
  }

  // Synchronous: the record must stand before anything can kill this host.
  #write(): void {
    const start = startTimeOf(process.pid);
    if (start === null) return;
    const children: ProcessRecord[] = [];
    for (const [pid, childStart] of this.#groups) if (childStart !== null) children.push({ pid, start: childStart });
    try {
      this.#replaceRecord({ host: { pid: process.pid, start }, children });
    } catch (error) {
      this.#onProblem(`the record of child processes cannot be written; should this host be killed, the next one will not find them: ${messageOf(error)}`);
    }
  }

  #replaceRecord(record: HostRecord): void {
    const path = join(this.#folder, `${process.pid}.json`);
    if (record.children.length === 0) return rmSync(path, { force: true });
    makeFolderSync(this.#folder, 0o700);
    const temporary = `${path}.tmp`;
    writeFileSync(temporary, JSON.stringify(record), { mode: 0o600 });
    renameSync(temporary, path);
  }
}

async function endGroup(leader: ProcessRecord): Promise<boolean> {
  const start = startTimeOf(leader.pid);
  // Another process has the pid now: the old leader is gone, and its group with it, for a pid is not given out again while a group has its number.
  if (start !== null && start !== leader.start) return false;
  if (start === null && !groupIsOwnSession(leader.pid)) return false;
  if (!signalGroup(leader.pid, "SIGTERM")) return false;
  for (let waited = 0; waited < KILL_WAIT_MS && groupAlive(leader.pid); waited += 50) await new Promise((resolve) => setTimeout(resolve, 50));
  if (groupAlive(leader.pid)) signalGroup(leader.pid, "SIGKILL");
  return true;
}

function readRecord(path: string): HostRecord | null {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    const host = readProcess(own(value, "host"));
    const children = own(value, "children");
    if (host === null || !Array.isArray(children)) return null;
    return { host, children: children.map(readProcess).filter((child) => child !== null) };
  } catch {
    return null;
  }
}

function readProcess(value: unknown): ProcessRecord | null {
  const pid = own(value, "pid");
  const start = own(value, "start");
  if (!isObject(value) || typeof start !== "string" || !Number.isSafeInteger(pid) || (pid as number) <= 1) return null;
  return { pid: pid as number, start };
}
