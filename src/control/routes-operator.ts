import type { JsonObject } from "../base/json.ts";
import type { ApprovalRow, Kit } from "../kit-api.ts";
import { HttpError } from "./http-errors.ts";
import { bodyOf, jsonAnswer, objectOf, textOf } from "./input.ts";
import type { RequestContext, Route } from "./route.ts";

const DECISION_BODY: JsonObject = {
  type: "object",
  additionalProperties: false,
  properties: {
    by: { type: "string", minLength: 1, maxLength: 128, description: "Who decides, for the record, as the holder of the token says. Default `operator`." },
    reason: { type: "string", maxLength: 2000 },
    answer: { type: "object", description: "What was filled in, where an app asks with a form; checked against it." },
  },
};

const CLEAR_BODY: JsonObject = {
  type: "object",
  required: ["client", "session"],
  additionalProperties: false,
  properties: { client: { type: "string", minLength: 1 }, session: { type: "string", minLength: 1 } },
};

const ACCEPT_BODY: JsonObject = {
  type: "object",
  additionalProperties: false,
  properties: {
    select: {
      type: "array",
      description:
        "What to accept; absent accepts all. A name (APP or APP/TOOL) means what is there now. An object means a difference exactly as GET /api/lock showed it.",
      items: {
        oneOf: [
          { type: "string", minLength: 1 },
          {
            type: "object",
            required: ["app", "kind", "name", "pin", "accepted"],
            additionalProperties: false,
            properties: {
              app: { type: "string", minLength: 1 },
              kind: { enum: ["tool", "prompt", "resource_template", "resources", "instructions"] },
              name: { type: "string" },
              pin: { type: ["string", "null"], description: "The pin that was shown; null for what the server no longer shows." },
              accepted: { type: ["string", "null"], description: "The accepted pin that was shown beside it." },
            },
          },
        ],
      },
    },
  },
};

const EMPTY_BODY: JsonObject = { type: "object", additionalProperties: false };

/** What only a person may do: approvals, marks, configuration, pins. */
export function operatorRoutes(kit: Kit): Route[] {
  const operator = (route: Omit<Route, "role">): Route => ({ ...route, role: "operator" });
  return [
    operator({
      method: "GET",
      path: "/api/approvals",
      group: "approvals",
      summary: "Open approvals; with all=true also decided and expired ones.",
      query: [{ name: "all", description: "true for all.", values: ["true", "false"] }],
      answer: jsonAnswer("Array as in `approvals list --json`.", { type: "array", items: { type: "object" } }),
      handle: (context) => ({ json: kit.listApprovals({ all: context.query.get("all") === "true" }) }),
    }),
    operator({
      method: "POST",
      path: "/api/approvals/{id}/approve",
      group: "approvals",
      summary: "Approves a call, once.",
      body: DECISION_BODY,
      answer: jsonAnswer("The approval."),
      handle: (context) => decide(kit, context, "approve"),
    }),
    operator({
      method: "POST",
      path: "/api/approvals/{id}/deny",
      group: "approvals",
      summary: "Refuses a call.",
      body: DECISION_BODY,
      answer: jsonAnswer("The approval."),
      handle: (context) => decide(kit, context, "deny"),
    }),
    operator({
      method: "POST",
      path: "/api/approvals/{id}/cancel",
      group: "approvals",
      summary: "Closes a question of an app without an answer.",
      body: DECISION_BODY,
      answer: jsonAnswer("The approval."),
      handle: (context) => decide(kit, context, "cancel"),
    }),
    operator({
      method: "GET",
      path: "/api/sessions",
      group: "sessions",
      summary: "Conversations that carry a data-flow mark.",
      answer: jsonAnswer("Array of { client, session, source, since, expires_at }.", { type: "array", items: { type: "object" } }),
      handle: () => ({ json: kit.listSessions() }),
    }),
    operator({
      method: "POST",
      path: "/api/sessions/clear",
      group: "sessions",
      summary: "Takes the mark off one conversation.",
      body: CLEAR_BODY,
      answer: jsonAnswer("{ cleared }"),
      async handle(context) {
        const body = bodyOf(CLEAR_BODY, context.body);
        return { json: { cleared: await kit.clearSession(textOf(body, "client")!, textOf(body, "session")!) } };
      },
    }),
    operator({
      method: "POST",
      path: "/api/reload",
      group: "config",
      summary: "Reads the configuration again and applies it (under `reload: confirm` it waits for apply).",
      body: EMPTY_BODY,
      answer: jsonAnswer("{ result, revision, changes, errors, warnings, text }"),
      handle: async () => ({ json: await kit.reload() }),
    }),
    operator({
      method: "POST",
      path: "/api/apply",
      group: "config",
      summary: "Applies the configuration as it stands in the files, also under `reload: confirm`.",
      body: EMPTY_BODY,
      answer: jsonAnswer("{ result, revision, changes, errors, warnings, text }"),
      handle: async () => ({ json: await kit.reload({ apply: true }) }),
    }),
    operator({
      method: "GET",
      path: "/api/plan",
      group: "config",
      summary: "What a reload would change, without doing it.",
      answer: jsonAnswer("The reload result, and `report` in the shape of `plan --json`."),
      handle: async () => ({ json: await kit.plan() }),
    }),
    operator({
      method: "GET",
      path: "/api/graph",
      group: "config",
      summary: "How policies, apps and signals hang together: which rule reaches which apps, which mapping takes whose signals.",
      answer: jsonAnswer("{ revision, table, rules, signals }"),
      handle: () => ({ json: kit.graph() }),
    }),
    operator({
      method: "GET",
      path: "/api/lock",
      group: "pins",
      summary: "What servers show, against what a person accepted.",
      answer: jsonAnswer(
        "Array of { app, kind, name, state, pin, accepted, diff, findings, quarantined }; invisible characters in diff and findings are escaped.",
        {
          type: "array",
          items: { type: "object" },
        },
      ),
      handle: () => ({ json: kit.lockDiff() }),
    }),
    operator({
      method: "POST",
      path: "/api/lock/accept",
      group: "pins",
      summary: "Accepts what servers show, and writes tools.lock.json. 409 when a difference is no longer as it was shown; nothing is accepted then.",
      body: ACCEPT_BODY,
      answer: jsonAnswer("Array of accepted entries.", { type: "array", items: { type: "object" } }),
      async handle(context) {
        const select = bodyOf(ACCEPT_BODY, context.body)["select"];
        return { json: await (Array.isArray(select) ? kit.lockAccept(select as unknown as Parameters<Kit["lockAccept"]>[0]) : kit.lockAccept()) };
      },
    }),
  ];
}

async function decide(kit: Kit, context: RequestContext, decision: "approve" | "deny" | "cancel"): Promise<{ json: ApprovalRow }> {
  const body = bodyOf(DECISION_BODY, context.body);
  const id = context.params.get("id")!;
  const row = kit.listApprovals({ all: true }).find((candidate) => candidate.id === id);
  if (!row) throw new HttpError("NOT_FOUND", `there is no approval ${JSON.stringify(id)}; aurora-mcp approvals list --all shows those there are`);
  if (row.state !== "pending") throw new HttpError("CONFLICT", `the approval ${id} is ${row.state} already`);
  return { json: await kit.decideApproval(id, decision, textOf(body, "by") ?? context.principal.client, textOf(body, "reason"), objectOf(body, "answer")) };
}
