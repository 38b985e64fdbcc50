import { parseJson } from "./text.js";

const KEY = "aurora-token";

/** An answer of the host that is not 2xx, or no answer at all (`status` 0). */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** @returns {string | null} the token of this tab; it is kept nowhere else and goes when the tab closes */
export function token() {
  return sessionStorage.getItem(KEY);
}

/** @param {string | null} value */
export function setToken(value) {
  if (value === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, value);
}

/**
 * Asks the host and gives its JSON. Throws an {@link ApiError}.
 * @param {string} path
 * @param {unknown} [body] makes it a POST; null one without a body
 * @returns {Promise<any>}
 */
export async function ask(path, body) {
  const response = await send(path, body === undefined ? {} : { method: "POST", ...(body === null ? {} : { body: JSON.stringify(body) }) });
  return parseJson(await response.text());
}

/**
 * Reads an event stream until it ends, or `signal` says so. Throws an {@link ApiError} when it breaks or never begins.
 * @param {string} path
 * @param {{ signal: AbortSignal, onOpen?: () => void, onEvent: (event: string, data: any) => void }} options
 */
export async function follow(path, { signal, onOpen, onEvent }) {
  const response = await send(path, { signal });
  onOpen?.();
  const reader = /** @type {ReadableStream<Uint8Array<ArrayBuffer>>} */ (response.body).pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) deliver(block, onEvent);
  }
}

/**
 * @param {string} block
 * @param {(event: string, data: any) => void} onEvent
 */
function deliver(block, onEvent) {
  let event = "message";
  let data = "";
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) event = line.slice(7);
    else if (line.startsWith("data: ")) data += line.slice(6);
  }
  if (data !== "") onEvent(event, parseJson(data));
}

/**
 * @param {string} path
 * @param {RequestInit} options
 */
async function send(path, options) {
  const mine = token();
  /** @type {Record<string, string>} */
  const headers = {};
  if (mine !== null) headers["Authorization"] = `Bearer ${mine}`;
  if (options.body !== undefined) headers["Content-Type"] = "application/json";
  const response = await fetch(path, { ...options, headers, credentials: "omit", cache: "no-store" }).catch(() => {
    throw new ApiError(0, "the host does not answer");
  });
  if (response.ok) return response;
  const answer = await response.json().catch(() => null);
  throw new ApiError(response.status, typeof answer?.message === "string" ? answer.message : `the host answered with status ${response.status}`);
}
