import { describe, expect, test } from "vitest";
import { importServers, type ImportedServers } from "../../src/config/import-servers.ts";
import { load, withTopology } from "./workspace.ts";
import { addApp } from "../../src/config/edit-yaml.ts";

function imported(value: unknown): ImportedServers {
  const result = importServers(typeof value === "string" ? value : JSON.stringify(value));
  if (!result.ok) throw new Error(result.reason);
  return result.value;
}

test("Claude Desktop and Cursor: mcpServers, literal tokens become variables", () => {
  const found = imported({
    mcpServers: {
      github: {
        command: "npx",
        args: ["-y", "@x/server-github", "--api-key", "lit-arg-key-1", "--token=lit-arg-key-2"],
        env: { GITHUB_PERSONAL_ACCESS_TOKEN: "ghp_literal", LOG_LEVEL: "debug", TOKEN_FILE: "/run/t" },
      },
      "My Search": {
        url: "https://search.example.org/mcp?api_key=lit-in-url",
        headers: { Authorization: "Bearer lit-header", "X-Trace": "on" },
        disabled: true,
        autoApprove: ["x"],
      },
    },
  });
  expect(found.apps).toEqual([
    {
      package: "imported.github",
      entry: {
        mcp: {
          transport: "stdio",
          command: "npx",
          args: ["-y", "@x/server-github", "--api-key", "${GITHUB_API_KEY}", "--token=${GITHUB_TOKEN}"],
          env: { GITHUB_PERSONAL_ACCESS_TOKEN: "${GITHUB_PERSONAL_ACCESS_TOKEN}", LOG_LEVEL: "debug", TOKEN_FILE: "/run/t" },
        },
      },
    },
    {
      package: "imported.my-search",
      entry: {
        mcp: {
          transport: "http",
          url: "https://search.example.org/mcp?api_key=${MY_SEARCH_API_KEY}",
          headers: { Authorization: "Bearer ${MY_SEARCH_TOKEN}", "X-Trace": "on" },
        },
        enabled: false,
      },
    },
  ]);
  expect(found.variables.map((v) => v.name)).toEqual([
    "GITHUB_API_KEY",
    "GITHUB_TOKEN",
    "GITHUB_PERSONAL_ACCESS_TOKEN",
    "MY_SEARCH_API_KEY",
    "MY_SEARCH_TOKEN",
  ]);
  expect(found.notes).toEqual([expect.stringContaining("My Search: autoApprove is left out; write policy rules")]);
  expect(JSON.stringify(found)).not.toMatch(/lit-|ghp_/);
});

test("VS Code: servers with inputs, comments and trailing commas", () => {
  const found = imported(`{
  // asked once
  "inputs": [{ "type": "promptString", "id": "perplexity-key", "description": "Perplexity API Key", "password": true }],
  "servers": {
    "perplexity": { "type": "stdio", "command": "node", "args": ["\${workspaceFolder}/s.js", "~/x // no comment", "\${env:LANG}",], "env": { "KEY": "\${input:perplexity-key}", "B": "$5 and $$" }, "envFile": ".env" },
    "remote": { "type": "sse", "url": "http://10.0.0.5/sse" }, /* old */
  }
}`);
  expect(found.apps).toEqual([
    {
      package: "imported.perplexity",
      entry: {
        mcp: {
          transport: "stdio",
          command: "node",
          args: ["${WORKSPACE_FOLDER}/s.js", "${HOME}/x // no comment", "${env:LANG}"],
          env: { KEY: "${PERPLEXITY_KEY}", B: "$5 and $$$$" },
        },
      },
    },
    { package: "imported.remote", entry: { mcp: { transport: "http", url: "http://10.0.0.5/sse", allow_http: true } } },
  ]);
  expect(found.variables).toEqual([
    { name: "WORKSPACE_FOLDER", why: expect.stringContaining("workspaceFolder") },
    { name: "PERPLEXITY_KEY", why: "Perplexity API Key; the editor asked for it as ${input:perplexity-key}, a host cannot ask" },
  ]);
  expect(found.notes.join("\n")).toMatch(/envFile is left out[\s\S]*~\/ in args[\s\S]*plain http[\s\S]*sse becomes http|~\/ in args[\s\S]*envFile/);
});

test("VS Code settings, names that clash, entries that are no server", () => {
  const found = imported({
    mcp: {
      servers: { "a b": { command: "x" }, "a-b": { command: "y" }, "io.github.x/y": { command: "z" }, nothing: { foo: 1 }, __proto__x: { command: "w" } },
    },
  });
  expect(found.apps.map((a) => a.package)).toEqual(["imported.a-b", "imported.a-b-2", "io.github.x-y", "imported.proto__x"]);
  expect(found.notes).toEqual(["nothing: left out, it has neither a command nor a url"]);
});

test("different secrets get different variables, equal ones the same; nothing that is a secret stays", () => {
  const found = imported({
    mcpServers: {
      one: { command: "x", args: ["ghp_abcdefghijklmnopqrstuvwx", "postgresql://u:lit-pw@h/db"], env: { API_KEY: "lit-1" } },
      two: { command: "x", env: { API_KEY: "lit-2", OTHER: "${TWO_API_KEY}" } },
      three: { command: "x", env: { API_KEY: "lit-1" } },
      four: { command: "x", env: { REFERRED_KEY: "lit-3", A: "${REFERRED_KEY}", B: "${input:four-key}", FOUR_KEY: "lit-4" } },
      r: { url: "https://bob:lit-pw@h/${env:P}?token=lit-a&q=1", headers: { Authorization: "Bearer lit-b" } },
      u: { url: "https://${env:USER_PART}@h/?token=${env:T}&v=x%20y" },
    },
  });
  expect(found.apps.map((app) => app.entry["mcp"])).toMatchObject([
    { args: ["${ONE_TOKEN}", "${ONE_TOKEN_2}"], env: { API_KEY: "${API_KEY}" } },
    { env: { API_KEY: "${TWO_API_KEY_2}", OTHER: "${TWO_API_KEY}" } },
    { env: { API_KEY: "${API_KEY}" } },
    { env: { REFERRED_KEY: "${FOUR_REFERRED_KEY}", A: "${REFERRED_KEY}", B: "${FOUR_KEY}", FOUR_KEY: "${FOUR_KEY_2}" } },
    { url: "https://${R_CREDENTIALS}@h/${env:P}?token=${R_TOKEN}&q=1", headers: { Authorization: "Bearer ${R_TOKEN_2}" } },
    { url: "https://${env:USER_PART}@h/?token=${env:T}&v=x%20y" },
  ]);
  expect(JSON.stringify(found)).not.toMatch(/lit-|ghp_|bob/);
});

test("a variable that the workspace refers to serves only for the value that the environment has", () => {
  const text = JSON.stringify({ mcpServers: { a: { command: "x", env: { A_KEY: "same", B_KEY: "other", C_KEY: "lit", D_KEY: "lit" } } } });
  const found = importServers(text, { environment: { A_KEY: "same", B_KEY: "not this", D_KEY: "" }, taken: new Set(["A_KEY", "C_KEY"]) });
  if (!found.ok) throw new Error(found.reason);
  expect(found.value.apps[0]!.entry["mcp"]).toMatchObject({
    env: { A_KEY: "${A_KEY}", B_KEY: "${A_B_KEY}", C_KEY: "${A_C_KEY}", D_KEY: "${A_D_KEY}" },
  });
});

test("named values inside arguments keep their names", () => {
  const args = [
    "run",
    "-e",
    "GITHUB_TOKEN=lit-1",
    "--env=API_KEY=lit-2",
    "-e",
    "MODE=fast",
    "--header",
    "Authorization: Bearer lit-3",
    "-HX-Api-Key:lit-4",
    "img",
  ];
  const found = imported({ mcpServers: { d: { command: "docker", args } } });
  expect(found.apps[0]!.entry["mcp"]).toMatchObject({
    args: [
      "run",
      "-e",
      "GITHUB_TOKEN=${GITHUB_TOKEN}",
      "--env=API_KEY=${API_KEY}",
      "-e",
      "MODE=fast",
      "--header",
      "Authorization: Bearer ${D_TOKEN}",
      "-HX-Api-Key:${D_X_API_KEY}",
      "img",
    ],
  });
});

test("every key that is not taken over is noted", () => {
  const found = imported({
    mcpServers: {
      a: { command: "x", timeout: 60, env: ["A=1", "B"], url: "https://h/", cwd: 5 },
      b: { url: "https://h/mcp", auth: { CLIENT_ID: "lit-id" }, bearerTokenEnvVar: "T", headers: { X: ["1"], Y: "2" }, args: [] },
      c: { url: "https://h/mcp", requestInit: { headers: { Z: "1" }, mode: "cors" } },
    },
  });
  expect(found.apps.map((app) => app.entry["mcp"])).toMatchObject([{ env: { A: "1" } }, { headers: { Y: "2" } }, { headers: { Z: "1" } }]);
  expect(found.notes.map((note) => /^(.*) (?:is|are) left out/.exec(note)?.[1])).toEqual([
    "a: cwd",
    "a: an entry of env",
    "a: timeout",
    "a: url",
    "b: headers.X",
    "b: auth",
    "b: bearerTokenEnvVar",
    "b: args",
    "c: requestInit.mode",
  ]);
  expect(found.notes.join()).not.toContain("lit-id");
});

test("a command in one text is split, unless it is a program whose name has spaces", () => {
  const commands = { a: "uvx mcp-thing --token lit-1 'two words'", b: "/opt/my tools/serve", c: "my server", d: "/usr/bin/node srv.mjs" };
  const servers = Object.fromEntries(Object.entries(commands).map(([name, command]) => [name, { command, args: ["-v"] }]));
  const found = importServers(JSON.stringify({ servers }), { exists: (file) => file === "my server" || file === "/usr/bin/node" });
  if (!found.ok) throw new Error(found.reason);
  expect(found.value.apps.map((app) => app.entry["mcp"])).toMatchObject([
    { command: "uvx", args: ["mcp-thing", "--token", "${A_TOKEN}", "two words", "-v"] },
    { command: "/opt/my tools/serve", args: ["-v"] },
    { command: "my server", args: ["-v"] },
    { command: "/usr/bin/node", args: ["srv.mjs", "-v"] },
  ]);
  expect(found.value.notes).toEqual([expect.stringContaining("a: its command was one text"), expect.stringContaining("d: its command was one text")]);
});

test.each([
  ["", "line 1, column 1 should have a value"],
  ["{", "line 1, column 2 should have a key in double quotes or }"],
  ['{\n  "a": 1 /* x\n */ "b": 2 }', "line 3, column 5 should have a comma or }"],
  ['{"a": [1 2]}', "line 1, column 10 should have a comma or ]"],
  ["{'a': 1}", "line 1, column 2 should have a key in double quotes or }"],
  ['{"a" 1}', "line 1, column 6 should have a colon"],
  ['{"a": tru}', "line 1, column 7 should have a value"],
  ['{"a": 1}}', "line 1, column 9 should have nothing more"],
  ['{"a": [], "b": {}, "c": [1, {"d": null}], "e": "lit-x\n"}', "line 1, column 48 should have a value"],
  ["[]", 'neither "mcpServers"'],
  ['{"a":1}', 'neither "mcpServers"'],
  ['{"mcpServer":{}}', 'did you mean "mcpServers" by "mcpServer"?'],
])("%j is refused", (text, reason) => {
  const result = importServers(text);
  expect(result).toMatchObject({ ok: false, reason: expect.stringContaining(reason) });
});

describe("what was imported loads", () => {
  test("without findings, once the variables are set", () => {
    const found = imported({
      mcpServers: {
        a: { command: "npx", args: ["${workspaceFolder}", "$HOME", "x${y}", "~/z"], env: { API_KEY: "abcdefgh" } },
        b: { url: "https://x.org/mcp", headers: { "X-Api-Key": "abcdefgh" } },
      },
    });
    let text = "topology: 1\n";
    for (const app of found.apps) {
      const next = addApp({ file: "/ws/topology/topology.yaml", display: "t", text }, app.package, app.entry);
      if (!next.ok) throw new Error("not added");
      text = next.value;
    }
    const env = Object.fromEntries([...found.variables.map((v) => [v.name, "value-of-it"]), ["HOME", "/h"], ["y", "why"]]) as Record<string, string>;
    const result = load(withTopology(text, { env }));
    expect(result.diagnostics).toEqual([]);
    expect(result.config!.apps).toMatchObject([
      { settings: { mcp: { args: ["value-of-it", "$HOME", "xwhy", "/h/z"], env: { API_KEY: "value-of-it" } } } },
      { settings: { mcp: { headers: { "X-Api-Key": "value-of-it" } } } },
    ]);
  });
});

test("a server whose command is misspelt is left out with the near word", () => {
  const found = importServers('{"mcpServers":{"a":{"comand":"node"},"b":{"ulr":"http://127.0.0.1:1/mcp"},"c":{}}}');
  expect(found.ok && found.value.notes).toEqual([
    'a: left out, it has neither a command nor a url; did you mean "command" by "comand"?',
    'b: left out, it has neither a command nor a url; did you mean "url" by "ulr"?',
    "c: left out, it has neither a command nor a url",
  ]);
});
