import { isObject, own, type Json, type JsonObject } from "../base/json.ts";

/** Counts the tokens of a text exactly, for those who have a tokenizer at hand. */
export type CountTokens = (text: string) => number;

/**
 * Estimated tokens of a text: a quarter of its ASCII characters plus one for every other character. That is near what
 * OpenAI's and Anthropic's tokenizers make of English JSON, and somewhat over for Chinese; it is an estimate, not a count.
 */
export function estimateTokens(text: string): number {
  if (Buffer.byteLength(text) === text.length) return Math.ceil(text.length / 4);
  let ascii = 0;
  let other = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code < 128) ascii += 1;
    // The second half of a surrogate pair belongs to the first.
    else if (code < 0xdc00 || code > 0xdfff) other += 1;
  }
  return Math.ceil(ascii / 4 + other);
}

/** Estimated tokens of the texts of a tool result. */
export function resultTokens(result: JsonObject): number {
  const content = own(result, "content");
  if (!Array.isArray(content)) return 0;
  return content.reduce<number>((sum, item) => sum + (isObject(item) && typeof item["text"] === "string" ? estimateTokens(item["text"]) : 0), 0);
}

/** A part of an exported tool and what it costs. */
export interface CostPart {
  /** JSON pointer into the exported tool. */
  readonly pointer: string;
  readonly tokens: number;
}

/** The dearest texts and lists of an exported tool, dearest first: where shortening pays. */
export function dearestParts(exported: Json, count = 5, countTokens: CountTokens = estimateTokens): CostPart[] {
  const parts: CostPart[] = [];
  const visit = (value: Json, pointer: string): void => {
    if (typeof value === "string" || (Array.isArray(value) && value.every((item) => typeof item !== "object" || item === null))) {
      parts.push({ pointer, tokens: countTokens(JSON.stringify(value)) });
    } else if (typeof value === "object" && value !== null) {
      for (const [key, child] of Object.entries(value)) visit(child, `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
    }
  };
  visit(exported, "");
  return parts.sort((a, b) => b.tokens - a.tokens || (a.pointer < b.pointer ? -1 : 1)).slice(0, count);
}
