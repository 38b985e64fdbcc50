import { isObject, type Json } from "../base/json.ts";
import { branchesOf, forEachSubschema, propertiesOf, requiredOf, typesOf, type Node } from "./schema-node.ts";

/** Anthropic's limits for all strict tools of one request together, as its error texts name them. */
const LIMITS = { tools: 20, optional: 24, unions: 16 };

/** What the strict tools of one request to Anthropic may still use. Tools take from it in the order in which they are exported. */
export class StrictBudget {
  #tools = 0;
  #optional = 0;
  #unions = 0;

  /** Takes what a schema needs, or takes nothing and says in words what is used up. */
  take(schema: Node): string | undefined {
    const { optional, unions } = needsOf(schema);
    if (this.#tools + 1 > LIMITS.tools) return `the request already has ${LIMITS.tools} strict tools`;
    if (this.#optional + optional > LIMITS.optional) return over("optional properties", optional, this.#optional, LIMITS.optional);
    if (this.#unions + unions > LIMITS.unions) return over("parameters of several types", unions, this.#unions, LIMITS.unions);
    this.#tools += 1;
    this.#optional += optional;
    this.#unions += unions;
    return undefined;
  }
}

function over(what: string, needed: number, used: number, limit: number): string {
  return `${needed} ${what}, where the strict tools of a request may have ${limit} and ${used} are taken`;
}

function needsOf(schema: Node): { readonly optional: number; readonly unions: number } {
  const needs = { optional: 0, unions: 0 };
  const visit = (node: Json): void => {
    if (!isObject(node)) return;
    needs.optional += Object.keys(propertiesOf(node as Node) ?? {}).length - requiredOf(node as Node).length;
    if (branchesOf(node as Node, "anyOf").length > 0 || typesOf(node as Node).length > 1) needs.unions += 1;
    forEachSubschema(node as Node, visit);
  };
  visit(schema);
  return needs;
}
