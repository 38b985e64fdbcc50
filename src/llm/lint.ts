import { own } from "../base/json.ts";
import { listWords } from "../base/text.ts";
import { OPENAI_MAX_DESCRIPTION } from "./description.ts";
import { exportTool } from "./export.ts";
import { prepareSchema } from "./prepare.ts";
import { isPortablePattern } from "./safe-pattern.ts";
import type { ExportFormat, ExportTool, Relaxation } from "./types.ts";

/** Something about a tool that a provider would refuse or lose. */
export interface LintFinding {
  readonly target: ExportFormat | "all";
  readonly code: string;
  /** JSON pointer into the tool definition. */
  readonly pointer: string;
  readonly message: string;
  /** `error`: the tool cannot be used there as it stands. `warning`: something is lost or changed. `info`: it is said in another way. */
  readonly severity: "error" | "warning" | "info";
}

const TARGETS: readonly ExportFormat[] = ["openai", "openai-strict", "anthropic", "gemini", "gemini-legacy", "litellm"];
const SEVERITIES: readonly LintFinding["severity"][] = ["error", "warning", "info"];
const HARMLESS: ReadonlySet<string> = new Set([
  "name.mapped",
  "root.no_arguments",
  "optional.as_null",
  "nullable.openapi",
  "allOf.merged",
  "root.allOf_merged",
  "oneOf.as_anyOf",
  "ref.kept",
  "bounds.draft04",
  "tuple.ended",
  "node.nothing_fits",
  "default.in_words",
  "keyword.useless",
]);

/** What each of the targets would choke on in a tool as its author wrote it, worst first; for server authors, so that they can mend the schema itself. */
export function lintTool(tool: ExportTool, targets: readonly ExportFormat[] = TARGETS): LintFinding[] {
  const openai = targets.some((target) => target.startsWith("openai"));
  const findings = [...nameFindings(tool), ...textFindings(tool)].filter((finding) => openai || finding.target !== "openai");
  const prepared = prepareSchema(tool.inputSchema);
  if (tool.inputSchema === undefined || tool.inputSchema === null)
    findings.push({
      target: "all",
      code: "schema.missing",
      pointer: "/inputSchema",
      message: 'inputSchema is missing; strict clients refuse the whole tools/list for it. Write {"type":"object"}',
      severity: "error",
    });
  if (prepared.kind === "excluded") {
    findings.push({
      target: "all",
      code: prepared.code,
      pointer: "/inputSchema",
      message: `no provider can be given this tool: ${prepared.reason}`,
      severity: "error",
    });
    return findings.sort(bySeverity);
  }
  const everywhere = new Set<string>();
  for (const relaxation of prepared.relaxations) {
    if (isHarmless(relaxation)) continue;
    findings.push(findingOf("all", relaxation));
    everywhere.add(keyOf(relaxation));
  }
  for (const target of targets) {
    const { report } = exportTool(tool, tool.short, target);
    for (const reason of report.fallback)
      findings.push({ target, code: "strict.impossible", pointer: "/inputSchema", message: `cannot be exported strict: ${reason}`, severity: "warning" });
    const inWords = new Set<string>();
    const seen = new Set<string>();
    for (const relaxation of report.relaxations) {
      const key = keyOf(relaxation);
      if (isHarmless(relaxation) || everywhere.has(key) || seen.has(key) || relaxation.code === "description.truncated") continue;
      // Strict mode drops and closes by design; only a refusal is news.
      const unusable = relaxation.code === "pattern.dropped" && !isPortablePattern(String(relaxation.before));
      if (target.endsWith("-strict") && !unusable) continue;
      seen.add(key);
      const keyword = /^(\w+)\.dropped$/.exec(relaxation.code)?.[1];
      if (keyword !== undefined && typeof relaxation.after === "string" && !target.endsWith("-strict")) {
        inWords.add(keyword);
        continue;
      }
      findings.push(findingOf(target, relaxation));
    }
    if (inWords.size > 0) findings.push(toldInWords(target, [...inWords].sort()));
  }
  return findings.sort(bySeverity);
}

/** Once a tool: keywords that a target has not, and that its descriptions say instead. Nothing is wrong with them, so nothing need be mended. */
function toldInWords(target: ExportFormat, keywords: readonly string[]): LintFinding {
  return {
    target,
    code: "keyword.in_words",
    pointer: "/inputSchema",
    message: `${listWords(keywords.map((keyword) => `\`${keyword}\``))} ${keywords.length === 1 ? "is" : "are"} said in words, for ${target} does not take ${keywords.length === 1 ? "that keyword" : "those keywords"} here; arguments are checked against the whole schema all the same`,
    severity: "info",
  };
}

/** Whether a change takes nothing from what a model may say. */
function isHarmless(relaxation: Relaxation): boolean {
  return HARMLESS.has(relaxation.code) || (relaxation.code === "additionalProperties.dropped" && typeof relaxation.before === "boolean");
}

function bySeverity(a: LintFinding, b: LintFinding): number {
  return SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity);
}

function keyOf(relaxation: Relaxation): string {
  return `${relaxation.code} ${relaxation.pointer}`;
}

function findingOf(target: LintFinding["target"], relaxation: Relaxation): LintFinding {
  const pointer = relaxation.pointer === "/name" || relaxation.pointer === "/description" ? relaxation.pointer : `/inputSchema${relaxation.pointer}`;
  return {
    target,
    code: relaxation.code,
    pointer,
    message: explain(relaxation),
    severity: relaxation.code.startsWith("root.") && target === "all" ? "error" : "warning",
  };
}

function explain(relaxation: Relaxation): string {
  const { code, before, after } = relaxation;
  const value = before === null ? "" : ` ${JSON.stringify(before).slice(0, 120)}`;
  const known: Readonly<Record<string, string>> = {
    "pattern.dropped": `the pattern${value} uses syntax that the provider's regular expressions have not (lookaround, \\p, back-references)`,
    "tuple.order_lost": "positions of a tuple cannot be said; any order is shown as legal",
    "tuple.open": "a tuple that may go on with anything cannot be said; declare `items` or `maxItems`",
    "property.forbidden": "nothing fits the property, so it is left out; leave it out of `properties` yourself",
    "property.renamed": `the property name${value} is refused; it is shown as ${JSON.stringify(after)}`,
    "required.undeclared": `\`required\` names${value}, which \`properties\` does not declare`,
    "type.unknown": `there is no type${value} in JSON Schema`,
    "type.contradicted": `the type${value} allows none of the listed values; ${after === null ? "no type" : JSON.stringify(after)} is assumed`,
    "enum.other_type": `the enum${value} lists values of another type than \`type\`; they are left out`,
    "enum.repeated": `the enum${value} lists a value twice`,
    "enum.beside_const": "`enum` beside `const` says nothing more; it is left out",
    "type.added": `the type is missing; ${JSON.stringify(after)} is assumed`,
    "ref.unresolved": `the reference${value} leads nowhere; anything is allowed there`,
    "ref.cut": "a recursive definition cannot be said and ends in a free form",
    "keyword.malformed": `the value${value} is not legal for this keyword`,
    "enum.empty_value_dropped": "an empty string in an enum is refused; the value cannot be asked for",
    "object.as_text": "an object without declared properties is refused; it is asked for as JSON text",
    "any.spelled_out": "a value without a type is refused; give it one",
  };
  return (
    known[code] ??
    (code.startsWith("root.")
      ? `providers refuse this at the root of a schema; it is turned into a sentence of the description (${code})`
      : `${code.replaceAll(/[._]/g, " ")}${value}`)
  );
}

function nameFindings(tool: ExportTool): LintFinding[] {
  const out: LintFinding[] = [];
  if (!/^[A-Za-z0-9_.-]{1,128}$/.test(tool.name))
    out.push({
      target: "all",
      code: "name.illegal",
      pointer: "/name",
      message: `the name ${JSON.stringify(tool.name)} is outside what MCP allows (1-128 of A-Za-z0-9_.-)`,
      severity: "error",
    });
  else if (!/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(tool.name))
    out.push({
      target: "openai",
      code: "name.mapped",
      pointer: "/name",
      message: `OpenAI takes names of letters, digits, _ and - up to 64; hosts will show ${JSON.stringify(tool.name)} under another name`,
      severity: "warning",
    });
  return out;
}

function textFindings(tool: ExportTool): LintFinding[] {
  const out: LintFinding[] = [];
  const description = tool.description;
  if (typeof description !== "string" || description.trim() === "")
    out.push({
      target: "all",
      code: "description.missing",
      pointer: "/description",
      message: "a model chooses tools by their description, and there is none",
      severity: "warning",
    });
  else if (description.length > OPENAI_MAX_DESCRIPTION)
    out.push({
      target: "openai",
      code: "description.long",
      pointer: "/description",
      message: `${description.length} characters; OpenAI was seen to refuse over ${OPENAI_MAX_DESCRIPTION}, so it is cut`,
      severity: "warning",
    });
  const output = tool.outputSchema;
  if (output !== undefined && own(output, "type") !== "object")
    out.push({
      target: "mcp",
      code: "output.not_object",
      pointer: "/outputSchema",
      message: "clients before revision 2026-07-28 refuse an outputSchema whose root is not an object",
      severity: "warning",
    });
  return out;
}
