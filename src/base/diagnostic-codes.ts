import type { Diagnostic, Place, Severity } from "./diagnostics.ts";

/**
 * Every code that a finding about the user's files may carry, with its meaning. `docs/diagnostics.md` has one heading a code,
 * with an example and how to mend it; a test holds table, docs and source together. Other rooms add their codes here.
 */
export const DIAGNOSTIC_CODES = {
  // The text of a file (config/parse.ts)
  "file-unreadable": "The file cannot be read.",
  "file-too-large": "The file is larger than 1 MiB.",
  "file-empty": "The file holds nothing but spaces and comments.",
  "not-utf8": "The file is not UTF-8 text.",
  "control-character": "The file holds a control character.",
  "yaml-syntax": "The text is not YAML.",
  "yaml-tab": "A line is indented with a tab.",
  "yaml-directive": "The file has a %YAML or %TAG line that changes how it is read.",
  "multiple-documents": "The file holds more than one YAML document.",
  "duplicate-key": "The same key stands twice in one map.",
  "merge-key": "The file uses a YAML merge key (<<).",
  "forbidden-key": "A key has a name that programs mistake for their own, such as __proto__.",
  "key-not-text": "A key is a list, a map or empty.",
  "unknown-tag": "A value has a YAML tag that has no meaning here.",
  "unknown-alias": "An alias (*name) has no anchor (&name) in front of it.",
  "alias-bomb": "Aliases blow the file up to an enormous size.",
  "too-deep": "Values are nested too deeply.",
  // Keys and values (config/check.ts)
  "unknown-key": "A key is not known at this place.",
  "missing-key": "A required key is missing.",
  "wrong-type": "A value is of the wrong kind.",
  "unknown-value": "A value is not one of the words allowed.",
  "bad-format": "A text does not have the form that is needed here.",
  "bad-unit": "A duration, size or rate cannot be read.",
  "out-of-range": "A number, text or list is too small or too large.",
  "ambiguous-number": "A number would change its meaning or lose digits.",
  "brain-graph": "The file is AuroraBot's brain graph, not a topology of this kit.",
  // Variables (config/interpolate.ts)
  "unset-variable": "An environment variable is not set.",
  "bad-expression": "A ${…} is none of the forms that are known.",
  "secret-file": "A file named by ${file:…} cannot be read.",
  // Apps (config/load.ts and its helpers)
  "no-transport": "An app has neither a command nor a URL.",
  "two-transports": "An app has both a command and a URL.",
  "wrong-transport": "A key belongs to the other transport.",
  "unsupported-protocol": "The protocol line is reserved for a later release.",
  "forward-needs-session": "A grant forwards requests to the calling client, and the connection is shared by all clients.",
  "tilde-path": "A path starts with ~, which only a shell understands.",
  "plain-http": "A URL beyond loopback is not encrypted.",
  "duplicate-package": "Two manifests declare the same package.",
  "unknown-app": "An entry under apps names no app that was found and declares none.",
  "empty-entry": "An entry is empty and changes nothing.",
  "trust-ignored": "A manifest sets its own trust, and discover does not say trusted.",
  "literal-secret": "A secret is written into the file, also as the value of an argument whose name says so (`--api-key=…`, `--token …`).",
  "secret-in-args": "A secret is handed to a program on its command line.",
  "folder-unreadable": "A folder that a file pattern leads through cannot be looked through.",
  "pattern-too-wide": "A file pattern leads through more folders than are looked through.",
  "file-missing": "A policy or signals file that is named without a wildcard is not there.",
  "unmatched-pattern": "A file pattern matches nothing.",
  "unused-file": "A file that looks like the kit's own is found by no pattern.",
  "root-covers-data": "A folder given to a server holds the host's own state.",
  "root-missing": "A folder given to a server is not there.",
  "root-holds-secrets": "A folder given to a server holds files that may be secret.",
  "file-elsewhere": "A file that a command names is not where the server runs, but elsewhere.",
  "program-missing": "The program or the entry file of a server is not there.",
  "command-with-arguments": "A command holds its arguments in one text, and there is no program of that name.",
  "cwd-missing": "The folder that a server is to run in is not there.",
  // Host (config/topology-rules.ts)
  "insecure-listen": "The gateway listens beyond loopback without TLS or without tokens.",
  "duplicate-name": "Two entries of a list have the same name.",
  // Policies (policy/)
  "duplicate-rule": "Two policy rules have the same id.",
  "duplicate-setting": "A policy setting stands in more than one file.",
  "rule-does-nothing": "A policy rule has no action, no risk and no limits.",
  "bad-pattern": "A regular expression cannot be run in linear time, or is none.",
  "pattern-too-large": "A regular expression is too large.",
  "empty-rules": "A policy file has no rules and no settings.",
  "rule-gone": "A policy rule that was in force is in no file any more.",
  "rule-too-wide": "A policy rule allows every tool of every app.",
  "rule-matches-nothing": "A policy rule matches no known app, tool or client, or tests an argument that none of the tools which it matches has.",
  "shadowed-rule": "A policy rule never decides, because a stricter one covers, for certain, all that it matches.",
  "risk-conflict": "Two policy rules give one tool different risks.",
  "critical-needs-risk": "An allow or ask rule matches a critical tool without saying risk: critical.",
  // Signals (amp/)
  "duplicate-id": "Two signal rules have the same id.",
  "signal-rule": "A signal rule cannot work as it is written.",
} as const satisfies Readonly<Record<string, string>>;

export type DiagnosticCode = keyof typeof DIAGNOSTIC_CODES;

/** The optional parts of a finding. */
export type DiagnosticParts = Partial<Pick<Diagnostic, "path" | "label" | "help" | "related">>;

/** An error finding; `place` is null only when it belongs to no file. */
export function errorAt(code: DiagnosticCode, place: Place | null, message: string, parts: DiagnosticParts = {}): Diagnostic {
  return finding("error", code, place, message, parts);
}

/** A warning finding. */
export function warningAt(code: DiagnosticCode, place: Place | null, message: string, parts: DiagnosticParts = {}): Diagnostic {
  return finding("warning", code, place, message, parts);
}

function finding(severity: Severity, code: DiagnosticCode, place: Place | null, message: string, parts: DiagnosticParts): Diagnostic {
  return { code, severity, message, place, ...parts };
}
