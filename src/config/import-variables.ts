import { variableName } from "./variable-name.ts";

/** What the names of variables must not clash with. */
export interface TakenNames {
  /** The environment as it is: a name that has another value there is not taken for this one. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Names that are referred to already; they serve only for the value that the environment has. */
  readonly names: ReadonlySet<string>;
}

/** The environment variables of an import: one name for one value, so that no server is given the secret of another. */
export class ImportVariables {
  readonly #taken: TakenNames;
  readonly #referred: ReadonlySet<string>;
  readonly #found = new Map<string, { readonly value: string; readonly why: string }>();

  /** `referred`: the names that the imported file itself refers to. */
  constructor(taken: TakenNames, referred: ReadonlySet<string>) {
    this.#taken = taken;
    this.#referred = referred;
  }

  /** Names with what they are for, in the order in which they were needed. */
  get list(): { readonly name: string; readonly why: string }[] {
    return [...this.#found].map(([name, { why }]) => ({ name, why }));
  }

  /** The name for a literal value: `wanted`, or where that means another value, with the server's name in front. */
  forValue(server: string, wanted: string, value: string, why: string): string {
    const { environment, names } = this.#taken;
    const free = (name: string): boolean => (environment[name] === undefined ? !names.has(name) : environment[name] === value);
    return this.#need(server, wanted, value, why, free);
  }

  /** The name for what an editor's expression stands for; its value is not known. */
  forExpression(server: string, wanted: string, expression: string, why: string): string {
    return this.#need(server, wanted, expression, why, (name) => !this.#referred.has(name));
  }

  #need(server: string, wanted: string, value: string, why: string, free: (name: string) => boolean): string {
    const prefix = `${variableName(server)}_`;
    const long = wanted.startsWith(prefix) ? wanted : prefix + wanted;
    for (let i = 0; ; i += 1) {
      const name = i === 0 ? wanted : i === 1 ? long : `${long}_${i}`;
      const found = this.#found.get(name);
      if (found?.value === value) return name;
      if (found || !free(name)) continue;
      this.#found.set(name, { value, why });
      return name;
    }
  }
}

/** The names of variables that a text refers to as `${NAME}`, `${env:NAME}`, `${NAME:-…}`. */
export function referredNames(text: string): Set<string> {
  return new Set([...text.matchAll(/\$\{(?:env:)?([A-Za-z_]\w*)(?::[-?][^{}]*)?\}/g)].map((match) => match[1]!));
}
