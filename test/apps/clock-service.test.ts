import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { openClock, type Clock, type ClockOptions, type ClockService, type Fired } from "../../apps/aurora-app-clock/service.ts";
import { isoInZone } from "../../apps/common/time-zone.ts";
import { newFolder } from "./app-process.ts";

/** A clock that stands still until it is moved; it wakes sleepers as a machine does. */
class FakeClock implements Clock {
  time = Date.UTC(2026, 5, 17, 6, 30);
  sleeps: number[] = [];
  private sleeper: { at: number; wake: () => void } | undefined;
  now = (): number => this.time;
  after = (milliseconds: number, wake: () => void): (() => void) => {
    const sleeper = { at: this.time + milliseconds, wake };
    this.sleeps.push(milliseconds);
    this.sleeper = sleeper;
    return () => {
      if (this.sleeper === sleeper) this.sleeper = undefined;
    };
  };
  advance(milliseconds: number): void {
    const end = this.time + milliseconds;
    while (this.sleeper && this.sleeper.at <= end) {
      const { at, wake } = this.sleeper;
      this.sleeper = undefined;
      this.time = Math.max(this.time, at);
      wake();
    }
    this.time = end;
  }
}

let clock: FakeClock;
let path: string;
let fired: Fired[];
let warnings: string[];
let changes: number;

beforeEach(async () => {
  clock = new FakeClock();
  path = join(await newFolder(), "sub", "reminders.json");
  fired = [];
  warnings = [];
  changes = 0;
});

async function open(overrides: Partial<ClockOptions> = {}): Promise<ClockService> {
  let ids = 0;
  return openClock({
    path,
    timeZone: "Asia/Shanghai",
    clock,
    newId: () => `id-${clock.time}-${(ids += 1)}`,
    onFired: (one) => fired.push(one),
    onChanged: () => (changes += 1),
    warn: (message) => warnings.push(message),
    ...overrides,
  });
}

const code = (run: Promise<unknown>): Promise<unknown> =>
  run.then(
    () => "no error",
    (error: { code: unknown }) => error.code,
  );

describe("timers", () => {
  test("fire once, in order, when their time has come", async () => {
    const service = await open();
    service.start();
    await service.createTimer({ seconds: 20, label: "b" });
    await service.createTimer({ seconds: 10, label: "a", sessionId: "group_1" });
    clock.advance(9_999);
    expect(fired).toEqual([]);
    clock.advance(1);
    expect(fired.map((one) => [one.reminder.label, one.reminder.session_id, one.late])).toEqual([["a", "group_1", false]]);
    clock.advance(60_000);
    expect(fired.map((one) => one.reminder.label)).toEqual(["a", "b"]);
    expect(service.active()).toEqual([]);
    await service.stop();
  });

  test("of a year never ask for a sleep that setTimeout cannot take", async () => {
    const service = await open();
    service.start();
    await service.createTimer({ seconds: 31_536_000, label: "year" });
    expect(Math.max(...clock.sleeps)).toBeLessThan(2 ** 31);
    clock.advance(31_535_999_000);
    expect(fired).toHaveLength(0);
    clock.advance(1000);
    expect(fired).toHaveLength(1);
    await service.stop();
  });

  test("nothing fires before the start", async () => {
    const service = await open();
    await service.createTimer({ seconds: 1, label: "early" });
    clock.advance(5000);
    expect(fired).toEqual([]);
    service.start();
    expect(fired).toHaveLength(1);
  });
});

describe("alarms", () => {
  test.each([
    ["15:00", undefined, "2026-06-17T15:00:00+08:00"],
    ["14:30", undefined, "2026-06-18T14:30:00+08:00"],
    ["07:00", "Europe/Berlin", "2026-06-18T07:00:00+02:00"],
    ["2026-06-17T20:00:00+09:00", undefined, "2026-06-17T19:00:00+08:00"],
    ["2026-06-17T20:00:00Z", undefined, "2026-06-18T04:00:00+08:00"],
    ["2026-06-17T20:00:00.5Z", undefined, "2026-06-18T04:00:00+08:00"],
    ["2026-07-01T08:00", "America/New_York", "2026-07-01T08:00:00-04:00"],
  ])("%s in %s is %s", async (time, timeZone, expected) => {
    const service = await open();
    const alarm = await service.createAlarm({ time, label: "x", timeZone });
    expect(isoInZone(alarm.fire_at, alarm.timezone)).toBe(expected);
  });

  test.each([
    ["25:00", undefined, "INVALID_TIME"],
    ["2026-02-30T10:00:00Z", undefined, "INVALID_TIME"],
    ["2026-06-17T10:99", undefined, "INVALID_TIME"],
    ["soon", undefined, "INVALID_TIME"],
    ["2026-07-01T10:00:00+99:99", undefined, "INVALID_TIME"],
    ["2020-01-01T00:00:00Z", undefined, "TIME_IN_PAST"],
    ["10:00", "Asia/Beijing", "INVALID_TIMEZONE"],
  ])("%s in %s is refused as %s", async (time, timeZone, expected) => {
    const service = await open();
    expect(await code(service.createAlarm({ time, label: "x", timeZone }))).toBe(expected);
    expect(service.active()).toEqual([]);
  });
});

describe("cancel", () => {
  test("takes a reminder back, of its own kind only", async () => {
    const service = await open();
    service.start();
    const timer = await service.createTimer({ seconds: 10, label: "a" });
    expect(await code(service.cancel("alarm", timer.id))).toBe("ALARM_NOT_FOUND");
    await service.cancel("timer", timer.id);
    expect(await code(service.cancel("timer", timer.id))).toBe("TIMER_NOT_FOUND");
    expect(await code(service.cancel("timer", "__proto__"))).toBe("TIMER_NOT_FOUND");
    clock.advance(60_000);
    expect(fired).toEqual([]);
    expect(changes).toBe(2);
  });
});

describe("restarts", () => {
  test("keep what is active; what came due meanwhile fires at once, marked late", async () => {
    const first = await open();
    first.start();
    await first.createTimer({ seconds: 10, label: "missed" });
    await first.createTimer({ seconds: 100, label: "later", sessionId: "s" });
    await first.stop();
    clock.advance(60_000);
    expect(fired).toEqual([]);

    const second = await open();
    expect(second.active().map((one) => one.label)).toEqual(["missed", "later"]);
    second.start();
    expect(fired.map((one) => [one.reminder.label, one.late, one.fired_at - one.reminder.fire_at])).toEqual([["missed", true, 50_000]]);
    clock.advance(40_000);
    expect(fired.map((one) => [one.reminder.label, one.late])).toEqual([
      ["missed", true],
      ["later", false],
    ]);
    await second.stop();

    const third = await open();
    third.start();
    expect(third.active()).toEqual([]);
    expect(fired).toHaveLength(2);
  });

  test("a damaged file is moved aside, not lost and not fatal", async () => {
    await (await open()).createTimer({ seconds: 10, label: "a" });
    await writeFile(path, '{"version":1,"reminders":[{"id":"x"}]}');
    const service = await open();
    expect(service.active()).toEqual([]);
    expect(warnings).toHaveLength(1);
    const aside = (await readdir(dirname(path))).find((name) => name.includes("unreadable"));
    expect(await readFile(join(dirname(path), aside ?? ""), "utf8")).toContain('"x"');
  });

  test("a reminder that could not be written does not exist", async () => {
    const service = await open();
    // A file stands where the folder should be.
    await writeFile(dirname(path), "");
    expect(await code(service.createTimer({ seconds: 1, label: "a" }))).toBe("STORAGE_FAILED");
    expect(service.active()).toEqual([]);
    expect(changes).toBe(0);
  });

  test("many changes at the same time leave one whole file", async () => {
    const service = await open();
    await Promise.all(Array.from({ length: 30 }, (_, number) => service.createTimer({ seconds: 100 + number, label: `${number}` })));
    expect((await open()).active().map((one) => one.label)).toEqual(Array.from({ length: 30 }, (_, number) => `${number}`));
    expect(await readdir(dirname(path))).toEqual(["reminders.json"]);
  });
});
