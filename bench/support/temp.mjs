import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const folders = new Set();

/** A folder for this run. */
export function tempFolder() {
  const folder = mkdtempSync(path.join(tmpdir(), "aurora-bench-"));
  folders.add(folder);
  return folder;
}

/** Removes every folder that this process made. */
export function removeTempFolders() {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  folders.clear();
}
