import type { JsonObject } from "../base/json.ts";
import { messageOf } from "../base/errors.ts";
import { LinkError } from "../runtime/ports.ts";
import type { AppListing, DroppedItem, ToolDefinition } from "../tools/types.ts";
import type { ServerHello } from "./handshake.ts";
import { judgePrompt, judgeResource, judgeTemplate, judgeTool, sortItems } from "./list-items.ts";
import type { SortedItems } from "./list-items.ts";
import { walkPages } from "./list-pages.ts";
import type { ListKind, ListLimits } from "./list-pages.ts";

interface Listed extends ListKind {
  readonly kind: DroppedItem["kind"];
  readonly capability: string;
  readonly judge: (item: JsonObject) => string | undefined;
}

const TOOLS: Listed = { kind: "tool", method: "tools/list", items: "tools", key: "name", capability: "tools", judge: judgeTool };
const PROMPTS: Listed = { kind: "prompt", method: "prompts/list", items: "prompts", key: "name", capability: "prompts", judge: judgePrompt };
const RESOURCES: Listed = { kind: "resource", method: "resources/list", items: "resources", key: "uri", capability: "resources", judge: judgeResource };
const TEMPLATES: Listed = {
  kind: "template",
  method: "resources/templates/list",
  items: "resourceTemplates",
  key: "uriTemplate",
  capability: "resources",
  judge: judgeTemplate,
};

const METHOD_NOT_FOUND = -32601;
const NOTHING: SortedItems = { kept: [], dropped: [], conflicts: [], warnings: [] };

/**
 * Reads everything a server shows. Lists that it does not declare are not asked for; one that declares nothing at all is asked for tools once, with a warning.
 * A failing list of prompts or resources is a warning; a failing list of tools throws.
 */
export async function readListing(
  app: string,
  hello: ServerHello,
  limits: ListLimits,
  request: (method: string, params: JsonObject) => Promise<JsonObject>,
): Promise<AppListing> {
  const declared = (capability: string): boolean => Object.hasOwn(hello.capabilities, capability);
  const undeclared = Object.keys(hello.capabilities).length === 0;
  const read = async (list: Listed): Promise<SortedItems> => {
    if (!declared(list.capability) && !(undeclared && list === TOOLS)) return NOTHING;
    try {
      const walked = await walkPages(list, limits, (params) => request(list.method, params));
      const sorted = sortItems(list.kind, list.key, walked.items, list.judge);
      const hint = undeclared && sorted.kept.length > 0 ? ["the server has tools but does not declare the capability"] : [];
      return { ...sorted, warnings: [...hint, ...walked.warnings, ...sorted.warnings] };
    } catch (error) {
      const missing = error instanceof LinkError && error.kind === "rpc" && error.code === METHOD_NOT_FOUND;
      if (missing)
        return {
          ...NOTHING,
          warnings: declared(list.capability) && list !== TEMPLATES ? [`the server declares ${list.capability} but does not know ${list.method}`] : [],
        };
      if (list === TOOLS && !(undeclared && error instanceof LinkError && error.kind === "rpc")) throw error;
      return { ...NOTHING, warnings: [`${list.method} failed: ${messageOf(error)}`] };
    }
  };
  const [tools, prompts, resources, templates] = await Promise.all([read(TOOLS), read(PROMPTS), read(RESOURCES), read(TEMPLATES)]);
  const all = [tools, prompts, resources, templates];
  return {
    app,
    serverInfo: hello.serverInfo,
    protocolVersion: hello.protocolVersion,
    capabilities: hello.capabilities,
    instructions: hello.instructions,
    tools: tools.kept as readonly ToolDefinition[],
    prompts: prompts.kept as readonly (JsonObject & { name: string })[],
    resources: resources.kept as readonly (JsonObject & { uri: string })[],
    templates: templates.kept as readonly (JsonObject & { uriTemplate: string })[],
    dropped: all.flatMap((list) => list.dropped),
    conflicts: tools.conflicts,
    warnings: all.flatMap((list) => list.warnings),
  };
}
