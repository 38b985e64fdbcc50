import type { Grants } from "../../generated/app.d.ts";
import { isObject, own, type JsonObject } from "../base/json.ts";

/** Server-to-client requests that may go on to the calling client, by method. `roots/list` is none of them: the host answers it from the grant. */
const FORWARDABLE: ReadonlyMap<string, "sampling" | "elicitation"> = new Map([
  ["sampling/createMessage", "sampling"],
  ["elicitation/create", "elicitation"],
]);

/** Whether the grants let a server's request go on to the calling client. */
export function mayForward(grants: Grants, method: string): boolean {
  const feature = FORWARDABLE.get(method);
  return feature !== undefined && grants[feature]?.forward === true;
}

/** Whether a server's request goes on to a calling client with these MCP capabilities: the grants let it, and the client offers it. */
export function isForwarded(grants: Grants, method: string, client: JsonObject | undefined): boolean {
  return mayForward(grants, method) && isObject(own(client, FORWARDABLE.get(method) ?? ""));
}
