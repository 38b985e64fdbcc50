import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KitError } from "../../src/base/errors.ts";
import { startKit, type TestKit } from "../support/kit.ts";
import { householdFiles } from "../support/web-host.ts";

let running: TestKit;
beforeAll(async () => {
  running = await startKit(householdFiles());
});
afterAll(() => running?.stop());

describe("the wiring of a host", () => {
  it("has each rule with its place, what it does, and the apps that it reaches", () => {
    const { rules, table } = running.kit.graph();
    expect(table).toEqual({ low: "allow", medium: "allow", high: "ask", critical: "deny" });
    expect(rules.map((rule) => [rule.id, rule.line, rule.action, rule.risk, rule.rate, rule.apps])).toEqual([
      ["diary-writes", 4, "allow", null, null, [{ app: "im.polaris.diary", tools: 1 }]],
      ["message-rate", 2, null, null, "10/min", [{ app: "im.polaris.qq", tools: 1 }]],
      ["no-shell", 3, null, "critical", null, [{ app: "im.polaris.qq", tools: 1 }]],
    ]);
    expect(rules[0]!.file).toMatch(/policies\/rules\.yaml$/);
  });

  it("has each mapping with the apps whose signals it takes and what it emits, the built-in ones last", () => {
    const { signals } = running.kit.graph();
    expect(signals.slice(0, 2).map((rule) => [rule.id, rule.line, rule.emits, rule.apps])).toEqual([
      ["group-message", 2, "group.{params.type}", ["im.polaris.qq"]],
      ["no-progress", 3, null, null],
    ]);
    expect(signals.slice(2).every((rule) => rule.file === null && rule.line === null)).toBe(true);
    expect(signals.map((rule) => rule.id)).toContain("aurora-event");
  });
});

describe("one tool in every form", () => {
  it("is told with its cost, also when it is denied and so not exported", () => {
    const { definition, targets } = running.kit.toolSchemas("im.polaris.qq.exec_command");
    expect(definition["name"]).toBe("exec_command");
    expect(targets.map((target) => target.format)).toEqual([
      "openai",
      "openai-responses",
      "openai-strict",
      "anthropic",
      "anthropic-strict",
      "gemini",
      "gemini-legacy",
      "litellm",
      "mcp",
      "text",
    ]);
    for (const target of targets) expect([target.format, target.tokens > 0, target.schema !== null]).toEqual([target.format, true, true]);
    expect(targets.find((target) => target.format === "openai-strict")).toMatchObject({
      strict: true,
      changes: expect.arrayContaining([expect.objectContaining({ code: "name.mapped", effect: "renamed" })]),
    });
  });

  it("an unknown one is TOOL_NOT_FOUND", () => {
    expect(() => running.kit.toolSchemas("im.polaris.qq.none")).toThrow(KitError);
  });
});
