import { describe, expect, it } from "vitest";
import { uuidV7Source } from "../../src/base/uuid.ts";

describe("uuidV7Source", () => {
  it("gives ids that rise, whatever the clock does, with random bytes of their own", () => {
    let now = 1_700_000_000_000;
    const next = uuidV7Source(() => now);
    const ids = Array.from({ length: 1000 }, (_, i) => {
      now += [1, 0, -5, 2][i % 4]!;
      return next();
    });
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids.map((id) => id.slice(19))).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it("takes from the next millisecond when more than 4096 are wanted in one, also at the clock's zero and when it steps back", () => {
    for (const start of [0, 1_700_000_000_000]) {
      let now = start;
      const next = uuidV7Source(() => now);
      const ids = Array.from({ length: 9000 }, () => next());
      now = Math.max(0, start - 60_000);
      ids.push(next());
      now = start + 2.9;
      ids.push(...Array.from({ length: 5000 }, () => next()));
      expect(ids.toSorted()).toEqual(ids);
      expect(new Set(ids.map((id) => id.slice(0, 18))).size).toBe(ids.length);
      const ms = ids.map((id) => Number.parseInt(id.slice(0, 13).replace("-", ""), 16) - start);
      expect([ms[0], Math.max(...ms)]).toEqual([0, 3]);
    }
  });

  it("has all its random bits from the source, and the rest from time and counter", () => {
    let turn = 0;
    const next = uuidV7Source(
      () => 0x0123_4567_89ab,
      (size) => new Uint8Array(size).map((_, i) => (turn++, i % 8 === 0 ? 0xff : i % 8)),
    );
    expect([next(), next()]).toEqual(["01234567-89ab-7000-bf01-020304050607", "01234567-89ab-7001-bf01-020304050607"]);
    for (let i = 2; i < 256; i += 1) next();
    expect(turn).toBe(2048);
    expect(next()).toBe("01234567-89ab-7100-bf01-020304050607");
    expect(turn).toBe(4096);
  });
});
