import { describe, expect, test } from "vitest";
import { compilePlan } from "../../src/plan/compile.ts";
import { lines, load, withManifest, withTopology } from "./workspace.ts";

const inManifest = (text: string): string[] => lines(load(withManifest(text))).map((line) => line.replace("apps/demo/manifest.yaml:", ""));
const inTopology = (text: string): string[] => lines(load(withTopology(text))).map((line) => line.replace("topology/topology.yaml:", ""));

/** A manifest with one more line under mcp. */
const mcp = (line: string): string => `package: a\nmcp:\n  command: node\n  ${line}\n`;

describe("unknown keys", () => {
  test("one typo is one finding that names the key, the near one and the allowed ones", () => {
    const found = inManifest("package: a\nmcp: { comand: node, args: [a.js] }\n");
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(
      /^2:8 error\[unknown-key\] unknown key "comand" in mcp \| did you mean "command"\? \| allowed here: allow_http, args, auth, command, cwd, /,
    );
  });

  test("all of them in one run, at every level", () => {
    expect(
      inManifest(
        "package: a\nmcp:\n  commandd: node\n  idleTTL: 60\n  restart: { enabledd: true }\nauthh: { enabled: true }\ncommands: [{ name: x, rsk: low }]\n",
      ).map((line) => line.split(" | ")[0]),
    ).toEqual([
      '3:3 error[unknown-key] unknown key "commandd" in mcp',
      '4:3 error[unknown-key] unknown key "idleTTL" in mcp',
      '5:14 error[unknown-key] unknown key "enabledd" in mcp.restart',
      '6:1 error[unknown-key] unknown key "authh" at the top level',
      '7:23 error[unknown-key] unknown key "rsk" in commands[0]',
    ]);
  });

  test.each([
    ["environment: { A: b }", 'did you mean "env"?'],
    ["cmd: node", 'did you mean "command"?'],
    ["healthTimeout: 5", 'did you mean "health_timeout"?'],
    ["workdir: .", 'did you mean "cwd"?'],
    ["trust: high", '"trust" belongs at the top level'],
    ["timeout: 5", 'did you mean "health_timeout"?'],
  ])("under mcp, %s", (line, label) => {
    expect(inManifest(mcp(line))[0]).toContain(` | ${label} | `);
  });

  test.each([
    ["headers: { A: b }", '"headers" belongs under "mcp"'],
    ["disabled: true", 'did you mean "enabled: false"?'],
    ["timeout: 5", 'did you mean "call_timeout"?'],
    ["environment: { A: b }", 'did you mean "env"?'],
    ["risk: high", undefined],
  ])("at the top of a manifest, %s", (line, label) => {
    const [found] = inManifest(`package: a\nmcp: { command: node }\n${line}\n`);
    expect(found).toContain("unknown key");
    if (label) expect(found).toContain(` | ${label} | `);
  });

  test.each([
    ["servers: { a: 1 }", 'did you mean "apps"?'],
    ["mcpServers: { a: 1 }", 'did you mean "apps"?'],
    ["policy: [x]", 'did you mean "policies"?'],
    ["exprots: []", 'did you mean "exports"?'],
  ])("at the top of the topology, %s", (line, label) => {
    expect(inTopology(`topology: 1\n${line}\n`)[0]).toContain(` | ${label} | `);
  });

  test("keys that start with x- are for anchors and other tools", () => {
    const found = load(withManifest("package: a\nx-env: &env { A: b }\nmcp: { command: node, env: *env, x-note: hi }\n"));
    expect(lines(found)).toEqual([]);
    expect(found.config!.apps[0]).toMatchObject({ settings: { mcp: { env: { A: "b" } } } });
    expect(JSON.stringify(found.config!.apps)).not.toContain("x-");
  });

  test("the older AuroraBot keys are taken, whatever they hold", () => {
    expect(
      inManifest(
        "package: a\nbrain_version: 012\napp_desc: [1]\nauthor: { n: x }\nlicense:\nhomepage: 5\nicon: 0x1F\nmcp: { command: node }\ncommands:\n  - { name: x, parameters: [a], returns: { b: c } }\n",
      ),
    ).toEqual([]);
  });
});

describe("values", () => {
  test("numbers where a text is wanted keep what was written, or must be put in quotes", () => {
    const found = load(
      withManifest(
        "package: a\nversion: 1.10\nmcp: { command: node, env: { A: 012, B: 0x1F, C: 1234567890123456789012, D: 42e1234, E: true, F: 1e3, G: .5 } }\n",
      ),
    );
    expect(lines(found)).toEqual([]);
    expect(found.config!.apps[0]).toMatchObject({
      settings: { version: "1.10", mcp: { env: { A: "012", B: "0x1F", C: "1234567890123456789012", D: "42e1234", E: "true", F: "1e3", G: ".5" } } },
    });
    expect(inManifest(mcp("args: [8080]"))[0]).toBe('4:10 error[wrong-type] args[0] must be a text, found the number 8080 | write it in quotes: "8080"');
    expect(inManifest("package: a\nname: 1.10\nmcp: { command: node }\n")[0]).toContain('write it in quotes: "1.10"');
  });

  test.each(["012", "0x1F", "0o17", "1234567890123456789012", "42e1234", ".inf", ".5", "1."])("a number written as %s is no plain number", (text) => {
    expect(inManifest(`package: a\nmcp: { command: node }\nmax_concurrent_calls: ${text}\n`)[0]).toContain(
      `error[ambiguous-number] max_concurrent_calls: ${text} ${/^[1-9]\d+$|e/.test(text) ? "has more digits" : "is not a plain decimal number"}`,
    );
  });

  test("a policy value that would lose digits is refused too", () => {
    const result = load(
      withTopology("topology: 1\n", {
        files: { "topology/policies/a.yaml": "rules:\n  - { id: a, args: { n: { equals: 1234567890123456789012 } }, action: allow }\n" },
      }),
    );
    expect(lines(result)[0]).toContain("error[ambiguous-number] rules[0].args.n.equals: 1234567890123456789012 has more digits than a number keeps");
    expect(result.config!.policies).toMatchObject([{ wrong: [["rules", 0, "args", "n", "equals"]] }]);
    expect(compilePlan(result.config!, { secretKey: "k" }).plan.policy.refusal).not.toBeNull();
    expect(result.unitOk).toBe(false);
  });

  test.each([
    ["restart: { enabled: yes }", 'restart.enabled must be true or false, found the text "yes" | write true, without quotes'],
    ['restart: { max_attempts: "3" }', 'restart.max_attempts must be a whole number, found the text "3" | write it without quotes'],
    ["restart: { max_attempts: 2.5 }", "restart.max_attempts must be a whole number, found 2.5"],
    ["restart: { max_attempts: -1 }", "restart.max_attempts must be 0 or more, found -1"],
    ["restart: [enabled]", "mcp.restart must be a map of keys, found a list"],
    ["args: a.js", 'mcp.args must be a list, found the text "a.js" | write a list: ["a.js"]'],
    ["args: { a: b }", "mcp.args must be a list, found a map of keys"],
    ["args:", "mcp.args is empty; it must be a list"],
    ["command: 5", "duplicate"],
    ["transport: sse", '"sse" is not one of the words allowed | did you mean "http"? | allowed: stdio, http'],
    ["handover: overlapp", 'did you mean "overlap"?'],
    ["health_timeout: 10 sec", '"10 sec" is not a duration | write a number of seconds, or a text such as 250ms'],
    ["health_timeout: -1", "mcp.health_timeout must be 0 or more"],
    ["health_timeout: 60d", "longer than 24 days"],
    ["line_bytes: 4 megs", '"4 megs" is not a size'],
    ["inherit_env: [MY-VAR]", "inherit_env[0] must be the name of an environment variable"],
    ["env: { MY-VAR: x }", '"MY-VAR" is not the name of an environment variable'],
    ["cwd: ''", "mcp.cwd must not be empty"],
  ])("mcp with %s", (line, expected) => {
    const found = inManifest(mcp(line));
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(expected);
  });

  test("a union is told as a whole, and only the branch that is meant", () => {
    expect(inManifest("package: a\nmcp: { command: { a: b } }\n")).toEqual([
      "2:19 error[wrong-type] mcp.command must be a text or a list, found a map of keys | put a dash in front of each entry",
    ]);
    expect(inTopology("topology: 1\ndiscover: [{ globb: x }, 5]\n").map((line) => line.split(" | ")[0])).toEqual([
      '2:14 error[unknown-key] unknown key "globb" in discover[0]',
      "2:26 error[wrong-type] discover[1] must be a text or a map of keys, found the number 5",
    ]);
  });

  test("words are told with the near one", () => {
    expect(inTopology("topology: 1\nreload: false\npins: enforced\nexports: [{ format: openapi, file: x }]\n")).toEqual([
      '2:9 error[unknown-value] reload: false is not one of the words allowed | did you mean "off"? | allowed: auto, confirm, off',
      '3:7 error[unknown-value] pins: "enforced" is not one of the words allowed | did you mean "enforce"? | allowed: first_use, enforce, warn, off',
      expect.stringContaining('4:21 error[unknown-value] exports[0].format: "openapi" is not one of the words allowed | did you mean "openai"?'),
    ]);
  });

  test("words for yes and no where a folder may stand", () => {
    const words = "inbox, off, or a folder (one that is called yes or none is written ./yes)";
    expect(inTopology("topology: 1\ninbox: { receipts: yes }\n")).toEqual([`2:20 error[bad-format] inbox.receipts must be ${words}, found "yes"`]);
    expect(inTopology("topology: 1\ninbox: { receipts: true }\n")[0]).toContain(`| write ${words}`);
    for (const word of ["off", "inbox", "./yes", "nothing", "norway"]) expect(inTopology(`topology: 1\ninbox: { receipts: ${word} }\n`)).toEqual([]);
  });

  test("required keys", () => {
    expect(inTopology("name: x\n")[0]).toContain('1:1 error[missing-key] the file needs the key "topology" | add "topology: 1"');
    expect(inTopology("{}\n")[0]).toContain('| add "topology: 1"');
    expect(inTopology('topology: "1"\n')[0]).toBe('1:11 error[unknown-value] topology: "1" must be 1 | write it without quotes');
    expect(inTopology("topology: 2\n")[0]).toContain("topology: 2 must be 1");
    expect(inManifest("package: a\ntype: mcp-server\n")[0]).toContain('1:1 error[missing-key] the file needs the key "mcp"');
    expect(inManifest("mcp: { command: node }\n")[0]).toContain('error[missing-key] the file needs the key "package"');
  });

  test("a policy word that is misspelt is never no policy", () => {
    const result = load(
      withTopology("topology: 1\n", { files: { "topology/policies/a.yaml": "rules:\n  - { id: a, tools: [x], risk: lwo, enviroment: { K: v } }\n" } }),
    );
    expect(result.unitOk).toBe(false);
    expect(lines(result).map((line) => line.split(" | ")[0])).toEqual([
      'topology/policies/a.yaml:2:32 error[unknown-value] rules[0].risk: "lwo" is not one of the words allowed',
      'topology/policies/a.yaml:2:37 error[unknown-key] unknown key "enviroment" in rules[0]',
    ]);
  });

  test("files cannot pull in others", () => {
    const found = inTopology("topology: 1\npolicies:\n  - $file: ../../../etc/passwd\n");
    expect(found).toEqual(["3:5 error[wrong-type] policies[0] must be a text, found a map of keys"]);
  });
});

test("a grant that forwards wants a connection for each session", () => {
  const app = (more: string): string[] => inManifest(`package: a\nmcp: { command: node }\n${more}`);
  expect(app("grants: { sampling: { forward: true }, elicitation: { forward: true, approvals: true } }\n")).toEqual([
    expect.stringMatching(
      /^3:32 warning\[forward-needs-session\] forward has no effect: a has one connection for all .*sampling .* \| write isolation: session/,
    ),
    expect.stringMatching(/^3:64 warning\[forward-needs-session\] .*elicitation/),
  ]);
  expect(app("isolation: shared\ngrants: { sampling: { forward: true } }\n")).toHaveLength(1);
  for (const fine of ["isolation: session\ngrants: { sampling: { forward: true } }\n", "grants: { sampling: { forward: false } }\n"])
    expect(app(fine)).toEqual([]);
  expect(app("isolation: sesion\ngrants: { sampling: { forward: true } }\n")).toEqual([expect.stringContaining("unknown-value")]);
});

describe("transports", () => {
  test.each([
    ["mcp: { command: node, url: 'https://x/mcp' }", "two-transports", "a has both a command and a url"],
    ["mcp: { args: [a.js] }", "no-transport", "mcp needs a command (a program to start) or a url (a server to reach)"],
    ["mcp: { transport: http }", "no-transport", "mcp needs a url"],
    ["mcp: { transport: stdio }", "no-transport", "mcp needs a command"],
    ["mcp: { entry: a.py }", "no-transport", "a has an entry and no command that runs it"],
    ["mcp: { transport: stdio, url: 'https://x/mcp' }", "wrong-transport", 'transport is stdio, but a url is given | did you mean "http"?'],
    ["mcp: { transport: http, command: node }", "wrong-transport", 'transport is http, but a command is given | did you mean "stdio"?'],
    [
      "mcp: { command: node, headers: { A: b } }",
      "wrong-transport",
      "headers belongs to a server that is reached by URL (http); a is a program that is started (stdio)",
    ],
    ["mcp: { url: 'https://x/mcp', args: [a] }", "wrong-transport", "args belongs to a program that is started (stdio)"],
    ["env: { A: b }\nmcp: { url: 'https://x/mcp' }", "wrong-transport", "env belongs to"],
    ["mcp: { url: 'http://example.org/mcp' }", "plain-http", "example.org is reached over plain http"],
    ["mcp: { url: 'http://127.0.0.1.example.org/mcp' }", "plain-http", "127.0.0.1.example.org"],
    ["mcp: { url: 'https://' }", "bad-format", "mcp.url is not a URL"],
    ["mcp: { url: 'https://x/', headers: { 'A B': c } }", "bad-format", "not the name of an HTTP header"],
    ['mcp: { url: "https://x/", headers: { A: "b\\r\\nC: d" } }', "bad-format", "holds a line break"],
    ['mcp: { command: node, args: ["a\\0b"] }', "bad-format", "holds a zero byte"],
    ["mcp: { command: '' }", "out-of-range", "must not be empty"],
    ["mcp: { command: [' '] }", "out-of-range", "the command is empty"],
    ["mcp: { command: node, protocol: modern }", "unsupported-protocol", "reserved for a later release"],
  ])("%s", (line, code, message) => {
    const found = inManifest(`package: a\n${line}\n`);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`error[${code}]`);
    expect(found[0]).toContain(message);
  });

  test.each(["http://127.0.0.1:1/mcp", "http://localhost/mcp", "http://[::1]:80/mcp", "http://127.1.2.3/", "https://example.org/"])(
    "%s needs no leave",
    (url) => {
      expect(inManifest(`package: a\nmcp: { url: '${url}' }\n`)).toEqual([]);
    },
  );

  test("plain http beyond loopback with leave", () => {
    expect(inManifest("package: a\nmcp: { url: 'http://10.0.0.5/mcp', allow_http: true }\n")).toEqual([]);
  });
});

describe("the topology", () => {
  test("AuroraBot's brain graph is told from a topology", () => {
    const found = inTopology("nodes:\n  - { id: internalizer }\nedges: []\n");
    expect(found).toEqual([expect.stringContaining("1:1 error[brain-graph] topology/topology.yaml is AuroraBot's brain graph")]);
  });

  test.each([
    ["0.0.0.0:7800", "", "insecure-listen", "without TLS"],
    ["10.0.0.1:7800", ", auth: { mode: none }, allow_insecure_listen: true", "insecure-listen", "auth mode none is for loopback only"],
    ["127.0.0.1:70000", "", "out-of-range", "there is no port 70000"],
    ["7800", "", "wrong-type", "gateway.listen must be a text"],
    ["localhost", "", "bad-format", "an address and a port"],
  ])("gateway.listen: %s%s", (listen, more, code, message) => {
    const found = inTopology(`topology: 1\ngateway: { listen: ${listen === "7800" ? listen : `"${listen}"`}${more} }\n`);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`error[${code}]`);
    expect(found[0]).toContain(message);
  });

  test("equal names in lists", () => {
    const [found] = load(withTopology("topology: 1\ngateway: { clients: [{ name: a, token_file: x }, { name: a, token_file: y }] }\n")).diagnostics;
    expect(found).toMatchObject({ code: "duplicate-name", message: 'the client "a" is there twice', related: [{ place: { line: 2, column: 30 } }] });
  });
});

describe("paths with ~", () => {
  test.each(["args: [run, ~/tools/server.py]", "cwd: ~/x", "entry: ~/x.py"])("%s is refused with a hint, never taken as it stands", (line) => {
    const [found, ...more] = inManifest(mcp(line));
    expect(more).toEqual([]);
    expect(found).toContain("error[tilde-path]");
    expect(found).toContain("write ${HOME}/… instead");
  });

  test("in command, and in the topology's own paths", () => {
    expect(inManifest("package: a\nmcp: { command: ~/bin/x }\n")[0]).toContain("2:17 error[tilde-path]");
    expect(inTopology("topology: 1\ndata_dir: ~/data\napps: { a: { mcp: { command: node, args: ['~/x'] } } }\n").map((line) => line.split(" | ")[0])).toEqual([
      '2:11 error[tilde-path] "~/data" starts with ~, which only a shell would expand',
      '3:43 error[tilde-path] "~/x" starts with ~, which only a shell would expand',
    ]);
  });
});
