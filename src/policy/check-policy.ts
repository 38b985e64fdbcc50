import { warningAt, type DiagnosticCode } from "../base/diagnostic-codes.ts";
import type { Diagnostic } from "../base/diagnostics.ts";
import type { Glob } from "../base/glob.ts";
import type { Json } from "../base/json.ts";
import { nearest } from "../base/text.ts";
import { argumentPaths, hasArgument } from "./argument-names.ts";
import type { CompiledRule } from "./compile-rule.ts";
import { matchesAny } from "./rule-index.ts";
import type { PolicyRules } from "./rules.ts";
import type { Action, Subject } from "./types.ts";

/** Callers that are there without an entry: the tokens of the host, the library, the command line. */
const BUILT_IN_CLIENTS = ["caller", "operator", "library", "cli"];

/** One thing that servers show, or that a manifest announces. */
export interface KnownSubject {
  readonly app: string;
  readonly name: string;
  readonly kind: Subject["kind"];
  /** What it takes, where that is known: a tool's input schema, or one made of a prompt's arguments. */
  readonly schema?: Json;
}

/**
 * Warnings about rules against what is known: rules that match nothing, be it by an argument that none of their tools has, rules that others always overrule, two risks for one
 * tool, and allow rules that a critical tool ignores. `apps` are all configured packages: of one that shows nothing yet, the
 * tools are taken as unknown and not as missing; null where not all of them can be known. Resource URIs are open-ended and not checked. `clients` are those that topology.yaml
 * names; with none, whoever has a token may have any name.
 */
export function checkPolicy(
  rules: PolicyRules,
  known: readonly KnownSubject[],
  apps: readonly string[] | null = [],
  clients: readonly string[] = [],
): Diagnostic[] {
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
  const index = indexKnown(known, apps ?? []);
  const out = [...findings.values()];
  for (const rule of rules.rules) {
    const matched = subjects.get(rule) ?? [];
    out.push(...(apps === null ? [] : matchesNothing(rule, index, silent)), ...noSuchClient(rule, clients));
    if (apps !== null) out.push(...noSuchArgument(rule, matched, index, silent));
    if (matched.length > 0 && apps !== null) {
      const over = shadowedBy(rules, rule, matched, index, silent);
      if (over)
        out.push(
          warning(
            rule,
            "shadowed-rule",
            [],
            `rule "${rule.ref.id}" never decides: whatever it ${rule.action === "allow" ? "allows" : "asks for"}, ${over.label} ${over.action === "deny" ? "denies" : "asks for"}`,
            "take one of the two out, or narrow the stricter one",
          ),
        );
    }
  }
  return out;
}

/** What is known, by app and by name; so a rule looks at its own apps only. */
interface KnownIndex {
  readonly apps: readonly string[];
  /** The apps that a pattern fits. */
  fitting(glob: Glob): readonly string[];
  /** The names of one kind that an app has; of all apps with null. */
  names(kind: Subject["kind"], app: string | null): readonly string[];
  /** The apps that have a name. */
  having(kind: Subject["kind"], name: string): readonly string[];
}

function indexKnown(known: readonly KnownSubject[], configured: readonly string[]): KnownIndex {
  const apps = new Set([...configured, ...known.map((k) => k.app)]);
  const byApp = new Map<string, string[]>();
  const byName = { tool: new Map<string, string[]>(), resource: new Map<string, string[]>(), prompt: new Map<string, string[]>() };
  const add = (map: Map<string, string[]>, key: string, value: string): void => {
    const list = map.get(key);
    if (list) list.push(value);
    else map.set(key, [value]);
  };
  for (const { kind, app, name } of known) {
    add(byApp, `${kind} ${app}`, name);
    add(byName[kind], name, app);
  }
  const fitting = new Map<string, readonly string[]>();
  const all = { tool: [...byName.tool.keys()], resource: [...byName.resource.keys()], prompt: [...byName.prompt.keys()] };
  return {
    apps: [...apps],
    fitting(glob) {
      let found = fitting.get(glob.source);
      if (!found)
        fitting.set(glob.source, (found = glob.literal ? [glob.source].filter((app) => apps.has(app)) : [...apps].filter((app) => glob.matches(app))));
      return found;
    },
    names: (kind, app) => (app === null ? all[kind] : (byApp.get(`${kind} ${app}`) ?? [])),
    having: (kind, name) => byName[kind].get(name) ?? [],
  };
}

/** One finding for each pattern of the rule that fits nothing: apps first, and tools or prompts of the apps that do fit. */
function matchesNothing(rule: CompiledRule, known: KnownIndex, silent: ReadonlySet<string>): Diagnostic[] {
  const { apps } = known;
  const out = (rule.apps ?? []).flatMap((glob, i) => {
    if (known.fitting(glob).length > 0) return [];
    const near = nearest(glob.source, apps, 2);
    const help =
      near.length > 0
        ? `did you mean ${list(near)}?`
        : apps.length > 0
          ? `the apps here are ${list(apps.slice(0, 8))}${apps.length > 8 ? ", …" : ""}`
          : "no app is configured";
    return [
      warning(rule, "rule-matches-nothing", ["apps", i], `rule "${rule.ref.id}" names the app "${glob.source}", which matches none that is configured`, help),
    ];
  });
  const fitting = rule.apps === null ? apps : [...new Set(rule.apps.flatMap((glob) => known.fitting(glob)))];
  if (fitting.length === 0 || fitting.some((app) => silent.has(app))) return out;
  const scope = rule.apps === null ? [null] : fitting;
  for (const kind of ["tool", "prompt"] as const) {
    for (const [i, glob] of (rule.names[kind] ?? []).entries()) {
      if (scope.some((app) => known.names(kind, app).some((name) => glob.matches(name)))) continue;
      const message = `rule "${rule.ref.id}" names the ${kind} "${glob.source}", which matches none that is known${rule.apps === null ? "" : ` of ${list(fitting.slice(0, 3))}`}`;
      out.push(warning(rule, "rule-matches-nothing", [`${kind}s`, i], message, nameHelp(glob, kind, scope, known)));
    }
  }
  return out;
}

/** One finding for each argument that nothing has which the rule matches; none while something of that is not known. */
function noSuchArgument(rule: CompiledRule, matched: readonly KnownSubject[], known: KnownIndex, silent: ReadonlySet<string>): Diagnostic[] {
  if (rule.args.length === 0 || matched.length === 0) return [];
  const fitting = rule.apps === null ? known.apps : rule.apps.flatMap((glob) => known.fitting(glob));
  if (fitting.some((app) => silent.has(app)) || matched.some(({ schema }) => schema === undefined)) return [];
  const readsResources = rule.names.resource === null || rule.names.resource.length > 0;
  return rule.args.flatMap(({ path }) => {
    if ((readsResources && path === "uri") || matched.some(({ schema }) => hasArgument(schema!, path))) return [];
    const names = [...new Set(matched.flatMap(({ schema }) => argumentPaths(schema!)))];
    const near = nearest(path, names, 2);
    const help =
      near.length > 0
        ? `did you mean ${list(near)}?`
        : names.length > 0
          ? `there are ${list(names.slice(0, 8))}${names.length > 8 ? ", …" : ""}`
          : "nothing there takes arguments";
    const of = matched.slice(0, 3).map(({ app, name }) => `${app}/${name}`);
    const message = `rule "${rule.ref.id}" tests the argument "${path}", which none of what it matches has (${of.join(", ")}${matched.length > 3 ? ", …" : ""})`;
    return [warning(rule, "rule-matches-nothing", ["args", path], message, help)];
  });
}

/** One finding for each pattern of callers that fits none there can be. */
function noSuchClient(rule: CompiledRule, configured: readonly string[]): Diagnostic[] {
  if (configured.length === 0) return [];
  const clients = [...configured, ...BUILT_IN_CLIENTS];
  return (rule.clients ?? []).flatMap((glob, i) => {
    if (clients.some((client) => glob.matches(client))) return [];
    const near = nearest(glob.source, clients, 2);
    const help = near.length > 0 ? `did you mean ${list(near)}?` : `the clients here are ${list(clients)}`;
    const message = `rule "${rule.ref.id}" names the client "${glob.source}", which matches none under gateway.clients`;
    return [warning(rule, "rule-matches-nothing", ["clients", i], message, help)];
  });
}

function nameHelp(pattern: Glob, kind: "tool" | "prompt", scope: readonly (string | null)[], known: KnownIndex): string {
  const { source } = pattern;
  const names = new Set(scope.flatMap((app) => known.names(kind, app)));
  const near = [...new Set([...nearest(source, names, 2), ...nearest(source.replaceAll("*", ""), names, 2), ...nearStart(source, [...names])])];
  if (near.length > 0) return `did you mean ${list(near.slice(0, 3))}?`;
  if (known.apps.some((app) => source.startsWith(`${app}.`)))
    return `rules are over the server's own names: write the package under apps and the bare name under ${kind}s`;
  const elsewhere = [
    ...new Set(
      known
        .names(kind, null)
        .filter((name) => pattern.matches(name))
        .flatMap((name) => known.having(kind, name)),
    ),
  ];
  if (elsewhere.length > 0) return `${list(elsewhere.slice(0, 3))} ${elsewhere.length === 1 ? "has" : "have"} such a ${kind}, but the rule names other apps`;
  return `patterns are matched against the server's own ${kind} names, whole, with * and ? only`;
}

/** Names that begin nearly as the pattern does before its first wildcard: `sned_*` is near `send_mail`. */
function nearStart(source: string, names: readonly string[]): string[] {
  const start = /^[^*?]*(?=[*?])/.exec(source)?.[0] ?? "";
  if (start.length < 3) return [];
  const near = nearest(
    start,
    names.map((name) => name.slice(0, start.length)),
    1,
  );
  return names.filter((name) => near.includes(name.slice(0, start.length)));
}

const STRICTNESS: Readonly<Record<Action, number>> = { allow: 0, ask: 1, deny: 2 };

/** A rule for every caller and all arguments that is stricter and for certain covers all that this one can match. */
function shadowedBy(
  rules: PolicyRules,
  rule: CompiledRule,
  matched: readonly KnownSubject[],
  index: KnownIndex,
  silent: ReadonlySet<string>,
): CompiledRule | null {
  if (rule.action === null || rule.action === "deny" || rule.limit !== null || rule.timeoutMs !== null || rule.risk !== null) return null;
  const first = matched[0]!;
  const own = STRICTNESS[rule.action];
  const stricter = rules
    .candidates(first.kind, first.app, first.name)
    .filter((r) => r !== rule && r.action !== null && STRICTNESS[r.action] > own && r.clients === null && r.args.length === 0);
  if (stricter.length === 0) return null;
  const fitting = rule.apps === null ? index.apps : rule.apps.flatMap((glob) => index.fitting(glob));
  const allKnown = !fitting.some((app) => silent.has(app));
  const coversKind = (r: CompiledRule, kind: Subject["kind"]): boolean =>
    coversAll(r.names[kind], rule.names[kind]) ||
    // Tools of apps that show some are known; resources and prompts of the rule's apps may always be more than are known here.
    (kind === "tool" && allKnown && matched.every((k) => k.kind !== kind || rules.candidates(k.kind, k.app, k.name).includes(r)));
  const coversApps = (r: CompiledRule): boolean => coversAll(r.apps, rule.apps) || (allKnown && fitting.every((app) => matchesAny(r.apps, app)));
  return stricter.find((r) => coversApps(r) && KINDS.every((kind) => coversKind(r, kind))) ?? null;
}

const KINDS: readonly Subject["kind"][] = ["tool", "resource", "prompt"];

/** Whether patterns fit, for certain, every name that others fit; null fits all. */
function coversAll(patterns: readonly Glob[] | null, others: readonly Glob[] | null): boolean {
  const isAll = (glob: Glob): boolean => /^\*+$/.test(glob.source);
  if (patterns === null || patterns.some(isAll)) return true;
  return others !== null && others.every((other) => patterns.some((glob) => glob.source === other.source || (other.literal && glob.matches(other.source))));
}

function riskFindings(matching: readonly CompiledRule[], subject: KnownSubject): Diagnostic[] {
  const classifying = matching.filter((r) => r.risk !== null && r.clients === null && r.args.length === 0);
  const out: Diagnostic[] = [];
  const other = classifying.find((r) => r.risk !== classifying[0]!.risk);
  if (other) {
    const first = classifying[0]!;
    const finding = warning(
      other,
      "risk-conflict",
      ["risk"],
      `rules "${first.ref.id}" (${first.risk}) and "${other.ref.id}" (${other.risk}) give different risks to one ${subject.kind}, such as ${subject.app}/${subject.name}; the higher counts`,
      "let one rule classify it",
    );
    out.push({ ...finding, related: [{ place: first.place(["risk"]), message: `${first.risk} here` }] });
  }
  if (classifying.some((r) => r.risk === "critical")) {
    for (const rule of matching.filter((r) => (r.action === "allow" || r.action === "ask") && r.risk !== "critical")) {
      out.push(
        warning(
          rule,
          "critical-needs-risk",
          ["action"],
          `rule "${rule.ref.id}" does not loosen anything for ${subject.app}/${subject.name}: that ${subject.kind} is critical`,
          `a critical ${subject.kind} needs action: ${rule.action} and risk: critical in the same rule`,
        ),
      );
    }
  }
  return out;
}

function warning(rule: CompiledRule, code: DiagnosticCode, path: readonly (string | number)[], message: string, help: string): Diagnostic {
  return warningAt(code, rule.place(path), message, { path: rule.path(path), help: [help] });
}

function list(names: readonly string[]): string {
  return names.map((n) => `"${n}"`).join(", ");
}
