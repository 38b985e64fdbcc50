import fc from "fast-check";
import "../support/explore.ts";
import { describe, expect, it } from "vitest";
import type { Json } from "../../src/base/json.ts";
import { decide } from "../../src/policy/decide.ts";
import { compilePolicy } from "../../src/policy/rules.ts";
import type { Action } from "../../src/policy/types.ts";
import type { PolicyConfig, PolicyRuleConfig } from "../../generated/policy.d.ts";
import { loaded, policyOf, rulesOf, tool } from "./policy-of.ts";

const APPS = ["im.polaris.qq", "im.polaris.qq2", "files", "web"];
const TOOLS = ["send", "send_message", "delete", "read"];
const RISKS = ["low", "medium", "high", "critical"] as const;

const pick = <T>(...items: T[]) => fc.constantFrom(...items);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const globs = (names: string[]) => maybe(fc.array(pick(...names, "*", "send*", "im.polaris.*", "?iles", "*e*"), { minLength: 1, maxLength: 2 }));
const matcher = fc.oneof(
  fc.record({ glob: pick("a*", "*/secret/*", "**/x", "*") }),
  fc.record({ max: fc.integer({ min: 0, max: 5 }) }),
  fc.record({ under: pick("/data", "docs") }),
  fc.record({ equals: pick<Json>("a", 1, true) as fc.Arbitrary<never> }),
  fc.record({ present: fc.boolean() }),
);
const action = pick<Action>("allow", "ask", "deny");

/** A rule without undefined members, as a parsed file has none. */
const rule = (id: string): fc.Arbitrary<PolicyRuleConfig> =>
  fc
    .record({
      apps: globs(APPS),
      tools: globs(TOOLS),
      action: maybe(action),
      risk: maybe(pick(...RISKS)),
      clients: globs(["bot", "web"]),
      audit: maybe(pick("summary", "full")),
      args: maybe(fc.dictionary(pick("x", "y.z"), matcher, { minKeys: 1, maxKeys: 2 })),
    })
    .map((r) => JSON.parse(JSON.stringify({ id, limits: { rate: "5/min" }, ...r })) as PolicyRuleConfig);
const ruleList = fc.integer({ min: 0, max: 6 }).chain((n) => fc.tuple(...Array.from({ length: n }, (_, i) => rule(`r${i}`))));
const value = fc.oneof(
  pick("a", "/data/x", "/data/../secret/k", "docs/./y", "％41", "ab"),
  fc.integer({ min: -1, max: 9 }),
  fc.boolean(),
  fc.constant(null),
  fc.array(pick<Json>("a", "/x", 3), { maxLength: 3 }),
);
const args = fc.dictionary(pick("x", "y", "y.z"), fc.oneof(value, fc.record({ z: value })), { maxKeys: 3 }).map((a) => JSON.parse(JSON.stringify(a)));
const subject = fc
  .record({
    app: pick(...APPS),
    name: pick(...TOOLS),
    trust: pick("high", "medium", "low"),
    manifestRisk: pick(null, ...RISKS),
    readOnlyHint: fc.boolean(),
    destructiveHint: fc.boolean(),
  })
  .map((s) => tool(s.app, s.name, s as never));
const call = fc.record({ client: pick("bot", "web", "cli"), args });
const RANK: Record<Action, number> = { allow: 0, ask: 1, deny: 2 };

describe("decide", () => {
  it("never allows what a deny rule matches, whatever else is there", () => {
    fc.assert(
      fc.property(ruleList, subject, call, fc.boolean(), (rules, s, c, marked) => {
        const deny: PolicyRuleConfig = { id: "deny", apps: [s.app], tools: [s.name], action: "deny" };
        expect(decide(rulesOf(...rules, deny), s, c, marked)).toMatchObject({ action: "deny" });
      }),
    );
  });

  it("an added allow rule never makes a call allowed that a deny rule matches", () => {
    fc.assert(
      fc.property(ruleList, rule("extra"), subject, call, (rules, extra, s, c) => {
        const before = decide(rulesOf(...rules), s, c, false);
        if (before.action !== "deny" || before.rule === null) return;
        expect(decide(rulesOf(...rules, { ...extra, action: "allow" }), s, c, false).action).toBe("deny");
      }),
    );
  });

  it("audit never changes a decision", () => {
    fc.assert(
      fc.property(ruleList, subject, call, fc.boolean(), (rules, s, c, marked) => {
        const full = rules.map((r) => ({ ...r, audit: "full" as const }));
        const none = rules.map(({ audit: _audit, ...r }) => r);
        const { audit: _a, ...left } = decide(rulesOf(...full), s, c, marked);
        const { audit: _b, ...right } = decide(rulesOf(...none), s, c, marked);
        expect(left).toEqual(right);
      }),
    );
  });

  it("a rule on one package never touches another whose name begins like it", () => {
    fc.assert(
      fc.property(rule("only"), subject, call, fc.string({ minLength: 1, maxLength: 3, unit: pick("a", ".", "2", "-", "_") }), (only, s, c, tail) => {
        const other = { ...s, app: `${s.app}${tail}` };
        const one = rulesOf({ ...only, apps: [s.app] });
        expect(decide(one, other, c, false)).toEqual(decide(rulesOf(), other, c, false));
      }),
    );
  });

  it("order of rules and files changes nothing", () => {
    fc.assert(
      fc.property(
        ruleList.chain((r) => fc.tuple(fc.constant(r), fc.shuffledSubarray(r, { minLength: r.length }), fc.nat(r.length))),
        subject,
        call,
        fc.boolean(),
        ([rules, shuffled, cut], s, c, marked) => {
          const one = policyOf({ rules });
          const two = compilePolicy([loaded({ rules: shuffled.slice(0, cut) }), loaded({ rules: shuffled.slice(cut) })]).rules;
          const strip = ({ rule: r, reason: _reason, riskSource: _source, ...rest }: ReturnType<typeof decide>) => ({ ...rest, rule: r?.id ?? null });
          expect(strip(decide(one, s, c, marked))).toEqual(strip(decide(two, s, c, marked)));
          expect(one.revision).toBe(two.revision);
        },
      ),
    );
  });

  it("a mark only ever makes a decision stricter", () => {
    fc.assert(
      fc.property(ruleList, subject, call, pick("ask", "deny", "off"), (rules, s, c, flow) => {
        const policy: PolicyConfig = { rules, data_flow: { action: flow as "ask" } };
        expect(RANK[decide(policyOf(policy), s, c, true).action]).toBeGreaterThanOrEqual(RANK[decide(policyOf(policy), s, c, false).action]);
      }),
    );
  });

  it("what a listing denies no call may do", () => {
    fc.assert(
      fc.property(ruleList, subject, call, (rules, s, c) => {
        const policy = rulesOf(...rules);
        if (decide(policy, s, { client: c.client, args: null }, false).action === "deny") expect(decide(policy, s, c, false).action).toBe("deny");
        if (decide(policy, s, { client: "", args: null }, false).action === "deny") expect(decide(policy, s, c, false).action).toBe("deny");
      }),
    );
  });

  it("is quick with 1,000 rules and 10,000 known tools", () => {
    const rules = rulesOf(
      ...Array.from({ length: 1000 }, (_, i): PolicyRuleConfig =>
        i % 3 === 0
          ? { id: `r${i}`, apps: [`app${i % 100}`], tools: [`tool_${i}*`], action: "allow" }
          : i % 3 === 1
            ? { id: `r${i}`, tools: [`t?ol_${i}_*`], action: "ask" }
            : { id: `r${i}`, apps: [`app${i % 100}`], args: { path: { under: "/data" } }, risk: "medium", limits: { rate: "10/min" } },
      ),
    );
    const subjects = Array.from({ length: 10_000 }, (_, i) => tool(`app${i % 100}`, `tool_${i}`));
    const context = { client: "bot", args: { path: "/data/x" } };
    for (const s of subjects) decide(rules, s, context, false);
    const start = performance.now();
    for (const s of subjects) decide(rules, s, context, false);
    // The goal is 5 µs on a quiet machine, measured by the benchmark; here only a lost index should show.
    const each = ((performance.now() - start) * 1000) / subjects.length;
    expect(each).toBeLessThan(200);
  });
});
