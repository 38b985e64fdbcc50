/** Bytes that may wait for a slow reader. */
const MAX_WAITING = 4 * 1024 * 1024;
const KEEP_ALIVE_MS = 15000;
/** Turns the answer into an event stream that ends when the client goes, or the server closes; then `stop` is called once. */
export function openEventStream(context, start) {
    const { res, closing } = context;
    res.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "X-Accel-Buffering": "no" });
    res.flushHeaders();
    const write = (text) => {
        if (!res.write(text) && res.writableLength > MAX_WAITING)
            res.destroy();
    };
    const stop = start({ send: (event, data) => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`) });
    const timer = setInterval(() => write(": alive\n\n"), KEEP_ALIVE_MS);
    const end = () => {
        res.end();
    };
    res.on("close", () => {
        clearInterval(timer);
        closing.removeEventListener("abort", end);
        stop();
    });
    closing.addEventListener("abort", end);
    if (closing.aborted)
        end();
}
