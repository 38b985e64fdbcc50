import "../common/protocol-stdout.ts"; // First: nothing but the protocol may reach stdout.
import type { CommonConfig, ConfigSpec } from "../common/config.ts";
import { serveApp } from "../common/serve-app.ts";
import { defineTool, inputObject, type Tool } from "../common/tool.ts";
import { createEventStream } from "./event-stream.ts";
import { toAuroraEvent } from "./events.ts";
import { createOneBotApi } from "./onebot-api.ts";
import { createDeduplicator, createQqService, parseTarget, TARGET_PATTERN, type QqService, type Sent } from "./service.ts";

interface QqConfig extends CommonConfig {
  readonly onebot_url: string;
  readonly onebot_ws_url: string;
  readonly onebot_token?: string;
  readonly timeout_ms: number;
  readonly reconnect_ms: number;
  readonly max_reconnect_ms: number;
}

const CONFIG: ConfigSpec = {
  properties: {
    onebot_url: { type: "string", format: "http-url", default: "http://127.0.0.1:3000" },
    onebot_ws_url: { type: "string", format: "ws-url", default: "ws://127.0.0.1:3001" },
    onebot_token: { type: "string", minLength: 1, writeOnly: true },
    timeout_ms: { type: "integer", minimum: 100, maximum: 60_000, default: 8000 },
    reconnect_ms: { type: "integer", minimum: 10, maximum: 60_000, default: 1000 },
    max_reconnect_ms: { type: "integer", minimum: 10, maximum: 600_000, default: 60_000 },
  },
  env: {
    ONEBOT_URL: "onebot_url",
    ONEBOT_WS_URL: "onebot_ws_url",
    ONEBOT_TOKEN: "onebot_token",
    ONEBOT_TIMEOUT_MS: "timeout_ms",
    ONEBOT_RECONNECT_MS: "reconnect_ms",
  },
};

const SENDS = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };
const USER = { type: "string", pattern: "^[1-9][0-9]{0,14}$", description: "QQ number of the user." };
const GROUP = { type: "string", pattern: "^[1-9][0-9]{0,14}$", description: "Number of the group." };
const TEXT = { type: "string", minLength: 1, maxLength: 4500, pattern: "\\S", description: "Plain text; CQ codes in it are shown, not obeyed." };
const SENT = {
  type: "object",
  properties: { target: { type: "string" }, message_id: { type: "string", description: "Missing where OneBot does not say it." } },
  required: ["target"],
  additionalProperties: false,
};

await serveApp<QqConfig>({
  package: "im.polaris.qq",
  title: "QQ 应用",
  version: "0.1.0",
  config: CONFIG,
  open: (config, host) => {
    const isNew = createDeduplicator();
    const stream = createEventStream({
      url: config.onebot_ws_url,
      token: config.onebot_token,
      firstRetry: config.reconnect_ms,
      maxRetry: config.max_reconnect_ms,
      random: Math.random,
      onEvent: (event) => {
        const told = toAuroraEvent(event, Date.now());
        if (told && isNew(told)) host.emit(told);
      },
      onState: host.log.info,
    });
    const api = createOneBotApi({ url: config.onebot_url, token: config.onebot_token, timeout: config.timeout_ms });
    return { tools: qqTools(createQqService(api, stream)), start: () => stream.start(), stop: async () => stream.stop() };
  },
});

function qqTools(qq: QqService): Tool[] {
  return [
    defineTool<{ target: string; text: string }>({
      name: "send_message",
      title: "Send QQ Message",
      description: "Sends a text message to a QQ group or to a person.",
      inputSchema: inputObject({ target: { type: "string", pattern: TARGET_PATTERN, description: "group:<number> or private:<QQ number>." }, text: TEXT }, [
        "target",
        "text",
      ]),
      annotations: SENDS,
      dataSchema: SENT,
      run: async (args, { signal }) => reply(await qq.send(parseTarget(args.target), args.text, signal)),
    }),
    defineTool<{ user_id: string; text: string }>({
      name: "send_private_message",
      title: "Send Private QQ Message",
      description: "Sends a text message to one person.",
      inputSchema: inputObject({ user_id: USER, text: TEXT }, ["user_id", "text"]),
      annotations: SENDS,
      dataSchema: SENT,
      run: async (args, { signal }) => reply(await qq.send({ kind: "private", id: args.user_id }, args.text, signal)),
    }),
    defineTool<{ group_id: string; user_id: string; text: string }>({
      name: "at_user_in_group",
      title: "Mention User in QQ Group",
      description: "Sends a text message to a group and mentions one of its members.",
      inputSchema: inputObject({ group_id: GROUP, user_id: USER, text: TEXT }, ["group_id", "user_id", "text"]),
      annotations: SENDS,
      dataSchema: SENT,
      run: async (args, { signal }) => reply(await qq.sendWithMention(args.group_id, args.user_id, args.text, signal)),
    }),
    defineTool<Record<string, never>>({
      name: "get_status",
      title: "QQ Connection Status",
      description: "Tells whether QQ is connected through OneBot, and if not, why.",
      inputSchema: inputObject(),
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      dataSchema: {
        type: "object",
        properties: {
          connected: { type: "boolean", description: "Messages can be sent." },
          reason: { type: "string", description: "Why they cannot." },
          account: {
            type: "object",
            properties: { user_id: { type: "string" }, nickname: { type: "string" } },
            required: ["user_id", "nickname"],
            additionalProperties: false,
          },
          events: {
            type: "object",
            properties: { connected: { type: "boolean" }, connections: { type: "integer" }, reason: { type: "string" } },
            required: ["connected", "connections"],
            additionalProperties: false,
          },
        },
        required: ["connected", "events"],
        additionalProperties: false,
      },
      run: async (_args, { signal }) => {
        const status = await qq.status(signal);
        const sending = status.connected ? `QQ 已连接（${status.account?.nickname ?? ""}）。` : `QQ 未连接。${status.reason ?? ""}`;
        const receiving = status.events.connected ? "消息接收正常。" : `未在接收消息：${status.events.reason ?? ""}`;
        // Fields without a value are left out.
        return { text: `${sending}\n${receiving}`, data: JSON.parse(JSON.stringify(status)) };
      },
    }),
  ];
}

function reply({ target, messageId }: Sent): { text: string; data: Record<string, unknown> } {
  return {
    text: `消息已发送到${target.kind === "group" ? "群" : "用户"} ${target.id}。`,
    data: { target: `${target.kind}:${target.id}`, ...(messageId === undefined ? {} : { message_id: messageId }) },
  };
}
