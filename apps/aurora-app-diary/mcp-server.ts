import "../common/protocol-stdout.ts"; // First: nothing but the protocol may reach stdout.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { AppHost, ResourceProvider } from "../common/app.ts";
import { ConfigError, type CommonConfig, type ConfigSpec } from "../common/config.ts";
import type { JsonObject } from "../common/json.ts";
import { serveApp } from "../common/serve-app.ts";
import { isTimeZone, systemTimeZone } from "../common/time-zone.ts";
import { defineTool, inputObject, type Tool } from "../common/tool.ts";
import { DATE_PATTERN, isDate, openDiary, type DiaryService } from "./service.ts";

interface DiaryConfig extends CommonConfig {
  readonly data_dir: string;
  readonly timezone: string;
}

const CONFIG: ConfigSpec = {
  properties: {
    data_dir: { type: "string", minLength: 1, default: "data/apps/diary" },
    timezone: { type: "string", minLength: 1, default: systemTimeZone() },
  },
  env: { AURORA_APP_DATA_DIR: "data_dir", AURORA_APP_TIMEZONE: "timezone" },
};

const INDEX_URI = "aurora://diary/index";
const DAY_URI = "aurora://diary/";
const MARKDOWN = "text/markdown";
/** Days in the index resource. */
const INDEX_DAYS = 366;

const READS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const date = (description: string): JsonObject => ({ type: "string", pattern: DATE_PATTERN, description });
const RANGE = { from: date("First date, included, as YYYY-MM-DD."), to: date("Last date, included, as YYYY-MM-DD.") };
const SESSION = { type: "string", minLength: 1, maxLength: 500, description: "Conversation that the event belongs to." };
const limit = (most: number, usual: number): JsonObject => ({
  type: "integer",
  minimum: 1,
  maximum: most,
  default: usual,
  description: "Most days to return.",
});

await serveApp<DiaryConfig>({
  package: "im.polaris.diary",
  title: "日记应用",
  version: "0.1.0",
  config: CONFIG,
  open: (config, host) => {
    if (!isTimeZone(config.timezone)) throw new ConfigError(`timezone: "${config.timezone}" is not an IANA time zone`);
    const diary = openDiary({ folder: join(config.data_dir, "entries"), timeZone: config.timezone, now: Date.now });
    return { tools: diaryTools(diary, host), resources: diaryResources(diary) };
  },
});

function diaryTools(diary: DiaryService, host: AppHost): Tool[] {
  const emit = (type: string, summary: string, data: JsonObject, session?: string): void =>
    host.emit({ type, summary, data, idempotency_key: `${type}:${randomUUID()}`, ...(session === undefined ? {} : { session_id: session }) });
  return [
    defineTool<{ content: string; title?: string; date?: string; session_id?: string }>({
      name: "write_entry",
      title: "Write Diary Entry",
      description: "Adds an entry to the diary, under today's date or another one. Nothing that was written before changes.",
      inputSchema: inputObject(
        {
          content: { type: "string", minLength: 1, maxLength: 20_000, pattern: "\\S", description: "Text of the entry, in markdown." },
          title: { type: "string", minLength: 1, maxLength: 200, pattern: "^[^\\r\\n]*$", description: "Title in one line." },
          date: date("Day of the entry as YYYY-MM-DD. Default: today."),
          session_id: SESSION,
        },
        ["content"],
      ),
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
      dataSchema: {
        type: "object",
        properties: { date: { type: "string" }, title: { type: "string" }, uri: { type: "string" }, characters: { type: "integer" } },
        required: ["date", "uri", "characters"],
        additionalProperties: false,
      },
      run: async (args) => {
        const written = await diary.write(args);
        const uri = DAY_URI + written.date;
        const data = { date: written.date, uri, characters: written.characters, ...(written.title === undefined ? {} : { title: written.title }) };
        if (written.newDay) host.resourceListChanged();
        host.resourceUpdated(uri);
        host.resourceUpdated(INDEX_URI);
        emit("diary.written", `已写入 ${written.date} 的日记`, data, args.session_id);
        return { text: `已写入 ${written.date} 的日记。`, data, links: [dayLink(written.date)] };
      },
    }),
    defineTool<{ date: string; session_id?: string }>({
      name: "read_entry",
      title: "Read Diary Entry",
      description: "Returns everything the diary holds for one date.",
      inputSchema: inputObject({ date: date("Day as YYYY-MM-DD."), session_id: SESSION }, ["date"]),
      annotations: READS,
      dataSchema: {
        type: "object",
        properties: { date: { type: "string" }, uri: { type: "string" }, content: { type: "string" } },
        required: ["date", "uri", "content"],
        additionalProperties: false,
      },
      run: async (args) => {
        const content = await diary.read(args.date);
        emit("diary.queried", `已读取 ${args.date} 的日记`, { query: "read", date: args.date, matches: 1 }, args.session_id);
        return { text: content, data: { date: args.date, uri: DAY_URI + args.date, content } };
      },
    }),
    defineTool<{ query: string; from?: string; to?: string; limit: number; session_id?: string }>({
      name: "search_entries",
      title: "Search Diary",
      description: "Finds the days whose entries hold every word of the query, newest first, with the lines that match.",
      inputSchema: inputObject(
        {
          query: { type: "string", minLength: 1, maxLength: 200, pattern: "\\S", description: "Words to look for; letter case does not matter." },
          ...RANGE,
          limit: limit(100, 20),
          session_id: SESSION,
        },
        ["query"],
      ),
      annotations: READS,
      dataSchema: {
        type: "object",
        properties: {
          matches: {
            type: "array",
            items: {
              type: "object",
              properties: { date: { type: "string" }, uri: { type: "string" }, lines: { type: "array", items: { type: "string" } } },
              required: ["date", "uri", "lines"],
              additionalProperties: false,
            },
          },
          total: { type: "integer", description: "Days that match, also those beyond the limit." },
        },
        required: ["matches", "total"],
        additionalProperties: false,
      },
      run: async ({ query, session_id, ...options }) => {
        const { matches, total } = await diary.search(query, options);
        emit("diary.queried", `搜索日记，找到 ${total} 天`, { query: "search", text: query, matches: total }, session_id);
        const lines = matches.map((match) => `${match.date}\n${match.lines.map((line) => `  ${line}`).join("\n")}`);
        return {
          text: total === 0 ? "没有找到相关日记。" : `找到 ${total} 天：\n${lines.join("\n")}`,
          data: { matches: matches.map((match) => ({ ...match, uri: DAY_URI + match.date })), total },
        };
      },
    }),
    defineTool<{ from?: string; to?: string; limit: number }>({
      name: "list_dates",
      title: "Diary Dates",
      description: "Lists the dates that have diary entries, newest first.",
      inputSchema: inputObject({ ...RANGE, limit: limit(1000, 100) }),
      annotations: READS,
      dataSchema: {
        type: "object",
        properties: { dates: { type: "array", items: { type: "string" } }, total: { type: "integer" } },
        required: ["dates", "total"],
        additionalProperties: false,
      },
      run: async (args) => {
        const all = await diary.dates(args);
        const dates = all.slice(0, args.limit);
        return { text: dates.length > 0 ? `有日记的日期：${dates.join("、")}` : "还没有日记。", data: { dates, total: all.length } };
      },
    }),
  ];
}

function dayLink(day: string): { uri: string; name: string; mimeType: string } {
  return { uri: DAY_URI + day, name: `diary-${day}`, mimeType: MARKDOWN };
}

function diaryResources(diary: DiaryService): ResourceProvider {
  const dayOf = (uri: string): string | undefined => {
    const day = uri.startsWith(DAY_URI) ? uri.slice(DAY_URI.length) : "";
    return isDate(day) ? day : undefined;
  };
  return {
    listChanges: true,
    templates: [
      {
        uriTemplate: `${DAY_URI}{date}`,
        name: "diary-entry",
        title: "Diary Entry",
        description: "Everything the diary holds for one date (YYYY-MM-DD).",
        mimeType: MARKDOWN,
      },
    ],
    list: async () => [
      {
        uri: INDEX_URI,
        name: "diary-index",
        title: "Diary Index",
        description: `The newest days that have entries, ${INDEX_DAYS} at most.`,
        mimeType: "application/json",
      },
      ...(await diary.dates()).map((day) => ({ ...dayLink(day), title: day, description: `Diary of ${day}.` })),
    ],
    owns: (uri) => uri === INDEX_URI || dayOf(uri) !== undefined,
    read: async (uri) => {
      if (uri === INDEX_URI) {
        const days = await diary.index(INDEX_DAYS);
        const entries = days.map(({ date: day, bytes, changed_at }) => ({
          date: day,
          uri: DAY_URI + day,
          bytes,
          changed_at: new Date(changed_at).toISOString(),
        }));
        return { mimeType: "application/json", text: JSON.stringify({ entries }) };
      }
      const day = dayOf(uri);
      if (day === undefined || !(await diary.dates({ from: day, to: day })).includes(day)) return undefined;
      return { mimeType: MARKDOWN, text: await diary.read(day) };
    },
  };
}
