import type { Diagnostic } from "../base/diagnostics.ts";

/** Thrown when the configuration cannot be used at all. `text` is what `validate` prints. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly diagnostics: readonly Diagnostic[];
  readonly text: string;

  constructor(diagnostics: readonly Diagnostic[], text: string) {
    super(`the configuration cannot be used:\n${text}`);
    this.diagnostics = diagnostics;
    this.text = text;
  }
}
