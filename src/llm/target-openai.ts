import { isObject, type Json, type JsonObject } from "../base/json.ts";
import { inKeywordOrder } from "./keyword-order.ts";
import type { PreparedSchema } from "./prepare.ts";
import { isPortablePattern } from "./safe-pattern.ts";
import { withDefinitions } from "./schema-inline.ts";
import type { Notes } from "./schema-node.ts";
import { omit, pointTo, saysType, type Node } from "./schema-node.ts";
import { isFreeForm, rewriteSubschemas, tupleAsList, withoutFalse } from "./schema-shape.ts";

/** The schema for OpenAI without strict mode: `properties` on every object, `items` on every array, lists for tuples, portable patterns only. */
export function openaiSchema(prepared: PreparedSchema, notes: Notes): Node {
  const walk = (schema: Json, pointer: string): Json => {
    if (!isObject(schema)) return schema;
    let node = rewriteSubschemas(withoutFalse(schema as Node, pointer, notes), pointer, notes, walk);
    if (Array.isArray(node["prefixItems"])) node = tupleAsList(node, pointer, notes);
    if (saysType(node, "array") || node["items"] === false) node = withItems(node);
    if (saysType(node, "object")) node = withProperties(node, pointer);
    if (isObject(node["patternProperties"])) node = withPortablePatterns(node, pointer, notes);
    if (typeof node["pattern"] === "string" && !isPortablePattern(node["pattern"])) {
      notes.add("pattern.dropped", pointTo(pointer, "pattern"), node["pattern"], null, "widened");
      node = omit(node, "pattern");
    }
    return node;
  };
  return inKeywordOrder(
    withDefinitions(walk(prepared.root, "") as Node, new Map([...prepared.definitions].map(([name, node]) => [name, walk(node, `/$defs/${name}`)]))),
  ) as Node;
}

/** Leaves patterns of keys out that the provider cannot read. What they allow must then be open, for the host still knows them. */
function withPortablePatterns(node: Node, pointer: string, notes: Notes): Node {
  const patterns = node["patternProperties"] as JsonObject;
  const lost = Object.keys(patterns).filter((pattern) => !isPortablePattern(pattern));
  if (lost.length === 0) return node;
  for (const pattern of lost) notes.add("pattern.dropped", pointTo(pointer, "patternProperties", pattern), pattern, null, "widened");
  const kept = omit(patterns, ...lost);
  const open = omit(node, "patternProperties", "unevaluatedProperties");
  return { ...open, ...(Object.keys(kept).length > 0 ? { patternProperties: kept } : {}), additionalProperties: true };
}

function withItems(node: Node): Node {
  if (node["items"] === undefined) return { ...node, items: {} };
  return node["items"] === false ? { ...node, items: {}, maxItems: 0 } : node;
}

function withProperties(node: Node, pointer: string): Node {
  const free = pointer !== "" && isFreeForm(node);
  if (!free && node["properties"] !== undefined) return node;
  return { ...node, properties: {}, ...(free ? { additionalProperties: true } : {}) };
}
