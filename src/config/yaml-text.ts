import { isObject } from "../base/json.ts";

/** A scalar as YAML text that every reader takes for the same: plain where that is safe, else in JSON's quotes, which are YAML's too. */
export function yamlScalar(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value ?? null);
  const plain = /^[A-Za-z_/.][A-Za-z0-9_./@-]*$/.test(value) && !/^(?:true|false|null|yes|no|on|off|y|n|\.(?:inf|nan)|[.\d]+)$/i.test(value);
  return plain ? value : JSON.stringify(value);
}

/** A value on one line: `{ command: node, args: [a.js] }`. */
export function yamlFlow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(yamlFlow).join(", ")}]`;
  if (!isObject(value)) return yamlScalar(value);
  const members = Object.entries(value).map(([key, item]) => `${yamlScalar(key)}: ${yamlFlow(item)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}
