import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { memoryLog } from "../support/fake-kit.ts";
import type { Exchange } from "../support/http-mcp-server.ts";
import { scriptedApp, startKit, topologyText, until, type TestKit } from "../support/kit.ts";
import { authorizationServer, protectedServer, type AuthorizationServer, type ProtectedServer } from "../support/oauth-server.ts";

/** What a server gives for this connection alone. */
const GIVEN = { cookie: "ck-8f3a1b7c9d2e4f60", session: "ses-5d4c3b2a19087f6e" };
/** Secrets of the configuration in places without a key of their own. */
const WRITTEN = {
  option: "opt-4a5b6c7d8e9f0a1b",
  behind: "beh-1029384756afbecd",
  variable: "var-aa11bb22cc33dd44",
  header: "arg-99ee88dd77cc66bb",
  proxy: "prx-0f1e2d3c4b5a6978",
  client: "cli-6a7b8c9d0e1f2a3b",
};
const APP = "org.case.http";
const STDIO = "org.case.stdio";

describe("what a connection sends in secret, and secrets on command lines and in proxies' addresses, come out nowhere", () => {
  let as: AuthorizationServer;
  let server: ProtectedServer;
  let t: TestKit;
  const log = memoryLog();
  const out = new Map<string, string>();
  const put = (where: string, value: unknown): void => void out.set(where, typeof value === "string" ? value : JSON.stringify(value));
  const accessTokens = new Set<string>();

  /** The server says back whatever it was sent, in each way that it has. */
  const echo = (x: Exchange): boolean => {
    const token = x.headers.authorization!.replace("Bearer ", "");
    accessTokens.add(token);
    const said = `token ${token} ${Buffer.from(token).toString("base64")} jar ${x.headers.cookie?.replace(/^.*=/, "")} id ${String(x.headers["mcp-session-id"])}`;
    const { method, id, params } = x.message;
    const json = { "content-type": "application/json" };
    if (method === "initialize") {
      const result = { protocolVersion: params!["protocolVersion"], capabilities: { tools: {}, logging: {} }, serverInfo: { name: "s", version: "1" } };
      x.reply(200, { ...json, "set-cookie": `lb=${GIVEN.cookie}`, "mcp-session-id": GIVEN.session }, JSON.stringify({ jsonrpc: "2.0", id, result }));
      return true;
    }
    if (method !== "tools/call") return false;
    switch ((params!["arguments"] as { how: string }).how) {
      case "result":
        x.result({ content: [{ type: "text", text: `token ${token}` }], structuredContent: { [token]: token } });
        break;
      case "fault":
        x.reply(500, { "content-type": "text/plain" }, said);
        break;
      case "cut":
        // The excerpt of a body ends in the midst of a secret.
        x.reply(500, { "content-type": "text/plain" }, `${"x".repeat(185)}${GIVEN.cookie}`);
        break;
      case "refusal":
        x.reply(200, json, JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32000, message: said, data: { said } } }));
        break;
      case "stream": {
        const send = x.stream();
        send(said);
        send({ method: "notifications/message", params: { level: "error", data: `token ${token}` } });
        send({ id, result: { isError: true, content: [{ type: "text", text: `token ${token}` }] } });
        x.response.end();
        break;
      }
      default:
        x.reply(200, json, said);
    }
    return true;
  };

  beforeAll(async () => {
    as = await authorizationServer();
    server = await protectedServer(() => as);
    server.refuse = echo;
    const oauth = { grant: "client_credentials", client_id: "me", client_secret: WRITTEN.client };
    const told = Object.values(WRITTEN).join(" ");
    const stdio = scriptedApp({ on: { start: [{ stderr: `run with ${told}\n` }], "tools/list": [{ result: { tools: [] } }] } });
    const mcp = stdio["mcp"] as { command: string | string[]; args?: string[] };
    const more = [
      `--api-key=${WRITTEN.option}`,
      "--token",
      WRITTEN.behind,
      "-e",
      `DB_PASSWORD=${WRITTEN.variable}`,
      "--header",
      `X-Api-Key: ${WRITTEN.header}`,
      "--key",
      "./tls/server.pem",
      "--max-tokens",
      "123456",
    ];
    const topology = topologyText(
      {
        [APP]: { trust: "high", mcp: { transport: "http", url: server.url, auth: { oauth } } },
        [STDIO]: { ...stdio, mcp: { ...mcp, args: [...(mcp.args ?? []), ...more] } },
        "org.case.gone": { mcp: { command: ["./no-such-program", ...more] } },
      },
      { log: { level: "debug", bodies: "debug" } },
    );
    t = await startKit({ "topology/topology.yaml": topology }, { env: { ...process.env, all_proxy: `http://me:${WRITTEN.proxy}@127.0.0.1:1` }, log });
    await until(() => t.kit.status().apps.find((a) => a.package === APP)?.state === "ready");
  }, 60_000);
  afterAll(async () => {
    await t.stop();
    await Promise.all([as.close(), server.close()]);
  });

  it("runs through them all", async () => {
    for (const how of ["result", "fault", "cut", "refusal", "stream", "noise"]) put(how, await t.kit.callTool(`${APP}.echo`, { how }));
    // A new token, so that the old one is not the only one known.
    as.valid.clear();
    put("result again", await t.kit.callTool(`${APP}.echo`, { how: "result" }));
    as.fail = { status: 400, body: `bad client ${WRITTEN.client}` };
    as.valid.clear();
    put("no sign-in", await t.kit.callTool(`${APP}.echo`, { how: "fault" }));
    await until(() => t.kit.appLog(STDIO).length > 0);
    for (const app of [APP, STDIO, "org.case.gone"]) put(`log of ${app}`, t.kit.appLog(app));
    put("status", t.kit.status());
    put("plan", await t.kit.plan());
    put("host log", log.lines);
    const data = path.join(t.workspace.root, "data");
    for (const file of await readdir(data, { recursive: true })) {
      const text = file.endsWith(".token") ? null : await readFile(path.join(data, file), "utf8").catch(() => null);
      if (text !== null) put(`file ${file}`, text);
    }
    expect(accessTokens.size).toBe(2);
    expect(out.get("result")).toContain("token ***");
    expect(out.get("fault")).toMatch(/HTTP 500 .*token \*\*\* \*\*\*\S* jar \*\*\* id \*\*\*/);
    expect(out.get("cut")).toMatch(/x\*\*\*/);
    expect(out.get(`log of ${STDIO}`)).toContain("run with *** ***");
    expect([...out.keys()]).toContain("file audit.jsonl");
  });

  it.each([...Object.entries(GIVEN), ...Object.entries(WRITTEN)])("not the %s", (_name, secret) => {
    for (const form of [secret.slice(0, 12), encodeURIComponent(secret), Buffer.from(secret).toString("base64").slice(4, 20)])
      expect([...out].filter(([, text]) => text.includes(form)).map(([where]) => where)).toEqual([]);
  });

  it("not the tokens of the sign-in", () => {
    for (const token of accessTokens)
      for (const form of [`${token}`, Buffer.from(token).toString("base64").slice(0, 10)])
        expect([...out].filter(([, text]) => text.includes(form)).map(([where]) => where)).toEqual([]);
  });
});
