// A copy of this repository's workspace in a folder of its own, so that an example leaves the data of a running host alone.
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** Gives the path of its topology.yaml, and a function that takes the copy away. */
export async function scratchWorkspace() {
  const repository = fileURLToPath(new URL("..", import.meta.url));
  const root = await mkdtemp(path.join(tmpdir(), "aurora-example-"));
  for (const folder of ["topology", "apps"]) await cp(path.join(repository, folder), path.join(root, folder), { recursive: true });
  for (const folder of ["dist", "node_modules"]) await symlink(path.join(repository, folder), path.join(root, folder), "junction");
  return { topology: path.join(root, "topology/topology.yaml"), remove: () => rm(root, { recursive: true, force: true }) };
}
