import type { PreparedSchema } from "./prepare.ts";
import type { Notes } from "./schema-node.ts";
import { strictSchema, type StrictDialect, type StrictResult } from "./strict-compiler.ts";

const OPENAI: StrictDialect = {
  formats: new Set(["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"]),
  numberKeywords: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  patterns: true,
  keepsListBound: () => true,
  optional: "null",
  severalTypes: "list",
  typedEnums: true,
  words: () => undefined,
};

/** Tries to say a schema in OpenAI's strict subset: closed objects, every property required, null for absent. */
export function openaiStrictSchema(prepared: PreparedSchema, notes: Notes): StrictResult {
  return strictSchema(prepared, OPENAI, notes);
}
