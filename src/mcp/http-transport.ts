import { systemClock } from "../base/clock.ts";
import type { JsonObject } from "../base/json.ts";
import { LinkError } from "../runtime/ports.ts";
import type { CloseReason } from "../runtime/ports.ts";
import { HeardEvents } from "./heard-events.ts";
import { httpFault, refusalIn, saysUnknownSession, unexpectedBody } from "./http-answers.ts";
import { readBody } from "./http-client.ts";
import type { HttpResponse } from "./http-client.ts";
import { HttpSession, type HttpSessionOptions } from "./http-session.ts";
import { plainLine } from "./plain-line.ts";
import { SseReader } from "./sse-reader.ts";
import type { ServerEvent } from "./sse-reader.ts";
import { brokenAnswer, readMessages } from "./wire-text.ts";
import type { Wire, WireMessage } from "./wire.ts";

/** What a {@link HttpTransport} talks to. */
export interface HttpTransportOptions extends HttpSessionOptions {
  /** Largest message, inflated. */
  readonly bodyBytes: number;
}

/** A stream of events that answers one request (`id`), or the standing one (`null`). */
interface Stream {
  readonly id: number | null;
  readonly abort: AbortController;
  lastEventId: string | null;
  retryMs: number | null;
  answered: boolean;
  readonly heard: HeardEvents;
  /** What came that is no message: for the error, should the answer never come. */
  passedOver: string | null;
}

function newStream(id: number | null, abort: AbortController): Stream {
  return { id, abort, lastEventId: null, retryMs: null, answered: false, heard: new HeardEvents(), passedOver: null };
}

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 30_000;
/** However soon a server wants to be asked for the rest of an answer. */
const SHORTEST_RESUME_MS = 100;
const RETRY_GROWTH = 1.5;
const RESUME_TRIES = 5;
const EXCERPT_CHARS = 200;

/**
 * Streamable HTTP. Every request is a POST of its own: whatever becomes of its response, its answer or a LinkError reaches the lane. A lost response stream is resumed where the
 * server gave event ids, else the call ends at once with an unknown outcome. The standing GET stream has its own back-off and never touches the POST side.
 */
export class HttpTransport implements Wire {
  onmessage?: ((message: WireMessage) => void) | undefined;
  onlost?: ((id: number | string | null, error: LinkError) => void) | undefined;
  onclose?: ((reason: CloseReason) => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  /** The server forgot the session, seen on the standing stream. */
  onsessionlost?: (() => void) | undefined;

  readonly #options: HttpTransportOptions;
  readonly #requests = new Map<number, AbortController>();
  readonly #session: HttpSession;
  #standing: Stream | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: HttpTransportOptions) {
    this.#options = options;
    this.#session = new HttpSession(options);
  }

  async start(): Promise<void> {}

  setProtocolVersion(version: string): void {
    this.#session.protocolVersion = version;
  }

  /** Starts anew without a session; the next message must be `initialize`. */
  forgetSession(): void {
    this.#session.forget();
    this.#standing?.abort.abort();
    this.#standing = null;
  }

  abandon(id: number): void {
    this.#requests.get(id)?.abort();
  }

  async send(message: JsonObject): Promise<void> {
    if (this.#closing !== null) throw new LinkError("closed", "the connection is closed");
    const { method, id } = message;
    if (typeof method === "string" && typeof id === "number") {
      // Not awaited: the lane hears through onmessage or onlost.
      void this.#request(id, message, method === "initialize");
      return;
    }
    const response = await this.#session.post(message);
    // A server that works although it refused the notification may have news to tell all the same.
    if (method === "notifications/initialized") void this.#listen();
    if (response.status >= 300) throw await httpFault(response, this.#session.open, 0);
    response.body.resume();
  }

  /** Deletes the session (bounded in time; `force` skips it) and ends all streams. */
  close(options: { readonly force?: boolean } = {}): Promise<void> {
    this.#closing ??= this.#end(options.force === true);
    if (options.force === true) this.#options.client.close();
    return this.#closing;
  }

  async #end(force: boolean): Promise<void> {
    this.#standing?.abort.abort();
    for (const abort of this.#requests.values()) abort.abort();
    if (!force) await this.#session.end();
    this.#options.client.close();
    this.onclose?.({ planned: true, message: "closed", exitCode: null, signal: null, stderrTail: [] });
  }

  async #request(id: number, message: JsonObject, initialize: boolean): Promise<void> {
    const abort = new AbortController();
    this.#requests.set(id, abort);
    const sentAt = systemClock.monotonic();
    const withSession = this.#session.open;
    try {
      const response = await this.#session.post(message, abort.signal);
      if (response.status >= 300) return this.onlost?.(id, await httpFault(response, withSession, systemClock.monotonic() - sentAt, initialize ? null : id));
      if (initialize) this.#session.adopt(response);
      if (isEventStream(response)) await this.#readAnswerStream(newStream(id, abort), response, withSession);
      else this.#takeBody(id, await readBody(response, this.#options.bodyBytes), response, withSession);
    } catch (error) {
      this.onlost?.(id, error instanceof LinkError ? error : new LinkError("network", (error as Error).message, { sent: true, cause: error }));
    } finally {
      this.#requests.delete(id);
    }
  }

  #takeBody(id: number, body: string, response: HttpResponse, withSession: boolean): void {
    const messages = readMessages(body);
    if (messages === null) return this.onlost?.(id, unexpectedBody(body, response, withSession));
    for (const message of messages) {
      const refusal = refusalIn(message, id, withSession);
      if (refusal !== null) return this.onlost?.(id, refusal);
      this.onmessage?.(message);
    }
    // When its answer was among them, nobody waits any more and this does nothing.
    this.onlost?.(id, new LinkError("invalid", `the response of ${response.url.host} does not hold the answer`, { sent: true }));
  }

  /** Reads the stream that answers a request, resuming it as long as the server gives event ids and lets us. */
  async #readAnswerStream(stream: Stream, first: HttpResponse, withSession: boolean): Promise<void> {
    let response: HttpResponse | null = first;
    let failure: LinkError | null = null;
    for (let tries = 0; tries <= RESUME_TRIES; tries += 1) {
      if (response !== null) {
        const before: string | null = stream.lastEventId;
        failure = await this.#readEvents(stream, response, withSession);
        if (stream.answered || stream.abort.signal.aborted) return;
        if (stream.lastEventId !== before) tries = 0;
      }
      if (stream.lastEventId === null || this.#closing !== null || (failure !== null && failure.kind !== "network")) break;
      await pause(Math.max(stream.retryMs ?? backoff(tries), SHORTEST_RESUME_MS), stream.abort.signal);
      if (stream.abort.signal.aborted) return;
      const resumed = await this.#session.get(stream.lastEventId, stream.abort.signal).catch((error: unknown) => error as LinkError);
      response = resumed instanceof LinkError ? null : resumed;
      if (response === null) failure = resumed as LinkError;
      else if (response.status >= 300) {
        failure = await httpFault(response, withSession, 0);
        if (response.status < 500) break;
        response = null;
      }
    }
    const why = `${failure === null ? "" : `: ${failure.message}`}${stream.passedOver === null ? "" : `; it sent ${stream.passedOver}`}`;
    this.onlost?.(
      stream.id,
      failure !== null && failure.kind !== "network" && failure.kind !== "http"
        ? failure
        : new LinkError("closed", `the response stream of ${this.#session.url.host} ended before the answer${why}`, { sent: true }),
    );
  }

  /** Reads events until the stream ends. Gives why it broke off; null for a clean end. */
  async #readEvents(stream: Stream, response: HttpResponse, withSession: boolean): Promise<LinkError | null> {
    let failure: LinkError | null = null;
    stream.heard.carriedOn();
    const reader = new SseReader(this.#options.bodyBytes, {
      event: (event) => (failure ??= this.#takeEvent(stream, event, withSession)),
      retry: (ms) => (stream.retryMs = Math.min(ms, LONGEST_RETRY_MS)),
      oversize: () => {
        const error = new LinkError("too-large", `the server sent a message over the limit of ${this.#options.bodyBytes} bytes; it was dropped`, {
          sent: true,
        });
        if (stream.id === null) this.#options.onNote(error.message);
        else failure ??= error;
      },
    });
    try {
      for await (const chunk of response.body as AsyncIterable<Buffer>) {
        reader.push(chunk);
        if (stream.answered || failure !== null) break;
      }
      // A server that closes right behind its answer may leave out the empty line that ends the event.
      if (stream.id !== null && !stream.answered && failure === null) reader.end();
    } catch (error) {
      failure ??= new LinkError("network", (error as Error).message, { sent: true, cause: error });
    }
    response.body.destroy();
    return failure;
  }

  #takeEvent(stream: Stream, event: ServerEvent, withSession: boolean): LinkError | null {
    const { data } = event;
    let again = false;
    if (event.id !== null && event.id !== "") {
      stream.lastEventId = event.id;
      again = data !== "" && stream.heard.again(event.id);
    }
    if (data === "") return null;
    if (event.event !== "message") {
      stream.passedOver ??= `an event "${plainLine(event.event.slice(0, 60))}" instead of a message: ${plainLine(data.slice(0, EXCERPT_CHARS))}`;
      return null;
    }
    const messages = readMessages(data);
    if (messages === null) {
      if (stream.id !== null && withSession && saysUnknownSession(data)) return new LinkError("session-expired", plainLine(data.slice(0, EXCERPT_CHARS)));
      this.#options.onNote(`the server sent an event that is not a JSON-RPC message: ${data.slice(0, EXCERPT_CHARS)}`);
      const broken = stream.id === null ? null : brokenAnswer(data);
      if (broken !== null && String(broken.id) === String(stream.id))
        return new LinkError("invalid", `the server answered with what cannot be read: ${broken.why}`, { sent: true });
      return null;
    }
    for (const message of messages) {
      const refusal = stream.id === null ? null : refusalIn(message, stream.id, withSession);
      if (refusal !== null) return refusal;
      const answers = stream.id !== null && typeof message["method"] !== "string" && String(message["id"]) === String(stream.id);
      if (answers) stream.answered = true;
      if (answers || !again) this.onmessage?.(message);
    }
    return null;
  }

  /** Keeps the standing stream open for as long as the server offers one. */
  async #listen(): Promise<void> {
    const stream = newStream(null, new AbortController());
    this.#standing?.abort.abort();
    this.#standing = stream;
    const { signal } = stream.abort;
    let worked = false;
    for (let tries = 0; !signal.aborted; tries += 1) {
      const response = await this.#session.get(stream.lastEventId, stream.abort.signal).catch(() => null);
      if (signal.aborted) return response?.body.destroy() as void;
      if (response !== null && saysNoStream(response.status)) {
        const { kind } = await httpFault(response, this.#session.open, 0);
        if (worked && kind === "session-expired") return this.onsessionlost?.();
        // The event may be too old for it; and one that broke off may still stand at the server's end. All else says that there is no such stream.
        if (stream.lastEventId !== null && response.status === 400) stream.lastEventId = null;
        else if (!worked || response.status !== 409) return;
      } else if (response !== null && response.status < 300 && isEventStream(response)) {
        worked = true;
        const openedAt = systemClock.monotonic();
        const before = stream.lastEventId;
        await this.#readEvents(stream, response, false);
        // One that closes its stream at once, again and again, is no better than one that does not open it.
        if (stream.lastEventId !== before || systemClock.monotonic() - openedAt >= LONGEST_RETRY_MS) tries = 0;
      } else {
        response?.body.destroy();
        // A success that is no stream will not become one.
        if (response !== null && response.status < 300) return;
      }
      await pause(Math.max(stream.retryMs ?? backoff(tries), FIRST_RETRY_MS), signal);
    }
  }
}

/** Whether a status is a refusal that will be the same next time. */
function saysNoStream(status: number): boolean {
  return (status >= 400 && status < 500 && status !== 429) || status === 501;
}

function isEventStream(response: HttpResponse): boolean {
  return (response.headers["content-type"] ?? "").toLowerCase().includes("text/event-stream");
}

function backoff(tries: number): number {
  return Math.min(FIRST_RETRY_MS * RETRY_GROWTH ** tries, LONGEST_RETRY_MS);
}

/** Waits; an abort ends the wait early. Never rejects. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
  });
}
