import { readFileSync } from "node:fs";
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import { KitError, ERROR_CODES, type ErrorBody, type ErrorCode } from "../base/errors.ts";
import { parseExact, stringifyExact } from "../base/exact-json.ts";
import { isObject, type Json } from "../base/json.ts";

/** A refusal by the HTTP door itself (no such route, wrong token, …); the kit's own codes come as {@link KitError}. */
export class ControlError extends Error {
  readonly status: number;
  readonly body: ErrorBody;
  constructor(status: number, body: ErrorBody) {
    super(body.message);
    this.name = "ControlError";
    this.status = status;
    this.body = body;
  }
}

export interface RequestInput {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly token: string;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Plain HTTP to one host, over kept-alive sockets. */
export interface HttpLink {
  /** Sends one request and gives the answer's head; the caller reads the body. Throws a KitError APP_UNAVAILABLE when the host is not there. */
  open(input: RequestInput): Promise<IncomingMessage>;
  /** Sends one request and gives the parsed answer. Throws a {@link KitError} or {@link ControlError} for error answers. */
  json(input: RequestInput): Promise<{ readonly status: number; readonly value: Json; readonly text: string; readonly headers: IncomingMessage["headers"] }>;
  close(): void;
}

/** Makes a link. `certFile`: the host's own certificate, the only one that is trusted then, whatever name the host is reached by. */
export function openHttpLink(url: string, certFile: string | null): HttpLink {
  const base = new URL(url);
  const agent =
    base.protocol === "https:"
      ? new https.Agent({ keepAlive: true, ...(certFile === null ? {} : { ca: readFileSync(certFile), checkServerIdentity: () => undefined }) })
      : new http.Agent({ keepAlive: true });
  const request = base.protocol === "https:" ? https.request : http.request;

  const open: HttpLink["open"] = (input) =>
    new Promise((resolve, reject) => {
      const body = input.body === undefined ? null : stringifyExact(input.body);
      const req = request(new URL(input.path, base), {
        method: input.method,
        agent,
        ...(input.signal ? { signal: input.signal } : {}),
        headers: {
          Authorization: `Bearer ${input.token}`,
          ...(body === null ? {} : { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) }),
          ...input.headers,
        },
      });
      let sent = false;
      req.on("finish", () => (sent = true));
      req.on("response", resolve);
      req.on("error", (error) => {
        if (input.signal?.aborted) reject(new KitError("CANCELLED", "the request was given up", { cause: error }));
        else reject(unanswered(`the host at ${base.origin} does not answer: ${error.message}`, sent && input.method !== "GET", error));
      });
      req.end(body ?? undefined);
    });

  return {
    open,
    async json(input) {
      const res = await open(input);
      const text = await readText(res, input.method !== "GET");
      const status = res.statusCode ?? 0;
      const value = parse(text, res.headers["content-type"]);
      if (status >= 400) throw errorOf(status, value);
      return { status, value, text, headers: res.headers };
    },
    close: () => agent.destroy(),
  };
}

/** A host that does not answer. What had been sent, and was no mere question, may have taken effect: it must not be sent again unseen. */
function unanswered(message: string, sent: boolean, cause: unknown): KitError {
  if (!sent) return new KitError("APP_UNAVAILABLE", message, { cause });
  return new KitError("APP_UNAVAILABLE", `${message}; whether the request took effect is unknown`, { cause, outcome: "unknown" });
}

/** The whole body as text. Rejects with a KitError when it is cut off; `acted`: the request asked for more than an answer. */
export async function readText(res: IncomingMessage, acted = false): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of res) chunks.push(chunk as Buffer);
  } catch (error) {
    throw unanswered("the host closed the connection in the middle of an answer", acted, error);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The error that an answer of status 400 or more stands for. */
export function errorOf(status: number, value: Json): KitError | ControlError {
  const body: ErrorBody = isErrorBody(value)
    ? value
    : { ok: false, error_code: "INTERNAL", message: `the host answered with status ${status}`, retryable: false, source: "kit" };
  if (!Object.hasOwn(ERROR_CODES, body.error_code)) return new ControlError(status, body);
  return new KitError(body.error_code as ErrorCode, body.message, {
    retryable: body.retryable,
    ...(body.details === undefined ? {} : { details: body.details }),
  });
}

function isErrorBody(value: unknown): value is ErrorBody {
  return isObject(value) && value["ok"] === false && typeof value["error_code"] === "string" && typeof value["message"] === "string";
}

function parse(text: string, type: string | undefined): Json {
  if (!type?.startsWith("application/json") || text === "") return text;
  try {
    return parseExact(text) as Json;
  } catch {
    return text;
  }
}
