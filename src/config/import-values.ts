import { own } from "../base/json.ts";
import { createMasker, isPlaceName, isSecretName } from "../base/masking.ts";
import type { ImportVariables } from "./import-variables.ts";
import { innerPart, optionPart } from "./named-arguments.ts";
import { variableName } from "./variable-name.ts";

/** Rewrites the texts of another program's file: secrets and editors' expressions become `${NAME}`. */
export class ImportValues {
  /** What was changed, one line each. Free of secrets. */
  readonly notes: string[] = [];
  readonly #inputs: readonly unknown[];
  readonly #variables: ImportVariables;
  readonly #shapes = createMasker();

  /** `inputs`: the questions that VS Code would ask. */
  constructor(inputs: readonly unknown[], variables: ImportVariables) {
    this.#inputs = inputs;
    this.#variables = variables;
  }

  /** The value of an environment variable or a header. */
  named(server: string, name: string, value: string): string {
    if (!this.#isSecret(name, value)) return this.text(server, name, value);
    const scheme = /^(?:Bearer|Basic|Token)\s+/i.exec(value)?.[0] ?? "";
    // An environment variable keeps its name; a header's name says too little, so the server's stands in front.
    const wanted = /^[A-Z][A-Z0-9_]*$/.test(name) ? name : variableName(`${server}_${name === "Authorization" ? "token" : name}`);
    return scheme + this.#secret(server, wanted, value.slice(scheme.length), `the ${name} of ${server}`);
  }

  /** An argument; `before` is the one in front of it. */
  argument(server: string, value: string, before = ""): string {
    const inner = innerPart(value, before);
    if (inner) return this.#isSecret(inner.name, inner.value) ? inner.start + this.named(server, inner.name, inner.value) : this.text(server, "args", value);
    const option = optionPart(value, before);
    const name = option?.name;
    const secret = option?.value ?? value;
    if (!this.#isSecret(name, secret)) return this.text(server, "args", value);
    const wanted = variableName(`${server}_${(name ?? "token").replace(/^-+/, "")}`);
    return (option?.start ?? "") + this.#secret(server, wanted, secret, name === undefined ? `an argument of ${server}` : `the argument ${name} of ${server}`);
  }

  /** A URL: its user part and its secret parameters become variables, all else stays as it was written. */
  url(server: string, value: string): string {
    const held: string[] = [];
    const hold = (reference: string): string => `\0${held.push(reference) - 1}\0`;
    const isReference = (part: string): boolean => /^(?:\$\{[^{}]*\}|:)+$/.test(part);
    const out = value
      .replace(/^([a-z][a-z0-9+.-]*:\/\/)([^/?#]+)@/i, (all, start: string, user: string) =>
        isReference(user) ? all : `${start}${hold(this.#secret(server, variableName(`${server}_credentials`), user, `the user in the url of ${server}`))}@`,
      )
      .replaceAll(/([?&]([^=&#]+)=)([^&#]+)/g, (all, start: string, name: string, secret: string) =>
        isReference(secret) || !this.#isSecret(name, secret)
          ? all
          : start + hold(this.#secret(server, variableName(`${server}_${name}`), secret, `the ${name} in the url of ${server}`)),
      );
    return this.text(server, "url", out).replaceAll(/\0(\d+)\0/g, (_all, index: string) => held[Number(index)]!);
  }

  /** Whether a value is a secret that is written out. What consists of references is none, whatever its name. */
  #isSecret(name: string | undefined, value: string): boolean {
    if (value === "" || /^\$[A-Za-z_]/.test(value)) return false;
    const literal = value.replaceAll(/\$\{[^{}]*\}/g, "");
    if (this.#shapes.text(literal) !== literal) return true;
    return name !== undefined && isSecretName(name) && !isPlaceName(name) && !value.includes("${");
  }

  #secret(server: string, wanted: string, value: string, what: string): string {
    return `\${${this.#variables.forValue(server, wanted, value, `${what}; its value was written in the file`)}}`;
  }

  /** Expressions of editors in our own form; a `$` that means itself is doubled, a leading ~/ written out. */
  text(server: string, key: string, value: string): string {
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
      const description = own(
        this.#inputs.find((candidate) => own(candidate, "id") === input),
        "description",
      );
      const what = typeof description === "string" ? description : `the ${key} of ${server}`;
      return this.#asked(server, input, all, `${what}; the editor asked for it as \${input:${input}}, a host cannot ask`);
    }
    if (body === "userHome") return "${HOME}";
    if (body === "workspaceFolder" || body === "workspaceRoot")
      return this.#asked(server, "WORKSPACE_FOLDER", "workspaceFolder", `the folder that the editor called \${${body}}`);
    if (body === "pathSeparator" || body === "/") return "/";
    if (/^(?:env:)?[A-Za-z_]\w*(?::[-?][^$]*)?$/.test(body)) return all;
    const reference = this.#asked(server, body, all, `what \${${body}} was for ${server}`);
    this.notes.push(`${server}: \${${body}} in ${key} is known to its editor only and became ${reference}`);
    return reference;
  }

  #asked(server: string, words: string, expression: string, why: string): string {
    return `\${${this.#variables.forExpression(server, variableName(words), expression, why)}}`;
  }
}
