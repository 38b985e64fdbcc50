import { setMaxListeners } from "node:events";
import { readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { KitError, messageOf } from "../base/errors.ts";
import { checkBodyHeaders, readJsonBody } from "./body.ts";
import { allowedHosts, hostAllowed, isLoopback, originAllowed, urlHost } from "./host-guard.ts";
import { HttpError, statusOf } from "./http-errors.ts";
import { compileRoutes } from "./route.ts";
import { CALLER } from "./tokens.ts";
/** The door of a host that has no `gateway` in its topology: any free port on loopback, tokens needed. */
export const LOCAL_DOOR = {
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
const MAX_CONNECTIONS = 1000;
const NOBODY = { role: "caller", client: CALLER, sees: () => true };
/**
 * Opens the HTTP door (contracts 11). Of every request the Host and Origin are checked first, then the token, then the route, and
 * only then the body is read. Rejects with an Error that names the setting when the address is refused or busy.
 */
export async function startHttpServer(options) {
    const { gateway, log } = options;
    refuseOpenDoors(gateway);
    const find = compileRoutes(options.routes);
    let allowed = allowedHosts(gateway.host, gateway.port, gateway.allowedHosts);
    const closing = new AbortController();
    setMaxListeners(0, closing.signal);
    const identify = (req) => {
        const header = single(req, "authorization");
        if (header === undefined && gateway.authMode === "none")
            return NOBODY;
        return options.tokens().authenticate(header);
    };
    const serve = async (req, res) => {
        guard(req, allowed);
        const { path, query } = splitTarget(req.url);
        const found = find(req.method ?? "", path);
        const route = found !== null && "route" in found ? found.route : null;
        const principal = route?.role === "public" ? NOBODY : identify(req);
        if (!principal)
            throw unauthorized();
        if (found === null)
            throw new HttpError("NOT_FOUND", `there is no route ${path}; GET /openapi.json lists them`);
        if (!("route" in found))
            throw new HttpError("METHOD_NOT_ALLOWED", `${path} takes ${found.allow.join(", ")}`, { headers: { Allow: found.allow.join(", ") } });
        if (found.route.role === "operator" && principal.role !== "operator")
            throw new HttpError("FORBIDDEN", "this route needs the operator token (data/run/operator.token)");
        const abort = new AbortController();
        res.on("close", () => {
            if (!res.writableFinished)
                abort.abort();
        });
        let body = null;
        if (found.route.body !== undefined) {
            checkBodyHeaders(req);
            if (req.headers.expect !== undefined)
                res.writeContinue();
            body = await readJsonBody(req);
        }
        const reply = await found.route.handle({ req, res, params: found.params, query, body, principal, signal: abort.signal, closing: closing.signal });
        if (reply)
            send(res, reply, closing.signal.aborted);
    };
    const listener = (req, res) => {
        if (closing.signal.aborted)
            res.setHeader("Connection", "close");
        serve(req, res).catch((error) => refuse(req, res, error, log));
    };
    const settings = {
        // Slow senders are cut off; the check runs once a second, so the bounds are met to the second.
        headersTimeout: options.headersTimeoutMs ?? 10000,
        requestTimeout: options.requestTimeoutMs ?? 30000,
        connectionsCheckingInterval: 1000,
        keepAliveTimeout: 65000,
        maxHeaderSize: 16 * 1024,
        noDelay: true,
    };
    const server = gateway.tls ? https.createServer({ ...settings, ...readTls(gateway.tls) }, listener) : http.createServer(settings, listener);
    server.maxConnections = MAX_CONNECTIONS;
    // `Expect: 100-continue` gets its 100 only once the head has passed every check.
    server.on("checkContinue", listener);
    server.on("upgrade", (req, socket, head) => upgrade(req, socket, head, allowed, identify, options.onUpgrade));
    server.on("clientError", (error, socket) => answerBadRequest(error, socket));
    await listen(server, gateway);
    const address = server.address();
    allowed = allowedHosts(gateway.host, address.port, gateway.allowedHosts);
    const shown = gateway.host === "0.0.0.0" ? "127.0.0.1" : gateway.host === "::" ? "::1" : gateway.host;
    return {
        url: `${gateway.tls ? "https" : "http"}://${urlHost(shown)}:${address.port}`,
        port: address.port,
        async close(graceMs = 5000) {
            closing.abort();
            const closed = new Promise((resolve) => server.close(() => resolve()));
            server.closeIdleConnections();
            const timer = setTimeout(() => server.closeAllConnections(), graceMs);
            await closed;
            clearTimeout(timer);
        },
    };
}
/** Host and Origin, from the head alone. Throws an {@link HttpError}. */
function guard(req, allowed) {
    if (!hostAllowed(single(req, "host"), allowed))
        throw new HttpError("FORBIDDEN", "this Host is not served here; gateway.allowed_hosts lists more");
    if (!originAllowed(single(req, "origin"), allowed))
        throw new HttpError("FORBIDDEN", "requests of this Origin are not served here");
}
/** The value of a header that may stand only once; a second one is refused, for two readers could pick different ones. */
function single(req, name) {
    const raw = req.rawHeaders;
    let value;
    for (let i = 0; i < raw.length; i += 2) {
        if (raw[i].length !== name.length || raw[i].toLowerCase() !== name)
            continue;
        if (value !== undefined)
            throw new HttpError("FORBIDDEN", `there are two ${name} headers`);
        value = raw[i + 1];
    }
    return value;
}
function splitTarget(target) {
    if (target === undefined || !target.startsWith("/"))
        throw new HttpError("BAD_REQUEST", "the request target must be a path");
    const mark = target.indexOf("?");
    return mark === -1 ? { path: target, query: new URLSearchParams() } : { path: target.slice(0, mark), query: new URLSearchParams(target.slice(mark + 1)) };
}
function unauthorized() {
    return new HttpError("UNAUTHORIZED", "a token is needed: Authorization: Bearer <token>; data/run/caller.token and operator.token hold them", {
        headers: { "WWW-Authenticate": 'Bearer realm="aurora-mcp"' },
    });
}
/** Sends an answer with the headers that all answers have. */
export function send(res, reply, last = false) {
    const text = reply.text ?? (reply.json === undefined ? "" : JSON.stringify(reply.json));
    const type = reply.type ?? (reply.json === undefined ? undefined : "application/json");
    res.writeHead(reply.status ?? 200, {
        ...(type === undefined ? {} : { "Content-Type": type }),
        "Content-Length": Buffer.byteLength(text),
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        ...(last ? { Connection: "close" } : {}),
        ...reply.headers,
    });
    res.end(text);
}
function refuse(req, res, error, log) {
    if (res.headersSent) {
        res.destroy();
        return;
    }
    const known = error instanceof HttpError ? { status: error.status, body: error.toBody(), headers: error.headers } : error instanceof KitError ? { status: statusOf(error.code), body: error.toBody(), headers: {} } : null;
    if (!known)
        log.error({ method: req.method, err: messageOf(error) }, "a route failed");
    const answer = known ?? { status: 500, body: new KitError("INTERNAL", "the host failed to answer; its log says why").toBody(), headers: {} };
    // An unread body would have to be swallowed to keep the connection; it is cut off instead.
    const unread = !req.complete;
    send(res, { status: answer.status, json: answer.body, headers: answer.headers }, unread);
    if (unread)
        res.on("finish", () => req.destroy());
}
function upgrade(req, socket, head, allowed, identify, take) {
    socket.on("error", () => socket.destroy());
    try {
        guard(req, allowed);
        const principal = identify(req);
        if (!principal)
            throw unauthorized();
        if (!take)
            throw new HttpError("BAD_REQUEST", "upgrades are not served here");
        take(req, socket, head, principal);
    }
    catch (error) {
        const status = error instanceof HttpError ? error.status : 500;
        socket.end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? ""}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    }
}
/** What Node could not read as a request; nothing of it reaches a route. */
function answerBadRequest(error, socket) {
    if (error.code === "ECONNRESET" || !socket.writable) {
        socket.destroy();
        return;
    }
    const status = error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : error.code === "HPE_HEADER_OVERFLOW" ? 431 : 400;
    socket.end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? ""}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
/** Beyond loopback a token and TLS are needed, or the explicit word that a proxy does the TLS. */
function refuseOpenDoors(gateway) {
    if (isLoopback(gateway.host))
        return;
    const where = `gateway.listen: ${urlHost(gateway.host)}:${gateway.port} is reachable from other machines`;
    if (gateway.authMode !== "token")
        throw new Error(`${where}, and gateway.auth.mode is none; set gateway.auth.mode: token, or listen on 127.0.0.1`);
    if (!gateway.tls && !gateway.allowInsecureListen)
        throw new Error(`${where}; set gateway.tls (cert and key), or gateway.allow_insecure_listen: true when a proxy in front does TLS, or listen on 127.0.0.1`);
}
function readTls(tls) {
    try {
        return { cert: readFileSync(tls.cert), key: readFileSync(tls.key) };
    }
    catch (error) {
        throw new Error(`gateway.tls: ${messageOf(error)}`, { cause: error });
    }
}
function listen(server, gateway) {
    return new Promise((resolve, reject) => {
        server.once("error", (error) => {
            const where = `${urlHost(gateway.host)}:${gateway.port}`;
            const why = error.code === "EADDRINUSE" ? `${where} is in use by another program` : error.code === "EACCES" ? `no right to listen on ${where}` : messageOf(error);
            reject(new Error(`gateway.listen: ${why}; choose another port (0 is any free one)`, { cause: error }));
        });
        server.listen(gateway.port, gateway.host.replace(/^\[|\]$/g, ""), () => {
            server.removeAllListeners("error");
            resolve();
        });
    });
}
