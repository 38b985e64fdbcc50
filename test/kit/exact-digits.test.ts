import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringifyExact, parseExact } from "../../src/base/exact-json.ts";
import type { Json, JsonObject } from "../../src/base/json.ts";
import { httpMcpServer, type HttpMcpServer } from "../support/http-mcp-server.ts";
import { scriptedApp, startKit, topologyText, type TestKit } from "../support/kit.ts";

const BIG = "9223372036854775807";
const WRITTEN = `{"id":${BIG},"deep":[{"low":-9223372036854775808}],"small":7,"text":"9007199254740993"}`;
const OUTPUT = { type: "object", properties: { id: { type: "integer" }, small: { type: "integer", maximum: 10 } }, required: ["id"] };

describe("whole numbers of 64 bits", () => {
  let t: TestKit;
  let http: HttpMcpServer;
  const bodies: string[] = [];
  beforeAll(async () => {
    http = await httpMcpServer(({ message, body, reply }) => {
      if (message.method !== "tools/call") return false;
      bodies.push(body);
      const written = /"arguments":(\{.*\}),"_meta"/.exec(body)![1]!;
      reply(200, { "content-type": "application/json" }, `{"jsonrpc":"2.0","id":${message.id},"result":{"content":[],"structuredContent":${written}}}`);
      return true;
    });
    const tools = [{ name: "keep", inputSchema: { type: "object" }, outputSchema: OUTPUT }];
    t = await startKit({
      "topology/topology.yaml": topologyText({
        "org.example.pipe": scriptedApp({ on: { "tools/list": [{ result: { tools } }], "tools/call keep": [{ mirror: true }] } }, { output_check: "strict" }),
        "org.example.web": { trust: "high", mcp: { transport: "http", url: http.url } },
      }),
    });
  });
  afterAll(async () => {
    await t.stop();
    await http.close();
  });

  it.each(["org.example.pipe.keep", "org.example.web.echo"])("go from a model's call through %s into its tool message, digit for digit", async (name) => {
    const [message] = await t.kit.executeToolCalls([{ id: "1", type: "function", function: { name, arguments: WRITTEN } }]);
    expect(message).toMatchObject({ role: "tool", tool_call_id: "1" });
    expect(message!["content"]).toContain(WRITTEN);
  });

  it("reach an HTTP server as they were written", () => {
    expect(bodies.at(-1)).toContain(`"id":${BIG}`);
  });

  it("are numbers to an outputSchema, and keep their digits in the library's result", async () => {
    const call = await t.kit.callTool("org.example.pipe.keep", parseExact(WRITTEN) as Json);
    expect(call).toMatchObject({ ok: true, notes: [] });
    expect(stringifyExact((call.result as JsonObject)["structuredContent"])).toBe(WRITTEN);
    expect((await t.kit.callTool("org.example.pipe.keep", { small: 11, id: 1 })).error).toMatchObject({ error_code: "RESULT_INVALID" });
  });

  it("cost nothing where there are none: plain values are written by JSON.stringify, with its indent", () => {
    const plain = { a: [1, { b: "9223372036854775807" }] };
    expect(stringifyExact(plain, 2)).toBe(JSON.stringify(plain, null, 2));
    expect(stringifyExact(undefined)).toBe("null");
  });
});
