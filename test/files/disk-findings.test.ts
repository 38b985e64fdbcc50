import { mkdir, symlink } from "node:fs/promises";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { loadWorkspace } from "../../src/workspace.ts";
import { makeWorkspace, type TestWorkspace } from "../support/workspace.ts";

let ws: TestWorkspace;
afterEach(() => ws.remove());

async function found(files: Readonly<Record<string, string>>, prepare?: (root: string) => Promise<unknown>): Promise<string[]> {
  ws = await makeWorkspace(files);
  await prepare?.(ws.root);
  const { diagnostics } = await loadWorkspace({ cwd: ws.root, env: {}, topology: ws.topology });
  return diagnostics.map((d) =>
    `${d.place?.file}:${d.place?.line} ${d.path} ${d.severity}[${d.code}] ${d.message} | ${d.help?.join()}`.replaceAll(ws.root, "ROOT"),
  );
}

const TOPOLOGY = "topology: 1\ndiscover: [{ glob: ../apps/*/manifest.yaml, trusted: true }]\n";
const manifest = (mcp: string): Record<string, string> => ({
  "topology/topology.yaml": TOPOLOGY,
  "apps/demo/manifest.yaml": `package: demo\ntype: mcp-server\nmcp: ${mcp}\n`,
});

test("a file beside the manifest that is not where the server runs", async () => {
  expect(
    await found({
      ...manifest('{ command: [uv, run, main.py], args: ["--config=conf/a.json", -x, "@scope/package", gone.py, --verbose] }'),
      "apps/demo/main.py": "",
      "apps/demo/conf/a.json": "{}",
    }),
  ).toEqual([
    "apps/demo/manifest.yaml:3 mcp.command[2] warning[file-elsewhere] demo runs in ROOT, and there is no main.py there; ROOT/apps/demo/main.py is there | write apps/demo/main.py, or set cwd to ROOT/apps/demo",
    "apps/demo/manifest.yaml:3 mcp.args[0] warning[file-elsewhere] demo runs in ROOT, and there is no conf/a.json there; ROOT/apps/demo/conf/a.json is there | write apps/demo/conf/a.json, or set cwd to ROOT/apps/demo",
  ]);
});

test.each([
  ["a path from the root", "{ command: python3, args: [apps/demo/main.py] }"],
  ["cwd", "{ command: python3, args: [main.py], cwd: . }"],
  ["entry", "{ command: python3, entry: main.py }"],
  ["a file that is nowhere", "{ command: python3, args: [other.py] }"],
])("%s needs no hint", async (_what, mcp) => {
  expect(await found({ ...manifest(mcp), "apps/demo/main.py": "" })).toEqual([]);
});

test("a file from the root, where cwd is the app's folder", async () => {
  expect(await found({ ...manifest("{ command: python3, args: [apps/demo/main.py], cwd: . }"), "apps/demo/main.py": "" })).toEqual([
    expect.stringContaining("ROOT/apps/demo/main.py is there | write main.py, or set cwd to ROOT"),
  ]);
});

test("a command with a slash that was meant from the root", async () => {
  expect(await found({ ...manifest("{ command: ./bin/run.sh }"), "bin/run.sh": "" })).toEqual([
    "apps/demo/manifest.yaml:3 mcp.command warning[file-elsewhere] a command with a slash is relative to the file that writes it: there is no ROOT/apps/demo/bin/run.sh, but ROOT/bin/run.sh is there | write ../../bin/run.sh",
  ]);
});

test("an entry or a program that is not there, with the name that is near", async () => {
  const at = "apps/demo/manifest.yaml:3 mcp";
  const beside = { "apps/demo/mcp-server.mjs": "", "mcp-root.mjs": "" };
  const said = async (mcp: string): Promise<string[]> => {
    const told = await found({ ...manifest(mcp), ...beside });
    await ws.remove();
    return told;
  };
  expect(await said("{ command: node, entry: mcp-servr.mjs }")).toEqual([
    `${at}.entry warning[program-missing] there is no file ROOT/apps/demo/mcp-servr.mjs | did you mean mcp-server.mjs?`,
  ]);
  expect(await said("{ command: node, entry: mcp-root.mjs }")).toEqual([
    expect.stringMatching(/mcp\.entry warning\[file-elsewhere\].*write ..\/..\/mcp-root\.mjs/),
  ]);
  expect(await said("{ command: [./mcp-server.mj, -x] }")).toEqual([
    `${at}.command[0] warning[program-missing] there is no file ROOT/apps/demo/mcp-server.mj | did you mean mcp-server.mjs?`,
  ]);
  expect(await said("{ command: /no/such/program }")).toEqual([
    `${at}.command warning[program-missing] there is no file /no/such/program | correct the path, which is relative to the file that says it, or make the file`,
  ]);
  expect(await said("{ command: node, entry: gone.mjs, args: [--version] }")).toEqual([]);
});

test.each([
  ["{ command: 'node server.js --x' }", 'there is no program called "node server.js --x" | write it as a list: [node, server.js, --x]'],
  ["{ command: 'node srv/s.mjs good' }", 'there is no program called "node srv/s.mjs good" | write it as a list: [node, srv/s.mjs, good]'],
  ["{ command: ['npx some-server', --y] }", 'there is no program called "npx some-server" | write it as a list: [npx, some-server]'],
])("a command with its arguments in one text: %s", async (mcp, said) => {
  expect(await found(manifest(mcp))).toEqual([expect.stringMatching(/warning\[command-with-arguments\]/)]);
  expect((await found(manifest(mcp)))[0]).toContain(said);
});

test("a program with a space in its name is one", async () => {
  expect(await found({ ...manifest("{ command: './my server.sh' }"), "apps/demo/my server.sh": "" })).toEqual([]);
});

test("a folder to run in that is not there", async () => {
  expect(await found(manifest("{ command: node, cwd: work }"))).toEqual([
    "apps/demo/manifest.yaml:3 mcp.cwd warning[cwd-missing] there is no folder ROOT/apps/demo/work | make the folder, or correct the path: it is relative to the file that says it",
  ]);
  await ws.remove();
  expect(await found({ ...manifest("{ command: node, cwd: work }"), "apps/demo/work/x": "" })).toEqual([]);
});

test("roots that hold secrets, and roots that only look like it", async () => {
  const root = (folder: string): string => `topology: 1\napps:\n  demo: { mcp: { command: files }, grants: { roots: [${folder}] } }\n`;
  expect(await found({ "topology/topology.yaml": root("../project"), "project/.env": "A=1", "project/deep/er/server.key": "k" })).toEqual([
    "topology/topology.yaml:3 apps.demo.grants.roots[0] warning[root-holds-secrets] this root shows the server .env and 1 more files that may hold secrets | give it a folder without them, or move them out",
  ]);
  await ws.remove();
  expect(
    await found({ "topology/topology.yaml": root("../project"), "project/.env.example": "A=", "project/key.txt": "", "project/node_modules/x/a.pem": "" }),
  ).toEqual([]);
});

const withRoots = (...folders: string[]): Record<string, string> => ({
  "topology/topology.yaml": `topology: 1\napps:\n  demo: { mcp: { command: files }, grants: { roots: ${JSON.stringify(folders)} } }\n`,
});

test("a root that covers the host's own state, by its name or over a link", async () => {
  const files = { ...withRoots("../data", "../data/a", "../dat", "../rl", "..", "../up/x"), "data/a/f": "", "dat/f": "" };
  const prepare = (root: string) =>
    Promise.all([symlink("data", path.join(root, "rl")), symlink(".", path.join(root, "up")), symlink("data", path.join(root, "x"))]);
  expect(await found(files, prepare)).toEqual([
    "topology/topology.yaml:3 apps.demo.grants.roots[0] warning[root-covers-data] this root shows the server the host's own state in ROOT/data | give it a narrower folder",
    "topology/topology.yaml:3 apps.demo.grants.roots[3] warning[root-covers-data] this root shows the server the host's own state in ROOT/data (it leads to ROOT/data) | give it a narrower folder",
    "topology/topology.yaml:3 apps.demo.grants.roots[4] warning[root-covers-data] this root shows the server the host's own state in ROOT/data | give it a narrower folder",
    "topology/topology.yaml:3 apps.demo.grants.roots[5] warning[root-covers-data] this root shows the server the host's own state in ROOT/data (it leads to ROOT/data) | give it a narrower folder",
  ]);
});

test("a data folder that is itself a link is covered by a root that holds what it leads to", async () => {
  const prepare = async (root: string) => (await mkdir(path.join(root, "real/state"), { recursive: true }), symlink("real/state", path.join(root, "data")));
  expect(await found(withRoots("../real"), prepare)).toEqual([expect.stringContaining("roots[0] warning[root-covers-data]")]);
});

test("a root that is not there, leads nowhere, or is a file", async () => {
  expect(await found({ ...withRoots("../gone", "../dangling", "../file"), file: "" }, (root) => symlink("nowhere", path.join(root, "dangling")))).toEqual([
    "topology/topology.yaml:3 apps.demo.grants.roots[0] warning[root-missing] there is no folder ROOT/gone | make the folder, or correct the path: it is relative to the file that says it",
    "topology/topology.yaml:3 apps.demo.grants.roots[1] warning[root-missing] there is no folder ROOT/dangling | make the folder, or correct the path: it is relative to the file that says it",
    "topology/topology.yaml:3 apps.demo.grants.roots[2] warning[root-missing] ROOT/file is no folder | give the folder that holds it",
  ]);
});
