import type { Json } from "../base/json.ts";
import type { PreparedSchema } from "./prepare.ts";
import { withKeyStyle } from "./property-keys.ts";
import type { Notes } from "./schema-node.ts";
import type { StrictBudget } from "./strict-budget.ts";
import { strictSchema, type StrictDialect, type StrictResult } from "./strict-compiler.ts";
import { constraintInWords } from "./words.ts";

const ANTHROPIC: StrictDialect = {
  formats: new Set(["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"]),
  numberKeywords: [],
  patterns: false,
  keepsListBound: (keyword: string, value: Json) => keyword === "minItems" && (value === 0 || value === 1),
  optional: "absent",
  severalTypes: "anyOf",
  typedEnums: false,
  words: constraintInWords,
};

/**
 * Tries to say a schema in Anthropic's strict subset: closed objects, optional properties left optional, bounds in words. It also
 * has to fit what earlier strict tools left of the request's budget, which it then uses up.
 */
export function anthropicStrictSchema(prepared: PreparedSchema, budget: StrictBudget, notes: Notes): StrictResult {
  if (prepared.definitions.size > 0) return { ok: false, reasons: ["a recursive or very large schema, whose references cannot be inlined"] };
  const result = strictSchema(withKeyStyle(prepared, "wide", notes), ANTHROPIC, notes);
  if (!result.ok) return result;
  const problem = budget.take(result.schema);
  return problem === undefined ? result : { ok: false, reasons: [problem] };
}
