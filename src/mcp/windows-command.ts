/** How a program is really spawned. */
export interface SpawnLine {
  readonly file: string;
  readonly args: readonly string[];
  /** The arguments are one ready-made command line that must not be quoted again. */
  readonly verbatim: boolean;
}

/**
 * On Windows a `.cmd` or `.bat` runs only through cmd.exe: one verbatim line with an outer pair of quotes (which `/s` takes off), each argument quoted for the
 * program and then escaped for the shell, twice, because a batch file reads its arguments again. Everything else is spawned as it is.
 * Written from Microsoft's rules and tested as text; this project has not run it on Windows.
 */
export function spawnLine(command: string, args: readonly string[], platform: NodeJS.Platform = process.platform, comspec = "cmd.exe"): SpawnLine {
  const batch = /\.(?:cmd|bat)$/i.test(command) || /^(?:npx|npm|pnpm|yarn|corepack)$/i.test(command);
  if (platform !== "win32" || !batch) return { file: command, args, verbatim: false };
  const line = [escapeForShell(quoteIfNeeded(command)), ...args.map((arg) => escapeForShell(escapeForShell(quoteArgument(arg))))].join(" ");
  return { file: comspec, args: ["/d", "/s", "/c", `"${line}"`], verbatim: true };
}

/** Quotes for the argument parser of a Windows program: backslashes count only before a quote. */
function quoteArgument(arg: string): string {
  return `"${arg.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/(\\*)$/, "$1$1")}"`;
}

function quoteIfNeeded(command: string): string {
  return /\s/.test(command) ? `"${command}"` : command;
}

/** A caret in front of every character that cmd.exe would read. */
function escapeForShell(text: string): string {
  return text.replaceAll(/[()\][%!^"`<>&|;, *?]/g, "^$&");
}
