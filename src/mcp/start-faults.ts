import { existsSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { StartError } from "../runtime/ports.ts";

/** What was asked to be started, for messages. */
export interface StartSubject {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The PATH that the child gets. */
  readonly path: string | undefined;
}

/** Throws a StartError when the working directory cannot be used; the system's own error would name the program instead. */
export function checkCwd(cwd: string): void {
  let problem: string | undefined;
  try {
    if (!statSync(cwd).isDirectory()) problem = "is not a folder";
  } catch (error) {
    problem = (error as NodeJS.ErrnoException).code === "ENOENT" ? "does not exist" : `cannot be read (${(error as NodeJS.ErrnoException).code})`;
  }
  if (problem !== undefined) throw new StartError(`the working directory ${cwd} ${problem}; set mcp.cwd`, { retry: false });
}

/** The StartError for a spawn that the system refused. Program not found, not executable and the like are faults of the configuration: not retried. */
export function spawnFault(error: NodeJS.ErrnoException, subject: StartSubject): StartError {
  const { command } = subject;
  const named = command.includes("/") || command.includes("\\");
  const options = { retry: false, cause: error };
  switch (error.code) {
    case "ENOENT":
      if (named && existsSync(resolve(subject.cwd, command))) {
        return new StartError(`${command} exists, but the interpreter that its first line names was not found`, options);
      }
      if (named) return new StartError(`program not found: ${command}${isAbsolute(command) ? "" : ` (under ${subject.cwd})`}; check mcp.command`, options);
      return new StartError(
        `program not found: "${command}" is in no folder of PATH (${subject.path === undefined || subject.path === "" ? "which is empty" : subject.path}); write its absolute path in mcp.command, or set PATH under mcp.env`,
        options,
      );
    case "EACCES":
    case "EPERM":
      return new StartError(`${command} may not be executed (${error.code}); make it executable, or name its interpreter in mcp.command`, options);
    case "ENOEXEC":
    case "ENOTDIR":
    case "E2BIG":
    case "EINVAL":
    case "UNKNOWN":
      return new StartError(`${command} cannot be executed (${error.code})`, options);
    default:
      return new StartError(`${command} could not be started: ${error.message}`, { retry: true, cause: error });
  }
}

const FILE_LIKE = /\.(?:py|m?js|cjs|ts|sh|rb|jar|php|pl|json|ya?ml|toml)$/i;
const PARENTS = 3;

/** A hint for every file named in the arguments that does not exist under `cwd` but does elsewhere: above it, in this process's own folder, or beside the manifest. */
export function misplacedFileHints(subject: StartSubject, otherFolders: readonly string[]): string[] {
  const hints: string[] = [];
  const folders = [...parentsOf(subject.cwd), ...otherFolders];
  for (const arg of [subject.command, ...subject.args]) {
    const fileLike = arg.includes("/") ? !arg.includes("://") && !arg.startsWith("-") && !arg.startsWith("@") : FILE_LIKE.test(arg);
    if (!fileLike || isAbsolute(arg) || existsSync(resolve(subject.cwd, arg))) continue;
    const found = folders.flatMap((folder) => [join(folder, arg), join(folder, basename(arg))]).find((path) => existsSync(path));
    if (found !== undefined)
      hints.push(`"${arg}" does not exist under the working directory ${subject.cwd}, but ${found} does; set mcp.cwd or write the absolute path`);
  }
  return hints;
}

function parentsOf(folder: string): string[] {
  const out: string[] = [];
  for (let at = dirname(folder); out.length < PARENTS && at !== (out.at(-1) ?? folder); at = dirname(at)) out.push(at);
  return out;
}
