import { isObject, own } from "../base/json.ts";
import type { Json } from "../base/json.ts";
import { LinkError } from "../runtime/ports.ts";
import { readExcerpt } from "./http-client.ts";
import type { HttpResponse } from "./http-client.ts";
import { plainLine, seconds } from "./plain-line.ts";
import type { WireMessage } from "./wire.ts";

const EXCERPT_BYTES = 8192;
const SHOWN_CHARS = 200;
/** How servers say that they do not know a session; many answer 400, or even 200, instead of 404. */
const UNKNOWN_SESSION =
  /\b(?:server|session) (?:is )?not (?:yet )?initialized\b|\bexpect(?:ed|s)? (?:an )?initialize\b|\bbefore initialization\b|\bsession\b.{0,40}\b(?:not found|unknown|expired|invalid|not exist|terminated|closed|missing)\b|\b(?:unknown|invalid|expired|no valid|no such|missing)\b.{0,20}\bsession\b/is;

/** Whether a text is a server's way to say that it does not know the session. */
export function saysUnknownSession(text: string): boolean {
  return UNKNOWN_SESSION.test(text.slice(0, 1000));
}

/** Statuses that, with such words, are about the session; 403 is not: it says who may do what. */
const ABOUT_SESSION = new Set([400, 401, 409, 422]);
/** How the MCP SDKs say it inside of JSON-RPC. */
const SESSION_NOT_FOUND = -32001;

/** Statuses that say what a JSON-RPC error beside them does not: who may come in, and when. */
const SPEAKS_FOR_ITSELF = new Set([401, 403, 429, 502, 503, 504]);

/**
 * The LinkError for a response that is not a success. `withSession`: the request named a session. `elapsedMs`: since it was sent. `id`: the request
 * whose own JSON-RPC error the body may be, which then is the answer whatever the status.
 */
export async function httpFault(response: HttpResponse, withSession: boolean, elapsedMs: number, id: number | null = null): Promise<LinkError> {
  const { status } = response;
  const body = await readExcerpt(response, EXCERPT_BYTES);
  const type = (response.headers["content-type"] ?? "no content type").split(";")[0]!.trim();
  const rpc = rpcError(body);
  const text = rpc === undefined ? excerpt(body, type) : plainLine(rpc.message.slice(0, SHOWN_CHARS));
  const message = `HTTP ${status} from ${response.url.host} after ${seconds(elapsedMs)}${rpc === undefined ? ` (${plainLine(type.slice(0, 60))})` : ""}${text === "" ? "" : `: ${text}`}`;
  if (withSession && (status === 404 || status === 410 || (ABOUT_SESSION.has(status) && saysUnknownSession(body))))
    return new LinkError("session-expired", message, { code: status });
  if (rpc !== undefined && id !== null && rpc.id === id && !SPEAKS_FOR_ITSELF.has(status))
    return new LinkError("rpc", rpc.message, {
      sent: true,
      ...(typeof rpc.code === "number" ? { code: rpc.code } : {}),
      ...(rpc.data === undefined ? {} : { data: rpc.data }),
    });
  if (status === 401) return new LinkError("unauthorized", `${message}; it wants other credentials than it got (mcp.auth, mcp.headers)`, { code: status });
  if (status === 403) return new LinkError("forbidden", message, { code: status });
  const retryAfterMs = retryAfter(response.headers["retry-after"]);
  return new LinkError("http", message, {
    // A gateway's or a broken server's word says nothing about what the request has done.
    sent: status >= 500,
    code: status,
    ...(rpc?.data === undefined ? {} : { data: rpc.data }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/**
 * The LinkError that a message in the response to request `id` stands for where the message alone does not tell: an error that names no request can only mean this
 * one, and an unknown session is not the request's fault. Null for every other message.
 */
export function refusalIn(message: WireMessage, id: number, withSession: boolean): LinkError | null {
  const { error, id: named } = message;
  if (typeof message["method"] === "string" || !isObject(error)) return null;
  const nameless = named === undefined || named === null || (typeof named === "string" && !/^\d{1,15}$/.test(named));
  if (!nameless && String(named) !== String(id)) return null;
  const { code, data } = error;
  const text = typeof error["message"] === "string" && error["message"] !== "" ? error["message"] : "error without a message";
  if (withSession && saysUnknownSession(text) && (nameless || code === SESSION_NOT_FOUND)) return new LinkError("session-expired", text);
  if (!nameless) return null;
  return new LinkError("rpc", text, { sent: true, ...(typeof code === "number" ? { code } : {}), ...(data === undefined ? {} : { data: data as Json }) });
}

/** The LinkError for a success whose body is no JSON-RPC message. */
export function unexpectedBody(body: string, { status, url: { host } }: HttpResponse, withSession: boolean): LinkError {
  const text =
    body.trim() === ""
      ? `HTTP ${status} from ${host} without a body, where the answer should be`
      : `unexpected body from ${host}, not a JSON-RPC message: ${excerpt(body, "")}`;
  return withSession && saysUnknownSession(body) ? new LinkError("session-expired", text) : new LinkError("invalid", text, { sent: true });
}

function rpcError(body: string): { readonly id: unknown; readonly code: unknown; readonly message: string; readonly data: Json | undefined } | undefined {
  try {
    const answer: unknown = JSON.parse(body);
    const error = own(answer, "error");
    const message = own(error, "message");
    if (!isObject(error) || typeof message !== "string") return undefined;
    return { id: own(answer, "id"), code: error["code"], message, data: error["data"] as Json | undefined };
  } catch {
    return undefined;
  }
}

/** A short piece of a body as one line; of an HTML page only its words. */
function excerpt(body: string, type: string): string {
  const html = type.includes("html") || /^\s*<(?:!doctype|html)/i.test(body);
  const text = html ? body.replaceAll(/<(script|style)[^>]{0,200}>[^<]*<\/\1>/gi, " ").replaceAll(/<[^<>]{0,1000}>/g, " ") : body;
  return plainLine(text.replaceAll(/\s+/g, " ").trim().slice(0, SHOWN_CHARS));
}

function retryAfter(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}(?:\.\d{1,9})?$/.test(value.trim())) return Math.round(Number(value) * 1000);
  // Only a date of HTTP: Date.parse would take "-5" for a year.
  const at = /^[A-Za-z]{3,9},/.test(value.trim()) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
