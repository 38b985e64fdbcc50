import { isObject, type Json } from "../base/json.ts";
import { nameHash } from "../tools/names.ts";
import { MAX_KEY } from "./schema-keywords.ts";
import type { Notes } from "./schema-node.ts";
import { childPointer, forEachSubschema, mapSubschemas, propertiesOf, requiredOf, type Node } from "./schema-node.ts";
import { setOwn, type JsonObject } from "../base/json.ts";
import type { PreparedSchema } from "./prepare.ts";
import type { Relaxation } from "./types.ts";

/** Which property names a target takes. `wide`: letters, digits, `_ . -`; `identifier`: a letter or `_`, then letters, digits, `_`. */
export type KeyStyle = "wide" | "identifier";

const LEGAL: Readonly<Record<KeyStyle, RegExp>> = { wide: /^[A-Za-z0-9_.-]{1,64}$/, identifier: /^[A-Za-z_][A-Za-z0-9_]{0,63}$/ };
const ILLEGAL_RUN: Readonly<Record<KeyStyle, RegExp>> = { wide: /[^A-Za-z0-9_.-]+/g, identifier: /[^A-Za-z0-9_]+/g };

/**
 * Original property name to exported name, one to one over the whole schema, for names that must change. Legal names stay;
 * otherwise illegal runs become `_`, and what is too long, unreadable or taken gets `_` and a hash of the original name.
 */
export function renamedKeys(names: ReadonlySet<string>, style: KeyStyle): ReadonlyMap<string, string> {
  const illegal = [...names].filter((name) => !LEGAL[style].test(name)).sort();
  if (illegal.length === 0) return new Map();
  const plain = new Map(illegal.map((name) => [name, plainKey(name, style)]));
  const claims = new Map<string, number>();
  for (const key of plain.values()) claims.set(key, (claims.get(key) ?? 0) + 1);
  const out = new Map<string, string>();
  const taken = new Set(names);
  for (const [name, key] of plain) {
    let exported = key;
    const readable = /[A-Za-z0-9]/.test(key);
    for (let round = 0; !readable || key.length > MAX_KEY || claims.get(key)! > 1 || taken.has(exported); round += 1) {
      const hash = round === 0 ? nameHash(name) : nameHash(name, String(round));
      exported = `${key.slice(0, MAX_KEY - hash.length - 1)}_${hash}`;
      if (!taken.has(exported)) break;
    }
    taken.add(exported);
    out.set(name, exported);
  }
  return out;
}

function plainKey(name: string, style: KeyStyle): string {
  const key = name.replace(ILLEGAL_RUN[style], "_");
  return style === "identifier" && /^[0-9]/.test(key) ? `_${key}` : key;
}

/** Every property name that a schema declares, at any depth. */
export function propertyNames(prepared: PreparedSchema): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (node: Json): void => {
    if (!isObject(node)) return;
    for (const name of Object.keys(propertiesOf(node as Node) ?? {})) names.add(name);
    forEachSubschema(node as Node, visit);
  };
  visit(prepared.root);
  for (const node of prepared.definitions.values()) visit(node);
  return names;
}

/** Exported property name back to the original, for every style in which a provider may have been shown the tool. */
export function keyMapOf(prepared: PreparedSchema): ReadonlyMap<string, string> {
  const out = new Map<string, string>();
  if (prepared.plainKeys) return out;
  const names = propertyNames(prepared);
  for (const style of ["wide", "identifier"] as const) for (const [original, exported] of renamedKeys(names, style)) out.set(exported, original);
  return out;
}

/** A prepared schema whose property names all fit a style. */
export function withKeyStyle(prepared: PreparedSchema, style: KeyStyle, notes: Notes): PreparedSchema {
  if (prepared.plainKeys) return prepared;
  const renamed = renamedKeys(propertyNames(prepared), style);
  if (renamed.size === 0) return prepared;
  for (const [original, exported] of renamed) notes.add("property.renamed", "", original, exported, "renamed");
  const rename = (name: string): string => renamed.get(name) ?? name;
  const walk = (schema: Json): Json => {
    if (!isObject(schema)) return schema;
    const node = { ...mapSubschemas(schema as Node, undefined, walk) };
    const properties = propertiesOf(node);
    if (properties) node["properties"] = renameKeys(properties, rename);
    if (node["required"] !== undefined) node["required"] = requiredOf(node).map(rename);
    if (isObject(node["dependentRequired"])) {
      const lists = renameKeys(node["dependentRequired"] as JsonObject, rename);
      for (const key of Object.keys(lists)) lists[key] = (lists[key] as string[]).map(rename);
      node["dependentRequired"] = lists;
    }
    if (isObject(node["dependentSchemas"])) node["dependentSchemas"] = renameKeys(node["dependentSchemas"] as JsonObject, rename);
    return node;
  };
  return { ...prepared, root: walk(prepared.root) as Node, definitions: new Map([...prepared.definitions].map(([name, node]) => [name, walk(node)])) };
}

/** Changes with the tool's own property names in their pointers, for a schema that was compiled under other names. */
export function withOriginalPointers(changes: readonly Relaxation[]): readonly Relaxation[] {
  const renamed = changes.filter(({ code }) => code === "property.renamed");
  if (renamed.length === 0) return changes;
  const originals = new Map(renamed.map(({ before, after }) => [String(after), String(before)]));
  return changes.map((change) => {
    const tokens = change.pointer.split("/");
    const named = (i: number): boolean => tokens[i - 1] === "properties" || tokens[i - 1] === "required";
    const pointer = tokens.map((token, i) => (named(i) && originals.has(token) ? childPointer("", originals.get(token)!).slice(1) : token)).join("/");
    return { ...change, pointer };
  });
}

/** The sentences of a prepared schema with the property names that a target shows. */
export function sentencesIn(prepared: PreparedSchema, style: KeyStyle): readonly string[] {
  if (prepared.plainKeys || prepared.sentences.length === 0) return prepared.sentences;
  const renamed = renamedKeys(propertyNames(prepared), style);
  return prepared.sentences.map((sentence) =>
    sentence.replace(/`([^`]+)`/g, (quoted, name: string) => (renamed.has(name) ? `\`${renamed.get(name)}\`` : quoted)),
  );
}

function renameKeys(map: JsonObject, rename: (name: string) => string): JsonObject {
  const out: JsonObject = {};
  for (const [key, value] of Object.entries(map)) setOwn(out, rename(key), value);
  return out;
}
