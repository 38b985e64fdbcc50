import { isObject, own, type JsonObject } from "../../base/json.ts";
import { escapeInvisible, truncate } from "../../base/text.ts";
import { readPairs } from "../arguments.ts";
import { collect, defineCommand } from "../command.ts";
import { withHost } from "../connect.ts";
import type { Context } from "../context.ts";
import { requireApp } from "../known-app.ts";
import { printContent } from "../print-result.ts";
import { table } from "../table.ts";

const word = (object: JsonObject, key: string): string => {
  const value = own(object, key);
  return typeof value === "string" ? value : "";
};

const listResources = defineCommand({
  usage: "resources list",
  summary: "List the resources and resource templates of all apps.",
  examples: ["aurora-mcp resources list"],
  run: (context, options) =>
    withHost(context, options, "start", async (host) => {
      const { resources, templates } = await host.resources();
      if (options.json)
        return context.json([...resources.map((r) => ({ app: r.app, ...r.resource })), ...templates.map((t) => ({ app: t.app, ...t.template }))]);
      if (resources.length + templates.length === 0) return context.out("no resources");
      const rows = [
        ...resources.map((r) => [
          r.app,
          word(r.resource, "uri"),
          word(r.resource, "mimeType"),
          truncate(word(r.resource, "description") || word(r.resource, "name"), 70),
        ]),
        ...templates.map((t) => [
          t.app,
          word(t.template, "uriTemplate"),
          word(t.template, "mimeType"),
          truncate(word(t.template, "description") || word(t.template, "name"), 70),
        ]),
      ];
      context.out(table(["APP", "URI", "TYPE", "ABOUT"], rows, context.style));
    }),
});

const readResource = defineCommand<{ app?: string; session: string }>({
  usage: "resources read <uri>",
  summary: "Read one resource and print its text.",
  examples: ["aurora-mcp resources read aurora://diary/index"],
  options: (command) =>
    command.option("--app <package>", "the app that has it, when several do").option("--session <name>", "conversation that the read belongs to", "cli"),
  run: (context, options, [uri]) =>
    withHost(context, options, "start", async (host) => {
      await requireApp(host, options.app);
      printRead(
        context,
        options.json === true,
        await host.readResource(uri!, { session: options.session, signal: context.signal, ...(options.app === undefined ? {} : { app: options.app }) }),
      );
    }),
});

const listPrompts = defineCommand({
  usage: "prompts list",
  summary: "List the prompts of all apps.",
  examples: ["aurora-mcp prompts list"],
  run: (context, options) =>
    withHost(context, options, "start", async (host) => {
      const prompts = await host.prompts();
      if (options.json) return context.json(prompts);
      if (prompts.length === 0) return context.out("no prompts");
      const rows = prompts.map((p) => [p.app, p.name, argumentsOf(p.prompt), truncate(word(p.prompt, "description"), 70)]);
      context.out(table(["APP", "PROMPT", "ARGUMENTS", "ABOUT"], rows, context.style));
    }),
});

const getPrompt = defineCommand<{ arg?: string[]; session: string }>({
  usage: "prompts get <prompt>",
  summary: "Get one prompt, filled with arguments.",
  examples: ["aurora-mcp prompts get weather_summary --arg city=Oslo"],
  options: (command) =>
    command
      .option("--arg <name=value>", "an argument; may be given several times", collect)
      .option("--session <name>", "conversation that the prompt belongs to", "cli"),
  run: (context, options, [name]) =>
    withHost(context, options, "start", async (host) => {
      const args = readPairs(options.arg ?? [], "--arg");
      printRead(context, options.json === true, await host.getPrompt(name!, args, { session: options.session, signal: context.signal }));
    }),
});

function argumentsOf(prompt: JsonObject): string {
  const list = own(prompt, "arguments");
  if (!Array.isArray(list)) return "";
  return list
    .filter(isObject)
    .map((item) => String(own(item, "name")) + (own(item, "required") === true ? "" : "?"))
    .join(", ");
}

/** Prints a resources/read or prompts/get result. */
function printRead(context: Context, json: boolean, result: JsonObject): void {
  if (json) return context.json(result);
  const contents = own(result, "contents");
  if (Array.isArray(contents)) {
    for (const item of contents.filter(isObject)) {
      const text = own(item, "text");
      context.out(
        typeof text === "string"
          ? escapeInvisible(text, true)
          : `[binary ${word(item as JsonObject, "mimeType")} ${word(item as JsonObject, "uri")}; --json has it in base64]`,
      );
    }
  }
  const messages = own(result, "messages");
  if (Array.isArray(messages)) {
    for (const message of messages.filter(isObject)) {
      context.out(context.style("dim", `${escapeInvisible(word(message as JsonObject, "role"))}:`));
      printContent(context, [own(message, "content")]);
    }
  }
}

/** `resources list|read` and `prompts list|get`. */
export const resourcesCommands = [listResources, readResource, listPrompts, getPrompt];
