import { describe, expect, it } from "vitest";
import { systemClock, type Clock } from "../../src/base/clock.ts";
import { RpcLane } from "../../src/mcp/rpc-lane.ts";
import type { Wire, WireMessage } from "../../src/mcp/wire.ts";
import { until } from "./support.ts";

/** A lane whose server hears everything and says only what the test says. */
function silentServer(clock?: Clock): { lane: RpcLane; wire: Wire; sent: WireMessage[] } {
  const sent: WireMessage[] = [];
  const wire: Wire = {
    async start() {},
    async send(message) {
      sent.push(message);
    },
    async close() {},
  };
  const handlers = { request() {}, notification() {}, closed() {}, protocolError() {}, note() {} };
  return { lane: new RpcLane(wire, handlers, clock), wire, sent };
}

describe("one timer for all requests of a connection", () => {
  it("ends each at its own deadline, in whatever order they were made, and those that come after all were over", async () => {
    const { lane } = silentServer();
    const ended: number[] = [];
    const ask = (timeoutMs: number): Promise<void> =>
      lane.request("ping", {}, { timeoutMs }).then(
        () => expect.fail("nobody answered"),
        (error: Error) => {
          expect(error.message).toContain("no answer to ping within");
          ended.push(timeoutMs);
        },
      );
    const startedAt = performance.now();
    await Promise.all([400, 0, 150, 1.5, 300, 75, 225].map(ask));
    expect(ended).toEqual([0, 1.5, 75, 150, 225, 300, 400]);
    expect(performance.now() - startedAt).toBeGreaterThan(398);
    await Promise.all([ask(60), ask(30)]);
    expect(ended.slice(-2)).toEqual([30, 60]);
  });

  it("goes on when the request that it was set for has been answered, or heard progress", async () => {
    let looks = 0;
    const { lane, wire } = silentServer({ now: systemClock.now, monotonic: () => ((looks += 1), performance.now()) });
    const first = lane.request("first", {}, { timeoutMs: 20 });
    const second = lane.request("tools/call", {}, { timeoutMs: 60, maxTotalMs: 200, onProgress() {} });
    const startedAt = performance.now();
    wire.onmessage!({ jsonrpc: "2.0", id: 0, result: {} });
    await first;
    let heard = 0;
    const speaking = setInterval(() => {
      heard += 1;
      wire.onmessage!({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 1, progress: heard } });
    }, 10);
    await expect(second).rejects.toThrow("tools/call took longer than its hard limit of 0.2s");
    clearInterval(speaking);
    expect(performance.now() - startedAt).toBeGreaterThan(198);
    // Not once a millisecond: a look for each time that it could have been over, and one for each word of the server.
    expect(looks).toBeLessThan(heard + 20);
  });

  it("knows which comes first, the hard limit or the silence", async () => {
    const { lane } = silentServer();
    const startedAt = performance.now();
    await expect(lane.request("x", {}, { timeoutMs: 5000, maxTotalMs: 100 })).rejects.toThrow("x took longer than its hard limit of 0.1s");
    await expect(lane.request("x", {}, { timeoutMs: 100, maxTotalMs: 5000 })).rejects.toThrow("no answer to x within 0.1s");
    expect(performance.now() - startedAt).toBeLessThan(3000);
  });

  it("is of no account when the connection has ended, and says nothing to the server then", async () => {
    const { lane, wire, sent } = silentServer();
    const asked = [lane.request("a", {}, { timeoutMs: 20 }), lane.request("b", {}, { timeoutMs: 10 })];
    wire.onclose!({ planned: false, message: "gone", exitCode: null, signal: null, stderrTail: [] });
    for (const one of asked) await expect(one).rejects.toThrow("the connection ended: gone");
    const later = silentServer();
    await expect(later.lane.request("c", {}, { timeoutMs: 40 })).rejects.toThrow("no answer");
    expect(sent.map(({ method }) => method)).toEqual(["a", "b"]);
    await until(() => later.sent.length === 2);
  });

  it("holds the longest time that a timer can, whatever the clock shows: Node makes 1 ms of more, and warns", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on("warning", note);
    let looks = 0;
    const ends: (() => void)[] = [];
    for (let i = 0; i < 50; i += 1) {
      const shown = 1000 + i / 7;
      const { lane, wire } = silentServer({
        now: systemClock.now,
        monotonic() {
          looks += 1;
          return shown;
        },
      });
      lane.request("ping", {}, { timeoutMs: Infinity }).catch(() => undefined);
      ends.push(() => wire.onclose!({ planned: true, message: "over", exitCode: null, signal: null, stderrTail: [] }));
    }
    // A lane with a short time of its own: by its end the timers of 1 ms would have come.
    await expect(silentServer().lane.request("ping", {}, { timeoutMs: 20 })).rejects.toThrow("no answer");
    process.off("warning", note);
    for (const end of ends) end();
    expect([warnings, looks]).toEqual([[], 50]);
  });
});
