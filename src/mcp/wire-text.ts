import { mayHoldExact, parseExact } from "../base/exact-json.ts";
import { own, setOwn } from "../base/json.ts";

/**
 * The value of one JSON-RPC text, as `JSON.parse`; in the `structuredContent` of a result, whole numbers that a double cannot hold keep
 * their digits as ExactNumber. Nothing else a server says is worth the care: it is read by code that wants plain numbers. Throws a SyntaxError.
 */
export function parseWireText(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const result = own(value, "result");
  if (own(result, "structuredContent") !== undefined && mayHoldExact(text)) {
    setOwn(result as object, "structuredContent", own(own(parseExact(text), "result"), "structuredContent"));
  }
  return value;
}
