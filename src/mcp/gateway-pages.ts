import type { JsonObject } from "../base/json.ts";
import { INVALID_PARAMS, RpcError } from "./gateway-rpc.ts";

/** Items of one page. Large, because many clients read only the first. */
const PAGE_SIZE = 1000;

/**
 * One page of a list that is sorted by unique keys. The cursor holds the last key that was shown, not an offset, so that pages
 * neither repeat nor lose an item when others come and go in between. Throws an {@link RpcError} for a cursor that was never given out.
 */
export function pageOf<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  cursor: unknown,
  size = PAGE_SIZE,
): { readonly items: readonly T[]; readonly nextCursor?: string } {
  let start = 0;
  // Clients that write every optional member say null where they have no cursor.
  if (cursor !== undefined && cursor !== null) {
    const after = readCursor(cursor);
    const found = items.findIndex((item) => keyOf(item) > after);
    start = found === -1 ? items.length : found;
  }
  const page = start === 0 && items.length <= size ? items : items.slice(start, start + size);
  if (start + size >= items.length) return { items: page };
  return { items: page, nextCursor: Buffer.from(`after ${keyOf(page.at(-1)!)}`).toString("base64url") };
}

/** The answer to a list request: one page of `items`, which are sorted by `keyOf`, under `member`. Throws as {@link pageOf} does. */
export function listPage<T>(member: string, items: readonly T[], keyOf: (item: T) => string, shown: (item: T) => JsonObject, params: JsonObject): JsonObject {
  const page = pageOf(items, keyOf, params["cursor"]);
  return { [member]: page.items.map(shown), ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }) };
}

function readCursor(cursor: unknown): string {
  const text = typeof cursor === "string" ? Buffer.from(cursor, "base64url").toString("utf8") : "";
  if (!text.startsWith("after ")) throw new RpcError(INVALID_PARAMS, "the cursor is not one of this list");
  return text.slice(6);
}
