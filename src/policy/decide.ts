import { messageOf } from "../base/errors.ts";
import { hasSecretToken } from "../base/secret-shapes.ts";
import type { Risk } from "../tools/types.ts";
import type { CompiledRule } from "./compile-rule.ts";
import type { Verdict } from "./spellings.ts";
import { matchesAny } from "./rule-index.ts";
import { RISKS, type PolicyRules } from "./rules.ts";
import type { Action, AuditDetail, CallContext, Decision, LimitRef, Subject } from "./types.ts";

/**
 * The one decision of the kit, for lists, calls, reads, prompts, exports, gateway and library alike (contracts 5). Pure, and
 * independent of the order of rules: deny beats ask beats allow beats the risk table. `marked`: the session has heard a data-flow source.
 * With `args: null` or an empty client (a listing) it denies only what no
 * arguments and no client could make callable. Never throws: a fault in evaluation denies.
 */
export function decide(rules: PolicyRules, subject: Subject, call: CallContext, marked: boolean): Decision {
  if (rules.refusal !== null) return refusal(`no policy is loaded, so nothing may be called: ${rules.refusal}`);
  try {
    return withFlow(rules, withEgress(judge(rules, subject, call), subject, call), marked);
  } catch (error) {
    return refusal(`policy error: the policy could not be evaluated for this call (${messageOf(error)})`);
  }
}

const ANY_CALL: CallContext = { client: "", args: null };

/** The risk of a subject and where it comes from. With `call`, rules for its client and arguments count too; without, only those for all. */
export function riskOf(rules: PolicyRules, subject: Subject, call: CallContext = ANY_CALL): { readonly risk: Risk; readonly source: string } {
  const hits = rules.candidates(subject.kind, subject.app, subject.name).map((rule) => ({ rule, verdict: verdictOf(rule, call) }));
  return riskFrom(rules, subject, hits);
}

/** A rule that fits app and name, and what it says of client and arguments; null: that depends on what is not known yet. */
interface Hit {
  readonly rule: CompiledRule;
  readonly verdict: Verdict | null;
}

function judge(rules: PolicyRules, subject: Subject, call: CallContext): Decision {
  const candidates = rules.candidates(subject.kind, subject.app, subject.name);
  if (candidates.length === 0) return byTable(rules, subject);
  const hits: Hit[] = [];
  for (const rule of candidates) {
    const verdict = verdictOf(rule, call);
    if (verdict !== "no") hits.push({ rule, verdict });
  }
  return judgeHits(rules, subject, hits);
}

/** Decisions on subjects that no rule speaks of: the caller and the arguments change nothing in them. */
const tableDecisions = new WeakMap<Subject, { readonly rules: PolicyRules; readonly decision: Decision }>();

function byTable(rules: PolicyRules, subject: Subject): Decision {
  const known = tableDecisions.get(subject);
  if (known?.rules === rules) return known.decision;
  const decision = Object.freeze(judgeHits(rules, subject, []));
  tableDecisions.set(subject, { rules, decision });
  return decision;
}

function judgeHits(rules: PolicyRules, subject: Subject, hits: readonly Hit[]): Decision {
  const { risk, source } = riskFrom(rules, subject, hits);
  const row = rules.table[risk];
  const { audit, limits, timeoutMs } = obligationsOf(hits, row.audit);
  const { action, hit, note } = strictest(hits, risk, row.action);
  const rule = hit?.rule.ref ?? null;
  const reason = hit ? ruleReason(action, hit, note) : tableReason(rules, risk, source, hits);
  return { action, risk, riskSource: source, rule, reason, audit, limits, timeoutMs, dataFlow: false };
}

/** Deny beats ask beats allow beats the table; among equals the rule with the first id is named. No `hit`: the table decides. */
function strictest(hits: readonly Hit[], risk: Risk, byTable: Action): { action: Action; hit: Hit | null; note: string } {
  let ask: Hit | null = null;
  let allow: Hit | null = null;
  let perhaps: Hit | null = null;
  for (const hit of hits) {
    const { rule, verdict } = hit;
    if (verdict === null) {
      if (couldLoosen(rule, risk)) perhaps ??= hit;
      continue;
    }
    if (rule.action === "deny") return { action: "deny", hit, note: "" };
    // On a critical subject a rule loosens the table only when it says itself that it means a critical one.
    const meansIt = risk !== "critical" || rule.risk === "critical";
    if (rule.action === "ask" && (meansIt || byTable !== "deny")) ask ??= hit;
    if (rule.action === "allow" && verdict === "yes" && meansIt) allow ??= hit;
  }
  if (ask) return { action: "ask", hit: ask, note: "" };
  if (allow) return { action: "allow", hit: allow, note: "" };
  if (byTable === "deny" && perhaps) return { action: "ask", hit: perhaps, note: ", depending on caller or arguments" };
  return { action: byTable, hit: null, note: "" };
}

const NO_LIMITS: readonly LimitRef[] = Object.freeze([]);

/** What every matching rule asks for beside the action: limits, the shortest timeout, the fullest audit. */
function obligationsOf(hits: readonly Hit[], audit: AuditDetail): Pick<Decision, "audit" | "limits" | "timeoutMs"> {
  let limits: LimitRef[] | null = null;
  let timeoutMs: number | null = null;
  let detail = audit;
  for (const { rule, verdict } of hits) {
    if (verdict === null) continue;
    if (rule.limit) (limits ??= []).push(rule.limit);
    if (rule.timeoutMs !== null && (timeoutMs === null || rule.timeoutMs < timeoutMs)) timeoutMs = rule.timeoutMs;
    if (rule.audit === "full") detail = "full";
  }
  return { audit: detail, limits: limits ?? NO_LIMITS, timeoutMs };
}

/** Whether a rule whose arguments are not known yet may turn the table's denial into something else. */
function couldLoosen(rule: CompiledRule, risk: Risk): boolean {
  if (rule.risk !== null && rule.risk !== risk && rule.action !== "deny") return true;
  return rule.action !== null && rule.action !== "deny" && (risk !== "critical" || rule.risk === "critical");
}

/** The verdict of client and all matchers of a rule together: `yes` when all do, `no` when one says no, null when that is not known yet. */
function verdictOf(rule: CompiledRule, call: CallContext): Verdict | null {
  let verdict: Verdict | null = "yes";
  if (!matchesAny(rule.clients, call.client)) {
    if (call.client !== "") return "no";
    verdict = null;
  }
  if (rule.args.length === 0) return verdict;
  if (call.args === null) return null;
  for (const test of rule.args) {
    const one = test.judge(call.args);
    if (one === "no") return "no";
    if (one === "unclear" && verdict !== null) verdict = "unclear";
  }
  return verdict;
}

function riskFrom(rules: PolicyRules, subject: Subject, hits: readonly Hit[]): { readonly risk: Risk; readonly source: string } {
  let clear: CompiledRule | null = null;
  let unclear: CompiledRule | null = null;
  for (const { rule, verdict } of hits) {
    if (rule.risk === null) continue;
    if (verdict === "yes" && (clear === null || rank(rule.risk) > rank(clear.risk!))) clear = rule;
    if (verdict === "unclear" && (unclear === null || rank(rule.risk) > rank(unclear.risk!))) unclear = rule;
  }
  const base = clear ? { risk: clear.risk!, source: clear.label } : ownRisk(rules, subject);
  // A matcher that cannot be judged may raise the risk, never lower it.
  return unclear && rank(unclear.risk!) > rank(base.risk) ? { risk: unclear.risk!, source: unclear.label } : base;
}

/** Risk without any rule: trusted manifest, else the default by trust as the server's hints move it. Reading a resource or prompt changes nothing, so it is low. */
function ownRisk(rules: PolicyRules, subject: Subject): { risk: Risk; source: string } {
  if (subject.manifestRisk !== null) return { risk: subject.manifestRisk, source: "manifest" };
  if (subject.kind !== "tool") return { risk: "low", source: `default for a ${subject.kind}` };
  const byTrust = rules.defaultRisk[subject.trust];
  const source = `default for trust ${subject.trust}`;
  if (subject.destructiveHint)
    return rank(byTrust) >= rank("high") ? { risk: byTrust, source } : { risk: "high", source: `${source}, raised by the server's destructiveHint` };
  if (subject.readOnlyHint && subject.trust !== "low" && byTrust !== "low")
    return { risk: RISKS[rank(byTrust) - 1]!, source: `${source}, lowered by the server's readOnlyHint` };
  return { risk: byTrust, source };
}

const RANK: Readonly<Record<Risk, number>> = { low: 0, medium: 1, high: 2, critical: 3 };

function rank(risk: Risk): number {
  return RANK[risk];
}

const VERBS: Readonly<Record<Action, string>> = { allow: "allowed by", ask: "needs approval by", deny: "denied by" };

function ruleReason(action: Action, hit: Hit, note: string): string {
  const unclear = hit.verdict === "unclear" ? "; the arguments may be read in more than one way, and then the strict reading counts" : "";
  return `${VERBS[action]} ${hit.rule.label}${note}${hit.rule.ref.reason ? `: ${hit.rule.ref.reason}` : ""}${unclear}`;
}

function tableReason(rules: PolicyRules, risk: Risk, source: string, hits: readonly Hit[]): string {
  const action = rules.table[risk].action;
  const verb = action === "allow" ? "is allowed" : action === "ask" ? "needs approval" : "is denied";
  const table = `the risk table decides: a call of ${risk} risk (${source}) ${verb}`;
  const short = hits.find((h) => h.rule.action === "allow" && h.verdict !== null);
  if (action === "allow" || !short) return `no rule matched, so ${table}`;
  const why = short.verdict === "unclear" ? "the arguments may be read in more than one way" : "for a critical tool the same rule must also say risk: critical";
  return `${short.rule.label} does not allow it (${why}), so ${table}`;
}

/** Text in the shape of a known token does not go to an app of low trust, unless a rule allows the very call. */
function withEgress(decision: Decision, subject: Subject, call: CallContext): Decision {
  if (subject.trust !== "low" || call.args === null || decision.action === "deny") return decision;
  if (decision.action === "allow" && decision.rule !== null) return decision;
  if (!hasSecretToken(JSON.stringify(call.args))) return decision;
  return {
    ...decision,
    action: "deny",
    rule: null,
    reason:
      "secret-egress: the arguments hold what looks like an access token, and the app is of low trust; a rule with action: allow for this call would let it through",
  };
}

/** A sink call of a marked session is asked or denied, whatever allowed it. */
function withFlow(rules: PolicyRules, decision: Decision, marked: boolean): Decision {
  const { action, sinkRisk } = rules.flow;
  if (!marked || action === "off" || rank(decision.risk) < rank(sinkRisk) || decision.action === "deny") return decision;
  const why = `the session has heard a low-trust source and the call is of ${decision.risk} risk (data_flow)`;
  if (decision.action === action) return { ...decision, reason: `${decision.reason}; ${why}` };
  return { ...decision, action, dataFlow: true, reason: `${action === "deny" ? "denied" : "needs approval"}: ${why}; without that: ${decision.reason}` };
}

function refusal(reason: string): Decision {
  return { action: "deny", risk: "critical", riskSource: "no policy", rule: null, reason, audit: "full", limits: [], timeoutMs: null, dataFlow: false };
}
