import { isObject, type JsonObject } from "../base/json.ts";
import type { Risk } from "../tools/types.ts";
import { decide } from "./decide.ts";
import { RISKS, type PolicyRules } from "./rules.ts";
import type { Action, Decision, Subject } from "./types.ts";

/** One expectation of `aurora-mcp policy test`: what a call should be answered with. */
export interface PolicyFixture {
  readonly tool: string;
  readonly args: JsonObject;
  readonly client: string;
  /** `marked`: the session has heard a data-flow source. */
  readonly session: "clean" | "marked";
  readonly expect: { readonly action: Action; readonly rule?: string; readonly risk?: Risk };
}

/** How one fixture came out. `problem` says in words what differs; null when it is as expected. */
export interface FixtureResult {
  readonly fixture: PolicyFixture;
  readonly decision: Decision | null;
  readonly problem: string | null;
}

const KEYS = ["tool", "args", "client", "session", "expect"];
const EXPECT_KEYS = ["action", "rule", "risk"];
const ACTIONS = ["allow", "ask", "deny"];

/**
 * Reads fixtures from a parsed file: a list, or a map with `fixtures`. `expect` is an action, or a map of action, rule and risk.
 * Gives the faults in words instead when there are any; `where` names a fixture in them, by its index, or the file with null.
 */
export function readFixtures(
  value: unknown,
  where: (index: number | null) => string = (index) => (index === null ? "the file" : `fixture ${index + 1}`),
): { readonly fixtures: readonly PolicyFixture[]; readonly faults: readonly string[] } {
  const list = isObject(value) && Array.isArray(value["fixtures"]) ? value["fixtures"] : value;
  if (!Array.isArray(list)) return { fixtures: [], faults: [`${where(null)}: a fixture file is a list of { tool, args, session, expect }`] };
  const faults: string[] = [];
  const fixtures: PolicyFixture[] = [];
  for (const [i, item] of list.entries()) {
    const problems = isObject(item) ? faultsOf(item) : ["it is not a map"];
    if (problems.length > 0) faults.push(...problems.map((p) => `${where(i)}: ${p}`));
    else fixtures.push(toFixture(item as Record<string, unknown>));
  }
  return { fixtures: faults.length > 0 ? [] : fixtures, faults };
}

function faultsOf(item: Record<string, unknown>): string[] {
  const out = Object.keys(item)
    .filter((k) => !KEYS.includes(k))
    .map((k) => `unknown key "${k}" (known: ${KEYS.join(", ")})`);
  if (typeof item["tool"] !== "string") out.push("tool is missing: a full, short or bare tool name");
  if (item["args"] !== undefined && !isObject(item["args"])) out.push("args is not a map");
  if (item["client"] !== undefined && typeof item["client"] !== "string") out.push("client is not a text");
  if (item["session"] !== undefined && item["session"] !== "clean" && item["session"] !== "marked") out.push("session is clean or marked");
  const expect = typeof item["expect"] === "string" ? { action: item["expect"] } : item["expect"];
  if (!isObject(expect)) return [...out, "expect is missing: allow, ask, deny, or a map of action, rule and risk"];
  out.push(
    ...Object.keys(expect)
      .filter((k) => !EXPECT_KEYS.includes(k))
      .map((k) => `unknown key "${k}" in expect (known: ${EXPECT_KEYS.join(", ")})`),
  );
  if (!ACTIONS.includes(expect["action"] as string)) out.push("expect needs an action: allow, ask or deny");
  if (expect["rule"] !== undefined && typeof expect["rule"] !== "string") out.push("expect.rule is not a rule id");
  if (expect["risk"] !== undefined && !RISKS.includes(expect["risk"] as Risk)) out.push(`expect.risk is one of ${RISKS.join(", ")}`);
  return out;
}

function toFixture(item: Record<string, unknown>): PolicyFixture {
  const expect = item["expect"];
  return {
    tool: item["tool"] as string,
    args: (item["args"] ?? {}) as JsonObject,
    client: (item["client"] ?? "cli") as string,
    session: (item["session"] ?? "clean") as "clean" | "marked",
    expect: typeof expect === "string" ? { action: expect as Action } : (expect as PolicyFixture["expect"]),
  };
}

/** Runs fixtures against a policy, offline. `resolve` gives the subject of a tool name, or why it has none. */
export function runFixtures(rules: PolicyRules, fixtures: readonly PolicyFixture[], resolve: (tool: string) => Subject | string): FixtureResult[] {
  return fixtures.map((fixture) => {
    const subject = resolve(fixture.tool);
    if (typeof subject === "string") return { fixture, decision: null, problem: subject };
    const decision = decide(rules, subject, { client: fixture.client, args: fixture.args }, fixture.session === "marked");
    const { expect } = fixture;
    const problems: string[] = [];
    if (decision.action !== expect.action) problems.push(`expected ${expect.action}, but it is ${decision.action} (${decision.reason})`);
    if (expect.rule !== undefined && decision.rule?.id !== expect.rule)
      problems.push(`expected rule ${expect.rule} to decide, but ${decision.rule ? `rule ${decision.rule.id} does` : "no rule does"}`);
    if (expect.risk !== undefined && decision.risk !== expect.risk)
      problems.push(`expected risk ${expect.risk}, but it is ${decision.risk} (${decision.riskSource})`);
    return { fixture, decision, problem: problems.length > 0 ? problems.join("; ") : null };
  });
}
