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
});
