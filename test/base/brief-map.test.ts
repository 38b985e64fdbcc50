import { expect, test } from "vitest";
import { BriefMap } from "../../src/base/brief-map.ts";

test("keeps entries in their order, gives each out once, and refuses a taken key", () => {
  const map = new BriefMap<number, string>();
  for (const [key, value] of [
    [3, "three"],
    [1, "one"],
    [2, "two"],
  ] as const)
    map.add(key, value);
  expect([map.size, map.get(1), map.has(4), map.get(4)]).toEqual([3, "one", false, undefined]);
  expect(() => map.add(1, "again")).toThrow(RangeError);
  expect([map.take(1), map.take(1), map.get(1)]).toEqual(["one", undefined, undefined]);
  expect([[...map.keys()], [...map.values()], [...map]]).toEqual([
    [3, 2],
    ["three", "two"],
    [
      [3, "three"],
      [2, "two"],
    ],
  ]);
});

test("entries may go and come while it is walked through", () => {
  const map = new BriefMap<number, string>();
  for (let i = 0; i < 5; i += 1) map.add(i, String(i));
  const met: number[] = [];
  for (const [key] of map) {
    met.push(key);
    map.take(key + 1);
    if (key === 4) map.add(9, "late");
  }
  expect(met).toEqual([0, 2, 4, 9]);
});
