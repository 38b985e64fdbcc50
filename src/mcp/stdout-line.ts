import { isUtf8 } from "node:buffer";
import { isObject } from "../base/json.ts";
import { endOfValue } from "../base/json-scan.ts";
import { isWireMessage } from "./wire.ts";
import type { WireMessage } from "./wire.ts";
import { brokenAnswer, messagesOf, parseWireText } from "./wire-text.ts";

/** What one line of a server's stdout turned out to be. Every line is judged alone. */
export type StdoutLine =
  | { readonly kind: "blank" }
  | { readonly kind: "messages"; readonly messages: readonly WireMessage[]; readonly note: string | null }
  | { readonly kind: "noise"; readonly text: string }
  /** The answer to this request, but no JSON. */
  | { readonly kind: "broken"; readonly id: number | string; readonly why: string }
  | { readonly kind: "content-length" };

const BOM = 0xfeff;
const BLANK: StdoutLine = { kind: "blank" };
/** How a JSON-RPC object begins when other text stands before it on the line. */
const GLUED_START = /\{\s{0,8}"(?:jsonrpc|id|method|result|error)"\s{0,8}:/g;
const MAY_BE_JSON = /^\s*[{[]/;
const GLUED_TRIES = 3;
/** What terminals and careless programs put before a line: NUL and other control characters, colours. */
// oxlint-disable-next-line no-control-regex
const FRONT = /(?:\x1b\[[0-9;?]{0,20}[A-Za-z]|[\0-\x1a\x1c-\x20]+|\x1b)/y;
/** A few of those at the end: looked for in few characters at a time, for in the midst of a line a run of them may be as long as the line. */
// oxlint-disable-next-line no-control-regex
const LAST = /(?:\x1b\[[0-9;?]{0,20}[A-Za-z]|[\0-\x20]{1,24})$/;
const LAST_CHARS = 24;

/**
 * Reads one line: a JSON-RPC message, a batch of them, or noise. Takes a byte order mark, CRLF, colours, bytes that are not UTF-8 (as U+FFFD, with a note),
 * text glued in front of a whole JSON-RPC 2.0 object, and what follows one.
 */
export function readStdoutLine(line: Buffer): StdoutLine {
  let text = line.toString("utf8");
  if (text.charCodeAt(0) === BOM) text = text.slice(1);
  const note = text.includes("\uFFFD") && !isUtf8(line) ? "sent bytes that are not UTF-8; they were replaced by U+FFFD" : null;
  // A look at the first character spares the cost of a thrown error for every line of a flood of noise.
  const value = MAY_BE_JSON.test(text) ? parse(text) : undefined;
  if (value !== undefined) {
    if (isWireMessage(value)) return { kind: "messages", messages: [value], note };
    const messages = Array.isArray(value) ? messagesOf(value) : [];
    return messages.length > 0 ? { kind: "messages", messages, note } : { kind: "noise", text };
  }
  const trimmed = text.trim();
  if (trimmed === "") return BLANK;
  if (/^content-length:\s{0,8}\d{1,12}$/i.test(trimmed)) return { kind: "content-length" };
  const bare = withoutEdges(text);
  return severalOf(bare) ?? glued(bare) ?? broken(bare) ?? { kind: "noise", text };
}

/** The text without what {@link FRONT} and {@link LAST} find at its edges. In linear time. */
function withoutEdges(text: string): string {
  let from = (FRONT.lastIndex = 0);
  while (FRONT.test(text)) from = FRONT.lastIndex;
  let end = text.length;
  for (;;) {
    const found = LAST.exec(text.slice(Math.max(from, end - LAST_CHARS), end));
    if (found === null) return text.slice(from, end);
    end -= found[0].length;
  }
}

/** A message that the line begins with, and those that follow it without a newline; after an answer other text may follow too. */
function severalOf(text: string): StdoutLine | undefined {
  if (!text.startsWith("{")) return undefined;
  const messages: WireMessage[] = [];
  let from = 0;
  while (text[from] === "{") {
    const end = endOfValue(text, from);
    const value = end === -1 ? undefined : parse(text.slice(from, end));
    if (!isWireMessage(value) || value["jsonrpc"] !== "2.0") break;
    messages.push(value);
    from = end + /^\s{0,16}/.exec(text.slice(end, end + 16))![0].length;
  }
  // Part of a log text, unless it answers something.
  if (messages.length === 0 || (from < text.length && !messages.every(isAnswer))) return undefined;
  return { kind: "messages", messages, note: "wrote other text on the same line after a JSON-RPC message" };
}

function isAnswer(message: WireMessage): boolean {
  return typeof message["method"] !== "string" && (isObject(message["result"]) || isObject(message["error"]));
}

function broken(text: string): StdoutLine | undefined {
  const answer = brokenAnswer(text);
  return answer === null ? undefined : { kind: "broken", ...answer };
}

function glued(text: string): StdoutLine | undefined {
  GLUED_START.lastIndex = 0;
  for (let tries = 0; tries < GLUED_TRIES; tries += 1) {
    const match = GLUED_START.exec(text);
    if (match === null) return undefined;
    const value = parse(text.slice(match.index));
    // Only an object that says jsonrpc 2.0 and ends with the line: anything less may be part of a log text.
    if (isWireMessage(value) && value["jsonrpc"] === "2.0") {
      return { kind: "messages", messages: [value], note: "wrote other text on the same line before a JSON-RPC message" };
    }
  }
  return undefined;
}

function parse(text: string): unknown {
  try {
    return parseWireText(text);
  } catch {
    return undefined;
  }
}
