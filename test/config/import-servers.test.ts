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
  expect(found.notes).toEqual(["My Search: autoApprove is left out; write policy rules instead"]);
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
  expect(found.notes.join("\n")).toMatch(/envFile is not read[\s\S]*~\/ in args[\s\S]*plain http[\s\S]*sse becomes http|~\/ in args[\s\S]*envFile/);
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

test.each([
  ["", "the file is not JSON"],
  ["{", "the file is not JSON"],
  ["[]", 'neither "mcpServers"'],
  ['{"a":1}', 'neither "mcpServers"'],
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
