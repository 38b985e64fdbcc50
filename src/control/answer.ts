import { STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { ConflictError, KitError, messageOf } from "../base/errors.ts";
import { stringifyExact } from "../base/exact-json.ts";
import type { Logger } from "../kit-api.ts";
import { bodyToJson, INTERNAL_ERROR, REFUSED, rpcFault } from "../mcp/gateway-rpc.ts";
import { HttpError, statusOf } from "./http-errors.ts";
import { REALM } from "./port-probe.ts";
import type { Reply } from "./route.ts";

/** How long the rest of a refused body is read and thrown away, in milliseconds. */
const LINGER_MS = 500;

/** Sends an answer with the headers that all answers have. */
export function send(res: ServerResponse, reply: Reply, last = false): void {
  res.end(writeHead(res, reply, last));
}

/** Writes the head and gives the text that belongs to it. */
function writeHead(res: ServerResponse, reply: Reply, last: boolean): string {
  const text = reply.text ?? (reply.json === undefined ? "" : stringifyExact(reply.json));
  const type = reply.type ?? (reply.json === undefined ? undefined : "application/json");
  res.writeHead(reply.status ?? 200, {
    ...(type === undefined ? {} : { "Content-Type": type }),
    "Content-Length": Buffer.byteLength(text),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    ...(last ? { Connection: "close" } : {}),
    ...reply.headers,
  });
  return text;
}

/**
 * Answers what a handler or a check threw, in the one error shape (`rpc`: as the data of a JSON-RPC error, which is what MCP clients
 * read); faults of the host itself only go to the log.
 */
export function refuse(req: IncomingMessage, res: ServerResponse, thrown: unknown, log: Logger, rpc = false): void {
  const error = thrown instanceof ConflictError ? new HttpError("CONFLICT", thrown.message) : thrown;
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const known =
    error instanceof HttpError
      ? { status: error.status, body: error.toBody(), headers: error.headers, code: error.rpcCode }
      : error instanceof KitError
        ? { status: statusOf(error.code), body: error.toBody(), headers: {}, code: REFUSED }
        : null;
  if (!known) log.error({ method: req.method, err: messageOf(error) }, "a route failed");
  const { status, body, headers, code } = known ?? {
    status: 500,
    body: new KitError("INTERNAL", "the host failed to answer; its log says why").toBody(),
    headers: {},
    code: INTERNAL_ERROR,
  };
  const reply: Reply = { status, json: rpc ? rpcFault(null, code, body.message, bodyToJson(body)) : body, headers };
  if (req.complete) return send(res, reply);
  // The rest of the body is cut off, but not at once: closing on unread bytes resets the connection, and the client would lose the answer.
  res.write(writeHead(res, reply, true));
  const cut = (): void => {
    clearTimeout(timer);
    res.end(() => req.destroy());
  };
  const timer = setTimeout(cut, LINGER_MS);
  req.once("end", cut);
  req.once("close", () => clearTimeout(timer));
  req.resume();
}

/** The refusal of a request without a good token. */
export function unauthorized(): HttpError {
  return new HttpError("UNAUTHORIZED", "a token is needed: Authorization: Bearer <token>; data/run/caller.token and operator.token hold them", {
    headers: { "WWW-Authenticate": `Bearer realm="${REALM}"` },
  });
}

/** What Node could not read as a request; nothing of it reaches a route. */
export function answerBadRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : error.code === "HPE_HEADER_OVERFLOW" ? 431 : 400;
  endSocket(socket, status);
}

/** Ends a bare socket (no answer object yet) with a status and nothing else. */
function endSocket(socket: Duplex, status: number): void {
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
