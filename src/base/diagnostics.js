/** Whether a list of findings has an error in it. */
export function hasErrors(diagnostics) {
    return diagnostics.some((d) => d.severity === "error");
}
/** Sorted by file, position and code, so that the same input prints the same text. Findings without a place come first. */
export function sortDiagnostics(diagnostics) {
    const key = (d) => [d.place?.file ?? "", d.place?.line ?? 0, d.place?.column ?? 0, d.code, d.message];
    return [...diagnostics].sort((a, b) => {
        const left = key(a);
        const right = key(b);
        for (let i = 0; i < left.length; i += 1) {
            if (left[i] < right[i])
                return -1;
            if (left[i] > right[i])
                return 1;
        }
        return 0;
    });
}
/** Turns a finding into its JSON form. */
export function diagnosticToJson(d) {
    return {
        file: d.place?.file ?? null,
        line: d.place?.line ?? null,
        column: d.place?.column ?? null,
        end_line: d.place?.endLine ?? null,
        end_column: d.place?.endColumn ?? null,
        path: d.path ?? null,
        code: d.code,
        severity: d.severity,
        message: d.message,
        help: [...(d.label ? [d.label] : []), ...(d.help ?? [])],
        related: (d.related ?? []).map((r) => ({ file: r.place.file, line: r.place.line, column: r.place.column, message: r.message })),
    };
}
