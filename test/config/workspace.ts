import { loadConfig } from "../../src/config/load.ts";
import type { FileSet, LoadContext, LoadResult, SourceText } from "../../src/config/types.ts";

/** A workspace in memory: file names relative to its root, with their texts. */
export interface Workspace {
  readonly files: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Secret files by absolute path. */
  readonly secretFiles?: Readonly<Record<string, string>>;
  /** Whether the manifests were found by a trusted discover entry. */
  readonly trusted?: boolean;
}

export const ROOT = "/ws";

/** The file set of a workspace: manifests, policies and signals by where they lie. */
export function fileSet({ files, trusted = false }: Workspace): FileSet {
  const source = (display: string): SourceText => ({ file: `${ROOT}/${display}`, display, text: files[display]! });
  const names = Object.keys(files).sort();
  const under = (folder: string): SourceText[] => names.filter((name) => name.startsWith(folder)).map(source);
  return {
    root: ROOT,
    topology: source("topology/topology.yaml"),
    manifests: under("apps/").map((manifest) => ({ ...manifest, trusted })),
    policies: under("topology/policies/"),
    signals: under("topology/signals/"),
    unmatched: [],
    unreadable: [],
  };
}

export function contextOf({ env = {}, secretFiles = {} }: Partial<Workspace>): LoadContext {
  return {
    env,
    readSecretFile: (file) => {
      if (!Object.hasOwn(secretFiles, file)) throw new Error("no such file");
      return secretFiles[file]!;
    },
  };
}

export function load(workspace: Workspace): LoadResult {
  return loadConfig(fileSet(workspace), contextOf(workspace));
}

/** A workspace of one manifest beside a topology that adds nothing. */
export function withManifest(text: string, more: Partial<Workspace> = {}): Workspace {
  return { ...more, files: { "topology/topology.yaml": "topology: 1\n", "apps/demo/manifest.yaml": text, ...more.files } };
}

/** A workspace of one topology.yaml. */
export function withTopology(text: string, more: Partial<Workspace> = {}): Workspace {
  return { ...more, files: { "topology/topology.yaml": text, ...more.files } };
}

/** Findings as one line each: `file:line:column severity[code] message | label | help`. */
export function lines(result: Pick<LoadResult, "diagnostics">): string[] {
  return result.diagnostics.map(
    (d) =>
      `${d.place ? `${d.place.file}:${d.place.line}:${d.place.column}` : "-"} ${d.severity}[${d.code}] ${[d.message, d.label, ...(d.help ?? [])].filter(Boolean).join(" | ")}`,
  );
}
