import path from "node:path";
import { expect, test } from "vitest";
import { crashRounds, watchedRun } from "../files/support/crash.ts";
import { testFolder } from "../files/support/inbox.ts";

// Short by default, whole under AURORA_SOAK=1 (`npm run test:soak`); CRASH_ROUNDS and EVENTS say otherwise.
const soak = process.env["AURORA_SOAK"] === "1";
const rounds = Number(process.env["CRASH_ROUNDS"] ?? (soak ? 200 : 20));
const events = Number(process.env["EVENTS"] ?? (soak ? 100_000 : 5_000));

test(`killed ${rounds} times under load`, { timeout: 3_600_000 }, async () => {
  const dir = path.join(await testFolder(), "pending");
  const { problems } = await crashRounds(dir, rounds, { fsync: true, lifeMs: () => Math.random() * 300 });
  expect(problems).toEqual([]);
});

test(`another process parses ${events} events as they appear`, { timeout: 3_600_000 }, async () => {
  const dir = path.join(await testFolder(), "pending");
  expect(await watchedRun(dir, events, 300)).toEqual({ parsed: events, errors: [] });
});
