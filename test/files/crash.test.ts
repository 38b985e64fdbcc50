import path from "node:path";
import { expect, test } from "vitest";
import { crashRounds, watchedRun } from "./support/crash.ts";
import { testFolder } from "./support/inbox.ts";

test.each([true, false])(
  "killed ten times under load (fsync %j): nothing partial, nothing twice, nothing promised is lost",
  { timeout: 120_000 },
  async (fsync) => {
    const dir = path.join(await testFolder(), "pending");
    const { problems, events } = await crashRounds(dir, 10, { fsync, lifeMs: () => Math.random() * 150 });
    expect(problems).toEqual([]);
    expect(events).toBeGreaterThan(50);
  },
);

test("another process parses every file the moment it appears", { timeout: 120_000 }, async () => {
  const dir = path.join(await testFolder(), "pending");
  expect(await watchedRun(dir, 2000, 300)).toEqual({ parsed: 2000, errors: [] });
});

test("events of 2 MB appear whole", { timeout: 120_000 }, async () => {
  const dir = path.join(await testFolder(), "pending");
  expect(await watchedRun(dir, 30, 2 * 1024 * 1024)).toEqual({ parsed: 30, errors: [] });
});
