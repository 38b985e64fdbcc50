import { readFile } from "node:fs/promises";
import path from "node:path";
import type { CallResult } from "../../src/kit-api.ts";
import { scriptedApp, type TestKit } from "../support/kit.ts";

/** A tool as a server lists it. */
export function tool(name: string, more: object = {}): object {
  return { name, description: `Does ${name}.`, inputSchema: { type: "object" }, ...more };
}

/** Scripted answers: a list of tools, a result with one text, a failed result. */
export const lists = (...tools: object[]): object[] => [{ result: { tools } }];
export const says = (text: string, more: object = {}): object[] => [{ result: { content: [{ type: "text", text }], ...more } }];

/** An app whose server lists these tools and answers as `on` says. */
export function app(tools: object[], on: object = {}, more: object = {}, hello?: object): Record<string, unknown> {
  return scriptedApp({ ...(hello === undefined ? {} : { hello }), on: { "tools/list": lists(...tools), ...on } }, { ...more });
}

/** `ok`, or the code of the refusal. */
export function answerOf(call: Pick<CallResult, "ok" | "error">): string {
  return call.ok ? "ok" : call.error!.error_code;
}

/** The id of the approval that a refusal asks for. */
export function approvalIdOf(call: CallResult): string {
  return (call.error!.details as { approval_id: string }).approval_id;
}

/** Every audit record written so far. */
export async function auditOf(t: TestKit): Promise<Record<string, unknown>[]> {
  const text = await readFile(path.join(t.workspace.root, "data/audit.jsonl"), "utf8");
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Every request that a scripted server has had, by its journal tool. */
export async function heardBy(t: TestKit, appName: string, options: object = {}): Promise<{ method: string; params: Record<string, unknown> }[]> {
  const call = await t.kit.callTool(`${appName}.journal`, {}, options);
  return JSON.parse((call.result!["content"] as { text: string }[])[0]!.text) as { method: string; params: Record<string, unknown> }[];
}
