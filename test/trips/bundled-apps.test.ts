import { execFile } from "node:child_process";
import { cp, mkdir, readFile, symlink } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compileSchema } from "../../src/base/json-schema.ts";
import type { Kit } from "../../src/kit-api.ts";
import { createKit } from "../../src/kit.ts";
import { builtApp } from "../support/built-apps.ts";
import { until } from "../support/kit.ts";
import { SELF_ID, startOneBotServer, type OneBotServer } from "../support/onebot-server.ts";
import { makeWorkspace, type TestWorkspace } from "../support/workspace.ts";

/** The repository's own workspace, run as it is: four bundled apps, the default policy, the guide's events, a reader in Python. */
describe("the main job, with the bundled apps", () => {
  let workspace: TestWorkspace;
  let onebot: OneBotServer;
  let kit: Kit;
  const events: { type: string; app: string; data: Record<string, unknown> }[] = [];

  beforeAll(async () => {
    await builtApp("clock");
    onebot = await startOneBotServer();
    workspace = await makeWorkspace({});
    for (const folder of ["apps", "topology", "schemas"]) await cp(folder, path.join(workspace.root, folder), { recursive: true });
    await mkdir(path.join(workspace.root, "dist"));
    await cp("dist/apps", path.join(workspace.root, "dist/apps"), { recursive: true });
    await cp("package.json", path.join(workspace.root, "package.json"));
    await symlink(path.resolve("node_modules"), path.join(workspace.root, "node_modules"));
    kit = createKit({ topology: workspace.topology, watch: false, env: { ...process.env, ONEBOT_URL: onebot.url, ONEBOT_WS_URL: onebot.wsUrl } });
    kit.on("envelope", (e) => events.push({ type: e.payload.type, app: e.header.source.app, data: e.payload.data as Record<string, unknown> }));
    await kit.start();
    await until(() => kit.status().apps.every((a) => a.state === "ready"), 30_000);
  }, 120_000);
  afterAll(async () => {
    await kit.close();
    await onebot.close();
    await workspace.remove();
  });
  const text = (result: unknown): string => JSON.stringify(result);

  it("brings four apps up, locked, with legal names in the export file", async () => {
    expect(kit.status().apps.map((a) => [a.package, a.state])).toEqual([
      ["im.polaris.clock", "ready"],
      ["im.polaris.diary", "ready"],
      ["im.polaris.qq", "ready"],
      ["im.polaris.weather", "ready"],
    ]);
    expect(kit.lockDiff().filter((e) => e.state !== "accepted")).toEqual([]);
    await until(() => kit.status().exports.length === 2 && kit.status().exports.every((e) => e.tools === kit.status().tools.exposed));
    const tools = JSON.parse(await readFile(path.join(workspace.root, "generated/tools/openai.json"), "utf8")) as { function: { name: string } }[];
    expect(tools).toHaveLength(kit.status().tools.exposed);
    for (const tool of tools) expect(tool.function.name).toMatch(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/);
    expect(events.filter((e) => e.type === "lifecycle.started")).toHaveLength(4);
  });

  it("lets low and medium risk run, and asks for the high-risk one until a person answers", async () => {
    expect((await kit.callTool("im.polaris.clock.get_time", { timezone: "Asia/Shanghai" })).ok).toBe(true);
    expect((await kit.callTool("im.polaris.diary.write_entry", { content: "今天很好。" })).ok).toBe(true);
    const asked = await kit.callTool("im.polaris.qq.send_message", { target: "group:123456", text: "hello" }, { waitMs: 10 });
    expect(asked.error?.error_code).toBe("APPROVAL_REQUIRED");
    expect(onebot.calls.filter((c) => c.action.startsWith("send"))).toEqual([]);
    const id = (asked.error!.details as { approval_id: string }).approval_id;
    await kit.decideApproval(id, "approve", "me");
    expect((await kit.callTool("im.polaris.qq.send_message", { target: "group:123456", text: "hello" }, { approvalId: id })).ok).toBe(true);
    expect(onebot.calls.filter((c) => c.action.startsWith("send"))).toHaveLength(1);
  });

  it("turns a timer, a diary entry and a QQ message into events", async () => {
    expect((await kit.callTool("im.polaris.clock.create_timer", { seconds: 1, label: "tea" })).ok).toBe(true);
    onebot.push({
      time: 1_780_000_000,
      self_id: SELF_ID,
      post_type: "message",
      message_type: "group",
      sub_type: "normal",
      message_id: 77,
      group_id: 123456,
      user_id: 987654,
      message: [{ type: "text", data: { text: "今天天气怎么样" } }],
      raw_message: "今天天气怎么样",
      sender: { user_id: 987654, nickname: "n" },
    });
    await until(() => ["timer.triggered", "message.received", "diary.written"].every((type) => events.some((e) => e.type === type)), 15_000);
    expect(events.find((e) => e.type === "message.received")).toMatchObject({
      app: "im.polaris.qq",
      data: { group_id: "123456", user_id: "987654", message_text: "今天天气怎么样", is_group: true },
    });
  });

  it("says clearly that the weather service is out of reach, as a business error of the app", async () => {
    const done = await kit.callTool("im.polaris.weather.get_weather", { city: "上海" });
    expect(done.error).toMatchObject({ source: "app", error_code: expect.stringMatching(/^WEATHER_/), retryable: true });
    expect(text(done.result)).toContain("structuredContent");
  }, 30_000);

  it("writes an inbox that a reader in Python consumes whole, and every envelope fits the schema", async () => {
    const python = await promisify(execFile)("python3", ["--version"]).then(
      () => true,
      () => false,
    );
    if (!python) return void process.stdout.write("no python3: the Python reader was not tried\n");
    await until(() => kit.status().inbox.queued === 0);
    const seen = new Set(events.map((e) => e.type));
    const inbox = path.join(workspace.root, "data/kernel/inbox/pending");
    const { stdout } = await promisify(execFile)("python3", ["examples/readers/aurora_inbox.py", inbox, "--once"], { maxBuffer: 1e7 });
    const read = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { payload: { type: string } });
    expect(new Set(read.map((e) => e.payload.type))).toEqual(seen);
    const schema = compileSchema(JSON.parse(await readFile("schemas/amp.schema.json", "utf8")));
    if (!schema.ok) throw new Error(schema.reason);
    for (const event of read) expect(schema.schema.validate(event)).toEqual([]);
  });
});
