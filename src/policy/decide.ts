import { messageOf } from "../base/errors.ts";
import type { Risk } from "../tools/types.ts";
import type { CompiledRule } from "./compile-rule.ts";
import type { Verdict } from "./spellings.ts";
import { matchesAny } from "./rule-index.ts";
import { RISKS, type PolicyRules } from "./rules.ts";
import type { Action, CallContext, Decision, LimitRef, Subject } from "./types.ts";

/**
 * The one decision of the kit, for lists, calls, reads, prompts, exports, gateway and library alike (contracts 5). Pure, and
 * independent of the order of rules: deny beats ask beats allow beats the risk table. `marked`: the session has heard a data-flow source.
 * With `args: null` or an empty client (a listing) it denies only what no
 * arguments and no client could make callable. Never throws: a fault in evaluation denies.
 */
export function decide(rules: PolicyRules, subject: Subject, call: CallContext, marked: boolean): Decision {
  if (rules.refusal !== null) return refusal(`no policy is loaded, so nothing may be called: ${rules.refusal}`);
  try {
    return withFlow(rules, judge(rules, subject, call), marked);
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
  const hits: Hit[] = [];
  for (const rule of rules.candidates(subject.kind, subject.app, subject.name)) {
    const verdict = verdictOf(rule, call);
    if (verdict !== "no") hits.push({ rule, verdict });
  }
  const { risk, source } = riskFrom(rules, subject, hits);
  const row = rules.table[risk];
  const restricting = hits.filter((h) => h.verdict !== null).map((h) => h.rule);
  const base = {
    risk,
    riskSource: source,
    audit: row.audit === "full" || restricting.some((r) => r.audit === "full") ? ("full" as const) : ("summary" as const),
    limits: restricting.flatMap((r): LimitRef[] => (r.limit ? [r.limit] : [])),
    timeoutMs: restricting.reduce<number | null>((least, r) => (r.timeoutMs !== null && (least === null || r.timeoutMs < least) ? r.timeoutMs : least), null),
    dataFlow: false,
  };
  const by = (action: Action, hit: Hit, note = ""): Decision => ({ ...base, action, rule: hit.rule.ref, reason: ruleReason(action, hit, note) });

  const deny = hits.find((h) => h.rule.action === "deny" && h.verdict !== null);
  if (deny) return by("deny", deny);
  // On a critical subject a rule loosens the table only when it says itself that it means a critical one.
  const meansIt = (r: CompiledRule): boolean => risk !== "critical" || r.risk === "critical";
  const ask = hits.find((h) => h.rule.action === "ask" && h.verdict !== null && (meansIt(h.rule) || row.action !== "deny"));
  if (ask) return by("ask", ask);
  const allow = hits.find((h) => h.rule.action === "allow" && h.verdict === "yes" && meansIt(h.rule));
  if (allow) return by("allow", allow);
  if (row.action === "deny") {
    const perhaps = hits.find((h) => h.verdict === null && couldLoosen(h.rule, risk));
    if (perhaps) return by("ask", perhaps, ", depending on caller or arguments");
  }
  return { ...base, action: row.action, rule: null, reason: tableReason(rules, risk, source, hits) };
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

function riskFrom(rules: PolicyRules, subject: Subject, hits: readonly Hit[]): { risk: Risk; source: string } {
  const clear = highest(hits.filter((h) => h.verdict === "yes"));
  const base = clear ?? ownRisk(rules, subject);
  // A matcher that cannot be judged may raise the risk, never lower it.
  const unclear = highest(hits.filter((h) => h.verdict === "unclear"));
  return unclear && rank(unclear.risk) > rank(base.risk) ? unclear : base;
}

function highest(hits: readonly Hit[]): { risk: Risk; source: string } | null {
  let found: CompiledRule | null = null;
  for (const { rule } of hits) {
    if (rule.risk !== null && (found === null || rank(rule.risk) > rank(found.risk!))) found = rule;
  }
  return found ? { risk: found.risk!, source: found.label } : null;
}

/** Risk without any rule: trusted manifest, else the default by trust as the server's hints move it. Reading a resource or prompt changes nothing, so it is low. */
function ownRisk(rules: PolicyRules, subject: Subject): { risk: Risk; source: string } {
  if (subject.manifestRisk !== null) return { risk: subject.manifestRisk, source: "manifest" };
  if (subject.kind !== "tool") return { risk: "low", source: `default for a ${subject.kind}` };
  const byTrust = rules.defaultRisk[subject.trust];
  const source = `default for trust ${subject.trust}`;
  if (subject.destructiveHint) return rank(byTrust) >= rank("high") ? { risk: byTrust, source } : { risk: "high", source: `${source}, raised by the server's destructiveHint` };
  if (subject.readOnlyHint && subject.trust !== "low" && byTrust !== "low") return { risk: RISKS[rank(byTrust) - 1]!, source: `${source}, lowered by the server's readOnlyHint` };
  return { risk: byTrust, source };
}

function rank(risk: Risk): number {
  return RISKS.indexOf(risk);
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
