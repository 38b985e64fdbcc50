import { dirname, resolve } from "node:path";
import { errorAt } from "../base/diagnostic-codes.ts";
import { hasErrors, type Diagnostic, type Place } from "../base/diagnostics.ts";
import { messageOf } from "../base/errors.ts";
import { checkValue } from "./check.ts";
import type { VariableSource } from "./interpolate.ts";
import { nodeAt, spanAt } from "./nodes.ts";
import { parseParts, type ParsedParts, type ParsedText } from "./parse.ts";
import type { Shape } from "./shape.ts";
import type { KeyPath, Loaded, LoadContext, Origin, ReadFault, SourceText } from "./types.ts";

/** A file that was parsed and checked. */
export interface CheckedFile {
  readonly source: SourceText;
  /** Absent when the text is not YAML. */
  readonly tree: ParsedText | undefined;
  /** The usable part of the value; undefined when there is none. */
  readonly value: unknown;
  /** All that is sound in it, for further checks; see {@link CheckResult}. */
  readonly sound: unknown;
  readonly diagnostics: readonly Diagnostic[];
  readonly origins: readonly Origin[];
  readonly wrong: readonly KeyPath[];
  readonly reads: Reads;
}

/** Variables by name, and secret files as `file:<absolute path>`, that went into a value, with what they held. */
export type Reads = ReadonlyMap<string, string | undefined>;

/** Parses (unless that is done) and checks one file. `context` null means that the file is not interpolated. */
export function checkFile(source: SourceText, shape: Shape, context: LoadContext | null, parsed: ParsedParts = parseParts(source)): CheckedFile {
  const { tree, diagnostics } = parsed;
  if (!tree) return { source, tree, value: undefined, sound: undefined, diagnostics, origins: [], wrong: [[]], reads: new Map() };
  const reads = new Map<string, string | undefined>();
  const checked = checkValue(tree, shape, context && variablesFor(source.file, context, reads));
  return { source, tree, ...checked, diagnostics: [...diagnostics, ...checked.diagnostics], reads };
}

/** Variables as one file sees them: paths of `${file:…}` are relative to it. Everything asked for is noted in `reads`. */
export function variablesFor(file: string, context: LoadContext, reads: Map<string, string | undefined> = new Map()): VariableSource {
  return {
    variable: (name) => {
      const value = readInput(name, context);
      reads.set(name, value);
      return value;
    },
    file: (path) => {
      const name = `${FILE_PREFIX}${resolve(dirname(file), path)}`;
      const found = readInput(name, context) ?? "";
      reads.set(name, found);
      if (found.startsWith("failed:")) throw new Error(found.slice("failed:".length));
      return found.slice("read:".length);
    },
  };
}

/** The place of a key path in a checked file. */
export function placeIn(file: CheckedFile, path: KeyPath, what: "key" | "value" = "value"): Place {
  if (!file.tree) return { file: file.source.display, line: 1, column: 1, endLine: 1, endColumn: 1 };
  return file.tree.locator.place(spanAt(file.tree.root, path, what));
}

/** The finding for a file that gives no text. */
export function unreadableFinding({ display, fault }: { readonly display: string; readonly fault: ReadFault }): Diagnostic {
  const { line, column } = fault.at ?? { line: 1, column: 1 };
  const place = { file: display, line, column, endLine: line, endColumn: column };
  return errorAt(fault.code, place, `${display} ${fault.reason}`, fault.help === undefined ? {} : { help: [fault.help] });
}

/** Whether a key path is written in a checked file. */
export function isWritten(file: CheckedFile, path: KeyPath): boolean {
  return file.tree !== undefined && nodeAt(file.tree.root, path) !== undefined;
}

/** The loaded form of a file, with what is wrong in it; undefined when nothing of it is sound. */
export function toLoaded<T>(file: CheckedFile): Loaded<T> | undefined {
  if (file.sound === undefined) return undefined;
  const wrong = hasErrors(file.diagnostics) ? { wrong: file.wrong } : {};
  return { source: file.source, value: file.sound as T, place: (path, what) => placeIn(file, path, what), ...wrong };
}

/** Whatever is made of a file, with what it read besides the file. */
interface MadeOfFile {
  readonly reads: Reads;
}

interface Remembered<T> {
  readonly source: SourceText;
  readonly value: T;
}

/** Remembers what was made of files, by file, until a file's text, a variable or a secret file that it used changes. */
export class FileMemory<T extends MadeOfFile> {
  #before = new Map<string, Remembered<T>>();
  #now = new Map<string, Remembered<T>>();

  /** Starts a load; what the last one did not use is forgotten. */
  begin(): void {
    this.#before = this.#now;
    this.#now = new Map();
  }

  /** What was made of this file before, or what `make` makes of it now. */
  recall(source: SourceText, context: LoadContext, make: (source: SourceText, context: LoadContext) => T): T {
    const known = this.#before.get(source.file);
    const value = known && isSame(known, source, context) ? known.value : make(source, context);
    this.#now.set(source.file, { source, value });
    return value;
  }
}

/** Texts are compared as they are: that costs no more than hashing them. */
function isSame(known: Remembered<MadeOfFile>, source: SourceText, context: LoadContext): boolean {
  if (known.source.text !== source.text || known.source.display !== source.display) return false;
  for (const [name, value] of known.value.reads) if (readInput(name, context) !== value) return false;
  return true;
}

const FILE_PREFIX = "file:";

/** A variable's value, or a secret file's text behind a mark that tells it from a failure. */
function readInput(name: string, context: LoadContext): string | undefined {
  if (!name.startsWith(FILE_PREFIX)) return Object.hasOwn(context.env, name) ? context.env[name] : undefined;
  try {
    return `read:${context.readSecretFile(name.slice(FILE_PREFIX.length))}`;
  } catch (error) {
    return `failed:${messageOf(error)}`;
  }
}
