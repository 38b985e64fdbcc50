import { stringifyExact } from "../base/exact-json.ts";
import type { JsonObject } from "../base/json.ts";
import { LinkError } from "../runtime/ports.ts";
import type { CloseReason } from "../runtime/ports.ts";
import { httpFault } from "./http-answers.ts";
import type { HttpResponse } from "./http-client.ts";
import type { HttpTransportOptions } from "./http-transport.ts";
import { SseReader } from "./sse-reader.ts";
import type { ServerEvent } from "./sse-reader.ts";
import { readMessages } from "./wire-text.ts";
import type { Wire, WireMessage } from "./wire.ts";

/** The HTTP+SSE transport of revision 2024-11-05: one GET stream brings everything, POSTs to the endpoint that it names carry everything. A lost stream is the end of the connection. */
export class OldSseTransport implements Wire {
  onmessage?: ((message: WireMessage) => void) | undefined;
  onlost?: ((id: number | string | null, error: LinkError) => void) | undefined;
  onclose?: ((reason: CloseReason) => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;

  readonly #options: HttpTransportOptions;
  readonly #abort = new AbortController();
  #endpoint: URL | null = null;
  #closed = false;

  constructor(options: HttpTransportOptions) {
    this.#options = options;
  }

  /** Whether the server turned out to speak this transport. */
  get reached(): boolean {
    return this.#endpoint !== null;
  }

  /** Opens the stream and waits for its `endpoint` event. Throws a LinkError when this is not such a server. */
  async start(): Promise<void> {
    const { client, url } = this.#options;
    const response = await client.send(url, { method: "GET", headers: await this.#headers({ accept: "text/event-stream" }), signal: this.#abort.signal });
    if (response.status !== 200) throw await httpFault(response, false, 0);
    if (!(response.headers["content-type"] ?? "").includes("text/event-stream")) {
      response.body.destroy();
      throw new LinkError("invalid", `${url.host} did not answer GET with an event stream`);
    }
    await new Promise<void>((resolve, reject) => {
      void this.#read(response, resolve).then(() => {
        reject(new LinkError("invalid", `the event stream of ${url.host} ended without an endpoint event`));
        this.#finish("the server's event stream ended", false);
      });
    });
  }

  async send(message: JsonObject): Promise<void> {
    if (this.#endpoint === null || this.#closed) throw new LinkError("closed", "the connection is closed");
    const response = await this.#options.client.send(this.#endpoint, {
      method: "POST",
      headers: await this.#headers({ "content-type": "application/json", accept: "application/json" }),
      body: stringifyExact(message),
      signal: this.#abort.signal,
    });
    if (response.status >= 300) throw await httpFault(response, false, 0);
    response.body.resume();
  }

  async close(): Promise<void> {
    this.#finish("closed", true);
    this.#options.client.close();
  }

  async #read(response: HttpResponse, onEndpoint: () => void): Promise<void> {
    const reader = new SseReader(this.#options.bodyBytes, {
      event: (event) => this.#takeEvent(event, onEndpoint),
      retry: () => {},
      oversize: () =>
        this.onlost?.(
          null,
          new LinkError("too-large", `the server sent a message over the limit of ${this.#options.bodyBytes} bytes; it was dropped`, { sent: true }),
        ),
    });
    try {
      for await (const chunk of response.body as AsyncIterable<Buffer>) reader.push(chunk);
    } catch {
      // Its end is all that counts.
    }
  }

  #takeEvent(event: ServerEvent, onEndpoint: () => void): void {
    if (event.event === "endpoint" && this.#endpoint === null) {
      const { url } = this.#options;
      const endpoint = URL.canParse(event.data, url.href) ? new URL(event.data, url) : null;
      // Configured headers go to the endpoint: it must not leave the origin.
      if (endpoint === null || endpoint.origin !== url.origin) {
        this.onerror?.(new Error("the server named an endpoint of another origin; it is not used"));
        this.#abort.abort();
        return;
      }
      this.#endpoint = endpoint;
      onEndpoint();
      return;
    }
    if (event.event !== "message" || event.data === "") return;
    const messages = readMessages(event.data);
    if (messages === null) this.#options.onNote(`the server sent an event that is not a JSON-RPC message: ${event.data.slice(0, 200)}`);
    else for (const message of messages) this.onmessage?.(message);
  }

  async #headers(own: Readonly<Record<string, string>>): Promise<Record<string, string>> {
    return { ...this.#options.headers, ...(this.#options.authority === null ? {} : await this.#options.authority.headers()), ...own };
  }

  #finish(message: string, planned: boolean): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#abort.abort();
    this.onclose?.({ planned, message, exitCode: null, signal: null, stderrTail: [] });
  }
}
