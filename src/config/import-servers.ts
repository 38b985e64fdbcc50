import { isObject, own, type JsonObject } from "../base/json.ts";
import { createMasker, isPlaceName, isSecretName } from "../base/masking.ts";
import { isLoopbackUrl } from "./hosts.ts";
import { variableName } from "./variable-name.ts";

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

/**
 * Reads the MCP servers of Claude Desktop, Claude Code and Cursor (`mcpServers`), VS Code (`servers` with `inputs`, or under
 * `mcp` in its settings) and gives entries for `apps` of topology.yaml. Tokens that stand in the file become `${NAME}`; questions
 * to a person (`${input:x}`) become environment variables. `prefix` is put in front of the names to make packages of them.
 */
export function importServers(text: string, prefix = "imported"): ImportResult {
  let parsed: unknown;
  try {
    parsed = JSON.parse(withoutComments(text.replace(/^\uFEFF/, "")));
  } catch {
    return { ok: false, reason: "the file is not JSON" };
  }
  const servers = [own(parsed, "mcpServers"), own(parsed, "servers"), own(own(parsed, "mcp"), "servers"), own(parsed, "mcp.servers")].find(isObject);
  if (!servers) return { ok: false, reason: 'the file has neither "mcpServers" (Claude Desktop, Claude Code, Cursor) nor "servers" (VS Code)' };
  const importer = new Importer([own(parsed, "inputs"), own(own(parsed, "mcp"), "inputs")].find(Array.isArray) ?? []);
  const taken = new Set<string>();
  const apps: { package: string; entry: JsonObject }[] = [];
  for (const [name, server] of Object.entries(servers)) {
    const entry = isObject(server) ? importer.entry(name, server) : undefined;
    if (!entry) {
      importer.notes.push(`${name}: left out, it has neither a command nor a url`);
      continue;
    }
    apps.push({ package: packageName(name, prefix, taken), entry });
  }
  return { ok: true, value: { apps, variables: [...importer.variables].map(([variable, why]) => ({ name: variable, why })), notes: importer.notes } };
}

class Importer {
  readonly notes: string[] = [];
  readonly variables = new Map<string, string>();
  readonly #inputs: readonly unknown[];
  readonly #shapes = createMasker();

  constructor(inputs: readonly unknown[]) {
    this.#inputs = inputs;
  }

  entry(name: string, server: Record<string, unknown>): JsonObject | undefined {
    const url = [own(server, "url"), own(server, "serverUrl"), own(server, "httpUrl")].find((v) => typeof v === "string");
    const command = own(server, "command");
    if (typeof command !== "string" && typeof url !== "string") return undefined;
    const mcp: JsonObject = typeof command === "string" ? this.#stdio(name, server, command) : this.#http(name, server, url as string);
    const entry: JsonObject = { mcp };
    if (own(server, "disabled") === true || own(server, "enabled") === false) entry["enabled"] = false;
    for (const key of ["envFile", "dev", "gallery", "sandboxEnabled", "alwaysAllow", "autoApprove"]) {
      if (own(server, key) === undefined) continue;
      this.notes.push(
        key === "envFile"
          ? `${name}: envFile is not read; set its variables in the environment`
          : /allow|approve/i.test(key)
            ? `${name}: ${key} is left out; write policy rules instead`
            : `${name}: ${key} is left out`,
      );
    }
    return entry;
  }

  #stdio(name: string, server: Record<string, unknown>, command: string): JsonObject {
    const mcp: JsonObject = { transport: "stdio", command: this.#text(name, "command", command) };
    const args = own(server, "args");
    if (Array.isArray(args) && args.length > 0) mcp["args"] = args.map((arg, index) => this.#argument(name, String(arg), args[index - 1]));
    const cwd = own(server, "cwd");
    if (typeof cwd === "string") mcp["cwd"] = this.#text(name, "cwd", cwd);
    const env = this.#named(name, own(server, "env"));
    if (env) mcp["env"] = env;
    return mcp;
  }

  #http(name: string, server: Record<string, unknown>, url: string): JsonObject {
    const mcp: JsonObject = { transport: "http", url: this.#url(name, url) };
    if (url.startsWith("http:") && !isLoopbackUrl(url)) {
      mcp["allow_http"] = true;
      this.notes.push(`${name}: its url is plain http, so allow_http: true was added; better is https`);
    }
    const headers = this.#named(name, own(server, "headers") ?? own(own(server, "requestInit"), "headers"));
    if (headers) mcp["headers"] = headers;
    if (own(server, "type") === "sse") this.notes.push(`${name}: sse becomes http; the old transport is tried when the server has no other`);
    return mcp;
  }

  #named(server: string, values: unknown): JsonObject | undefined {
    if (!isObject(values) || Object.keys(values).length === 0) return undefined;
    return Object.fromEntries(
      Object.entries(values)
        .filter(([, value]) => value !== null && typeof value !== "object")
        .map(([name, value]) => [name, this.#value(server, name, String(value))]),
    );
  }

  /** A value under a name: a literal secret becomes a variable. */
  #value(server: string, name: string, value: string): string {
    const text = this.#text(server, name, value);
    const secret = (isSecretName(name) && !isPlaceName(name)) || this.#shapes.text(value) !== value;
    if (!secret || text === "" || text.includes("${") || /^\$[A-Za-z_]/.test(value)) return text;
    const scheme = /^(?:Bearer|Basic|Token)\s+/i.exec(value)?.[0] ?? "";
    // An environment variable keeps its name; a header's name says too little, so the server's stands in front.
    const variable = /^[A-Z][A-Z0-9_]*$/.test(name) ? name : variableName(`${server}_${name === "Authorization" ? "token" : name}`);
    this.#need(variable, `the ${name} of ${server}; its value was written in the file`);
    return `${scheme}\${${variable}}`;
  }

  #argument(server: string, value: string, before: unknown): string {
    const text = this.#text(server, "args", value);
    if (text.includes("${")) return text;
    const option = /^(--?[A-Za-z][\w-]*)=(.+)$/.exec(value);
    const name = option?.[1] ?? (typeof before === "string" && before.startsWith("-") && !before.includes("=") ? before : undefined);
    const secret = option?.[2] ?? value;
    if (
      !(
        (name !== undefined && isSecretName(name) && !isPlaceName(name) && !value.startsWith("-")) ||
        (option && isSecretName(option[1]!) && !isPlaceName(option[1]!)) ||
        this.#shapes.text(secret) !== secret
      )
    )
      return text;
    const variable = variableName(`${server}_${(name ?? "token").replace(/^-+/, "")}`);
    this.#need(variable, `the argument ${name ?? ""} of ${server}; its value was written in the file`.replace("argument  ", "argument "));
    return option ? `${option[1]}=\${${variable}}` : `\${${variable}}`;
  }

  #url(server: string, value: string): string {
    const text = this.#text(server, "url", value);
    if (text.includes("${") || !URL.canParse(value)) return text;
    let out = value;
    for (const [name, secret] of new URL(value).searchParams) {
      if (!isSecretName(name) || secret === "") continue;
      const variable = variableName(`${server}_${name}`);
      this.#need(variable, `the ${name} in the url of ${server}; its value was written in the file`);
      out = out.replace(encodeURIComponent(secret), `\${${variable}}`).replace(secret, `\${${variable}}`);
    }
    return out;
  }

  /** Expressions of editors in our own form; a `$` that means itself is doubled, a leading ~/ written out. */
  #text(server: string, key: string, value: string): string {
    const out = value.replaceAll(/\$\{([^{}]*)\}|\$\$|\$(?=\{)/g, (all: string, body: string | undefined) =>
      body === undefined ? all.replaceAll("$", () => "$$") : this.#expression(server, key, all, body),
    );
    if (!out.startsWith("~/")) return out;
    this.notes.push(`${server}: ~/ in ${key} was written as \${HOME}/, for no shell expands it`);
    return `\${HOME}/${out.slice(2)}`;
  }

  #expression(server: string, key: string, all: string, body: string): string {
    const input = /^input:(.+)$/.exec(body)?.[1];
    if (input !== undefined) {
      const variable = variableName(input);
      const asked = this.#inputs.find((candidate) => own(candidate, "id") === input);
      const description = own(asked, "description");
      this.#need(
        variable,
        `${typeof description === "string" ? description : `the ${key} of ${server}`}; the editor asked for it as \${input:${input}}, a host cannot ask`,
      );
      return `\${${variable}}`;
    }
    if (body === "userHome") return "${HOME}";
    if (body === "workspaceFolder" || body === "workspaceRoot") {
      this.#need("WORKSPACE_FOLDER", `the folder that the editor called \${${body}}`);
      return "${WORKSPACE_FOLDER}";
    }
    if (body === "pathSeparator" || body === "/") return "/";
    if (/^(?:env:)?[A-Za-z_]\w*(?::[-?][^$]*)?$/.test(body)) return all;
    const variable = variableName(body);
    this.notes.push(`${server}: \${${body}} in ${key} is known to its editor only and became \${${variable}}`);
    this.#need(variable, `what \${${body}} was for ${server}`);
    return `\${${variable}}`;
  }

  #need(variable: string, why: string): void {
    if (!this.variables.has(variable)) this.variables.set(variable, why);
  }
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

/** JSON as editors write it: comments and trailing commas taken out, texts left alone. */
function withoutComments(text: string): string {
  const strings = text.replaceAll(/("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[^*]*(?:\*(?!\/)[^*]*)*\*\//g, (_all, string: string | undefined) => string ?? " ");
  return strings.replaceAll(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, (_all, string: string | undefined) => string ?? "");
}
