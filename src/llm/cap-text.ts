import { byteLength } from "../base/json.ts";

/** A text of at most about `maxBytes` UTF-8 bytes: over it, beginning and end are kept, with a marker that says how much is missing and where the whole is. */
export function capText(text: string, maxBytes: number, reference: string | null): string {
  const total = byteLength(text);
  if (total <= maxBytes) return text;
  const bytes = Buffer.from(text, "utf8");
  const marker = (shown: number): string =>
    `\n[… cut here: ${total} bytes in all, ${shown} shown (beginning and end)${reference === null ? "" : `; the whole is kept as ${reference}`} …]\n`;
  const room = Math.max(0, maxBytes - byteLength(marker(total)));
  const head = codePointStart(bytes, Math.floor(room * 0.75));
  const tail = codePointStart(bytes, total - (room - head));
  return `${bytes.toString("utf8", 0, head)}${marker(head + total - tail)}${bytes.toString("utf8", tail)}`;
}

/** The next place at or after `at` (for tails) or the same (for heads) where a code point begins. */
function codePointStart(bytes: Buffer, at: number): number {
  let place = Math.max(0, Math.min(at, bytes.length));
  while (place < bytes.length && (bytes[place]! & 0xc0) === 0x80) place += 1;
  return place;
}
