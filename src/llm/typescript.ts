import { isObject, own, type Json, type JsonObject } from "../base/json.ts";
import { refName } from "./schema-definitions.ts";
import { branchesOf, propertiesOf, requiredOf, typesOf, type Node } from "./schema-node.ts";
import { repairSchema } from "./schema-repair.ts";

/** A tool to write types for. */
export interface TypedTool {
  readonly full: string;
  readonly short: string;
  readonly description?: string | null | undefined;
  readonly inputSchema: unknown;
  readonly outputSchema?: unknown;
}

/** The text of a TypeScript module, and tools whose types it cannot tell, with the reason. */
export interface TypeScriptExport {
  readonly text: string;
  readonly untyped: readonly { readonly full: string; readonly reason: string }[];
}

/**
 * A module with argument and result types of all tools and a typed `call` over any caller. Schemas are read as values: a
 * reference that leaves its document is refused, nothing is fetched or read from disk. The same tools give the same text.
 */
export function exportTypeScript(tools: readonly TypedTool[]): TypeScriptExport {
  const untyped: { full: string; reason: string }[] = [];
  const names = new Set<string>();
  const blocks: string[] = [];
  const rows: string[] = [];
  for (const tool of [...tools].sort((a, b) => (a.short < b.short ? -1 : 1))) {
    const base = uniqueName(pascalCase(tool.short), names);
    const write = (schema: unknown, kind: string): string => {
      const repaired = repairSchema(schema);
      if (repaired.kind === "excluded") {
        untyped.push({ full: tool.full, reason: `${kind}: ${repaired.reason}` });
        return "unknown";
      }
      const writer = new TypeWriter(`${base}${kind}`, repaired.schema);
      blocks.push(
        ...writer.definitions(),
        `${comment(kind === "Arguments" ? (tool.description ?? "") : "", "")}export type ${base}${kind} = ${writer.type(repaired.schema, "")};`,
      );
      return `${base}${kind}`;
    };
    const args = write(tool.inputSchema, "Arguments");
    const result = tool.outputSchema === undefined ? "unknown" : write(tool.outputSchema, "Result");
    rows.push(`  ${JSON.stringify(tool.short)}: { arguments: ${args}; result: ${result} };`);
  }
  const text = `// Written by \`aurora-mcp export --format ts\`. Do not edit: export again.

${blocks.length > 0 ? `${blocks.join("\n\n")}\n\n` : ""}/** Every tool by its short name. */
export interface Tools {
${rows.join("\n")}
}

/** A result of tools/call whose structured part has the tool's own type. */
export interface ToolResult<T> {
  content: { type: string; [key: string]: unknown }[];
  structuredContent?: T;
  isError?: boolean;
}

/** Anything that calls a tool by name. */
export type Caller = (name: string, args: Record<string, unknown>) => Promise<unknown>;

/** Calls a tool with checked names and types. */
export async function call<N extends keyof Tools>(caller: Caller, name: N, args: Tools[N]["arguments"]): Promise<ToolResult<Tools[N]["result"]>> {
  return (await caller(name, args as Record<string, unknown>)) as ToolResult<Tools[N]["result"]>;
}
`;
  return { text, untyped };
}

function pascalCase(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  const joined = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  return /^[A-Za-z]/.test(joined) ? joined : `T${joined}`;
}

function uniqueName(base: string, taken: Set<string>): string {
  let name = base;
  for (let n = 2; taken.has(name); n += 1) name = `${base}${n}`;
  taken.add(name);
  return name;
}

function comment(text: string, indent: string): string {
  if (text.trim() === "") return "";
  const safe = text
    .trim()
    .replaceAll("*/", "*\\/")
    .split(/\s*\n\s*/);
  return safe.length === 1 ? `/** ${safe[0]!} */\n${indent}` : `/**\n${safe.map((line) => `${indent} * ${line}`).join("\n")}\n${indent} */\n${indent}`;
}

class TypeWriter {
  readonly #prefix: string;
  readonly #definitions: JsonObject;
  readonly #names = new Map<string, string>();

  constructor(prefix: string, root: Node) {
    this.#prefix = prefix;
    this.#definitions = (own(root, "$defs") ?? {}) as JsonObject;
    const taken = new Set<string>();
    for (const name of Object.keys(this.#definitions)) this.#names.set(name, uniqueName(`${prefix}${pascalCase(name)}`, taken));
  }

  /** A type for each definition, so that recursive schemas end. */
  definitions(): string[] {
    return Object.entries(this.#definitions).map(([name, schema]) => `export type ${this.#names.get(name) ?? this.#prefix} = ${this.type(schema, "")};`);
  }

  type(schema: Json, indent: string): string {
    if (schema === false) return "never";
    if (!isObject(schema)) return "unknown";
    const node = schema as Node;
    const parts: string[] = [];
    const name = refName(node);
    if (name !== undefined) parts.push(this.#names.get(name) ?? "unknown");
    if ("const" in node) parts.push(literal(node["const"]!));
    else if (Array.isArray(node["enum"])) parts.push(union(node["enum"].map(literal)));
    else if (typesOf(node).length > 0) parts.push(union(typesOf(node).map((type) => this.#named(type, node, indent))));
    for (const keyword of ["anyOf", "oneOf"]) {
      const branches = branchesOf(node, keyword);
      if (branches.length > 0) parts.push(union(branches.map((branch) => this.type(branch, indent))));
    }
    for (const branch of branchesOf(node, "allOf")) parts.push(this.type(branch, indent));
    const known = [...new Set(parts.filter((part) => part !== "unknown"))];
    return known.length === 0 ? "unknown" : known.length === 1 ? known[0]! : known.map((part) => (part.includes("|") ? `(${part})` : part)).join(" & ");
  }

  #named(type: string, node: Node, indent: string): string {
    switch (type) {
      case "integer":
      case "number":
        return "number";
      case "array":
        return this.#array(node, indent);
      case "object":
        return this.#object(node, indent);
      default:
        return type;
    }
  }

  #array(node: Node, indent: string): string {
    const prefix = branchesOf(node, "prefixItems");
    const rest = node["items"] === undefined ? "unknown" : this.type(node["items"], indent);
    if (prefix.length === 0) return `(${rest})[]`;
    const min = typeof node["minItems"] === "number" ? node["minItems"] : 0;
    const items = prefix.map((item, i) => `(${this.type(item, indent)})${i < min ? "" : "?"}`);
    return `[${[...items, ...(node["items"] === false ? [] : [`...(${rest})[]`])].join(", ")}]`;
  }

  #object(node: Node, indent: string): string {
    const inner = `${indent}  `;
    const required = requiredOf(node);
    const members = Object.entries(propertiesOf(node) ?? {}).map(([key, child]) => {
      const words = isObject(child) && typeof child["description"] === "string" ? child["description"] : "";
      return `${inner}${comment(words, inner)}${JSON.stringify(key)}${required.includes(key) ? "" : "?"}: ${this.type(child, inner)};`;
    });
    const more = node["additionalProperties"];
    // A typed index signature would have to cover the declared members too.
    if (more !== undefined && more !== false) members.push(`${inner}[key: string]: ${members.length > 0 ? "unknown" : this.type(more, inner)};`);
    if (members.length === 0) return more === false || node === undefined ? "Record<string, never>" : "Record<string, unknown>";
    return `{\n${members.join("\n")}\n${indent}}`;
  }
}

function literal(value: Json): string {
  return typeof value === "object" && value !== null ? "unknown" : JSON.stringify(value);
}

function union(parts: readonly string[]): string {
  const distinct = [...new Set(parts)];
  return distinct.includes("unknown") ? "unknown" : distinct.join(" | ");
}
