import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../base/errors.ts";
import { isObject, own, type Json, type JsonObject } from "../base/json.ts";
import { INVALID_REQUEST, readMessage, REFUSED, rpcFault, rpcNotification, secondInitialize, type RpcMessage } from "./gateway-rpc.ts";
import { openLines, type Lines } from "./serve-lines.ts";
import { SseReader } from "./sse-reader.ts";

export interface BridgeOptions {
  /** The running host's MCP endpoint. */
  readonly url: string;
  readonly token: string;
  /** PEM of the host's own certificate, where it serves https. */
  readonly certificate: string | null;
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

const MAX_EVENT_CHARS = 64 * 1024 * 1024;

/**
 * Passes one stdio client through to a running host's MCP endpoint. A lost session (the host was restarted) is opened anew with the
 * client's own initialize; a request is sent again only when the host never took it. Resolves when the client has gone.
 */
export async function bridgeStdio(options: BridgeOptions): Promise<void> {
  const bridge = new Bridge(options);
  const lines = openLines(options.input, options.output, options.signal, (value, text) => bridge.take(value, text));
  bridge.lines = lines;
  await lines.ended;
  await bridge.close();
}

class Bridge {
  lines!: Lines;
  readonly #url: URL;
  readonly #token: string;
  readonly #agent: http.Agent;
  readonly #request: typeof http.request;
  /** The client's own initialize, once the host has taken it. */
  #initialize: string | null = null;
  #session: string | null = null;
  #version: string | null = null;
  #renewal: Promise<void> | null = null;
  #listening: AbortController | null = null;
  /** Messages before the session exists wait for it. */
  #ready: Promise<void> = Promise.resolve();

  constructor(options: BridgeOptions) {
    this.#url = new URL(options.url);
    this.#token = options.token;
    const secure = this.#url.protocol === "https:";
    // The host's own certificate is the only one that is trusted; it need not carry the name of this machine.
    this.#agent = secure
      ? new https.Agent({ keepAlive: true, ...(options.certificate === null ? {} : { ca: options.certificate, checkServerIdentity: () => undefined }) })
      : new http.Agent({ keepAlive: true });
    this.#request = secure ? https.request : http.request;
  }

  take(value: Json, text: string): void {
    const message = readMessage(value);
    // Answered here as without a host: the door's own answer to it is none that a line could carry.
    if (message.kind === "invalid") return this.lines.write(rpcFault(message.id, INVALID_REQUEST, message.message));
    if (message.kind === "request" && message.method === "initialize") {
      // It waits for an earlier one, as everything does: a session begins once.
      this.#ready = this.#ready.then(() => (this.#initialize === null ? this.#forward(message, text) : this.lines.write(secondInitialize(message.id))));
      return;
    }
    const sent = this.#ready.then(() => this.#forward(message, text));
    if (message.kind === "notification" && message.method === "notifications/initialized") {
      this.#ready = sent;
      void sent.then(() => this.#listen());
    }
  }

  /** Sends one message and writes what comes back. Never rejects. */
  async #forward(message: RpcMessage, text: string): Promise<void> {
    try {
      let session = this.#session;
      let res = await this.#send("POST", text, session);
      if (res.statusCode === 404 && session !== null) {
        res.resume();
        await this.#renew(session);
        session = this.#session;
        res = await this.#send("POST", text, session);
      }
      await this.#read(res, (answer, answerText) => {
        if (message.kind === "request" && message.method === "initialize") this.#opened(res, answer, text);
        // The door refused before it looked at the message, so the answer cannot say whose it is.
        if (answer["id"] !== null) this.lines.writeText(answerText);
        else if (message.kind === "request") this.lines.write({ ...answer, id: message.id as Json });
      });
      if (res.statusCode !== undefined && res.statusCode >= 400 && !isJson(res)) throw new Error(`the host answered with status ${res.statusCode}`);
    } catch (error) {
      if (message.kind === "request")
        this.lines.write(rpcFault(message.id, REFUSED, `the aurora-mcp host at ${this.#url.origin} cannot be reached: ${messageOf(error)}`));
    }
  }

  #opened(res: IncomingMessage, answer: JsonObject, initialize: string): void {
    const id = res.headers["mcp-session-id"];
    const version = own(answer["result"], "protocolVersion");
    if (typeof id === "string") {
      this.#session = id;
      this.#initialize = initialize;
    }
    if (typeof version === "string") this.#version = version;
  }

  /** Opens a new session in place of a lost one; several requests that find it lost share one renewal. */
  #renew(lost: string): Promise<void> {
    if (this.#session !== lost) return this.#renewal ?? Promise.resolve();
    this.#session = null;
    this.#renewal = (async () => {
      const initialize = this.#initialize!;
      const res = await this.#send("POST", initialize, null);
      await this.#read(res, (answer) => this.#opened(res, answer, initialize));
      if (this.#session === null) throw new Error("the host refused a new session");
      (await this.#send("POST", JSON.stringify(rpcNotification("notifications/initialized")), this.#session)).resume();
      this.#listen();
      for (const list of ["tools", "prompts", "resources"]) this.lines.write(rpcNotification(`notifications/${list}/list_changed`));
    })();
    return this.#renewal;
  }

  /** Keeps the session's event stream open, resuming where it broke. */
  #listen(): void {
    this.#listening?.abort();
    const stop = new AbortController();
    this.#listening = stop;
    void (async () => {
      let lastId: string | null = null;
      for (let wait = 500; !stop.signal.aborted; wait = Math.min(wait * 2, 10_000)) {
        const session = this.#session;
        if (session === null) return;
        try {
          const res = await this.#send("GET", null, session, { signal: stop.signal, lastId });
          if (res.statusCode === 404) {
            res.resume();
            await this.#renew(session);
            return;
          }
          if (res.statusCode === 405) return void res.resume();
          await this.#read(res, (_message, text, id) => {
            wait = 500;
            lastId = id ?? lastId;
            this.lines.writeText(text);
          });
        } catch {
          // The host is away for now; requests say so to the client, the stream is only tried again.
        }
        await sleep(wait, undefined, { signal: stop.signal }).catch(() => undefined);
      }
    })().catch(() => undefined);
  }

  #send(
    method: "GET" | "POST" | "DELETE",
    text: string | null,
    session: string | null,
    options: { signal?: AbortSignal; lastId?: string | null } = {},
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const req = this.#request(this.#url, {
        method,
        agent: this.#agent,
        ...(options.signal ? { signal: options.signal } : {}),
        headers: {
          Authorization: `Bearer ${this.#token}`,
          Accept: method === "GET" ? "text/event-stream" : "application/json, text/event-stream",
          ...(text === null ? {} : { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) }),
          ...(session === null ? {} : { "Mcp-Session-Id": session }),
          ...(session === null || this.#version === null ? {} : { "MCP-Protocol-Version": this.#version }),
          ...(options.lastId ? { "Last-Event-ID": options.lastId } : {}),
        },
      });
      req.on("response", resolve);
      req.on("error", reject);
      req.end(text ?? undefined);
    });
  }

  /** Reads an answer of either form, message by message; texts go on as they came, so that no digit is lost. */
  async #read(res: IncomingMessage, onMessage: (message: JsonObject, text: string, eventId: string | null) => void): Promise<void> {
    if (res.headers["content-type"]?.startsWith("text/event-stream")) {
      const reader = new SseReader(MAX_EVENT_CHARS, {
        event: ({ data, id }) => {
          const message: unknown = data === "" ? null : JSON.parse(data);
          if (isObject(message)) onMessage(message as JsonObject, oneLine(data, message), id);
        },
        retry: () => undefined,
        oversize: () => undefined,
      });
      for await (const chunk of res) reader.push(chunk as Buffer);
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of res) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString("utf8");
    if (!isJson(res) || text === "") return;
    const message: unknown = JSON.parse(text);
    if (isObject(message) && message["jsonrpc"] === "2.0") onMessage(message as JsonObject, oneLine(text, message), null);
    else throw new Error(String(own(message, "message") ?? `status ${res.statusCode}`));
  }

  async close(): Promise<void> {
    this.#listening?.abort();
    const session = this.#session;
    if (session !== null) {
      await this.#send("DELETE", null, session).then(
        (res) => res.resume(),
        () => undefined,
      );
    }
    this.#agent.destroy();
  }
}

function isJson(res: IncomingMessage): boolean {
  return res.headers["content-type"]?.startsWith("application/json") ?? false;
}

/** A message is one line on stdio, however it was laid out before. */
function oneLine(text: string, message: unknown): string {
  return /[\r\n]/.test(text) ? JSON.stringify(message) : text;
}
