import { readFileSync } from "node:fs";
import { isObject } from "../../../src/base/json.ts";

type Node = Record<string, unknown>;
type KeyPath = readonly (string | number)[];

/** One valid change of one field of a configuration. */
export interface Edit {
  /** Path of the field in the schema, as the docs write it: `apps.*.mcp.command`, `exports[].file`. */
  readonly field: string;
  readonly kind: "change" | "removal";
  readonly class: string;
  readonly at: KeyPath;
  /** Undefined where the field is taken out. */
  readonly after: unknown;
}

/** Edits of a value, and fields of the schema that the value leaves out. */
export interface Edits {
  readonly edits: readonly Edit[];
  readonly absent: readonly string[];
}

const schemas = new Map<string, Node>();

/** Walks a value along its schema and gives a valid change, and where it may be left out a removal, of every field that it has. */
export function schemaEdits(value: unknown, schemaFile: string, pointer = ""): Edits {
  const edits: Edit[] = [];
  const absent: string[] = [];
  visit(value, { file: schemaFile, node: at(schemaFile, pointer) }, [], "", "live", true);
  return { edits, absent };

  function visit(part: unknown, place: { file: string; node: Node }, path: KeyPath, field: string, inherited: string, required: boolean): void {
    const { file, node } = branch(resolve(place), part);
    const properties = node["properties"];
    const members = node["additionalProperties"];
    const items = node["items"];
    if (isObject(part) && isObject(properties)) {
      for (const [key, child] of Object.entries(properties as Record<string, Node>)) {
        const name = field === "" ? key : `${field}.${key}`;
        const cls = (resolve({ file, node: child }).node["x-reload"] ?? inherited) as string;
        if (Object.hasOwn(part, key))
          visit(part[key], { file, node: child }, [...path, key], name, cls, ((node["required"] as string[] | undefined) ?? []).includes(key));
        else absent.push(name);
      }
    } else if (isObject(part) && isObject(members) && hasFields({ file, node: members })) {
      for (const [key, child] of Object.entries(part)) visit(child, { file, node: members }, [...path, key], `${field}.*`, inherited, false);
    } else if (Array.isArray(part) && isObject(items) && hasFields({ file, node: items })) {
      for (const [index, child] of part.entries()) visit(child, { file, node: items }, [...path, index], `${field}[]`, inherited, true);
    } else {
      const after = other(part, node);
      if (after !== undefined) edits.push({ field, kind: "change", class: inherited, at: path, after });
      if (!required) edits.push({ field, kind: "removal", class: inherited, at: path, after: undefined });
    }
  }
}

/** A copy of a value with an edit made. */
export function withEdit(value: unknown, edit: Edit): unknown {
  // Not structuredClone: it would keep parts that two apps share in common.
  const copy = JSON.parse(JSON.stringify(value)) as Node;
  let target: Node = copy;
  for (const step of edit.at.slice(0, -1)) target = target[step] as Node;
  const last = edit.at.at(-1)!;
  if (edit.kind === "removal") delete target[last];
  else target[last] = edit.after;
  return copy;
}

function hasFields(place: { file: string; node: Node }): boolean {
  const { node } = resolve(place);
  return isObject(node["properties"]) || ((node["anyOf"] as Node[] | undefined) ?? []).some((b) => isObject(b["properties"]));
}

function branch(place: { file: string; node: Node }, part: unknown): { file: string; node: Node } {
  const branches = place.node["anyOf"] as Node[] | undefined;
  const kind = Array.isArray(part) ? "array" : typeof part;
  const found = branches?.find((b) => b["type"] === kind);
  return found ? { file: place.file, node: found } : place;
}

function resolve(place: { file: string; node: Node }): { file: string; node: Node } {
  const { $ref: ref, ...beside } = place.node;
  if (typeof ref !== "string") return place;
  const [file, pointer] = ref.split("#") as [string, string];
  const target = file === "" ? place.file : file;
  const found = resolve({ file: target, node: at(target, pointer) });
  return { file: found.file, node: { ...found.node, ...beside } };
}

function at(file: string, pointer: string): Node {
  let schema = schemas.get(file);
  if (!schema) schemas.set(file, (schema = JSON.parse(readFileSync(`schemas/${file}`, "utf8")) as Node));
  return pointer
    .split("/")
    .slice(1)
    .reduce((node, token) => node[token] as Node, schema);
}

/** Another valid value for a leaf; undefined where there is none. */
function other(value: unknown, node: Node): unknown {
  const choices = node["enum"] as unknown[] | undefined;
  if (choices) return choices.find((choice) => choice !== value);
  if (Object.hasOwn(node, "const")) return undefined;
  if (node["x-unit"] === "rate") return "7/min";
  if (node["x-unit"] === "duration") return "7s";
  if (node["x-unit"] === "size") return "7MiB";
  if (typeof value === "boolean") return !value;
  if (typeof value === "number") return value + 1;
  if (Array.isArray(value)) return [...(value as unknown[]), `${String(value.at(-1))}x`];
  if (isObject(value)) return { ...value, EXTRA: "x" };
  if (String(node["pattern"]).includes("[0-9]{1,5}$")) return "127.0.0.1:7900";
  return `${String(value)}x`;
}
