import { isObject, own, setOwn, type JsonObject } from "../base/json.ts";

/** Ties a message to a task, in its `_meta`. */
const RELATED_TASK = "io.modelcontextprotocol/related-task";

/** A result or the params of a message without the task that it belongs to: ids of an app's tasks do not leave the host. */
export function withoutRelatedTask(message: JsonObject): JsonObject {
  const meta = own(message, "_meta");
  if (!isObject(meta) || !Object.hasOwn(meta, RELATED_TASK)) return message;
  const { _meta: _, ...rest } = message;
  const kept: JsonObject = {};
  for (const [key, value] of Object.entries(meta)) if (key !== RELATED_TASK) setOwn(kept, key, value);
  return Object.keys(kept).length === 0 ? rest : { ...rest, _meta: kept };
}

/** The id of the task that a message belongs to, empty where it is not said; null for none. */
export function taskOf(message: JsonObject): string | null {
  const related = own(own(message, "_meta"), RELATED_TASK);
  if (!isObject(related)) return null;
  const id = own(related, "taskId");
  return typeof id === "string" ? id : "";
}

/** A result or the params of a message, tied to a task. */
export function withRelatedTask(message: JsonObject, taskId: string): JsonObject {
  const meta = own(message, "_meta");
  return { ...message, _meta: { ...(isObject(meta) ? (meta as JsonObject) : {}), [RELATED_TASK]: { taskId } } };
}
