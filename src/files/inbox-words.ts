import { messageOf } from "../base/errors.ts";
import { isCode } from "./atomic-write.ts";

/** The same message again and again, as from a full disk, is told once. */
export function onceInARow(tell: (message: string) => void): (message: string) => void {
  let last = "";
  return (message) => {
    if (message !== last) tell((last = message));
  };
}

/** Why files cannot be made in a folder, for people; equal causes give equal words, whatever the file was called that could not be made. */
export function plainFault(dir: string, fault: unknown): string {
  if (isCode(fault, "ENOENT")) return `${dir} is not there and cannot be made`;
  if (isCode(fault, "ENOSPC", "EDQUOT")) return `the disk of ${dir} is full`;
  if (isCode(fault, "EROFS")) return `${dir} is on a read-only file system`;
  if (isCode(fault, "EACCES", "EPERM")) return `${dir} cannot be written: permission denied`;
  if (isCode(fault, "ENOTDIR", "EEXIST")) return `${dir} is not a folder`;
  const { syscall } = fault as NodeJS.ErrnoException;
  // A system error goes on with the call and its paths.
  return `${dir}: ${syscall === undefined ? messageOf(fault) : messageOf(fault).split(`, ${syscall}`)[0]!}`;
}
