import { Agent as HttpAgent, request as httpRequest } from "node:http";
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Readable } from "node:stream";
import { rootCertificates } from "node:tls";
import type { ConnectionOptions } from "node:tls";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { LinkError } from "../runtime/ports.ts";
import type { HostEnv } from "./child-environment.ts";
import { proxyAuthorization, proxyFor, tunnelAgent } from "./http-proxy.ts";
import { plainLine } from "./plain-line.ts";
import { checkHost, guardedLookup, RefusedAddress } from "./refused-addresses.ts";

/** How an {@link HttpClient} connects. */
export interface HttpClientOptions {
  /** PEM text of certificate authorities that count beside the usual ones. */
  readonly ca: string | null;
  readonly insecure: boolean;
  readonly hostEnv: HostEnv;
  /** Told of each request before it goes out. */
  readonly onSend?: (request: HttpRequest) => void;
}

/** One request. Redirects stay within the origin of `url`, keep method, body and headers, and are few. */
export interface HttpRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Whether it does no harm when the server gets it twice. */
  readonly repeatable?: boolean;
  readonly signal?: AbortSignal;
}

/** The head of a response; its body is still to be read or destroyed. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Inflated. */
  readonly body: Readable;
  /** Where the answer came from, after redirects. */
  readonly url: URL;
}

/** Servers close idle connections after about 5 s; ours go first, so that a request never meets a closing one. */
const IDLE_SOCKET_MS = 4000;
const CONNECT_MS = 30_000;
const MAX_REDIRECTS = 3;
/** How often a request is sent again that met a kept connection just when the server closed it. */
const STALE_TRIES = 3;
const KEEPS_METHOD = new Set([307, 308]);

/** HTTP/1.1 with kept-alive connections, no limit on how long a body may take, and strict redirects. Errors are LinkErrors. */
export class HttpClient {
  readonly #options: HttpClientOptions;
  readonly #tls: ConnectionOptions;
  readonly #http = new HttpAgent({ keepAlive: true, timeout: IDLE_SOCKET_MS });
  readonly #https: HttpsAgent;
  #tunnels: HttpsAgent | null = null;
  readonly #open = new Set<ClientRequest>();

  constructor(options: HttpClientOptions) {
    this.#options = options;
    this.#tls = { rejectUnauthorized: !options.insecure, ...(options.ca === null ? {} : { ca: [...rootCertificates, options.ca] }) };
    this.#https = new HttpsAgent({ keepAlive: true, timeout: IDLE_SOCKET_MS, ...this.#tls });
  }

  /** Sends a request and gives the response once its head is there. */
  async send(url: URL, request: HttpRequest): Promise<HttpResponse> {
    this.#options.onSend?.(request);
    let at = url;
    for (let hops = 0; ; hops += 1) {
      const response = await this.#sendOnce(at, request);
      const location = response.headers.location;
      if (response.status < 301 || response.status > 308 || response.status === 304 || location === undefined) return response;
      response.body.destroy();
      const target = parseUrl(location, at);
      const shown = target === null ? "an unreadable address" : `${target.protocol}//${target.host}${target.pathname}`;
      const refuse = (why: string): LinkError =>
        new LinkError("http", `HTTP ${response.status} from ${at.host}: redirected to ${shown}, ${why}`, { code: response.status });
      if (target === null || target.origin !== url.origin)
        throw refuse("which is another origin; it is not followed, and no header was sent there. If that is right, write it in mcp.url");
      if (request.method !== "GET" && !KEEPS_METHOD.has(response.status))
        throw refuse(`which would turn the ${request.method} into a GET; write the right address in mcp.url`);
      if (hops >= MAX_REDIRECTS) throw refuse("and so on without an end");
      at = target;
    }
  }

  /** Ends all connections. */
  close(): void {
    for (const request of this.#open) request.destroy();
    this.#http.destroy();
    this.#https.destroy();
    this.#tunnels?.destroy();
  }

  async #sendOnce(url: URL, request: HttpRequest, stale = 0): Promise<HttpResponse> {
    const { method, headers, body, signal } = request;
    if (signal?.aborted === true) throw new LinkError("cancelled", "cancelled");
    try {
      checkHost(url.hostname);
    } catch (error) {
      throw new LinkError("network", (error as Error).message, { cause: error });
    }
    const https = url.protocol === "https:";
    const proxy = proxyFor(url, this.#options.hostEnv);
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const port = url.port === "" ? (https ? 443 : 80) : Number(url.port);
    const all = {
      host: url.host,
      "accept-encoding": "identity",
      ...headers,
      ...(body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }),
    };
    const path = `${url.pathname}${url.search}`;
    let reached = false;
    let raw: ClientRequest;
    try {
      if (proxy !== null && !https) {
        const authorization = proxyAuthorization(proxy);
        raw = httpRequest({
          host: proxy.hostname.replace(/^\[|\]$/g, ""),
          port: proxy.port === "" ? 80 : Number(proxy.port),
          path: url.href,
          method,
          headers: { ...all, ...(authorization === undefined ? {} : { "proxy-authorization": authorization }) },
          agent: this.#http,
        });
      } else if (proxy !== null) {
        this.#tunnels ??= tunnelAgent(proxy, this.#tls, { idleMs: IDLE_SOCKET_MS, connectMs: CONNECT_MS });
        raw = httpsRequest({ host, port, path, method, headers: all, agent: this.#tunnels });
      } else {
        raw = (https ? httpsRequest : httpRequest)({ host, port, path, method, headers: all, agent: https ? this.#https : this.#http, lookup: guardedLookup });
      }
    } catch (error) {
      throw networkError(error, url, false);
    }
    this.#open.add(raw);
    return await new Promise<HttpResponse>((resolve, reject) => {
      const onAbort = (): void => void raw.destroy(new LinkError("cancelled", "cancelled", { sent: reached }));
      signal?.addEventListener("abort", onAbort, { once: true });
      raw.once("socket", (socket) => {
        // The agent's idle time-out is for waiting sockets, not for slow answers.
        if (!socket.connecting) reached = true;
        else socket.once(https ? "secureConnect" : "connect", () => (reached = true));
      });
      raw.once("response", (message) => {
        const body = inflated(message);
        if (body !== null) return resolve({ status: message.statusCode ?? 0, headers: message.headers, body, url });
        message.destroy();
        const encoding = plainLine(String(message.headers["content-encoding"]).slice(0, 60));
        reject(new LinkError("invalid", `the response of ${url.host} is encoded as "${encoding}", which nobody asked for and cannot be read`, { sent: true }));
      });
      const fail = (error: Error): void => {
        const repeat = raw.reusedSocket && isBrokenOff(error) && stale < STALE_TRIES && (method !== "POST" || request.repeatable === true);
        if (repeat) resolve(this.#sendOnce(url, request, stale + 1));
        else reject(networkError(error, url, reached));
      };
      raw.on("error", fail);
      raw.once("close", () => {
        this.#open.delete(raw);
        signal?.removeEventListener("abort", onAbort);
        reject(networkError(new Error("the connection was closed"), url, reached));
      });
      raw.end(body);
    });
  }
}

/** Reads a whole body as text. Throws a LinkError `too-large` over `maxBytes` (inflated), `network` when it breaks off. */
export async function readBody(response: HttpResponse, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) {
        response.body.destroy();
        throw new LinkError("too-large", `the response of ${response.url.host} is over the limit of ${maxBytes} bytes`, { sent: true });
      }
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof LinkError ? error : networkError(error, response.url, true);
  }
  return Buffer.concat(chunks, bytes).toString("utf8");
}

/** The first bytes of a body, for an error text; the rest is thrown away. */
export async function readExcerpt(response: HttpResponse, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= maxBytes) break;
    }
  } catch {
    // What came is what there is.
  }
  response.body.destroy();
  return Buffer.concat(chunks, bytes).subarray(0, maxBytes).toString("utf8");
}

const INFLATE = new Map([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
]);

/** The body as it was before it was compressed; null for an encoding that is not known. */
function inflated(message: IncomingMessage): Readable | null {
  const encoding = (message.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  if (encoding === "identity" || encoding === "") return message;
  const inflate = INFLATE.get(encoding);
  if (inflate === undefined) return null;
  const stream = inflate();
  message.on("error", (error) => stream.destroy(error));
  // A body that breaks off must not look like its end.
  message.on("close", () => message.complete || stream.destroy(new Error("the body broke off")));
  stream.on("close", () => message.destroy());
  return message.pipe(stream);
}

/** Whether a connection ended before anything of the response came. */
function isBrokenOff(error: NodeJS.ErrnoException): boolean {
  return error.code === "ECONNRESET" || error.code === "EPIPE";
}

/** Any failure of the network as a LinkError. `reached`: the request may have arrived. */
function networkError(error: unknown, url: URL, reached: boolean): LinkError {
  if (error instanceof LinkError) return error;
  const cause = error as NodeJS.ErrnoException;
  if (cause instanceof RefusedAddress) return new LinkError("network", cause.message, { cause });
  const what = cause.code === undefined ? cause.message : `${cause.code}${cause.message.includes(cause.code) ? "" : ` (${cause.message})`}`;
  return new LinkError("network", `${url.host} ${reached ? "broke the connection off" : "cannot be reached"}: ${what}`, { sent: reached, cause });
}

function parseUrl(text: string, base: URL): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}
