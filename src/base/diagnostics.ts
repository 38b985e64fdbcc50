/** How bad a finding is. Errors make a command fail; warnings do so only under `--strict`. */
export type Severity = "error" | "warning" | "info";

/** A place in a file. Lines and columns count from 1; a column counts UTF-16 code units. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** Another place that belongs to a finding, with a few words that say how. */
export interface RelatedPlace {
  readonly place: Place;
  readonly message: string;
}

/**
 * One finding about the user's files, as a value. `code` stands in docs/diagnostics.md.
 * Texts are in the user's own words and already free of secrets.
 */
export interface Diagnostic {
  readonly code: string;
  readonly severity: Severity;
  /** What is wrong, with the user's own names. */
  readonly message: string;
  readonly place: Place | null;
  /** Key path in the file: `apps.im.polaris.qq.mcp.command`, `rules[1].id`. */
  readonly path?: string;
  /** Short words under the caret: `did you mean "command"?`. */
  readonly label?: string;
  /** How to mend it, one line each, printed after `=`. */
  readonly help?: readonly string[];
  readonly related?: readonly RelatedPlace[];
}

/** A value with the findings made on the way to it; without a value there is at least one error. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T; readonly diagnostics: readonly Diagnostic[] }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** Whether a list of findings has an error in it. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((d) => d.severity === "error");
}

/** Sorted by file, position and code, so that the same input prints the same text. Findings without a place come first. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const key = (d: Diagnostic): [string, number, number, string, string] => [d.place?.file ?? "", d.place?.line ?? 0, d.place?.column ?? 0, d.code, d.message];
  return [...diagnostics].sort((a, b) => {
    const left = key(a);
    const right = key(b);
    for (let i = 0; i < left.length; i += 1) {
      if (left[i]! < right[i]!) return -1;
      if (left[i]! > right[i]!) return 1;
    }
    return 0;
  });
}

/** The JSON form that scripts read (contracts 10, `validate --json`). */
export interface DiagnosticJson {
  file: string | null;
  line: number | null;
  column: number | null;
  end_line: number | null;
  end_column: number | null;
  path: string | null;
  code: string;
  severity: Severity;
  message: string;
  help: string[];
  related: { file: string; line: number; column: number; message: string }[];
}

/** Turns a finding into its JSON form. `mask` takes secrets out of its texts. */
export function diagnosticToJson(d: Diagnostic, mask: (text: string) => string): DiagnosticJson {
  return {
    file: d.place?.file ?? null,
    line: d.place?.line ?? null,
    column: d.place?.column ?? null,
    end_line: d.place?.endLine ?? null,
    end_column: d.place?.endColumn ?? null,
    path: d.path === undefined ? null : mask(d.path),
    code: d.code,
    severity: d.severity,
    message: mask(d.message),
    help: [...(d.label ? [d.label] : []), ...(d.help ?? [])].map(mask),
    related: (d.related ?? []).map((r) => ({ file: r.place.file, line: r.place.line, column: r.place.column, message: mask(r.message) })),
  };
}
