import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { builtCli, runCli } from "../support/built-cli.ts";
import { makeWorkspace, type TestWorkspace } from "../support/workspace.ts";

vi.setConfig({ testTimeout: 120_000 });

const SECRETS = /url-password-1|FileSecret-012345|sk-abcdefghijkl|short-secret-3|typed-secret-4|plain-option-5|plain-behind-6|plain-variable-7|plain-header-8/;
let workspace: TestWorkspace;

beforeAll(async () => {
  await builtCli();
  workspace = await makeWorkspace({
    "topology/key": "FileSecret-0123456789\n",
    "topology/topology.yaml": [
      "topology: 1",
      "data_dir: ../data",
      "apps:",
      "  org.example.one:",
      '    mcp: { transport: http, url: "https://user1:url-password-1@127.0.0.1:9/mcp?api_key=${file:key}" }',
      "  org.example.two:",
      "    mcp:",
      "      command: [./no-such-program, --api-key=sk-abcdefghijklmnopqrstuvwx, --token, sk-abcdefghijklmnopqrstuv00, sk-abcdefghijklmnopqrstuv11]",
      "  org.example.three:",
      '    mcp: { command: node, args: [x.mjs, "--root=../${file:key}"], env: { TOKEN: "short-secret-3" } }',
      "  org.example.five:",
      '    mcp: { command: [node, x.mjs, --api-key=plain-option-5, --token, plain-behind-6, -e, PGPASSWORD=plain-variable-7, --header, "X-Api-Key: plain-header-8"] }',
      "  org.example.six:",
      "    mcp: { command: [node, x.mjs, --key, tls/server.key, --key, ./a/b, --max-tokens, '123456', --token-file, run.token, --token, GITHUB_TOKEN] }",
      "",
    ].join("\n"),
  });
}, 120_000);
afterAll(() => workspace.remove());

/** Each print-out that has words of the configuration in it. */
const PRINT_OUTS = [
  ["validate"],
  ["validate", "--json"],
  ["validate", "--format", "compact"],
  ["plan"],
  ["apps", "list"],
  ["doctor"],
  ["doctor", "--json"],
  ["config"],
  ["apps", "add", "org.example.four", "--dry-run", "--env", "TOKEN=typed-secret-4", "--", "node", "sk-abcdefghijklmnopqrstuv22"],
  ["apps", "add", "org.example.four", "--dry-run", "--json", "--env", "TOKEN=typed-secret-4", "--", "node", "sk-abcdefghijklmnopqrstuv22"],
];
it.each(PRINT_OUTS.map((args) => [args.join(" "), args] as const))("%s shows no secret", async (_name, args) => {
  const { stdout, stderr } = await runCli(args, { cwd: workspace.root });
  expect(stdout.length).toBeGreaterThan(0);
  expect(stdout + stderr).not.toMatch(SECRETS);
});

it("validate says what runs, and how a secret on a command line is mended", async () => {
  const { code, stdout } = await runCli(["validate"], { cwd: workspace.root });
  expect(code).toBe(0);
  expect(stdout).toContain("https://***@127.0.0.1:9/mcp?api_key=***");
  expect(stdout).toContain("no-such-program --api-key=*** --token *** ***");
  for (const shown of ["tls/server.key", "./a/b", "123456", "run.token", "GITHUB_TOKEN"]) expect(stdout).toContain(shown);
  for (const variable of ["API_KEY", "TOKEN", "TWO_TOKEN", "PGPASSWORD", "X_API_KEY"]) expect(stdout).toContain(`write \${${variable}}`);
  // Carets stand under the mask that they speak of.
  const lines = stdout.split("\n");
  const excerpts = lines.flatMap((line, i) => (line.includes("| ") && line.includes("command: [./no-such-program") ? [[line, lines[i + 1]!] as const] : []));
  expect(excerpts.map(([line, carets]) => [line.slice(0, carets.indexOf("^")).split("***").length - 1, line.slice(carets.indexOf("^")).trim()])).toEqual([
    [0, "./no-such-program, --api-key=***, --token, ***, ***]"],
    [0, "--api-key=***, --token, ***, ***]"],
    [1, "***, ***]"],
    [2, "***]"],
  ]);
});
