import { open, stat } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../base/errors.ts";
import type { FileSet, KeyPath, ManifestSource, SourceText } from "../config/types.ts";
import { isCode } from "./atomic-write.ts";
import { expandPattern, sortBytewise } from "./path-glob.ts";

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
/** Files that are open at the same time. */
const AT_ONCE = 32;
/** A file that changed less than this long ago is read again even with the same stamp: a second change may bear the same time. */
export const SETTLED_MS = 2000;
const PAUSE_MS = 25;

/** The topology file to use: `explicit` when given, else `topology/topology.yaml` in the start folder or the nearest parent that has one. */
export async function findTopology(
  start: string,
  explicit?: string,
): Promise<{ readonly ok: true; readonly file: string } | { readonly ok: false; readonly reason: string }> {
  if (explicit !== undefined) {
    const file = path.resolve(start, explicit);
    const found = await stat(file).catch(() => null);
    if (found?.isDirectory()) return { ok: false, reason: `${file} is a folder; name the file in it, for example ${path.join(file, "topology.yaml")}` };
    return found ? { ok: true, file } : { ok: false, reason: `${file} does not exist` };
  }
  for (let folder = path.resolve(start); ; folder = path.dirname(folder)) {
    const file = path.join(folder, "topology", "topology.yaml");
    if ((await stat(file).catch(() => null))?.isFile()) return { ok: true, file };
    if (folder === path.dirname(folder)) break;
  }
  return {
    ok: false,
    reason: `no topology/topology.yaml in ${path.resolve(start)} or a folder above it; make one with \`aurora-mcp init\`, or name it with --topology`,
  };
}

/** The workspace of a topology file: the folder that holds `topology/`, or the file's own folder when that has another name. */
export function workspaceRoot(topologyFile: string): string {
  const folder = path.dirname(path.resolve(topologyFile));
  return path.basename(folder) === "topology" ? path.dirname(folder) : folder;
}

/**
 * Reads a workspace as it is at one moment: when a file changes, comes or goes while the set is read, it is read again (a few times).
 * `discoverPatterns` tells from the text of topology.yaml which patterns it names; files that are in `memory` and have not changed are not
 * opened. Gives an error only when topology.yaml itself cannot be read.
 */
export async function readFileSet(
  topologyFile: string,
  discoverPatterns: (topology: SourceText) => readonly FilePattern[],
  memory: TextMemory = new Map(),
): Promise<FileSet | { readonly error: string }> {
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
  readonly result: FileSet | { readonly error: string };
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
  const topology = await readSource(file, root, stamps, memory);
  if ("reason" in topology) return { result: { error: `${topology.display} ${topology.reason}` }, stamps };

  const found = new Map<FilePattern["role"], Map<string, boolean>>([
    ["manifest", new Map()],
    ["policy", new Map()],
    ["signals", new Map()],
  ]);
  const unmatched: { pattern: string; path: KeyPath }[] = [];
  for (const { role, pattern, trusted, path: at } of discoverPatterns(topology)) {
    const { files } = await expandPattern(pattern);
    stamps.patterns.set(pattern, files.join("\0"));
    if (files.length === 0) unmatched.push({ pattern, path: at });
    const of = found.get(role)!;
    for (const match of files) if (match !== file) of.set(match, trusted || (of.get(match) ?? false));
  }

  const unreadable: FileSet["unreadable"][number][] = [];
  const readAll = async (role: FilePattern["role"]): Promise<ManifestSource[]> => {
    const sources: ManifestSource[] = [];
    for (const some of chunks(sortBytewise(found.get(role)!.keys()), AT_ONCE)) {
      for (const source of await Promise.all(some.map((match) => readSource(match, root, stamps, memory)))) {
        if ("reason" in source) unreadable.push({ ...source, role });
        else sources.push({ ...source, trusted: found.get(role)!.get(source.file)! });
      }
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

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}

async function readSource(
  file: string,
  root: string,
  stamps: Stamps,
  memory: TextMemory,
): Promise<SourceText | { readonly file: string; readonly display: string; readonly reason: string }> {
  const display = displayName(file, root);
  const { stamp, changedAt } = await stampOf(file);
  stamps.files.set(file, stamp);
  const known = memory.get(file);
  if (known?.stamp === stamp) return known.source;
  memory.delete(file);
  const settled = changedAt < Date.now() - SETTLED_MS;
  try {
    const handle = await open(file, "r");
    try {
      const info = await handle.stat();
      if (!info.isFile()) return { file, display, reason: "is not a file" };
      if (info.size > MAX_CONFIG_BYTES) return { file, display, reason: "is larger than 1 MiB" };
      const text = decode(await handle.readFile());
      if (text === null) return { file, display, reason: "is not UTF-8 text; save it as UTF-8" };
      if (settled) memory.set(file, { stamp, source: { file, display, text } });
      return { file, display, text };
    } finally {
      await handle.close();
    }
  } catch (error) {
    return { file, display, reason: plainReason(error) };
  }
}

/** How people know a file: relative to the workspace where it lies inside, with forward slashes. */
export function displayName(file: string, root: string): string {
  const relative = path.relative(root, file);
  return relative === "" || relative.startsWith("..") || path.isAbsolute(relative) ? file : relative.replaceAll(path.sep, "/");
}

function decode(bytes: Buffer): string | null {
  // A NUL is the mark of UTF-16 without a byte order mark.
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function plainReason(error: unknown): string {
  if (isCode(error, "ENOENT")) return "does not exist";
  if (isCode(error, "EACCES", "EPERM")) return "cannot be read: permission denied";
  if (isCode(error, "ELOOP")) return "is a symbolic link that leads in a circle";
  return `cannot be read: ${messageOf(error)}`;
}

async function unchanged(stamps: Stamps): Promise<boolean> {
  for (const some of chunks([...stamps.files], AT_ONCE)) {
    const now = await Promise.all(some.map(([file]) => stampOf(file)));
    if (now.some(({ stamp }, i) => stamp !== some[i]![1])) return false;
  }
  for (const [pattern, files] of stamps.patterns) if ((await expandPattern(pattern)).files.join("\0") !== files) return false;
  return true;
}

/** What changes whenever a file's content is written or another file takes its name (links followed). */
async function stampOf(file: string): Promise<{ readonly stamp: string; readonly changedAt: number }> {
  try {
    const s = await stat(file, { bigint: true });
    return { stamp: `${s.dev}:${s.ino}:${s.size}:${s.mtimeNs}:${s.ctimeNs}`, changedAt: Number(s.ctimeMs) };
  } catch {
    return { stamp: "none", changedAt: Infinity };
  }
}
