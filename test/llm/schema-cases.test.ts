import { readFileSync } from "node:fs";
import { toStrictJsonSchema } from "openai/lib/transform";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/base/json.ts";
import type { ExportFormat } from "../../src/llm/types.ts";
import { exportOne } from "./support/export-one.ts";
import { schemaDifference } from "./support/same-schema.ts";
import { brokenRules, rulesOf } from "./support/target-rules.ts";

interface SchemaCase {
  readonly case: string;
  readonly reported: readonly string[];
  readonly inputSchema: Json;
  readonly expect: Readonly<Record<string, Json>>;
}

const cases = JSON.parse(readFileSync(new URL("fixtures/schema-cases.json", import.meta.url), "utf8")) as SchemaCase[];
const TARGETS: readonly ExportFormat[] = ["openai", "openai-responses", "openai-strict", "anthropic", "anthropic-strict", "gemini", "gemini-legacy", "litellm"];

describe.each(cases)("$case", ({ inputSchema, expect: expected }) => {
  test.each(Object.entries(expected))("%s", (target, wanted) => {
    const made = exportOne(target as ExportFormat, inputSchema);
    if (wanted === "left out") {
      expect(made).toBeUndefined();
    } else if (wanted === "no parameters") {
      expect(made!.schema).toBeUndefined();
    } else if (wanted === "not strict") {
      expect(made!.strict).toBe(false);
      expect(made!.report.fallback).not.toEqual([]);
      expect(made!.schema).toEqual(exportOne("openai", inputSchema)!.schema);
    } else {
      expect(schemaDifference(made!.schema, wanted)).toBeNull();
      if (target === "openai-strict") expect(made!.strict).toBe(true);
    }
  });

  test.each(TARGETS)("%s keeps the provider's rules", (target) => {
    const made = exportOne(target, inputSchema);
    if (!made || !made.schema) return;
    expect(brokenRules(rulesOf(target, made.strict === true), made.schema)).toEqual([]);
  });

  test("a strict export passes OpenAI's own helper unchanged", () => {
    const made = exportOne("openai-strict", inputSchema);
    if (made?.strict !== true) return;
    expect(toStrictJsonSchema(structuredClone(made.schema!) as never) as unknown as JsonObject).toEqual(made.schema);
  });
});
