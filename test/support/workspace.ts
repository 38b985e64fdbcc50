import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

/** A workspace in a folder of its own, for one test. */
export interface TestWorkspace {
  readonly root: string;
  readonly topology: string;
  /** Writes a file, by its path from the root; folders are made. */
  write(file: string, text: string): Promise<void>;
  remove(): Promise<void>;
}

/** Makes a workspace with these files; `topology/topology.yaml` should be one of them. */
export async function makeWorkspace(files: Readonly<Record<string, string>>): Promise<TestWorkspace> {
  const root = await mkdtemp(path.join(tmpdir(), "aurora-ws-"));
  const write = async (file: string, text: string): Promise<void> => {
    const target = path.join(root, file);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, text);
  };
  for (const [file, text] of Object.entries(files)) await write(file, text);
  return {
    root,
    topology: path.join(root, "topology", "topology.yaml"),
    write,
    remove: () => rm(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  };
}
