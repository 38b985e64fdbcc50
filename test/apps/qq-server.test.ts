import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { SELF_ID, startOneBotServer, type OneBotServer } from "../support/onebot-server.ts";
import { newFolder, startApp, type AppProcess } from "./app-process.ts";

const TOKEN = "onebot-token-93ac";
let onebot: OneBotServer;
let qq: AppProcess;

beforeAll(async () => {
  onebot = await startOneBotServer({ token: TOKEN });
  qq = await startApp("qq", {
    cwd: await newFolder(),
    env: { ONEBOT_URL: onebot.url, ONEBOT_WS_URL: onebot.wsUrl, ONEBOT_TOKEN: TOKEN, ONEBOT_RECONNECT_MS: "20" },
  });
  await vi.waitFor(() => expect(onebot.listeners()).toBe(1), { timeout: 8000 });
});
beforeEach(() => {
  onebot.calls.length = 0;
  qq.heard.length = 0;
});
afterAll(async () => {
  expect(await qq.stop()).toBe(0);
  expect(qq.stderr()).not.toContain(TOKEN);
  for (const line of qq.stdoutLines) expect(line).not.toContain(TOKEN);
  await onebot.close();
});

const message = (id: number, text: string): Record<string, unknown> => ({
  time: 1,
  self_id: SELF_ID,
  post_type: "message",
  message_type: "group",
  message_id: id,
  user_id: 987654,
  group_id: 123456,
  message: text,
});

describe("QQ", () => {
  test("sends to groups and people, with a mention", async () => {
    expect((await qq.call("send_message", { target: "group:123456", text: "[CQ:at,qq=all] hi" })).data).toEqual({
      target: "group:123456",
      message_id: expect.any(String),
    });
    expect((await qq.call("send_private_message", { user_id: "456", text: "hi" })).data).toEqual({ target: "private:456", message_id: expect.any(String) });
    await qq.call("at_user_in_group", { group_id: "123456", user_id: "789", text: "hi" });
    expect(onebot.calls.map((call) => [call.action, call.params["message"]])).toEqual([
      ["send_group_msg", [{ type: "text", data: { text: "[CQ:at,qq=all] hi" } }]],
      ["send_private_msg", [{ type: "text", data: { text: "hi" } }]],
      [
        "send_group_msg",
        [
          { type: "at", data: { qq: "789" } },
          { type: "text", data: { text: " hi" } },
        ],
      ],
    ]);
  });

  test.each([
    ["send_message", { target: "123456", text: "x" }],
    ["send_message", { target: "group:0", text: "x" }],
    ["send_message", { target: "group:1;private:2", text: "x" }],
    ["send_message", { target: "group:1", text: "" }],
    ["send_private_message", { user_id: 456, text: "x" }],
  ])("%s %j breaks its schema, and nothing is sent", async (tool, args) => {
    await expect(qq.call(tool, args)).rejects.toMatchObject({ code: -32602 });
    expect(onebot.calls).toEqual([]);
  });

  test("brings messages, reactions, joins and leaves as events, each once", async () => {
    onebot.push({ ...message(1, "me"), user_id: SELF_ID });
    onebot.push(message(2, "今天天气怎么样"));
    onebot.push(message(2, "今天天气怎么样"));
    onebot.push({
      time: 2,
      self_id: SELF_ID,
      post_type: "notice",
      notice_type: "group_msg_emoji_like",
      group_id: 123456,
      user_id: 5,
      message_id: 2,
      likes: [{ emoji_id: "76" }],
    });
    onebot.push({ time: 3, self_id: SELF_ID, post_type: "notice", notice_type: "group_increase", sub_type: "approve", group_id: 123456, user_id: 6 });
    onebot.push({ time: 4, self_id: SELF_ID, post_type: "notice", notice_type: "group_decrease", sub_type: "leave", group_id: 123456, user_id: 6 });
    for (const type of ["message.received", "message.reaction", "session.created"]) await qq.event(type);
    expect(await qq.event("session.closed")).toMatchObject({ session_id: "group_123456", data: { user_id: "6" } });
    expect(qq.heard.map((one) => one.params["type"])).toEqual(["message.received", "message.reaction", "session.created", "session.closed"]);
    expect(qq.heard[0]?.params).toMatchObject({
      session_id: "group_123456",
      idempotency_key: `${SELF_ID}:message:2`,
      data: { message_text: "今天天气怎么样", is_group: true, user_id: "987654", group_id: "123456" },
    });
    expect(qq.stderr()).not.toContain("今天天气怎么样");
  });

  test("goes on after the connection was lost", async () => {
    onebot.cutListeners();
    await vi.waitFor(() => expect(onebot.handshakes()).toBeGreaterThan(1), { timeout: 8000 });
    await vi.waitFor(() => expect(onebot.listeners()).toBe(1), { timeout: 8000 });
    onebot.push(message(3, "back"));
    expect(await qq.event("message.received")).toMatchObject({ data: { message_text: "back" } });
    expect((await qq.call("get_status")).data).toMatchObject({
      connected: true,
      account: { user_id: String(SELF_ID), nickname: "极光" },
      events: { connected: true, connections: 2 },
    });
  });

  test("without OneBot it is up and says so", async () => {
    await onebot.close();
    expect((await qq.call("send_message", { target: "group:1", text: "x" })).structured).toMatchObject({
      ok: false,
      error_code: "ONEBOT_NOT_CONNECTED",
      retryable: true,
    });
    await vi.waitFor(
      async () =>
        expect((await qq.call("get_status")).data).toMatchObject({
          connected: false,
          reason: expect.stringContaining("not connected"),
          events: { connected: false },
        }),
      { timeout: 8000 },
    );
  });
});
