import { describe, expect, test } from "vitest";
import { toAppEvent } from "../../src/amp/app-event.ts";
import { readAuroraEvent } from "../../src/amp/aurora-event.ts";
import { capabilityChange, capabilitySignal } from "../../src/amp/capability.ts";
import type { MappedEvent } from "../../src/amp/map-signal.ts";
import { mapSignal } from "../../src/amp/map-signal.ts";
import { toolReceipt } from "../../src/amp/receipts.ts";
import { signalOfNotification } from "../../src/amp/signal.ts";
import { formatTimestamp, isTimestamp, parseTimestamp } from "../../src/amp/timestamp.ts";
import { createMasker } from "../../src/base/masking.ts";
import type { AppListing } from "../../src/tools/types.ts";
import { mapEnv, rulesOf, schemaIssues, sealer, signal } from "./support.ts";

const event: MappedEvent = { type: "a.b", method: "aurora/event", priority: "normal", rule: "r" };
const source = { app: "org.example.app", instance: "one" };

describe("timestamps", () => {
  test("strictly rise whatever the clock does, and so do ids", () => {
    const steps = [0, 0, 0, 5, -3_600_000, -3_600_000, 1, 10_000];
    let i = 0;
    const s = sealer({ clock: { now: () => 1_781_000_000_000 + (steps[i++] ?? 0), monotonic: () => 0 } });
    const envelopes = steps.map(() => s.seal(event, source));
    const times = envelopes.map((e) => parseTimestamp(e.header.timestamp)!);
    expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
    const ids = envelopes.map((e) => e.header.message_id);
    expect(ids).toEqual([...new Set(ids)].sort());
  });

  test("10 000 events in one millisecond keep their order by id", () => {
    const s = sealer();
    const ids = Array.from({ length: 10_000 }, () => s.seal(event, source).header.message_id);
    expect(new Set(ids).size).toBe(10_000);
    expect(ids.toSorted()).toEqual(ids);
  });

  test("go on after what an earlier run wrote", () => {
    const s = sealer({ last: "2030-01-01T00:00:00.000005+08:00" });
    const first = s.seal(event, source);
    expect(first.header.timestamp).toBe("2030-01-01T00:00:00.000006+08:00");
  });

  test("show the local offset, also across a change of it", () => {
    // New York goes from -04:00 to -05:00 at 2026-11-01T06:00Z: the wall clock repeats an hour, the moments do not.
    const change = Date.UTC(2026, 10, 1, 6);
    let now = change - 1;
    const s = sealer({ clock: { now: () => now, monotonic: () => 0 }, offset: (ms) => (ms < change ? -240 : -300) });
    const before = s.seal(event, source).header.timestamp;
    now = change;
    const after = s.seal(event, source).header.timestamp;
    expect([before, after]).toEqual(["2026-11-01T01:59:59.999000-04:00", "2026-11-01T01:00:00.000000-05:00"]);
    expect(parseTimestamp(after)! - parseTimestamp(before)!).toBe(1000);
  });

  test("format and parse are inverse", () => {
    for (const micros of [0, 1, 999_999, 1_781_000_000_123_456])
      for (const offset of [0, 480, -210]) expect(parseTimestamp(formatTimestamp(micros, offset))).toBe(micros);
    expect(isTimestamp("2026-06-17T14:30:00")).toBe(false);
    expect(isTimestamp("2026-13-17T14:30:00Z")).toBe(false);
    expect(isTimestamp(formatTimestamp(Number.MAX_SAFE_INTEGER * 1000, 840))).toBe(true);
  });
});

describe("ids", () => {
  test("one key is one event, for its app, type and session only", () => {
    const s = sealer();
    const id = (e: Partial<MappedEvent>, app = "a"): string => s.seal({ ...event, idempotency_key: "k", ...e }, { app, instance: null }).header.message_id;
    expect(id({})).toBe(id({}));
    expect(id({})[14]).toBe("5");
    expect(new Set([id({}), id({ type: "c" }), id({ session_id: "s" }), id({ idempotency_key: "l" }), id({}, "b")]).size).toBe(5);
    // No gluing of parts makes two facts one.
    expect(id({ type: "a.b", session_id: "c" })).not.toBe(id({ type: "a", session_id: "b.c" }));
  });
});

describe("bounds and masks", () => {
  test("secrets go before anything is cut", () => {
    const secret = "correct-horse-battery-staple";
    const masker = createMasker([secret]);
    const s = sealer({ mask: (v) => masker.value(v), maxDataBytes: () => 2000 });
    const envelope = s.seal(
      { ...event, session_id: `s ${secret}`, summary: "x".repeat(490) + secret, data: { long: "y".repeat(995) + secret + "z".repeat(5000), password: "p" } },
      source,
    );
    const text = JSON.stringify(envelope);
    expect(text).not.toContain("correct");
    expect(envelope.payload.data).toMatchObject({ password: "***", cut: { long: expect.any(Number) } });
    expect(schemaIssues("amp", envelope)).toEqual([]);
  });

  test("data is cut at its largest members, in bytes", () => {
    const s = sealer({ maxDataBytes: () => 3000 });
    const data = s.seal({ ...event, data: { id: 7, text: "字".repeat(5000), list: Array.from({ length: 1000 }, (_, i) => i) } }, source).payload.data as Record<
      string,
      unknown
    >;
    expect(Buffer.byteLength(JSON.stringify(data))).toBeLessThanOrEqual(3000);
    expect(data).toMatchObject({ id: 7, list: null, cut: { text: expect.any(Number) } });
  });

  test("thousands of members and bottomless nesting stay in bounds", () => {
    const s = sealer({ maxDataBytes: () => 1000 });
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`member-${i}`, i]));
    expect(Buffer.byteLength(JSON.stringify(s.seal({ ...event, data: many }, source).payload.data))).toBeLessThanOrEqual(1000);
    let deep: Record<string, unknown> = {};
    for (let i = 0; i < 100_000; i += 1) deep = { deep };
    expect(() => s.seal({ ...event, data: deep as never }, source)).not.toThrow();
  });

  test("a summary is one visible line of 500 characters", () => {
    const { summary } = sealer().seal({ ...event, summary: `a\n\u202eb\u001b[31m ${"c".repeat(10_000)}` }, source).payload;
    expect(summary).toMatch(/^a \\u\{202e\}b\\u\{1b\}\[31m c+…$/);
    expect(summary!.length).toBe(500);
  });

  test("expiry counts from the event's own time, and an impossible one is left out", () => {
    const s = sealer({ offset: () => 0 });
    const { header, payload } = s.seal({ ...event, expiresInMs: 300_000 }, source);
    expect(parseTimestamp(payload.expire_at)! - parseTimestamp(header.timestamp)!).toBe(300_000_000);
    expect(s.seal({ ...event, expireAt: "tomorrow" }, source).payload.expire_at).toBeUndefined();
    expect(s.seal({ ...event, expireAt: "2026-06-17T14:35:00+08:00", expiresInMs: 5 }, source).payload.expire_at).toBe("2026-06-17T14:35:00+08:00");
  });
});

describe("Aurora-native events", () => {
  test.each<[unknown]>([
    [42],
    [[]],
    [undefined],
    [null],
    ["text"],
    [true],
    [{}],
    [{ type: 5 }],
    [{ type: "" }],
    [{ type: "a b" }],
    [{ type: "a", data: [] }],
    [{ type: "a", summary: 3 }],
    [{ type: "a", expire_at: "soon" }],
    [{ type: "a", idempotency_key: "" }],
  ])("params %j are refused in words", (params) => {
    expect(readAuroraEvent("aurora/event", params)).toMatchObject({ ok: false, reason: expect.stringMatching(/\w{4}/) });
  });

  test.each(["tool.completed", "lifecycle.started", "capability.changed", "config.applied", "approval.requested", "mcp.error", "Tool.completed", "mcp"])(
    "type %s is reserved",
    (type) => {
      expect(readAuroraEvent("aurora/event", { type })).toMatchObject({ ok: false, reason: expect.stringContaining("reserved") });
      expect(readAuroraEvent("notifications/message", { logger: "aurora/event", level: "info", data: { type } })).toMatchObject({ ok: false });
    },
  );

  test("come as a notification or as a logging message, with an object or its text", () => {
    const fact = { type: "diary.written", session_id: "s", summary: "x", data: { n: 1 }, idempotency_key: "k", expire_at: "2026-06-17T14:35:00+08:00" };
    expect(schemaIssues("aurora-event", fact)).toEqual([]);
    const same = { ok: true, event: fact };
    expect(readAuroraEvent("aurora/event", fact)).toEqual(same);
    expect(readAuroraEvent("notifications/message", { logger: "aurora/event", level: "debug", data: fact })).toEqual(same);
    expect(readAuroraEvent("notifications/message", { logger: "aurora/event", level: "debug", data: JSON.stringify(fact) })).toEqual(same);
    expect(readAuroraEvent("notifications/message", { logger: "other", data: fact })).toBeNull();
    expect(readAuroraEvent("aurora/event", { type: "a", session_id: null, data: null, extra: 1, __proto__: null })).toEqual({ ok: true, event: { type: "a" } });
  });

  test("become an envelope with what the app said", () => {
    const read = signalOfNotification({ app: "im.polaris.qq", instance: "qq-1" }, "aurora/event", {
      type: "message.received",
      session_id: "group_1",
      summary: "hi",
      data: { text: "t" },
      expire_at: "2026-06-17T14:35:00+08:00",
    });
    if (!("signal" in read)) throw new Error(read.refused);
    const [mapped] = mapSignal(rulesOf({}), read.signal, mapEnv());
    const envelope = sealer().seal(mapped!, read.signal);
    expect(schemaIssues("amp", envelope)).toEqual([]);
    expect(envelope).toMatchObject({
      header: { method: "aurora/event", source: { app: "im.polaris.qq", instance: "qq-1" } },
      payload: { type: "message.received", session_id: "group_1", summary: "hi", data: { text: "t" }, expire_at: "2026-06-17T14:35:00+08:00" },
    });
  });

  test.each<[unknown, object]>([
    [42, { value: 42 }],
    [[], { value: [] }],
    [undefined, {}],
    [null, {}],
    [{ a: 1 }, { a: 1 }],
  ])("a third party's notification with params %j still makes a valid envelope", (params, data) => {
    const read = signalOfNotification(source, "notifications/odd", params);
    if (!("signal" in read)) throw new Error(read.refused);
    const [mapped] = mapSignal(rulesOf({}), read.signal, mapEnv());
    const envelope = sealer().seal(mapped!, source);
    expect(schemaIssues("amp", envelope)).toEqual([]);
    expect(envelope.payload.data).toEqual(data);
  });
});

describe("receipts and changes", () => {
  test("a receipt has ids, outcome and duration, no arguments and no result", () => {
    const s = toolReceipt(source, {
      tool: "send",
      callId: "c1",
      client: "bot",
      session: "s1",
      outcome: "failed",
      durationMs: 12.6,
      risk: "high",
      error: { ok: false, error_code: "TOOL_FAILED", message: "m".repeat(5000), retryable: false, source: "app", details: { secret: "x" } },
      approvalId: "ap1",
      auditId: "au1",
    });
    expect(s.params).toMatchObject({ duration_ms: 13, approval_id: "ap1", audit_id: "au1", risk: "high", error: { error_code: "TOOL_FAILED" } });
    expect(JSON.stringify(s.params)).not.toContain("details");
    const [mapped] = mapSignal(rulesOf({}), s, mapEnv());
    expect(mapped).toMatchObject({ type: "tool.failed", session_id: "s1", priority: "high", summary: "org.example.app: send failed TOOL_FAILED" });
  });

  const listing = (partial: Partial<AppListing>): AppListing => ({
    app: "a",
    serverInfo: { name: "n", version: "1" },
    protocolVersion: "2025-11-25",
    capabilities: {},
    instructions: null,
    tools: [],
    prompts: [],
    resources: [],
    templates: [],
    dropped: [],
    conflicts: [],
    warnings: [],
    ...partial,
  });

  test("a change of a list names what came, went and changed", () => {
    const before = listing({ tools: [{ name: "a" }, { name: "b", description: "x" }, { name: "__proto__" }] });
    const after = listing({ tools: [{ name: "b", description: "y" }, { name: "c" }, { name: "__proto__" }] });
    expect(capabilityChange("tools", before, after)).toEqual({ added: ["c"], removed: ["a"], changed: ["b"] });
    expect(capabilityChange("tools", after, after)).toEqual({ added: [], removed: [], changed: [] });
    expect(capabilityChange("resources", null, listing({ resources: [{ uri: "r" }], templates: [{ uriTemplate: "t" }] })).added).toEqual(["r", "t"]);
    const [mapped] = mapSignal(rulesOf({}), capabilitySignal(source, "tools", capabilityChange("tools", before, after)), mapEnv());
    expect(mapped).toMatchObject({ type: "capability.changed", data: { kind: "tools", added: ["c"], removed: ["a"], changed: ["b"] } });
  });
});

test("the flat form has every member, whether or not the envelope does", () => {
  expect(toAppEvent(sealer().seal(event, source))).toEqual({
    source: "org.example.app",
    type: "a.b",
    session_id: "",
    summary: "",
    payload: {},
    expire_at: null,
    id: expect.any(String),
    created_at: expect.any(String),
  });
  expect(toAppEvent(sealer().seal({ ...event, session_id: "s", data: { a: 1 }, expiresInMs: 1 }, source))).toMatchObject({
    session_id: "s",
    payload: { a: 1 },
    expire_at: expect.any(String),
  });
  expect(signal({}).app).toBe("org.example.app");
});
