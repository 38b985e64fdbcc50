import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { BusinessError } from "../common/business-error.ts";
import { createQueue, isMissing, readFileIfAny, writeFileAtomic } from "../common/files.ts";
import { dateOf, isRealWallTime, wallTime } from "../common/time-zone.ts";

/** What the service needs. */
export interface DiaryOptions {
  /** Folder of the days: one `YYYY-MM-DD.md` each. */
  readonly folder: string;
  /** Zone whose calendar says what day it is. */
  readonly timeZone: string;
  readonly now: () => number;
}

/** What was written. */
export interface Written {
  readonly date: string;
  readonly title: string | undefined;
  /** Characters added. */
  readonly characters: number;
  /** It is the first entry of its day. */
  readonly newDay: boolean;
}

/** A day in the index. */
export interface Day {
  readonly date: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly changed_at: number;
}

/** A day that holds every word looked for, with the lines that hold one. */
export interface Match {
  readonly date: string;
  readonly lines: readonly string[];
}

/** First and last date to look at, both included. */
export interface DateRange {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/**
 * A diary of markdown files, one a day, that people can read and edit by hand as well.
 * Every method throws BusinessError STORAGE_FAILED when the disk does not do its part.
 */
export interface DiaryService {
  /** Adds an entry to a day, today by default. Throws BusinessError INVALID_DATE or DAY_FULL. */
  write(entry: { readonly content: string; readonly title?: string | undefined; readonly date?: string | undefined }): Promise<Written>;
  /** The text of a day. Throws BusinessError INVALID_DATE or ENTRY_NOT_FOUND. */
  read(date: string): Promise<string>;
  /** Days that hold all words of the query, letter case aside, newest first, and how many there are in all. Throws BusinessError INVALID_DATE. */
  search(query: string, options: DateRange & { readonly limit: number }): Promise<{ readonly matches: readonly Match[]; readonly total: number }>;
  /** The days with entries, newest first. Throws BusinessError INVALID_DATE. */
  dates(range?: DateRange): Promise<readonly string[]>;
  /** The days with size and time of change, newest first. */
  index(limit: number): Promise<readonly Day[]>;
}

/** Largest text of one day, in characters. */
const MAX_DAY = 1_000_000;
const LINES_SHOWN = 3;
const LINE_LENGTH = 200;

/** The written form of a date. Only such names ever become part of a path. */
export const DATE_PATTERN = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$";
const DATE = new RegExp(DATE_PATTERN);

/** Whether a text is a date of the calendar, in the form `2026-06-17`. */
export function isDate(text: string): boolean {
  if (!DATE.test(text)) return false;
  const [year, month, day] = text.split("-").map(Number);
  return isRealWallTime({ year: year ?? 0, month: month ?? 0, day: day ?? 0, hour: 0, minute: 0, second: 0 });
}

/** Opens a diary; its folder is made with the first entry. */
export function openDiary(options: DiaryOptions): DiaryService {
  const { folder } = options;
  const inTurn = createQueue();
  const fileOf = (date: string): string => join(folder, `${checked(date)}.md`);

  /** Turns faults of the disk into business failures. */
  const onDisk = async <T>(job: Promise<T>): Promise<T> => {
    try {
      return await job;
    } catch (error) {
      if (error instanceof BusinessError) throw error;
      throw new BusinessError("STORAGE_FAILED", `the diary in ${folder} cannot be read or written`, { retryable: true, cause: error });
    }
  };

  const dates = async ({ from, to }: DateRange = {}): Promise<string[]> => {
    if (from !== undefined) checked(from);
    if (to !== undefined) checked(to);
    const days = (await names(folder)).filter((name) => name.endsWith(".md")).map((name) => name.slice(0, -3));
    return days
      .filter((day) => isDate(day) && (from === undefined || day >= from) && (to === undefined || day <= to))
      .toSorted()
      .toReversed();
  };

  const append = async (date: string, title: string | undefined, content: string): Promise<Written> => {
    const path = fileOf(date);
    const before = await readFileIfAny(path);
    const { hour, minute } = wallTime(options.now(), options.timeZone);
    const heading = `## ${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}${title === undefined ? "" : ` ${title}`}`;
    const added = `\n${heading}\n\n${content.trimEnd()}\n`;
    const text = (before ?? `# ${date}\n`) + added;
    if (text.length > MAX_DAY) throw new BusinessError("DAY_FULL", `${date} holds ${MAX_DAY} characters at most`, { retryable: false });
    await writeFileAtomic(path, text);
    return { date, title, characters: added.length, newDay: before === undefined };
  };

  const read = async (date: string): Promise<string> => {
    const text = await readFileIfAny(fileOf(date));
    if (text === undefined) throw new BusinessError("ENTRY_NOT_FOUND", `there is no diary entry for ${date}`, { retryable: false });
    return text;
  };

  const search = async (query: string, { limit, ...range }: DateRange & { readonly limit: number }): Promise<{ matches: Match[]; total: number }> => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const matches: Match[] = [];
    let total = 0;
    for (const date of await dates(range)) {
      const text = (await readFileIfAny(fileOf(date))) ?? "";
      const lower = text.toLowerCase();
      if (!words.every((word) => lower.includes(word))) continue;
      total += 1;
      if (matches.length < limit) matches.push({ date, lines: linesWith(words, text) });
    }
    return { matches, total };
  };

  const index = async (limit: number): Promise<Day[]> => {
    const newest = (await dates()).slice(0, limit);
    const days = await Promise.all(newest.map(async (date) => dayOf(date, fileOf(date))));
    return days.filter((day) => day !== undefined);
  };

  return {
    // Entries are added one after another: each reads the day, adds to it and writes it.
    write: ({ content, title, date }) => onDisk(inTurn(() => append(date ?? dateOf(wallTime(options.now(), options.timeZone)), title, content))),
    read: (date) => onDisk(read(date)),
    search: (query, limits) => onDisk(search(query, limits)),
    dates: (range) => onDisk(dates(range)),
    index: (limit) => onDisk(index(limit)),
  };
}

function checked(date: string): string {
  if (!isDate(date)) throw new BusinessError("INVALID_DATE", `"${date}" is not a date of the calendar; write it as 2026-06-17`, { retryable: false });
  return date;
}

function linesWith(words: readonly string[], text: string): string[] {
  const lines = text.split("\n").filter((line) => words.some((word) => line.toLowerCase().includes(word)));
  return lines.slice(0, LINES_SHOWN).map((line) => Array.from(line.trim()).slice(0, LINE_LENGTH).join(""));
}

async function names(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

async function dayOf(date: string, path: string): Promise<Day | undefined> {
  try {
    const { size, mtimeMs } = await stat(path);
    return { date, bytes: size, changed_at: mtimeMs };
  } catch (error) {
    // Taken away by hand since the folder was read.
    if (isMissing(error)) return undefined;
    throw error;
  }
}
