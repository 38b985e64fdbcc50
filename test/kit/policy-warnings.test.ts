import { afterEach, expect, it } from "vitest";
import { printStatus } from "../../src/cli/print-status.ts";
import { scriptedApp, startKit, topologyText, type TestKit } from "../support/kit.ts";

let t: TestKit;
afterEach(() => t.stop());

it("a rule over an argument that no tool of it has is a warning with the near name, in status and explain", async () => {
  const send = { name: "send", inputSchema: { type: "object", properties: { channel: { type: "string" }, text: { type: "string" } } } };
  const read = { name: "read", inputSchema: { type: "object", properties: { id: { type: "string" } } } };
  const script = { on: { "tools/list": [{ result: { tools: [send, read] } }] } };
  t = await startKit({
    "topology/topology.yaml": topologyText({ "org.test.chat": scriptedApp(script) }, { policies: ["policies/*.yaml"] }),
    "topology/policies/p.yaml":
      "rules:\n  - { id: fine, tools: [send], args: { channel: { equals: a } }, action: ask }\n  - { id: slip, tools: [send], args: { chanel: { equals: b } }, action: deny }\n",
  });
  const said = 'rule "slip" tests the argument "chanel", which none of what it matches has (org.test.chat/send)';
  expect(t.kit.status().policy.warnings).toMatchObject([
    { code: "rule-matches-nothing", severity: "warning", file: "topology/policies/p.yaml", line: 3, message: said, help: ['did you mean "channel"?'] },
  ]);
  expect(t.kit.explain("org.test.chat.send").warnings).toEqual([`${said}; did you mean "channel"?`]);
  expect(t.kit.explain("org.test.chat.read").warnings).toEqual([]);
  expect(printStatus(t.kit.status(), (_look, text) => text)).toContain(`topology/policies/p.yaml:3: warning[rule-matches-nothing]: ${said}`);
});

it("explain shows limits as they were written", async () => {
  const script = { on: { "tools/list": [{ result: { tools: [{ name: "send", inputSchema: { type: "object" } }] } }] } };
  t = await startKit({
    "topology/topology.yaml": topologyText({ "org.test.chat": scriptedApp(script) }, { policies: ["policies/*.yaml"] }),
    "topology/policies/p.yaml":
      "rules:\n  - { id: slow, tools: [send], limits: { rate: 10/min, concurrent: 2 } }\n  - { id: few, tools: [send], limits: { rate: 100/h } }\n",
  });
  expect(t.kit.explain("org.test.chat.send").limits).toEqual([
    { rule: "few", rate: "100/h", concurrent: null },
    { rule: "slow", rate: "10/min", concurrent: 2 },
  ]);
});
