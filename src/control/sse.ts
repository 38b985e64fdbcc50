import { stringifyExact } from "../base/exact-json.ts";
import type { RequestContext } from "./route.ts";

/** An open event stream of the control API. */
export interface EventStream {
  /** Sends one event; a reader that is too far behind is cut off (it reconnects and misses what it missed). */
  send(event: string, data: unknown): void;
}

/** Bytes that may wait for a slow reader. */
const MAX_WAITING = 4 * 1024 * 1024;
const KEEP_ALIVE_MS = 15_000;

/** Turns the answer into an event stream that ends when the client goes, or the server closes; then `stop` is called once. */
export function openEventStream(context: RequestContext, start: (stream: EventStream) => () => void): void {
  const { req, res, closing } = context;
  res.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "X-Accel-Buffering": "no" });
  if (req.method === "HEAD") return void res.end();
  res.flushHeaders();
  const write = (text: string): void => {
    // Between end and close there may still be news, such as the stops of the apps.
    if (res.writableEnded) return;
    if (!res.write(text) && res.writableLength > MAX_WAITING) res.destroy();
  };
  const stop = start({ send: (event, data) => write(`event: ${event}\ndata: ${stringifyExact(data)}\n\n`) });
  const timer = setInterval(() => write(": alive\n\n"), KEEP_ALIVE_MS);
  const end = (): void => {
    res.end();
  };
  res.on("close", () => {
    clearInterval(timer);
    closing.removeEventListener("abort", end);
    stop();
  });
  closing.addEventListener("abort", end);
  if (closing.aborted) end();
}
