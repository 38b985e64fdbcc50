import { readdir, readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createControlClient } from "../../src/control/client.ts";
import { readToken, tokenFiles } from "../../src/control/tokens.ts";
import { openDoor, type Door } from "../../src/door.ts";
import { EXPORT_FORMATS } from "../../src/llm/types.ts";
import { loadWorkspace } from "../../src/workspace.ts";
import { memoryLog } from "../support/fake-kit.ts";
import { scriptedApp, startKit, topologyText, until, type TestKit } from "../support/kit.ts";
import { answerOf, app, says, tool } from "./support.ts";

/** Secrets that the host knows from its configuration, one for each way in. */
const SECRETS = {
  env: 'env/4f9a+81c2 d7"e6z',
  file: "fil-0a1b2c3d4e5f6a7b",
  header: "hdr-77aa91bcd2e4f0a1",
  query: "qry-9z8y7x6w5v4u3t2s",
  user: "usr-1q2w3e4r5t6y7u8i",
};
/** A secret that nobody told the host, in a shape that everybody knows. */
const SHAPE = `ghp_${"T".repeat(36)}`;

const base64 = (secret: string): string[] => ["", "u", "u:"].map((before) => Buffer.from(`${before}${secret} end`).toString("base64"));
const plain = (secret: string): string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
  Buffer.from(secret).toString("hex"),
  Buffer.from(secret).toString("hex").toUpperCase(),
];

/** Everything that a chatty server could say of the secrets: each in every way in which a text turns up elsewhere. */
const told = Object.values(SECRETS)
  .flatMap((secret) => [...plain(secret), ...base64(secret)])
  .join(" ");
/** What must not be found: of base64 the middle, which does not depend on what stands around it. */
const forms = (secret: string): string[] => [...plain(secret), ...base64(secret).map((text) => text.slice(4, 20))];

const chatty = (more: string): object => ({
  hello: {
    capabilities: { tools: {}, prompts: {}, resources: {}, logging: {} },
    serverInfo: { name: `s ${told}`, version: `1 ${told}` },
    instructions: `Use ${told}.`,
  },
  on: {
    start: [{ stderr: `starting with ${told} and ${more}\n` }],
    "tools/list": [{ result: { tools: [tool("leak", { description: `Knows ${told}.` }), tool("fail"), tool("refuse"), tool("env"), tool("send")] } }],
    "tools/call leak": [
      {
        notify: {
          method: "aurora/event",
          params: { type: "leak.told", session_id: `s ${SECRETS.file}`, summary: `${told} ${more}`, data: { note: `${told} ${more}`, [SECRETS.header]: 1 } },
        },
      },
      { notify: { method: "notifications/message", params: { level: "error", data: `${told} ${more}` } } },
      { stderr: `called with ${told} ${more}\n` },
      { stdout: `noise ${told} ${more}\n` },
      { delay: 100 },
      ...says(`${told}`, { structuredContent: { deep: [{ [SECRETS.file]: told }] } }),
    ],
    "tools/call fail": [
      {
        result: {
          isError: true,
          content: [{ type: "text", text: `${told} ${more}` }],
          structuredContent: { error_code: "E", message: `${told} ${more}`, details: { d: told } },
        },
      },
    ],
    "tools/call refuse": [{ error: { code: -32000, message: `${told} ${more}`, data: { d: told } } }],
    "prompts/list": [{ result: { prompts: [{ name: "daily", description: told }] } }],
    "prompts/get": [{ result: { messages: [{ role: "user", content: { type: "text", text: told } }] } }],
    "resources/list": [{ result: { resources: [{ uri: "leak://x", name: told }] } }],
    "resources/templates/list": [{ result: { resourceTemplates: [] } }],
    "resources/read": [{ result: { contents: [{ uri: "leak://x", text: told }] } }],
  },
});

describe("nothing of a secret is in anything that the host puts out", () => {
  let upstream: Server;
  let t: TestKit;
  let door: Door;
  const log = memoryLog();
  const upstreamHeaders: string[] = [];
  let callerToken = "";
  const out = new Map<string, string>();
  const put = (where: string, value: unknown): void => void out.set(where, typeof value === "string" ? value : JSON.stringify(value));

  beforeAll(async () => {
    upstream = createServer((req, res) => {
      upstreamHeaders.push(JSON.stringify(req.headers));
      void res.writeHead(500).end(`denied for ${req.headers.authorization} at ${req.url}`);
    });
    await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/mcp?api_key=${SECRETS.query}`;
    const apps = {
      "org.case.leak": scriptedApp(chatty(SHAPE), {
        mcp: { env: { API_TOKEN: "${API_TOKEN}", CONFIG: "${file:secret.txt}", BASE: `http://me:${SECRETS.user}@127.0.0.1:1/x` } },
      }),
      "org.case.remote": { mcp: { transport: "http", url, headers: { Authorization: `Bearer ${SECRETS.header}` } } },
      "org.case.dead": app([], { start: [{ stderr: `cannot sign in with ${told} ${SHAPE}\n` }, { exit: 3 }] }),
    };
    const policy = {
      rules: [
        { id: "open", apps: ["org.case.leak"], tools: ["leak", "fail", "refuse", "env"], action: "allow" },
        { id: "ask", tools: ["send"], action: "ask" },
      ],
      approvals: { wait: "10ms" },
    };
    const topology = topologyText(apps, {
      pins: "first_use",
      policies: ["policies/*.yaml"],
      gateway: { listen: "127.0.0.1:0" },
      log: { level: "debug" },
      exports: [{ format: "openai", file: "../data/out.json" }],
    });
    t = await startKit(
      { "topology/topology.yaml": topology, "topology/policies/p.yaml": JSON.stringify(policy), "topology/secret.txt": `${SECRETS.file}\n` },
      { env: { ...process.env, API_TOKEN: SECRETS.env }, log },
    );
    await until(() =>
      t.kit
        .status()
        .apps.filter((a) => a.package !== "org.case.leak")
        .every((a) => a.reason !== null),
    );
    await t.kit.lockAccept(["org.case.leak"]);
    const workspace = await loadWorkspace({ cwd: t.workspace.root, env: { API_TOKEN: SECRETS.env }, topology: t.workspace.topology });
    door = await openDoor({ kit: t.kit, plan: workspace.plan!, log, version: "0.0.0" });
  }, 60_000);
  afterAll(async () => {
    await door.close();
    await t.stop();
    upstream.close();
  });

  it("runs through every door and collects what came out", async () => {
    const names = ["leak", "fail", "refuse", "env"];
    for (const name of names) put(`call of ${name}`, await t.kit.callTool(`org.case.leak.${name}`, {}));
    const { short } = t.kit.catalog().byOwn("org.case.leak", "leak")!;
    put("tool message", await t.kit.executeToolCalls([{ id: "c", type: "function", function: { name: short, arguments: "{}" } }]));
    put("prompt", await t.kit.getPrompt("daily", {}));
    put("resource", await t.kit.readResource("leak://x"));
    put("lists", [t.kit.listPrompts(), t.kit.listResources(), t.kit.instructions!()]);
    // The caller's own arguments hold secrets too, in every form.
    const args = {
      plain: told,
      blob: Buffer.from(`u:${SECRETS.file}`).toString("base64"),
      text: JSON.stringify({ a: JSON.stringify({ t: SECRETS.env }) }),
      [SECRETS.header]: 1,
      shape: SHAPE,
    };
    const asked = await t.kit.callTool("org.case.leak.send", args);
    expect(answerOf(asked)).toBe("APPROVAL_REQUIRED");
    put("refusal", asked);
    put("unknown tool", await t.kit.callTool("org.case.dead.x", args));
    put("approvals", t.kit.listApprovals());

    const tokens = tokenFiles(path.join(t.workspace.root, "data"));
    const caller = (callerToken = await readToken(tokens.caller));
    const control = createControlClient(
      { pid: 1, pid_start: "", started_at: "", topology: "", url: door.url, tls_cert: null, data_dir: "" },
      { caller, operator: await readToken(tokens.operator) },
    );
    put("api", [
      await control.status(),
      await control.toolRows(),
      await control.call("org.case.leak.leak", {}),
      await control.call("org.case.leak.refuse", {}),
      await control.approvals(true),
      await control.plan(),
      await control.lockDiff(),
    ]);
    control.close();
    const client = new Client({ name: "t", version: "1" });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${door.url}/mcp`), { requestInit: { headers: { authorization: `Bearer ${caller}` } } }) as never,
    );
    put("gateway", [
      client.getInstructions(),
      await client.listTools(),
      await client.listPrompts(),
      await client.listResources(),
      await client.callTool({ name: short }),
      await client.callTool({ name: t.kit.catalog().byOwn("org.case.leak", "fail")!.short }),
      await client.readResource({ uri: "leak://x" }),
    ]);
    await client.close();
    for (const route of ["metrics", "healthz", "readyz"])
      put(route, await (await fetch(`${door.url}/${route}`, { headers: { authorization: `Bearer ${caller}` } })).text());

    for (const format of EXPORT_FORMATS) put(`export ${format}`, t.kit.tools(format).text);
    // Between two attempts an app tells its reason; while one is under way it has none.
    await until(() => JSON.stringify(t.kit.status()).includes("denied for"));
    put("status", t.kit.status());
    put("rows", t.kit.toolRows());
    put("explain", t.kit.explain("org.case.leak.send", { args: args as never }));
    put("lock diff", t.kit.lockDiff());
    await t.workspace.write("topology/topology.yaml", `${await readFile(t.workspace.topology, "utf8")}\n# ${told}\nbroken: ${SECRETS.file}`);
    put("rejected reload", await t.kit.reload());
    put("plan", await t.kit.plan());
    await until(async () => (await t.inbox()).some((e) => e.payload.type === "config.rejected"));
    await until(() => t.kit.appLog("org.case.leak").some((line) => line.includes("called with")));
    put(
      "app logs",
      ["org.case.leak", "org.case.dead", "org.case.remote"].map((a) => t.kit.appLog(a)),
    );
    put("inbox", await t.inbox());
    put("sessions", t.kit.listSessions());
    put("host log", log.lines);
    const data = path.join(t.workspace.root, "data");
    for (const file of await readdir(data, { recursive: true })) {
      // Approvals keep the arguments that will run, readable for the owner only; tokens are for clients.
      if (/approvals\.jsonl$|\.token$/.test(file)) continue;
      const text = await readFile(path.join(data, file), "utf8").catch(() => null);
      if (text !== null) put(`file ${file}`, text);
    }
    expect(out.size).toBeGreaterThan(35);
    expect([...out.keys()]).toEqual(expect.arrayContaining(["file audit.jsonl", "file out.json"]));
  }, 60_000);

  it.each(Object.entries(SECRETS))("the %s secret, in no form", (_name, secret) => {
    const leaks = [...out].flatMap(([where, text]) =>
      forms(secret)
        .filter((form) => text.includes(form))
        .map((form) => `${where}: ${form} in …${text.slice(Math.max(0, text.indexOf(form) - 60), text.indexOf(form) + 30)}`),
    );
    expect(leaks).toEqual([]);
  });

  it("a token of a known shape", () => {
    expect([...out].filter(([, text]) => text.includes(SHAPE)).map(([where]) => where)).toEqual([]);
  });

  it("oauth-08: a caller's own token goes to no server", async () => {
    expect(upstreamHeaders.length).toBeGreaterThan(0);
    expect(upstreamHeaders.filter((headers) => headers.includes(callerToken))).toEqual([]);
    expect(out.get("call of env")).not.toContain(callerToken);
  });

  it("and what is no secret is still there", () => {
    expect(out.get("call of leak")).toContain("***");
    expect(out.get("app logs")).toContain("starting with");
    expect(out.get("host log")).toContain("org.case.dead");
    expect(out.get("status")).toContain("denied for");
  });
});
