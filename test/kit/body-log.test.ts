import { afterEach, expect, it } from "vitest";
import { memoryLog } from "../support/fake-kit.ts";
import { scriptedApp, startKit, topologyText, type TestKit } from "../support/kit.ts";

let t: TestKit;
afterEach(() => t.stop());

const KEY = ["sk", "b".repeat(30)].join("-");
const app = scriptedApp({ on: { "tools/call echo": [{ result: { content: [{ type: "text", text: "sent to Mia" }] } }] } });

async function linesWith(settings: object): Promise<string> {
  const log = memoryLog();
  t = await startKit({ "topology/topology.yaml": topologyText({ "org.test.a": app }, { log: settings }) }, { log });
  const done = await t.kit.callTool("org.test.a.echo", { to: "Mia", text: "see you at nine", api_key: KEY });
  expect(done.ok).toBe(true);
  await t.kit.callTool("org.test.a.echo", {});
  // Calls are written down a moment after their answer, at the latest now.
  await t.kit.close();
  return log.lines.filter((line) => line.startsWith("debug call ")).join("\n");
}

it("has no request or response bodies, unless the configuration says so", async () => {
  expect(await linesWith({ level: "debug" })).toBe("");
});

it("has masked bodies at debug, and of chat texts only their length", async () => {
  const lines = await linesWith({ level: "debug", bodies: "debug" });
  expect(lines).toContain('"to":"Mia"');
  expect(lines).toContain('"text":"string(15)"');
  expect(lines).toContain('"text":"string(11)"');
  expect(lines).not.toMatch(/see you|sent to/);
  expect(lines).not.toContain(KEY);
});

it("has chat texts where that is allowed too", async () => {
  const lines = await linesWith({ level: "debug", bodies: "debug", chat_text: true });
  expect(lines).toContain("see you at nine");
  expect(lines).toContain("sent to Mia");
  expect(lines).not.toContain(KEY);
});
