import "../common/protocol-stdout.ts"; // First: nothing but the protocol may reach stdout.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { AuroraEvent, ResourceProvider } from "../common/app.ts";
import { ConfigError, type CommonConfig, type ConfigSpec } from "../common/config.ts";
import type { JsonObject } from "../common/json.ts";
import { serveApp } from "../common/serve-app.ts";
import { isoInZone, isTimeZone, offsetMinutes, systemTimeZone, wallTime, dateOf } from "../common/time-zone.ts";
import { defineTool, inputObject, type Tool } from "../common/tool.ts";
import { openClock, type Clock, type ClockService, type Fired } from "./service.ts";
import type { Reminder } from "./store.ts";
import { TIME_PATTERN } from "./when.ts";

interface ClockConfig extends CommonConfig {
  readonly data_dir: string;
  readonly timezone: string;
}

const CONFIG: ConfigSpec = {
  properties: {
    data_dir: { type: "string", minLength: 1, default: "data/apps/clock" },
    timezone: { type: "string", minLength: 1, default: systemTimeZone() },
  },
  env: { AURORA_APP_DATA_DIR: "data_dir", AURORA_APP_TIMEZONE: "timezone" },
};

const ACTIVE_URI = "aurora://clock/active";
/** How long a fired reminder is worth telling, in milliseconds. */
const EVENT_LIFE = 3_600_000;

const LABEL = { type: "string", minLength: 1, maxLength: 200, description: "What it is for; comes back in the event." };
const SESSION = { type: "string", minLength: 1, maxLength: 500, description: "Conversation that the event belongs to." };
const ID = { type: "string", minLength: 1, maxLength: 100, description: "Id from create or list_active." };
const ZONE = { type: "string", minLength: 1, maxLength: 100, description: "IANA time zone such as Asia/Shanghai. Default: the app's zone." };
const REMINDER = {
  type: "object",
  properties: {
    id: { type: "string" },
    kind: { enum: ["alarm", "timer"] },
    label: { type: "string" },
    fire_at: { type: "string", description: "ISO 8601 with offset." },
    created_at: { type: "string", description: "ISO 8601 with offset." },
    timezone: { type: "string" },
    remaining_seconds: { type: "number" },
    duration_seconds: { type: "number" },
    session_id: { type: "string" },
  },
  required: ["id", "kind", "label", "fire_at", "created_at", "timezone", "remaining_seconds"],
  additionalProperties: false,
};
const CREATES = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false };
const READS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const CANCELS = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** The machine's clock and timers. */
const machineClock: Clock = {
  now: () => Date.now(),
  after: (milliseconds, wake) => {
    const timer = setTimeout(wake, milliseconds);
    return () => clearTimeout(timer);
  },
};

await serveApp<ClockConfig>({
  package: "im.polaris.clock",
  title: "时钟应用",
  version: "0.1.0",
  config: CONFIG,
  open: async (config, host) => {
    if (!isTimeZone(config.timezone)) throw new ConfigError(`timezone: "${config.timezone}" is not an IANA time zone`);
    const service = await openClock({
      path: join(config.data_dir, "reminders.json"),
      timeZone: config.timezone,
      clock: machineClock,
      newId: randomUUID,
      onFired: (fired) => host.emit(firedEvent(fired)),
      onChanged: () => host.resourceUpdated(ACTIVE_URI),
      warn: host.log.error,
    });
    return { tools: clockTools(service), resources: activeResource(service), start: () => service.start(), stop: () => service.stop() };
  },
});

function clockTools(service: ClockService): Tool[] {
  return [
    defineTool<{ timezone?: string }>({
      name: "get_time",
      title: "Current Time",
      description: "Tells the current date, time and weekday in a time zone.",
      inputSchema: inputObject({ timezone: ZONE }),
      annotations: { ...READS, idempotentHint: false },
      dataSchema: {
        type: "object",
        properties: {
          time: { type: "string" },
          date: { type: "string" },
          weekday: { type: "string" },
          timezone: { type: "string" },
          utc_offset_minutes: { type: "number" },
          unix_seconds: { type: "integer" },
        },
        required: ["time", "date", "weekday", "timezone", "utc_offset_minutes", "unix_seconds"],
        additionalProperties: false,
      },
      run: async (args) => {
        const zone = service.zone(args.timezone);
        const now = machineClock.now();
        const time = isoInZone(now, zone);
        const weekday = (language: string): string => new Intl.DateTimeFormat(language, { timeZone: zone, weekday: "long" }).format(now);
        return {
          text: `${zone} 现在是 ${time}，${weekday("zh-CN")}。`,
          data: {
            time,
            date: dateOf(wallTime(now, zone)),
            weekday: weekday("en"),
            timezone: zone,
            utc_offset_minutes: Math.round(offsetMinutes(now, zone)),
            unix_seconds: Math.floor(now / 1000),
          },
        };
      },
    }),
    defineTool<{ time: string; label?: string; timezone?: string; session_id?: string }>({
      name: "create_alarm",
      title: "Create Alarm",
      description: "Sets an alarm. When it goes off, the app sends an alarm.triggered event.",
      inputSchema: inputObject(
        {
          time: {
            type: "string",
            pattern: TIME_PATTERN,
            description:
              "HH:MM (the next time clocks show it), or an ISO 8601 date and time such as 2026-06-17T14:30:00+08:00; without an offset it is local time in timezone.",
          },
          label: LABEL,
          timezone: ZONE,
          session_id: SESSION,
        },
        ["time"],
      ),
      annotations: CREATES,
      dataSchema: REMINDER,
      run: async (args) => {
        const alarm = await service.createAlarm({ time: args.time, label: args.label ?? "闹钟", timeZone: args.timezone, sessionId: args.session_id });
        return { text: `闹钟已设置：${isoInZone(alarm.fire_at, alarm.timezone)}（${alarm.label}）。`, data: shown(alarm) };
      },
    }),
    defineTool<{ seconds: number; label?: string; session_id?: string }>({
      name: "create_timer",
      title: "Create Timer",
      description: "Starts a countdown. When it ends, the app sends a timer.triggered event.",
      inputSchema: inputObject(
        { seconds: { type: "integer", minimum: 1, maximum: 31_536_000, description: "Length in seconds, up to a year." }, label: LABEL, session_id: SESSION },
        ["seconds"],
      ),
      annotations: CREATES,
      dataSchema: REMINDER,
      run: async (args) => {
        const timer = await service.createTimer({ seconds: args.seconds, label: args.label ?? "计时器", sessionId: args.session_id });
        return { text: `计时器已开始：${args.seconds} 秒（${timer.label}）。`, data: shown(timer) };
      },
    }),
    defineTool<{ kind?: Reminder["kind"] }>({
      name: "list_active",
      title: "Active Alarms and Timers",
      description: "Lists the alarms and timers that have not gone off yet, the next one first.",
      inputSchema: inputObject({ kind: { type: "string", enum: ["alarm", "timer"], description: "Only these. Default: both." } }),
      annotations: READS,
      dataSchema: { type: "object", properties: { reminders: { type: "array", items: REMINDER } }, required: ["reminders"], additionalProperties: false },
      run: async (args) => {
        const reminders = service.active().filter((reminder) => args.kind === undefined || reminder.kind === args.kind);
        const lines = reminders.map(
          (reminder) =>
            `${reminder.kind === "alarm" ? "闹钟" : "计时器"} ${reminder.label}：${isoInZone(reminder.fire_at, reminder.timezone)}（${reminder.id}）`,
        );
        return { text: lines.length > 0 ? lines.join("\n") : "没有等待中的闹钟或计时器。", data: { reminders: reminders.map(shown) } };
      },
    }),
    cancelTool(service, "alarm"),
    cancelTool(service, "timer"),
  ];
}

function cancelTool(service: ClockService, kind: Reminder["kind"]): Tool {
  return defineTool<{ id: string }>({
    name: `cancel_${kind}`,
    title: kind === "alarm" ? "Cancel Alarm" : "Cancel Timer",
    description: `Cancels the ${kind} with this id before it goes off.`,
    inputSchema: inputObject({ id: ID }, ["id"]),
    annotations: CANCELS,
    dataSchema: REMINDER,
    run: async (args) => {
      const reminder = await service.cancel(kind, args.id);
      return { text: `已取消：${reminder.label}。`, data: shown(reminder) };
    },
  });
}

function shown(reminder: Reminder): JsonObject {
  return {
    ...reminder,
    fire_at: isoInZone(reminder.fire_at, reminder.timezone),
    created_at: isoInZone(reminder.created_at, reminder.timezone),
    remaining_seconds: Math.max(0, (reminder.fire_at - machineClock.now()) / 1000),
  };
}

function activeResource(service: ClockService): ResourceProvider {
  return {
    listChanges: false,
    templates: [],
    list: async () => [
      {
        uri: ACTIVE_URI,
        name: "clock-active",
        title: "Active Alarms and Timers",
        description: "Alarms and timers that have not gone off yet.",
        mimeType: "application/json",
      },
    ],
    owns: (uri) => uri === ACTIVE_URI,
    read: async (uri) => (uri === ACTIVE_URI ? { mimeType: "application/json", text: JSON.stringify({ reminders: service.active().map(shown) }) } : undefined),
  };
}

function firedEvent({ reminder, fired_at, late }: Fired): AuroraEvent {
  const { id, kind, label, timezone, session_id } = reminder;
  return {
    type: `${kind}.triggered`,
    summary: `${kind === "alarm" ? "闹钟" : "计时器"}时间到：${label}${late ? "（应用停止期间错过，现在补发）" : ""}`,
    data: {
      id,
      kind,
      label,
      timezone,
      fire_at: isoInZone(reminder.fire_at, timezone),
      fired_at: isoInZone(fired_at, timezone),
      late,
      late_seconds: Math.max(0, Math.round((fired_at - reminder.fire_at) / 1000)),
      ...(reminder.duration_seconds === undefined ? {} : { duration_seconds: reminder.duration_seconds }),
    },
    idempotency_key: `${kind}:${id}`,
    expire_at: new Date(fired_at + EVENT_LIFE).toISOString(),
    ...(session_id === undefined ? {} : { session_id }),
  };
}
