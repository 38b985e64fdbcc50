import { errorAt, warningAt, type DiagnosticCode, type DiagnosticParts } from "../base/diagnostic-codes.ts";
import type { Diagnostic } from "../base/diagnostics.ts";
import { formatPath, type Locator, type Span } from "./nodes.ts";
import type { KeyPath } from "./types.ts";

/** What a check gives for a part that is wrong. */
export const INVALID = Symbol("invalid");

/** What the environment lacks. Only what runs needs it. */
const OF_ENVIRONMENT: ReadonlySet<DiagnosticCode> = new Set<DiagnosticCode>(["unset-variable", "secret-file"]);

const NOT_YET = "it is not needed as long as the app is not enabled";

/** What is found on a walk through a value: the findings, and where something is wrong. */
export class CheckLog {
  readonly diagnostics: Diagnostic[] = [];
  readonly wrong: KeyPath[] = [];
  /** Where the walk is. */
  readonly path: (string | number)[] = [];
  /** How many nodes on the way are repeated by aliases. */
  repeats = 0;
  #later = false;
  readonly #locator: Locator;
  readonly #repeated = new Set<string>();

  constructor(locator: Locator) {
    this.#locator = locator;
  }

  /** Tells a mistake of the part where the walk is. */
  report(code: DiagnosticCode, span: Span, message: string, parts: DiagnosticParts = {}): typeof INVALID {
    this.tell(code, span, message, parts);
    return this.markWrong();
  }

  /** Tells a mistake, unless it was met through another alias already. */
  tell(code: DiagnosticCode, span: Span, message: string, parts: DiagnosticParts): void {
    const later = this.#later && OF_ENVIRONMENT.has(code);
    const mistake = `${code} ${span.start} ${parts.label ?? ""}${later ? " later" : ""}`;
    if (this.repeats > 0 && this.#repeated.has(mistake)) return;
    if (this.repeats > 0) this.#repeated.add(mistake);
    const place = this.#locator.place(span);
    const all = { path: formatPath(this.path), ...parts };
    this.diagnostics.push(later ? warningAt(code, place, message, { ...all, help: [...(parts.help ?? []), NOT_YET] }) : errorAt(code, place, message, all));
  }

  /** Walks through what does not run: what the environment lacks for it is only a warning. */
  forLater<T>(walk: () => T): T {
    this.#later = true;
    try {
      return walk();
    } finally {
      this.#later = false;
    }
  }

  /** Notes that something is wrong here, or at a key below. */
  markWrong(...below: string[]): typeof INVALID {
    this.wrong.push([...this.path, ...below]);
    return INVALID;
  }
}
