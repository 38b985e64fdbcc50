import { afterEach, expect, test } from "vitest";
import { loadWorkspace } from "../../src/workspace.ts";
import { makeWorkspace, type TestWorkspace } from "../support/workspace.ts";

let ws: TestWorkspace;
afterEach(() => ws.remove());

async function found(files: Readonly<Record<string, string>>): Promise<string[]> {
  ws = await makeWorkspace(files);
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
