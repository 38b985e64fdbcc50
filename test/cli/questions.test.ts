import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtCli, runCli, runCliJson, startCli, type RunningCli } from "../support/built-cli.ts";
import { topologyText, until } from "../support/kit.ts";
import { makeWorkspace, type TestWorkspace } from "../support/workspace.ts";

const ASKING = fileURLToPath(new URL("../support/servers/asking.mjs", import.meta.url));

let workspace: TestWorkspace;
let host: RunningCli;
const run = (...args: string[]): ReturnType<typeof runCli> => runCli(args, { cwd: workspace.root });

beforeAll(async () => {
  await builtCli();
  const asking = { trust: "high", mcp: { command: [process.execPath, ASKING] }, grants: { elicitation: { approvals: true } } };
  workspace = await makeWorkspace({
    "topology/topology.yaml": topologyText({ "org.test.asking": asking }, { gateway: { listen: "127.0.0.1:0" }, pins: "off" }),
  });
  host = await startCli(["up"], { cwd: workspace.root });
  host.child.stdin.end();
  await host.until(/^gateway /m, 60_000);
}, 180_000);

afterAll(async () => {
  host.child.kill("SIGTERM");
  await host.done;
  await workspace.remove();
}, 30_000);

/** Has the server ask; gives how `approvals list` shows it, the id, and what the server will have heard. */
async function ask(params: object): Promise<{ readonly shown: string; readonly id: string; readonly heard: Promise<unknown> }> {
  const heard = runCliJson(["call", "org.test.asking.ask", "--args", JSON.stringify(params)], { cwd: workspace.root }).then(
    ({ value }) => JSON.parse(value.result.content[0].text) as unknown,
  );
  let shown = "";
  await until(async () => (shown = (await run("approvals", "list")).stdout).includes(" asks: "), 30_000);
  return { shown, id: /aurora-mcp approvals approve (\S+)/.exec(shown)![1]!, heard };
}

describe("questions of apps at a terminal", { timeout: 120_000 }, () => {
  it("an address: who asks, the site by itself, how an international name reads, and what a browser would open", async () => {
    const { shown, id, heard } = await ask({ mode: "url", elicitationId: "e", message: "Log in\u202e", url: "https://аррӏе.com/a b" });
    expect(shown.split("\n")).toEqual(
      expect.arrayContaining([
        "  org.test.asking asks: Log in\\u{202e}",
        "  at the site: xn--80ak6aa92e.com  (an international name that reads аррӏе.com)",
        "  whole address: https://xn--80ak6aa92e.com/a%20b",
      ]),
    );
    expect(await run("approvals", "approve", id)).toMatchObject({ code: 0 });
    expect(await heard).toEqual({ action: "accept" });
  });

  it("a form: an answer that does not fit is refused with what is missing, a fitting one is what the server gets", async () => {
    const { shown, id, heard } = await ask({
      message: "Where to?",
      requestedSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    });
    expect(shown).toContain('  its form: {"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}');
    expect(await run("approvals", "approve", id, "--answer", "{}")).toMatchObject({ code: 1, stderr: expect.stringContaining("city") });
    expect(await run("approvals", "approve", id, "--answer", '{"city":"Oslo"}')).toMatchObject({ code: 0 });
    expect(await heard).toEqual({ action: "accept", content: { city: "Oslo" } });
  });

  it.each([
    ["deny", "decline"],
    ["cancel", "cancel"],
  ])("%s is %s for the server", async (word, action) => {
    const { id, heard } = await ask({ message: "?", requestedSchema: { type: "object", properties: {} } });
    expect(await run("approvals", word, id)).toMatchObject({ code: 0 });
    expect(await heard).toEqual({ action });
  });
});
