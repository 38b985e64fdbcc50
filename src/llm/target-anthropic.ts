import { isObject, type Json } from "../base/json.ts";
import { inKeywordOrder } from "./keyword-order.ts";
import type { PreparedSchema } from "./prepare.ts";
import { withKeyStyle } from "./property-keys.ts";
import { withDefinitions } from "./schema-inline.ts";
import type { Notes } from "./schema-node.ts";
import { type Node } from "./schema-node.ts";
import { rewriteSubschemas, withoutFalse } from "./schema-shape.ts";

/** The schema for Anthropic: clean 2020-12 with a plain root and property names it takes. */
export function anthropicSchema(prepared: PreparedSchema, notes: Notes): Node {
  const styled = withKeyStyle(prepared, "wide", notes);
  const walk = (schema: Json, pointer: string): Json =>
    isObject(schema) ? rewriteSubschemas(withoutFalse(schema as Node, pointer, notes), pointer, notes, walk) : schema;
  return inKeywordOrder(
    withDefinitions(walk(styled.root, "") as Node, new Map([...styled.definitions].map(([name, node]) => [name, walk(node, `/$defs/${name}`)]))),
  ) as Node;
}
