import { isObject, own } from "../base/json.ts";
import { childPointer } from "./schema-node.ts";

/** What a reference leads to inside its own document. */
export type RefTarget =
  | { readonly kind: "local"; readonly pointer: string; readonly node: unknown }
  | { readonly kind: "unresolved" }
  | { readonly kind: "external" };

/** Looks references up in one schema document; nothing is ever fetched or read. */
export interface RefTable {
  /** `from`: pointer of the node that refers; a schema with an `$id` of its own is a document for what stands inside it. */
  resolve(ref: string, from: string): RefTarget;
}

/** What names relative to no document are resolved against. */
const NOWHERE = "schema:///";

/** Makes the table for a schema as its server sent it. */
export function createRefTable(root: Record<string, unknown>): RefTable {
  let named: ReadonlyMap<string, string> | undefined;
  const cache = new Map<string, RefTarget>();
  const lookUp = (ref: string, inside: string): RefTarget => {
    const hash = ref.indexOf("#");
    const file = hash === -1 ? ref : ref.slice(0, hash);
    const fragment = hash === -1 ? "" : decoded(ref.slice(hash + 1));
    const isPointer = fragment === "" || fragment.startsWith("/");
    named ??= file === "" && isPointer ? named : namedPlaces(root);
    const start = file === "" ? inside : (named?.get(file) ?? named?.get(uriOf(file, uriOf(ownName(root) ?? "", NOWHERE))));
    if (start === undefined) return { kind: "external" };
    if (isPointer) {
      const target = follow(root, `${start}${fragment}`);
      // Some generators write an `$id` in every node and mean the whole document all the same.
      return target.kind === "unresolved" && file === "" && inside !== "" ? follow(root, fragment) : target;
    }
    const place = named?.get(`#${fragment}`);
    return place === undefined ? { kind: "unresolved" } : follow(root, place);
  };
  return {
    resolve(ref, from) {
      const inside = ref.startsWith("#") ? documentOf(root, from) : "";
      const key = inside === "" ? ref : `${inside} ${ref}`;
      let target = cache.get(key);
      if (!target) {
        target = lookUp(ref, inside);
        cache.set(key, target);
      }
      return target;
    },
  };
}

/** The name that a schema gives itself as a document; names that are only a fragment are anchors. */
function ownName(node: unknown): string | undefined {
  const id = own(node, "$id") ?? own(node, "id");
  return typeof id === "string" && id !== "" && !id.startsWith("#") ? id.replace(/#$/, "") : undefined;
}

function uriOf(name: string, base: string): string {
  return URL.canParse(name, base) ? new URL(name, base).href : name;
}

/** Pointer of the innermost document that a place is in; `` is the whole schema. */
function documentOf(root: unknown, pointer: string): string {
  let node = root;
  let at = "";
  let inside = "";
  for (const token of pointer.split("/").slice(1)) {
    node = own(node, unescaped(token));
    if (node === undefined) break;
    at += `/${token}`;
    if (ownName(node) !== undefined) inside = at;
  }
  return inside;
}

function unescaped(token: string): string {
  return token.replaceAll("~1", "/").replaceAll("~0", "~");
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

function follow(root: unknown, pointer: string): RefTarget {
  let node: unknown = root;
  for (const token of pointer.split("/").slice(1)) {
    const key = unescaped(token);
    // Some generators write `$defs` and refer to `definitions`, or the other way round.
    const other = key === "definitions" ? "$defs" : key === "$defs" ? "definitions" : undefined;
    node = own(node, key) ?? (other === undefined ? undefined : own(node, other));
    if (node === undefined) return { kind: "unresolved" };
  }
  return typeof node === "boolean" || isObject(node) ? { kind: "local", pointer, node } : { kind: "unresolved" };
}

/** Pointers of every `$id` (as it is written, and as a whole URI) and every anchor (with `#` in front) of a document. */
function namedPlaces(root: unknown): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  const stack: { readonly node: unknown; readonly pointer: string; readonly base: string }[] = [{ node: root, pointer: "", base: NOWHERE }];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    const { node, pointer } = at;
    let { base } = at;
    if (typeof node !== "object" || node === null) continue;
    for (const key of ["$id", "id"]) {
      const id = own(node, key);
      if (typeof id === "string" && id !== "") places.set(id.replace(/#$/, ""), pointer);
    }
    const name = ownName(node);
    if (name !== undefined) places.set((base = uriOf(name, base)), pointer);
    for (const key of ["$anchor", "$dynamicAnchor"]) {
      const anchor = own(node, key);
      if (typeof anchor === "string") places.set(`#${anchor}`, pointer);
    }
    for (const [key, child] of Object.entries(node)) stack.push({ node: child, pointer: childPointer(pointer, key), base });
  }
  return places;
}
