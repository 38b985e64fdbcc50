import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { CallOptions } from "../../src/kit-api.ts";
import { createFakeKit, type FakeKit } from "../support/fake-kit.ts";
import { openGatewayDoor, RawSession, type GatewayDoor } from "../support/gateway-door.ts";

/** Calls of `job` that run; each ends when the test says so, or when it is cancelled. */
let running: { end: (result: JsonObject) => void; options: CallOptions }[];
let kit: FakeKit;
let door: GatewayDoor;
let session: RawSession;

beforeEach(async () => {
  running = [];
  kit = Object.assign(
    createFakeKit([
      {
        package: "org.demo",
        tools: [
          {
            name: "job",
            run: (_args, options) => {
              options.task?.onNews({ status: "working", message: null, pollMs: 100, ttlMs: null });
              return new Promise((resolve, reject) => {
                running.push({ end: resolve, options });
                options.signal!.addEventListener("abort", () => reject(new Error("aborted")));
              });
            },
          },
          { name: "quick" },
        ],
      },
    ]),
    { taskSupport: () => "optional" as const },
  );
  door = await openGatewayDoor(kit);
  session = await RawSession.open(door);
});
afterEach(() => door.stop());

const begin = (from: RawSession, name = "demo_job", task: object = {}) => from.rpc("tools/call", { name, arguments: {}, task });
const idOf = (answer: Awaited<ReturnType<typeof begin>>): string => (answer.result!["task"] as { taskId: string }).taskId;
const statusOf = async (id: string): Promise<unknown> => {
  const { result, error } = await session.rpc("tasks/get", { taskId: id });
  return result?.["status"] ?? error!.code;
};

describe("tasks of a gateway", () => {
  it("are 200 of one client at most; the oldest that ended makes room", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 200; i += 1) ids.push(idOf(await begin(session)));
    expect((await begin(session)).error).toMatchObject({ code: -32000, data: { error_code: "RATE_LIMITED" } });
    running[3]!.end({ content: [] });
    await vi.waitFor(async () => expect(await statusOf(ids[3]!)).toBe("completed"));
    expect((await begin(session)).result).toBeDefined();
    expect(await statusOf(ids[3]!)).toBe(-32602);
    expect(await statusOf(ids[0]!)).toBe("working");
  });

  it("keep 64 MiB of results; the oldest go first", async () => {
    const text = "x".repeat(25 * 1024 * 1024);
    const ids: string[] = [];
    for (let i = 0; i < 3; i += 1) {
      ids.push(idOf(await begin(session)));
      running[i]!.end({ content: [{ type: "text", text }] });
      await vi.waitFor(async () => expect(await statusOf(ids[i]!)).toBe("completed"), { timeout: 10_000 });
    }
    expect([await statusOf(ids[0]!), await statusOf(ids[1]!), await statusOf(ids[2]!)]).toEqual([-32602, "completed", "completed"]);
  }, 30_000);

  it("end at once where the app answers at once", async () => {
    const made = await begin(session, "demo_quick");
    expect(made.result!["task"]).toMatchObject({ status: "completed" });
    expect((await session.rpc("tasks/result", { taskId: idOf(made) })).result).toMatchObject({ content: [{ type: "text", text: "{}" }] });
  });

  it("outlive the session that made them, until their client is gone", async () => {
    const id = idOf(await begin(session));
    await session.post({ jsonrpc: "2.0", method: "notifications/initialized" });
    session = await RawSession.open(door);
    expect(await statusOf(id)).toBe("working");
    await door.mcp.follow([{ role: "operator", client: "somebody", sees: () => true }]);
    expect(running[0]!.options.signal!.aborted).toBe(true);
    session = await RawSession.open(door);
    expect(await statusOf(id)).toBe(-32602);
  });

  it("keep the app's log messages from a session that did not cause them", async () => {
    const listen = async (from: RawSession) => {
      const stream = from.stream("GET", null);
      await stream.head;
      return stream;
    };
    const stream = await listen(session);
    const message = (data: string) => kit.emit("notification", "org.demo", "notifications/message", { level: "info", data });
    const id = idOf(await begin(session));
    message("of the task");
    await stream.until((m) => m["method"] === "notifications/message");
    const other = await RawSession.open(door);
    const call = other.stream("POST", { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "demo_job", arguments: {} } });
    await vi.waitFor(() => expect(running).toHaveLength(2));
    message("of nobody knows whom");
    running[1]!.end({ content: [] });
    await call.ended;
    await session.rpc("tasks/cancel", { taskId: id });
    await stream.until((m) => m["method"] === "notifications/tasks/status");
    expect(JSON.stringify([call.events, stream.events])).not.toContain("nobody knows");
    stream.drop();
  });

  it("are not offered under a revision that has none", async () => {
    const old = await RawSession.open(door, { version: "2025-06-18" });
    const call = old.stream("POST", { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "demo_quick", arguments: {}, task: {} } });
    await call.ended;
    expect(kit.calls.at(-1)!.options.task).toBeUndefined();
    expect((await old.rpc("tasks/list")).error).toMatchObject({ code: -32601 });
  });
});
