import { describe, expect, test } from "vitest";
import { toAuroraEvent } from "../../apps/aurora-app-qq/events.ts";
import { createDeduplicator } from "../../apps/aurora-app-qq/service.ts";

const NOW = Date.UTC(2026, 5, 17, 6, 30);
const message = {
  time: 1,
  self_id: 10001,
  post_type: "message",
  message_type: "group",
  sub_type: "normal",
  message_id: 55,
  user_id: 987654,
  group_id: 123456,
  raw_message: "今天天气怎么样",
  message: [{ type: "text", data: { text: "今天天气怎么样" } }],
  sender: { nickname: "小明", card: "" },
};
const notice = { time: 1, self_id: 10001, post_type: "notice", group_id: 123456, user_id: 5 };

describe("messages", () => {
  test("of a group", () => {
    expect(toAuroraEvent(message, NOW)).toEqual({
      type: "message.received",
      session_id: "group_123456",
      summary: "群聊收到一条新消息",
      data: {
        user_id: "987654",
        group_id: "123456",
        message_id: "55",
        message_text: "今天天气怎么样",
        is_group: true,
        sender_name: "小明",
        mentions: [],
        mentions_me: false,
      },
      idempotency_key: "10001:message:55",
      expire_at: "2026-06-17T06:35:00.000Z",
    });
  });

  test("in private, also over a common group", () => {
    const event = toAuroraEvent({ ...message, message_type: "private", sub_type: "group", message: "[CQ:at,qq=10001] hi" }, NOW);
    expect(event).toMatchObject({
      session_id: "private_987654",
      summary: "私聊收到一条新消息",
      data: { is_group: false, mentions_me: true, message_text: "@10001  hi" },
    });
    expect(event?.data).not.toHaveProperty("group_id");
  });

  test.each([
    ["the bot's own", { ...message, user_id: 10001 }],
    ["the bot's own, with ids as texts", { ...message, user_id: "10001", self_id: "10001" }],
    ["sent by the bot", { ...message, post_type: "message_sent" }],
    ["without a sender", { ...message, user_id: undefined }],
    ["without an id", { ...message, message_id: undefined }],
    ["a heartbeat", { self_id: 10001, post_type: "meta_event", meta_event_type: "heartbeat" }],
    ["a friend request", { ...message, post_type: "request", request_type: "friend" }],
    ["nothing", {}],
  ])("%s: no event", (_name, event) => {
    expect(toAuroraEvent(event, NOW)).toBeUndefined();
  });
});

describe("notices", () => {
  test.each([
    [
      "an emoji",
      { ...notice, notice_type: "group_msg_emoji_like", message_id: 9, likes: [{ emoji_id: "76", count: 1 }] },
      { kind: "emoji", action: "add", emoji: ["76"], message_id: "9" },
    ],
    [
      "an emoji in another dialect",
      { ...notice, user_id: undefined, operator_id: 5, notice_type: "reaction", sub_type: "remove", message_id: 9, code: "128512" },
      { kind: "emoji", action: "remove", emoji: ["128512"] },
    ],
    ["a poke", { ...notice, notice_type: "notify", sub_type: "poke", target_id: 10001 }, { kind: "poke", target_id: "10001", emoji: [] }],
  ])("%s is message.reaction", (_name, event, data) => {
    expect(toAuroraEvent(event, NOW)).toMatchObject({
      type: "message.reaction",
      session_id: "group_123456",
      data: { user_id: "5", is_group: true, ...data },
      expire_at: "2026-06-17T06:35:00.000Z",
    });
  });

  test.each([
    ["group_increase", "approve", "session.created", "group_123456"],
    ["group_decrease", "kick", "session.closed", "group_123456"],
    ["group_decrease", "leave", "session.closed", "group_123456"],
  ])("%s (%s) is %s", (notice_type, sub_type, type, session_id) => {
    const event = toAuroraEvent({ ...notice, notice_type, sub_type, operator_id: 7 }, NOW);
    expect(event).toMatchObject({ type, session_id, data: { user_id: "5", group_id: "123456", is_self: false, operator_id: "7", reason: sub_type } });
    expect(event).not.toHaveProperty("expire_at");
  });

  test("the bot's own joining and a new friend", () => {
    expect(toAuroraEvent({ ...notice, notice_type: "group_increase", user_id: 10001 }, NOW)).toMatchObject({
      type: "session.created",
      data: { is_self: true },
    });
    expect(toAuroraEvent({ self_id: 10001, post_type: "notice", notice_type: "friend_add", user_id: 5, time: 3 }, NOW)).toMatchObject({
      type: "session.created",
      session_id: "private_5",
      data: { is_group: false },
    });
  });

  test.each([{ notice_type: "group_upload" }, { notice_type: "notify", sub_type: "honor" }, { notice_type: "group_ban" }])("%j: no event", (fields) => {
    expect(toAuroraEvent({ ...notice, ...fields }, NOW)).toBeUndefined();
  });
});

describe("events that come again", () => {
  test("are let through once, while they are remembered", () => {
    const isNew = createDeduplicator(2);
    const event = (key: string) => ({ type: "t", summary: "", data: {}, idempotency_key: key });
    expect(["a", "a", "b", "c", "c", "a"].map((key) => isNew(event(key)))).toEqual([true, false, true, true, false, true]);
  });

  test("the same join at another time is another event", () => {
    const join = { ...notice, notice_type: "group_increase" };
    expect(toAuroraEvent(join, NOW)?.idempotency_key).toBe(toAuroraEvent({ ...join }, NOW + 5)?.idempotency_key);
    expect(toAuroraEvent(join, NOW)?.idempotency_key).not.toBe(toAuroraEvent({ ...join, time: 2 }, NOW)?.idempotency_key);
  });
});
