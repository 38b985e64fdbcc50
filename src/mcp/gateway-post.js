import { EventStream, startEventStream } from "./gateway-events.ts";
/** A request that takes longer is answered on a stream, so that the client sees life and can resume. */
const STREAM_AFTER_MS = 10000;
/** How long a call goes on after its stream broke, waiting for the client to resume. */
const RESUME_WITHIN_MS = 30000;
const RETRY_MS = 1000;
/**
 * The answer to one POST: plain JSON as long as nothing streams, an event stream from the first message on. A client that leaves
 * before a plain answer cancels the call at once; one that leaves a stream may resume it for a while.
 */
export class PostAnswer {
    #options;
    #stream = null;
    #finished = false;
    #slow;
    #patience;
    constructor(options) {
        this.#options = options;
        const { res, accepts, abort } = options;
        res.on("close", () => {
            if (this.#stream === null && !this.#finished)
                abort.abort();
        });
        if (accepts.stream)
            this.#slow = setTimeout(() => this.#open(), STREAM_AFTER_MS).unref();
    }
    send(message) {
        if (this.#finished || !this.#options.accepts.stream)
            return false;
        this.#open().send(message);
        return true;
    }
    #open() {
        if (this.#stream)
            return this.#stream;
        clearTimeout(this.#slow);
        const { res, log, streamId, headers, abort, primes, onStream } = this.#options;
        const stream = new EventStream(streamId, log, () => {
            this.#patience = setTimeout(() => {
                if (!stream.attached)
                    abort.abort();
            }, RESUME_WITHIN_MS).unref();
        });
        this.#stream = stream;
        startEventStream(res, headers);
        stream.attach(res);
        if (primes)
            stream.prime(RETRY_MS);
        onStream(stream);
        return stream;
    }
    /** Gives the response; null for a request that was cancelled and gets none. */
    finish(response) {
        const { res, accepts, headers } = this.#options;
        clearTimeout(this.#slow);
        clearTimeout(this.#patience);
        if (response !== null && !accepts.json)
            this.#open();
        this.#finished = true;
        if (this.#stream) {
            if (response !== null)
                this.#stream.send(response);
            this.#stream.end();
            return;
        }
        if (response === null) {
            res.writeHead(202, headers).end();
            return;
        }
        const text = JSON.stringify(response);
        res.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text), "Cache-Control": "no-store", ...headers });
        res.end(text);
    }
}
