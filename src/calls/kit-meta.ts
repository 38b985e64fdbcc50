import { isObject, setOwn, type Json, type JsonObject } from "../base/json.ts";

/** Members of messages that hold parts with a `_meta` of their own: blocks of results, contents of resources, messages of prompts and of model requests. */
const PARTS = ["content", "contents", "messages", "resource"];
/** No message of the protocol has parts deeper than this. */
const MAX_DEPTH = 8;

/**
 * A result or the params of a message of a server without `_meta` members under `aurora/`, its own and those of its parts: only the kit itself says those.
 * Gives the value itself where there is none.
 */
export function withoutKitMeta<T extends Json>(value: T, depth = 0): T {
  if (depth > MAX_DEPTH || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => withoutKitMeta(item as Json, depth + 1));
    return (items.some((item, i) => item !== value[i]) ? items : value) as T;
  }
  let copy: JsonObject | undefined;
  const { _meta: meta } = value as JsonObject;
  if (isObject(meta) && Object.keys(meta).some(isKitMember)) {
    const kept: JsonObject = {};
    for (const [key, member] of Object.entries(meta)) if (!isKitMember(key)) setOwn(kept, key, member as Json);
    const { _meta: _, ...rest } = value as JsonObject;
    copy = Object.keys(kept).length === 0 ? rest : { ...rest, _meta: kept };
  }
  for (const key of PARTS) {
    if (!Object.hasOwn(value, key)) continue;
    const part = (value as JsonObject)[key] as Json;
    const cleaned = withoutKitMeta(part, depth + 1);
    if (cleaned !== part) copy = { ...(copy ?? (value as JsonObject)), [key]: cleaned };
  }
  return (copy ?? value) as T;
}

function isKitMember(key: string): boolean {
  return key.toLowerCase().startsWith("aurora/");
}
