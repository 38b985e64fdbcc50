import { readFileSync } from "node:fs";
import path from "node:path";
import { warningAt } from "../base/diagnostic-codes.ts";
import type { Diagnostic } from "../base/diagnostics.ts";
import { formatPath } from "../config/nodes.ts";
import type { Config, SourceText } from "../config/types.ts";
import { patternTakes } from "./path-glob.ts";
import { displayName, MAX_CONFIG_BYTES, type FilePattern } from "./read-set.ts";
import { createPace, createStats } from "./stats.ts";
import { entriesOf, isYamlName } from "./yaml-entries.ts";

const MAX_DEPTH = 3;
const MAX_ENTRIES = 1_000;
const YAML = /\.ya?ml$/i;
/** Files that are meant to be read or run by hand. */
const BY_HAND = /(?:^|[-_.])(?:example|sample|template|draft|tests?|fixtures?)\.ya?ml$/i;
const OTHER_FOLDERS = /^(?:\..*|node_modules|examples?|tests?|fixtures?)$/i;

type Role = FilePattern["role"];

/** What a file of each role is called, what is lost without it, and the key whose patterns find it. */
const ROLES: Readonly<Record<Role, { readonly looks: string; readonly lost: string; readonly key: "policies" | "signals" | "discover" }>> = {
  policy: { looks: "policy rules", lost: "none of its rules is in force", key: "policies" },
  signals: { looks: "a signal mapping", lost: "none of its rules is in force", key: "signals" },
  manifest: { looks: "a manifest", lost: "its app is not there", key: "discover" },
};

/** Finds configuration files that no pattern takes; files that did not change are not read again. */
export interface UnusedFiles {
  /**
   * Warnings for YAML files which look like the kit's own and that no pattern takes, in the folder of topology.yaml and where patterns begin.
   * The look has bounds, and what cannot be read is passed over. `patternsOf` tells the patterns of another topology file that lies there.
   */
  look(config: Config, patterns: readonly FilePattern[], patternsOf: (topology: SourceText) => readonly FilePattern[]): Promise<Diagnostic[]>;
}

/** Makes a finder with a memory of what files look like. */
export function createUnusedFiles(): UnusedFiles {
  let memory = new Map<string, Look>();
  return {
    async look(config, patterns, patternsOf) {
      const topologyFile = config.topology.source.file;
      const candidates = (await yamlFiles(foldersOf(config, patterns), config.topology.value.data_dir)).filter(
        (file) => file !== topologyFile && !BY_HAND.test(path.basename(file)) && !takenBy(patterns, file),
      );
      const stats = createStats();
      const looks = new Map<string, Look>();
      for (const file of candidates) {
        const info = stats(file);
        if (info === undefined || info instanceof Error || !info.isFile() || info.size > MAX_CONFIG_BYTES) continue;
        const stamp = `${info.ino}:${info.size}:${info.mtimeNs}`;
        const known = memory.get(file);
        looks.set(file, known?.stamp === stamp ? known : { stamp, ...looksLike(file) });
      }
      memory = looks;
      const others = [...looks].flatMap(([file, { topology }]) =>
        topology === undefined ? [] : patternsOf({ file, display: displayName(file, config.root), text: topology }),
      );
      return [...looks].flatMap(([file, { role }]) => (role === null || takenBy(others, file) ? [] : [finding(config, patterns, file, role)]));
    },
  };
}

interface Look {
  readonly stamp: string;
  readonly role: Role | null;
  /** The text of what is another topology. */
  readonly topology?: string;
}

/** What a file is by its top level keys; also where it is no sound YAML. */
function looksLike(file: string): Omit<Look, "stamp"> {
  let text;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return { role: null };
  }
  const keys = new Set([...text.matchAll(/^\uFEFF?(["']?)([A-Za-z_]+)\1[ \t]*:/gm)].map((match) => match[2]!));
  const says = (words: RegExp): boolean => words.test(text);
  if (keys.has("apiVersion")) return { role: null };
  if (keys.has("topology") && (keys.has("discover") || keys.has("apps") || keys.has("policies"))) return { role: null, topology: text };
  if (keys.has("package") && (keys.has("mcp") || says(/^type[ \t]*:[ \t]*["']?mcp-server/m))) return { role: "manifest" };
  if (keys.has("risk_actions") || keys.has("data_flow")) return { role: "policy" };
  if (!keys.has("rules") && !keys.has("mappings")) return { role: null };
  if (says(/[{,\s-]when["']?[ \t]*:/) && says(/[{,\s-](?:emit|drop)["']?[ \t]*:/)) return { role: "signals" };
  return { role: says(/[{,\s-](?:action|risk)["']?[ \t]*:[ \t]*["']?(?:allow|ask|deny|low|medium|high|critical)\b/) ? "policy" : null };
}

function takenBy(patterns: readonly FilePattern[], file: string): boolean {
  return patterns.some(({ pattern }) => patternTakes(pattern, file));
}

/** The folder of topology.yaml; where each pattern begins; and where it would, were it relative to the workspace. */
function foldersOf(config: Config, patterns: readonly FilePattern[]): string[] {
  const dir = path.dirname(config.topology.source.file);
  const bases = patterns.filter(({ role }) => role !== "manifest").map(({ pattern }) => baseOf(pattern));
  const fromRoot = bases.map((base) => path.resolve(config.root, path.relative(dir, base)));
  return [...new Set([dir, ...bases, ...fromRoot, ...patterns.map(({ pattern }) => baseOf(pattern))])];
}

/** The folder in which the first name with a wildcard, or the file, of a pattern is looked for. */
function baseOf(pattern: string): string {
  const names = pattern.split(/[\\/]/);
  const wild = names.findIndex((name) => /[*?]/.test(name));
  return names.slice(0, wild === -1 ? -1 : wild).join(path.sep) || path.parse(pattern).root;
}

/** YAML files under these folders, breadth first; the first folders are looked at first when there is too much. */
async function yamlFiles(folders: readonly string[], dataDir: string | undefined): Promise<string[]> {
  const files: string[] = [];
  const seen = new Set<string>(dataDir === undefined ? [] : [dataDir]);
  const pace = createPace();
  let left = MAX_ENTRIES;
  for (const start of folders) {
    const queue = [{ folder: start, depth: 0 }];
    for (const { folder, depth } of queue) {
      if (seen.has(folder) || left <= 0) continue;
      seen.add(folder);
      const entries = entriesOf(folder);
      // A folder with a topology of its own is another workspace's.
      if (depth > 0 && entries.some(({ name }) => name === "topology.yaml")) continue;
      for (const entry of entries.slice(0, left)) {
        const target = path.join(folder, entry.name);
        if (entry.isDirectory()) {
          if (depth < MAX_DEPTH && !OTHER_FOLDERS.test(entry.name)) queue.push({ folder: target, depth: depth + 1 });
        } else if (isYamlName(entry.name)) files.push(target);
      }
      left -= entries.length;
      await pace();
    }
  }
  return files;
}

function finding(config: Config, patterns: readonly FilePattern[], file: string, role: Role): Diagnostic {
  const { looks, lost, key } = ROLES[role];
  const dir = path.dirname(config.topology.source.file);
  const written = (target: string): string => path.relative(dir, target).replaceAll(path.sep, "/");
  const own = patterns.filter((pattern) => pattern.role === role);
  const renamed = file.replace(YAML, ".yaml");
  const near = own.find(({ pattern }) => patternTakes(pattern, renamed));
  const wider = own.map(({ pattern }) => path.join(baseOf(pattern), "**", path.basename(pattern))).find((pattern) => patternTakes(pattern, file));
  const at = (near ?? own.find(({ pattern }) => isBeside(pattern, file)) ?? own[0])?.path ?? [key];
  const help =
    near === undefined
      ? `add "${written(wider ?? file)}" to ${key}, or give a file that is not meant to hold a name that ends in .example.yaml`
      : `rename it to ${path.basename(renamed)}: the pattern "${written(near.pattern)}" takes it then`;
  return warningAt("unused-file", config.topology.place(at), `no pattern finds ${displayName(file, config.root)}, which looks like ${looks}: ${lost}`, {
    path: formatPath(at),
    help: [help],
  });
}

function isBeside(pattern: string, file: string): boolean {
  return !path.relative(baseOf(pattern), file).startsWith("..");
}
