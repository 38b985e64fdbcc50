import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/base/json.ts";
import { exportedOrder } from "../../src/llm/export-order.ts";
import { exportTools } from "../../src/llm/export.ts";
import { EXPORT_FORMATS, type ExportTool } from "../../src/llm/types.ts";
import { exportOne, toolWith } from "./support/export-one.ts";
import { brokenRules, rulesOf } from "./support/target-rules.ts";

const noArguments = { type: "object", properties: {} };

function many(count: number, app = "org.many"): ExportTool[] {
  return Array.from({ length: count }, (_, n) => toolWith({ ...noArguments }, { full: `${app}.t${n}`, app, short: `t${n}`, name: `t${n}` }));
}

describe("shapes", () => {
  const tool = toolWith(
    { type: "object", properties: { q: { type: "string" } }, required: ["q"] },
    { title: "Title", outputSchema: { type: "object" }, annotations: { readOnlyHint: true } },
  );
  const shape = (format: (typeof EXPORT_FORMATS)[number]): string => JSON.stringify(exportTools([tool], format).tools[0]);

  test.each<[(typeof EXPORT_FORMATS)[number], Json]>([
    [
      "openai",
      {
        type: "function",
        function: {
          name: "probe",
          description: "Probe.",
          parameters: { type: "object", properties: { q: { type: "string" } }, required: ["q"] },
          strict: false,
        },
      },
    ],
    [
      "openai-responses",
      {
        type: "function",
        name: "probe",
        description: "Probe.",
        parameters: { type: "object", properties: { q: { type: "string" } }, required: ["q"] },
        strict: false,
      },
    ],
    [
      "openai-strict",
      {
        type: "function",
        function: {
          name: "probe",
          description: "Probe.",
          parameters: { type: "object", properties: { q: { type: "string" } }, additionalProperties: false, required: ["q"] },
          strict: true,
        },
      },
    ],
    ["anthropic", { name: "probe", description: "Probe.", input_schema: { type: "object", properties: { q: { type: "string" } }, required: ["q"] } }],
    ["gemini", { name: "probe", description: "Probe.", parametersJsonSchema: { type: "object", properties: { q: { type: "string" } }, required: ["q"] } }],
    ["gemini-legacy", { name: "probe", description: "Probe.", parameters: { type: "object", properties: { q: { type: "string" } }, required: ["q"] } }],
    [
      "litellm",
      {
        type: "function",
        function: {
          name: "probe",
          description: "Probe.",
          parameters: { type: "object", properties: { q: { type: "string" } }, required: ["q"] },
          strict: false,
        },
      },
    ],
    [
      "mcp",
      {
        name: "probe",
        title: "Title",
        description: "Probe.",
        inputSchema: { type: "object", properties: { q: { type: "string" } }, required: ["q"] },
        outputSchema: { type: "object" },
        annotations: { readOnlyHint: true },
      },
    ],
    ["text", "## probe\nProbe.\n- q (string, required)"],
  ])("%s", (format, wanted) => {
    expect(JSON.parse(shape(format))).toEqual(wanted);
  });
});

test.each(EXPORT_FORMATS)("%s: the same tools in another order and with other key orders give the same bytes", (format) => {
  const zeta = { type: "object", properties: { b: { type: "string" }, a: { type: "integer" } }, required: ["b"] };
  const before = [
    toolWith(zeta, { name: "zeta", full: "zeta", short: "zeta" }),
    toolWith({ required: ["x"], properties: { x: { type: "string" } }, type: "object" }, { name: "alpha", full: "alpha", short: "alpha" }),
  ];
  const after = [
    toolWith({ type: "object", properties: { x: { type: "string" } }, required: ["x"] }, { name: "alpha", full: "alpha", short: "alpha" }),
    toolWith({ ...zeta }, { name: "zeta", full: "zeta", short: "zeta" }),
  ];
  const [left, right] = [exportTools(before, format), exportTools(after, format)];
  if (format !== "mcp") expect(right.text).toBe(left.text);
  expect([...left.names.keys()]).toEqual(["alpha", "zeta"]);
  expect(left.text.endsWith("\n")).toBe(true);
  if (format !== "text") expect(JSON.parse(left.text)).toEqual(left.tools);
});

describe("limits", () => {
  test("OpenAI gets 128 tools, apps take turns, and the cut is told in full", () => {
    const made = exportTools(
      [...many(140), ...many(3, "org.few")].map((tool, i) => ({ ...tool, short: `n${i}` })),
      "openai",
    );
    expect(made.tools).toHaveLength(128);
    expect([...made.names.values()].filter((full) => full.startsWith("org.few"))).toHaveLength(3);
    expect(made.leftOut).toHaveLength(15);
    expect(made.warnings[0]).toMatch(
      /at most 128 tools and there are 143 \(org\.few: 3, org\.many: 140\); 15 were left out \(org\.many\.[^,]+, org\.many\.[^,]+, org\.many\.[^ ]+ and 12 more\)/,
    );
    expect(made.warnings).toHaveLength(1);
  });

  test("lower risk comes first within an app", () => {
    const tools = many(4).map((tool, i) => ({ ...tool, risk: i % 2 === 0 ? ("high" as const) : ("low" as const) }));
    expect([...exportTools(tools, "openai", { maxTools: 2 }).names.values()]).toEqual(["org.many.t1", "org.many.t3"]);
  });

  test("Anthropic gets all, Gemini all with a hint", () => {
    expect(exportTools(many(140), "anthropic").warnings).toEqual([]);
    expect(exportTools(many(140), "gemini").tools).toHaveLength(140);
    expect(exportTools(many(140), "gemini").warnings[0]).toMatch(/gemini\.many_tools/);
  });

  test("names keep to 60 for LiteLLM, and lead back", () => {
    const full = `org.example.${"very-long-name-of-a-tool".repeat(3)}`;
    const tool = toolWith(noArguments, { full, app: "org.example", name: full.slice(12), short: `x${"a".repeat(63)}` });
    const made = exportTools([tool], "litellm");
    const [name] = [...made.names.keys()];
    expect(name!.length).toBeLessThanOrEqual(60);
    expect(made.names.get(name!)).toBe(full);
  });

  test("a budget warns with the dearest tools", () => {
    const made = exportTools(
      [toolWith(noArguments), toolWith(noArguments, { name: "dear", full: "dear", short: "dear", description: "word ".repeat(200) })],
      "openai",
      { budgetTokens: 50 },
    );
    expect(made.warnings[0]).toMatch(/over the budget of 50; the dearest: dear \d+/);
    expect(made.tokens).toBe(made.report[0]!.tokens + made.report[1]!.tokens);
  });

  test("another counter may be used", () => {
    expect(exportTools([toolWith(noArguments)], "openai", { countTokens: () => 7 }).tokens).toBe(7);
  });
});

describe("descriptions", () => {
  const sentence = "Runs one search over the whole index and gives back the best matches with their scores. ";
  const long = sentence.repeat(15).trim();

  test("are cut at a word for OpenAI and whole elsewhere", () => {
    const openai = exportOne("openai", noArguments, {}, { description: long })!;
    expect(openai.description.length).toBeLessThanOrEqual(1024);
    expect(openai.description).toMatch(/\S…$/);
    expect(long.startsWith(openai.description.slice(0, -1))).toBe(true);
    expect(long.charAt(openai.description.length - 1)).toBe(" ");
    expect(openai.report.relaxations).toContainEqual({
      code: "description.truncated",
      pointer: "/description",
      before: long.length,
      after: openai.description.length,
      effect: "annotated",
    });
    expect(exportOne("anthropic", noArguments, {}, { description: long })!.description).toBe(long);
    expect(exportOne("gemini", noArguments, {}, { description: long })!.description).toBe(long);
  });

  test.each(["🙂", "e\u0301", "👨‍👩‍👧"])("are not cut inside %s", (unit) => {
    for (let pad = 0; pad < unit.length; pad += 1) {
      const cut = exportOne("openai", noArguments, { maxDescription: 40 }, { description: "x".repeat(pad) + unit.repeat(60) })!.description;
      expect(cut.replace(/^x*/, "").replace(/…$/, "").replaceAll(unit, "")).toBe("");
      expect(cut.length).toBeLessThanOrEqual(40);
    }
  });

  test("that are cut before a sentence are reported with both lengths", () => {
    const schema = { type: "object", properties: { a: { type: "string" }, b: { type: "string" } }, dependentRequired: { a: ["b"] } };
    const cut = exportOne("openai", schema, { maxDescription: 100 }, { description: "word ".repeat(40).trim() })!;
    expect(cut.description).toMatch(/… With `a`, also give `b`\.$/);
    expect(cut.report.relaxations).toContainEqual({
      code: "description.truncated",
      pointer: "/description",
      before: 225,
      after: cut.description.length,
      effect: "annotated",
    });
  });

  test("keep the sentences about the root when they are cut", () => {
    const schema = { type: "object", properties: { a: {}, b: {} }, anyOf: [{ required: ["a"] }, { required: ["b"] }] };
    expect(exportOne("openai", schema, {}, { description: long })!.description).toMatch(/… Give at least one of: `a`; `b`\.$/);
  });

  test("tell a choice and its forms in a sentence each, and nothing where there is no choice", () => {
    const either = {
      oneOf: [
        { required: ["a"], not: { required: ["b"] } },
        { required: ["b"], not: { required: ["a"] } },
      ],
    };
    const properties = { a: { type: "string" }, b: { type: "string" } };
    const described = (schema: JsonObject): string => exportOne("openai", { type: "object", ...schema })!.description;
    expect(described({ properties, ...either })).toBe("Probe. Give exactly one of: `a`; `b`.");
    expect(described({ properties, anyOf: either.oneOf })).toBe("Probe. Give exactly one of: `a`; `b`.");
    expect(described({ anyOf: [{ properties }, { type: "null" }] })).toBe("Probe.");
  });

  test("use the names that the target shows", () => {
    const schema = { type: "object", properties: { $a: { type: "string" }, "b.c": { type: "string" } }, dependentRequired: { $a: ["b.c"] } };
    const described = (format: (typeof EXPORT_FORMATS)[number]): string => exportOne(format, schema)!.description;
    expect(described("openai")).toBe("Probe. With `$a`, also give `b.c`.");
    expect(described("anthropic")).toBe("Probe. With `_a`, also give `b.c`.");
    expect(described("litellm")).toBe("Probe. With `_a`, also give `b_c`.");
  });

  test("are never missing", () => {
    expect(exportOne("openai", noArguments, {}, { description: null, title: "Do it" })!.description).toBe("Do it");
    expect(exportOne("openai", noArguments, {}, { description: undefined })!.description).toBe("probe of Test.");
  });
});

describe("schemas that must cost little", () => {
  const levels = 25;
  const bomb: JsonObject = {
    type: "object",
    properties: { x: { $ref: "#/$defs/L0" } },
    required: ["x"],
    $defs: Object.fromEntries(
      Array.from({ length: levels + 1 }, (_, i) => [
        `L${i}`,
        i < levels ? { type: "object", properties: { a: { $ref: `#/$defs/L${i + 1}` }, b: { $ref: `#/$defs/L${i + 1}` } } } : { type: "string" },
      ]),
    ),
  };

  test.each(["openai", "openai-strict", "anthropic", "anthropic-strict", "gemini", "gemini-legacy", "litellm", "text"] as const)(
    "definitions that double at every level: %s",
    (format) => {
      const started = performance.now();
      const made = exportOne(format, structuredClone(bomb))!;
      expect(performance.now() - started).toBeLessThan(2_000);
      expect(JSON.stringify(made.tool).length).toBeLessThan(256 * 1024);
      if (format === "openai-strict") expect(made).toMatchObject({ strict: false, report: { fallback: ["nesting over 10 levels"] } });
      if (made.schema) expect(brokenRules(rulesOf(format, made.strict === true), made.schema)).toEqual([]);
    },
  );

  const numbered = (count: number, letter: string): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`${letter}${i}`, { type: "string" }]));
  test.each<[string, JsonObject]>([
    [
      "a long union beside many properties",
      {
        type: "object",
        properties: {
          x: {
            type: "object",
            properties: numbered(8000, "p"),
            anyOf: Object.values(numbered(3000, "q")).map(() => ({ properties: { b: { type: "string" } } })),
          },
        },
      },
    ],
    [
      "a long union at the root",
      {
        type: "object",
        oneOf: Array.from({ length: 2000 }, (_, i) => ({ properties: { k: { const: `v${i}` }, [`q${i}`]: { type: "string" } }, required: ["k"] })),
      },
    ],
    ["a long enum with repeats", { type: "object", properties: { x: { enum: Array.from({ length: 100_000 }, (_, i) => `v${i % 50_000}`) } } }],
  ])("%s", (_what, inputSchema) => {
    const begun = performance.now();
    for (const format of EXPORT_FORMATS) expect(exportOne(format, structuredClone(inputSchema))).toBeDefined();
    expect(performance.now() - begun).toBeLessThan(20_000);
  });

  test("a schema too deep or too wide is left out, and only it", () => {
    let deep: JsonObject = { type: "string" };
    for (let i = 0; i < 5_000; i += 1) deep = { type: "object", properties: { d: deep } };
    const wide = { type: "object", properties: Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`p${i}`, { type: "string" }])) };
    const made = exportTools([toolWith(deep, { full: "deep" }), toolWith(wide, { full: "wide" }), toolWith(noArguments)], "openai");
    expect(made.tools).toHaveLength(1);
    expect(made.leftOut.map(({ full, reason }) => [full, reason.split(":")[0]])).toEqual([
      ["deep", "schema.too_large"],
      ["wide", "schema.too_large"],
    ]);
  });

  test("1,001 enum values are no strict schema", () => {
    const values = Array.from({ length: 1001 }, (_, i) => `v${i}`);
    const schema = { type: "object", properties: { code: { type: "string", enum: values } }, required: ["code"] };
    expect(exportOne("openai-strict", schema)!.report.fallback).toEqual(["over 1000 enum values in one schema"]);
    expect(exportOne("openai", schema)!.schema).toEqual(schema);
    expect(
      exportOne("openai-strict", { type: "object", properties: { code: { type: "string", enum: values.slice(0, 1000) } }, required: ["code"] })!.strict,
    ).toBe(true);
  });
});

describe("property names a provider refuses", () => {
  const long = "settings__approved__or__denied__countries__or__regions__approved__list";

  test("are replaced, the same on every run", () => {
    const schema = { type: "object", properties: { topic: { type: "string" }, [long]: { type: "string" } }, required: ["topic", long] };
    const [anthropic, gemini] = [exportOne("anthropic", schema)!.schema!, exportOne("gemini", structuredClone(schema))!.schema!];
    const names = Object.keys(anthropic["properties"] as JsonObject);
    expect(names[0]).toBe("topic");
    expect(names[1]).toMatch(/^settings__approved[A-Za-z0-9_]{0,38}_[a-z2-7]{8}$/);
    expect(anthropic["required"]).toEqual(names);
    expect(Object.keys(gemini["properties"] as JsonObject)).toEqual(names);
    expect(Object.keys(exportOne("openai", schema)!.schema!["properties"] as JsonObject)).toEqual(["topic", long]);
  });

  test("stand in the pointers of the report as the tool has them", () => {
    const { report } = exportOne("gemini", {
      type: "object",
      properties: { "a/b": { type: "object", properties: { "c.d": { type: "string", pattern: "^x" } } } },
    })!;
    expect(report.relaxations).toMatchObject([
      { code: "property.renamed" },
      { code: "property.renamed" },
      { pointer: "/properties/a~1b/properties/c.d/pattern" },
    ]);
  });

  test("stay apart when they would become one", () => {
    const schema = { type: "object", properties: { $top: {}, _top: {}, "@top": {}, 名: {} } };
    const names = Object.keys(exportOne("gemini", schema)!.schema!["properties"] as JsonObject);
    expect(new Set(names).size).toBe(4);
    expect(names).toContain("_top");
    for (const name of names) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/);
  });
});

test("references outside the schema: left out with the URIs, or anything when asked for", () => {
  const schema = {
    type: "object",
    properties: { payload: { $ref: "https://schemas.example.com/payload.json", description: "The payload" }, cfg: { $ref: "file:///etc/hostname" } },
    required: ["payload"],
  };
  expect(exportTools([toolWith(schema)], "openai").leftOut[0]!.reason).toBe(
    "ref.external: the schema refers outside itself: https://schemas.example.com/payload.json, file:///etc/hostname",
  );
  const made = exportOne("openai-strict", schema, { externalRefs: "any" })!;
  expect(made.strict).toBe(false);
  expect(made.schema).toEqual({ type: "object", properties: { payload: { description: "The payload" }, cfg: {} }, required: ["payload"] });
  expect(made.report.relaxations.filter((r) => r.code === "ref.external")).toHaveLength(2);
});

test("`strict` for OpenAI is proven tool by tool", () => {
  const closed = toolWith(noArguments, { full: "a", short: "a", name: "a" });
  const open = toolWith({ type: "object", properties: { any: {} } }, { full: "b", short: "b", name: "b" });
  expect(exportTools([closed, open], "openai-responses", { strict: true }).tools.map((tool) => (tool as JsonObject)["strict"])).toEqual([true, false]);
});

test("the search form is two tools, however many there are", () => {
  const made = exportTools(many(500), "openai", { mode: "search" });
  expect([...made.names.keys()]).toEqual(["call_tool", "search_tools"]);
  expect(made.leftOut).toEqual([]);
});

test("a tool named __proto__ or with such a property is a tool like any other", () => {
  const schema = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"integer"}},"required":["__proto__"]}',
  ) as JsonObject;
  expect(JSON.stringify(exportOne("openai", schema)!.schema)).toBe(
    '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"integer"}},"required":["__proto__"]}',
  );
  expect(exportTools([toolWith(noArguments, { full: "a.__proto__", short: "a__proto__" })], "openai").names.get("a__proto__")).toBe("a.__proto__");
});

test.each(EXPORT_FORMATS)("%s: keywords that are named like members of every object cost nothing but themselves", (format) => {
  const inputSchema = JSON.parse('{"type":"object","properties":{"q":{"type":"string","constructor":["x"],"toString":1,"__proto__":{}}}}');
  const made = exportTools([toolWith(inputSchema)], format);
  expect(made.leftOut).toEqual([]);
  expect(made.tools).toHaveLength(1);
});

describe("strict for Anthropic", () => {
  const strictOnes = (schemas: readonly unknown[]) => {
    const made = exportTools(
      schemas.map((schema, i) => toolWith(schema, { name: `t${String(i).padStart(2, "0")}`, full: `t${i}`, short: `t${String(i).padStart(2, "0")}` })),
      "anthropic-strict",
    );
    return { strict: made.report.filter((row) => row.strict).length, fallbacks: made.report.filter((row) => !row.strict).map((row) => row.fallback), made };
  };
  const required = { type: "object", properties: { q: { type: "string" } }, required: ["q"] };

  test("optional properties stay optional, bounds become words, several types are branches, names are legal", () => {
    const made = exportOne("anthropic-strict", {
      type: "object",
      properties: {
        "list name": { type: "array", items: { type: "integer", minimum: 1, maximum: 9 }, minItems: 2 },
        mode: { enum: ["a", "b"] },
        when: { type: ["string", "null"], format: "date" },
        site: { type: "string", format: "uri", description: "Where" },
      },
      required: ["list name"],
    })!;
    expect(made.strict).toBe(true);
    expect(made.schema).toEqual({
      type: "object",
      properties: {
        list_name: { type: "array", description: "At least 2 items", items: { type: "integer", description: "At least 1; at most 9" } },
        mode: { enum: ["a", "b"] },
        when: { anyOf: [{ type: "string", format: "date" }, { type: "null" }] },
        site: { type: "string", description: "Where", format: "uri" },
      },
      additionalProperties: false,
      required: ["list_name"],
    });
    expect(made.report.relaxations.map(({ code, effect }) => `${code} ${effect}`)).toEqual(
      expect.arrayContaining(["minItems.dropped widened", "minimum.dropped widened", "object.closed narrowed", "property.renamed renamed"]),
    );
  });

  test.each<[string, unknown]>([
    ["an open map", { type: "object", properties: { m: { type: "object", additionalProperties: { type: "string" } } } }],
    ["recursion", { type: "object", properties: { n: { $ref: "#/$defs/n" } }, $defs: { n: { type: "object", properties: { n: { $ref: "#/$defs/n" } } } } }],
    ["a value without a type", { type: "object", properties: { v: {} } }],
  ])("%s is exported plain, with the reason", (_what, schema) => {
    const made = exportOne("anthropic-strict", schema)!;
    expect(made.strict).toBe(false);
    expect(made.report.fallback).toHaveLength(1);
    expect(made.schema).toEqual(exportOne("anthropic", schema)!.schema);
  });

  test("the plain form says nothing of strict, unless asked", () => {
    expect(exportOne("anthropic", required)!.strict).toBeUndefined();
    expect(exportOne("anthropic", required, { strict: true })!.strict).toBe(true);
  });

  test("at most 20 tools", () => {
    const { strict, fallbacks } = strictOnes(Array.from({ length: 22 }, () => required));
    expect([strict, fallbacks]).toEqual([20, Array.from({ length: 2 }, () => ["the request already has 20 strict tools"])]);
  });

  test("at most 24 optional properties, nested ones too, in all tools; a smaller tool after a large one still fits", () => {
    const optional = (count: number) => ({
      type: "object",
      properties: { o: { type: "object", properties: Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, { type: "string" }])) } },
      required: ["o"],
    });
    const { made, fallbacks } = strictOnes([optional(20), optional(5), optional(4), optional(1)]);
    expect(made.report.map((row) => row.strict)).toEqual([true, false, true, false]);
    expect(fallbacks[0]).toEqual(["5 optional properties, where the strict tools of a request may have 24 and 20 are taken"]);
  });

  test("at most 16 parameters of several types in all tools", () => {
    const unions = (count: number) => {
      const properties = Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, { type: ["string", "null"] }]));
      return { type: "object", properties, required: Object.keys(properties) };
    };
    const { made } = strictOnes([unions(10), unions(7), unions(6)]);
    expect(made.report.map((row) => row.strict)).toEqual([true, false, true]);
  });
});

describe("append", () => {
  const named = (...names: string[]) => names.map((name) => toolWith({ type: "object" }, { name, full: name, short: name }));

  test.each(EXPORT_FORMATS)("%s: what the last export had keeps its order and bytes, new tools follow sorted, lost ones leave", (format) => {
    const first = exportTools(named("m", "b", "x"), format).text;
    const second = exportTools(named("z", "b", "a", "x"), format, { earlier: exportedOrder(first, format) });
    expect([...second.names.keys()]).toEqual(["b", "x", "a", "z"]);
    const third = exportTools(named("z", "b", "a", "x", "c"), format, { earlier: exportedOrder(second.text, format) });
    expect([...third.names.keys()]).toEqual(["b", "x", "a", "z", "c"]);
    expect(third.text.startsWith(second.text.replace(/\n\]?\n?$/, ""))).toBe(true);
  });

  test.each(["", "{", "{}", "[1, null, {}]", "null"])("a file that is no export (%s) gives the sorted form", (text) => {
    expect(exportTools(named("b", "a"), "openai", { earlier: exportedOrder(text, "openai") }).text).toBe(exportTools(named("a", "b"), "openai").text);
  });
});
