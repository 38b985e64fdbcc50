import { stringifyExact } from "../base/exact-json.ts";
import type { JsonObject } from "../base/json.ts";
import type { HttpClient, HttpRequest, HttpResponse } from "./http-client.ts";
import { StickyCookies } from "./sticky-cookies.ts";

/** Adds what signs a request in, and mends what a server refused. */
export interface HttpAuthority {
  /** Headers that sign the next request in. */
  headers(): Promise<Record<string, string>>;
  /** The server answered 401 or 403 to a request with these headers: true when it may be tried once more. Throws a LinkError that says what a person must do. */
  refused(response: HttpResponse, sent: Readonly<Record<string, string>>): Promise<boolean>;
}

/** What a {@link HttpSession} talks to. */
export interface HttpSessionOptions {
  readonly url: URL;
  readonly client: HttpClient;
  /** Configured headers, checked. */
  readonly headers: Readonly<Record<string, string>>;
  readonly authority: HttpAuthority | null;
  readonly onNote: (note: string) => void;
}

const DELETE_MS = 1000;

/**
 * The HTTP requests of one Streamable HTTP connection: signed in, with session id and protocol version, to the address that the server
 * redirects to. Methods reject with a LinkError.
 */
export class HttpSession {
  /** Sent with every request once `initialize` has settled it. */
  protocolVersion: string | null = null;
  readonly #options: HttpSessionOptions;
  #url: URL;
  #id: string | null = null;
  readonly #cookies = new StickyCookies();

  constructor(options: HttpSessionOptions) {
    this.#options = options;
    this.#url = options.url;
  }

  get url(): URL {
    return this.#url;
  }

  /** Whether the server gave a session id. */
  get open(): boolean {
    return this.#id !== null;
  }

  /** Takes the session id of an answer to `initialize`. */
  adopt(response: HttpResponse): void {
    const id = response.headers["mcp-session-id"];
    if (typeof id !== "string") return;
    if (/^[\u0021-\u007e]{1,1024}$/.test(id)) this.#id = id;
    else this.#options.onNote("the server gave a session id with characters that are not allowed; it is not used");
  }

  forget(): void {
    this.#id = null;
    this.protocolVersion = null;
  }

  post(message: JsonObject, signal?: AbortSignal): Promise<HttpResponse> {
    return this.#send({
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: stringifyExact(message),
      // All that this side sends may arrive twice, but for the calls of tools.
      repeatable: message["method"] !== "tools/call",
      ...(signal === undefined ? {} : { signal }),
    });
  }

  /** Asks for a stream of events: the standing one, or with an event id the rest of one that broke. */
  get(lastEventId: string | null, signal: AbortSignal): Promise<HttpResponse> {
    return this.#send({ method: "GET", headers: { accept: "text/event-stream", ...(lastEventId === null ? {} : { "last-event-id": lastEventId }) }, signal });
  }

  /** Deletes the session, within a second. Never rejects: the server drops it by itself in the end. */
  async end(): Promise<void> {
    if (this.#id === null) return;
    try {
      const response = await this.#options.client.send(this.#url, {
        method: "DELETE",
        headers: await this.#headers({}),
        signal: AbortSignal.timeout(DELETE_MS),
      });
      response.body.destroy();
    } catch {
      // Nobody waits for it.
    }
  }

  async #send(request: HttpRequest): Promise<HttpResponse> {
    const { authority, client } = this.#options;
    let headers = await this.#headers(request.headers);
    let response = await client.send(this.#url, { ...request, headers });
    if (authority !== null && (response.status === 401 || response.status === 403) && (await authority.refused(response, headers))) {
      response.body.destroy();
      headers = await this.#headers(request.headers);
      response = await client.send(this.#url, { ...request, headers });
    }
    this.#cookies.take(response.headers["set-cookie"] ?? []);
    if (response.url.href !== this.#url.href) {
      this.#options.onNote(`the server redirects to ${response.url.origin}${response.url.pathname}; write that address in mcp.url`);
      this.#url = response.url;
    }
    return response;
  }

  async #headers(own: Readonly<Record<string, string>>): Promise<Record<string, string>> {
    const cookie = this.#cookies.header(this.#options.headers["cookie"]);
    return {
      ...this.#options.headers,
      ...(cookie === undefined ? {} : { cookie }),
      ...(this.#options.authority === null ? {} : await this.#options.authority.headers()),
      ...(this.#id === null ? {} : { "mcp-session-id": this.#id }),
      ...(this.protocolVersion === null ? {} : { "mcp-protocol-version": this.protocolVersion }),
      ...own,
    };
  }
}
