import { isObject, type Json } from "../../../src/base/json.ts";

/**
 * The first difference between an exported schema and the expected one, or null. `required` is a set; a description may be
 * longer than the expected one and may stand where none is expected.
 */
export function schemaDifference(actual: Json | undefined, expected: Json, pointer = ""): string | null {
  const differ = `${pointer || "/"}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`;
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return differ;
    const [left, right] = pointer.endsWith("/required") ? [[...actual].sort(), [...expected].sort()] : [actual, expected];
    for (const [i, item] of right.entries()) {
      const difference = schemaDifference(left[i], item, `${pointer}/${i}`);
      if (difference) return difference;
    }
    return null;
  }
  if (!isObject(expected)) return actual === expected ? null : differ;
  if (!isObject(actual)) return differ;
  for (const key of Object.keys(expected)) {
    if (!Object.hasOwn(actual, key)) return `${pointer}/${key}: missing`;
    const [left, right] = [actual[key] as Json, expected[key] as Json];
    if (key === "description" && typeof right === "string" && typeof left === "string" && left.startsWith(right)) continue;
    const difference = schemaDifference(left, right, `${pointer}/${key}`);
    if (difference) return difference;
  }
  for (const key of Object.keys(actual)) {
    if (!Object.hasOwn(expected, key) && !(key === "description" && typeof actual[key] === "string"))
      return `${pointer}/${key}: ${JSON.stringify(actual[key])} is too much`;
  }
  return null;
}
