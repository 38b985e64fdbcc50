import { describe, expect, test } from "vitest";
import { interpolate, type VariableSource } from "../../src/config/interpolate.ts";
import { createMasker } from "../../src/base/masking.ts";
import type { AppConfig } from "../../src/config/types.ts";
import { lines, load, withManifest, withTopology } from "./workspace.ts";

const source = (variables: Readonly<Record<string, string>>): VariableSource => ({
  variable: (name) => (Object.hasOwn(variables, name) ? variables[name] : undefined),
  file: (path) => {
    if (path !== "token.txt") throw new Error("no such file");
    return "t0ken\n";
  },
});

const ENV = { HOST: "127.0.0.1", PORT: "8080", EMPTY: "", NESTED: "${HOST}", DOLLAR: "$$" };

test.each([
  ["http://${HOST}:${PORT}/mcp", "http://127.0.0.1:8080/mcp"],
  ["${env:HOST}", "127.0.0.1"],
  ["${NOT_SET:-default}", "default"],
  ["${NOT_SET:-}", ""],
  ["${EMPTY:-default}", "default"],
  ["${EMPTY}", ""],
  ["${env:NOT_SET:-a b/c:d}", "a b/c:d"],
  ["${HOST:?needed}", "127.0.0.1"],
  ["${file:token.txt}", "t0ken"],
  ["$$", "$"],
  ["$${HOST}", "${HOST}"],
  ["$$$${HOST}", "$${HOST}"],
  ["$$${HOST}", "$127.0.0.1"],
  ["$HOME and $1 and $", "$HOME and $1 and $"],
  // One pass: what a variable holds is not looked at again.
  ["${NESTED}", "${HOST}"],
  ["${DOLLAR}${HOST}", "$$127.0.0.1"],
])("%s becomes %s", (text, expected) => {
  const result = interpolate(text, source(ENV));
  expect(result.faults).toEqual([]);
  expect(result.text).toBe(expected);
});

test.each([
  [
    "${NOT_SET}",
    "unset-variable",
    "NOT_SET is not set",
    "set NOT_SET (a running host sees that only once it is started again; it does see a file: ${file:path}); or give a default: ${NOT_SET:-…}",
  ],
  ["${EMPTY:?say which}", "unset-variable", "EMPTY is empty: say which", "set EMPTY (a running host sees that only once it is started again"],
  ["${A:-${HOST}/x}/f", "bad-expression", "a default cannot hold another", "write the default out"],
  ["${input:apiKey}", "bad-expression", "${input:apiKey}", "use an environment variable instead: ${API_KEY}"],
  ["${HOST-x}", "bad-expression", '"-" is not known here', "${NAME:-default}"],
  ["${HOST:+x}", "bad-expression", '":+" is not known here', "${NAME:-default}"],
  ["${workspaceFolder}/x", "bad-expression", "known to editors only", "path relative to this file"],
  ["${}", "bad-expression", "none of the known forms", "known forms"],
  ["${a.b}", "bad-expression", "none of the known forms", "known forms"],
  ["${HOST", "bad-expression", "not closed", "known forms"],
  ["${constructor.constructor('return 1')()}", "bad-expression", "none of the known forms", "known forms"],
  ["${__proto__}", "unset-variable", "__proto__ is not set", "set __proto__"],
  ["${file:gone.txt}", "secret-file", "gone.txt cannot be read: no such file", "relative to the file"],
  ["${file:}", "bad-expression", "needs the path of a file", "${file:path}"],
])("%s is refused", (text, code, message, help) => {
  const { faults } = interpolate(text, source(ENV));
  expect(faults).toHaveLength(1);
  expect(faults[0]!.code).toBe(code);
  expect(faults[0]!.message).toContain(message);
  expect(faults[0]!.help).toContain(help);
});

function onlyApp(manifest: string, env: Readonly<Record<string, string>> = {}, secretFiles = {}): AppConfig {
  const result = load(withManifest(manifest, { env, secretFiles }));
  const [app] = result.config!.apps;
  if (app?.kind !== "app") throw new Error(lines(result).join("\n"));
  return app;
}

describe("in files", () => {
  test("every text of topology and manifest is filled in, the same way", () => {
    const app = onlyApp(
      "package: a\nname: ${N}\nmcp:\n  url: http://${HOST}:${PORT}/mcp\n  headers: { X-Api-Key: '${DEMO_KEY}' }\n  restart: { max_attempts: '${TRIES}', enabled: '${ON}' }\ncall_timeout: ${T}\n",
      { N: "demo", HOST: "127.0.0.1", PORT: "8080", DEMO_KEY: "k1-long", TRIES: "5", ON: "false", T: "5000ms" },
    );
    expect(app.settings).toMatchObject({
      name: "demo",
      mcp: { url: "http://127.0.0.1:8080/mcp", headers: { "X-Api-Key": "k1-long" }, restart: { max_attempts: 5, enabled: false } },
      call_timeout: "5000ms",
    });
  });

  test("a whole expression becomes a number or boolean only where one is wanted", () => {
    const app = onlyApp("package: a\nmcp: { command: node, args: ['${N}', 'x${N}'], env: { A: '${N}', B: '${T}' } }\n", { N: "5", T: "true" });
    expect(app.settings.mcp).toMatchObject({ args: ["5", "x5"], env: { A: "5", B: "true" } });
    const bad = lines(
      load(withManifest("package: a\nmcp: { command: node, restart: { max_attempts: '3${N}', enabled: '${T}' } }\n", { env: { N: "5", T: "secret-maybe" } })),
    );
    expect(bad).toEqual([
      "apps/demo/manifest.yaml:2:48 error[wrong-type] restart.max_attempts must be a whole number, found the value of ${N}",
      "apps/demo/manifest.yaml:2:66 error[wrong-type] restart.enabled must be true or false, found the value of ${T}",
    ]);
  });

  test("comments, keys and policies are left alone", () => {
    const result = load(
      withTopology("# ${NOT_SET:?needed}\ntopology: 1 # ${ALSO}\n", {
        files: {
          "apps/demo/manifest.yaml": "package: a\nmcp:\n  command: node\n  headers_note: 1\n".replace("  headers_note: 1\n", "  # ${X}\n"),
          "topology/policies/a.yaml": "rules:\n  - { id: a, args: { p: { matches: '^(auth)=(.*)$', glob: '$1=${X}' } }, action: allow }\n",
        },
      }),
    );
    expect(lines(result)).toEqual([]);
    expect(result.config!.policies[0]!.value.rules![0]!.args).toEqual({ p: { matches: "^(auth)=(.*)$", glob: "$1=${X}" } });
  });

  test("all unset variables of all files are told in one run, each at its place", () => {
    const result = load({
      files: {
        "topology/topology.yaml": "topology: 1\napps:\n  b:\n    mcp: { url: 'https://x/mcp', headers: { Authorization: 'Bearer ${ONE} ${TWO}' } }\n",
        "apps/a/manifest.yaml": 'package: a\nmcp:\n  command: node\n  args: ["--x", "${THREE}"]\n',
      },
    });
    expect(lines(result).map((line) => line.replace(/ \|.*/, ""))).toEqual([
      "apps/a/manifest.yaml:4:18 error[unset-variable] the environment variable THREE is not set",
      "topology/topology.yaml:4:68 error[unset-variable] the environment variable ONE is not set",
      "topology/topology.yaml:4:75 error[unset-variable] the environment variable TWO is not set",
    ]);
    expect(result.diagnostics[0]!.path).toBe("mcp.args[1]");
  });

  test("what an app that is not enabled lacks is a warning, and holds nothing back", () => {
    const entry = (enabled: string): string =>
      `    ${enabled}\n    mcp: { url: 'https://x/mcp', headers: { Authorization: 'Bearer \${ONE}', X: '\${file:gone}' } }\n`;
    const of = (enabled: string, env = {}) => {
      const result = load({ env, files: { "topology/topology.yaml": `topology: 1\napps:\n  b:\n${entry(enabled)}` } });
      return [
        result.unitOk,
        result.config?.apps.map((app) => (app.kind === "parked" ? app.state : app.kind)),
        result.diagnostics.map((d) => `${d.severity} ${d.code}`),
      ];
    };
    const told = (severity: string): string[] => [`${severity} unset-variable`, `${severity} secret-file`];
    for (const off of ["enabled: false", "enabled: ${USE_B:-false}", "enabled: ${OFF}"])
      expect(of(off, { OFF: "false" })).toEqual([true, ["disabled"], told("warning")]);
    for (const on of ["enabled: true", "enabled: ${USE_B:-true}", "trust: low"]) expect(of(on)).toEqual([false, ["failed"], told("error")]);
    expect(of("enabled: ${GONE}")).toEqual([false, ["failed"], ["error unset-variable", ...told("error")]]);
  });

  test("names of the environment are own names only", () => {
    expect(lines(load(withManifest("package: a\nname: ${constructor}\nmcp: { command: node }\n")))[0]).toContain(
      "the environment variable constructor is not set",
    );
  });

  test("a file is relative to the file that names it", () => {
    const app = onlyApp("package: a\nmcp: { command: node, env: { KEY: '${file:../keys/k}' } }\n", {}, { "/ws/apps/keys/k": "from-file\r\n" });
    expect(app.settings.mcp!.env).toEqual({ KEY: "from-file" });
  });
});

describe("secrets", () => {
  const result = load(
    withManifest(
      "package: a\nmcp:\n  command: node\n  args: ['--key=${DEMO_KEY}', '${file:f}', '${PORT}']\n  env: { GIT_PAT: '${DEMO_KEY}', PASSWORD: 'lit-pass', TOKEN_FILE: /run/token, MAX_TOKENS: 1000, DB: 'postgres://u:p4ssw0rd@db/x', API: 'https://x/y?api_key=qqq111&z=1' }\n",
      { env: { DEMO_KEY: "zz-canary-123", PORT: "3000" }, secretFiles: { "/ws/apps/demo/f": "file-canary\n" } },
    ),
  );

  test("values from files and secret variables, under secret names and in URLs are known to the masker", () => {
    expect(new Set(result.config!.secrets)).toEqual(new Set(["zz-canary-123", "file-canary", "lit-pass", "p4ssw0rd", "qqq111"]));
    const text = createMasker(result.config!.secrets).text("args --key=zz-canary-123 file-canary 3000 /run/token 1000 postgres://u:p4ssw0rd@db/x");
    expect(text).toBe("args --key=*** *** 3000 /run/token 1000 postgres://***@db/x");
  });

  test("the paths of values that came from outside are kept", () => {
    const [app] = result.config!.apps;
    const paths = (app as AppConfig).secretPaths.map((path) => path.join("."));
    expect(paths).toEqual(expect.arrayContaining(["mcp.args.0", "mcp.args.1", "mcp.args.2", "mcp.env.GIT_PAT", "mcp.env.PASSWORD", "mcp.env.DB"]));
    expect(paths).not.toContain("mcp.env.TOKEN_FILE");
  });

  test("literal secrets are a warning, variables are none", () => {
    expect(result.diagnostics.filter((d) => d.code !== "secret-in-args").map((d) => `${d.severity} ${d.code} ${d.path}`)).toEqual([
      "warning literal-secret mcp.env.PASSWORD",
      "warning literal-secret mcp.env.DB",
      "warning literal-secret mcp.env.API",
    ]);
    expect(JSON.stringify(result.diagnostics)).not.toMatch(/lit-pass|p4ssw0rd|qqq111|canary/);
  });

  test("a line break that a variable brings into a header is an error that does not show it", () => {
    const found = load({
      files: { "topology/topology.yaml": "topology: 1\napps:\n  org.a:\n    mcp: { url: 'https://a.invalid/', headers: { X-Key: '${X_TOKEN}' } }\n" },
      env: { X_TOKEN: "abc-7f3a\nX-Evil: 1" },
    });
    expect(found.diagnostics.filter((d) => d.severity === "error").map((d) => [d.code, d.path])).toEqual([["bad-format", "apps.org.a.mcp.headers.X-Key"]]);
    expect(JSON.stringify(found.diagnostics)).not.toMatch(/abc-7f3a|X-Evil/);
  });

  test("a secret on a command line is a warning, once, and not shown; one in env is none", () => {
    const found = load({
      files: {
        "topology/topology.yaml":
          "topology: 1\napps:\n  org.a:\n    mcp: { command: [node, a.mjs, '--url=${CRM_URL}'], args: ['--key', '${CRM_TOKEN}', '${PLAIN}'], env: { KEY: '${CRM_TOKEN}' } }\n",
      },
      env: { CRM_TOKEN: "tok-4f9a81c2", PLAIN: "x", CRM_URL: "https://u:pw-77aa91bc@crm.invalid/" },
    });
    const told = found.diagnostics.filter((d) => d.code === "secret-in-args");
    expect(told.map((d) => [d.severity, d.path])).toEqual([["warning", "apps.org.a.mcp.args[1]"]]);
    expect(JSON.stringify(found.diagnostics)).not.toMatch(/tok-4f9a81c2|pw-77aa91bc/);
  });

  test("known shapes of tokens are found under any name", () => {
    const found = load(withManifest("package: a\nmcp: { command: node, args: ['ghp_0123456789abcdefghijABCDEFGHIJ'] }\n"));
    expect(found.diagnostics.map((d) => d.path)).toEqual(["mcp.args[0]"]);
    expect(found.config!.secrets).toEqual(["ghp_0123456789abcdefghijABCDEFGHIJ"]);
  });

  test("no message shows a value under a secret name", () => {
    const bad = load(withManifest("package: a\nmcp: { url: 'https://x/', headers: { X-Api-Key: 12345678, Cookie: [abcdef] }, auth: { bearer: 98765432 } }\n"));
    expect(bad.diagnostics).toHaveLength(3);
    expect(JSON.stringify(bad.diagnostics)).not.toMatch(/12345678|abcdef|98765432/);
  });
});
