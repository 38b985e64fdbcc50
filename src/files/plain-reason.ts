import { messageOf } from "../base/errors.ts";
import { isCode } from "./atomic-write.ts";

/** Why a file or folder cannot be used, as it follows the name, and what mends it. */
export interface PlainReason {
  readonly reason: string;
  readonly help?: string;
}

/** What the system says about a file or folder, in plain words. */
export function plainReason(error: unknown): PlainReason {
  if (isCode(error, "ENOENT")) return { reason: "does not exist", help: "if it is a symbolic link, look where it leads" };
  if (isCode(error, "EACCES", "EPERM")) return { reason: "cannot be read: permission denied", help: "let the user who runs aurora-mcp read it" };
  if (isCode(error, "EISDIR")) return { reason: "is a folder, not a file" };
  if (isCode(error, "ELOOP")) return { reason: "is a symbolic link that leads in a circle", help: "put a file or folder in its place" };
  if (isCode(error, "EMFILE", "ENFILE"))
    return { reason: "cannot be read: too many open files", help: "raise the limit (`ulimit -n`); it is tried again meanwhile" };
  return { reason: `cannot be read: ${messageOf(error)}` };
}
