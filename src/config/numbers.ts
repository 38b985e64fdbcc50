import type { ScalarNode } from "./nodes.ts";
import type { Shape } from "./shape.ts";

/** Whether a shape takes numbers. */
export function wantsNumber(shape: Shape): boolean {
  return shape.types.length === 0 || shape.types.includes("number") || shape.types.includes("integer");
}

/** Turns the text of a variable into a number or boolean where the schema wants one and takes no text. */
export function convertText(text: string, shape: Shape): string | number | boolean {
  const choices = shape.choices?.find((choice) => typeof choice !== "string" && String(choice) === text);
  if (choices !== undefined) return choices;
  if (shape.types.includes("string")) return text;
  if ((shape.types.includes("number") || shape.types.includes("integer")) && PLAIN_NUMBER.test(text)) return Number(text);
  if (shape.types.includes("boolean") && (text === "true" || text === "false")) return text === "true";
  return text;
}

/** A decimal number that every reader takes for the same. */
export const PLAIN_NUMBER = /^[-+]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

/** Whether every reader takes the number for the same, and none of its digits are lost. */
export function isPlainNumber(node: ScalarNode): boolean {
  if (!PLAIN_NUMBER.test(node.text) || !Number.isFinite(node.value)) return false;
  const digits = node.text
    .replace(/[eE].*$/, "")
    .replaceAll(/[-+.]/g, "")
    .replace(/^0+/, "");
  return digits.length <= 15 || String(node.value) === node.text;
}
