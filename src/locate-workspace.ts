import { readFile } from "node:fs/promises";
import path from "node:path";
import { findTopology, workspaceRoot } from "./files/read-set.ts";

/** Where a workspace is, known without reading its YAML. */
export interface WorkspacePlace {
  /** Absolute. */
  readonly topologyFile: string;
  readonly root: string;
  /** Folder of run-time state, as its plain line says it, else the default. A data_dir with variables in it needs a real load. */
  readonly dataDir: string;
  /**
   * Where a host that was started before data_dir was written may still be. Null where that says nothing: data_dir is the default, or
   * holds variables, so that hosts with other values of them are other workspaces.
   */
  readonly defaultDataDir: string | null;
}

/** Thrown when there is no workspace. The message says what to do. */
export class NoWorkspaceError extends Error {
  override readonly name = "NoWorkspaceError";
}

/** Finds the workspace: the topology file that `topology` names from `cwd`, else the nearest one. Throws a {@link NoWorkspaceError} when there is none. */
export async function locateWorkspace({ cwd, topology }: { readonly cwd: string; readonly topology?: string | undefined }): Promise<WorkspacePlace> {
  const found = await findTopology(cwd, topology);
  if (!found.ok) throw new NoWorkspaceError(found.reason);
  // What cannot be read is told by who loads it; a host that runs is found where it was.
  const text = await readFile(found.file, "utf8").catch(() => "");
  const written = /^[ \t]*["']?data_dir["']?:[ \t]*["']?([^"'#\r\n]+?)["']?[ \t]*,?[ \t]*(?:#.*)?$/m.exec(text)?.[1];
  const at = (dir: string): string => path.resolve(path.dirname(found.file), dir);
  const defaultDir = at("../data");
  const dataDir = written === undefined ? defaultDir : at(written);
  return {
    topologyFile: found.file,
    root: workspaceRoot(found.file),
    dataDir,
    defaultDataDir: dataDir === defaultDir || written?.includes("${") ? null : defaultDir,
  };
}
