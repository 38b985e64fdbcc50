import type { IncomingMessage } from "node:http";
import { messageOf } from "../base/errors.ts";
import { parseExact } from "../base/exact-json.ts";
import type { Json } from "../base/json.ts";
import { isTooDeep, MAX_NESTING } from "../base/json-scan.ts";
import { INVALID_REQUEST, PARSE_ERROR } from "../mcp/gateway-rpc.ts";
import { HttpError } from "./http-errors.ts";

/** Largest body that is read. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
const BOM = 0xfeff;

/** Refuses, before a byte of the body is read, what can be refused by the headers alone. */
export function checkBodyHeaders(req: IncomingMessage): void {
  const type = req.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") throw new HttpError("UNSUPPORTED_MEDIA_TYPE", "the body must have Content-Type: application/json");
  const encoding = req.headers["content-encoding"]?.toLowerCase();
  if (encoding !== undefined && encoding !== "identity") throw new HttpError("UNSUPPORTED_MEDIA_TYPE", "compressed bodies are not accepted");
  if (Number(req.headers["content-length"] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
}

/** Reads and parses a JSON body of at most {@link MAX_BODY_BYTES}, whatever its head said; whole numbers keep all their digits. Throws an {@link HttpError}. */
export async function readJsonBody(req: IncomingMessage): Promise<Json> {
  const text = (await readBytes(req)).toString("utf8");
  if (isTooDeep(text)) throw new HttpError("BAD_REQUEST", `the body is nested deeper than ${MAX_NESTING} levels`, { rpcCode: INVALID_REQUEST });
  try {
    // A byte order mark is no JSON, but some programs cannot write without one.
    return parseExact(text.charCodeAt(0) === BOM ? text.slice(1) : text) as Json;
  } catch (error) {
    throw new HttpError("BAD_REQUEST", `the body is not JSON: ${messageOf(error)}`, { rpcCode: PARSE_ERROR });
  }
}

function readBytes(req: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    req.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) {
        req.removeAllListeners("data");
        req.pause();
        reject(tooLarge());
        return;
      }
      chunks.push(chunk);
    });
    req.on("end", () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    // A client that goes away gets no answer; the error only ends the wait.
    req.on("error", () => reject(new HttpError("BAD_REQUEST", "the body did not arrive")));
    req.on("close", () => {
      if (!req.complete) reject(new HttpError("BAD_REQUEST", "the body did not arrive"));
    });
  });
}

function tooLarge(): HttpError {
  return new HttpError("BODY_TOO_LARGE", `the body is over ${MAX_BODY_BYTES} bytes`);
}
