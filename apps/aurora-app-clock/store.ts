import { rename } from "node:fs/promises";
import { readFileIfAny, writeFileAtomic } from "../common/files.ts";
import { isJsonObject } from "../common/json.ts";
import { isTimeZone } from "../common/time-zone.ts";

/** An alarm or timer that has not fired yet. */
export interface Reminder {
  readonly id: string;
  readonly kind: "alarm" | "timer";
  readonly label: string;
  /** When it fires, milliseconds since 1970. */
  readonly fire_at: number;
  readonly created_at: number;
  /** Zone in which its times are shown. */
  readonly timezone: string;
  /** Length of a timer. */
  readonly duration_seconds?: number;
  /** The conversation it was made in, and its event goes to. */
  readonly session_id?: string;
}

/** Reads the reminders; none where there is no file. A file that cannot be understood is moved aside, and `warn` says where to. */
export async function readReminders(path: string, now: number, warn: (message: string) => void): Promise<Reminder[]> {
  const text = await readFileIfAny(path);
  if (text === undefined) return [];
  const reminders = parse(text);
  if (reminders) return reminders;
  const aside = `${path}.unreadable-${now}`;
  await rename(path, aside);
  warn(`${path} is damaged; it was moved to ${aside} and the list starts empty`);
  return [];
}

/** Writes all reminders, whole or not at all. */
export async function writeReminders(path: string, reminders: readonly Reminder[]): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify({ version: 1, reminders }, null, 2)}\n`);
}

function parse(text: string): Reminder[] | undefined {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(file) || file["version"] !== 1) return undefined;
  const reminders = file["reminders"];
  return Array.isArray(reminders) && reminders.every(isReminder) ? reminders : undefined;
}

function isReminder(value: unknown): value is Reminder {
  if (!isJsonObject(value)) return false;
  const { id, kind, label, fire_at, created_at, timezone, duration_seconds, session_id } = value;
  return (
    [id, label].every((field) => typeof field === "string") &&
    typeof timezone === "string" &&
    isTimeZone(timezone) &&
    (kind === "alarm" || kind === "timer") &&
    [fire_at, created_at].every((field) => Number.isFinite(field)) &&
    ["undefined", "number"].includes(typeof duration_seconds) &&
    ["undefined", "string"].includes(typeof session_id)
  );
}
