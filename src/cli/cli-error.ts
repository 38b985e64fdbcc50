/** Exit codes of every command (contracts 9, 10). `changes` is `plan`'s own: the plan is good and not empty. */
export const EXIT = { ok: 0, problems: 1, couldNotRun: 2, changes: 2, noHost: 3, interrupted: 130, terminated: 143 } as const;

/** Ends a command with a sentence on stderr and an exit code. The sentence says what is wrong and how to mend it. */
export class CliError extends Error {
  readonly exitCode: number;
  constructor(message: string, exitCode: number = EXIT.couldNotRun) {
    super(message);
    this.name = "CliError";
    this.exitCode = exitCode;
  }
}
