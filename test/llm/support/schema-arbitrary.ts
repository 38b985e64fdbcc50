import fc from "fast-check";
import "../../support/explore.ts";
import type { Json, JsonObject } from "../../../src/base/json.ts";

const names = fc.constantFrom("a", "b", "$c", "d e", "__proto__", "constructor", "名");
const words = fc.record({ title: fc.constantFrom("T", "U"), description: fc.constantFrom("What it is", "Other words") }, { requiredKeys: [] });
const scalars: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>("x", "y", "", "12", "true", null, true, false),
  fc.integer({ min: -3, max: 5 }),
  fc.constantFrom(0.5, 1.5),
);

function withWords(arbitrary: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> {
  return fc.tuple(arbitrary, words).map(([node, text]) => ({ ...node, ...text }));
}

function objectOf(child: fc.Arbitrary<Json>): fc.Arbitrary<JsonObject> {
  return fc
    .record(
      {
        properties: fc.dictionary(names, child, { maxKeys: 3 }),
        required: fc.uniqueArray(names, { maxLength: 2 }),
        additionalProperties: fc.oneof(fc.boolean() as fc.Arbitrary<Json>, child),
        minProperties: fc.constantFrom(0, 1),
      },
      { requiredKeys: ["properties"] },
    )
    .map((node) => ({ type: "object", ...node }) as JsonObject);
}

const { node } = fc.letrec<{ node: Json }>((tie) => ({
  node: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    withWords(
      fc.record(
        {
          type: fc.constant("string"),
          minLength: fc.constantFrom(0, 1),
          pattern: fc.constantFrom("^x", "(?=x)", "\\p{L}"),
          format: fc.constantFrom("date", "uri"),
          default: fc.constantFrom("x", ""),
        },
        { requiredKeys: ["type"] },
      ) as fc.Arbitrary<JsonObject>,
    ),
    withWords(
      fc.record(
        {
          type: fc.constantFrom("integer", "number"),
          minimum: fc.constantFrom(-1, 0),
          exclusiveMaximum: fc.constantFrom(4, 4.5),
          multipleOf: fc.constantFrom(1, 0.5),
        },
        { requiredKeys: ["type"] },
      ) as fc.Arbitrary<JsonObject>,
    ),
    fc.constantFrom<JsonObject>(
      { type: "boolean" },
      { type: "null" },
      {},
      { type: "object" },
      { type: "array" },
      { type: ["string", "null"] },
      { type: ["integer", "string"] },
      { type: ["object", "null"], properties: { a: { type: "string" } } },
      { type: ["array", "string"], items: { type: "integer" } },
    ),
    fc.constantFrom<Json>(
      true,
      { type: "string", nullable: true },
      { type: "made-up" },
      { $ref: "#/$defs/Tree" },
      { $ref: "#/definitions/Old" },
      { $ref: "#/$defs/none" },
      { not: {} },
      { items: { type: "string" } },
      { type: "string", const: 1, enum: [1, 2, 2] },
      { $ref: "#/$defs/Name", description: "Mine" },
    ),
    fc.uniqueArray(scalars, { minLength: 1, maxLength: 4, comparator: "SameValueZero" }).map((values): JsonObject => ({ enum: values })),
    scalars.map((value): JsonObject => ({ const: value })),
    fc
      .record({ items: tie("node"), minItems: fc.constantFrom(0, 1), uniqueItems: fc.boolean() }, { requiredKeys: [] })
      .map((node) => ({ type: "array", ...node }) as JsonObject),
    fc
      .record(
        {
          prefixItems: fc.array(tie("node"), { minLength: 1, maxLength: 2 }),
          items: fc.oneof(fc.constant<Json>(false), tie("node")),
          minItems: fc.constantFrom(0, 2),
        },
        { requiredKeys: ["prefixItems"] },
      )
      .map((node) => ({ type: "array", ...node }) as JsonObject),
    fc.array(tie("node"), { minLength: 1, maxLength: 2 }).map((items): JsonObject => ({ type: "array", items, additionalItems: false })),
    withWords(objectOf(tie("node"))),
    fc
      .dictionary(fc.constantFrom("^a", "b", "^(?!c)"), tie("node"), { minKeys: 1, maxKeys: 2 })
      .map((patternProperties): JsonObject => ({ type: "object", patternProperties })),
    fc
      .tuple(fc.constantFrom("anyOf", "oneOf", "allOf"), fc.array(tie("node"), { minLength: 1, maxLength: 3 }))
      .map(([keyword, branches]): JsonObject => ({ [keyword]: branches })),
    fc.tuple(tie("node"), tie("node")).map(([condition, then]): JsonObject => ({
      type: "object",
      properties: { a: {}, b: { type: "string" } },
      if: condition,
      then,
      not: { required: ["b"] },
    })),
  ),
}));

/** Input schemas of all the kinds that servers send: old dialects, unions, references, conditions, at the root too. */
export const inputSchemas: fc.Arbitrary<JsonObject> = fc
  .tuple(
    objectOf(node),
    fc.option(
      fc.tuple(
        fc.constantFrom("anyOf", "oneOf", "allOf"),
        fc.array(
          fc.oneof(
            objectOf(node),
            fc.uniqueArray(names, { minLength: 1, maxLength: 2 }).map((required): JsonObject => ({ required })),
          ),
          { minLength: 1, maxLength: 3 },
        ),
      ),
    ),
    node,
  )
  .map(([root, union, old]) => ({
    ...root,
    ...(union ? { [union[0]]: union[1] } : {}),
    $defs: {
      Name: { type: "string", minLength: 1 },
      Tree: {
        type: "object",
        properties: { label: { type: "string" }, kids: { type: "array", items: { $ref: "#/$defs/Tree" } } },
        required: ["label", "kids"],
      },
    },
    definitions: { Old: old },
  }));
