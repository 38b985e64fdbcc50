import { isObject, own, type JsonObject } from "../base/json.ts";
import { nearest, truncate } from "../base/text.ts";
import { isLoopbackUrl } from "./hosts.ts";
import { ImportValues } from "./import-values.ts";
import { ImportVariables, referredNames, type TakenNames } from "./import-variables.ts";
import { jsonFault } from "./json-fault.ts";

/** What became of a file of another program. */
export interface ImportedServers {
  readonly apps: readonly { readonly package: string; readonly entry: JsonObject }[];
  /** Environment variables that must be set before the apps run, with what they are for. */
  readonly variables: readonly { readonly name: string; readonly why: string }[];
  /** What was changed or left out, one line each. Free of secrets. */
  readonly notes: readonly string[];
}

/** Why a file cannot be imported. */
export type ImportResult = { readonly ok: true; readonly value: ImportedServers } | { readonly ok: false; readonly reason: string };

/** What an import is told of the world around the file. */
export interface ImportOptions {
  /** Put in front of the names to make packages of them; `imported` when left out. */
  readonly prefix?: string;
  /** Whether there is a file of this name; without it, none is taken to be there. */
  readonly exists?: (file: string) => boolean;
  readonly environment?: TakenNames["environment"];
  /** Variables that the workspace refers to already. */
  readonly taken?: ReadonlySet<string>;
}

/**
 * Reads the MCP servers of Claude Desktop, Claude Code and Cursor (`mcpServers`), VS Code (`servers` with `inputs`, or under
 * `mcp` in its settings) and gives entries for `apps` of topology.yaml. Secrets that stand in the file become `${NAME}`, different
 * ones under different names; questions to a person (`${input:x}`) become environment variables. Every key that is not taken over is noted.
 */
export function importServers(text: string, options: ImportOptions = {}): ImportResult {
  const json = withoutComments(text.replace(/^\uFEFF/, ""));
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    const { line, column, wanted } = jsonFault(json);
    return { ok: false, reason: `the file is not JSON: line ${line}, column ${column} should have ${wanted}` };
  }
  const servers = [own(parsed, "mcpServers"), own(parsed, "servers"), own(own(parsed, "mcp"), "servers"), own(parsed, "mcp.servers")].find(isObject);
  if (!servers)
    return {
      ok: false,
      reason: `the file has neither "mcpServers" (Claude Desktop, Claude Code, Cursor) nor "servers" (VS Code)${meant(parsed, ["mcpServers", "servers"])}`,
    };
  const inputs = [own(parsed, "inputs"), own(own(parsed, "mcp"), "inputs")].find(Array.isArray) ?? [];
  const referred = new Set([...referredNames(JSON.stringify(servers)), "HOME"]);
  const variables = new ImportVariables({ environment: options.environment ?? {}, names: new Set([...referred, ...(options.taken ?? [])]) }, referred);
  const importer = new Importer(new ImportValues(inputs, variables), options.exists ?? (() => false));
  const names = new Set<string>();
  const apps: { package: string; entry: JsonObject }[] = [];
  for (const [name, server] of Object.entries(servers)) {
    const entry = isObject(server) ? importer.entry(name, server) : undefined;
    if (!entry) {
      importer.notes.push(`${name}: left out, it has neither a command nor a url${meant(server, ["command", ...URL_KEYS])}`);
      continue;
    }
    apps.push({ package: packageName(name, options.prefix ?? "imported", names), entry });
  }
  return { ok: true, value: { apps, variables: variables.list, notes: importer.notes } };
}

const URL_KEYS = ["url", "serverUrl", "httpUrl"] as const;

/** The key that was meant by one of a map that was not understood, as a message ends. */
function meant(map: unknown, wanted: readonly string[]): string {
  for (const key of isObject(map) ? Object.keys(map) : []) {
    const near = nearest(key, wanted, 1)[0];
    if (near !== undefined) return `; did you mean "${near}" by "${truncate(key, 40)}"?`;
  }
  return "";
}

/** Keys that are taken over, by the kind of server. */
const READ = {
  both: ["type", "disabled", "enabled"],
  stdio: ["command", "args", "cwd", "env"],
  http: [...URL_KEYS, "headers", "requestInit"],
} as const;

/** What to do instead, for keys that people will miss. */
const INSTEAD: readonly (readonly [keys: RegExp, advice: string])[] = [
  [/^env_?file$/i, "; set its variables in the environment"],
  [/allow|approve|(enabled|disabled|include|exclude)_?tools/i, "; write policy rules, or tools: { include: […] }, instead"],
  [/timeout/i, "; call_timeout and start_timeout are the settings here"],
  [/^bearer_?token_?env_?var$/i, '; write headers: { Authorization: "Bearer ${NAME}" } instead'],
  [/^(auth|oauth)$/i, "; sign in with aurora-mcp apps login, or set mcp.auth"],
];

class Importer {
  readonly notes: string[];
  readonly #values: ImportValues;
  readonly #exists: (file: string) => boolean;

  constructor(values: ImportValues, exists: (file: string) => boolean) {
    this.#values = values;
    this.notes = values.notes;
    this.#exists = exists;
  }

  entry(name: string, server: Record<string, unknown>): JsonObject | undefined {
    const url = URL_KEYS.map((key) => own(server, key)).find((v) => typeof v === "string");
    const command = own(server, "command");
    if (typeof command !== "string" && typeof url !== "string") return undefined;
    const mcp: JsonObject = typeof command === "string" ? this.#stdio(name, server, command) : this.#http(name, server, url as string);
    const entry: JsonObject = { mcp };
    if (own(server, "disabled") === true || own(server, "enabled") === false) entry["enabled"] = false;
    const read: readonly string[] = [...READ.both, ...READ[typeof command === "string" ? "stdio" : "http"]];
    for (const key of Object.keys(server)) if (!read.includes(key)) this.#leftOut(name, key);
    return entry;
  }

  #leftOut(server: string, key: string): void {
    this.notes.push(`${server}: ${key} is left out${INSTEAD.find(([keys]) => keys.test(key))?.[1] ?? ""}`);
  }

  #stdio(name: string, server: Record<string, unknown>, command: string): JsonObject {
    const [program = command, ...more] = this.#words(name, command);
    const mcp: JsonObject = { transport: "stdio", command: this.#values.text(name, "command", program) };
    const given = own(server, "args");
    if (given !== undefined && !Array.isArray(given)) this.#leftOut(name, "args");
    const args: string[] = [...more, ...(Array.isArray(given) ? given.map(String) : [])];
    if (args.length > 0) mcp["args"] = args.map((arg, index) => this.#values.argument(name, arg, args[index - 1]));
    const cwd = own(server, "cwd");
    if (typeof cwd === "string") mcp["cwd"] = this.#values.text(name, "cwd", cwd);
    else if (cwd !== undefined) this.#leftOut(name, "cwd");
    const env = this.#named(name, "env", own(server, "env"));
    if (env) mcp["env"] = env;
    return mcp;
  }

  #http(name: string, server: Record<string, unknown>, url: string): JsonObject {
    const mcp: JsonObject = { transport: "http", url: this.#values.url(name, url) };
    if (url.startsWith("http:") && !isLoopbackUrl(url)) {
      mcp["allow_http"] = true;
      this.notes.push(`${name}: its url is plain http, so allow_http: true was added; better is https`);
    }
    const request = own(server, "requestInit");
    if (request !== undefined && !isObject(request)) this.#leftOut(name, "requestInit");
    for (const key of Object.keys(isObject(request) ? request : {}))
      if (key !== "headers" || own(server, "headers") !== undefined) this.#leftOut(name, `requestInit.${key}`);
    for (const key of URL_KEYS) if (own(server, key) !== undefined && own(server, key) !== url) this.#leftOut(name, key);
    const headers = this.#named(name, "headers", own(server, "headers") ?? own(request, "headers"));
    if (headers) mcp["headers"] = headers;
    if (own(server, "type") === "sse") this.notes.push(`${name}: sse becomes http; the old transport is tried when the server has no other`);
    return mcp;
  }

  /** A command that was written as one text with spaces, in its words; a program whose name has spaces stays whole. */
  #words(server: string, command: string): string[] {
    const words = (command.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^(["'])(.*)\1$/s, "$2"));
    const isWhole = words.length < 2 || this.#exists(command) || (/[\\/]/.test(words[0]!) && !this.#exists(words[0]!));
    if (isWhole) return [command];
    this.notes.push(`${server}: its command was one text with spaces; it was split into a program and its arguments`);
    return words;
  }

  /** Values by name; a list of NAME=value is taken as such. */
  #named(server: string, key: "env" | "headers", values: unknown): JsonObject | undefined {
    if (values === undefined) return undefined;
    if (!isObject(values) && !Array.isArray(values)) this.#leftOut(server, key);
    const pairs = isObject(values) ? Object.entries(values) : Array.isArray(values) ? values.map(pairOf) : [];
    const out: [string, string][] = [];
    for (const [name, value] of pairs) {
      if (value === null || typeof value === "object") this.#leftOut(server, name === "" ? `an entry of ${key}` : `${key}.${name}`);
      else out.push([name, this.#values.named(server, name, String(value))]);
    }
    return out.length === 0 ? undefined : Object.fromEntries(out);
  }
}

/** `NAME=value` as a pair; an empty name with null for anything else. */
function pairOf(entry: unknown): [string, unknown] {
  const found = /^([^=\s]+)=(.*)$/s.exec(typeof entry === "string" ? entry : "");
  return found ? [found[1]!, found[2]!] : ["", null];
}

function packageName(name: string, prefix: string, taken: Set<string>): string {
  const plain = name
    .normalize("NFKD")
    .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
    .replaceAll(/(^|\.)[^A-Za-z0-9]+/g, "$1")
    .replaceAll(/\.+/g, ".")
    .replaceAll(/^\.|[.-]+$/g, "")
    .toLowerCase();
  const base = plain.includes(".") ? plain : `${prefix}.${plain || "server"}`;
  let candidate = base;
  for (let i = 2; taken.has(candidate); i += 1) candidate = `${base}-${i}`;
  taken.add(candidate);
  return candidate;
}

/** JSON as editors write it: comments and trailing commas become spaces, so that all else keeps its place; texts are left alone. */
function withoutComments(text: string): string {
  const blank = (all: string, string: string | undefined): string => string ?? all.replaceAll(/[^\n]/g, " ");
  const plain = text.replaceAll(/("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[^*]*(?:\*(?!\/)[^*]*)*\*\//g, blank);
  return plain.replaceAll(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, blank);
}
