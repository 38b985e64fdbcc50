import type { ServerResponse } from "node:http";
import type { CancelSource } from "../base/cancel-signal.ts";
import { stringifyExact } from "../base/exact-json.ts";
import type { JsonObject } from "../base/json.ts";
import { EventStream, startEventStream, type EventLog } from "./gateway-events.ts";
import type { Outlet } from "./gateway-outlet.ts";

/** A request that takes longer is answered on a stream, so that the client sees life and can resume. */
const STREAM_AFTER_MS = 10_000;
/** How long a call goes on after its stream broke, waiting for the client to resume. */
const RESUME_WITHIN_MS = 30_000;
const RETRY_MS = 1000;

export interface PostOptions {
  readonly res: ServerResponse;
  readonly log: EventLog;
  readonly streamId: number;
  /** Whether the client takes an event stream, and plain JSON, for the answer. */
  readonly accepts: { readonly stream: boolean; readonly json: boolean };
  /** Whether the client's protocol revision knows events without a message. */
  readonly primes: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** Tells that an event stream began, for resumption. */
  readonly onStream: (stream: EventStream) => void;
  /** Cancels the request whose answer nobody can fetch any more. */
  readonly abort: CancelSource;
}

/**
 * The answer to one POST: plain JSON as long as nothing streams, an event stream from the first message on. A client that leaves
 * before a plain answer cancels the call at once; one that leaves a stream may resume it for a while.
 */
export class PostAnswer implements Outlet {
  readonly #options: PostOptions;
  #stream: EventStream | null = null;
  #finished = false;
  #slow: NodeJS.Timeout | undefined;
  #patience: NodeJS.Timeout | undefined;

  constructor(options: PostOptions) {
    this.#options = options;
    const { res, accepts, abort } = options;
    res.on("close", () => {
      if (this.#stream === null && !this.#finished) abort.abort();
    });
    if (accepts.stream) this.#slow = setTimeout(() => this.#open(), STREAM_AFTER_MS).unref();
  }

  send(message: JsonObject): boolean {
    if (this.#finished || !this.#options.accepts.stream) return false;
    this.#open().send(message);
    return true;
  }

  #open(): EventStream {
    if (this.#stream) return this.#stream;
    clearTimeout(this.#slow);
    const { res, log, streamId, headers, abort, primes, onStream } = this.#options;
    const stream = new EventStream(streamId, log, () => {
      clearTimeout(this.#patience);
      this.#patience = setTimeout(() => {
        if (!stream.attached) abort.abort();
      }, RESUME_WITHIN_MS).unref();
    });
    this.#stream = stream;
    startEventStream(res, headers);
    stream.attach(res);
    if (primes) stream.prime(RETRY_MS);
    onStream(stream);
    return stream;
  }

  /** Gives the response; null for a request that was cancelled and gets none. */
  finish(response: JsonObject | null): void {
    const { res, accepts, headers } = this.#options;
    clearTimeout(this.#slow);
    clearTimeout(this.#patience);
    if (response !== null && !accepts.json) this.#open();
    this.#finished = true;
    if (this.#stream) {
      if (response !== null) this.#stream.send(response);
      this.#stream.end();
      return;
    }
    if (response === null) {
      res.writeHead(202, headers).end();
      return;
    }
    const text = stringifyExact(response);
    const head = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text), "Cache-Control": "no-store" };
    res.writeHead(200, Object.assign(head, headers)).end(text);
  }
}
