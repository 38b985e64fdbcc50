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
  let pool = "";
  let used = 0;
  const fresh = (): string => {
    if (used === pool.length) {
      pool = Buffer.from(random(8 * IDS_AT_ONCE)).toString("hex");
      used = 0;
    }
    return pool.slice(used, (used += 16));
  };
  return () => {
    const time = Math.floor(now());
    if (time > last) {
      last = time;
      counter = 0;
    } else {
      counter += 1;
      // 12 bits of counter a millisecond; past that the id borrows from the next one.
      if (counter > 0xfff) {
        last += 1;
        counter = 0;
      }
    }
    const random64 = fresh();
    const variant = VARIANT[Number.parseInt(random64[0]!, 16) & 3]!;
    return dashed(`${last.toString(16).padStart(12, "0")}7${counter.toString(16).padStart(3, "0")}${variant}${random64.slice(1)}`);
  };
}

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
