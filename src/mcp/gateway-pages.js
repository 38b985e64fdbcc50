import { INVALID_PARAMS, RpcError } from "./gateway-rpc.ts";
/** Items of one page. Large, because many clients read only the first. */
export const PAGE_SIZE = 1000;
/**
 * One page of a list that is sorted by unique keys. The cursor holds the last key that was shown, not an offset, so that pages
 * neither repeat nor lose an item when others come and go in between. Throws an {@link RpcError} for a cursor that was never given out.
 */
export function pageOf(items, keyOf, cursor, size = PAGE_SIZE) {
    let start = 0;
    if (cursor !== undefined) {
        const after = readCursor(cursor);
        const found = items.findIndex((item) => keyOf(item) > after);
        start = found === -1 ? items.length : found;
    }
    const page = start === 0 && items.length <= size ? items : items.slice(start, start + size);
    if (start + size >= items.length)
        return { items: page };
    return { items: page, nextCursor: Buffer.from(`after ${keyOf(page.at(-1))}`).toString("base64url") };
}
function readCursor(cursor) {
    const text = typeof cursor === "string" ? Buffer.from(cursor, "base64url").toString("utf8") : "";
    if (!text.startsWith("after "))
        throw new RpcError(INVALID_PARAMS, "the cursor is not one of this list");
    return text.slice(6);
}
