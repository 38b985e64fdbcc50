import { isObject, own, type JsonObject } from "../base/json.ts";
import type { ToolDefinition } from "./types.ts";

/** Whether a tool may run as a task (MCP 2025-11-25): never, when the caller wants it, or only so. */
export type TaskSupport = "forbidden" | "optional" | "required";

/** What a tool's definition says of tasks, as far as its server declares them at all. `capabilities`: those of the server, undefined when they are not known. */
export function taskSupport(definition: ToolDefinition, capabilities: JsonObject | undefined): TaskSupport {
  const said = own(own(definition, "execution"), "taskSupport");
  if (said !== "optional" && said !== "required") return "forbidden";
  return isObject(own(own(own(own(capabilities, "tasks"), "requests"), "tools"), "call")) ? said : "forbidden";
}
