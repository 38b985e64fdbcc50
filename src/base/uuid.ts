import { createHash, randomBytes } from "node:crypto";

const hex = (bytes: Uint8Array): string => {
  const text = Buffer.from(bytes).toString("hex");
  return `${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}`;
};

/** Random bytes are fetched for so many ids at once: asking for few costs as much as asking for many. */
const IDS_AT_ONCE = 256;

/**
 * A source of UUIDv7 (RFC 9562, method 1): ids of one source strictly increase as text, even when the clock stands still
 * or steps back. `now` gives milliseconds, `random` fresh bytes.
 */
export function uuidV7Source(now: () => number, random: (size: number) => Uint8Array = randomBytes): () => string {
  let last = 0;
  let counter = 0;
  let pool: Uint8Array = new Uint8Array();
  let used = 0;
  const fresh = (): Uint8Array => {
    if (used === pool.length) {
      pool = random(8 * IDS_AT_ONCE);
      used = 0;
    }
    return pool.subarray(used, (used += 8));
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
    const bytes = new Uint8Array(16);
    bytes.set(fresh(), 8);
    let rest = last;
    for (let i = 5; i >= 0; i -= 1) {
      bytes[i] = rest % 256;
      rest = Math.floor(rest / 256);
    }
    bytes[6] = 0x70 | (counter >> 8);
    bytes[7] = counter & 0xff;
    bytes[8] = 0x80 | (bytes[8]! & 0x3f);
    return hex(bytes);
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
  return hex(bytes);
}
