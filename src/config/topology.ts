import { dirname, join } from "node:path";
import type { TopologyConfig } from "../../generated/topology.d.ts";
import { errorAt } from "../base/diagnostic-codes.ts";
import type { Diagnostic } from "../base/diagnostics.ts";
import { isObject } from "../base/json.ts";
import { checkFile, placeIn, type CheckedFile } from "./file-reader.ts";
import { foldEnv } from "./merge.ts";
import { resolveAppPaths, resolveTopologyPaths, tildeFinding, type TildePath } from "./paths.ts";
import { schemaShape } from "./shape.ts";
import { withoutHoles } from "./sound.ts";
import { topologyRules } from "./topology-rules.ts";
import type { KeyPath, LoadContext, Origin, SourceText } from "./types.ts";

/** topology.yaml, read: paths absolute, the folders that others need filled in. */
export interface ReadTopology extends CheckedFile {
  readonly config: TopologyConfig | null;
  /** By package, in the order of the file; paths absolute, env folded, nulls kept. */
  readonly entries: ReadonlyMap<string, ReadEntry>;
}

/** One entry under `apps`. Key paths count from the entry. */
export interface ReadEntry {
  readonly settings: Record<string, unknown>;
  readonly origins: readonly Origin[];
  /** Where something in it is wrong, and already told. */
  readonly wrong: readonly KeyPath[];
}

/** Parses and checks topology.yaml. */
export function checkTopology(source: SourceText, context: LoadContext): CheckedFile {
  return checkFile(source, schemaShape("topology.schema.json"), context);
}

/** Reads a checked topology.yaml. */
export function readTopology(file: CheckedFile): ReadTopology {
  const { source } = file;
  if (file.tree?.root.entries.has("nodes")) {
    const graph = errorAt(
      "brain-graph",
      placeIn(file, ["nodes"], "key"),
      `${source.display} is AuroraBot's brain graph (it has "nodes"); this kit reads its own topology.yaml`,
      { path: "nodes", help: ["point --topology at a file that starts with topology: 1, or make one with aurora-mcp init"] },
    );
    return { ...file, diagnostics: [graph], config: null, entries: new Map() };
  }
  const dir = dirname(source.file);
  const usable = isObject(file.sound) ? file.sound : {};
  const { value, tildes } = resolveTopologyPaths(usable, dir);
  const found: TildePath[] = [...tildes];
  const entries = new Map<string, ReadEntry>();
  for (const [name, entry] of Object.entries(isObject(value["apps"]) ? value["apps"] : {})) {
    const resolved = resolveAppPaths(isObject(entry) ? entry : {}, dir);
    found.push(...resolved.tildes.map((t) => ({ ...t, path: ["apps", name, ...t.path] })));
    const origins = file.origins.filter((o) => isIn(o.path, name)).map((o) => ({ ...o, path: o.path.slice(2) }));
    const wrong = [...file.wrong, ...found.map((t) => t.path)].filter((path) => isIn(path, name)).map((path) => path.slice(2));
    entries.set(name, { settings: foldEnv(resolved.value), origins, wrong });
  }
  const diagnostics: Diagnostic[] = [...file.diagnostics, ...found.map((tilde) => tildeFinding(tilde, placeIn(file, tilde.path)))];
  diagnostics.push(...topologyRules(value as unknown as TopologyConfig, file.wrong, (path) => placeIn(file, path)));
  const config = file.tree ? withFolders({ topology: 1, ...(withoutHoles(value) as object) }, dir) : null;
  return { ...file, diagnostics, config, entries };
}

function isIn(path: KeyPath, app: string): boolean {
  return path[0] === "apps" && path[1] === app;
}

/** Fills in the folders whose defaults depend on one another, so that nobody else has to know how. */
function withFolders(topology: TopologyConfig, dir: string): TopologyConfig {
  const dataDir = topology.data_dir ?? join(dir, "..", "data");
  return {
    ...topology,
    data_dir: dataDir,
    inbox: { ...topology.inbox, dir: topology.inbox?.dir ?? join(dataDir, "kernel", "inbox", "pending") },
    audit: { ...topology.audit, file: topology.audit?.file ?? join(dataDir, "audit.jsonl") },
  };
}
