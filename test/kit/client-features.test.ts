import { createServer, type Server } from "node:http";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { scriptedApp, startKit, topologyText, until, type TestKit } from "../support/kit.ts";

const ASKING = fileURLToPath(new URL("../support/servers/asking.mjs", import.meta.url));
const POLICY = JSON.stringify({ rules: [{ id: "low", tools: ["echo", "journal"], risk: "low" }], approvals: { wait: "10ms" } });
const ask = (method: string, params: object): object => ({
  on: { "tools/call echo": [{ request: { id: "q", method, params } }, { delay: 700 }, { result: { content: [] } }] },
});

describe("client features, granted per app", () => {
  let t: TestKit;
  let server: Server | undefined;
  afterEach(async () => {
    await t.stop();
    server?.close();
  });
  const start = async (script: object, settings: object): Promise<void> => {
    t = await startKit({
      "topology/topology.yaml": topologyText({ "org.test.a": scriptedApp(script, settings as Record<string, unknown>) }, { policies: ["policies/*.yaml"] }),
      "topology/policies/p.yaml": POLICY,
    });
  };
  /** What the server received as the answer to its request, with the capabilities it was shown. */
  const answers = async (options = {}): Promise<{ answer: Record<string, unknown> | undefined; capabilities: unknown }> => {
    await t.kit.callTool("org.test.a.echo", {}, options);
    const journal = await t.kit.callTool("org.test.a.journal", {}, options);
    const messages = JSON.parse((journal.result!["content"] as { text: string }[])[0]!.text) as Record<string, unknown>[];
    return {
      answer: messages.find((m) => m["id"] === "q"),
      capabilities: (messages.find((m) => m["method"] === "initialize")!["params"] as Record<string, unknown>)["capabilities"],
    };
  };

  it("gives nothing by default", async () => {
    await start(ask("roots/list", {}), {});
    const { answer, capabilities } = await answers();
    expect(capabilities).toEqual({});
    expect(answer).toMatchObject({ error: { code: -32601 } });
  });

  it("shows the granted roots and only those", async () => {
    await start(ask("roots/list", {}), { grants: { roots: ["../data/search"] } });
    const { answer } = await answers();
    expect(answer).toMatchObject({ result: { roots: [{ uri: expect.stringMatching(/^file:\/\/\/.*\/data\/search$/), name: "search" }] } });
  });

  it("answers roots and sampling itself where nothing is forwarded, also for a client that offers them", async () => {
    for (const method of ["roots/list", "sampling/createMessage", "elicitation/create"]) {
      await start(ask(method, { message: "?" }), {
        isolation: "session",
        grants: { roots: ["../data/search"], sampling: { endpoint: "http://127.0.0.1:9/v1" }, elicitation: { forward: false } },
      });
      const asked: unknown[] = [];
      const { answer } = await answers({
        client: "a",
        session: "a",
        clientCapabilities: { roots: {}, sampling: {}, elicitation: {} },
        onServerRequest: async (request: unknown) => (asked.push(request), { roots: [{ uri: "file:///client" }], action: "accept" }),
      });
      expect(asked).toEqual([]);
      if (method === "roots/list") expect(answer).toMatchObject({ result: { roots: [{ uri: expect.stringMatching(/\/data\/search$/) }] } });
      else expect(answer).toMatchObject({ error: {} });
      await t.stop();
    }
    await start({}, {});
  });

  it("answers sampling from the configured endpoint, with its limits, and without tools", async () => {
    const seen: Record<string, unknown>[] = [];
    server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk) => (body += String(chunk)));
      request.on("end", () => {
        seen.push({ path: request.url, auth: request.headers.authorization, ...(JSON.parse(body) as object) });
        response
          .setHeader("content-type", "application/json")
          .end(JSON.stringify({ model: "m-1", choices: [{ message: { role: "assistant", content: "forty-two" }, finish_reason: "stop" }] }));
      });
    });
    await new Promise<void>((resolve) => server!.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    await start(
      ask("sampling/createMessage", { messages: [{ role: "user", content: { type: "text", text: "6 x 7?" } }], systemPrompt: "Be brief.", maxTokens: 5_000 }),
      {
        grants: { sampling: { endpoint: `http://127.0.0.1:${port}/v1`, api_key: "k-123456", model: "m", max_tokens: 50, rate: "1/min" } },
      },
    );
    const { answer, capabilities } = await answers();
    expect(capabilities).toEqual({ sampling: {} });
    expect(answer).toMatchObject({ result: { role: "assistant", content: { type: "text", text: "forty-two" }, model: "m-1", stopReason: "endTurn" } });
    expect(seen).toEqual([
      {
        path: "/v1/chat/completions",
        auth: "Bearer k-123456",
        model: "m",
        max_tokens: 50,
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: [{ type: "text", text: "6 x 7?" }] },
        ],
      },
    ]);
    await t.kit.callTool("org.test.a.echo", {});
    expect(seen).toHaveLength(1);
  });

  it("asks a person from the queue for an elicitation, and passes accept, decline and cancel on", async () => {
    const form = { message: "Which city?", requestedSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } };
    await start(ask("elicitation/create", form), { grants: { elicitation: { approvals: true } } });
    const calling = answers();
    await until(() => t.kit.listApprovals().length === 1);
    const [row] = t.kit.listApprovals();
    expect(row).toMatchObject({ tool: "org.test.a: elicitation/create", arguments: form });
    expect(row!.question).toEqual({ mode: "form", message: "Which city?", schema: form.requestedSchema });
    // Whoever answers is told what is missing, and the app is not.
    await expect(t.kit.decideApproval(row!.id, "approve", "me")).rejects.toMatchObject({ code: "INVALID_ARGUMENTS", message: expect.stringContaining("city") });
    await expect(t.kit.decideApproval(row!.id, "approve", "me", "x", { city: 7 })).rejects.toMatchObject({ code: "INVALID_ARGUMENTS" });
    await t.kit.decideApproval(row!.id, "approve", "me", "known", { city: "上海" });
    expect((await calling).answer).toMatchObject({ result: { action: "accept", content: { city: "上海" } } });
  });

  it.each([
    ["deny", "decline"],
    ["cancel", "cancel"],
  ] as const)("passes %s on as %s", async (decision, action) => {
    await start(ask("elicitation/create", { message: "?", requestedSchema: { type: "object", properties: {} } }), {
      grants: { elicitation: { approvals: true } },
    });
    const calling = answers();
    await until(() => t.kit.listApprovals().length === 1);
    await t.kit.decideApproval(t.kit.listApprovals()[0]!.id, decision, "me");
    expect((await calling).answer).toMatchObject({ result: { action } });
  });

  it("puts addresses of a server made with the SDK before a person: the site singled out, how an international name reads, and what a browser would open", async () => {
    t = await startKit({
      "topology/topology.yaml": topologyText(
        { "org.test.asking": { trust: "high", mcp: { command: [process.execPath, ASKING] }, grants: { elicitation: { approvals: true } } } },
        { pins: "off" },
      ),
    });
    const asks = async (url: string): Promise<string> => {
      const { result } = await t.kit.callTool("org.test.asking.ask", { mode: "url", elicitationId: "e-1", message: "Log in", url });
      return (result!["content"] as { text: string }[])[0]!.text;
    };
    for (const [decision, action] of [
      ["approve", "accept"],
      ["deny", "decline"],
      ["cancel", "cancel"],
    ] as const) {
      const heard = asks("https://аррӏе.com/x y");
      await until(() => t.kit.listApprovals().length === 1);
      const [row] = t.kit.listApprovals();
      const url = "https://xn--80ak6aa92e.com/x%20y";
      expect(row!.question).toEqual({ mode: "url", message: "Log in", url, host: "xn--80ak6aa92e.com", reads_as: "аррӏе.com" });
      await t.kit.decideApproval(row!.id, decision, "me");
      expect(JSON.parse(await heard)).toEqual({ action });
    }
    for (const url of ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "no url"])
      expect(await asks(url)).toContain("must be an http or https URL");
    for (const url of ["https://bank.com:443@evil.invalid/", "https://x.invalid/\u202e", "https://x.invalid/\r\n"])
      expect(await asks(url)).toContain("the address to open must have no");
    expect(t.kit.listApprovals()).toEqual([]);
    await t.kit.callTool("org.test.asking.finish", { elicitationId: "e-1" });
    await until(async () => (await t.inbox()).some(({ payload }) => payload.type === "mcp.notification.elicitation.complete"));
  });

  it("does not count the time of the person as silence of the app, and withdraws the question when the call ends without it", async () => {
    const form = { message: "Which?", requestedSchema: { type: "object", properties: {} } };
    await start(
      { on: { "tools/call echo": [{ request: { id: "q", method: "elicitation/create", params: form } }, { delay: 2000 }, { result: { content: [] } }] } },
      { grants: { elicitation: { approvals: true } }, call_timeout: "700ms", max_total_timeout: "30s" },
    );
    const call = await t.kit.callTool("org.test.a.echo", {});
    expect(call).toMatchObject({ ok: true });
    await until(() => t.kit.listApprovals().length === 0);
    expect(t.kit.listApprovals({ all: true })).toMatchObject([{ state: "withdrawn" }]);
    // Silence counts again as soon as nobody is asked.
    const journal = await t.kit.callTool("org.test.a.journal", {});
    expect(JSON.stringify(journal.result)).toContain("the call ended before a person answered");
  });

  it("sends nothing to the model once the call that wanted it is over, whoever approves then", async () => {
    const seen: string[] = [];
    server = createServer((request, response) => (seen.push(request.url ?? ""), response.end("{}")));
    await new Promise<void>((resolve) => server!.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const params = { messages: [{ role: "user", content: { type: "text", text: "?" } }], maxTokens: 5 };
    t = await startKit({
      "topology/topology.yaml": topologyText(
        {
          "org.test.a": scriptedApp(
            { on: { "tools/call echo": [{ request: { id: "q", method: "sampling/createMessage", params } }, { silent: true }] } },
            { grants: { sampling: { endpoint: `http://127.0.0.1:${port}/v1` } }, call_timeout: "300ms", max_total_timeout: "1500ms" },
          ),
        },
        { policies: ["policies/*.yaml"] },
      ),
      "topology/policies/p.yaml": JSON.stringify({
        rules: [
          { id: "low", tools: ["echo"], risk: "low" },
          { id: "models", tools: ["sampling/createMessage"], action: "ask" },
        ],
      }),
    });
    const calling = t.kit.callTool("org.test.a.echo", {});
    await until(() => t.kit.listApprovals().length === 1);
    const [row] = t.kit.listApprovals();
    expect(row).toMatchObject({ arguments: { maxTokens: 5 } });
    expect(await calling).toMatchObject({
      outcome: "unknown",
      error: {
        error_code: "TIMEOUT",
        message: expect.stringContaining(`hard limit of 1.5s; meanwhile its sampling/createMessage waited for a person to decide approval ${row!.id}`),
        details: { approval_id: row!.id },
      },
    });
    await until(() => t.kit.listApprovals().length === 0);
    await expect(t.kit.decideApproval(row!.id, "approve", "me")).rejects.toMatchObject({
      code: "APPROVAL_EXPIRED",
      message: expect.stringMatching(/withdrawn: the call .* has ended, so nothing was sent/),
    });
    expect(seen).toEqual([]);
    await until(async () => (await t.inbox()).some(({ payload }) => JSON.stringify(payload).includes('"withdrawn"')));
  });

  it("lets no app fill the queue with questions", async () => {
    const form = { message: "?", requestedSchema: { type: "object", properties: {} } };
    const questions = Array.from({ length: 30 }, (_, n) => ({ request: { id: `q${n}`, method: "elicitation/create", params: form } }));
    await start({ on: { "tools/call echo": [...questions, { delay: 1500 }, { result: { content: [] } }] } }, { grants: { elicitation: { approvals: true } } });
    const calling = t.kit.callTool("org.test.a.echo", {});
    await until(() => t.kit.listApprovals().length === 20);
    await calling;
    const journal = JSON.stringify((await t.kit.callTool("org.test.a.journal", {})).result);
    expect(journal.match(/20 questions of org.test.a already wait for a person/g)).toHaveLength(10);
  });

  it("says of a task that ends at its hard limit which approval it waited for", async () => {
    const tasks = { command: [process.execPath, fileURLToPath(new URL("../support/servers/tasks.mjs", import.meta.url))] };
    t = await startKit({
      "topology/topology.yaml": topologyText(
        { "org.test.a": { trust: "high", mcp: tasks, grants: { elicitation: { approvals: true } }, max_total_timeout: "1500ms" } },
        { policies: ["policies/*.yaml"] },
      ),
      "topology/policies/p.yaml": JSON.stringify({ rules: [{ id: "low", tools: ["ask"], risk: "low" }] }),
    });
    const calling = t.kit.callTool("org.test.a.ask", {});
    await until(() => t.kit.listApprovals().length === 1);
    const { id } = t.kit.listApprovals()[0]!;
    expect((await calling).error).toMatchObject({
      error_code: "TIMEOUT",
      message: expect.stringContaining(`meanwhile its elicitation/create waited for a person to decide approval ${id}`),
      details: { approval_id: id },
    });
  });

  it("refuses a form that asks for a password", async () => {
    await start(ask("elicitation/create", { message: "Log in", requestedSchema: { type: "object", properties: { password: { type: "string" } } } }), {
      grants: { elicitation: { approvals: true } },
    });
    const { answer } = await answers();
    expect(answer).toMatchObject({ error: { message: expect.stringContaining("password") } });
    expect(t.kit.listApprovals()).toEqual([]);
  });

  it.each([
    ["another spelling of the mode", { mode: "URL", url: "javascript:alert(1)" }, "mode"],
    ["a list for the mode", { mode: ["url"], url: "javascript:alert(1)" }, "mode"],
    ["an address in a list", { mode: "url", url: ["https://x.invalid"] }, "http or https URL"],
    ["a nested form", { requestedSchema: { type: "object", properties: { n: { type: "object", properties: {} } } } }, "must be of type"],
    ["a form in parts", { requestedSchema: { type: "object", properties: {}, allOf: [{}] } }, "allOf"],
    ["a field in parts", { requestedSchema: { type: "object", properties: { n: { type: "string", anyOf: [] } } } }, "anyOf"],
    ["a hidden character", { requestedSchema: { type: "object", properties: { x: { type: "string", title: "Pass\u200bword" } } } }, "passwords"],
    ["letters of another script", { requestedSchema: { type: "object", properties: { userPаssword: { type: "string" } } } }, "passwords"],
  ])("puts no question before anybody that hides what it asks: %s", async (_what, params, reason) => {
    await start(ask("elicitation/create", { message: "?", ...params }), { isolation: "session", grants: { elicitation: { forward: true } } });
    const asked: unknown[] = [];
    const { answer } = await answers({
      client: "a",
      session: "a",
      clientCapabilities: { elicitation: { url: {}, form: {} } },
      onServerRequest: async (request: unknown) => (asked.push(request), { action: "accept" }),
    });
    expect([asked, answer]).toEqual([[], expect.objectContaining({ error: expect.objectContaining({ message: expect.stringContaining(reason) }) })]);
  });

  it("forwards to the calling client on a connection of its own, and never to another", async () => {
    await start(ask("elicitation/create", { message: "Which?", requestedSchema: { type: "object", properties: {} } }), {
      isolation: "session",
      grants: { elicitation: { forward: true } },
    });
    const asked: string[] = [];
    const client = (name: string) => ({
      client: name,
      session: name,
      clientCapabilities: { elicitation: {} },
      onServerRequest: async () => (asked.push(name), { action: "accept", content: { from: name } }),
    });
    const [a, b] = await Promise.all([answers(client("a")), answers(client("b"))]);
    expect(a.answer).toMatchObject({ result: { content: { from: "a" } } });
    expect(b.answer).toMatchObject({ result: { content: { from: "b" } } });
    expect(asked.sort()).toEqual(["a", "b"]);
    expect(a.capabilities).toEqual({ elicitation: {} });
  });
});
