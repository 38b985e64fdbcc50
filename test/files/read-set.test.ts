import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdir, rename, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { FileSet } from "../../src/config/types.ts";
import { expandPattern, isIgnoredName } from "../../src/files/path-glob.ts";
import { findTopology, readFileSet, SETTLED_MS, workspaceRoot, type FilePattern, type TextMemory } from "../../src/files/read-set.ts";
import { builtCli } from "../support/built-cli.ts";
import { testFolder } from "./support/inbox.ts";

/** Writes files given by relative path; folders come by themselves. */
async function tree(root: string, files: Record<string, string | Buffer>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), content);
  }
}

async function matches(root: string, pattern: string): Promise<string[]> {
  return (await expandPattern(path.join(root, pattern))).files.map((f) => path.relative(root, f));
}

describe("patterns", () => {
  test("stars, question marks and folders in between; a leading dot only when asked for", async () => {
    const root = await testFolder();
    await tree(root, {
      "apps/a/manifest.yaml": "",
      "apps/b/manifest.yaml": "",
      "apps/b/x/manifest.yaml": "",
      "apps/.h/manifest.yaml": "",
      "apps/c/other.yaml": "",
      "apps/node_modules/m/manifest.yaml": "",
    });
    expect(await matches(root, "apps/*/manifest.yaml")).toEqual(["apps/a/manifest.yaml", "apps/b/manifest.yaml"]);
    expect(await matches(root, "apps/?/*.yaml")).toEqual(["apps/a/manifest.yaml", "apps/b/manifest.yaml", "apps/c/other.yaml"]);
    expect(await matches(root, "**/manifest.yaml")).toEqual(["apps/a/manifest.yaml", "apps/b/manifest.yaml", "apps/b/x/manifest.yaml"]);
    expect(await matches(root, "apps/.*/manifest.yaml")).toEqual(["apps/.h/manifest.yaml"]);
    expect(await matches(root, "apps/a/manifest.yaml")).toEqual(["apps/a/manifest.yaml"]);
    expect(await matches(root, "apps/a")).toEqual([]);
    expect(await matches(root, "none/*/x")).toEqual([]);
  });

  test("the order is that of the bytes", async () => {
    const root = await testFolder();
    await tree(root, { "c/10-a.yaml": "", "c/9-a.yaml": "", "c/Z.yaml": "", "c/a.yaml": "", "c/é.yaml": "", "c/𝒳.yaml": "", "c/\uffee.yaml": "" });
    expect(await matches(root, "c/*.yaml")).toEqual(["c/10-a.yaml", "c/9-a.yaml", "c/Z.yaml", "c/a.yaml", "c/é.yaml", "c/\uffee.yaml", "c/𝒳.yaml"]);
  });

  test.each(["topology.yaml~", ".topology.yaml.swp", ".x.swo", "4913", "#topology.yaml#", ".#x", "a.bak", "a.orig", "a.tmp"])(
    "%s is never loaded",
    async (name) => {
      expect(isIgnoredName(name)).toBe(true);
      const root = await testFolder();
      await tree(root, { [`c/${name}`]: "", "c/good.yaml": "" });
      expect(await matches(root, "c/*")).toEqual(["c/good.yaml"]);
      expect(await matches(root, "c/**")).toEqual(["c/good.yaml"]);
    },
  );

  test("links that lead in a circle end", async () => {
    const root = await testFolder();
    await tree(root, { "a/manifest.yaml": "" });
    await symlink("..", path.join(root, "a", "up"));
    await symlink("self", path.join(root, "self"));
    expect(await matches(root, "**/manifest.yaml")).toEqual(["a/manifest.yaml"]);
  });

  test("a folder is found by its own name before it is found through a link further down", async () => {
    const root = await testFolder();
    await tree(root, { "a/deep/x": "", "z/manifest.yaml": "" });
    await symlink("../../z", path.join(root, "a", "deep", "link"));
    expect(await matches(root, "**/manifest.yaml")).toEqual(["z/manifest.yaml"]);
  });

  test("says in which folders a change would matter, the nearest parent for a missing one", async () => {
    const root = await testFolder();
    await tree(root, { "apps/a/manifest.yaml": "" });
    const folders = async (pattern: string): Promise<string[]> =>
      [...(await expandPattern(path.join(root, pattern))).folders].map((f) => path.relative(root, f));
    expect(await folders("apps/*/manifest.yaml")).toEqual(["apps", "apps/a"]);
    expect(await folders("later/deep/*.yaml")).toEqual([""]);
  });
});

describe.skipIf(process.platform === "win32")("folders that cannot be looked through are told, never taken for empty", () => {
  const faults = async (root: string, pattern: string): Promise<string[]> =>
    (await expandPattern(path.join(root, pattern))).faults.map((f) => `${f.code}: ${path.relative(root, f.folder)} ${f.reason}`);

  test("a folder that is not there is none", async () => {
    const root = await testFolder();
    await tree(root, { "a/x.yaml": "" });
    for (const pattern of ["none/*.yaml", "none/**", "a/none.yaml", "*/none/*.yaml"]) expect(await faults(root, pattern)).toEqual([]);
  });

  test("a link that leads nowhere or in a circle, and a file in a folder's place", async () => {
    const root = await testFolder();
    await tree(root, { file: "", "apps/readme.md": "" });
    await symlink("gone", path.join(root, "dangling"));
    await symlink("loop", path.join(root, "loop"));
    await symlink("gone", path.join(root, "apps", "a"));
    expect(await faults(root, "file/*.yaml")).toEqual(["folder-unreadable: file is not a folder"]);
    expect(await faults(root, "dangling/*.yaml")).toEqual(["folder-unreadable: dangling is a symbolic link that leads nowhere"]);
    expect(await faults(root, "loop/**/x.yaml")).toEqual(["folder-unreadable: loop is a symbolic link that leads in a circle"]);
    for (const pattern of ["apps/*/manifest.yaml", "apps/**/manifest.yaml"])
      expect(await faults(root, pattern)).toEqual(["folder-unreadable: apps/a is a symbolic link that leads nowhere"]);
    // It is told as a file that cannot be read, and only so.
    expect([await faults(root, "apps/**"), await matches(root, "apps/**")]).toEqual([[], ["apps/a", "apps/readme.md"]]);
  });

  test("no descriptors are left", async () => {
    const root = await testFolder();
    await tree(root, { "policies/deny.yaml": "" });
    const built = path.join(path.dirname(await builtCli()), "../files/path-glob.js");
    const script = `
      const { expandPattern } = await import(${JSON.stringify(built)});
      const fs = await import("node:fs");
      try { for (;;) fs.openSync("/dev/null"); } catch {}
      fs.writeSync(1, JSON.stringify(await expandPattern(${JSON.stringify(path.join(root, "policies/*.yaml"))})));`;
    const out = execFileSync("sh", ["-c", 'ulimit -n 64; exec "$0" --input-type=module -e "$1"', process.execPath, script], { encoding: "utf8" });
    expect(JSON.parse(out)).toMatchObject({ files: [], faults: [{ folder: path.join(root, "policies"), reason: "cannot be read: too many open files" }] });
  });

  test("deeper than is looked", async () => {
    const root = await testFolder();
    await tree(root, { [`${"d/".repeat(26)}deny.yaml`]: "" });
    expect(await faults(root, "**/deny.yaml")).toEqual([expect.stringMatching(/^pattern-too-wide: (d\/)+d is not looked through: .* 24 folders deep/)]);
  });
});

describe("finding the topology", () => {
  test("in this folder, in a parent, or by name", async () => {
    const root = await testFolder();
    await tree(root, { "topology/topology.yaml": "", "a/b/x": "", "other.yaml": "" });
    const file = path.join(root, "topology", "topology.yaml");
    expect(await findTopology(root)).toEqual({ ok: true, file });
    expect(await findTopology(path.join(root, "a", "b"))).toEqual({ ok: true, file });
    expect(await findTopology(root, "other.yaml")).toEqual({ ok: true, file: path.join(root, "other.yaml") });
    expect(await findTopology(root, "gone.yaml")).toMatchObject({ ok: false, reason: expect.stringContaining("gone.yaml does not exist") });
    expect(await findTopology(root, "topology")).toEqual({ ok: true, file: path.join(root, "topology") });
    expect(await findTopology(path.parse(root).root)).toMatchObject({ ok: false, reason: expect.stringContaining("aurora-mcp init") });
    expect([workspaceRoot(file), workspaceRoot(path.join(root, "other.yaml"))]).toEqual([root, root]);
  });
});

describe("reading the set", () => {
  const patterns = (root: string): FilePattern[] => [
    { role: "manifest", pattern: path.join(root, "apps/*/manifest.yaml"), trusted: true, path: ["discover", 0] },
    { role: "manifest", pattern: path.join(root, "more/**/manifest.yaml"), trusted: false, path: ["discover", 1] },
    { role: "policy", pattern: path.join(root, "topology/policies/*.yaml"), trusted: false, path: ["policies", 0] },
    { role: "signals", pattern: path.join(root, "topology/signals/*.yaml"), trusted: false, path: ["signals", 0] },
  ];
  const read = async (root: string, of = patterns(root)): Promise<FileSet> => {
    const set = await readFileSet(path.join(root, "topology/topology.yaml"), () => of);
    if ("fault" in set) throw new Error(set.fault.reason);
    return set;
  };

  test("everything by its role, sorted, with what matched nothing", async () => {
    const root = await testFolder();
    await tree(root, { "topology/topology.yaml": "t", "apps/b/manifest.yaml": "b", "apps/a/manifest.yaml": "\ufeffa", "topology/policies/z.yaml": "z" });
    const set = await read(root);
    expect(set.root).toBe(root);
    expect(set.topology).toEqual({ file: path.join(root, "topology/topology.yaml"), display: "topology/topology.yaml", text: "t" });
    expect(set.manifests.map((m) => [m.display, m.text, m.trusted])).toEqual([
      ["apps/a/manifest.yaml", "\ufeffa", true],
      ["apps/b/manifest.yaml", "b", true],
    ]);
    expect(set.policies).toEqual([{ file: path.join(root, "topology/policies/z.yaml"), display: "topology/policies/z.yaml", text: "z" }]);
    expect(set.unmatched.map((u) => u.path)).toEqual([
      ["discover", 1],
      ["signals", 0],
    ]);
    expect(set.unreadable).toEqual([]);
  });

  test("set and order follow files that come, are renamed and go", async () => {
    const root = await testFolder();
    await tree(root, { "topology/topology.yaml": "", "topology/policies/10-a.yaml": "", "topology/policies/20-b.yaml": "" });
    const names = async (): Promise<string[]> => (await read(root)).policies.map((p) => path.basename(p.file));
    expect(await names()).toEqual(["10-a.yaml", "20-b.yaml"]);
    await tree(root, { "topology/policies/15-c.yaml": "" });
    expect(await names()).toEqual(["10-a.yaml", "15-c.yaml", "20-b.yaml"]);
    await rename(path.join(root, "topology/policies/20-b.yaml"), path.join(root, "topology/policies/05-b.yaml"));
    expect(await names()).toEqual(["05-b.yaml", "10-a.yaml", "15-c.yaml"]);
    await rm(path.join(root, "topology/policies/10-a.yaml"));
    expect(await names()).toEqual(["05-b.yaml", "15-c.yaml"]);
  });

  test("a file that two entries find is there once, trusted when one says so", async () => {
    const root = await testFolder();
    await tree(root, { "topology/topology.yaml": "", "apps/a/manifest.yaml": "" });
    const wide: FilePattern = { role: "manifest", pattern: path.join(root, "**/manifest.yaml"), trusted: false, path: ["discover", 0] };
    expect((await read(root, [wide, ...patterns(root)])).manifests.map((m) => m.trusted)).toEqual([true]);
  });

  test("too large, not UTF-8, UTF-16: told with the file, the others are read", async () => {
    const root = await testFolder();
    await tree(root, {
      "topology/topology.yaml": "",
      "apps/big/manifest.yaml": "#".repeat(1024 * 1024 + 1),
      "apps/latin/manifest.yaml": Buffer.from("a: 1\nn: caf\xe9\n", "latin1"),
      "apps/utf16/manifest.yaml": Buffer.from("a: 1", "utf16le"),
      "apps/good/manifest.yaml": "good",
    });
    const set = await read(root);
    expect(set.manifests.map((m) => m.text)).toEqual(["good"]);
    expect(set.unreadable.map((u) => [u.display, u.fault.code, u.role])).toEqual([
      ["apps/big/manifest.yaml", "file-too-large", "manifest"],
      ["apps/latin/manifest.yaml", "not-utf8", "manifest"],
      ["apps/utf16/manifest.yaml", "not-utf8", "manifest"],
    ]);
    expect(set.unreadable.map((u) => u.fault.at)).toEqual([undefined, { line: 2, column: 7 }, { line: 1, column: 2 }]);
  });

  test.skipIf(process.platform === "win32")("a link that leads nowhere or in a circle is a file that cannot be read, not one that is not there", async () => {
    const root = await testFolder();
    await tree(root, { "topology/topology.yaml": "", "apps/a/x": "", "apps/b/x": "" });
    await symlink("gone.yaml", path.join(root, "apps/a/manifest.yaml"));
    await symlink("manifest.yaml", path.join(root, "apps/b/manifest.yaml"));
    const set = await read(root);
    expect(set.unreadable.map((u) => [u.display, u.fault.reason])).toEqual([
      ["apps/a/manifest.yaml", "does not exist"],
      ["apps/b/manifest.yaml", "is a symbolic link that leads in a circle"],
    ]);
    expect(set.unmatched.filter((u) => u.pattern.includes("/apps/"))).toEqual([]);
  });

  test.skipIf(process.platform === "win32")("what a file's name was meant for and is no file cannot be read; folders beside files are natural", async () => {
    const root = await testFolder();
    await tree(root, { "topology/topology.yaml": "", "topology/policies/sub/x": "", "topology/policies/deny.yaml/x": "", "topology/policies/c.yaml": "" });
    execFileSync("mkfifo", [path.join(root, "topology/policies/a.yaml")]);
    await symlink("/dev/null", path.join(root, "topology/policies/b.yaml"));
    const told = async (glob: string): Promise<string[]> =>
      (await read(root, [{ role: "policy", pattern: path.join(root, glob), trusted: false, path: ["policies", 0] }])).unreadable.map(
        (u) => `${path.basename(u.file)} ${u.fault.reason}`,
      );
    expect(await told("topology/policies/*.yaml")).toEqual(["a.yaml is not a file", "b.yaml is not a file", "deny.yaml is a folder"]);
    expect(await told("topology/policies/*")).toEqual(["a.yaml is not a file", "b.yaml is not a file"]);
  });

  test("a policy file that is named outright must be there; a folder that cannot be looked through is told with its pattern", async () => {
    const root = await testFolder();
    await tree(root, { "topology/topology.yaml": "", "topology/policies/x.yaml": "", apps: "" });
    const ask = (role: FilePattern["role"], glob: string): FilePattern => ({ role, pattern: path.join(root, glob), trusted: false, path: [glob] });
    const set = await read(root, [
      ask("policy", "topology/gone.yaml"),
      ask("policy", "topology/gone-*.yaml"),
      ask("signals", "topology/policies"),
      ask("manifest", "gone/manifest.yaml"),
      ask("manifest", "apps/*/manifest.yaml"),
    ]);
    expect(set.unmatched.map(({ path: [glob], fault }) => [glob, fault && `${fault.code}: ${fault.message}`])).toEqual([
      ["topology/gone.yaml", "file-missing: topology/gone.yaml does not exist"],
      ["topology/gone-*.yaml", undefined],
      ["topology/policies", "file-missing: topology/policies is a folder"],
      ["gone/manifest.yaml", undefined],
      ["apps/*/manifest.yaml", "folder-unreadable: apps is not a folder"],
    ]);
  });

  test("topology.yaml itself that cannot be read is the only error", async () => {
    const root = await testFolder();
    expect(await readFileSet(path.join(root, "topology/topology.yaml"), () => [])).toMatchObject({ fault: { reason: "does not exist" } });
    await mkdir(path.join(root, "topology/topology.yaml"), { recursive: true });
    expect(await readFileSet(path.join(root, "topology/topology.yaml"), () => [])).toMatchObject({
      display: "topology/topology.yaml",
      fault: { code: "file-unreadable", reason: "is a folder" },
    });
  });

  test.skipIf(process.platform === "win32")("a named pipe is not a file, and nobody waits for its writer", async () => {
    const root = await testFolder();
    const pipe = path.join(root, "topology.yaml");
    execFileSync("mkfifo", [pipe]);
    expect(await readFileSet(pipe, () => [])).toMatchObject({ fault: { code: "file-unreadable", reason: "is not a file" } });
  });

  test("with a memory only files that changed are opened again, also those whose size and time stay", async () => {
    const root = await testFolder();
    const file = path.join(root, "topology/policies/a.yaml");
    await tree(root, { "topology/topology.yaml": "t", "topology/policies/a.yaml": "old", "topology/policies/b.yaml": "b" });
    const memory: TextMemory = new Map();
    const texts = async (): Promise<string[]> => {
      const set = await readFileSet(path.join(root, "topology/topology.yaml"), () => patterns(root), memory);
      return "fault" in set ? [set.fault.reason] : set.policies.map((p) => p.text);
    };
    expect(await texts()).toEqual(["old", "b"]);
    expect([...memory.keys()]).toEqual([]);
    await sleep(SETTLED_MS + 100);
    expect(await texts()).toEqual(["old", "b"]);
    const known = memory.get(file)!;
    memory.set(file, { ...known, source: { ...known.source, text: "from memory" } });
    expect(await texts()).toEqual(["from memory", "b"]);
    const { atime, mtime } = await stat(file);
    await writeFile(file, "new");
    await utimes(file, atime, mtime);
    expect(await texts()).toEqual(["new", "b"]);
    await rm(file);
    expect(await texts()).toEqual(["b"]);
    expect(memory.has(file)).toBe(false);
  });

  test("files that change while the set is read are read again: all are of one moment", async () => {
    const root = await testFolder();
    await tree(root, { "topology/topology.yaml": "old", "topology/policies/a.yaml": "old" });
    let asked = 0;
    const set = await readFileSet(path.join(root, "topology/topology.yaml"), (topology) => {
      asked += 1;
      // Just after topology.yaml was read, someone writes both.
      if (asked === 1) for (const name of ["policies/a.yaml", "topology.yaml"]) writeFileSync(path.join(root, "topology", name), "new!");
      expect(topology.file).toContain("topology.yaml");
      return patterns(root);
    });
    if ("fault" in set) throw new Error(set.fault.reason);
    expect([set.topology.text, set.policies[0]?.text]).toEqual(["new!", "new!"]);
    expect(asked).toBeGreaterThan(1);
  });
});
