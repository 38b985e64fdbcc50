import { expect, test } from "vitest";
import { createDroppedLog } from "../../src/kit/dropped-log.ts";
import type { Logger } from "../../src/runtime/ports.ts";
import type { DroppedItem } from "../../src/tools/types.ts";

test("one line for all that an app's lists lost, and no other while they are the same", () => {
  const said: [object, string][] = [];
  const log: Logger = { debug: () => {}, info: () => {}, error: () => {}, warn: (fields, message) => void said.push([fields, message]), child: () => log };
  const tell = createDroppedLog(log);
  const items = (count: number): DroppedItem[] =>
    Array.from({ length: count }, (_, i) => ({ kind: "tool" as const, name: `t${i}`, reason: "its name is not legal" }));
  for (const count of [0, 200, 200, 1, 1, 0]) tell("org.a", items(count));
  tell("org.b", items(1));
  expect(said).toEqual([
    [
      { app: "org.a", count: 200, items: [0, 1, 2].map((i) => `tool "t${i}": its name is not legal`) },
      "left out of the catalogue: 200, of which the first 3 are named; aurora-mcp status has all",
    ],
    [{ app: "org.a", count: 1, items: ['tool "t0": its name is not legal'] }, "left out of the catalogue: 1"],
    [{ app: "org.b", count: 1, items: ['tool "t0": its name is not legal'] }, "left out of the catalogue: 1"],
  ]);
});
