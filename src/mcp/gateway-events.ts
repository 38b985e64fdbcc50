import type { ServerResponse } from "node:http";
import { stringifyExact } from "../base/exact-json.ts";
import type { JsonObject } from "../base/json.ts";

/** Events of one session that are kept for a client that lost its stream; the oldest go first. */
const MAX_EVENTS = 1000;
const MAX_BYTES = 4 * 1024 * 1024;

interface StoredEvent {
  readonly stream: number;
  readonly seq: number;
  readonly text: string;
}

/** The events of one session, for resumption by `Last-Event-ID`. Nothing of another session can be reached through it. */
export class EventLog {
  #events: StoredEvent[] = [];
  #bytes = 0;

  /** Keeps one event; it may push the oldest out. */
  add(event: StoredEvent): void {
    this.#events.push(event);
    this.#bytes += event.text.length;
    while (this.#events.length > 1 && (this.#events.length > MAX_EVENTS || this.#bytes > MAX_BYTES)) this.#bytes -= this.#events.shift()!.text.length;
  }

  /** The kept events of a stream after a sequence number, in order. */
  after(stream: number, seq: number): readonly StoredEvent[] {
    return this.#events.filter((event) => event.stream === stream && event.seq > seq);
  }
}

/** Bytes that may wait for a slow reader before its stream is cut (it can resume). */
const MAX_WAITING = 4 * 1024 * 1024;

/** One logical event stream of a session. It outlives the sockets that carry it. */
export class EventStream {
  readonly id: number;
  readonly #log: EventLog;
  #seq = 0;
  /** Last event that was written to a socket. */
  #written = 0;
  #socket: ServerResponse | null = null;
  #ended = false;
  readonly #onLost: () => void;

  /** `onLost` is called each time the socket goes while the stream has not ended. */
  constructor(id: number, log: EventLog, onLost: () => void = () => undefined) {
    this.id = id;
    this.#log = log;
    this.#onLost = onLost;
  }

  get attached(): boolean {
    return this.#socket !== null;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Sends a message, or keeps it until a socket comes. */
  send(message: JsonObject): void {
    this.#emit(`event: message\ndata: ${stringifyExact(message)}\n\n`);
  }

  /** Sends an event without a message, whose id lets the client resume from the very beginning. */
  prime(retryMs: number): void {
    this.#emit(`retry: ${retryMs}\ndata: \n\n`);
  }

  #emit(rest: string): void {
    if (this.#ended) return;
    this.#seq += 1;
    const event = { stream: this.id, seq: this.#seq, text: `id: ${this.id}.${this.#seq}\n${rest}` };
    this.#log.add(event);
    this.#write(event);
  }

  #write(event: StoredEvent): void {
    if (!this.#socket) return;
    this.#written = event.seq;
    if (!this.#socket.write(event.text) && this.#socket.writableLength > MAX_WAITING) this.#socket.destroy();
  }

  /** Carries the stream on a new answer, beginning after `lastSeq` (default: what was never written). A socket before it ends. */
  attach(res: ServerResponse, lastSeq = this.#written): void {
    this.#socket?.end();
    this.#socket = res;
    res.on("close", () => {
      if (this.#socket !== res) return;
      this.#socket = null;
      if (!this.#ended) this.#onLost();
    });
    for (const event of this.#log.after(this.id, lastSeq)) this.#write(event);
    if (this.#ended) this.#finish();
  }

  /** A comment that keeps proxies from closing the connection. */
  keepAlive(): void {
    this.#socket?.write(": alive\n\n");
  }

  /** No more events; a client may still fetch what it missed. */
  end(): void {
    this.#ended = true;
    this.#finish();
  }

  #finish(): void {
    const socket = this.#socket;
    this.#socket = null;
    socket?.end();
  }
}

/** Reads an event id that this server gave out: the stream's number and the event's. Null for anything else. */
export function readEventId(id: string): { readonly stream: number; readonly seq: number } | null {
  const match = /^(\d{1,9})\.(\d{1,9})$/.exec(id);
  return match ? { stream: Number(match[1]), seq: Number(match[2]) } : null;
}

/** The head of an event stream's answer. */
export function startEventStream(res: ServerResponse, headers: Readonly<Record<string, string>>): void {
  res.writeHead(200, {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Accel-Buffering": "no",
    ...headers,
  });
  res.flushHeaders();
}
