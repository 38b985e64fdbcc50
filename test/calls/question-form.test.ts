import { expect, it } from "vitest";
import { formFault } from "../../src/calls/question-form.ts";

const form = (field: object) => formFault({ type: "object", properties: { field }, required: ["field"] });

it.each([
  ["a text", { type: "string", title: "Name", minLength: 1, format: "email" }],
  ["a choice", { type: "string", enum: ["a", "b"], enumNames: ["A", "B"] }],
  ["a choice with titles", { type: "string", oneOf: [{ const: "a", title: "A" }] }],
  ["several choices", { type: "array", items: { type: "string", enum: ["a"] } }],
  ["a number that may be left empty, as Python's SDK writes it", { anyOf: [{ type: "integer", minimum: 1 }, { type: "null" }], default: null, title: "Age" }],
])("a form may have %s", (_what, field) => expect(form(field)).toBeNull());

it.each([
  ["a form in a form", { type: "object", properties: { password: { type: "string" } } }],
  ["a field of two kinds", { anyOf: [{ type: "string" }, { type: "integer" }] }],
  ["words that would not be shown", { anyOf: [{ type: "string", title: "Password" }, { type: "null" }], title: "Name" }],
  ["an optional form in a form", { anyOf: [{ type: "object", properties: {} }, { type: "null" }] }],
  ["rules that a person is not shown", { type: "string", allOf: [{ title: "Password" }] }],
])("a form has not %s", (_what, field) => expect(form(field)).toContain('field "field"'));
