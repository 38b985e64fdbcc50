import { stringifyExact } from "../base/exact-json.ts";
import { isObject, own, type Json, type JsonObject } from "../base/json.ts";
import { truncate } from "../base/text.ts";

const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;
const SHOWN_CHARS = 2000;

/**
 * A tool result as strict clients take it: they throw the whole away for one odd member. Bad blocks become a line of text with what they are, null and other
 * odd values of optional members are left out, and a result that has structured content alone has it as text too. The same object where all is well.
 */
export function strictResult(result: JsonObject): JsonObject {
  const content = own(result, "content");
  const blocks = Array.isArray(content) ? content : [];
  const structured = own(result, "structuredContent");
  const showStructured = blocks.length === 0 && structured !== undefined && structured !== null;
  const fits = isStrict(result, ["structuredContent", "_meta"]) && [undefined, true, false].includes(own(result, "isError") as undefined);
  if (fits && !showStructured && blocks === content && blocks.every((block) => isStrictBlock(block))) return result;
  const { isError, ...rest } = withoutOdd(result, ["structuredContent", "_meta"]);
  const shown: Json[] = showStructured ? [{ type: "text", text: stringifyExact(structured) }] : blocks.map((block) => strictBlock(block as Json));
  return {
    ...rest,
    content: shown,
    ...(isError === undefined || isError === null ? {} : { isError: isError === true || isError === "true" || isError === 1 }),
  };
}

function strictBlock(block: Json): Json {
  if (isStrictBlock(block)) return block;
  const trimmed = isObject(block) ? withoutOdd(block as JsonObject, ["annotations", "_meta"]) : block;
  if (isStrictBlock(trimmed)) return trimmed;
  const type = own(block, "type");
  const kind = typeof type === "string" ? `of type ${JSON.stringify(type.slice(0, 60))}` : "without a type";
  return { type: "text", text: `[a block ${kind} that the protocol does not know like this: ${truncate(stringifyExact(block), SHOWN_CHARS)}]` };
}

function isStrictBlock(block: unknown): boolean {
  if (!isObject(block) || !isStrict(block, ["annotations", "_meta"])) return false;
  const { type, text, data, mimeType, uri, name, resource } = block;
  switch (type) {
    case "text":
      return typeof text === "string";
    case "image":
    case "audio":
      return typeof mimeType === "string" && typeof data === "string" && BASE64.test(data);
    case "resource_link":
      return typeof uri === "string" && typeof name === "string";
    case "resource": {
      const blob = own(resource, "blob");
      return typeof own(resource, "uri") === "string" && (typeof own(resource, "text") === "string" || (typeof blob === "string" && BASE64.test(blob)));
    }
    default:
      return false;
  }
}

/** Whether these optional members are objects or not there. */
function isStrict(value: object, members: readonly string[]): boolean {
  return members.every((key) => !Object.hasOwn(value, key) || isObject(own(value, key)));
}

function withoutOdd(value: JsonObject, members: readonly string[]): JsonObject {
  const copy = { ...value };
  for (const key of members) if (Object.hasOwn(copy, key) && !isObject(copy[key])) delete copy[key];
  return copy;
}
