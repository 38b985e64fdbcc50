import { readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { ElicitRequestSchema, ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, describe, expect, it, vi } from "vitest";
import { scriptedApp, topologyText, until } from "../support/kit.ts";
import { startGateway, type SdkGateway } from "../support/sdk-gateway.ts";

type Reply = { action: "accept" | "decline" | "cancel"; content?: Record<string, string | number | boolean> };

let t: SdkGateway;
afterEach(() => t.stop());

async function start(approvals: object, app: object = {}, script: object = {}): Promise<void> {
  t = await startGateway({
    "topology/topology.yaml": topologyText(
      { "org.test.a": scriptedApp(script, app as Record<string, unknown>) },
      { policies: ["policies/*.yaml"], gateway: { listen: "127.0.0.1:0" } },
    ),
    "topology/policies/p.yaml": JSON.stringify({
      rules: [
        { id: "ask-echo", tools: ["echo"], action: "ask", reason: "a person looks" },
        { id: "journal", tools: ["journal"], action: "allow", reason: "tests" },
      ],
      approvals: { wait: "50ms", ...approvals },
    }),
  });
}

async function connect(capabilities: object, reply?: () => Reply | Promise<Reply>) {
  const questions: { message: string; requestedSchema?: unknown }[] = [];
  const client = await t.connect(capabilities, (made) => {
    if (reply !== undefined)
      made.setRequestHandler(ElicitRequestSchema, (request) => {
        questions.push(request.params as (typeof questions)[0]);
        return reply();
      });
  });
  const call = (args: Record<string, unknown> = { to: "a" }) => client.callTool({ name: "org_test_a_echo", arguments: args });
  return { client, questions, call };
}

const audit = (): Promise<string> => readFile(path.join(t.workspace.root, "data/audit.jsonl"), "utf8");
const yes = (): Reply => ({ action: "accept", content: { approve: true } });

describe("approvals.elicitation: the calling client's person is asked", () => {
  it("a yes runs the call once, and the record says who gave it", async () => {
    await start({ elicitation: true });
    const { questions, call } = await connect({ elicitation: {} }, yes);
    expect(await call({ to: "a\u202e\nRisk: low", password: "hunter2-hunter2", long: "x".repeat(5000) })).toMatchObject({
      content: [{ text: expect.stringContaining("hunter2") }],
    });
    expect(questions).toHaveLength(1);
    const { message, requestedSchema } = questions[0]!;
    expect(message).toMatch(/^Approve this call\?.*\nTool: org\.test\.a\.echo\nApp: org\.test\.a\nRisk: \w+\nBecause: .*a person looks\nArguments:\n/);
    expect(message).toContain('"to" = "a\\u{202e}');
    expect(message).not.toMatch(/[\u202e]|hunter2|\nRisk: low/);
    expect(message).toContain("(5002 characters)");
    expect(message.length).toBeLessThan(2000);
    expect(requestedSchema).toMatchObject({ properties: { approve: { type: "boolean" } }, required: ["approve"] });
    expect(t.kit.listApprovals({ all: true })).toMatchObject([{ state: "used", decided_by: ["client:caller"] }]);
    expect(await audit()).toMatch(/"event":"approval.decided".*"by":"client:caller"/);
    // Another call is another question.
    await call();
    expect(questions).toHaveLength(2);
  });

  it.each([
    ["no", { action: "accept", content: { approve: false } }],
    ["decline", { action: "decline" }],
  ] as [string, Reply][])("%s refuses it", async (_what, reply) => {
    await start({ elicitation: true });
    const { call } = await connect({ elicitation: {} }, () => reply);
    expect(await call()).toMatchObject({ structuredContent: { error_code: "APPROVAL_DENIED" } });
    expect(t.kit.listApprovals({ all: true })).toMatchObject([{ state: "denied", decided_by: ["client:caller"] }]);
  });

  it("a question closed without an answer stays for the queue, and so does one of a client that fails", async () => {
    await start({ elicitation: true });
    const closed = await connect({ elicitation: {} }, () => ({ action: "cancel" }));
    expect(await closed.call({ n: 1 })).toMatchObject({ structuredContent: { error_code: "APPROVAL_REQUIRED", details: { approval_id: expect.any(String) } } });
    const failing = await connect({ elicitation: {} }, () => Promise.reject(new Error("no screen")));
    expect(await failing.call({ n: 2 })).toMatchObject({ structuredContent: { error_code: "APPROVAL_REQUIRED" } });
    expect(t.kit.listApprovals().map((row) => row.state)).toEqual(["pending", "pending"]);
  });

  it("whoever decides first counts; the client's question is taken back then", async () => {
    await start({ elicitation: true });
    const { questions, call } = await connect({ elicitation: {} }, () => new Promise(() => undefined));
    const calling = call();
    await until(() => questions.length === 1);
    await expect(t.kit.decideApproval(t.kit.listApprovals()[0]!.id, "approve", "Client:caller")).rejects.toMatchObject({ code: "INVALID_ARGUMENTS" });
    await t.kit.decideApproval(t.kit.listApprovals()[0]!.id, "approve", "ann");
    expect(await calling).toMatchObject({ content: [{ text: '{"to":"a"}' }] });
  });

  it("is one pair of eyes of four", async () => {
    await start({ elicitation: true, four_eyes: true, wait: "20s" });
    const { questions, call } = await connect({ elicitation: {} }, yes);
    const calling = call();
    await until(() => t.kit.listApprovals()[0]?.decided_by.length === 1);
    expect(t.kit.listApprovals()).toMatchObject([{ state: "pending", decided_by: ["client:caller"] }]);
    await t.kit.decideApproval(t.kit.listApprovals()[0]!.id, "approve", "ann");
    expect(await calling).toMatchObject({ content: [{ text: '{"to":"a"}' }] });
    expect(questions).toHaveLength(1);
  });

  it.each([
    ["the setting is off", { elicitation: false }, { elicitation: {} }],
    ["the client shows no forms", { elicitation: true }, {}],
    ["the client shows only URLs", { elicitation: true }, { elicitation: { url: {} } }],
  ])("nobody is asked where %s", async (_what, approvals, capabilities) => {
    await start(approvals);
    const reply = vi.fn(yes);
    const { call } = await connect(capabilities, "elicitation" in capabilities ? reply : undefined);
    expect(await call()).toMatchObject({ structuredContent: { error_code: "APPROVAL_REQUIRED" } });
    expect(reply).not.toHaveBeenCalled();
  });
});

it("an app is never given the roots of the calling client", async () => {
  const script = { on: { "tools/call journal#1": [], start: [{ delay: 300 }, { request: { id: "q", method: "roots/list", params: {} } }] } };
  await start({}, { isolation: "session", grants: { roots: ["../rootdir"] } }, script);
  const { client } = await connect({ roots: {} });
  const asked = vi.fn(() => ({ roots: [{ uri: "file:///client" }] }));
  client.setRequestHandler(ListRootsRequestSchema, asked);
  await until(async () => {
    const journal = JSON.stringify(await client.callTool({ name: "org_test_a_journal", arguments: {} }));
    expect(journal).not.toContain("file:///client");
    return journal.includes(pathToFileURL(path.join(t.workspace.root, "rootdir")).href);
  });
  expect(asked).not.toHaveBeenCalled();
});
