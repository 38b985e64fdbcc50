import { stringifyExact } from "../base/exact-json.ts";
import { isObject, own } from "../base/json.ts";

/** A part of a tool result as a model may be given it. */
export type ResultPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "media"; readonly medium: "image" | "audio" | "document"; readonly mimeType: string; readonly data: string; readonly bytes: number };

/** The parts of a result, and its structured value where that is all it has. */
export interface ResultParts {
  readonly parts: readonly ResultPart[];
  readonly structured: { readonly value: unknown } | undefined;
}

/** Reads an MCP tool result: content first, structuredContent where content is empty. Unknown blocks become a line of text. */
export function readResultParts(result: unknown): ResultParts {
  const content = own(result, "content");
  const parts = Array.isArray(content) ? content.map(readBlock) : [];
  const structured = own(result, "structuredContent");
  if (parts.length > 0 || structured === undefined) return { parts, structured: undefined };
  return { parts: [{ kind: "text", text: stringifyExact(structured) }], structured: { value: structured } };
}

/** A line that stands for media a model is not given here. */
export function mediaLine(part: Extract<ResultPart, { kind: "media" }>, why: string): string {
  return `[${part.medium}: ${part.mimeType}, ${part.bytes} bytes; ${why}]`;
}

function readBlock(block: unknown): ResultPart {
  const type = own(block, "type");
  if (type === "text" && typeof own(block, "text") === "string") return text(own(block, "text") as string);
  if (type === "image" || type === "audio") return media(type, own(block, "mimeType"), own(block, "data"));
  if (type === "resource_link" && typeof own(block, "uri") === "string") return text(linkLine(block));
  const resource = own(block, "resource");
  if (type === "resource" && isObject(resource)) return readResource(resource);
  const mime = own(block, "mimeType");
  return text(
    `[a block of type ${typeof type === "string" ? JSON.stringify(type.slice(0, 60)) : "unknown"}${typeof mime === "string" ? ` (${mime.slice(0, 60)})` : ""} that cannot be shown]`,
  );
}

function text(value: string): ResultPart {
  return { kind: "text", text: value };
}

function readResource(resource: Record<string, unknown>): ResultPart {
  const uri = shownUri(own(resource, "uri"));
  const mime = own(resource, "mimeType");
  const content = own(resource, "text");
  if (typeof content === "string") return text(`[resource ${uri}]\n${content}`);
  const blob = own(resource, "blob");
  if (typeof blob !== "string") return text(`[resource ${uri}]`);
  const kind = typeof mime === "string" ? mime.split("/")[0] : undefined;
  if (kind === "image" || kind === "audio") return media(kind, mime, blob);
  if (mime === "application/pdf") return media("document", mime, blob);
  return text(`[resource ${uri}: ${typeof mime === "string" ? mime.slice(0, 60) : "no type given"}, ${decodedBytes(blob)} bytes, not shown]`);
}

function media(medium: "image" | "audio" | "document", mimeType: unknown, data: unknown): ResultPart {
  if (typeof mimeType !== "string" || typeof data !== "string" || data === "" || !/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(data))
    return text(`[${medium} that cannot be shown: ${typeof data === "string" && data !== "" ? "its data is not base64" : "it has no data"}]`);
  return { kind: "media", medium, mimeType: mimeType.toLowerCase(), data, bytes: decodedBytes(data) };
}

function decodedBytes(base64: string): number {
  return Buffer.byteLength(base64.replace(/\s+/g, ""), "base64");
}

function linkLine(block: unknown): string {
  const part = (key: string): string => {
    const value = own(block, key);
    return typeof value === "string" && value !== "" ? value : "";
  };
  const title = part("title") || part("name");
  const details = [part("mimeType"), part("description")].filter((item) => item !== "").join(", ");
  return `[link${title === "" ? "" : ` ${title}`}: ${shownUri(own(block, "uri"))}${details === "" ? "" : ` (${details})`}]`;
}

/** A URI for print; a data: URI without its data. */
function shownUri(uri: unknown): string {
  if (typeof uri !== "string") return "without a URI";
  return /^data:/i.test(uri) ? `${uri.slice(0, Math.min(uri.indexOf(",") + 1 || 60, 60))}… (${uri.length} characters)` : uri;
}
