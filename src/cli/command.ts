import type { Command } from "commander";
import type { Context, GlobalOptions } from "./context.ts";

/** What one command is: its words, its help, and what it does. */
export interface CommandSpec<O extends object = object> {
  /** Words and arguments, for example `tools show <tool>`. */
  readonly usage: string;
  readonly summary: string;
  /** Full command lines shown under `--help`. */
  readonly examples: readonly [string, ...string[]];
  /** More words for `--help`, between the summary and the options. */
  readonly details?: string;
  /** Options beside the global ones. */
  readonly options?: (command: Command) => Command;
  /** Does it; the number is the exit code, nothing is 0. Faults are thrown. */
  readonly run: (context: Context, options: O & GlobalOptions, args: readonly string[]) => Promise<number | void>;
}

/** A spec whose option type has been checked where it was written; the program keeps them in one list. */
export interface AnyCommandSpec extends Omit<CommandSpec, "run"> {
  readonly run: (context: Context, options: never, args: readonly string[]) => Promise<number | void>;
}

/** Declares a command with the type of its options. */
export function defineCommand<O extends object = object>(spec: CommandSpec<O>): AnyCommandSpec {
  return spec;
}

/** Collects a repeatable option into a list. */
export function collect(value: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), value];
}
