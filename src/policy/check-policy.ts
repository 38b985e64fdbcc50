import { warningAt, type DiagnosticCode } from "../base/diagnostic-codes.ts";
import type { Diagnostic } from "../base/diagnostics.ts";
import { nearest } from "../base/text.ts";
import type { CompiledRule } from "./compile-rule.ts";
import { matchesAny } from "./rule-index.ts";
import type { PolicyRules } from "./rules.ts";
import type { Action, Subject } from "./types.ts";

/** One thing that servers show, or that a manifest announces. */
export interface KnownSubject {
  readonly app: string;
  readonly name: string;
  readonly kind: Subject["kind"];
}

/**
 * Warnings about rules against what is known: rules that match nothing, rules that others always overrule, two risks for one
 * tool, and allow rules that a critical tool ignores. `apps` are all configured packages: of one that shows nothing yet, the
 * tools are taken as unknown and not as missing. Resource URIs are open-ended and not checked.
 */
export function checkPolicy(rules: PolicyRules, known: readonly KnownSubject[], apps: readonly string[] = []): Diagnostic[] {
  const silent = new Set(apps);
  for (const k of known) silent.delete(k.app);
  const subjects = new Map<CompiledRule, KnownSubject[]>();
  const findings = new Map<string, Diagnostic>();
  for (const k of known) {
    const matching = rules.candidates(k.kind, k.app, k.name);
    for (const rule of matching) {
      const list = subjects.get(rule);
      if (list) list.push(k);
      else subjects.set(rule, [k]);
    }
    for (const finding of riskFindings(matching, k)) findings.set(`${finding.code} ${finding.message}`, finding);
  }
  const allApps = [...new Set([...apps, ...known.map((k) => k.app)])];
  const out = [...findings.values()];
  for (const rule of rules.rules) {
    const matched = subjects.get(rule) ?? [];
    if (matched.length === 0) {
      const finding = matchesNothing(rule, known, allApps, silent);
      if (finding) out.push(finding);
    } else {
      const over = shadowedBy(rules, rule, matched);
      if (over) out.push(warning(rule, "shadowed-rule", [], `rule "${rule.ref.id}" never decides: whatever it ${rule.action === "allow" ? "allows" : "asks for"}, ${over.label} ${over.action === "deny" ? "denies" : "asks for"}`, "take one of the two out, or narrow the stricter one"));
    }
  }
  return out;
}

function matchesNothing(rule: CompiledRule, known: readonly KnownSubject[], apps: readonly string[], silent: ReadonlySet<string>): Diagnostic | null {
  const fitting = apps.filter((app) => matchesAny(rule.apps, app));
  if (fitting.length === 0) {
    if (rule.apps === null) return null;
    const near = rule.apps.flatMap((g) => nearest(g.source, apps, 2));
    return warning(rule, "rule-matches-nothing", ["apps"], `rule "${rule.ref.id}" matches no app: ${quoted(rule.apps)}`, near.length > 0 ? `did you mean ${list(near)}?` : apps.length > 0 ? `the apps here are ${list(apps.slice(0, 8))}` : "no app is configured");
  }
  if (fitting.some((app) => silent.has(app))) return null;
  const kind = rule.names.tool === null || rule.names.tool.length > 0 ? "tool" : "prompt";
  const patterns = rule.names[kind];
  // A rule over whole apps does its work on whatever they show later; one over resources cannot be checked.
  if (patterns === null || patterns.length === 0 || rule.names.resource === null || rule.names.resource.length > 0) return null;
  const names = [...new Set(known.filter((k) => k.kind === kind && matchesAny(rule.apps, k.app)).map((k) => k.name))];
  const near = [...new Set(patterns.flatMap((g) => nearest(g.source.replaceAll("*", ""), names, 2).concat(nearest(g.source, names, 2))))];
  const elsewhere = known.filter((k) => k.kind === kind && matchesAny(patterns, k.name)).map((k) => k.app);
  const help =
    near.length > 0
      ? `did you mean ${list(near.slice(0, 3))}?`
      : elsewhere.length > 0
        ? `${list([...new Set(elsewhere)].slice(0, 3))} ${elsewhere.length === 1 ? "has" : "have"} such a ${kind}; the rule names other apps`
        : patterns.some((g) => apps.some((app) => g.source.startsWith(`${app}.`)))
          ? `rules are over the server's own names: write the package under apps and the bare name under ${kind}s`
          : `patterns are matched against the server's own ${kind} names, whole, with * and ? only`;
  return warning(rule, "rule-matches-nothing", [`${kind}s`], `rule "${rule.ref.id}" matches no known ${kind}: ${quoted(patterns)}`, help);
}

const STRICTNESS: Readonly<Record<Action, number>> = { allow: 0, ask: 1, deny: 2 };

/** A rule for every caller and all arguments that is stricter and covers all that this one matches. */
function shadowedBy(rules: PolicyRules, rule: CompiledRule, matched: readonly KnownSubject[]): CompiledRule | null {
  if (rule.action === null || rule.action === "deny" || rule.limit !== null || rule.timeoutMs !== null || rule.risk !== null) return null;
  const first = matched[0]!;
  const own = STRICTNESS[rule.action];
  const stricter = rules.candidates(first.kind, first.app, first.name).filter((r) => r !== rule && r.action !== null && STRICTNESS[r.action] > own && r.clients === null && r.args.length === 0);
  return stricter.find((r) => matched.every((k) => rules.candidates(k.kind, k.app, k.name).includes(r))) ?? null;
}

function riskFindings(matching: readonly CompiledRule[], subject: KnownSubject): Diagnostic[] {
  const classifying = matching.filter((r) => r.risk !== null && r.clients === null && r.args.length === 0);
  const out: Diagnostic[] = [];
  const other = classifying.find((r) => r.risk !== classifying[0]!.risk);
  if (other) {
    const first = classifying[0]!;
    const finding = warning(other, "risk-conflict", ["risk"], `rules "${first.ref.id}" (${first.risk}) and "${other.ref.id}" (${other.risk}) give different risks to one ${subject.kind}, such as ${subject.app}/${subject.name}; the higher counts`, "let one rule classify it");
    out.push({ ...finding, related: [{ place: first.place(["risk"]), message: `${first.risk} here` }] });
  }
  if (classifying.some((r) => r.risk === "critical")) {
    for (const rule of matching.filter((r) => (r.action === "allow" || r.action === "ask") && r.risk !== "critical")) {
      out.push(warning(rule, "critical-needs-risk", ["action"], `rule "${rule.ref.id}" does not loosen anything for ${subject.app}/${subject.name}: that ${subject.kind} is critical`, `a critical ${subject.kind} needs action: ${rule.action} and risk: critical in the same rule`));
    }
  }
  return out;
}

function warning(rule: CompiledRule, code: DiagnosticCode, path: readonly string[], message: string, help: string): Diagnostic {
  return warningAt(code, rule.place(path), message, { path: rule.path(path), help: [help] });
}

function quoted(patterns: readonly { source: string }[]): string {
  return list(patterns.map((g) => g.source));
}

function list(names: readonly string[]): string {
  return names.map((n) => `"${n}"`).join(", ");
}
