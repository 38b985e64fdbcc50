import { isObject, own } from "../base/json.ts";

/** What a reference leads to inside its own document. */
export type RefTarget =
  | { readonly kind: "local"; readonly pointer: string; readonly node: unknown }
  | { readonly kind: "unresolved" }
  | { readonly kind: "external" };

/** Looks references up in one schema document; nothing is ever fetched or read. */
export interface RefTable {
  resolve(ref: string): RefTarget;
}

/** Makes the table for a schema as its server sent it. */
export function createRefTable(root: Record<string, unknown>): RefTable {
  let named: ReadonlyMap<string, string> | undefined;
  const cache = new Map<string, RefTarget>();
  const lookUp = (ref: string): RefTarget => {
    const hash = ref.indexOf("#");
    const base = hash === -1 ? ref : ref.slice(0, hash);
    const fragment = hash === -1 ? "" : decoded(ref.slice(hash + 1));
    named ??= base === "" && (fragment === "" || fragment.startsWith("/")) ? named : namedPlaces(root);
    const start = base === "" ? "" : named?.get(base);
    if (start === undefined) return { kind: "external" };
    if (fragment === "" || fragment.startsWith("/")) return follow(root, `${start}${fragment}`);
    const place = named?.get(`#${fragment}`);
    return place === undefined ? { kind: "unresolved" } : follow(root, place);
  };
  return {
    resolve(ref) {
      let target = cache.get(ref);
      if (!target) {
        target = lookUp(ref);
        cache.set(ref, target);
      }
      return target;
    },
  };
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
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    // Some generators write `$defs` and refer to `definitions`, or the other way round.
    const other = key === "definitions" ? "$defs" : key === "$defs" ? "definitions" : undefined;
    node = own(node, key) ?? (other === undefined ? undefined : own(node, other));
    if (node === undefined) return { kind: "unresolved" };
  }
  return typeof node === "boolean" || isObject(node) ? { kind: "local", pointer, node } : { kind: "unresolved" };
}

/** Pointers of every `$id` (as it is written) and every anchor (with `#` in front) of a document. */
function namedPlaces(root: unknown): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  const stack: { readonly node: unknown; readonly pointer: string }[] = [{ node: root, pointer: "" }];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    const { node, pointer } = at;
    if (typeof node !== "object" || node === null) continue;
    for (const key of ["$id", "id"]) {
      const id = own(node, key);
      if (typeof id === "string" && id !== "") places.set(id.replace(/#$/, ""), pointer);
    }
    for (const key of ["$anchor", "$dynamicAnchor"]) {
      const anchor = own(node, key);
      if (typeof anchor === "string") places.set(`#${anchor}`, pointer);
    }
    for (const [key, child] of Object.entries(node)) stack.push({ node: child, pointer: `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}` });
  }
  return places;
}
