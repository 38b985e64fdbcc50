import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import path from "node:path";
import { InvalidArgumentError } from "commander";
import { messageOf } from "../base/errors.ts";
import { parseExact } from "../base/exact-json.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { plainReason } from "../files/plain-reason.ts";
import { CliError } from "./cli-error.ts";
import type { Context } from "./context.ts";

/** What a JSON object of the command line is, for its faults. */
interface Wanted {
  /** What it holds: `arguments`. */
  readonly what: string;
  /** How to write it. */
  readonly example: string;
}

const ARGUMENTS: Wanted = { what: "arguments", example: `--args '{"city": "Oslo"}'` };

/** A JSON object of the command line, as `--args` takes it: JSON text, `@file`, or `-` for stdin. Absent is `{}`. Throws a {@link CliError} for anything else. */
export async function readArguments(context: Context, source: string | undefined, wanted = ARGUMENTS): Promise<JsonObject> {
  if (source === undefined) return {};
  const { what, example } = wanted;
  const from = source === "-" ? "stdin" : source.startsWith("@") ? source.slice(1) : "the command line";
  const written = await readSource(context, source, what);
  let value: unknown;
  try {
    value = parseExact(written);
  } catch (error) {
    throw new CliError(`the ${what} from ${from}: not JSON: ${messageOf(error)}\n  write an object in single quotes: ${example}`);
  }
  if (!isObject(value)) throw new CliError(`the ${what} from ${from} must be a JSON object: ${example}`);
  return value as JsonObject;
}

async function readSource(context: Context, source: string, what: string): Promise<string> {
  if (source === "-") return text(process.stdin);
  if (!source.startsWith("@")) return source;
  return readGiven(context, source.slice(1), what);
}

/** The text of a file that the command line names. Throws a {@link CliError} that says what it should have held, which file it is and why it cannot be read. */
export async function readGiven(context: Context, name: string, what: string): Promise<string> {
  const file = path.resolve(context.cwd, name);
  return readFile(file, "utf8").catch((error: unknown) => {
    throw new CliError(`cannot read the ${what}: ${file} ${plainReason(error).reason}`);
  });
}

/** `NAME=VALUE` words as a map; the value may hold more `=`. Throws a {@link CliError} for a word without `=`. */
export function readPairs(words: readonly string[], option: string): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (const word of words) {
    const at = word.indexOf("=");
    if (at <= 0) throw new CliError(`${option} ${word}: write it as NAME=VALUE`);
    Object.defineProperty(pairs, word.slice(0, at), { value: word.slice(at + 1), enumerable: true, writable: true, configurable: true });
  }
  return pairs;
}

/** Makes the parser of an option that takes a whole number, at least `least`. It throws what Commander turns into one line and exit code 2. */
export function wholeNumber(least = 1): (value: string) => number {
  return (value) => {
    const count = Number(value);
    if (!/^\d{1,9}$/.test(value) || count < least) throw new InvalidArgumentError(`Write a whole number, ${least} or more.`);
    return count;
  };
}
