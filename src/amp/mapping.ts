import type { SignalRuleConfig, SignalsConfig } from "../../generated/signals.d.ts";
import { warningAt } from "../base/diagnostic-codes.ts";
import type { Diagnostic, Place } from "../base/diagnostics.ts";
import { parseDuration, parseRate, type Rate } from "../base/durations.ts";
import { compileGlob, type Glob } from "../base/glob.ts";
import { nearest } from "../base/text.ts";
import { soundItems } from "../config/sound.ts";
import { formatPath } from "../config/nodes.ts";
import type { KeyPath, Loaded } from "../config/types.ts";
import { BUILT_IN_SIGNALS } from "./built-in.ts";
import { compileMatcher, type ValueMatcher } from "./matcher.ts";
import { MCP_NOTIFICATIONS, SIGNAL_METHODS } from "./signal.ts";
import { compileData, compileTemplate, TEMPLATE_HELP, type DataTemplate, type Template, type TemplateResult } from "./template.ts";
import type { AmpMethod, Priority, Signal } from "./types.ts";

/** What a rule makes of a signal, compiled. */
export interface EmitTemplate {
  readonly type: Template;
  readonly method: AmpMethod | null;
  readonly sessionId: Template | null;
  readonly summary: Template | null;
  readonly data: DataTemplate | null;
  readonly expiresInMs: number | null;
  readonly expireAt: Template | null;
  readonly idempotencyKey: Template | null;
}

/** One mapping rule, compiled. `emit` null drops the signal. */
export interface SignalRule {
  readonly id: string;
  readonly app: Glob | null;
  readonly kind: Signal["kind"] | null;
  readonly method: Glob | null;
  readonly params: readonly { readonly path: readonly string[]; readonly matcher: ValueMatcher }[];
  readonly emit: EmitTemplate | null;
  /** Counts only when no rule without it matched. */
  readonly otherwise: boolean;
  readonly sample: number | null;
  readonly atMost: Rate | null;
  readonly priority: Priority;
  /** Where the rule stands, null for a built-in one. */
  readonly place: Place | null;
  /** As it is written, for comparison. */
  readonly config: SignalRuleConfig;
}

/** The compiled mapping: the user's rules, and the built-in table for signals that none of them matches. */
export interface SignalRules {
  readonly user: readonly SignalRule[];
  readonly builtIn: readonly SignalRule[];
}

type Report = (message: string, path: KeyPath, help?: string) => void;

/** Compiles all signal files into one set of rules. A file or rule with an error is left out; findings of a rule have code `signal-rule` (a warning where its kind has no such method), of a second rule of one id `duplicate-id`. */
export function compileSignals(files: readonly Loaded<SignalsConfig>[]): { rules: SignalRules; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const user: SignalRule[] = [];
  const seen = new Map<string, Place>();
  for (const file of files) {
    for (const { index, item: written, whole } of soundItems(file.value.rules, file.wrong, ["rules"])) {
      const at: KeyPath = ["rules", index];
      const idPlace = file.place([...at, "id"]);
      const first = seen.get(written.id);
      if (first) {
        diagnostics.push({
          code: "duplicate-id",
          severity: "error",
          message: `signal rule "${written.id}" is there twice`,
          place: idPlace,
          path: formatPath([...at, "id"]),
          related: [{ place: first, message: "first here" }],
        });
      } else seen.set(written.id, idPlace);
      let broken = first !== undefined || file.wrong !== undefined;
      const rule = compileRule(written, idPlace, (message, path, help) => {
        // What a rule lacks may be what is wrong in it.
        if (path.length === 0 && !whole) return;
        broken = true;
        diagnostics.push({
          code: "signal-rule",
          severity: "error",
          message: `signal rule "${written.id}": ${message}`,
          place: file.place([...at, ...path]),
          path: formatPath([...at, ...path]),
          ...(help ? { help: [help] } : {}),
        });
      });
      if (!broken) user.push(rule);
      const unheard = noSuchMethod(rule, file.place([...at, "when", "method"]), [...at, "when", "method"]);
      if (unheard !== null) diagnostics.push(unheard);
    }
  }
  return { rules: { user, builtIn: BUILT_IN_RULES }, diagnostics };
}

/** A warning for a rule that waits for a method which its kind of signal never has, or for one that is nearly a notification of MCP. */
function noSuchMethod({ id, kind, method }: SignalRule, place: Place, at: KeyPath): Diagnostic | null {
  const methods = kind === null ? null : SIGNAL_METHODS[kind];
  if (methods === null && method !== null) return nearNotification(id, method.source, place, at);
  if (methods === null || method === null || methods.some((name) => method.matches(name))) return null;
  const near = nearest(method.source, methods, 1)[0];
  return warningAt("signal-rule", place, `signal rule "${id}" matches nothing: no signal of kind ${kind} has the method "${method.source}"`, {
    path: formatPath(at),
    ...(near === undefined ? {} : { label: `did you mean "${near}"?` }),
    help: [`methods of ${kind}: ${methods.join(", ")}`],
  });
}

function nearNotification(id: string, method: string, place: Place, at: KeyPath): Diagnostic | null {
  const near = nearest(method, MCP_NOTIFICATIONS, 1)[0];
  if (near === undefined || MCP_NOTIFICATIONS.includes(method) || /[*?]/.test(method)) return null;
  return warningAt("signal-rule", place, `signal rule "${id}" waits for the method "${method}", which is none of MCP's`, {
    path: formatPath(at),
    label: `did you mean "${near}"?`,
  });
}

const BUILT_IN_RULES: readonly SignalRule[] = (BUILT_IN_SIGNALS.rules ?? []).map((rule) =>
  compileRule(rule, null, (message) => {
    throw new Error(`built-in signal rule ${rule.id}: ${message}`);
  }),
);

function compileRule(written: SignalRuleConfig, place: Place | null, report: Report): SignalRule {
  const { when } = written;
  if ((written.emit === undefined) === (written.drop === undefined)) report("needs either emit or drop", []);
  const params: { path: string[]; matcher: ValueMatcher }[] = [];
  for (const [path, matcher] of Object.entries(when.params ?? {})) {
    const compiled = compileMatcher(matcher);
    if (compiled.ok) params.push({ path: ["params", ...path.split(".")], matcher: compiled.matcher });
    else report(compiled.reason, ["when", "params", path], compiled.help);
  }
  const atMost = written.at_most === undefined ? null : parseRate(written.at_most);
  if (atMost === undefined) report(`at_most "${written.at_most}" is not a rate`, ["at_most"], "write 10/min, 5/s or 100/h");
  return {
    id: written.id,
    app: when.app === undefined ? null : compileGlob(when.app),
    kind: when.kind ?? null,
    method: when.method === undefined ? null : compileGlob(when.method),
    params,
    emit: written.emit === undefined ? null : compileEmit(written.emit, report),
    otherwise: written.otherwise ?? false,
    sample: written.sample ?? null,
    atMost: atMost ?? null,
    priority: written.priority ?? "normal",
    place,
    config: written,
  };
}

function compileEmit(emit: NonNullable<SignalRuleConfig["emit"]>, report: Report): EmitTemplate {
  const template = (key: "type" | "session_id" | "summary" | "expire_at" | "idempotency_key"): Template | null => {
    const text = emit[key];
    if (text === undefined) return null;
    const compiled: TemplateResult = compileTemplate(text);
    if (!compiled.ok) report(compiled.reason, ["emit", key], TEMPLATE_HELP);
    return compiled.ok ? compiled.template : null;
  };
  const data = emit.data === undefined ? null : compileData(emit.data);
  if (data && !data.ok) report(data.reason, ["emit", "data"], TEMPLATE_HELP);
  const expiresInMs = emit.expires_in === undefined ? null : parseDuration(emit.expires_in);
  if (expiresInMs === undefined)
    report(`expires_in "${emit.expires_in}" is not a duration`, ["emit", "expires_in"], "write a number of seconds, or 250ms, 10s, 5m, 1h");
  return {
    type: template("type") ?? { parts: [{ kind: "text", text: "unknown" }] },
    method: emit.method ?? null,
    sessionId: template("session_id"),
    summary: template("summary"),
    data: data?.ok ? data.data : null,
    expiresInMs: expiresInMs ?? null,
    expireAt: template("expire_at"),
    idempotencyKey: template("idempotency_key"),
  };
}
