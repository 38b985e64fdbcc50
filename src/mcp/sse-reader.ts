import { StringDecoder } from "node:string_decoder";

/** One event of a `text/event-stream`. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
  /** The id that this event brought, null when it had none. */
  readonly id: string | null;
}

/** Whom an {@link SseReader} tells. */
export interface SseHandlers {
  readonly event: (event: ServerEvent) => void;
  /** How long to wait before connecting again, milliseconds, as the server wishes. */
  readonly retry: (ms: number) => void;
  /** An event over the cap was dropped. */
  readonly oversize: () => void;
}

/** Reads server-sent events from a byte stream in linear time. An event over `maxChars` costs that event only. An event without data is told too: its id counts. */
export class SseReader {
  readonly #maxChars: number;
  readonly #handlers: SseHandlers;
  readonly #decoder = new StringDecoder("utf8");
  #line = "";
  #lineChars = 0;
  #data: string[] = [];
  #chars = 0;
  #event = "";
  #id: string | null = null;
  #afterReturn = false;
  #first = true;
  #skipping = false;

  constructor(maxChars: number, handlers: SseHandlers) {
    this.#maxChars = maxChars;
    this.#handlers = handlers;
  }

  /** Takes the next chunk. */
  push(chunk: Buffer): void {
    let text = this.#decoder.write(chunk);
    if (text === "") return;
    if (this.#first && text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    this.#first = false;
    // The second half of a CRLF that a chunk border cut.
    if (this.#afterReturn && text.startsWith("\n")) text = text.slice(1);
    this.#afterReturn = text.endsWith("\r");
    let from = 0;
    const breaks = /\r\n|\n|\r/g;
    for (let found = breaks.exec(text); found !== null; found = breaks.exec(text)) {
      this.#add(text.slice(from, found.index));
      this.#endLine();
      from = breaks.lastIndex;
    }
    this.#add(text.slice(from));
  }

  /** The stream has ended: what is left counts as an event. */
  end(): void {
    if (this.#lineChars > 0) this.#endLine();
    this.#endEvent();
  }

  #add(part: string): void {
    this.#lineChars += part.length;
    if (this.#skipping) return;
    this.#line += part;
    this.#chars += part.length;
    if (this.#chars <= this.#maxChars) return;
    this.#skipping = true;
    this.#line = "";
    this.#data = [];
    this.#handlers.oversize();
  }

  #endLine(): void {
    const line = this.#line;
    const blank = this.#lineChars === 0;
    this.#line = "";
    this.#lineChars = 0;
    if (blank) return this.#endEvent();
    if (this.#skipping) return;
    const colon = line.indexOf(":");
    if (colon === 0) {
      // A comment, most often a keep-alive.
      this.#chars -= line.length;
      return;
    }
    const field = colon === -1 ? line : line.slice(0, colon);
    let value = colon === -1 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#event = value;
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    else if (field === "retry" && /^\d{1,9}$/.test(value)) this.#handlers.retry(Number(value));
  }

  #endEvent(): void {
    const skipped = this.#skipping;
    const event: ServerEvent = { event: this.#event === "" ? "message" : this.#event, data: this.#data.join("\n"), id: this.#id };
    const empty = this.#data.length === 0 && this.#id === null;
    this.#data = [];
    this.#chars = 0;
    this.#event = "";
    this.#id = null;
    this.#skipping = false;
    if (!skipped && !empty) this.#handlers.event(event);
  }
}
