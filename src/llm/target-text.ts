import { isObject, type Json, type JsonObject } from "../base/json.ts";
import { branchesOf, propertiesOf, requiredOf, typesOf, type Node } from "./schema-node.ts";
import { valueInWords } from "./words.ts";

/** A tool as text for a prompt: name, description, and a line for each argument. */
export function toolText(name: string, description: string, schema: Node): string {
  const lines = [`## ${name}`, description, ...argumentLines(schema, 0)];
  if (Object.keys(propertiesOf(schema) ?? {}).length === 0) lines.push("No arguments.");
  return lines.join("\n");
}

const MAX_DEPTH = 4;

function argumentLines(node: Node, depth: number): string[] {
  const required = requiredOf(node);
  return Object.entries((propertiesOf(node) ?? {}) as JsonObject).flatMap(([name, child]) => {
    const words = isObject(child) && typeof child["description"] === "string" ? `: ${child["description"].replaceAll(/\s*\n\s*/g, " ")}` : "";
    const line = `${"  ".repeat(depth)}- ${name} (${kindOf(child)}${required.includes(name) ? ", required" : ""})${words}`;
    const inner = isObject(child) ? ((child["items"] as Json | undefined) ?? child) : {};
    return [line, ...(isObject(inner) && depth < MAX_DEPTH ? argumentLines(inner as Node, depth + 1) : [])];
  });
}

function kindOf(node: Json): string {
  if (!isObject(node)) return "any";
  if ("const" in node) return valueInWords(node["const"] as Json);
  if (Array.isArray(node["enum"])) return node["enum"].map((value) => valueInWords(value as Json)).join(" | ");
  const union = [...branchesOf(node as Node, "anyOf"), ...branchesOf(node as Node, "oneOf")];
  if (union.length > 0) return union.map(kindOf).join(" | ");
  const types = typesOf(node as Node);
  const list = types.map((type) => (type === "array" ? `list of ${kindOf((node["items"] ?? {}) as Json)}` : type));
  return list.join(" | ") || "any";
}
