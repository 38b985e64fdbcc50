import { resolve } from "node:path";
import { errorAt } from "../base/diagnostic-codes.ts";
import type { Diagnostic, Place } from "../base/diagnostics.ts";
import { isObject, setOwn } from "../base/json.ts";
import { formatPath } from "./nodes.ts";
import type { KeyPath } from "./types.ts";

/** Where a path that starts with `~` stands. */
export interface TildePath {
  readonly path: KeyPath;
  readonly text: string;
}

/** The finding for a path with `~`: the one rule is that it is never expanded and never taken as it stands. */
export function tildeFinding(tilde: TildePath, place: Place): Diagnostic {
  return errorAt("tilde-path", place, `"${tilde.text}" starts with ~, which only a shell would expand`, {
    path: formatPath(tilde.path),
    help: ["write ${HOME}/… instead"],
  });
}

/** A value with its relative paths made absolute, and the paths that cannot be. */
export interface ResolvedPaths {
  readonly value: Record<string, unknown>;
  readonly tildes: readonly TildePath[];
}

/** Keys under an app that hold a path relative to the file that writes them; `*` is any list index. */
const APP_PATHS: readonly string[] = ["mcp.cwd", "mcp.entry", "mcp.tls.ca", "grants.roots.*"];
const TOPOLOGY_PATHS: readonly string[] = [
  "data_dir",
  "inbox.dir",
  "inbox.receipts",
  "exports.*.file",
  "gateway.clients.*.token_file",
  "gateway.tls.cert",
  "gateway.tls.key",
  "audit.file",
];
/** Words that stand where a path could. */
const NOT_PATHS: Readonly<Record<string, ReadonlySet<string>>> = { "inbox.receipts": new Set(["inbox", "off"]) };

/**
 * The app's settings with cwd, entry, tls.ca and grants.roots resolved against `dir`, the folder of the file that writes them,
 * and so `mcp.command` when it is a relative path (with a slash). Arguments and environment stay as written. A leading `~/` is
 * never expanded: no shell is there to do it, so it is reported.
 */
export function resolveAppPaths(settings: Record<string, unknown>, dir: string): ResolvedPaths {
  const tildes: TildePath[] = [];
  let value = resolveKeys(settings, APP_PATHS, dir, tildes);
  const mcp = value["mcp"];
  if (isObject(mcp)) {
    const command = mcp["command"];
    const list = Array.isArray(command) ? command : [command];
    for (const [index, word] of list.entries())
      if (startsWithTilde(word)) tildes.push({ path: Array.isArray(command) ? ["mcp", "command", index] : ["mcp", "command"], text: word });
    for (const [index, word] of (Array.isArray(mcp["args"]) ? mcp["args"] : []).entries())
      if (startsWithTilde(word)) tildes.push({ path: ["mcp", "args", index], text: word });
    const program: unknown = list[0];
    if (typeof program === "string" && /[/\\]/.test(program) && !startsWithTilde(program)) {
      const absolute = resolve(dir, program);
      value = { ...value, mcp: { ...mcp, command: Array.isArray(command) ? [absolute, ...list.slice(1)] : absolute } };
    }
  }
  return { value, tildes };
}

/** The topology with its own paths resolved against its folder; what stands under `apps` is left to {@link resolveAppPaths}. */
export function resolveTopologyPaths(topology: Record<string, unknown>, dir: string): ResolvedPaths {
  const tildes: TildePath[] = [];
  return { value: resolveKeys(topology, TOPOLOGY_PATHS, dir, tildes), tildes };
}

function startsWithTilde(value: unknown): value is string {
  return typeof value === "string" && /^~(?:[/\\]|$)/.test(value);
}

function resolveKeys(root: Record<string, unknown>, keys: readonly string[], dir: string, tildes: TildePath[]): Record<string, unknown> {
  let out: unknown = root;
  for (const key of keys) {
    out = replaceAt(out, key.split("."), [], (text, path) => {
      if (NOT_PATHS[key]?.has(text) || text.startsWith("file:")) return text;
      if (!startsWithTilde(text)) return resolve(dir, text);
      tildes.push({ path, text });
      return text;
    });
  }
  return out as Record<string, unknown>;
}

/** A copy of a value with the texts at a key pattern replaced; parts that do not change are shared. */
function replaceAt(value: unknown, steps: readonly string[], path: KeyPath, change: (text: string, path: KeyPath) => string): unknown {
  const [step, ...rest] = steps;
  if (step === undefined) return typeof value === "string" ? change(value, path) : value;
  if (step === "*") return Array.isArray(value) ? value.map((item, index) => replaceAt(item, rest, [...path, index], change)) : value;
  if (!isObject(value) || !Object.hasOwn(value, step)) return value;
  const inner = replaceAt(value[step], rest, [...path, step], change);
  if (inner === value[step]) return value;
  const copy = { ...value };
  setOwn(copy, step, inner);
  return copy;
}
