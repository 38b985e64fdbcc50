import { jsonLine } from "../base/log-safe.ts";
import { GENESIS, hashOf, lineOf, LOST, MISSING, readRecord, type AuditHead } from "./audit-record.ts";

/** What `audit verify` found. `line` counts from 1 over all lines handed in. */
export type AuditVerdict =
  | { readonly ok: true; readonly records: number; readonly head: AuditHead | null; readonly note: string | null }
  | { readonly ok: false; readonly line: number; readonly reason: string };

/**
 * Checks a whole log, oldest line first: each record's own hash, its link to the one before, and its number. `head` is what was
 * kept apart; a log that ends before it has lost its tail.
 */
export function verifyAudit(lines: Iterable<string>, head: AuditHead | null = null): AuditVerdict {
  let last: AuditHead | null = null;
  let line = 0;
  let sawHead = head === null;
  const notes: string[] = [];
  for (const text of lines) {
    line += 1;
    const record = readRecord(text);
    if (!record) return { ok: false, line, reason: text.trim() === "" ? "the line is empty" : "the line is not a whole record" };
    const { seq, prev, hash } = record;
    const content = jsonLine(record.fields);
    if (hash !== hashOf(content, seq, prev)) return { ok: false, line, reason: "the record was changed: its hash does not fit its content" };
    if (lineOf(content, seq, prev, hash) !== text) return { ok: false, line, reason: "the line was changed: it is not written as the log writes it" };
    if (last === null) {
      if (seq > 1) notes.push(`the log begins with record ${seq}; older files are not here`);
      if (seq === 1 && prev !== GENESIS) return { ok: false, line, reason: "the first record does not begin a chain" };
    } else if (seq !== last.seq + 1 || prev !== last.hash) {
      return {
        ok: false,
        line,
        reason: `the record does not follow the one before it (number ${seq} after ${last.seq}): a line was taken out, put in or moved`,
      };
    }
    if (head !== null && seq === head.seq) {
      if (hash !== head.hash) return { ok: false, line, reason: "the record is not the one whose hash was kept apart: the log was written anew" };
      sawHead = true;
    }
    if (record.fields["event"] === MISSING) notes.push(`before record ${seq}, ${String(record.fields["records"])} could not be written`);
    if (record.fields["event"] === LOST) notes.push(`before record ${seq}, ${String(record.fields["records"])} written earlier are gone`);
    last = { seq, hash };
  }
  if (!sawHead)
    return { ok: false, line: line + 1, reason: `the log ends with record ${last?.seq ?? 0}, but record ${head!.seq} was written: the end was cut off` };
  return { ok: true, records: line, head: last, note: notes.length > 0 ? notes.join("; ") : null };
}
