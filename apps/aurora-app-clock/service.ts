import { BusinessError } from "../common/business-error.ts";
import { createQueue } from "../common/files.ts";
import { isTimeZone } from "../common/time-zone.ts";
import { readReminders, writeReminders, type Reminder } from "./store.ts";
import { alarmInstant } from "./when.ts";

/** Time as the service sees it; tests hand in a fake. */
export interface Clock {
  readonly now: () => number;
  /** Calls back once after some milliseconds; the result takes it back. */
  readonly after: (milliseconds: number, wake: () => void) => () => void;
}

/** A reminder that fires now. */
export interface Fired {
  readonly reminder: Reminder;
  readonly fired_at: number;
  /** It should have fired before this start, while the app was down. */
  readonly late: boolean;
}

/** What the service needs. */
export interface ClockOptions {
  /** The file that keeps the reminders over restarts. */
  readonly path: string;
  /** Zone where a request names none. */
  readonly timeZone: string;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly onFired: (fired: Fired) => void;
  /** The list of active reminders changed. */
  readonly onChanged: () => void;
  readonly warn: (message: string) => void;
}

/** Alarms and timers: made, listed, cancelled, fired. */
export interface ClockService {
  /** The zone to use: the one given, checked, or the default. Throws BusinessError INVALID_TIMEZONE. */
  zone(name: string | undefined): string;
  createAlarm(request: {
    readonly time: string;
    readonly label: string;
    readonly timeZone?: string | undefined;
    readonly sessionId?: string | undefined;
  }): Promise<Reminder>;
  createTimer(request: { readonly seconds: number; readonly label: string; readonly sessionId?: string | undefined }): Promise<Reminder>;
  /** What has not fired yet, the next first. */
  active(): readonly Reminder[];
  /** Takes one back. Throws BusinessError ALARM_NOT_FOUND or TIMER_NOT_FOUND. */
  cancel(kind: Reminder["kind"], id: string): Promise<Reminder>;
  /** Starts firing: first, at once and marked late, what came due while the app was down. */
  start(): void;
  /** Stops firing and waits until the file is written. */
  stop(): Promise<void>;
}

/** Most reminders at one time. */
const MAX_ACTIVE = 1000;

/**
 * Longest sleep, in milliseconds. Far below the 2^31 at which setTimeout overflows, and short enough that a suspended
 * machine or a clock that was set is noticed soon.
 */
const MAX_SLEEP = 30_000;

/** Opens the service with what its file holds. */
export async function openClock(options: ClockOptions): Promise<ClockService> {
  const { clock, path } = options;
  const saved = await readReminders(path, clock.now(), options.warn);
  const reminders = new Map(saved.map((reminder) => [reminder.id, reminder]));
  const inTurn = createQueue();
  let started = false;
  let startedAt = 0;
  let takeBack: () => void = () => {};

  const active = (): Reminder[] => [...reminders.values()].sort((a, b) => a.fire_at - b.fire_at || (a.id < b.id ? -1 : 1));
  const save = (): Promise<void> => inTurn(() => writeReminders(path, active()));

  const sleep = (): void => {
    takeBack();
    const next = active()[0];
    if (!started || !next) return;
    takeBack = clock.after(Math.min(Math.max(next.fire_at - clock.now(), 0), MAX_SLEEP), wake);
  };
  const wake = (): void => {
    const now = clock.now();
    const due = active().filter((reminder) => reminder.fire_at <= now);
    for (const reminder of due) {
      // The event goes out before the file forgets the reminder: after a crash between the two it fires again, under the same key.
      options.onFired({ reminder, fired_at: now, late: reminder.fire_at < startedAt });
      reminders.delete(reminder.id);
    }
    if (due.length > 0) {
      options.onChanged();
      save().catch((error: unknown) => options.warn(`${path} could not be written: ${String(error)}`));
    }
    sleep();
  };
  /** Changes the list and keeps the change only if it could be written. */
  const change = async (apply: () => void, undo: () => void): Promise<void> => {
    apply();
    try {
      await save();
    } catch (error) {
      undo();
      throw new BusinessError("STORAGE_FAILED", `the list of reminders could not be written to ${path}`, { retryable: true, cause: error });
    }
    options.onChanged();
    sleep();
  };
  const add = async (reminder: Reminder): Promise<Reminder> => {
    if (reminders.size >= MAX_ACTIVE)
      throw new BusinessError("TOO_MANY_REMINDERS", `there are ${MAX_ACTIVE} alarms and timers already; cancel some first`, { retryable: false });
    await change(
      () => reminders.set(reminder.id, reminder),
      () => reminders.delete(reminder.id),
    );
    return reminder;
  };
  const zone = (name: string | undefined): string => {
    if (name === undefined) return options.timeZone;
    if (!isTimeZone(name))
      throw new BusinessError("INVALID_TIMEZONE", `unknown time zone "${name}"; use an IANA name such as Asia/Shanghai or Europe/Berlin`, { retryable: false });
    return name;
  };

  return {
    zone,
    active,
    createAlarm: async ({ time, label, timeZone, sessionId }) => {
      const now = clock.now();
      const timezone = zone(timeZone);
      return add({ id: options.newId(), kind: "alarm", label, fire_at: alarmInstant(time, timezone, now), created_at: now, timezone, ...session(sessionId) });
    },
    createTimer: async ({ seconds, label, sessionId }) => {
      const now = clock.now();
      return add({
        id: options.newId(),
        kind: "timer",
        label,
        fire_at: now + seconds * 1000,
        created_at: now,
        timezone: options.timeZone,
        duration_seconds: seconds,
        ...session(sessionId),
      });
    },
    cancel: async (kind, id) => {
      const found = reminders.get(id);
      if (found?.kind !== kind)
        throw new BusinessError(`${kind.toUpperCase()}_NOT_FOUND`, `no active ${kind} has the id "${id}"; it may have fired or been cancelled`, {
          retryable: false,
        });
      await change(
        () => reminders.delete(id),
        () => reminders.set(id, found),
      );
      return found;
    },
    start: () => {
      started = true;
      startedAt = clock.now();
      wake();
    },
    stop: async () => {
      started = false;
      takeBack();
      await inTurn(async () => {});
    },
  };
}

function session(id: string | undefined): { session_id?: string } {
  return id === undefined ? {} : { session_id: id };
}
