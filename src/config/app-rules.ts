import type { AppManifest } from "../../generated/app.d.ts";
import { errorAt, warningAt, type DiagnosticCode, type DiagnosticParts } from "../base/diagnostic-codes.ts";
import type { Diagnostic } from "../base/diagnostics.ts";
import { isLoopbackUrl } from "./hosts.ts";
import { isUnderPath } from "./sound.ts";
import { formatPath } from "./nodes.ts";
import { schemaShape } from "./shape.ts";
import type { AppConfig, KeyPath } from "./types.ts";

type Mcp = NonNullable<AppManifest["mcp"]>;
type Transport = "stdio" | "http";

const KEYS: Readonly<Record<Transport, readonly (keyof Mcp)[]>> = {
  stdio: ["command", "entry", "args", "cwd", "env", "inherit_env", "line_bytes"],
  http: ["url", "headers", "auth", "tls", "allow_http"],
};
const WORDS: Readonly<Record<Transport, string>> = { stdio: "a program that is started (stdio)", http: "a server that is reached by URL (http)" };

/**
 * Checks what one schema cannot say: that the settings of an app, put together, make sense. `wrong`: key paths at which something is
 * wrong and told, which the settings lack; nothing is said that may only follow from that.
 */
export function appRules(app: Pick<AppConfig, "package" | "settings" | "place">, wrong: readonly KeyPath[] = []): Diagnostic[] {
  const rules = new AppRules(app, wrong);
  rules.run();
  return rules.diagnostics;
}

class AppRules {
  readonly diagnostics: Diagnostic[] = [];
  readonly #app: Pick<AppConfig, "package" | "settings" | "place">;
  readonly #mcp: Mcp;
  readonly #wrong: readonly KeyPath[];

  constructor(app: Pick<AppConfig, "package" | "settings" | "place">, wrong: readonly KeyPath[]) {
    this.#app = app;
    this.#wrong = wrong;
    this.#mcp = app.settings.mcp ?? {};
  }

  run(): void {
    const transport = this.#transport();
    if (transport === "stdio") this.#stdio();
    if (transport === "http") this.#http();
    this.#forwards();
    if (this.#mcp.protocol === "modern")
      this.#error("unsupported-protocol", ["mcp", "protocol"], "protocol: modern (2026-07-28) is reserved for a later release", { label: 'write "auto"' });
  }

  #error(code: DiagnosticCode, path: KeyPath, message: string, parts: DiagnosticParts = {}, what: "key" | "value" = "value"): undefined {
    this.diagnostics.push(errorAt(code, this.#app.place(path, what), message, { path: formatPath(path), ...parts }));
  }

  /** Whether a key is there, be it with a wrong value. */
  #says(key: "command" | "entry" | "url"): boolean {
    return this.#mcp[key] !== undefined || this.#wrong.some((path) => isUnderPath(path, ["mcp", key]));
  }

  /** The transport, or undefined after a report. One report for the choice itself; only then keys are looked at. */
  #transport(): Transport | undefined {
    const { transport, command } = this.#mcp;
    const name = this.#app.package;
    const program: KeyPath | undefined = this.#says("command") ? ["mcp", "command"] : this.#says("entry") ? ["mcp", "entry"] : undefined;
    const url = this.#says("url");
    if (program && url) {
      return this.#error(
        "two-transports",
        ["mcp", "url"],
        `${name} has both a ${program[1]} and a url; it can be either ${WORDS.stdio} or ${WORDS.http}`,
        {
          related: [{ place: this.#app.place(program, "key"), message: `the ${program[1]}` }],
          help: ["take one of the two out; in topology.yaml, null removes a key of the manifest"],
        },
        "key",
      );
    }
    if (!program && !url) {
      if (this.#wrong.some(mayBeTransport)) return undefined;
      const wanted = transport === "http" ? "a url" : transport === "stdio" ? "a command" : "a command (a program to start) or a url (a server to reach)";
      return this.#error(
        "no-transport",
        ["mcp"],
        `${name} says not how it is reached: mcp needs ${wanted}`,
        { help: ['for a program: command: node, args: ["server.js"]', "for a server: url: https://host/mcp"] },
        "key",
      );
    }
    const found: Transport = url ? "http" : "stdio";
    if (transport !== undefined && transport !== found)
      return this.#error(
        "wrong-transport",
        ["mcp", "transport"],
        `transport is ${transport}, but ${found === "http" ? "a url" : `a ${program?.[1]}`} is given`,
        { label: `did you mean "${found}"?` },
      );
    if (found === "stdio" && command === undefined && !this.#wrong.some(mayBeTransport))
      return this.#error(
        "no-transport",
        ["mcp", "entry"],
        `${name} has an entry and no command that runs it`,
        { help: ["for example command: node, or command: [uv, run, python]"] },
        "key",
      );
    const other: Transport = found === "stdio" ? "http" : "stdio";
    for (const key of KEYS[other])
      if (this.#mcp[key] !== undefined)
        this.#error("wrong-transport", ["mcp", key], `${key} belongs to ${WORDS[other]}; ${name} is ${WORDS[found]}`, { label: "take it out" }, "key");
    return found;
  }

  /** A shared connection declares nothing of one client, so that nothing is ever forwarded on it. */
  #forwards(): void {
    const { isolation, grants = {} } = this.#app.settings;
    if (isolation === "session" || this.#wrong.some((path) => isUnderPath(path, ["isolation"]))) return;
    for (const feature of ["sampling", "elicitation"] as const) {
      if (grants[feature]?.forward !== true) continue;
      const path: KeyPath = ["grants", feature, "forward"];
      const message = `forward has no effect: ${this.#app.package} has one connection for all (isolation: shared), and ${feature} is forwarded only on a connection of one calling client`;
      const help = ["write isolation: session at the app, or take forward out"];
      this.diagnostics.push(warningAt("forward-needs-session", this.#app.place(path), message, { path: formatPath(path), help }));
    }
  }

  #stdio(): void {
    const { command } = this.#mcp;
    const program = Array.isArray(command) ? command[0] : command;
    if (program?.trim() === "") this.#error("out-of-range", Array.isArray(command) ? ["mcp", "command", 0] : ["mcp", "command"], "the command is empty");
    const texts: [KeyPath, string][] = (Array.isArray(command) ? command.map((word, i): [KeyPath, string] => [["mcp", "command", i], word]) : [])
      .concat((this.#mcp.args ?? []).map((word, i): [KeyPath, string] => [["mcp", "args", i], word]))
      .concat(Object.entries(this.#mcp.env ?? {}).map(([name, value]): [KeyPath, string] => [["mcp", "env", name], value]));
    for (const [path, text] of texts)
      if (text.includes("\0"))
        this.#error("bad-format", path, `${formatPath(path)} holds a zero byte, which no program can be given`, { help: ["take \\0 out of it"] });
  }

  #http(): void {
    const { url, headers = {} } = this.#mcp;
    if (url !== undefined) this.#url(url);
    for (const [name, value] of Object.entries(headers)) {
      if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
        this.#error(
          "bad-format",
          ["mcp", "headers", name],
          "this is not the name of an HTTP header",
          { help: ["write letters, digits and -, such as X-Api-Key, without a colon or a space"] },
          "key",
        );
      // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
      else if (/[\r\n\0]/.test(value))
        this.#error("bad-format", ["mcp", "headers", name], `the value of the header ${name} holds a line break or a zero byte`, {
          help: ["use ${file:…} for a token in a file: its trailing line break is cut"],
        });
    }
  }
  #url(url: string): void {
    if (!URL.canParse(url))
      return this.#error("bad-format", ["mcp", "url"], "mcp.url is not a URL", { help: ["write the whole address, such as https://mcp.example.org/mcp"] });
    const allowed = this.#mcp.allow_http || this.#wrong.some((path) => isUnderPath(path, ["mcp", "allow_http"]));
    if (url.startsWith("http:") && !isLoopbackUrl(url) && !allowed)
      this.#error("plain-http", ["mcp", "url"], `${new URL(url).host} is reached over plain http, so anyone on the way can read and change what is said`, {
        help: ["write https://, or set allow_http: true where the network is trusted"],
      });
  }
}

/** Whether what is wrong at a key path may be, or hold, what says how the app is reached. */
function mayBeTransport([top, key]: KeyPath): boolean {
  const known = schemaShape("app.schema.json").properties;
  if (top === undefined || !known.has(String(top))) return true;
  return top === "mcp" && (key === undefined || ["command", "entry", "url"].includes(String(key)) || !known.get("mcp")?.properties.has(String(key)));
}
