import { createHash, randomBytes } from "node:crypto";

/** Random bytes are fetched for so many ids at once: asking for few costs as much as asking for many. */
const IDS_AT_ONCE = 256;

/**
 * A source of UUIDv7 (RFC 9562, method 1): ids of one source strictly increase as text, even when the clock stands still
 * or steps back. `now` gives milliseconds, `random` fresh bytes.
 */
export function uuidV7Source(now: () => number, random: (size: number) => Uint8Array = randomBytes): () => string {
  let last = 0;
  let counter = 0;
  /** The digits of `last`, which stay for a whole millisecond. */
  let time = "";
  let pool = "";
  let used = 0;
  const tick = (ms: number): void => {
    last = ms;
    counter = 0;
    const digits = ms.toString(16).padStart(12, "0");
    time = `${digits.slice(0, 8)}-${digits.slice(8)}-7`;
  };
  tick(0);
  return () => {
    const ms = Math.floor(now());
    if (ms > last) tick(ms);
    // 12 bits of counter a millisecond; past that the id borrows from the next one.
    else if (counter === 0xfff) tick(last + 1);
    else counter += 1;
    if (used === pool.length) {
      pool = Buffer.from(random(8 * IDS_AT_ONCE)).toString("hex");
      used = 0;
    }
    const at = used;
    used += 16;
    const variant = VARIANT[Number.parseInt(pool[at]!, 16) & 3]!;
    return `${time}${THREE_DIGITS[counter]!}-${variant}${pool.slice(at + 1, at + 4)}-${pool.slice(at + 4, at + 16)}`;
  };
}

/** Every number of 12 bits. */
const THREE_DIGITS = Array.from({ length: 0x1000 }, (_, n) => n.toString(16).padStart(3, "0"));

/** UUIDv5 (RFC 9562): the same namespace and name give the same id. */
export function uuidV5(namespace: string, name: string): string {
  const bytes = createHash("sha1")
    .update(Buffer.from(namespace.replaceAll("-", ""), "hex"))
    .update(name)
    .digest()
    .subarray(0, 16);
  bytes[6] = 0x50 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  return dashed(bytes.toString("hex"));
}

/** The first digit of the second half: its two upper bits are fixed. */
const VARIANT = "89ab";

function dashed(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
