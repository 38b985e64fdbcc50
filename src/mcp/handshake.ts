import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { isObject, own } from "../base/json.ts";
import type { JsonObject } from "../base/json.ts";
import { LinkError, StartError } from "../runtime/ports.ts";
import type { LinkErrorKind, ServerRequest } from "../runtime/ports.ts";
import type { AppListing } from "../tools/types.ts";
import { plainLine, seconds } from "./plain-line.ts";
import { PROTOCOL_VERSIONS, adviseVersion } from "./protocol-versions.ts";
import type { RpcLane } from "./rpc-lane.ts";
import type { Wire, WireMessage } from "./wire.ts";

/** What a server said of itself, read leniently. */
export interface ServerHello {
  readonly protocolVersion: string;
  readonly serverInfo: AppListing["serverInfo"];
  /** Only what is declared; every value an object. */
  readonly capabilities: JsonObject;
  readonly instructions: string | null;
}

/** What {@link shakeHands} needs. */
export interface HandshakeOptions {
  readonly lane: RpcLane;
  readonly wire: Wire;
  readonly clientInfo: { readonly name: string; readonly version: string };
  /** Client capabilities to declare. */
  readonly capabilities: JsonObject;
  /** Revision to ask for first. */
  readonly version: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onNote: (note: string) => void;
  /** Answers requests of the server; throws to refuse. */
  readonly onRequest: (request: ServerRequest) => Promise<JsonObject>;
}

/** An initialised session: what the server said, and where its requests go. */
export interface Session {
  readonly hello: ServerHello;
  /** Hands a request, or the cancellation of one, to the SDK's client, which answers it. */
  readonly deliver: (message: WireMessage) => void;
}

/** Stands in for id 0, which the SDK's client takes for "no id" when the server cancels that request. */
const ZERO_ID = "id-0";
/** How long the server may take to accept a notification. */
const NOTIFY_MS = 5000;
const PASSABLE: ReadonlySet<LinkErrorKind> = new Set(["http", "session-expired", "timeout"]);

/**
 * Runs `initialize` and `notifications/initialized` through the SDK's client. The client sits on a small transport in front of the lane: the lane keeps ids and deadlines,
 * the answer is read leniently, and a server that refuses the revision is asked once more with one that it knows.
 * Throws StartError for what trying again cannot mend, LinkError for the rest.
 */
export async function shakeHands(options: HandshakeOptions): Promise<Session> {
  // Loaded here, so that commands that start no server do not pay for it.
  const { Client: SdkClient } = await import("@modelcontextprotocol/sdk/client/index.js");
  const client: Client = new SdkClient(
    { ...options.clientInfo },
    {
      capabilities: options.capabilities,
      jsonSchemaValidator: { getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }) },
    },
  );
  client.fallbackRequestHandler = (request, extra) =>
    options.onRequest({ method: request.method, params: (request.params ?? {}) as JsonObject, signal: extra.signal });
  const front = new ClientSide(options);
  try {
    // The lane has the deadline; the client's own must not come first.
    await client.connect(front, { timeout: options.timeoutMs + 60_000 });
  } catch (error) {
    throw front.failure ?? error;
  }
  return { hello: front.hello!, deliver: (message) => front.onmessage?.(mapIds(message, 0, ZERO_ID) as never) };
}

/** The SDK client's transport: everything it sends goes over the lane. */
class ClientSide implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport["onmessage"]>;
  hello: ServerHello | undefined;
  failure: unknown;
  readonly #options: HandshakeOptions;

  constructor(options: HandshakeOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {}

  // The connection closes the wire; a client that gives up must not.
  async close(): Promise<void> {
    this.onclose?.();
  }

  setProtocolVersion(version: string): void {
    this.#options.wire.setProtocolVersion?.(version);
  }

  async send(message: Parameters<Transport["send"]>[0]): Promise<void> {
    const raw = message as unknown as WireMessage;
    const { lane } = this.#options;
    if (raw["method"] === "initialize") {
      try {
        const hello = await initialize(this.#options);
        this.hello = hello;
        this.onmessage?.({
          jsonrpc: "2.0",
          id: raw["id"] as number,
          result: { protocolVersion: hello.protocolVersion, capabilities: {}, serverInfo: { name: hello.serverInfo.name, version: hello.serverInfo.version } },
        });
      } catch (error) {
        this.failure = error;
        throw error;
      }
    } else if (typeof raw["method"] === "string") {
      try {
        await within(lane.notify(raw["method"], (raw["params"] ?? {}) as JsonObject), Math.min(this.#options.timeoutMs / 2, NOTIFY_MS));
      } catch (error) {
        // Whether a server that does not take the notification works all the same is for its next answer to tell.
        if (error instanceof LinkError && PASSABLE.has(error.kind))
          return this.#options.onNote(`the server did not take ${raw["method"]}: ${plainLine(error.message)}`);
        this.failure = error;
        throw error;
      }
    } else {
      await lane.respond(mapIds(raw, ZERO_ID, 0) as JsonObject);
    }
  }
}

/** Rejects with a LinkError `timeout` when a promise takes longer. */
function within(promise: Promise<void>, ms: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new LinkError("timeout", `no answer within ${seconds(ms)}`, { sent: true })), ms);
    void promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

async function initialize(options: HandshakeOptions): Promise<ServerHello> {
  const ask = (version: string): Promise<JsonObject> =>
    options.lane.request(
      "initialize",
      { protocolVersion: version, capabilities: options.capabilities, clientInfo: { ...options.clientInfo } },
      { timeoutMs: options.timeoutMs, maxTotalMs: options.timeoutMs, signal: options.signal },
    );
  let asked = options.version;
  let result: JsonObject;
  try {
    result = await ask(asked);
  } catch (error) {
    if (!(error instanceof LinkError) || (error.kind !== "rpc" && !(error.kind === "http" && error.code === 400))) throw error;
    const advice = adviseVersion(asked, error);
    if (advice.kind === "other") throw error;
    if (advice.kind === "none")
      throw new StartError(`no common protocol revision: the server speaks ${advice.listed.join(", ")}, this client ${PROTOCOL_VERSIONS.join(", ")}`, {
        retry: false,
        cause: error,
      });
    options.onNote(`the server refused protocol revision ${asked} (${plainLine(error.message)}); asking again with ${advice.version}`);
    asked = advice.version;
    result = await ask(asked);
  }
  return readHello(result, asked, options.onNote);
}

function readHello(result: JsonObject, asked: string, note: (text: string) => void): ServerHello {
  let version = own(result, "protocolVersion");
  if (typeof version !== "string") {
    note(`the answer to initialize names no protocol revision; ${asked} is assumed`);
    version = asked;
  }
  if (!PROTOCOL_VERSIONS.includes(version as string)) {
    throw new StartError(
      `no common protocol revision: the server answered with ${plainLine(version as string)}, this client asked for ${asked} and knows ${PROTOCOL_VERSIONS.join(", ")}`,
      { retry: false },
    );
  }
  const info = own(result, "serverInfo");
  const name = own(info, "name");
  const title = own(info, "title");
  if (typeof name !== "string") note("the answer to initialize does not name the server (serverInfo.name)");
  const instructions = own(result, "instructions");
  return {
    protocolVersion: version as string,
    serverInfo: { name: typeof name === "string" ? name : "", version: textOf(own(info, "version")), ...(typeof title === "string" ? { title } : {}) },
    capabilities: readCapabilities(own(result, "capabilities"), note),
    instructions: typeof instructions === "string" && instructions !== "" ? instructions : null,
  };
}

/** Anything truthy under a name declares that capability; null and false do not. */
function readCapabilities(value: unknown, note: (text: string) => void): JsonObject {
  const out: JsonObject = {};
  if (!isObject(value)) {
    if (value !== undefined && value !== null) note("capabilities in the answer to initialize is not an object");
    return out;
  }
  for (const [name, content] of Object.entries(value)) {
    if (!content || name === "__proto__") continue;
    if (!isObject(content)) note(`capabilities.${plainLine(name)} in the answer to initialize is not an object; it counts as declared`);
    out[name] = isObject(content) ? (content as JsonObject) : {};
  }
  return out;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

/** The message with one id changed, in `id` or in the params of a cancellation. */
function mapIds(message: WireMessage, from: number | string, to: number | string): WireMessage {
  if (message["id"] === from) return { ...message, id: to };
  const params = message["params"];
  if (message["method"] === "notifications/cancelled" && own(params, "requestId") === from)
    return { ...message, params: { ...(params as object), requestId: to } };
  return message;
}
