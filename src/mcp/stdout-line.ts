import { isUtf8 } from "node:buffer";
import { isWireMessage } from "./wire.ts";
import type { WireMessage } from "./wire.ts";
import { parseWireText } from "./wire-text.ts";

/** What one line of a server's stdout turned out to be. Every line is judged alone. */
export type StdoutLine =
  | { readonly kind: "blank" }
  | { readonly kind: "messages"; readonly messages: readonly WireMessage[]; readonly note: string | null }
  | { readonly kind: "noise"; readonly text: string }
  | { readonly kind: "content-length" };

const BOM = 0xfeff;
const BLANK: StdoutLine = { kind: "blank" };
/** How a JSON-RPC object begins when other text stands before it on the line. */
const GLUED_START = /\{\s{0,8}"(?:jsonrpc|id|method|result|error)"\s{0,8}:/g;
const MAY_BE_JSON = /^\s*[{[]/;
const GLUED_TRIES = 3;

/**
 * Reads one line: a JSON-RPC message, a batch of them, or noise. Takes a byte order mark, CRLF, bytes that are not UTF-8 (as U+FFFD, with a note)
 * and text glued in front of a whole JSON-RPC 2.0 object.
 */
export function readStdoutLine(line: Buffer): StdoutLine {
  let text = line.toString("utf8");
  if (text.charCodeAt(0) === BOM) text = text.slice(1);
  const note = text.includes("\uFFFD") && !isUtf8(line) ? "sent bytes that are not UTF-8; they were replaced by U+FFFD" : null;
  // A look at the first character spares the cost of a thrown error for every line of a flood of noise.
  const value = MAY_BE_JSON.test(text) ? parse(text) : undefined;
  if (value !== undefined) {
    if (isWireMessage(value)) return { kind: "messages", messages: [value], note };
    // Revision 2025-03-26 allowed batches.
    if (Array.isArray(value) && value.length > 0 && value.every(isWireMessage)) return { kind: "messages", messages: value, note };
    return { kind: "noise", text };
  }
  const trimmed = text.trim();
  if (trimmed === "") return BLANK;
  if (/^content-length:\s{0,8}\d{1,12}$/i.test(trimmed)) return { kind: "content-length" };
  return glued(text) ?? { kind: "noise", text };
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

const HEAD_ID = /^[\s\uFEFF]{0,16}\{\s{0,8}(?:"jsonrpc"\s{0,8}:\s{0,8}"2\.0"\s{0,8},\s{0,8})?"id"\s{0,8}:\s{0,8}(\d{1,16}|"[^"\\]{1,100}")\s{0,8}[,}]/;
const TAIL_ID = /"id"\s{0,8}:\s{0,8}(\d{1,16}|"[^"\\]{1,100}")\s{0,8}(?:,\s{0,8}"jsonrpc"\s{0,8}:\s{0,8}"2\.0"\s{0,8})?\}\s{0,16}$/;

/** Whose answer an oversized line was, from its first and last bytes; null when that cannot be told. */
export function answeredId(head: Buffer, tail: Buffer): number | string | null {
  const found = HEAD_ID.exec(head.toString("latin1")) ?? TAIL_ID.exec(tail.toString("latin1"));
  return found === null ? null : (JSON.parse(found[1]!) as number | string);
}
