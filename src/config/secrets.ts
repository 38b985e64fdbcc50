import { createMasker, isCountName, isPlaceName, isSecretName } from "../base/masking.ts";
import { innerPart, optionPart } from "./named-arguments.ts";
import type { KeyPath, Origin } from "./types.ts";

/** Maps whose values are secret when their name says so. */
const NAMED_MAPS: ReadonlySet<string> = new Set(["env", "headers", "auth"]);
/** Keys of the schemas that hold a secret wherever they stand. */
const SECRET_KEYS: ReadonlySet<string> = new Set(["bearer", "client_secret", "private_key", "api_key", "secret"]);
/** Where texts are looked at for the shapes of known tokens; prose such as "Basic authentication" stands elsewhere. */
const SHAPED: ReadonlySet<string> = new Set(["mcp", "env", "grants", "inbox", "gateway"]);
const SHORTEST_TOKEN = 14;
const ORDINARY = /^(?:true|false|yes|no|on|off|null|none|\d{1,5})$/i;

/** The secrets of one file's value. */
export interface FoundSecrets {
  /** Key paths whose values must never be shown. */
  readonly paths: readonly KeyPath[];
  /** The exact values, for the masker. */
  readonly values: readonly string[];
  /** Key paths where a secret is written out in the file. */
  readonly literal: readonly KeyPath[];
}

/** Whether the value at a key path is a secret by the names on its way. */
export function isSecretPath(path: KeyPath): boolean {
  const name = path.at(-1);
  if (typeof name !== "string") return false;
  if (SECRET_KEYS.has(name)) return true;
  return path.some((step, index) => index < path.length - 1 && NAMED_MAPS.has(String(step))) && isSecretName(name) && !isPlaceName(name);
}

/** Finds what must be masked (contracts 1): values from files and secret variables, under secret names, and inside URLs. */
export function findSecrets(value: unknown, origins: readonly Origin[]): FoundSecrets {
  const paths: KeyPath[] = [];
  const values = new Set<string>();
  const literal: KeyPath[] = [];
  const remember = (text: string): void => {
    if (!ORDINARY.test(text)) values.add(text);
  };
  const filled = new Map(origins.map((origin) => [origin.path.join("\0"), origin]));
  for (const origin of origins) {
    const secret = origin.replacements.filter((r) => r.name.startsWith("file:") || (isSecretName(r.name) && !isPlaceName(r.name)));
    if (secret.length > 0) paths.push(origin.path);
    for (const replacement of secret) remember(replacement.value);
  }
  walk(value, [], (text, here, before) => {
    const origin = filled.size === 0 ? undefined : filled.get(here.join("\0"));
    // A default in the expression stands in the file as much as any other text.
    const written = !origin || origin.replacements.every((r) => r.fromDefault);
    const inUrl = urlSecrets(text);
    for (const part of inUrl) remember(part);
    const inArgument = here[0] === "mcp" && (here[1] === "args" || here[1] === "command") ? argumentSecret(text, before) : null;
    const secret = isSecretPath(here) || inArgument !== null;
    const shaped = !secret && inUrl.length === 0 && !origin && text.length >= SHORTEST_TOKEN && SHAPED.has(String(here[0])) && shapes.text(text) !== text;
    if (!secret && inUrl.length === 0 && !shaped) return;
    const path = [...here];
    paths.push(path);
    if (secret) {
      const whole = inArgument ?? text;
      remember(whole);
      // "Bearer abc": the token alone turns up elsewhere too.
      const word = /^(?:bearer|basic|token)\s+(\S+)$/i.exec(whole)?.[1];
      if (word) remember(word);
      for (const replacement of origin?.replacements ?? []) remember(replacement.value);
      if (written && text.length >= 4 && !ORDINARY.test(text)) literal.push(path);
    } else if (shaped) {
      remember(text);
      literal.push(path);
    } else if (written) literal.push(path);
  });
  return { paths, values: [...values].filter((text) => text !== ""), literal };
}

const shapes = createMasker();

/** The value in an argument whose option, variable or header has a secret's name: `--api-key=…`, `--token …`, `-e TOKEN=…`; null for all others, also for places and names of variables. */
function argumentSecret(text: string, before: string): string | null {
  const part = innerPart(text, before) ?? optionPart(text, before);
  if (part === null || !isSecretName(part.name) || isPlaceName(part.name.replace(/^-+/, "")) || isCountName(part.name)) return null;
  return ORDINARY.test(part.value) || PLACE.test(part.value) || VARIABLE.test(part.value) ? null : part.value;
}

const PLACE = /^(?:\.{0,2}|~)[/\\]|^[a-z]:[/\\]|:\/\/|\.(?:pem|key|crt|json|txt)$/i;
const VARIABLE = /^[A-Z][A-Z0-9]*_[A-Z0-9_]*$/;

/** Passwords in the addresses of the proxies that an environment names. */
export function proxySecrets(env: Readonly<Record<string, string | undefined>>): string[] {
  return PROXIES.flatMap((name) => [env[name], env[name.toLowerCase()]])
    .filter((text) => text !== undefined && text !== "")
    .flatMap((text) => urlSecrets(text!.includes("://") ? text! : `http://${text}`));
}

const PROXIES = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"];

/** Password and secret query values of a URL. */
function urlSecrets(text: string): string[] {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return [];
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return [];
  }
  const out: string[] = [];
  for (const part of [url.password, url.password === "" ? url.username : ""]) if (part !== "") out.push(decode(part));
  for (const [name, value] of url.searchParams) if (value !== "" && isSecretName(name)) out.push(value);
  return out;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Visits every text, in a list with the text before it; `path` changes behind the back of who keeps it, so it is copied before it is given away. */
function walk(value: unknown, path: (string | number)[], visit: (text: string, path: KeyPath, before: string) => void, before: unknown = ""): void {
  if (typeof value === "string") visit(value, path, typeof before === "string" ? before : "");
  else if (typeof value === "object" && value !== null) {
    const keys: readonly (string | number)[] = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
    for (const key of keys) {
      path.push(key);
      const items = value as Record<string | number, unknown>;
      walk(items[key], path, visit, typeof key === "number" ? items[key - 1] : "");
      path.pop();
    }
  }
}
