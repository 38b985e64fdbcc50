import type { ErrorBody } from "../base/errors.ts";
import { isObject, own } from "../base/json.ts";
import { escapeInvisible } from "../base/text.ts";
import type { Context } from "./context.ts";

/** Prints MCP content blocks: text as text, anything else as one line that says what it is. Control characters are escaped. */
export function printContent(context: Context, blocks: unknown): void {
  if (!Array.isArray(blocks)) return;
  for (const block of blocks.filter(isObject)) {
    const type = own(block, "type");
    const text = own(block, "text");
    if (type === "text" && typeof text === "string") context.out(escapeInvisible(text, true));
    else if (type === "resource_link") context.out(`[resource ${escapeInvisible(String(own(block, "uri")))}]`);
    else if (type === "resource") context.out(embedded(own(block, "resource")));
    else context.out(`[${escapeInvisible(String(type))} ${escapeInvisible(String(own(block, "mimeType") ?? ""))}; --json has it whole]`);
  }
}

function embedded(resource: unknown): string {
  const text = own(resource, "text");
  return typeof text === "string" ? escapeInvisible(text, true) : `[resource ${escapeInvisible(String(own(resource, "uri")))}]`;
}

/** Prints a fault on stderr: the code and the message, and each failing path of bad arguments. */
export function printError(context: Context, error: ErrorBody | null): void {
  if (error === null) return context.note(context.noteStyle("red", "no result"));
  context.note(`${context.noteStyle("red", escapeInvisible(error.error_code))}: ${escapeInvisible(error.message, true)}`);
  const near = own(error.details, "near");
  const others = Array.isArray(near) ? near.map(String).filter((name) => !error.message.includes(`did you mean "${name}"`)) : [];
  if (error.error_code === "TOOL_NOT_FOUND" && Array.isArray(near) && near.length === 0) context.note("  aurora-mcp tools list shows all");
  if (others.length > 0) context.note(`  near: ${others.map((name) => escapeInvisible(name)).join(", ")}`);
}
