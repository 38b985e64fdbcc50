import { errorAt, type DiagnosticCode, type DiagnosticParts } from "../base/diagnostic-codes.ts";
import type { Diagnostic } from "../base/diagnostics.ts";
import { formatPath, type Locator, type Span } from "./nodes.ts";
import type { KeyPath } from "./types.ts";

/** What a check gives for a part that is wrong. */
export const INVALID = Symbol("invalid");

/** What is found on a walk through a value: the findings, and where something is wrong. */
export class CheckLog {
  readonly diagnostics: Diagnostic[] = [];
  readonly wrong: KeyPath[] = [];
  /** Where the walk is. */
  readonly path: (string | number)[] = [];
  /** How many nodes on the way are repeated by aliases. */
  repeats = 0;
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
    const mistake = `${code} ${span.start} ${parts.label ?? ""}`;
    if (this.repeats > 0 && this.#repeated.has(mistake)) return;
    if (this.repeats > 0) this.#repeated.add(mistake);
    this.diagnostics.push(errorAt(code, this.#locator.place(span), message, { path: formatPath(this.path), ...parts }));
  }

  /** Notes that something is wrong here, or at a key below. */
  markWrong(...below: string[]): typeof INVALID {
    this.wrong.push([...this.path, ...below]);
    return INVALID;
  }
}
