import type { Diagnostic } from "../base/diagnostics.ts";
import { printDiagnostics, type DiagnosticFormat } from "../base/print-diagnostics.ts";
import type { Workspace } from "../workspace.ts";
import type { Context } from "./context.ts";

/** Findings of a workspace as a text for stdout or stderr, without the last newline; secrets are masked. */
export function printFindings(context: Context, workspace: Workspace, diagnostics: readonly Diagnostic[], format: DiagnosticFormat): string {
  const text = printDiagnostics(diagnostics, {
    format,
    texts: (file) => workspace.texts.get(file),
    color: context.color,
    // One that cannot be read has no text, and was looked at all the same.
    files: new Set([...workspace.texts.keys(), ...diagnostics.flatMap((d) => d.place?.file ?? [])]).size,
    mask: (input) => workspace.masker.text(input),
  });
  return text.trimEnd();
}
