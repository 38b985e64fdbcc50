import { stringifyExact } from "../base/exact-json.ts";
import { isObject, own } from "../base/json.ts";

/** A part of a tool result as a model may be given it. */
export type ResultPart =
  | { readonly kind: "text"; readonly text: string }
  /** `data` is plain base64: one line, padded. */
  | { readonly kind: "media"; readonly medium: "image" | "audio" | "document"; readonly mimeType: string; readonly data: string; readonly bytes: number };

/** The parts of a result, and its structured value where that is all it has. */
export interface ResultParts {
  readonly parts: readonly ResultPart[];
  readonly structured: { readonly value: unknown } | undefined;
}

/**
 * Reads an MCP tool result: content first, structuredContent where content has no text. Unknown blocks become a line of text;
 * content that is no list is taken as its only block.
 */
export function readResultParts(result: unknown): ResultParts {
  const content = own(result, "content");
  const parts = content === undefined || content === null ? [] : [content].flat().map(readBlock);
  const structured = own(result, "structuredContent");
  if (structured === undefined || parts.some((part) => part.kind === "text" && part.text.trim() !== "")) return { parts, structured: undefined };
  return { parts: [text(stringifyExact(structured)), ...parts.filter((part) => part.kind === "media")], structured: { value: structured } };
}

/** A line that stands for media a model is not given here. */
export function mediaLine(part: Extract<ResultPart, { kind: "media" }>, why: string): string {
  return `[${part.medium}: ${part.mimeType}, ${part.bytes} bytes; ${why}]`;
}

function readBlock(block: unknown): ResultPart {
  if (typeof block === "string") return text(block);
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
  // Half a surrogate pair is no text for most programs that a message passes on its way.
  return { kind: "text", text: value.replace(/\p{Cs}/gu, "\ufffd") };
}

function readResource(resource: Record<string, unknown>): ResultPart {
  const uri = shownUri(own(resource, "uri"));
  const mime = own(resource, "mimeType");
  const content = own(resource, "text");
  if (typeof content === "string") return text(`[resource ${uri}]\n${content}`);
  const blob = own(resource, "blob");
  if (typeof blob !== "string") return text(`[resource ${uri}]`);
  const kind = typeof mime === "string" ? mediumOf(plainMime(mime)) : undefined;
  if (kind !== undefined) return media(kind, mime, blob);
  return text(`[resource ${uri}: ${typeof mime === "string" ? mime.slice(0, 60) : "no type given"}, ${decodedBytes(blob)} bytes, not shown]`);
}

function media(medium: "image" | "audio" | "document", mimeType: unknown, data: unknown): ResultPart {
  const shown = (why: string): ResultPart => text(`[${medium} that cannot be shown: ${why}]`);
  if (typeof data !== "string" || data === "") return shown("it has no data");
  if (typeof mimeType !== "string" || mimeType === "") return shown("its type is not given");
  const base64 = plainBase64(data);
  if (base64 === undefined) return shown("its data is not base64");
  const mime = plainMime(mimeType);
  return { kind: "media", medium: mediumOf(mime) ?? medium, mimeType: mime, data: base64, bytes: decodedBytes(base64) };
}

/** A type as providers list it: without parameters, and `image/jpeg` for the common mistake. */
function plainMime(mime: string): string {
  const plain = mime.split(";", 1)[0]!.trim().toLowerCase();
  return plain === "image/jpg" ? "image/jpeg" : plain;
}

function mediumOf(mime: string): "image" | "audio" | "document" | undefined {
  if (mime.startsWith("image/")) return "image";
  if (mime.startsWith("audio/")) return "audio";
  return mime === "application/pdf" ? "document" : undefined;
}

/** Base64 as providers take it, without line breaks, a data: URL around it or missing padding; undefined where it is none. */
function plainBase64(data: string): string | undefined {
  const bare = data.startsWith("data:") ? data.slice(data.indexOf(",") + 1) : data;
  const joined = /\s/.test(bare) ? bare.replace(/\s+/g, "") : bare;
  const digits = joined.endsWith("=") ? joined.replace(/={1,2}$/, "") : joined;
  if (digits === "" || digits.length % 4 === 1 || !/^[A-Za-z0-9+/]*$/.test(digits)) return undefined;
  return digits.padEnd(Math.ceil(digits.length / 4) * 4, "=");
}

function decodedBytes(base64: string): number {
  return Buffer.byteLength(/\s/.test(base64) ? base64.replace(/\s+/g, "") : base64, "base64");
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
