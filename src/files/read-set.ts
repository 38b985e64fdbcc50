import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { lstat } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { FileSet, KeyPath, ManifestSource, PatternFault, ReadFault, SourceText } from "../config/types.ts";
import { expandPattern, namesOneFile, sortBytewise, type Expansion } from "./path-glob.ts";
import { plainReason } from "./plain-reason.ts";
import { createPace, createStats, type Stats } from "./stats.ts";

/** A file pattern that topology.yaml names, as an absolute path. */
export interface FilePattern {
  readonly role: "manifest" | "policy" | "signals";
  readonly pattern: string;
  /** Whether a discover entry says trusted; false for the other roles. */
  readonly trusted: boolean;
  /** Where it stands in topology.yaml. */
  readonly path: KeyPath;
}

/** Largest configuration file, in bytes (contracts 1). */
export const MAX_CONFIG_BYTES = 1024 * 1024;
const ATTEMPTS = 5;
/** A file that changed less than this long ago is read again even with the same stamp: a second change may bear the same time. */
export const SETTLED_MS = 2000;
const PAUSE_MS = 25;

/** The topology file to use, be it readable or not: `explicit` when given, else `topology/topology.yaml` in the start folder or the nearest parent that has one. */
export async function findTopology(
  start: string,
  explicit?: string,
): Promise<{ readonly ok: true; readonly file: string } | { readonly ok: false; readonly reason: string }> {
  if (explicit !== undefined) {
    const file = path.resolve(start, explicit);
    return (await isThere(file)) ? { ok: true, file } : { ok: false, reason: `${file} does not exist` };
  }
  for (let folder = path.resolve(start); ; folder = path.dirname(folder)) {
    const file = path.join(folder, "topology", "topology.yaml");
    if (await isThere(file)) return { ok: true, file };
    if (folder === path.dirname(folder)) break;
  }
  return {
    ok: false,
    reason: `no topology/topology.yaml in ${path.resolve(start)} or a folder above it; make one with \`aurora-mcp init\`, or name it with --topology`,
  };
}

/** Whether a name is taken, be it by a link that leads nowhere. */
async function isThere(file: string): Promise<boolean> {
  return (await lstat(file).catch(() => null)) !== null;
}

/** The workspace of a topology file: the folder that holds `topology/`, or the file's own folder when that has another name. */
export function workspaceRoot(topologyFile: string): string {
  const folder = path.dirname(path.resolve(topologyFile));
  return path.basename(folder) === "topology" ? path.dirname(folder) : folder;
}

/**
 * Reads a workspace as it is at one moment: when a file changes, comes or goes while the set is read, it is read again (a few times).
 * `discoverPatterns` tells from the text of topology.yaml which patterns it names; files that are in `memory` and have not changed are not
 * opened. Gives the fault of topology.yaml when that itself cannot be read. Files are small and read at once, one after the other (see
 * {@link createStats}), with turns for others in between.
 */
export async function readFileSet(
  topologyFile: string,
  discoverPatterns: (topology: SourceText) => readonly FilePattern[],
  memory: TextMemory = new Map(),
): Promise<FileSet | Unreadable> {
  const file = path.resolve(topologyFile);
  for (let attempt = 1; ; attempt += 1) {
    const reading = await readOnce(file, discoverPatterns, memory);
    for (const known of memory.keys()) if (!reading.stamps.files.has(known)) memory.delete(known);
    if (attempt === ATTEMPTS || (await unchanged(reading.stamps))) return reading.result;
    await sleep(PAUSE_MS);
  }
}

/** Texts by file, with what the file looked like when it was read; {@link readFileSet} keeps it. */
export type TextMemory = Map<string, { readonly stamp: string; readonly source: SourceText }>;

interface Reading {
  readonly result: FileSet | Unreadable;
  /** What must still hold for the reading to be of one moment. */
  readonly stamps: Stamps;
}

interface Stamps {
  readonly files: Map<string, string>;
  readonly patterns: Map<string, string>;
}

async function readOnce(file: string, discoverPatterns: (topology: SourceText) => readonly FilePattern[], memory: TextMemory): Promise<Reading> {
  const root = workspaceRoot(file);
  const stamps: Stamps = { files: new Map(), patterns: new Map() };
  const stats = createStats();
  const read = (name: string): SourceText | Unreadable => readSource(name, root, stats, stamps, memory);
  const topology = read(file);
  if ("fault" in topology) return { result: topology, stamps };

  const found = new Map<FilePattern["role"], Map<string, boolean>>([
    ["manifest", new Map()],
    ["policy", new Map()],
    ["signals", new Map()],
  ]);
  const unmatched: FileSet["unmatched"][number][] = [];
  for (const { role, pattern, trusted, path: at } of discoverPatterns(topology)) {
    const expansion = await expandPattern(pattern, stats);
    const { files } = expansion;
    stamps.patterns.set(pattern, JSON.stringify(expansion));
    const faults = patternFaults({ role, pattern }, expansion, root, stats);
    unmatched.push(...faults.map((fault) => ({ pattern, path: at, fault })));
    if (files.length === 0 && faults.length === 0) unmatched.push({ pattern, path: at });
    const of = found.get(role)!;
    for (const match of files) if (match !== file) of.set(match, trusted || (of.get(match) ?? false));
  }

  const unreadable: FileSet["unreadable"][number][] = [];
  const pace = createPace();
  const readAll = async (role: FilePattern["role"]): Promise<ManifestSource[]> => {
    const sources: ManifestSource[] = [];
    for (const match of sortBytewise(found.get(role)!.keys())) {
      const source = read(match);
      if ("fault" in source) unreadable.push({ ...source, role });
      else sources.push({ ...source, trusted: found.get(role)!.get(source.file)! });
      await pace();
    }
    return sources;
  };
  const manifests = await readAll("manifest");
  const policies = (await readAll("policy")).map(withoutTrust);
  const signals = (await readAll("signals")).map(withoutTrust);
  return { result: { root, topology, manifests, policies, signals, unmatched, unreadable }, stamps };
}

function withoutTrust({ file, display, text }: ManifestSource): SourceText {
  return { file, display, text };
}

/** Why what a pattern stands for is not all there: folders that cannot be looked through, or a policy or signals file that is named outright and missing. */
function patternFaults({ role, pattern }: Pick<FilePattern, "role" | "pattern">, found: Expansion, root: string, stats: Stats): PatternFault[] {
  const faults = found.faults.map(({ code, folder, reason, help }): PatternFault => ({
    code,
    message: `${displayName(folder, root)} ${reason}`,
    ...(help === undefined ? {} : { help }),
  }));
  if (role === "manifest" || faults.length > 0 || found.files.length > 0 || !namesOneFile(pattern)) return faults;
  const name = displayName(pattern, root);
  return stats(pattern) === undefined
    ? [{ code: "file-missing", message: `${name} does not exist`, help: "put the file there, or correct its name or take it out of topology.yaml" }]
    : [{ code: "file-missing", message: `${name} is a folder`, help: `name the files in it, such as ${name}/*.yaml` }];
}

/** A file that gives no text. */
export interface Unreadable {
  readonly file: string;
  readonly display: string;
  readonly fault: ReadFault;
}

function readSource(file: string, root: string, stats: Stats, stamps: Stamps, memory: TextMemory): SourceText | Unreadable {
  const { stamp, changedAt } = stampOf(file, stats);
  stamps.files.set(file, stamp);
  const known = memory.get(file);
  if (known?.stamp === stamp) return known.source;
  memory.delete(file);
  const display = displayName(file, root);
  const settled = changedAt < Date.now() - SETTLED_MS;
  try {
    const text = readText(file);
    if (typeof text !== "string") return { file, display, fault: text };
    const source = { file, display, text };
    if (settled) memory.set(file, { stamp, source });
    return source;
  } catch (error) {
    return { file, display, fault: { code: "file-unreadable", ...plainReason(error) } };
  }
}

/** The text of a file, or why it is none; throws what the system says. */
function readText(file: string): string | ReadFault {
  // Without O_NONBLOCK, to open a named pipe would wait for a writer.
  const handle = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const info = fstatSync(handle);
    if (info.isDirectory()) return { code: "file-unreadable", reason: "is a folder", help: "name the file in it, or put a file in its place" };
    if (!info.isFile()) return { code: "file-unreadable", reason: "is not a file", help: "put a file in its place" };
    if (info.size > MAX_CONFIG_BYTES) return { code: "file-too-large", reason: "is larger than 1 MiB", help: "split it into several files" };
    return decode(readFileSync(handle));
  } finally {
    closeSync(handle);
  }
}

/** How people know a file: relative to the workspace where it lies inside, with forward slashes. */
export function displayName(file: string, root: string): string {
  const relative = path.relative(root, file);
  return relative === "" || relative.startsWith("..") || path.isAbsolute(relative) ? file : relative.replaceAll(path.sep, "/");
}

function decode(bytes: Buffer): string | ReadFault {
  try {
    // A NUL is the mark of UTF-16 without a byte order mark.
    if (!bytes.includes(0)) return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // Told below, with its place.
  }
  const before = /^[^\uFFFD\0]*/.exec(new TextDecoder().decode(bytes))![0].split("\n");
  const at = { line: before.length, column: before.at(-1)!.length + 1 };
  return { code: "not-utf8", reason: "is not UTF-8 text", help: "save it as UTF-8", at };
}

async function unchanged(stamps: Stamps): Promise<boolean> {
  const stats = createStats();
  for (const [pattern, files] of stamps.patterns) if (JSON.stringify(await expandPattern(pattern, stats)) !== files) return false;
  const pace = createPace();
  for (const [file, stamp] of stamps.files) {
    if (stampOf(file, stats).stamp !== stamp) return false;
    await pace();
  }
  return true;
}

/** What changes whenever a file's content is written or another file takes its name (links followed). */
function stampOf(file: string, stats: Stats): { readonly stamp: string; readonly changedAt: number } {
  const s = stats(file);
  return s && !(s instanceof Error)
    ? { stamp: `${s.dev}:${s.ino}:${s.size}:${s.mtimeNs}:${s.ctimeNs}`, changedAt: Number(s.ctimeMs) }
    : { stamp: "none", changedAt: Infinity };
}
