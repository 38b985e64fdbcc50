import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import type { LinkError } from "../../src/runtime/ports.ts";
import { scripted } from "../support/app-plan.ts";
import { open, textOf, toolCall, until } from "./support.ts";

const ok = (text: string): object => ({ content: [{ type: "text", text }] });
const progress = { notify: { method: "notifications/progress", params: { progressToken: "$token", progress: 1, total: 2, message: "half" } } };

async function journalOf(connection: {
  request: (method: string, params: never) => Promise<unknown>;
}): Promise<{ method?: string; id?: number; params: Record<string, unknown> }[]> {
  return JSON.parse(textOf(await connection.request("tools/call", { name: "journal", arguments: {} } as never))) as never;
}

async function timed(action: Promise<unknown>): Promise<{ ms: number; error: LinkError }> {
  const started = performance.now();
  const error: unknown = await action.then(
    () => null,
    (e: unknown) => e,
  );
  return { ms: performance.now() - started, error: error as LinkError };
}

describe("deadlines", () => {
  it("are moved by progress, for which a token always goes along (opencode#28186)", async () => {
    const step = [{ delay: 300 }, progress];
    const { connection } = await open(scripted({ on: { "tools/call": [...step, ...step, ...step, ...step, { result: ok("done") }] } }));
    const heard: unknown[] = [];
    const result = await connection.request(...toolCall(), { timeoutMs: 800, maxTotalMs: 20_000, onProgress: (p) => heard.push(p) });
    expect(textOf(result)).toBe("done");
    expect(heard).toEqual(Array.from({ length: 4 }, () => ({ progress: 1, total: 2, message: "half" })));
    // Without a listener the token goes along all the same.
    expect(textOf(await connection.request(...toolCall(), { timeoutMs: 800 }))).toBe("done");
  });

  it("hold a hard limit however much progress arrives, and cancel once (inspector#223)", async () => {
    const step = [{ delay: 100 }, progress];
    const { connection } = await open(scripted({ on: { "tools/call": Array.from({ length: 40 }, () => step).flat() } }));
    const { ms, error } = await timed(connection.request(...toolCall(), { timeoutMs: 500, maxTotalMs: 1000 }));
    expect(error).toMatchObject({ kind: "timeout", sent: true, message: expect.stringContaining("hard limit of 1.0s") });
    expect(ms).toBeGreaterThan(900);
    expect(ms).toBeLessThan(1600);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const cancels = (await journalOf(connection)).filter((m) => m.method === "notifications/cancelled");
    expect(cancels).toHaveLength(1);
  });

  it("cancel with the id and a reason; the call is not sent again (python-sdk#1458, ruby-mcp-client#178)", async () => {
    const { connection, notes, protocolErrors } = await open(
      scripted({ on: { "tools/call": [{ delay: 400 }, { result: ok("late") }], "tools/call#2": [{ result: ok("second") }] } }),
    );
    const { error } = await timed(connection.request(...toolCall("transfer"), { timeoutMs: 150 }));
    expect(error).toMatchObject({ kind: "timeout", sent: true });
    // The late answer arrives right before the answer to the next call, and harms nothing (intent#3479).
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(textOf(await connection.request(...toolCall("other")))).toBe("second");
    expect(notes).toEqual(["an answer came after its request (id 1) had been given up; it was dropped (1 so far)"]);
    expect(protocolErrors).toEqual([]);
    const journal = await journalOf(connection);
    const transfers = journal.filter((m) => m.method === "tools/call" && m.params["name"] === "transfer");
    expect(transfers).toHaveLength(1);
    expect(journal.filter((m) => m.method === "notifications/cancelled").map((m) => m.params)).toEqual([{ requestId: transfers[0]!.id, reason: "timed out" }]);
  });

  it.each([Infinity, 2 ** 31, 2 ** 53, Number.NaN])("take %s for a long time, not for 1 ms", async (timeoutMs) => {
    const { connection } = await open(scripted({ on: { "tools/call": [{ delay: 60 }, { result: ok("fine") }] } }));
    expect(textOf(await connection.request(...toolCall(), { timeoutMs, maxTotalMs: timeoutMs }))).toBe("fine");
  });
});

describe("an abort", () => {
  it("ends the call at once and is told to the server; an abort after the end is not", async () => {
    const { connection } = await open(scripted({ on: { "tools/call": [{ silent: true }], "tools/call#2": [{ result: ok("fine") }] } }));
    const abort = new AbortController();
    const running = timed(connection.request(...toolCall(), { signal: abort.signal }));
    setTimeout(() => abort.abort(), 50);
    const { error } = await running;
    expect(error).toMatchObject({ kind: "cancelled", sent: true, message: "cancelled" });
    const shared = new AbortController();
    await connection.request(...toolCall(), { signal: shared.signal });
    shared.abort(new Error("too late"));
    expect((await journalOf(connection)).filter((m) => m.method === "notifications/cancelled")).toHaveLength(1);
  });

  it("by the clock is told in the words of this house", async () => {
    const { connection } = await open(scripted({ on: { "tools/call": [{ silent: true }] } }));
    await expect(connection.request(...toolCall(), { signal: AbortSignal.timeout(50) })).rejects.toMatchObject({ kind: "cancelled", message: "timed out" });
    expect((await journalOf(connection)).at(-2)).toMatchObject({ method: "notifications/cancelled", params: { reason: "timed out" } });
  });

  it("before the start sends nothing", async () => {
    const { connection } = await open(scripted({}));
    await expect(connection.request(...toolCall("never"), { signal: AbortSignal.abort(new Error("no more")) })).rejects.toMatchObject({
      kind: "cancelled",
      sent: false,
      message: "no more",
    });
    expect((await journalOf(connection)).filter((m) => m.params?.["name"] === "never")).toEqual([]);
  });

  it("leaves no listeners on a signal that many calls share", async () => {
    const { connection } = await open(scripted({}));
    const { signal } = new AbortController();
    await Promise.all(Array.from({ length: 50 }, () => connection.request(...toolCall(), { signal })));
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});

describe("answers", () => {
  it("may have the id as text, in any order (python-sdk#1720)", async () => {
    const answer = (text: string): object => ({ raw: `{"jsonrpc":"2.0","id":"$id","result":${JSON.stringify(ok(text))}}\n` });
    const { connection, notes } = await open(scripted({ on: { "tools/call": [{ delay: 200 }, answer("first")], "tools/call#2": [answer("second")] } }));
    const results = await Promise.all([connection.request(...toolCall()), connection.request(...toolCall())]);
    expect(results.map(textOf)).toEqual(["first", "second"]);
    expect(notes.filter((note) => note.includes("into strings"))).toHaveLength(1);
  });

  it("with a wrong id are named as the likely cause of the timeout (radare2-mcp#68)", async () => {
    const { connection, notes } = await open(scripted({ on: { "tools/call": [{ raw: '{"jsonrpc":"2.0","id":0,"result":{"content":[]}}\n' }] } }));
    const { error } = await timed(connection.request(...toolCall(), { timeoutMs: 300 }));
    expect(error.message).toMatch(/no answer to tools\/call within 0\.3s; meanwhile the server answered with id 0/);
    expect(notes.join()).toContain("response for id 0");
  });

  it("to requests that were never sent are dropped and told once", async () => {
    const stray = { raw: '{"jsonrpc":"2.0","id":4711,"result":{}}\n{"jsonrpc":"2.0","id":"abc","result":{}}\n' };
    const { connection, notes, protocolErrors } = await open(scripted({ on: { "tools/call": [stray, stray, { result: ok("fine") }] } }));
    expect(textOf(await connection.request(...toolCall()))).toBe("fine");
    expect(notes.filter((note) => note.includes("unknown id"))).toEqual(["response for unknown id 4711; such answers are dropped"]);
    expect(protocolErrors).toHaveLength(1);
  });

  it("twice count once", async () => {
    const { connection } = await open(scripted({ on: { "tools/call": [{ result: ok("one") }, { result: ok("two") }] } }));
    expect(textOf(await connection.request(...toolCall()))).toBe("one");
    expect(textOf(await connection.request(...toolCall()))).toBe("one");
  });

  it("with id null fail the only open request", async () => {
    const { connection } = await open(
      scripted({ on: { "tools/call": [{ raw: '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}\n' }] } }),
    );
    await expect(connection.request(...toolCall())).rejects.toMatchObject({ kind: "rpc", code: -32700 });
  });

  it.each([
    ["a result that is null", '"result":null'],
    ["a result that is a list", '"result":[1]'],
    ["a result that is text", '"result":"x"'],
  ])("are refused when they hold %s", async (_name, member) => {
    const { connection } = await open(scripted({ on: { "tools/call": [{ raw: `{"jsonrpc":"2.0","id":$id,${member}}\n` }] } }));
    await expect(connection.request(...toolCall(), { timeoutMs: 2000 })).rejects.toMatchObject({ kind: "invalid", sent: true });
  });

  it.each([
    [{ content: [{ type: "text" }] }],
    [{ content: [{ type: "text", text: "ok", annotations: null, _meta: null }] }],
    [{ structuredContent: [1, 2], content: [] }],
    [{ content: [{ type: "hologram", x: 1 }], extra: true }],
    [{}],
  ])("come through as they are, however odd: %j", async (result) => {
    const { connection } = await open(scripted({ on: { "tools/call": [{ result }] } }));
    expect(await connection.request(...toolCall())).toEqual(result);
  });

  it("with an error keep its code, message and data", async () => {
    const { connection } = await open(scripted({ on: { "tools/call": [{ error: { code: -32602, message: "Unknown tool", data: { near: ["echo"] } } }] } }));
    await expect(connection.request(...toolCall())).rejects.toMatchObject({ kind: "rpc", code: -32602, message: "Unknown tool", data: { near: ["echo"] } });
    expect(connection.closed).toBe(false);
  });

  it("with names like __proto__ stay plain data", async () => {
    const { connection } = await open(
      scripted({ on: { "tools/call": [{ raw: '{"jsonrpc":"2.0","id":$id,"result":{"__proto__":{"polluted":1},"content":[]}}\n' }] } }),
    );
    await connection.request(...toolCall());
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});

describe("notifications", () => {
  it("arrive, also those before there is a handler; progress of own requests does not", async () => {
    const log = { notify: { method: "notifications/message", params: { level: "info", data: "x" } } };
    const { connection } = await open(
      scripted({
        on: { "notifications/initialized": [log], "tools/call": [progress, { notify: { method: "notifications/tools/list_changed" } }, { result: ok("") }] },
      }),
    );
    await connection.request("ping", {});
    const heard: string[] = [];
    connection.onNotification((method) => heard.push(method));
    await connection.request(...toolCall());
    await until(() => heard.length >= 2);
    expect(heard).toEqual(["notifications/message", "notifications/tools/list_changed"]);
  });

  it("that whoever hears them cannot take end neither the host nor the call behind them", async () => {
    const log = { notify: { method: "notifications/message", params: { level: "info", data: "x" } } };
    const { connection, protocolErrors } = await open(scripted({ on: { "tools/call": [log, log, { result: ok("fine") }] } }));
    connection.onNotification(() => {
      throw new Error("too much");
    });
    expect(textOf(await connection.request(...toolCall()))).toBe("fine");
    expect(protocolErrors).toEqual(["a message of the server could not be taken: too much", "a message of the server could not be taken: too much"]);
  });
});

describe("requests of the server", () => {
  const ask = (method: string, id: number | string = 0): object => ({ request: { id, method, params: { message: "?" } } });

  it("arrive when they are granted, and are answered", async () => {
    const { connection } = await open(
      scripted({ on: { "tools/call": [ask("elicitation/create"), { delay: 100 }, { result: ok("fine") }] } }),
      { grants: { elicitation: { approvals: true } } },
      {
        hooks: { onServerRequest: async ({ method, params }) => ({ action: "accept", content: { method, params } }) },
      },
    );
    await connection.request(...toolCall());
    const journal = await journalOf(connection);
    expect(journal[0]!.params["capabilities"]).toEqual({ elicitation: { form: {}, url: {} } });
    expect(journal).toContainEqual({
      jsonrpc: "2.0",
      id: 0,
      result: { action: "accept", content: { method: "elicitation/create", params: { message: "?" } } },
    });
  });

  it("are refused when they are not granted, and nothing is declared", async () => {
    const asked: string[] = [];
    const { connection } = await open(
      scripted({ on: { "tools/call": [ask("sampling/createMessage", "s"), ask("no/such", 7), { delay: 100 }, { result: ok("fine") }] } }),
      {},
      {
        hooks: { onServerRequest: async ({ method }) => (asked.push(method), {}) },
      },
    );
    await connection.request(...toolCall());
    const journal = await journalOf(connection);
    expect(asked).toEqual([]);
    expect(journal[0]!.params["capabilities"]).toEqual({});
    expect(journal).toContainEqual({ jsonrpc: "2.0", id: "s", error: { code: -32601, message: expect.any(String) } });
    expect(journal).toContainEqual({ jsonrpc: "2.0", id: 7, error: { code: -32601, message: expect.any(String) } });
  });

  it("are aborted when the server cancels them, with id 0 too", async () => {
    let signal: AbortSignal | undefined;
    const { connection } = await open(
      scripted({
        on: {
          "tools/call": [
            ask("elicitation/create", 0),
            { delay: 100 },
            { notify: { method: "notifications/cancelled", params: { requestId: 0 } } },
            { delay: 100 },
            { result: ok("fine") },
          ],
        },
      }),
      { grants: { elicitation: { approvals: true } } },
      { hooks: { onServerRequest: (request) => ((signal = request.signal), new Promise(() => {})) } },
    );
    await connection.request(...toolCall());
    expect(signal?.aborted).toBe(true);
  });
});

describe("alive", () => {
  it.each([
    ["an answer", {}],
    ["an error (hermes-agent#50028)", { on: { ping: [{ error: { code: -32601, message: "Unknown method: ping" } }] } }],
    ["an answer to a list, where ping is met with silence (hermes-agent#97245)", { on: { ping: [{ silent: true }] } }],
    ["any traffic", { on: { ping: [{ notify: { method: "notifications/message", params: {} } }], "tools/list": [{ silent: true }] } }],
  ])("takes %s for life, ten times", async (_name, script) => {
    const { connection } = await open(scripted(script));
    for (let i = 0; i < 10; i += 1) expect(await connection.alive(600)).toBe(true);
    expect(connection.closed).toBe(false);
  });

  it("says no when nothing comes at all, in time", async () => {
    const { connection } = await open(scripted({ on: { ping: [{ silent: true }], "tools/list": [{ silent: true }] } }));
    const started = performance.now();
    expect(await connection.alive(400)).toBe(false);
    expect(performance.now() - started).toBeLessThan(900);
  });

  it("says no for a server that is gone", async () => {
    const { connection } = await open(scripted({}));
    await connection.close();
    expect(await connection.alive(1000)).toBe(false);
  });
});
