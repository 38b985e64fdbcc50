import { once } from "node:events";
import http, { type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import { CancelSource } from "../../src/base/cancel-signal.ts";
import { EventLog, startEventStream, type EventStream } from "../../src/mcp/gateway-events.ts";
import { PostAnswer } from "../../src/mcp/gateway-post.ts";

afterEach(() => void vi.useRealTimers());

it("a client that loses its stream again has the whole time again to resume it", async () => {
  const server = http.createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  /** One more connection: the answer as the server has it, and how the client leaves. */
  const connect = async (): Promise<{ res: ServerResponse; leave: () => Promise<unknown> }> => {
    const arrived = once(server, "request");
    const req = http.get({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", agent: false });
    req.on("error", () => undefined);
    const [, res] = (await arrived) as [unknown, ServerResponse];
    return { res, leave: () => (req.destroy(), once(res, "close")) };
  };
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const abort = new CancelSource();
    let stream: EventStream | undefined;
    const first = await connect();
    const out = new PostAnswer({
      res: first.res,
      log: new EventLog(),
      streamId: 1,
      accepts: { stream: true, json: true },
      primes: true,
      headers: {},
      onStream: (made) => (stream = made),
      abort,
    });
    out.send({ jsonrpc: "2.0", method: "notifications/message" });
    await first.leave();
    vi.advanceTimersByTime(20_000);
    const second = await connect();
    startEventStream(second.res, {});
    stream!.attach(second.res, 0);
    await second.leave();
    vi.advanceTimersByTime(20_000);
    expect(abort.signal.aborted).toBe(false);
    vi.advanceTimersByTime(10_000);
    expect(abort.signal.aborted).toBe(true);
  } finally {
    server.close();
  }
});
