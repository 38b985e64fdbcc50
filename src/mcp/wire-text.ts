import { mayHoldExact, parseExact } from "../base/exact-json.ts";
import { own, setOwn } from "../base/json.ts";
import { isTooDeep, MAX_NESTING } from "../base/json-scan.ts";
import { isWireMessage, type WireMessage } from "./wire.ts";

/**
 * The value of one JSON-RPC text, as `JSON.parse`; in the `structuredContent` of a result, whole numbers that a double cannot hold keep
 * their digits as ExactNumber. Nothing else a server says is worth the care: it is read by code that wants plain numbers. Throws a SyntaxError,
 * also for a text that is nested beyond reason.
 */
export function parseWireText(text: string): unknown {
  if (isTooDeep(text)) throw new SyntaxError(`it is nested deeper than ${MAX_NESTING} levels`);
  const value: unknown = JSON.parse(text);
  const result = own(value, "result");
  if (own(result, "structuredContent") !== undefined && mayHoldExact(text)) {
    setOwn(result as object, "structuredContent", own(own(parseExact(text), "result"), "structuredContent"));
  }
  return value;
}

/** The messages of a parsed text: one, or those of a batch, which revision 2025-03-26 allowed; one that is none costs itself alone. Empty when there are none. */
export function messagesOf(value: unknown): WireMessage[] {
  return (Array.isArray(value) ? value : [value]).filter(isWireMessage);
}

const BOM = 0xfeff;

/** The messages of a JSON text: one, or those of a batch. Null when it holds none. */
export function readMessages(text: string): WireMessage[] | null {
  try {
    const messages = messagesOf(parseWireText(text.charCodeAt(0) === BOM ? text.slice(1) : text));
    return messages.length > 0 ? messages : null;
  } catch {
    return null;
  }
}

const HEAD_ID = /^[\s\uFEFF]{0,16}\{\s{0,8}(?:"jsonrpc"\s{0,8}:\s{0,8}"2\.0"\s{0,8},\s{0,8})?"id"\s{0,8}:\s{0,8}(\d{1,16}|"[^"\\]{1,100}")\s{0,8}[,}]/;
const TAIL_ID = /"id"\s{0,8}:\s{0,8}(\d{1,16}|"[^"\\]{1,100}")\s{0,8}(?:,\s{0,8}"jsonrpc"\s{0,8}:\s{0,8}"2\.0"\s{0,8})?\}\s{0,16}$/;
const EDGE_CHARS = 512;

/** Whose answer a text is that cannot be read as a whole, from its first and last characters; null when that cannot be told. */
export function answeredId(head: string, tail: string): number | string | null {
  const found = HEAD_ID.exec(head) ?? TAIL_ID.exec(tail);
  return found === null ? null : (JSON.parse(found[1]!) as number | string);
}

/** Of a text that cannot be parsed: whose answer it was to be, and what is wrong with it; null when it is no answer. */
export function brokenAnswer(text: string): { readonly id: number | string; readonly why: string } | null {
  const head = text.slice(0, EDGE_CHARS);
  const id = /"(?:result|error)"\s{0,8}:/.test(head) ? answeredId(head, text.slice(-EDGE_CHARS)) : null;
  if (id === null) return null;
  try {
    parseWireText(text);
    return null;
  } catch (error) {
    return { id, why: (error as Error).message };
  }
}
