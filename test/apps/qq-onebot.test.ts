import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createEventStream, type EventStream } from "../../apps/aurora-app-qq/event-stream.ts";
import { createOneBotApi } from "../../apps/aurora-app-qq/onebot-api.ts";
import { createQqService, parseTarget } from "../../apps/aurora-app-qq/service.ts";
import type { JsonObject } from "../../apps/common/json.ts";
import { startOneBotServer, type OneBotServer } from "../support/onebot-server.ts";

const TOKEN = "onebot-token-5f1c";
let onebot: OneBotServer;

beforeEach(async () => {
  onebot = await startOneBotServer({ token: TOKEN });
});
afterEach(() => onebot.close());

const failure = (run: Promise<unknown>): Promise<unknown> =>
  run.then(
    () => "no error",
    ({ code, retryable }: { code: string; retryable: boolean }) => [code, retryable],
  );

describe("actions over HTTP", () => {
  const api = (options: { url?: string; token?: string | undefined; timeout?: number } = {}) =>
    createOneBotApi({ url: onebot.url, token: TOKEN, timeout: 5000, ...options });
  const stream = { state: () => ({ connected: false, connections: 0, reason: "no" }) };

  test("messages go out as text segments, whatever they hold", async () => {
    const qq = createQqService(api(), stream);
    expect(await qq.send(parseTarget("group:123456"), "hi [CQ:at,qq=all]")).toEqual({ target: { kind: "group", id: "123456" }, messageId: "1" });
    await qq.send(parseTarget("private:456"), "you");
    await qq.sendWithMention("123456", "789", "look");
    expect(onebot.calls).toEqual([
      { action: "send_group_msg", params: { group_id: 123456, message: [{ type: "text", data: { text: "hi [CQ:at,qq=all]" } }] } },
      { action: "send_private_msg", params: { user_id: 456, message: [{ type: "text", data: { text: "you" } }] } },
      {
        action: "send_group_msg",
        params: {
          group_id: 123456,
          message: [
            { type: "at", data: { qq: "789" } },
            { type: "text", data: { text: " look" } },
          ],
        },
      },
    ]);
  });

  test("an accepted message without an id is sent", async () => {
    onebot.answer("send_group_msg", { status: 200, body: { status: "async", retcode: 1, data: null } });
    expect(await createQqService(api(), stream).send(parseTarget("group:1"), "x")).toEqual({ target: { kind: "group", id: "1" }, messageId: undefined });
  });

  test("a OneBot that is not there was never asked, so asking again is safe", async () => {
    await onebot.close();
    expect(await failure(api().call("send_group_msg", {}))).toEqual(["ONEBOT_NOT_CONNECTED", true]);
    // fetch refuses some ports by itself.
    expect(await failure(api({ url: "http://127.0.0.1:6000" }).call("send_group_msg", {}))).toEqual(["ONEBOT_NOT_CONNECTED", true]);
  });

  test.each([
    ["hang", "ONEBOT_TIMEOUT"],
    ["cut", "ONEBOT_CONNECTION_LOST"],
  ] as const)("an action without an answer (%s) has an unknown fate, and is not for retrying", async (how, code) => {
    onebot.answer("send_group_msg", how);
    expect(await failure(api({ timeout: 200 }).call("send_group_msg", {}))).toEqual([code, false]);
    expect(onebot.calls).toHaveLength(1);
  });

  test.each([
    [200, { status: "failed", retcode: 100, wording: "被禁言" }, "ONEBOT_REJECTED"],
    [200, "<html>", "ONEBOT_INVALID"],
    [200, { hello: 1 }, "ONEBOT_INVALID"],
    [404, "", "ONEBOT_UNSUPPORTED"],
    [500, "", "ONEBOT_FAILED"],
  ])("status %i with %j is %s", async (status, body, code) => {
    onebot.answer("send_group_msg", { status, body });
    expect(await failure(api().call("send_group_msg", {}))).toEqual([code, false]);
  });

  test("a wrong token and a missing one", async () => {
    for (const token of ["wrong", undefined]) expect(await failure(api({ token }).call("get_login_info", {}))).toEqual(["ONEBOT_UNAUTHORIZED", false]);
  });

  test("the status tells both connections apart and never throws", async () => {
    expect(await createQqService(api(), stream).status()).toEqual({
      connected: true,
      account: { user_id: "10001", nickname: "极光" },
      reason: undefined,
      events: stream.state(),
    });
    await onebot.close();
    const absent = await createQqService(api(), stream).status();
    expect(absent).toMatchObject({ connected: false, account: undefined, reason: expect.stringContaining("not connected") });
  });
});

describe("events over WebSocket", () => {
  let stream: EventStream | undefined;
  let events: JsonObject[];
  let states: string[];
  afterEach(() => stream?.stop());

  function open(options: { url?: string; token?: string | undefined } = {}): EventStream {
    events = [];
    states = [];
    stream = createEventStream({
      url: onebot.wsUrl,
      token: TOKEN,
      firstRetry: 20,
      maxRetry: 100,
      random: () => 1,
      onEvent: (event) => events.push(event),
      onState: (state) => states.push(state),
      ...options,
    });
    stream.start();
    return stream;
  }
  const until = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 8000, interval: 10 });

  test("arrive, and what is no event is passed over", async () => {
    const { state } = open();
    await until(() => expect(onebot.listeners()).toBe(1));
    onebot.push("not json");
    onebot.push({ status: "ok", retcode: 0, echo: "1" });
    onebot.push({ post_type: "message", message_id: 1 });
    await until(() => expect(events.map((event) => event["post_type"])).toEqual(["meta_event", "message"]));
    expect(state()).toEqual({ connected: true, connections: 1, reason: undefined });
  });

  test("a lost connection is made again", async () => {
    const { state } = open();
    for (let round = 1; round <= 3; round += 1) {
      await until(() => expect(events.length).toBe(round));
      onebot.cutListeners();
    }
    await until(() => expect(state()).toMatchObject({ connected: true, connections: 4 }));
  });

  test("OneBot that starts later is found, and its absence is logged once", async () => {
    const { port } = onebot;
    await onebot.close();
    const { state } = open();
    await until(() => expect(state().reason).toBe("ECONNREFUSED"));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(states).toEqual(["no connection to OneBot's events: ECONNREFUSED; trying again"]);
    onebot = await startOneBotServer({ token: TOKEN, port });
    await until(() => expect(state().connected).toBe(true));
    expect(states).toHaveLength(2);
  });

  test("a wrong token is named, slowly tried again, and not shown", async () => {
    const { state } = open({ token: "wrong-token" });
    await until(() => expect(state().reason).toContain("ONEBOT_TOKEN"));
    expect(JSON.stringify([state(), states])).not.toContain("wrong-token");
    await until(() => expect(onebot.handshakes()).toBeGreaterThan(1));
  });

  test("the waits grow to their limit", async () => {
    const waits: number[] = [];
    const timers = vi.spyOn(globalThis, "setTimeout");
    open({ token: "wrong" });
    await until(() => expect(onebot.handshakes()).toBeGreaterThan(4));
    for (const [, wait] of timers.mock.calls) if (wait !== undefined && [20, 40, 80, 100].includes(wait)) waits.push(wait);
    timers.mockRestore();
    expect(waits.slice(0, 4)).toEqual([20, 40, 80, 100]);
  });

  test("a stopped stream stays away", async () => {
    const opened = open();
    await until(() => expect(onebot.listeners()).toBe(1));
    opened.stop();
    await until(() => expect(onebot.listeners()).toBe(0));
    const before = onebot.handshakes();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(onebot.handshakes()).toBe(before);
  });
});
