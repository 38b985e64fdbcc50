import { setMaxListeners } from "node:events";
import { readFileSync } from "node:fs";
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { messageOf } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import type { Principal } from "../base/principal.ts";
import type { GatewayPlan, Logger } from "../kit-api.ts";
import { answerBadRequest, refuse, send, unauthorized } from "./answer.ts";
import { checkBodyHeaders, readJsonBody } from "./body.ts";
import { allowedHosts, hostAllowed, isLoopback, originAllowed, urlHost, type AllowedHosts } from "./host-guard.ts";
import { HttpError } from "./http-errors.ts";
import { Context } from "./request-context.ts";
import { listenAt, probePort } from "./port-probe.ts";
import { compileRoutes, type Route } from "./route.ts";
import { CALLER, type TokenSet } from "./tokens.ts";

/** The door of a host that has no `gateway` in its topology: any free port on loopback, tokens needed. */
export const LOCAL_DOOR: GatewayPlan = {
  host: "127.0.0.1",
  port: 0,
  naming: "short",
  authMode: "token",
  denied: "hide",
  invalidArguments: "error",
  clients: [],
  tls: null,
  allowInsecureListen: false,
  allowedHosts: [],
};

export interface HttpServerOptions {
  readonly gateway: GatewayPlan;
  /** Asked at every request, so that a reload can change the tokens. */
  readonly tokens: () => TokenSet;
  readonly routes: readonly Route[];
  readonly log: Logger;
  /** Bounds in milliseconds; for tests. */
  readonly headersTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
}

export interface HttpServer {
  /** Base URL without a trailing slash; a wildcard address is shown as loopback. */
  readonly url: string;
  readonly port: number;
  /** Takes no new connections, ends idle streams at once, and gives calls in flight up to `graceMs` (5 s) to finish. */
  close(graceMs?: number): Promise<void>;
}

const MAX_CONNECTIONS = 1000;
const NOBODY: Principal = { role: "caller", client: CALLER, sees: () => true };

/**
 * Opens the HTTP door (contracts 11). Of every request the Host and Origin are checked first, then the token, then the route, and
 * only then the body is read. Rejects with an Error that names the setting when the address is refused or busy.
 */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { gateway, log } = options;
  refuseOpenDoors(gateway);
  const find = compileRoutes(options.routes);
  const rpcPaths = new Set(options.routes.flatMap((route) => (route.rpc ? [route.path] : [])));
  let allowed: AllowedHosts = allowedHosts(gateway.host, gateway.port, gateway.allowedHosts);
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);

  const identify = (req: IncomingMessage): Principal | null => {
    const header = single(req, "authorization");
    if (header === undefined && gateway.authMode === "none") return NOBODY;
    return options.tokens().authenticate(header);
  };

  const serve = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    guard(req, allowed);
    const { path, query } = splitTarget(req.url);
    // Node leaves the body of an answer to HEAD out by itself.
    const head = req.method === "HEAD";
    const found = find(head ? "GET" : (req.method ?? ""), path);
    const route = found !== null && "route" in found ? found.route : null;
    const principal = route?.role === "public" ? NOBODY : identify(req);
    if (!principal) throw unauthorized();
    if (found === null) throw new HttpError("NOT_FOUND", `there is no route ${path}; GET /openapi.json lists them`);
    if (!("route" in found)) {
      const allow = found.allow.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ");
      throw new HttpError("METHOD_NOT_ALLOWED", `${path} takes ${allow}`, { headers: { Allow: allow } });
    }
    if (found.route.role === "operator" && principal.role !== "operator")
      throw new HttpError("FORBIDDEN", "this route needs the operator token (data/run/operator.token)");
    if (path.startsWith("/api/")) refuseUnknownQuery(query, found.route);
    // A stream has no end to wait for, and nobody would read it.
    if (head && found.route.answer.type === "text/event-stream") return void res.writeHead(200, { "Content-Type": "text/event-stream" }).end();
    let body: Json = null;
    if (found.route.body !== undefined) {
      checkBodyHeaders(req);
      if (req.headers.expect !== undefined) res.writeContinue();
      body = await readJsonBody(req);
    }
    const reply = await found.route.handle(new Context(req, res, found.params, query, body, principal, closing.signal));
    if (reply) send(res, reply, closing.signal.aborted);
  };

  const listener: RequestListener = (req, res) => {
    if (closing.signal.aborted) res.setHeader("Connection", "close");
    serve(req, res).catch((error: unknown) => refuse(req, res, error, log, rpcPaths.has((req.url ?? "").split("?")[0]!)));
  };
  const settings: http.ServerOptions = {
    // Slow senders are cut off; the check runs once a second, so the bounds are met to the second.
    headersTimeout: options.headersTimeoutMs ?? 10_000,
    requestTimeout: options.requestTimeoutMs ?? 30_000,
    connectionsCheckingInterval: 1000,
    keepAliveTimeout: 65_000,
    maxHeaderSize: 16 * 1024,
    noDelay: true,
  };
  const server = gateway.tls ? https.createServer({ ...settings, ...readTls(gateway.tls) }, listener) : http.createServer(settings, listener);
  server.maxConnections = MAX_CONNECTIONS;
  // `Expect: 100-continue` gets its 100 only once the head has passed every check.
  server.on("checkContinue", listener);
  // Nobody listens to "upgrade": a client that offers one (h2c, as Java's does by default) is answered as any other.
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => answerBadRequest(error, socket));

  await listenAt(server, gateway);
  const address = server.address() as AddressInfo;
  allowed = allowedHosts(gateway.host, address.port, gateway.allowedHosts);
  const shown = gateway.host === "0.0.0.0" ? "127.0.0.1" : gateway.host === "::" ? "::1" : gateway.host;
  return {
    url: `${gateway.tls ? "https" : "http"}://${urlHost(shown)}:${address.port}`,
    port: address.port,
    async close(graceMs = 5000) {
      closing.abort();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

/** Host and Origin, from the head alone. Throws an {@link HttpError}. */
function guard(req: IncomingMessage, allowed: AllowedHosts): void {
  if (!hostAllowed(single(req, "host"), allowed)) throw new HttpError("FORBIDDEN", "this Host is not served here; gateway.allowed_hosts lists more");
  if (!originAllowed(single(req, "origin"), allowed))
    throw new HttpError("FORBIDDEN", "requests of this Origin are not served here; gateway.allowed_hosts lists more");
}

/** The value of a header that may stand only once; a second one is refused, for two readers could pick different ones. */
function single(req: IncomingMessage, name: string): string | undefined {
  const raw = req.rawHeaders;
  let value: string | undefined;
  for (let i = 0; i < raw.length; i += 2) {
    if (raw[i]!.length !== name.length || raw[i]!.toLowerCase() !== name) continue;
    if (value !== undefined) throw new HttpError("FORBIDDEN", `there are two ${name} headers`);
    value = raw[i + 1]!;
  }
  return value;
}

/** Throws for a query parameter that the route does not have: a misspelt one would be passed over without a word. */
function refuseUnknownQuery(query: URLSearchParams, route: Route): void {
  const known = (route.query ?? []).map((parameter) => parameter.name);
  const unknown = [...new Set(query.keys())].filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  const words = known.length === 0 ? `${route.path} has no query parameters` : `${route.path} has ${known.join(", ")}`;
  throw new HttpError("BAD_REQUEST", `unknown query parameter ${unknown.join(", ")}; ${words}`);
}

const NO_QUERY = new URLSearchParams();

function splitTarget(target: string | undefined): { path: string; query: URLSearchParams } {
  if (target === undefined || !target.startsWith("/")) throw new HttpError("BAD_REQUEST", "the request target must be a path");
  const mark = target.indexOf("?");
  return mark === -1 ? { path: target, query: NO_QUERY } : { path: target.slice(0, mark), query: new URLSearchParams(target.slice(mark + 1)) };
}

/** Rejects as {@link startHttpServer} would at this moment; leaves nothing open. */
export async function probeDoor(gateway: GatewayPlan): Promise<void> {
  refuseOpenDoors(gateway);
  if (gateway.tls) readTls(gateway.tls);
  await probePort(gateway);
}

/** Beyond loopback a token and TLS are needed, or the explicit word that a proxy does the TLS. */
function refuseOpenDoors(gateway: GatewayPlan): void {
  if (isLoopback(gateway.host)) return;
  const where = `gateway.listen: ${urlHost(gateway.host)}:${gateway.port} is reachable from other machines`;
  if (gateway.authMode !== "token") throw new Error(`${where}, and gateway.auth.mode is none; set gateway.auth.mode: token, or listen on 127.0.0.1`);
  if (!gateway.tls && !gateway.allowInsecureListen)
    throw new Error(`${where}; set gateway.tls (cert and key), or gateway.allow_insecure_listen: true when a proxy in front does TLS, or listen on 127.0.0.1`);
}

function readTls(tls: { readonly cert: string; readonly key: string }): { cert: Buffer; key: Buffer } {
  try {
    return { cert: readFileSync(tls.cert), key: readFileSync(tls.key) };
  } catch (error) {
    throw new Error(`gateway.tls: ${messageOf(error)}`, { cause: error });
  }
}
