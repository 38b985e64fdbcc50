import { own } from "../base/json.ts";
import type { Json, JsonObject } from "../base/json.ts";

/** One list of the protocol. */
export interface ListKind {
  readonly method: string;
  /** Where its items stand in the result. */
  readonly items: string;
  /** The member that tells items of one list apart. */
  readonly key: "name" | "uri" | "uriTemplate";
}

/** Bounds of one list. */
export interface ListLimits {
  readonly pages: number;
  readonly items: number;
}

/** All items of a list as they came, and what was odd about the walk. */
export interface WalkedList {
  readonly items: readonly Json[];
  readonly warnings: readonly string[];
}

/** Pages in a row without anything new; a server may filter some out, but not for ever. */
const BARREN_PAGES = 3;

/**
 * Walks a paged list to its end, or to where it stops getting on: a cursor seen before on a page without new items, several such pages in a row, the page cap or the
 * item cap. An empty string is a cursor like any other. Throws what `request` throws; a result without a list counts as empty, with a warning.
 */
export async function walkPages(kind: ListKind, limits: ListLimits, request: (params: JsonObject) => Promise<JsonObject>): Promise<WalkedList> {
  const items: Json[] = [];
  const warnings: string[] = [];
  const seenKeys = new Set<unknown>();
  const seenCursors = new Set<string>();
  let cursor: string | undefined;
  let barren = 0;
  for (let page = 1; ; page += 1) {
    const result = await request(cursor === undefined ? {} : { cursor });
    const list = own(result, kind.items);
    if (!Array.isArray(list)) warnings.push(`${kind.method}: the answer has no list "${kind.items}"`);
    const before = seenKeys.size;
    for (const item of Array.isArray(list) ? (list as Json[]) : []) {
      if (items.length >= limits.items)
        return { items, warnings: [...warnings, `${kind.method}: more than ${limits.items} items; the rest was left out (limits.tools_per_app)`] };
      items.push(item);
      seenKeys.add(own(item, kind.key));
    }
    const next = own(result, "nextCursor");
    if (next === undefined || next === null) return { items, warnings };
    if (typeof next !== "string") return { items, warnings: [...warnings, `${kind.method}: nextCursor is not a string; the list may be incomplete`] };
    barren = seenKeys.size > before ? 0 : barren + 1;
    if ((barren > 0 && seenCursors.has(next)) || barren >= BARREN_PAGES) {
      return { items, warnings: [...warnings, `${kind.method}: pagination does not advance (page ${page} brought nothing new); the list may be incomplete`] };
    }
    if (page >= limits.pages)
      return { items, warnings: [...warnings, `${kind.method}: more than ${limits.pages} pages; the rest was left out (limits.list_pages)`] };
    seenCursors.add(next);
    cursor = next;
  }
}
