import { describe, expect, it } from "vitest";
import { DIAGNOSTIC_CODES } from "../../src/base/diagnostic-codes.ts";
import { checkPolicy } from "../../src/policy/check-policy.ts";
import { decide } from "../../src/policy/decide.ts";
import { isSource, isSourceEvent } from "../../src/policy/flow.ts";
import { flowLines, flowReport } from "../../src/policy/flows.ts";
import { readFixtures, runFixtures } from "../../src/policy/policy-test.ts";
import { compilePolicy, DEFAULT_POLICY } from "../../src/policy/rules.ts";
import { suggestPolicy, suggestRisk } from "../../src/policy/suggest.ts";
import type { PolicyConfig, PolicyRuleConfig } from "../../generated/policy.d.ts";
import { loaded, policyOf, rulesOf, tool } from "./policy-of.ts";

const codes = (...files: PolicyConfig[]) => compilePolicy(files.map((f, i) => loaded(f, `p${i}.yaml`))).diagnostics.map((d) => `${d.severity} ${d.code}`);

describe("compilePolicy", () => {
  it("two rules with one id: an error with both places", () => {
    const { diagnostics, rules } = compilePolicy([
      loaded({ rules: [{ id: "a", risk: "low" }] }, "one.yaml"),
      loaded(
        {
          rules: [
            { id: "b", risk: "low" },
            { id: "a", risk: "high" },
          ],
        },
        "two.yaml",
      ),
    ]);
    expect(diagnostics).toMatchObject([
      { code: "duplicate-rule", severity: "error", place: { file: "two.yaml", line: 2 }, related: [{ place: { file: "one.yaml", line: 1 } }] },
    ]);
    expect(decide(rules, tool("a", "b", { manifestRisk: "low" }), { client: "c", args: {} }, false).action).toBe("deny");
  });

  const OTHER = { risk_actions: "approvals", default_risk: "approvals", data_flow: "approvals", approvals: "data_flow" } as const;
  it.each(["risk_actions", "default_risk", "data_flow", "approvals"] as const)("%s in a second file is an error with both places", (key) => {
    const { diagnostics } = compilePolicy([loaded({ [key]: {} }, "one.yaml"), loaded({ [OTHER[key]]: {} }, "x.yaml"), loaded({ [key]: {} }, "two.yaml")]);
    expect(diagnostics).toMatchObject([{ code: "duplicate-setting", place: { file: "two.yaml" }, related: [{ place: { file: "one.yaml" } }] }]);
  });

  it.each([
    [{ rules: [] }, "warning empty-rules"],
    [{}, "warning empty-rules"],
    [{ rules: [{ id: "a", audit: "full" }] }, "error rule-does-nothing"],
    [{ rules: [{ id: "a", limits: {} }] }, "error rule-does-nothing"],
    [{ rules: [{ id: "a", action: "deny", args: { x: { matches: "(?:a{0,1000}){0,1000}" } } }] }, "error pattern-too-large"],
    [{ rules: [{ id: "a", action: "deny", args: { x: { matches: "(?!a)b" } } }] }, "error bad-pattern"],
    [{ rules: [{ id: "a", limits: { rate: "often" } }] }, "error bad-unit"],
    [{ rules: [{ id: "a", limits: { timeout: "soon" } }] }, "error bad-unit"],
    [{ rules: [{ id: "a", action: "allow" }] }, "warning rule-too-wide"],
    [{ rules: [{ id: "a", action: "allow", apps: ["*"], tools: ["**"] }] }, "warning rule-too-wide"],
  ] as [PolicyConfig, string][])("%j: %s", (file, finding) => {
    expect(codes(file)).toEqual([finding]);
    expect(Object.keys(DIAGNOSTIC_CODES)).toContain(finding.split(" ")[1]);
  });

  it.each([
    ["(a", "give each ( its )"],
    ["a)", "give each ( its )"],
    ["[a", "close the [ with ]"],
    ["*.txt", "into glob"],
    ["a**", "repetitions"],
    ["[z-a]", "lower end"],
    ["(a)\\1", "no back-references"],
    ["a(?=b)c", "no lookaround"],
    ["a{2000}", "make the counts"],
    ["(", "give each ( its )"],
  ])("the pattern %s is told with how to mend it", (matches, help) => {
    expect(compilePolicy([loaded({ rules: [{ id: "a", action: "deny", args: { x: { matches } } }] }, "p.yaml")]).diagnostics).toMatchObject([
      { severity: "error", help: [expect.stringContaining(help)] },
    ]);
  });

  it("is quiet about what is right", () => {
    expect(
      codes(
        {
          rules: [
            { id: "a", action: "deny" },
            { id: "b", apps: ["x"], action: "allow" },
            { id: "c", limits: { rate: "10/min" } },
          ],
        },
        { approvals: { expires: "5m" } },
      ),
    ).toEqual([]);
  });

  it("no files are the defaults, frozen, with a revision of their own", () => {
    const { rules } = compilePolicy([]);
    expect(rules.revision).toBe(DEFAULT_POLICY.revision);
    expect(Object.isFrozen(rules)).toBe(true);
    expect(rules.approvals).toEqual({ expiresMs: 600_000, waitMs: 25_000, fourEyes: false, elicitation: false });
    expect(rulesOf({ id: "a", risk: "low" }).revision).not.toBe(rulesOf({ id: "a", risk: "high" }).revision);
  });
});

describe("checkPolicy", () => {
  const known = [
    { app: "cache", name: "read", kind: "tool" },
    { app: "cache", name: "write_entry", kind: "tool" },
    { app: "sh", name: "exec", kind: "tool" },
  ] as const;
  const check = (rules: ReturnType<typeof rulesOf>, apps?: string[]) => checkPolicy(rules, known, apps);

  it("a pattern that matches nothing is a warning with near names", () => {
    expect(check(rulesOf({ id: "a", apps: ["cahce"], action: "allow" }))).toMatchObject([
      { code: "rule-matches-nothing", severity: "warning", help: ['did you mean "cache"?'] },
    ]);
    expect(check(rulesOf({ id: "a", tools: ["raed"], action: "allow" }))).toMatchObject([{ code: "rule-matches-nothing", help: ['did you mean "read"?'] }]);
    expect(check(rulesOf({ id: "a", tools: ["wirte_*"], action: "allow" }))[0]?.help).toEqual(['did you mean "write_entry"?']);
    expect(check(rulesOf({ id: "a", tools: ["purge_*"], action: "allow" }))[0]?.help?.[0]).toContain("patterns are matched");
    expect(check(rulesOf({ id: "a", tools: ["cache.read"], action: "allow" }))[0]?.help?.[0]).toContain("bare name");
    expect(check(rulesOf({ id: "a", apps: ["sh"], tools: ["write_*"], action: "allow" }))[0]?.help?.[0]).toContain('"cache" has such a tool');
  });

  describe("an argument that nothing has which a rule matches", () => {
    const schema = {
      type: "object",
      properties: {
        channel: { type: "string" },
        to: { type: "array", items: { $ref: "#/$defs/person" } },
        meta: { type: "object" },
        "a.b": { type: "string" },
        free: { type: "object", additionalProperties: true, properties: { x: {} } },
      },
      anyOf: [{ properties: { text: {} } }, { $ref: "#/$defs/media" }],
      $defs: { person: { properties: { name: {}, boss: { $ref: "#/$defs/person" } } }, media: { allOf: [{ properties: { image: {} } }] } },
    };
    const argument = (path: string, more: object = {}, subjects: object[] = [{ app: "chat", name: "send", kind: "tool", schema }]) =>
      checkPolicy(rulesOf({ id: "a", tools: ["send"], args: { [path]: { glob: "x" } }, action: "allow", ...more }), subjects as never, ["chat"]);

    it.each(["channel", "to.name", "to.boss.boss.name", "meta.any", "a.b", "free.any", "text", "image"])("%s is there", (path) => {
      expect(argument(path)).toEqual([]);
    });

    it.each([
      ["chanel", "channel"],
      ["to.nmae", "to.name"],
      ["to.boss.nam", "to.boss.name"],
      ["imgae", "image"],
    ])("%s is a warning that names %s", (path, near) => {
      expect(argument(path)).toMatchObject([{ code: "rule-matches-nothing", severity: "warning", help: [expect.stringContaining(`"${near}"`)] }]);
    });

    it("nothing is said where another tool may have it, or what there is is not known", () => {
      const of = (...schemas: unknown[]) =>
        schemas.map((one, i) => ({ app: "chat", name: "send", kind: "tool", n: i, ...(one === null ? {} : { schema: one }) }));
      expect(argument("chanel", {}, of(schema, { properties: { chanel: {} } }))).toEqual([]);
      for (const open of [
        {},
        { type: "object" },
        { properties: { a: {} }, additionalProperties: {} },
        { properties: { a: {} }, allOf: [{ $ref: "other.json" }] },
        null,
      ])
        expect(argument("chanel", {}, of(schema, open)), JSON.stringify(open)).toEqual([]);
      expect(argument("uri", { tools: undefined })).toEqual([]);
      expect(argument("x", {}, of({ type: "object", additionalProperties: false }))).toMatchObject([{ help: ["nothing there takes arguments"] }]);
      expect(checkPolicy(rulesOf({ id: "a", tools: ["send"], args: { x: { glob: "1" } }, action: "deny" }), of(schema) as never, ["chat", "silent"])).toEqual(
        [],
      );
    });
  });

  it("takes time in proportion to the rules, not to rules times tools", () => {
    const many = Array.from({ length: 20_000 }, (_, i) => ({ app: `app${Math.floor(i / 10)}`, name: `tool_${i}`, kind: "tool" as const }));
    const rules = rulesOf(
      ...Array.from({ length: 2000 }, (_, i): PolicyRuleConfig => ({
        id: `r${i}`,
        apps: [`app${i}`],
        tools: i % 2 === 0 ? [`tool_${i}*`] : ["nothing_like_it"],
        action: "ask",
      })),
    );
    const start = performance.now();
    const found = checkPolicy(rules, many);
    // Half a second alone, many times that on a busy machine; every rule with every tool would take minutes.
    expect(performance.now() - start).toBeLessThan(30_000);
    expect(found.filter((f) => f.code === "rule-matches-nothing").map((f) => f.path)).toContain("rules[1].tools[0]");
  }, 60_000);

  it("rules that name a package and rules with patterns are found together, in the order of ids", () => {
    const rules = rulesOf(
      { id: "c", apps: ["sh"], action: "ask" },
      { id: "a", apps: ["*"], tools: ["exec"], action: "ask" },
      { id: "d", action: "ask" },
      { id: "b", apps: ["cache", "sh", "sh"], action: "ask" },
      { id: "e", apps: ["cache"], action: "ask" },
      { id: "f", apps: ["sh", "c*", "ca*"], action: "ask" },
    );
    expect(rules.candidates("tool", "sh", "exec").map((r) => r.ref.id)).toEqual(["a", "b", "c", "d", "f"]);
    expect(rules.candidates("tool", "cache", "read").map((r) => r.ref.id)).toEqual(["b", "d", "e", "f"]);
    expect(rules.candidates("tool", "clock", "read").map((r) => r.ref.id)).toEqual(["d", "f"]);
  });

  it("each pattern is looked at by itself", () => {
    expect(check(rulesOf({ id: "a", apps: ["cache", "shh"], tools: ["read", "writ_*"], action: "ask" }))).toMatchObject([
      { path: "rules[0].apps[1]", help: ['did you mean "sh"?'] },
      { path: "rules[0].tools[1]", message: expect.stringContaining('of "cache"') },
    ]);
  });

  it("matching rules, open-ended ones and apps that are down give no warning", () => {
    expect(
      check(
        rulesOf(
          { id: "a", apps: ["cach?"], tools: ["write_*"], action: "allow" },
          { id: "b", resources: ["repo://*"], action: "deny" },
          { id: "c", apps: ["sh"], action: "ask" },
        ),
      ),
    ).toEqual([]);
    expect(check(rulesOf({ id: "a", apps: ["down"], tools: ["x"], action: "allow" }), ["down"])).toEqual([]);
  });

  it("a rule that a stricter one covers is shadowed; one with a narrower client is not", () => {
    const deny: PolicyRuleConfig = { id: "d", apps: ["cache"], action: "deny" };
    expect(check(rulesOf({ id: "a", apps: ["cache"], tools: ["read"], action: "allow" }, deny))).toMatchObject([
      { code: "shadowed-rule", message: expect.stringContaining("rule d") },
    ]);
    expect(check(rulesOf({ id: "a", tools: ["*"], action: "ask" }, deny))).toEqual([]);
    expect(check(rulesOf({ id: "a", apps: ["cache"], action: "allow" }, { ...deny, clients: ["bot"] }))).toEqual([]);
  });

  it("a rule is called shadowed only when it is so for certain", () => {
    const wide: PolicyRuleConfig = { id: "wide", tools: ["*"], action: "allow" };
    const read: PolicyRuleConfig = { id: "narrow", tools: ["read"], action: "ask" };
    const only = (rules: PolicyRuleConfig[], apps: string[]): string[] =>
      checkPolicy(rulesOf(...rules), [known[0]], apps)
        .filter((found) => found.code === "shadowed-rule")
        .map((found) => found.path!);
    expect(only([wide, read], ["cache"])).toEqual(["rules[0]"]);
    // What another app shows is not known yet; nor is what else there may be but tools.
    expect(only([wide, read], ["cache", "later"])).toEqual([]);
    expect(only([{ id: "wide", apps: ["cache"], action: "allow" }, read], ["cache"])).toEqual([]);
    expect(only([wide, { id: "all", action: "deny" }], ["cache", "later"])).toEqual(["rules[0]"]);
    expect(
      only(
        [
          { ...wide, apps: ["*"] },
          { id: "all", apps: ["cache"], action: "deny" },
        ],
        ["cache", "later"],
      ),
    ).toEqual([]);
  });

  it("a client that nobody has is a warning, where clients are configured", () => {
    const rules = rulesOf({ id: "a", apps: ["cache"], clients: ["buot", "bot", "cli", "b*", "nobody"], action: "allow" });
    expect(checkPolicy(rules, known, [], [])).toEqual([]);
    expect(checkPolicy(rules, known, [], ["bot"])).toMatchObject([
      { code: "rule-matches-nothing", path: "rules[0].clients[0]", help: ['did you mean "bot"?'] },
      { code: "rule-matches-nothing", path: "rules[0].clients[4]", help: [expect.stringContaining('"bot", "caller"')] },
    ]);
  });

  it("two risks for one tool, and an allow that a critical tool ignores", () => {
    expect(check(rulesOf({ id: "a", tools: ["read"], risk: "low" }, { id: "b", tools: ["re*"], risk: "high" }))).toMatchObject([
      { code: "risk-conflict", related: [{ message: "low here" }] },
    ]);
    expect(check(rulesOf({ id: "a", tools: ["exec"], risk: "critical" }, { id: "b", apps: ["sh"], action: "allow" }))).toMatchObject([
      { code: "critical-needs-risk", message: expect.stringContaining('"b"') },
    ]);
  });
});

describe("policy test", () => {
  const rules = rulesOf({ id: "small", tools: ["pay"], args: { amount: { max: 100 } }, action: "allow" });
  const subjects = (name: string) => (name === "bank.pay" ? tool("bank", "pay", { manifestRisk: "high" }) : `no tool is called ${name}`);

  it("runs fixtures and says what differs", () => {
    const { fixtures, faults } = readFixtures([
      { tool: "bank.pay", args: { amount: 5 }, expect: { action: "allow", rule: "small", risk: "high" } },
      { tool: "bank.pay", args: { amount: 5 }, session: "marked", expect: "ask" },
      { tool: "bank.pay", args: { amount: 5000 }, expect: "allow" },
      { tool: "bank.pya", expect: "deny" },
    ]);
    expect(faults).toEqual([]);
    const results = runFixtures(rules, fixtures, subjects).map((r) => r.problem);
    expect(results.slice(0, 2)).toEqual([null, null]);
    expect(results[2]).toMatch(/expected allow, but it is ask/);
    expect(results[3]).toBe("no tool is called bank.pya");
  });

  it("a faulty fixture is told, not skipped", () => {
    expect(readFixtures("x").faults).toHaveLength(1);
    expect(
      readFixtures([
        { tool: "a", expect: "perhaps" },
        { tol: "a", expect: "deny" },
        { tool: "a", expect: { action: "ask", rul: "x" }, session: "dirty" },
      ]).faults,
    ).toEqual([
      "fixture 1: expect needs an action: allow, ask or deny",
      expect.stringContaining('fixture 2: unknown key "tol"'),
      expect.stringContaining("fixture 2: tool is missing"),
      expect.stringContaining("fixture 3: session"),
      expect.stringContaining('fixture 3: unknown key "rul" in expect'),
    ]);
  });
});

describe("policy suggest", () => {
  it.each([
    ["send_message", "high"],
    ["deleteFile", "high"],
    ["run_shell", "critical"],
    ["write_diary", "medium"],
    ["list-issues", "low"],
  ])("%s: %s", (name, risk) => {
    expect(suggestRisk({ app: "a", tool: name, trust: "medium", description: null, readOnly: null, destructive: false })?.risk).toBe(risk);
  });

  it("hints count, but never lower an app of low trust", () => {
    const base = { app: "a", tool: "frobnicate", trust: "low" as const, description: null, readOnly: true, destructive: false };
    expect(suggestRisk(base)).toBeNull();
    expect(suggestRisk({ ...base, trust: "high" })?.risk).toBe("low");
    expect(suggestRisk({ ...base, tool: "get_x", destructive: true })?.risk).toBe("high");
  });

  it("a server that says its tool writes is believed over the tool's name", () => {
    const base = { app: "a", tool: "run_query", trust: "medium" as const, description: null, readOnly: false, destructive: false };
    expect(suggestRisk(base)).toEqual({ risk: "medium", why: 'the name says "query", but the server says that it writes' });
    expect(suggestRisk({ ...base, readOnly: null })?.risk).toBe("low");
    expect(suggestRisk({ ...base, tool: "send_query" })?.risk).toBe("high");
    expect(suggestRisk({ ...base, tool: "frobnicate" })?.risk).toBe("medium");
    expect(suggestRisk({ ...base, tool: "frobnicate", trust: "low" })).toBeNull();
  });

  it("drafts one rule an app and risk, never an allow, the same text for any order", () => {
    const inputs = ["send_message", "get_weather", "frob"].map((t) => ({
      app: "im.polaris.qq",
      tool: t,
      trust: "medium" as const,
      description: null,
      readOnly: null,
      destructive: false,
    }));
    const text = suggestPolicy(inputs);
    expect(text).toBe(suggestPolicy([...inputs].reverse()));
    expect(text).not.toContain("allow");
    expect(text).toContain('apps: ["im.polaris.qq"]');
    expect(text).toContain("#   im.polaris.qq/frob");
  });
});

describe("flows", () => {
  const subjects = [
    tool("web", "get", { trust: "low", manifestRisk: "low" }),
    tool("shell", "exec", { trust: "high", manifestRisk: "critical" }),
    tool("qq", "send", { manifestRisk: "high" }),
    tool("notes", "sum", { manifestRisk: "medium" }),
  ];

  it("names sources, sinks and what a marked session gets", () => {
    const report = flowReport(rulesOf({ id: "a", apps: ["qq"], action: "allow" }), subjects);
    expect(report.sources.map((s) => s.name)).toEqual(["im.polaris.qq/message.received", "web/get"]);
    expect(report.sinks).toMatchObject([
      { name: "qq/send", clean: "allow", marked: "ask" },
      { name: "shell/exec", clean: "deny", marked: "deny" },
    ]);
    expect(report.paths).toEqual({ open: 0, asked: 2, denied: 2 });
    expect(flowLines(report).join("\n")).toContain("2 asked");
  });

  it("shows open paths when the rule is off", () => {
    const report = flowReport(policyOf({ data_flow: { action: "off" }, rules: [{ id: "a", apps: ["qq"], action: "allow" }] }), subjects);
    expect(report.paths.open).toBe(2);
  });

  it("sources by trust, by tool and by event", () => {
    const { flow } = policyOf({ data_flow: { sources: { trust: "none", tools: ["notes/*", "wiki"], events: ["qq/*"] } } });
    expect(isSource(flow, { app: "web", name: "get", trust: "low" })).toBe(false);
    expect(isSource(flow, { app: "notes", name: "sum", trust: "high" })).toBe(true);
    expect(isSource(flow, { app: "wiki", name: "page", trust: "high" })).toBe(true);
    expect(isSource(flow, { app: "notes2", name: "sum", trust: "high" })).toBe(false);
    expect(isSourceEvent(flow, { app: "qq", type: "message.received", trust: "high" })).toBe(true);
    expect(isSourceEvent(DEFAULT_POLICY.flow, { app: "im.polaris.qq", type: "message.received", trust: "high" })).toBe(true);
    expect(isSource(policyOf({ data_flow: { sources: { trust: "medium" } } }).flow, { app: "a", name: "b", trust: "medium" })).toBe(true);
  });
});
