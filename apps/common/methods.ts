import type { OpenApp } from "./app.ts";
import { BusinessError } from "./business-error.ts";
import { describeIssues } from "./check-schema.ts";
import { isJsonObject, type JsonObject } from "./json.ts";
import type { Logger } from "./logger.ts";
import { RPC, RpcError } from "./rpc-error.ts";
import type { ToolCall, ToolReply } from "./tool.ts";

/** Answers one MCP request; throws RpcError where the answer is a JSON-RPC error. */
export type Method = (params: JsonObject, call: ToolCall) => Promise<JsonObject>;

/** Entries on one page of a list. */
const PAGE = 100;

/** The methods an app answers, from its tables. `subscriptions` is kept up to date with what the host subscribed to. */
export function appMethods(packageName: string, app: OpenApp, subscriptions: Set<string>, log: Logger): ReadonlyMap<string, Method> {
  return new Map<string, Method>([
    ...toolMethods(packageName, app, log),
    ...(app.resources ? resourceMethods(app.resources, subscriptions) : []),
    ...(app.prompts ? promptMethods(app.prompts) : []),
  ]);
}

function toolMethods(packageName: string, app: OpenApp, log: Logger): [string, Method][] {
  const tools = new Map(app.tools.map((tool) => [`${packageName}.${tool.name}`, tool]));
  const listed = [...tools].map(([name, { title, description, inputSchema, outputSchema, annotations }]) => ({
    name,
    title,
    description,
    inputSchema,
    outputSchema,
    annotations,
  }));

  const call: Method = async (params, context) => {
    const name = text(params, "name");
    const tool = tools.get(name);
    if (!tool) throw new RpcError(RPC.invalidParams, `unknown tool "${name}"; this app has: ${[...tools.keys()].join(", ")}`, { error_code: "TOOL_NOT_FOUND" });
    const checked = tool.check(params["arguments"] ?? {});
    if (!checked.ok) {
      throw new RpcError(RPC.invalidParams, `invalid arguments for ${name}: ${describeIssues(checked.issues)}`, {
        error_code: "INVALID_ARGUMENTS",
        issues: checked.issues,
      });
    }
    try {
      return succeeded(await tool.run(checked.value, context));
    } catch (error) {
      if (error instanceof BusinessError) {
        log.warning(`${name} failed: ${error.code}`);
        return failed(error);
      }
      if (!context.signal.aborted) log.error(`${name} broke: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      throw new RpcError(RPC.internal, `internal error in ${name}`);
    }
  };
  return [
    ["tools/list", async (params) => page("tools", listed, (tool) => tool.name, params)],
    ["tools/call", call],
  ];
}

function succeeded(reply: ToolReply): JsonObject {
  const links = (reply.links ?? []).map((link) => ({ type: "resource_link", ...link }));
  return { content: [{ type: "text", text: reply.text }, ...links], structuredContent: { ok: true, data: reply.data }, isError: false };
}

function failed(error: BusinessError): JsonObject {
  const structuredContent = { ok: false, error_code: error.code, message: error.message, retryable: error.retryable };
  return { content: [{ type: "text", text: error.message }], structuredContent, isError: true };
}

function resourceMethods(resources: NonNullable<OpenApp["resources"]>, subscriptions: Set<string>): [string, Method][] {
  const missing = (uri: string): RpcError => new RpcError(RPC.resourceNotFound, `no resource ${uri}`, { uri });
  return [
    ["resources/list", async (params) => page("resources", await resources.list(), (resource) => resource.uri, params)],
    ["resources/templates/list", async (params) => page("resourceTemplates", resources.templates, (template) => template.uriTemplate, params)],
    [
      "resources/read",
      async (params) => {
        const uri = text(params, "uri");
        const content = await resources.read(uri);
        if (!content) throw missing(uri);
        return { contents: [{ uri, ...content }] };
      },
    ],
    [
      "resources/subscribe",
      async (params) => {
        const uri = text(params, "uri");
        if (!resources.owns(uri)) throw missing(uri);
        subscriptions.add(uri);
        return {};
      },
    ],
    [
      "resources/unsubscribe",
      async (params) => {
        subscriptions.delete(text(params, "uri"));
        return {};
      },
    ],
  ];
}

function promptMethods(prompts: NonNullable<OpenApp["prompts"]>): [string, Method][] {
  const byName = new Map(prompts.map((prompt) => [prompt.name, prompt]));
  const listed = prompts.map(({ render: _render, ...texts }) => texts);
  return [
    ["prompts/list", async (params) => page("prompts", listed, (prompt) => prompt.name, params)],
    [
      "prompts/get",
      async (params) => {
        const name = text(params, "name");
        const prompt = byName.get(name);
        if (!prompt) throw new RpcError(RPC.invalidParams, `unknown prompt "${name}"; this app has: ${[...byName.keys()].join(", ")}`);
        const given = params["arguments"] ?? {};
        if (!isJsonObject(given)) throw new RpcError(RPC.invalidParams, `arguments of prompt "${name}" must be an object`);
        const args: Record<string, string> = {};
        for (const argument of prompt.arguments) {
          const value = Object.hasOwn(given, argument.name) ? given[argument.name] : undefined;
          if (typeof value === "string" && value.trim() !== "") args[argument.name] = value;
          else if (value !== undefined || argument.required)
            throw new RpcError(RPC.invalidParams, `prompt "${name}" needs "${argument.name}" as a text that is not empty`);
        }
        return { description: prompt.description, messages: [{ role: "user", content: { type: "text", text: prompt.render(args) } }] };
      },
    ],
  ];
}

/** One page of a list; the cursor is the key of the last entry of the page before. */
function page<T>(name: string, items: readonly T[], key: (item: T) => string, params: JsonObject): JsonObject {
  const cursor = params["cursor"];
  const last = cursor === undefined ? -1 : items.findIndex((item) => key(item) === cursor);
  if (cursor !== undefined && last < 0) throw new RpcError(RPC.invalidParams, "the cursor is not one of this list; list again without it");
  const entries = items.slice(last + 1, last + 1 + PAGE);
  const end = entries.at(-1);
  return { [name]: entries, ...(end !== undefined && last + 1 + PAGE < items.length ? { nextCursor: key(end) } : {}) };
}

function text(params: JsonObject, key: string): string {
  const value = params[key];
  if (typeof value !== "string") throw new RpcError(RPC.invalidParams, `params.${key} must be a text`);
  return value;
}
