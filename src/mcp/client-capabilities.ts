import type { Grants } from "../../generated/app.d.ts";
import { isObject, own, type Json, type JsonObject } from "../base/json.ts";

/**
 * Client capabilities that an app's grants allow, and the requests that may then arrive. Nothing is declared that is not granted, and
 * what is only forwarded is declared only on a connection that serves one client which has it (`client`: that client's capabilities).
 */
export function clientCapabilities(
  grants: Grants,
  client: JsonObject | undefined,
): { readonly capabilities: JsonObject; readonly methods: ReadonlySet<string> } {
  const capabilities: JsonObject = {};
  const methods = new Set<string>();
  const grant = (name: string, method: string, value: Json): void => {
    capabilities[name] = value;
    methods.add(method);
  };
  /** What the calling client itself has of a feature, where forwarding it is granted. */
  const forwarded = (name: string, forward: boolean | undefined): Json | undefined => {
    const value = forward === true ? own(client, name) : undefined;
    return isObject(value) ? (value as Json) : undefined;
  };
  if (grants.roots !== undefined && grants.roots.length > 0) grant("roots", "roots/list", {});
  const sampling = forwarded("sampling", grants.sampling?.forward) ?? (grants.sampling?.endpoint === undefined ? undefined : {});
  if (sampling !== undefined) grant("sampling", "sampling/createMessage", sampling);
  const elicitation = forwarded("elicitation", grants.elicitation?.forward) ?? (grants.elicitation?.approvals === true ? { form: {}, url: {} } : undefined);
  if (elicitation !== undefined) grant("elicitation", "elicitation/create", elicitation);
  return { capabilities, methods };
}
