import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { decide, riskOf } from "../../src/policy/decide.ts";
import { DEFAULT_POLICY, DENY_ALL, type PolicyRules } from "../../src/policy/rules.ts";
import type { Subject } from "../../src/policy/types.ts";
import type { PolicyRuleConfig } from "../../generated/policy.d.ts";
import { policyOf, rulesOf, tool } from "./policy-of.ts";

const call = (rules: PolicyRules, subject: Subject, args: JsonObject | null = {}, client = "bot", marked = false) =>
  decide(rules, subject, { client, args }, marked);
const action = (...input: Parameters<typeof call>) => call(...input).action;

describe("risk table", () => {
  it.each([
    ["high", "medium", "allow", "full"],
    ["medium", "high", "ask", "full"],
    ["low", "high", "ask", "full"],
  ] as const)("an unclassified tool of an app of %s trust is of %s risk", (trust, risk, wanted, audit) => {
    const decision = call(DEFAULT_POLICY, tool("a", "x", { trust }));
    expect(decision).toMatchObject({ risk, action: wanted, audit, rule: null, riskSource: `default for trust ${trust}` });
    expect(decision.reason).toContain("no rule matched");
  });

  it.each([
    ["low", "allow", "summary"],
    ["critical", "deny", "full"],
  ] as const)("a manifest's %s risk counts", (manifestRisk, wanted, audit) => {
    expect(call(DEFAULT_POLICY, tool("a", "x", { manifestRisk }))).toMatchObject({ action: wanted, audit, riskSource: "manifest" });
  });

  it("hints move the default: destructive raises, read-only lowers by one, never for low trust", () => {
    expect(riskOf(DEFAULT_POLICY, tool("a", "x", { trust: "high", destructiveHint: true })).risk).toBe("high");
    expect(riskOf(DEFAULT_POLICY, tool("a", "x", { trust: "high", readOnlyHint: true })).risk).toBe("low");
    expect(riskOf(DEFAULT_POLICY, tool("a", "x", { trust: "medium", readOnlyHint: true })).risk).toBe("medium");
    expect(riskOf(DEFAULT_POLICY, tool("a", "x", { trust: "low", readOnlyHint: true })).risk).toBe("high");
    expect(riskOf(DEFAULT_POLICY, tool("a", "x", { trust: "high", readOnlyHint: true, destructiveHint: true })).risk).toBe("high");
  });

  it("hints never move what a rule or a manifest says", () => {
    const hinted = tool("a", "x", { destructiveHint: true, manifestRisk: "low" });
    expect(riskOf(DEFAULT_POLICY, hinted)).toEqual({ risk: "low", source: "manifest" });
    expect(riskOf(rulesOf({ id: "r", apps: ["a"], risk: "medium" }), hinted)).toEqual({ risk: "medium", source: "rule r (policies/0.yaml:1)" });
  });

  it("reading resources and prompts is low, unless a rule classifies it", () => {
    expect(call(DEFAULT_POLICY, tool("a", "repo://x", { kind: "resource", trust: "low" }))).toMatchObject({ risk: "low", action: "allow" });
    expect(action(rulesOf({ id: "r", resources: ["repo://private/*"], action: "deny" }), tool("a", "repo://private/k", { kind: "resource" }))).toBe("deny");
    expect(action(rulesOf({ id: "r", prompts: ["*"], risk: "high" }), tool("a", "daily", { kind: "prompt" }))).toBe("ask");
  });

  it("risk_actions and default_risk are the user's", () => {
    const rules = policyOf({ risk_actions: { medium: { action: "ask" }, critical: { action: "ask" } }, default_risk: { low: "critical" } });
    expect(action(rules, tool("a", "x", { trust: "high" }))).toBe("ask");
    expect(call(rules, tool("a", "x", { trust: "low" }))).toMatchObject({ risk: "critical", action: "ask" });
  });
});

describe("rules", () => {
  const deny: PolicyRuleConfig = { id: "no-delete", apps: ["files"], tools: ["delete"], action: "deny" };
  const allow: PolicyRuleConfig = { id: "files", apps: ["files"], action: "allow" };

  it("deny beats allow whatever the order, and names rule, file and line", () => {
    for (const rules of [
      rulesOf(allow, deny),
      rulesOf(deny, allow),
      policyOf({ rules: [allow] }, { rules: [deny] }),
      policyOf({ rules: [deny] }, { rules: [allow] }),
    ]) {
      const decision = call(rules, tool("files", "delete"));
      expect(decision.action).toBe("deny");
      expect(decision.rule?.id).toBe("no-delete");
      expect(decision.reason).toMatch(/rule no-delete \(policies\/\d\.yaml:\d\)/);
      expect(action(rules, tool("files", "read"))).toBe("allow");
    }
  });

  it("deny rules alone leave the rest to the risk table", () => {
    const rules = rulesOf({ id: "d", apps: ["x"], tools: ["echo"], action: "deny" });
    expect(action(rules, tool("x", "echo", { manifestRisk: "low" }))).toBe("deny");
    expect(action(rules, tool("x", "other", { manifestRisk: "low" }))).toBe("allow");
  });

  it("ask beats allow", () => {
    expect(action(rulesOf(allow, { id: "q", tools: ["write_*"], action: "ask" }), tool("files", "write_x"))).toBe("ask");
  });

  it("patterns are anchored over app and own tool name", () => {
    const rules = rulesOf({ id: "a", apps: ["im.polaris.qq"], tools: ["send_*"], action: "allow" });
    expect(action(rules, tool("im.polaris.qq", "send_message"))).toBe("allow");
    for (const [app, name] of [
      ["im.polaris.qq2", "send_x"],
      ["im.polaris.qq.evil", "send_x"],
      ["xim.polaris.qq", "send_x"],
      ["im.polaris.qq", "resend_x"],
      ["imxpolaris.qq", "send_x"],
    ]) {
      expect(action(rules, tool(app!, name!))).toBe("ask");
    }
  });

  it("a critical tool needs allow and risk: critical in the same rule", () => {
    const critical: PolicyRuleConfig = { id: "c", tools: ["exec"], risk: "critical" };
    expect(action(rulesOf(critical), tool("sh", "exec"))).toBe("deny");
    const short = call(rulesOf(critical, { id: "all", apps: ["sh"], action: "allow" }), tool("sh", "exec"));
    expect(short.action).toBe("deny");
    expect(short.reason).toContain("risk: critical");
    expect(action(rulesOf(critical, { id: "q", apps: ["sh"], action: "ask" }), tool("sh", "exec"))).toBe("deny");
    expect(action(rulesOf(critical, { id: "yes", apps: ["sh"], tools: ["exec"], action: "allow", risk: "critical" }), tool("sh", "exec"))).toBe("allow");
    expect(action(rulesOf({ id: "q", tools: ["exec"], action: "ask", risk: "critical" }), tool("sh", "exec"))).toBe("ask");
  });

  it("of two risks the higher counts", () => {
    expect(riskOf(rulesOf({ id: "a", tools: ["x"], risk: "low" }, { id: "b", tools: ["x*"], risk: "high" }), tool("p", "x"))).toMatchObject({
      risk: "high",
      source: expect.stringContaining("rule b"),
    });
  });

  it("clients: a rule for one caller leaves others alone", () => {
    const rules = rulesOf({ id: "r", clients: ["bot"], tools: ["x"], action: "allow" }, { id: "d", clients: ["web*"], action: "deny" });
    expect(action(rules, tool("a", "x"), {}, "bot")).toBe("allow");
    expect(action(rules, tool("a", "x"), {}, "robot")).toBe("ask");
    expect(action(rules, tool("a", "x"), {}, "web-1")).toBe("deny");
  });

  it("limits, timeout and audit of every matching rule are put together; audit never changes the action", () => {
    const rules = rulesOf(
      { id: "slow", apps: ["a"], limits: { rate: "10/min", timeout: "20s" } },
      { id: "one", tools: ["x"], limits: { concurrent: 2, timeout: "5s" }, audit: "full" },
      { id: "other", tools: ["y"], limits: { rate: "1/s" } },
    );
    const decision = call(rules, tool("a", "x", { manifestRisk: "low" }));
    expect(decision).toMatchObject({ action: "allow", audit: "full", timeoutMs: 5000 });
    expect(decision.limits).toEqual([
      { rule: "one", rate: null, concurrent: 2 },
      { rule: "slow", rate: { count: 10, perMs: 60_000 }, concurrent: null },
    ]);
  });

  it("names that objects are born with are ordinary names", () => {
    for (const name of ["__proto__", "constructor", "toString"]) {
      expect(action(rulesOf({ id: "d", tools: [name], action: "deny" }), tool(name, name))).toBe("deny");
      expect(action(rulesOf({ id: "d", args: { [name]: { present: true } }, action: "deny" }), tool("a", "x", { manifestRisk: "low" }), {})).toBe("allow");
    }
  });
});

describe("one subject, asked again", () => {
  const web = tool("web", "post", { trust: "low", manifestRisk: "low" });
  const send = tool("mail", "send", { manifestRisk: "medium" });
  const token = { text: `see ghp_${"T".repeat(36)}` };

  it("gets the answer of the policy that is asked, whichever was asked before", () => {
    const strict = policyOf({ risk_actions: { medium: { action: "deny" } } });
    const ruled = rulesOf({ id: "ask", apps: ["mail"], clients: ["bot"], action: "ask" });
    const all = [DEFAULT_POLICY, strict, ruled, DENY_ALL("none"), DEFAULT_POLICY];
    const asked = (client: string): string[] => all.map((rules) => action(rules, send, {}, client));
    for (let i = 0; i < 2; i += 1) {
      expect(asked("bot")).toEqual(["allow", "deny", "ask", "deny", "allow"]);
      expect(asked("other")).toEqual(["allow", "deny", "allow", "deny", "allow"]);
    }
  });

  it("keeps nothing of a marked session or of a token that was held back", () => {
    const high = tool("mail", "purge", { manifestRisk: "high" });
    const rules = policyOf({ risk_actions: { high: { action: "allow" } } });
    for (let i = 0; i < 2; i += 1) {
      expect(call(DEFAULT_POLICY, web, token)).toMatchObject({ action: "deny", reason: expect.stringContaining("secret-egress") });
      expect(call(DEFAULT_POLICY, web)).toMatchObject({ action: "allow", reason: expect.not.stringContaining("secret-egress") });
      expect(call(rules, high, {}, "bot", true)).toMatchObject({ action: "ask", dataFlow: true });
      expect(call(rules, high)).toMatchObject({ action: "allow", dataFlow: false, reason: expect.not.stringContaining("data_flow") });
      expect(call(DEFAULT_POLICY, high, {}, "bot", true)).toMatchObject({ action: "ask", dataFlow: false, reason: expect.stringContaining("data_flow") });
      expect(call(DEFAULT_POLICY, high)).toMatchObject({ action: "ask", reason: expect.not.stringContaining("data_flow") });
    }
  });

  it("gives nobody a decision to change for those who come after", () => {
    const decision = call(DEFAULT_POLICY, send);
    expect(() => Object.assign(decision, { action: "deny" })).toThrow(TypeError);
    expect(() => (decision.limits as unknown[]).push({})).toThrow(TypeError);
    expect(action(DEFAULT_POLICY, send)).toBe("allow");
  });
});

describe("listings", () => {
  it("a rule with arguments neither denies nor allows a listing by itself", () => {
    const high = tool("pay", "send", { manifestRisk: "high" });
    const rules = rulesOf({ id: "small", args: { amount: { max: 10 } }, action: "allow" }, { id: "huge", args: { amount: { min: 1000 } }, action: "deny" });
    expect(action(rules, high, null)).toBe("ask");
    expect(action(rules, high, { amount: 5 })).toBe("allow");
    expect(action(rules, high, { amount: 5000 })).toBe("deny");
  });

  it("a critical tool stays listed when some arguments or some client could make it callable", () => {
    const sh = tool("sh", "exec", { manifestRisk: "critical" });
    expect(action(DEFAULT_POLICY, sh, null)).toBe("deny");
    const byArgs = rulesOf({ id: "ls", tools: ["exec"], risk: "critical", action: "allow", args: { cmd: { one_of: ["ls"] } } });
    expect(action(byArgs, sh, null)).toBe("ask");
    expect(action(byArgs, sh, { cmd: "rm" })).toBe("deny");
    expect(action(byArgs, sh, { cmd: "ls" })).toBe("allow");
    const byClient = rulesOf({ id: "ops", clients: ["ops"], tools: ["exec"], risk: "critical", action: "allow" });
    expect(action(byClient, sh, null, "")).toBe("ask");
    expect(action(byClient, sh, null, "bot")).toBe("deny");
    expect(action(rulesOf({ id: "d", clients: ["*"], action: "deny" }), tool("a", "b"), null, "")).toBe("deny");
  });
});

describe("data flow", () => {
  const shell = tool("shell", "exec", { trust: "high", manifestRisk: "high" });
  const notes = tool("notes", "sum", { manifestRisk: "medium" });

  it("a marked session asks for what it could call freely before, explicit allow or not", () => {
    const rules = rulesOf({ id: "ok", apps: ["shell"], action: "allow" });
    expect(call(rules, shell, {}, "bot", false)).toMatchObject({ action: "allow", dataFlow: false });
    const marked = call(rules, shell, {}, "bot", true);
    expect(marked).toMatchObject({ action: "ask", dataFlow: true });
    expect(marked.reason).toContain("data_flow");
  });

  it("low and medium tools go on", () => {
    expect(call(DEFAULT_POLICY, notes, {}, "bot", true)).toMatchObject({ action: "allow", dataFlow: false });
  });

  it("deny, another sink risk, and off are the user's", () => {
    expect(action(policyOf({ data_flow: { action: "deny" } }), shell, {}, "bot", true)).toBe("deny");
    expect(action(policyOf({ data_flow: { sinks: { risk: "medium" } } }), notes, {}, "bot", true)).toBe("ask");
    expect(call(policyOf({ data_flow: { action: "off" }, rules: [{ id: "a", apps: ["shell"], action: "allow" }] }), shell, {}, "bot", true).action).toBe(
      "allow",
    );
  });

  it("a critical call stays denied in a marked session", () => {
    expect(action(DEFAULT_POLICY, tool("shell", "exec", { manifestRisk: "critical" }), {}, "bot", true)).toBe("deny");
  });
});

describe("faults", () => {
  it("without a loaded policy nothing is callable, and the reason says so", () => {
    const decision = call(DENY_ALL("policies/p.yaml:2:3 is not YAML"), tool("a", "read", { manifestRisk: "low" }));
    expect(decision.action).toBe("deny");
    expect(decision.reason).toContain("policies/p.yaml:2:3");
  });

  it("an error in evaluation denies", () => {
    const rules = rulesOf({ id: "a", args: { x: { equals: 1 } as never }, action: "allow" });
    const args: JsonObject = {};
    Object.defineProperty(args, "x", {
      enumerable: true,
      get: () => {
        throw new Error("boom");
      },
    });
    const decision = call(rules, tool("a", "b", { manifestRisk: "low" }), args);
    expect(decision.action).toBe("deny");
    expect(decision.reason).toContain("policy error");
  });
});

describe("tokens on their way to low trust", () => {
  const args = { text: `see ghp_${"T".repeat(36)}` };
  it("are denied, unless a rule allows the very call", () => {
    const web = tool("web", "post", { trust: "low", manifestRisk: "low" });
    expect(call(DEFAULT_POLICY, web, args)).toMatchObject({ action: "deny", reason: expect.stringContaining("secret-egress") });
    expect(action(rulesOf({ id: "ok", apps: ["web"], action: "allow" }), web, args)).toBe("allow");
    expect(action(DEFAULT_POLICY, web, { text: "plain" })).toBe("allow");
    expect(action(DEFAULT_POLICY, tool("git", "post", { trust: "high", manifestRisk: "low" }), args)).toBe("allow");
  });
});
