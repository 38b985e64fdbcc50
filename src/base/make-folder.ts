import { mkdirSync, statSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import path from "node:path";

/**
 * Makes a folder with all that is missing above it (`mode` for each that is made); one that is there already is well. Throws the system's
 * error where that cannot be. Node's own recursive mkdir never ends below a folder that says ENOENT to every new name, such as /proc.
 */
export async function makeFolder(folder: string, mode?: number): Promise<void> {
  try {
    await mkdir(folder, { mode });
  } catch (error) {
    if (await stat(folder).then(isFolder, () => false)) return;
    const above = path.dirname(folder);
    if (!isMissing(error) || above === folder) throw error;
    await makeFolder(above, mode);
    await mkdir(folder, { mode }).catch(async (again: unknown) => {
      // Somebody else may have made it meanwhile.
      if (!(await stat(folder).then(isFolder, () => false))) throw again;
    });
  }
}

/** As {@link makeFolder}, at once. */
export function makeFolderSync(folder: string, mode?: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (isFolderSync(folder)) return;
    const above = path.dirname(folder);
    if (!isMissing(error) || above === folder) throw error;
    makeFolderSync(above, mode);
    try {
      mkdirSync(folder, { mode });
    } catch (again) {
      if (!isFolderSync(folder)) throw again;
    }
  }
}

function isFolder(found: { isDirectory(): boolean }): boolean {
  return found.isDirectory();
}

function isFolderSync(folder: string): boolean {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === "ENOENT";
}
