import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeFolder, makeFolderSync } from "../../src/base/make-folder.ts";
import { builtCli, projectRoot } from "../support/built-cli.ts";

let root: string;
beforeEach(async () => void (root = await mkdtemp(path.join(os.tmpdir(), "aurora-folder-"))));
afterEach(() => rm(root, { recursive: true, force: true }));

const ways: readonly [string, (folder: string, mode?: number) => Promise<void>][] = [
  ["makeFolder", makeFolder],
  ["makeFolderSync", async (folder, mode) => makeFolderSync(folder, mode)],
];

test.each(ways)("%s makes what is missing, with the mode, and leaves what is there", async (_name, make) => {
  const folder = path.join(root, "a", "b", "c");
  await Promise.all([make(folder, 0o700), make(folder, 0o700), make(path.join(root, "a", "d"), 0o700)]);
  await make(folder, 0o755);
  expect((await readdir(path.join(root, "a"))).sort()).toEqual(["b", "d"]);
  if (process.platform !== "win32") for (const made of [folder, path.dirname(folder)]) expect((await stat(made)).mode & 0o777).toBe(0o700);
  await make(path.parse(root).root);
});

test.each(ways)("%s throws where a file is in the way", async (_name, make) => {
  await writeFile(path.join(root, "file"), "");
  await expect(make(path.join(root, "file"))).rejects.toMatchObject({ code: "EEXIST" });
  await expect(make(path.join(root, "file", "a"))).rejects.toMatchObject({ code: expect.stringMatching(/ENOTDIR|EEXIST|ENOENT/) });
});

// In a process of its own: what is looked for here is a loop that no timer of this process could end.
test.runIf(process.platform === "linux").each(ways.map(([name]) => name))("%s ends below /proc, where Node's own spins", { timeout: 180_000 }, async (name) => {
  const built = path.join(path.dirname(await builtCli()), "..", "base", "make-folder.js");
  const script = `import { ${name} } from ${JSON.stringify(built)}; try { await ${name}("/proc/nope/a/b"); } catch (error) { process.stdout.write(error.code); }`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], { timeout: 60_000, killSignal: "SIGKILL" });
  expect(stdout).toBe("ENOENT");
});

test("nothing in src/ makes folders in Node's way", async () => {
  const src = path.join(projectRoot, "src");
  for (const entry of await readdir(src, { recursive: true, withFileTypes: true })) {
    if (!entry.name.endsWith(".ts")) continue;
    const file = path.join(entry.parentPath, entry.name);
    expect(await readFile(file, "utf8"), file).not.toMatch(/mkdir(Sync)?\([^;]*recursive/);
  }
});
