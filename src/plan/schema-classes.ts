import { createRequire } from "node:module";
import { parseDuration, parseSize } from "../base/durations.ts";
import { canonicalJson, isObject, own } from "../base/json.ts";
import type { ReloadClass } from "./types.ts";

const require = createRequire(import.meta.url);
const SCHEMAS: Readonly<Record<string, unknown>> = {
  "app.schema.json": require("../../schemas/app.schema.json"),
  "topology.schema.json": require("../../schemas/topology.schema.json"),
  "policy.schema.json": require("../../schemas/policy.schema.json"),
  "signals.schema.json": require("../../schemas/signals.schema.json"),
};

/** One leaf of a configuration value, with the class of change that its schema gives it. */
export interface ClassifiedLeaf {
  readonly path: string;
  readonly class: ReloadClass;
  /** Durations in milliseconds and sizes in bytes, however they were written. */
  readonly value: unknown;
  /** Whether it says what would hold without it. */
  readonly isDefault: boolean;
}

/** A place in the schemas: the file that `$ref`s are relative to, and the node. */
interface SchemaNode {
  readonly file: string;
  readonly node: Record<string, unknown>;
}

/**
 * The leaves of a value with their reload class, read from `x-reload` in the schema (contracts 8). Lists and maps without
 * named properties count as one leaf each member. A key that the schema does not know takes its parent's class.
 */
export function classifyLeaves(value: unknown, schemaFile: string, pointer: string): ClassifiedLeaf[] {
  const start = resolve({ file: schemaFile, node: atPointer(schemaFile, pointer) });
  const out: ClassifiedLeaf[] = [];
  walk(value, start, "", "live", out);
  // By path: the order in which maps are written means nothing.
  return out.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

function walk(value: unknown, schema: SchemaNode | null, path: string, inherited: ReloadClass, out: ClassifiedLeaf[]): void {
  if (!isObject(value) || Object.keys(value).length === 0) {
    if (value !== undefined) out.push({ path, class: inherited, ...plainValue(value, schema) });
    return;
  }
  for (const key of Object.keys(value)) {
    const child = schema && childOf(schema, key);
    walk(value[key], child && child.schema, path === "" ? key : `${path}.${key}`, child?.class ?? inherited, out);
  }
}

/** A value without its manner of writing, and whether it equals the schema's default. */
function plainValue(value: unknown, schema: SchemaNode | null): { value: unknown; isDefault: boolean } {
  const unit = schema && own(schema.node, "x-unit");
  const plain = (v: unknown): unknown => (unit === "duration" ? (parseDuration(v) ?? v) : unit === "size" ? (parseSize(v) ?? v) : v);
  const fallback = schema && own(schema.node, "default");
  return { value: plain(value), isDefault: fallback !== undefined && fallback !== null && canonicalJson(plain(fallback)) === canonicalJson(plain(value)) };
}

interface SchemaChild {
  readonly schema: SchemaNode;
  readonly class: ReloadClass | undefined;
}

/** By the node of the schema that tells of the member. */
const children = new WeakMap<object, SchemaChild>();

/** The schema of a member. */
function childOf(schema: SchemaNode, key: string): SchemaChild | null {
  const named = own(own(schema.node, "properties"), key);
  const raw = isObject(named) ? named : own(schema.node, "additionalProperties");
  if (!isObject(raw)) return null;
  let child = children.get(raw);
  if (!child) {
    const target = resolve({ file: schema.file, node: raw });
    children.set(raw, (child = { schema: target, class: classOf(target.node) }));
  }
  return child;
}

function classOf(node: Record<string, unknown>): ReloadClass | undefined {
  return own(node, "x-reload") as ReloadClass | undefined;
}

/** Follows `$ref`s. What is written beside one (a class, a default, a description) counts before what its target says. */
function resolve(at: SchemaNode): SchemaNode {
  const { $ref: ref, ...beside } = at.node;
  if (typeof ref !== "string") return at;
  const [file, pointer] = ref.split("#") as [string, string];
  const target = file === "" ? at.file : file;
  const found = resolve({ file: target, node: atPointer(target, pointer) });
  return { file: found.file, node: { ...found.node, ...beside } };
}

function atPointer(file: string, pointer: string): Record<string, unknown> {
  let node: unknown = SCHEMAS[file];
  for (const token of pointer.split("/").slice(1)) node = own(node, token);
  if (!isObject(node)) throw new Error(`no schema at ${file}#${pointer}`);
  return node;
}

/** One row of the table of settings in the docs: a dotted key, its class and its description. */
export interface SchemaProperty {
  readonly path: string;
  readonly class: ReloadClass;
  readonly description: string;
}

/** Every property of a schema file with class and description, for the generated docs table and the completeness test. */
export function schemaProperties(schemaFile: string, pointer = ""): SchemaProperty[] {
  const out: SchemaProperty[] = [];
  const visit = (at: SchemaNode, path: string, inherited: ReloadClass): void => {
    const branches = [at.node, ...["anyOf", "oneOf"].flatMap((k) => (own(at.node, k) as Record<string, unknown>[] | undefined) ?? [])];
    for (const branch of branches) {
      const properties = own(branch, "properties");
      if (isObject(properties)) {
        for (const [key, raw] of Object.entries(properties)) {
          const target = resolve({ file: at.file, node: raw as Record<string, unknown> });
          const cls = classOf(target.node) ?? inherited;
          const full = path === "" ? key : `${path}.${key}`;
          out.push({ path: full, class: cls, description: String(own(target.node, "description") ?? "") });
          visit(target, full, cls);
        }
      }
      for (const [keyword, mark] of [
        ["items", "[]"],
        ["additionalProperties", ".*"],
      ] as const) {
        const inner = own(branch, keyword);
        if (isObject(inner)) visit(resolve({ file: at.file, node: inner }), `${path}${mark}`, inherited);
      }
    }
  };
  visit(resolve({ file: schemaFile, node: atPointer(schemaFile, pointer) }), "", "live");
  return out;
}
