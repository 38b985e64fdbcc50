import type { Grants } from "../../generated/app.d.ts";
import type { JsonObject } from "../base/json.ts";

/** Client capabilities that an app's grants allow, and the requests that may then arrive. Nothing is declared that is not granted. */
export function clientCapabilities(grants: Grants): { readonly capabilities: JsonObject; readonly methods: ReadonlySet<string> } {
  const capabilities: JsonObject = {};
  const methods = new Set<string>();
  if (grants.roots !== undefined && grants.roots.length > 0) {
    capabilities["roots"] = {};
    methods.add("roots/list");
  }
  if (grants.sampling?.forward === true || grants.sampling?.endpoint !== undefined) {
    capabilities["sampling"] = {};
    methods.add("sampling/createMessage");
  }
  if (grants.elicitation?.forward === true || grants.elicitation?.approvals === true) {
    capabilities["elicitation"] = { form: {} };
    methods.add("elicitation/create");
  }
  return { capabilities, methods };
}
