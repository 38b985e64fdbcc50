import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { newFolder, startApp, type AppProcess } from "./app-process.ts";

let cwd: string;
let clock: AppProcess;
const start = async (): Promise<AppProcess> => (clock = await startApp("clock", { cwd, env: { AURORA_APP_TIMEZONE: "Asia/Shanghai" } }));

beforeAll(async () => {
  cwd = await newFolder();
  await start();
});
afterAll(() => clock.stop());
// Each test begins with nothing active.
beforeEach(async () => {
  for (const { kind, id } of (await clock.call("list_active")).data["reminders"] as { kind: string; id: string }[]) await clock.call(`cancel_${kind}`, { id });
  clock.heard.length = 0;
});

describe("the clock", () => {
  test("tells the time of a zone", async () => {
    const { data, text } = await clock.call("get_time", { timezone: "Asia/Tokyo" });
    expect(data).toMatchObject({ timezone: "Asia/Tokyo", utc_offset_minutes: 540 });
    expect(Math.abs(Date.parse(String(data["time"])) - Date.now())).toBeLessThan(10_000);
    expect(text).toContain(String(data["time"]));
    expect((await clock.call("get_time")).data).toMatchObject({ timezone: "Asia/Shanghai" });
  });

  test("a zone that does not exist is a business failure in the guide's form", async () => {
    const { isError, structured, text } = await clock.call("get_time", { timezone: "Asia/Beijing" });
    expect(isError).toBe(true);
    expect(structured).toEqual({ ok: false, error_code: "INVALID_TIMEZONE", message: expect.stringContaining('"Asia/Beijing"'), retryable: false });
    expect(text).toBe(structured["message"]);
  });

  test("a timer fires as an event of its session", async () => {
    const { data } = await clock.call("create_timer", { seconds: 1, label: "tea", session_id: "group_1" });
    const event = await clock.event("timer.triggered");
    expect(event).toMatchObject({
      type: "timer.triggered",
      session_id: "group_1",
      summary: "计时器时间到：tea",
      idempotency_key: `timer:${String(data["id"])}`,
      data: { id: data["id"], kind: "timer", label: "tea", late: false, duration_seconds: 1 },
    });
    expect(Date.parse(String(event["expire_at"]))).toBeGreaterThan(Date.now());
    expect((await clock.call("list_active")).data).toEqual({ reminders: [] });
  });

  test("alarms and timers are listed, filtered and cancelled", async () => {
    const alarm = await clock.call("create_alarm", { time: "2999-01-01T08:00", label: "far" });
    await clock.call("create_timer", { seconds: 500 });
    expect(alarm.data).toMatchObject({ fire_at: "2999-01-01T08:00:00+08:00", kind: "alarm" });
    expect((await clock.call("list_active")).data["reminders"]).toMatchObject([{ kind: "timer" }, { kind: "alarm" }]);
    expect((await clock.call("list_active", { kind: "alarm" })).data["reminders"]).toMatchObject([{ label: "far" }]);
    expect((await clock.call("cancel_timer", { id: alarm.data["id"] })).structured).toMatchObject({ ok: false, error_code: "TIMER_NOT_FOUND" });
    expect((await clock.call("cancel_alarm", { id: alarm.data["id"] })).data).toMatchObject({ label: "far" });
    expect((await clock.call("list_active", { kind: "alarm" })).data).toEqual({ reminders: [] });
  });

  test("what was active comes back after a crash; what was missed fires late, once", async () => {
    await clock.call("create_timer", { seconds: 1, label: "missed" });
    await clock.call("create_timer", { seconds: 3000, label: "kept" });
    await clock.kill("SIGKILL");
    await delay(1500);
    await start();
    expect(await clock.event("timer.triggered")).toMatchObject({ data: { label: "missed", late: true } });
    expect((await clock.call("list_active")).data["reminders"]).toMatchObject([{ label: "kept" }]);
    await clock.stop();
    expect(JSON.parse(await readFile(join(cwd, "data/apps/clock/reminders.json"), "utf8"))).toMatchObject({ reminders: [{ label: "kept" }] });
    await start();
    await delay(300);
    expect(clock.heard).toEqual([]);
  });

  test("subscribers hear of changes to the active list, others do not", async () => {
    const uri = "aurora://clock/active";
    const updates = (): number => clock.heard.filter((one) => one.method === "notifications/resources/updated" && one.params["uri"] === uri).length;
    expect((await clock.client.listResources()).resources).toMatchObject([{ uri, mimeType: "application/json" }]);
    await clock.call("create_timer", { seconds: 100 });
    expect(updates()).toBe(0);
    await clock.client.subscribeResource({ uri });
    await clock.call("create_timer", { seconds: 200, label: "second" });
    await vi.waitFor(() => expect(updates()).toBe(1));
    const { contents } = await clock.client.readResource({ uri });
    expect(JSON.parse(String((contents[0] as { text: string }).text))).toMatchObject({ reminders: [{}, { label: "second" }] });
    await clock.client.unsubscribeResource({ uri });
    await clock.call("create_timer", { seconds: 300 });
    expect(updates()).toBe(1);
    for (const request of [clock.client.readResource({ uri: "aurora://clock/else" }), clock.client.subscribeResource({ uri: "file:///etc/passwd" })])
      await expect(request).rejects.toMatchObject({ code: -32002 });
  });
});
