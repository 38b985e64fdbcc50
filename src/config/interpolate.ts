import { messageOf } from "../base/errors.ts";
import type { DiagnosticCode } from "../base/diagnostic-codes.ts";
import type { Replacement } from "./types.ts";

/** Where the values of `${…}` come from. */
export interface VariableSource {
  variable(name: string): string | undefined;
  /** Text of a file named by `${file:…}`, as it stands in the expression; throws an Error with plain words. */
  file(path: string): string;
}

/** A fault of one expression; `at` and `length` count in the text given. */
export interface ExpressionFault {
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly help: string;
  readonly expression: string;
  readonly at: number;
}

export interface Interpolated {
  readonly text: string;
  readonly replacements: readonly Replacement[];
  readonly faults: readonly ExpressionFault[];
  /** Whether the whole text is one expression, so that it may become a number or boolean. */
  readonly whole: boolean;
}

const FORMS = "known forms: ${NAME}, ${env:NAME}, ${NAME:-default}, ${NAME:?message}, ${file:path}; $$ is a dollar";
const VARIABLE = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::([-?])([\s\S]*))?$/;

/** The environment of a process is fixed when it starts. */
const LATER = " (a running host sees that only once it is started again; it does see a file: ${file:path})";

const EDITOR_ONLY = /^(?:workspaceFolder|workspaceRoot|userHome|pathSeparator)\b/;

/**
 * Replaces `${NAME}`, `${env:NAME}`, `${NAME:-default}`, `${NAME:?message}`, `${file:path}` and `$$` in one parsed scalar
 * (contracts 1). One pass: what a variable holds is never looked at again. Every other `${…}` is a fault, and so is an unset
 * variable without a default; all faults of the text are given.
 */
export function interpolate(text: string, source: VariableSource): Interpolated {
  const replacements: Replacement[] = [];
  const faults: ExpressionFault[] = [];
  let out = "";
  let at = 0;
  let whole = false;
  while (at < text.length) {
    const dollar = text.indexOf("$", at);
    if (dollar === -1) break;
    out += text.slice(at, dollar);
    const next = text[dollar + 1];
    if (next === "$") {
      out += "$";
      at = dollar + 2;
    } else if (next === "{") {
      const end = closingBrace(text, dollar + 2);
      const expression = end === -1 ? text.slice(dollar) : text.slice(dollar, end + 1);
      const found = end === -1 ? fault("bad-expression", "the ${ is not closed by a }", FORMS) : evaluate(expression.slice(2, -1), source);
      if ("code" in found) faults.push({ ...found, expression, at: dollar });
      else {
        replacements.push(found);
        out += found.value;
      }
      at = dollar + expression.length;
      whole = dollar === 0 && at === text.length;
    } else {
      out += "$";
      at = dollar + 1;
    }
  }
  return { text: out + text.slice(at), replacements, faults, whole };
}

/** The brace that closes an expression, inner ${…} counted, so that a nested one is reported whole. */
function closingBrace(text: string, from: number): number {
  let depth = 1;
  for (let i = from; i < text.length; i += 1) {
    if (text[i] === "{" && text[i - 1] === "$") depth += 1;
    else if (text[i] === "}" && --depth === 0) return i;
  }
  return -1;
}

type Found = Replacement | Omit<ExpressionFault, "expression" | "at">;

function fault(code: DiagnosticCode, message: string, help: string): Omit<ExpressionFault, "expression" | "at"> {
  return { code, message, help };
}

function evaluate(body: string, source: VariableSource): Found {
  if (body.startsWith("file:")) return readFile(body.slice("file:".length).trim(), source);
  const match = VARIABLE.exec(body);
  if (!match) return unknownForm(body);
  const [, name = "", operator, rest = ""] = match;
  if (rest.includes("${")) return fault("bad-expression", `\${${body}}: a default cannot hold another \${…}`, "set the variable, or write the default out");
  const value = source.variable(name);
  if (operator === undefined && value !== undefined) return { name, value, fromDefault: false };
  if (value) return { name, value, fromDefault: false };
  if (operator === "-") return { name, value: rest, fromDefault: true };
  if (EDITOR_ONLY.test(name)) return unknownForm(body);
  const state = value === undefined ? "is not set" : "is empty";
  if (operator === "?") return fault("unset-variable", `the environment variable ${name} ${state}${rest ? `: ${rest}` : ""}`, `set ${name}${LATER}`);
  return fault("unset-variable", `the environment variable ${name} ${state}`, `set ${name}${LATER}; or give a default: \${${name}:-…}`);
}

function readFile(path: string, source: VariableSource): Found {
  if (path === "" || path.includes("${")) return fault("bad-expression", "${file:…} needs the path of a file, without ${…} in it", "write ${file:path}");
  try {
    return { name: `file:${path}`, value: source.file(path).replace(/\r?\n$/, ""), fromDefault: false };
  } catch (error) {
    return fault("secret-file", `the file ${path} cannot be read: ${messageOf(error)}`, "the path is relative to the file that writes it");
  }
}

function unknownForm(body: string): Found {
  const shown = `\${${body.length > 60 ? `${body.slice(0, 60)}…` : body}}`;
  const input = /^(?:input|command|config):(\w*)/.exec(body);
  if (input) {
    const name = (input[1] || "NAME").replaceAll(/[a-z](?=[A-Z])/g, "$&_").toUpperCase();
    return fault("bad-expression", `${shown} asks a person for a value, which only an editor can do`, `use an environment variable instead: \${${name}}`);
  }
  if (EDITOR_ONLY.test(body)) return fault("bad-expression", `${shown} is known to editors only`, "write a path relative to this file, or ${HOME}");
  const shell = /^([A-Za-z_]\w*)(-|\?|:\+|\+|:=|=)/.exec(body);
  if (shell) return fault("bad-expression", `${shown}: "${shell[2]}" is not known here`, FORMS);
  return fault("bad-expression", `${shown} is none of the known forms`, FORMS);
}
