import { isJsonObject, type JsonObject } from "./json.ts";

/** What came of an HTTP request for JSON. `sent: false` where it is sure that the other side never got it. */
export type HttpAnswer =
  | { readonly kind: "answer"; readonly status: number; readonly body: JsonObject | undefined }
  | { readonly kind: "timeout" }
  | { readonly kind: "failed"; readonly sent: boolean; readonly reason: string };

/** A request, and how long its answer may take (milliseconds) and be (characters). */
export interface HttpQuestion {
  readonly url: URL;
  readonly method: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
  readonly timeout: number;
  readonly maxLength: number;
  /** The caller gave up; the request then throws what the signal says. */
  readonly signal?: AbortSignal;
}

/** What fetch says of ports that it never opens (such as 6000); the only fault without a code that matters here. */
const BAD_PORT = "bad port";
/** Faults that come before the first byte is sent. */
const NEVER_SENT = new Set([BAD_PORT, "ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

/**
 * Asks once, without following redirects to other places and without trying again. Everything that can go wrong out there
 * is a value; `body` is undefined where the answer is no JSON object or too long.
 */
export async function askJson(question: HttpQuestion): Promise<HttpAnswer> {
  const deadline = AbortSignal.timeout(question.timeout);
  try {
    const response = await fetch(question.url, {
      method: question.method,
      redirect: "manual",
      headers: { accept: "application/json", ...(question.body ? { "content-type": "application/json" } : {}), ...question.headers },
      ...(question.body ? { body: JSON.stringify(question.body) } : {}),
      signal: question.signal ? AbortSignal.any([question.signal, deadline]) : deadline,
    });
    const text = await readText(response, question.maxLength);
    return { kind: "answer", status: response.status, body: text === undefined ? undefined : parse(text) };
  } catch (error) {
    if (question.signal?.aborted) throw error;
    if (deadline.aborted) return { kind: "timeout" };
    const code = causeCode(error);
    return { kind: "failed", sent: !NEVER_SENT.has(code), reason: code };
  }
}

async function readText(response: Response, maxLength: number): Promise<string | undefined> {
  if (!response.body) return "";
  const decoder = new TextDecoder();
  let text = "";
  // Leaving the loop early cancels the body, so an endless answer is not read to its end.
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > maxLength) return undefined;
  }
  return text + decoder.decode();
}

function parse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The system's code of a failed fetch, such as ECONNREFUSED. Other messages are not used: they may quote a URL with secrets. */
function causeCode(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const inner: unknown = cause instanceof AggregateError ? cause.errors[0] : cause;
  if (!(inner instanceof Error)) return "connection failed";
  if (inner.message === BAD_PORT) return BAD_PORT;
  return "code" in inner && typeof inner.code === "string" ? inner.code : "connection failed";
}
