import { readFile } from "node:fs/promises";
import os from "node:os";
import type { Check } from "./check.ts";

/** Oldest Node that the kit runs on. */
const OLDEST_NODE: readonly [number, number] = [20, 19];

/** Whether Node is new enough. */
export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number);
  const good = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  if (good) return { name: "node", state: "ok", message: `Node ${version}` };
  return { name: "node", state: "problem", message: `Node ${version} is too old`, help: `install Node ${OLDEST_NODE.join(".")} or newer` };
}

const WATCHES = { file: "/proc/sys/fs/inotify/max_user_watches", least: 8192, key: "fs.inotify.max_user_watches" };
const INSTANCES = { file: "/proc/sys/fs/inotify/max_user_instances", least: 64, key: "fs.inotify.max_user_instances" };

/** Whether Linux lets enough files be watched; other systems have no such limit. */
export async function checkInotify(read: (file: string) => Promise<string> = (file) => readFile(file, "utf8")): Promise<Check> {
  if (os.platform() !== "linux") return { name: "file watch", state: "ok", message: `no inotify limit on ${os.platform()}` };
  const said: string[] = [];
  for (const { file, least, key } of [WATCHES, INSTANCES]) {
    const limit = Number((await read(file).catch(() => "")).trim() || NaN);
    if (limit < least)
      return {
        name: "file watch",
        state: "warning",
        message: `${key} is only ${limit}`,
        help: `raise it: sudo sysctl ${key}=${least * 8}; until then set watch: poll if edits are not seen`,
      };
    said.push(`${key} ${limit}`);
  }
  return { name: "file watch", state: "ok", message: said.join(", ") };
}

/** The clock cannot be earlier than this release. */
const RELEASED = Date.parse("2026-01-01T00:00:00Z");

/** Whether the clock can be right: not before this release, and not apart from the clock that stamps files (`writtenAt`, if a file was written). */
export function checkClock(now: number, writtenAt: number | null): Check {
  const text = new Date(now).toISOString();
  if (now < RELEASED)
    return {
      name: "clock",
      state: "problem",
      message: `the clock says ${text}, before this release was made`,
      help: "set the clock; expiry of approvals and events goes by it",
    };
  const apart = writtenAt === null ? 0 : Math.abs(now - writtenAt);
  if (apart > 5000)
    return {
      name: "clock",
      state: "warning",
      message: `files are stamped ${Math.round(apart / 1000)}s apart from the clock (${text})`,
      help: "the data folder seems to lie on another machine; set both clocks by a time server",
    };
  return { name: "clock", state: "ok", message: text };
}
