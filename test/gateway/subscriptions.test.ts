import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { request } from "../support/door.ts";
import { openGatewayDoor, RawSession, type GatewayDoor } from "../support/gateway-door.ts";
import { scriptedApp, startKit, topologyText, type TestKit } from "../support/kit.ts";

const APP = "org.test.a";
const uri = "demo://a";
const script = {
  hello: { capabilities: { tools: {}, resources: { subscribe: true } } },
  on: {
    "tools/list": [{ result: { tools: ["touch", "journal"].map((name) => ({ name, inputSchema: { type: "object" } })) } }],
    "tools/call touch": [{ notify: { method: "notifications/resources/updated", params: { uri } } }, { result: { content: [] } }],
    "resources/list": [{ result: { resources: [{ uri, name: "a" }] } }],
    "resources/templates/list": [{ result: { resourceTemplates: [] } }],
    "resources/subscribe": [{ delay: 100 }, { result: {} }],
    "resources/unsubscribe": [{ result: {} }],
  },
};
const topology = (apps: object): string => topologyText(apps as Record<string, unknown>, { pins: "off", policies: ["policies/*.yaml"] });

let t: TestKit;
let door: GatewayDoor;
async function start(): Promise<void> {
  t = await startKit({
    "topology/topology.yaml": topology({ [APP]: scriptedApp(script) }),
    "topology/policies/p.yaml": JSON.stringify({
      rules: [
        { id: "tools", tools: ["*"], action: "allow", reason: "tests" },
        { id: "no-bots", resources: [uri], clients: ["bot"], action: "deny", reason: "not for bots" },
      ],
    }),
  });
  door = await openGatewayDoor(t.kit, { gateway: { clients: [{ name: "bot", tokenFile: "", include: null, exclude: [] }] } });
}
afterEach(async () => {
  await door.stop();
  await t.stop();
});

/** What the server was asked about subscriptions in its present life. */
async function upstream(): Promise<string[]> {
  const { result } = await t.kit.callTool(`${APP}.journal`, {});
  const [block] = (result as JsonObject)["content"] as { text: string }[];
  return (JSON.parse(block!.text) as { method: string }[]).map(({ method }) => method).filter((method) => method.endsWith("subscribe"));
}
const subscribe = (session: RawSession) => session.rpc("resources/subscribe", { uri });
const isUpdate = (message: Record<string, unknown>): boolean => message["method"] === "notifications/resources/updated";

describe("subscriptions of several sessions to one resource", () => {
  it("that are made at the same time all count; the server is asked once, and let go after the last", async () => {
    await start();
    const sessions = [await RawSession.open(door), await RawSession.open(door)];
    const streams = sessions.map((session) => session.stream("GET", null));
    await Promise.all(streams.map((stream) => stream.head));
    expect(await Promise.all(sessions.map(subscribe))).toMatchObject([{ result: {} }, { result: {} }]);
    await t.kit.callTool(`${APP}.touch`, {});
    await Promise.all(streams.map((stream) => stream.until(isUpdate)));
    await sessions[0]!.rpc("resources/unsubscribe", { uri });
    expect(await upstream()).toEqual(["resources/subscribe"]);
    await sessions[1]!.rpc("resources/unsubscribe", { uri });
    expect(await upstream()).toEqual(["resources/subscribe", "resources/unsubscribe"]);
    for (const stream of streams) stream.drop();
  });

  it("are judged each for its own client", async () => {
    await start();
    expect(await subscribe(await RawSession.open(door))).toMatchObject({ result: {} });
    const bot = await RawSession.open(door, { token: await door.tokenOf("bot") });
    expect(await subscribe(bot)).toMatchObject({ error: { data: { error_code: "POLICY_DENIED" } } });
  });

  it("end with their session, also when the app is gone by then", async () => {
    await start();
    const session = await RawSession.open(door);
    await subscribe(session);
    await t.workspace.write("topology/topology.yaml", topology({}));
    expect(await t.kit.reload()).toMatchObject({ result: "applied" });
    expect(await request(door, "DELETE", "/mcp", { token: session.token, headers: session.headers() })).toMatchObject({ status: 204 });
    await t.workspace.write("topology/topology.yaml", topology({ [APP]: scriptedApp(script) }));
    await t.kit.reload();
    expect(await upstream()).toEqual([]);
  });
});
