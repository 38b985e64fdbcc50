import { hash } from "node:crypto";
import { isObject, own, setOwn, type JsonObject } from "../base/json.ts";

/** The newest record of a log: its number and its hash. */
export interface AuditHead {
  readonly seq: number;
  readonly hash: string;
}

/** What the first record of a chain follows. */
export const GENESIS = "0".repeat(64);

/** The event that tells of records that could not be written, such as on a full disk. */
export const MISSING = "audit.records_missing";

/** The event that a log begins anew with when its end was gone: cut off by someone, or never on the disk when the power failed. */
export const LOST = "audit.records_lost";

/** Members that chain a record to the one before. */
export const CHAIN_KEYS: ReadonlySet<string> = new Set(["seq", "prev", "hash"]);

/** A record taken apart: its own fields, and what chains it. */
export interface AuditRecord extends AuditHead {
  readonly fields: JsonObject;
  readonly prev: string;
}

/** A record as it stands in the log: its fields between its number and its links. */
export function lineOf(content: string, seq: number, prev: string, hash: string): string {
  return `{"seq":${seq},${content.slice(1, -1)},"prev":"${prev}","hash":"${hash}"}`;
}

/** Over the JSON text of the fields as it stands in the line: a reader who parses them and writes them again gets the same text. */
export function hashOf(content: string, seq: number, prev: string): string {
  return hash("sha256", `audit\0${seq}\0${prev}\0${content}`, "hex");
}

/** Reads a line of the log; null for what is no whole record. */
export function readRecord(line: string): AuditRecord | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  const seq = own(value, "seq");
  const prev = own(value, "prev");
  const hash = own(value, "hash");
  if (!isObject(value) || typeof seq !== "number" || typeof prev !== "string" || typeof hash !== "string") return null;
  const fields: JsonObject = {};
  for (const [key, item] of Object.entries(value)) if (!CHAIN_KEYS.has(key)) setOwn(fields, key, item);
  return { fields, seq, prev, hash };
}
