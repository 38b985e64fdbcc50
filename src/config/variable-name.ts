import { own } from "../base/json.ts";
import { isSecretName } from "../base/masking.ts";
import { innerPart, optionPart } from "./named-arguments.ts";
import type { KeyPath } from "./types.ts";

/** A legal name of an environment variable made of any text: `apiKey` and `--api-key` give `API_KEY`. */
export function variableName(text: string): string {
  const words = text
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll(/[^A-Za-z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "")
    .toUpperCase();
  return /^[A-Z]/.test(words) ? words : `MCP_${words}`;
}

/**
 * A variable for the secret at a key path of `value`: named after its key, the option it belongs to (`--api-key=…`, or `--api-key`
 * before it, `-e NAME=…`) or the part of a URL that holds it, else after `owner`.
 */
export function secretVariable(value: unknown, path: KeyPath, owner: string): string {
  const step = path.at(-1);
  const list = path.slice(0, -1).reduce<unknown>((at, key) => (Array.isArray(at) ? at[Number(key)] : own(at, String(key))), value);
  const text = typeof step === "number" && Array.isArray(list) ? list[step] : own(list, String(step));
  const inUrl = typeof text === "string" ? urlPart(text) : undefined;
  if (inUrl !== undefined) return variableName(inUrl);
  if (typeof step === "string") return variableName(step);
  const before: unknown = Array.isArray(list) ? list[Number(step) - 1] : undefined;
  const front = typeof before === "string" ? before : "";
  const part = typeof text === "string" ? (innerPart(text, front) ?? optionPart(text, front)) : null;
  return variableName(part?.name ?? `${owner.split(".").at(-1)}_token`);
}

/** The name of what is secret in a URL: a query value, or the password. */
function urlPart(text: string): string | undefined {
  const address = /[a-z][a-z0-9+.-]*:\/\/\S+/i.exec(text)?.[0];
  if (address === undefined || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  const query = [...url.searchParams.keys()].find(isSecretName);
  return query ?? (url.password !== "" ? "password" : url.username !== "" ? "token" : undefined);
}
