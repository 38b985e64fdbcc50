import { afterEach, describe, expect, it } from "vitest";
import { scriptedApp, startKit, topologyText, type TestKit } from "../support/kit.ts";

describe("a named client's own tool selection", () => {
  let t: TestKit;
  afterEach(() => t.stop());

  it("holds for calls, tool calls and exports alike: what it leaves out does not exist", async () => {
    t = await startKit({
      "topology/topology.yaml": topologyText(
        { "org.test.a": scriptedApp({}), "org.test.b": scriptedApp({}) },
        { gateway: { clients: [{ name: "bot", token_file: "../data/run/bot.token", tools: { exclude: ["org.test.b/*"] } }] }, policies: ["policies/*.yaml"] },
      ),
      "topology/policies/p.yaml": JSON.stringify({ rules: [{ id: "low", tools: ["*"], risk: "low" }] }),
    });
    expect((await t.kit.callTool("org.test.a.echo", {}, { client: "bot" })).ok).toBe(true);
    expect((await t.kit.callTool("org.test.b.echo", {}, { client: "bot" })).error?.error_code).toBe("TOOL_NOT_FOUND");
    expect((await t.kit.callTool("org_test_b_echo", {}, { client: "bot" })).error?.error_code).toBe("TOOL_NOT_FOUND");
    const near = (await t.kit.callTool("org.test.b.ecko", {}, { client: "bot" })).error;
    expect(JSON.stringify(near)).not.toContain("org.test.b.echo");
    const [message] = await t.kit.executeToolCalls([{ id: "c", type: "function", function: { name: "org_test_b_echo", arguments: "{}" } }], { client: "bot" });
    expect(message!["content"]).toContain("TOOL_NOT_FOUND");
    expect(t.kit.tools("openai", { client: "bot" }).text).not.toContain("org_test_b");
    expect((await t.kit.callTool("org.test.b.echo", {}, { client: "other" })).ok).toBe(true);
  });
});
