import { statusOf } from "./http-errors.ts";
import { bodyOf, jsonAnswer, objectOf, textOf } from "./input.ts";
import { callOptions } from "./routes-tools.ts";
const CONTEXT = {
    session: { type: "string", minLength: 1, maxLength: 256 },
    approval_id: { type: "string", minLength: 1, maxLength: 256 },
    wait_ms: { type: "integer", minimum: 0, maximum: 600000 },
};
const READ_BODY = {
    type: "object",
    required: ["uri"],
    additionalProperties: false,
    properties: { uri: { type: "string", minLength: 1, maxLength: 8192 }, app: { type: "string", minLength: 1, description: "Only from this app." }, ...CONTEXT },
};
const GET_BODY = {
    type: "object",
    required: ["name"],
    additionalProperties: false,
    properties: { name: { type: "string", minLength: 1, maxLength: 512 }, arguments: { type: "object", additionalProperties: { type: "string" } }, ...CONTEXT },
};
/** Resources and prompts of the apps. */
export function resourceRoutes(kit) {
    return [
        {
            method: "GET",
            path: "/api/resources",
            role: "caller",
            group: "resources",
            summary: "Resources and resource templates of all apps.",
            answer: jsonAnswer("{ resources: [{ app, resource }], templates: [{ app, template }] }"),
            handle: ({ principal }) => ({ json: { resources: kit.listResources(principal.client), templates: kit.listTemplates(principal.client) } }),
        },
        {
            method: "POST",
            path: "/api/resources/read",
            role: "caller",
            group: "resources",
            summary: "Reads a resource. Disconnecting cancels.",
            body: READ_BODY,
            answer: jsonAnswer("{ ok: true, app, result }; a refusal has the error shape and its status."),
            async handle(context) {
                const body = bodyOf(READ_BODY, context.body);
                const app = textOf(body, "app");
                return readReply(await kit.readResource(textOf(body, "uri"), { ...callOptions(context, body), ...(app === undefined ? {} : { app }) }));
            },
        },
        {
            method: "GET",
            path: "/api/prompts",
            role: "caller",
            group: "prompts",
            summary: "Prompts of all apps.",
            answer: jsonAnswer("Array of { app, name, short, prompt }.", { type: "array", items: { type: "object" } }),
            handle: ({ principal }) => ({ json: kit.listPrompts(principal.client) }),
        },
        {
            method: "POST",
            path: "/api/prompts/get",
            role: "caller",
            group: "prompts",
            summary: "Fills in a prompt. Disconnecting cancels.",
            body: GET_BODY,
            answer: jsonAnswer("{ ok: true, app, result }; a refusal has the error shape and its status."),
            async handle(context) {
                const body = bodyOf(GET_BODY, context.body);
                const args = (objectOf(body, "arguments") ?? {});
                return readReply(await kit.getPrompt(textOf(body, "name"), args, callOptions(context, body)));
            },
        },
    ];
}
function readReply(read) {
    return read.error ? { status: statusOf(read.error.error_code), json: read.error } : { json: read };
}
