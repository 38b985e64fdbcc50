import { ExactNumber, stringifyExact } from "../base/exact-json.ts";
import { isObject, own, type Json, type JsonObject } from "../base/json.ts";
import { truncate } from "../base/text.ts";

const SHOWN_CHARS = 2000;

/** A value as the protocol has it, the same one where it is so already; undefined where it is not and must be left out. */
type Tidy = (value: Json) => Json | undefined;
/** Optional members of an object, and how each is made tidy. Other members are nobody's business. */
type Members = readonly (readonly [name: string, fit: Tidy])[];

const when =
  (fits: (value: Json) => boolean): Tidy =>
  (value) =>
    fits(value) ? value : undefined;
const listOf = (fits: (value: Json) => boolean): Tidy => when((value) => Array.isArray(value) && value.every(fits));
const objectOf = (members: Readonly<Record<string, Tidy>>): Tidy => {
  const list = Object.entries(members);
  return (value) => (isObject(value) ? tidy(value as JsonObject, list) : undefined);
};

const isText = (value: unknown): value is string => typeof value === "string";
const text = when(isText);
const META = objectOf({
  progressToken: when((value) => isText(value) || Number.isSafeInteger(value)),
  "io.modelcontextprotocol/related-task": when((value) => isText(own(value, "taskId"))),
});
const ANNOTATIONS = objectOf({
  audience: listOf((value) => value === "user" || value === "assistant"),
  priority: when((value) => typeof value === "number" && value >= 0 && value <= 1),
  lastModified: when(isDateTime),
});
const OF_ALL_BLOCKS = { annotations: ANNOTATIONS, _meta: META };
const BLOCK: Members = Object.entries(OF_ALL_BLOCKS);
const LINK: Members = Object.entries({
  ...OF_ALL_BLOCKS,
  title: text,
  description: text,
  mimeType: text,
  size: when(isNumber),
  icons: listOf(isIcon),
});
const RESOURCE: Members = Object.entries({ ...OF_ALL_BLOCKS, resource: objectOf({ mimeType: text, _meta: META }) });
const RESULT: Members = Object.entries({ structuredContent: objectOf({}), _meta: META });
const ICON: Members = Object.entries({
  mimeType: text,
  sizes: listOf(isText),
  theme: when((value) => value === "light" || value === "dark"),
});

/**
 * A tool result as strict clients take it: they throw the whole away for one odd member. Bad blocks become a line of text with what they are, null and other
 * odd values of optional members are left out, and a result that has structured content alone has it as text too. The same object where all is well.
 */
export function strictResult(result: JsonObject): JsonObject {
  const content = own(result, "content");
  const blocks = Array.isArray(content) ? (content as Json[]) : [];
  const structured = own(result, "structuredContent");
  const showStructured = blocks.length === 0 && structured !== undefined && structured !== null;
  const shown: Json[] = showStructured ? [{ type: "text", text: stringifyExact(structured) }] : blocks.map(strictBlock);
  const tidied = tidy(result, RESULT);
  const failed = own(result, "isError");
  const same = tidied === result && blocks === content && shown.every((block, i) => block === blocks[i]) && shown.length === blocks.length;
  if (same && [undefined, true, false].includes(failed as undefined)) return result;
  const { isError: _, ...rest } = tidied;
  return {
    ...rest,
    content: shown,
    ...(failed === undefined || failed === null ? {} : { isError: failed === true || failed === "true" || failed === 1 }),
  };
}

function strictBlock(block: Json): Json {
  const type = own(block, "type");
  if (isObject(block)) {
    const tidied = tidy(block as JsonObject, type === "resource_link" ? LINK : type === "resource" ? RESOURCE : BLOCK);
    if (hasItsMembers(tidied)) return tidied;
  }
  const kind = isText(type) ? `of type ${JSON.stringify(type.slice(0, 60))}` : "without a type";
  return { type: "text", text: `[a block ${kind} that the protocol does not know like this: ${truncate(stringifyExact(block), SHOWN_CHARS)}]` };
}

/** Whether a block is of a known type and has all that blocks of it must have. */
function hasItsMembers(block: JsonObject): boolean {
  switch (block["type"]) {
    case "text":
      return isText(block["text"]);
    case "image":
    case "audio":
      return isText(block["mimeType"]) && isBase64(block["data"]);
    case "resource_link":
      return isText(block["uri"]) && isText(block["name"]);
    case "resource": {
      const resource = block["resource"];
      return isText(own(resource, "uri")) && (isText(own(resource, "text")) || isBase64(own(resource, "blob")));
    }
    default:
      return false;
  }
}

function tidy(value: JsonObject, members: Members): JsonObject {
  let copy: JsonObject | undefined;
  for (const [key, fit] of members) {
    if (!Object.hasOwn(value, key)) continue;
    const kept = fit(value[key] as Json);
    if (kept === value[key]) continue;
    copy ??= { ...value };
    if (kept === undefined) delete copy[key];
    else copy[key] = kept;
  }
  return copy ?? value;
}

/** Base64 as browsers decode it: white space between, and padding that is whole or left out. */
function isBase64(value: unknown): boolean {
  if (!isText(value)) return false;
  const plain = /[\t\n\f\r ]/.test(value) ? value.replaceAll(/[\t\n\f\r ]/g, "") : value;
  return /^[A-Za-z0-9+/]*={0,2}$/.test(plain) && (plain.endsWith("=") ? plain.length % 4 === 0 : plain.length % 4 !== 1);
}

function isNumber(value: unknown): boolean {
  return typeof value === "number" || value instanceof ExactNumber;
}

function isIcon(icon: Json): boolean {
  if (!isObject(icon) || !isText(own(icon, "src"))) return false;
  return tidy(icon as JsonObject, ICON) === icon;
}

/** An ISO 8601 date and time with its offset, of a day that there is. */
function isDateTime(value: unknown): boolean {
  const found = isText(value) ? /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/.exec(value) : null;
  if (!found) return false;
  const [year, month, day] = found.slice(1, 4).map(Number) as [number, number, number];
  const date = new Date(Date.UTC(2000, month - 1, day));
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
