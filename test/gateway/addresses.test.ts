import { fileURLToPath } from "node:url";
import { ElicitationCompleteNotificationSchema, ElicitRequestSchema, UrlElicitationRequiredError } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, describe, expect, it } from "vitest";
import { topologyText, until } from "../support/kit.ts";
import { startGateway, type SdkGateway } from "../support/sdk-gateway.ts";

const ASKING = fileURLToPath(new URL("../support/servers/asking.mjs", import.meta.url));

let t: SdkGateway;
afterEach(() => t.stop());

async function start(app: object): Promise<void> {
  t = await startGateway({
    "topology/topology.yaml": topologyText(
      { "org.test.asking": { mcp: { command: [process.execPath, ASKING] }, isolation: "session", ...app } },
      { pins: "off", gateway: { listen: "127.0.0.1:0" }, policies: ["policies/*.yaml"] },
    ),
    "topology/policies/p.yaml": JSON.stringify({ rules: [{ id: "low", apps: ["org.test.asking"], tools: ["ask", "visit", "finish"], risk: "low" }] }),
  });
}

/** An SDK client that opens every address that it is asked to, and what it heard. */
async function connect(elicitation: { url?: object; form?: Record<string, unknown> }) {
  const asked: Record<string, unknown>[] = [];
  const completed: string[] = [];
  const client = await t.connect({ elicitation }, (made) => {
    made.setRequestHandler(ElicitRequestSchema, ({ params }) => (asked.push(params), { action: "accept" as const }));
    made.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => void completed.push(params.elicitationId));
  });
  const call = async (tool: string, args: Record<string, unknown>): Promise<unknown> => {
    const result = (await client.callTool({ name: `org_test_asking_${tool}`, arguments: args })) as { isError?: boolean; content: { text: string }[] };
    return { ...(result.isError ? { isError: true } : {}), ...(JSON.parse(result.content[0]!.text) as object) };
  };
  return { asked, completed, call };
}

const FORWARD = { grants: { elicitation: { forward: true } } };
const SITE = { elicitationId: "e-1", message: "Sign in", url: "https://bank.example/go?token=abcdefghij0123456789" };

describe("addresses that an app wants opened", () => {
  it("reach the calling client as they are, signed with the app's name; that it is done reaches the same client and no other", async () => {
    await start(FORWARD);
    const [one, other] = [await connect({ url: {} }), await connect({ url: {}, form: {} })];
    expect(await one.call("ask", { mode: "url", ...SITE })).toEqual({ action: "accept" });
    expect(one.asked).toEqual([
      {
        ...SITE,
        mode: "url",
        message: "org.test.asking asks to open bank.example: Sign in",
        _meta: expect.objectContaining({ "aurora/app": "org.test.asking" }),
      },
    ]);
    // A server of its own for each client may use the same ids.
    await other.call("ask", { mode: "url", ...SITE });
    for (const elicitationId of ["none", "e-1", "e-1"]) await other.call("finish", { elicitationId });
    await until(() => other.completed.length > 0);
    expect([one.completed, other.completed]).toEqual([[], ["e-1"]]);
    await one.call("finish", { elicitationId: "e-1" });
    await until(() => one.completed.length > 0);
    expect([one.completed, other.completed]).toEqual([["e-1"], ["e-1"]]);
  });

  it("are the MCP error −32042 where the app says it so, and that it is done is told then too", async () => {
    await start(FORWARD);
    const client = await connect({ url: {} });
    const error = await client.call("visit", SITE).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UrlElicitationRequiredError);
    expect((error as UrlElicitationRequiredError).elicitations).toEqual([
      { ...SITE, mode: "url", message: "org.test.asking asks to open bank.example: Sign in", _meta: { "aurora/app": "org.test.asking" } },
    ]);
    expect((error as Error).message).toContain(
      "org.test.asking wants a person to open an address at bank.example first; call org.test.asking.visit again after that",
    );
    await client.call("finish", { elicitationId: "e-1" });
    await until(() => client.completed.length === 1);
  });

  it("are never put before a client that cannot show them, nor one that no grant lets be asked; nothing but a web site is", async () => {
    await start(FORWARD);
    const plain = await connect({ form: {} });
    expect(await plain.call("ask", { mode: "url", ...SITE })).toMatchObject({ refused: expect.stringContaining("does not support url") });
    // There it is the app's own error, as on the HTTP API.
    expect(await plain.call("visit", SITE)).toMatchObject({ isError: true, error_code: "PROTOCOL_ERROR" });
    expect((await t.kit.callTool("org.test.asking.visit", SITE)).error).toMatchObject({ error_code: "PROTOCOL_ERROR" });
    const client = await connect({ url: {} });
    const bad = { ...SITE, url: "javascript:alert(1)" };
    expect(await client.call("ask", { mode: "url", ...bad })).toMatchObject({ refused: expect.stringContaining("http or https") });
    expect(await client.call("visit", { ...SITE, url: `https://bank.example/${"x".repeat(2000)}` })).toMatchObject({ error_code: "PROTOCOL_ERROR" });
    expect(await client.call("visit", bad)).toMatchObject({ isError: true, error_code: "PROTOCOL_ERROR" });
    expect([plain.asked, client.asked]).toEqual([[], []]);
    await t.stop();
    await start({});
    const ungranted = await connect({ url: {} });
    expect(await ungranted.call("visit", SITE)).toMatchObject({ isError: true, error_code: "PROTOCOL_ERROR" });
  });
});
