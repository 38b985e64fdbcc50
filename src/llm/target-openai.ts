import { isObject, type Json } from "../base/json.ts";
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
    if (saysType(node, "array")) node = withItems(node);
    if (saysType(node, "object")) node = withProperties(node, pointer);
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

function withItems(node: Node): Node {
  if (node["items"] === undefined) return { ...node, items: {} };
  return node["items"] === false ? { ...node, items: {}, maxItems: 0 } : node;
}

function withProperties(node: Node, pointer: string): Node {
  const free = pointer !== "" && isFreeForm(node);
  if (!free && node["properties"] !== undefined) return node;
  return { ...node, properties: {}, ...(free ? { additionalProperties: true } : {}) };
}
