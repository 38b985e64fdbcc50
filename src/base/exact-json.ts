/**
 * A whole number with more digits than a double holds. `JSON.stringify` writes the nearest double, as it would have been
 * without this class; {@link stringifyExact} writes the digits.
 */
export class ExactNumber {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }

  valueOf(): number {
    return Number(this.digits);
  }

  toJSON(): number {
    met = true;
    return Number(this.digits);
  }

  toString(): string {
    return this.digits;
  }
}

/** Whether an {@link ExactNumber} was met since this was last set to false: spares {@link stringifyExact} a walk of its own. */
let met = false;

const SIXTEEN_DIGITS = /\d{16}/;
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const WHOLE = /^-?\d{16,}$/;

/** Whether a JSON text may hold whole numbers that a double cannot; a quick look, wrong only on the safe side. */
export function mayHoldExact(text: string): boolean {
  return SIXTEEN_DIGITS.test(text);
}

/** As `JSON.parse`, but whole numbers that a double cannot hold become {@link ExactNumber}. Throws a SyntaxError as `JSON.parse` does. */
export function parseExact(text: string): unknown {
  const plain: unknown = JSON.parse(text);
  if (!mayHoldExact(text)) return plain;
  const decoded = JSON.stringify(plain);
  let mark = "exact:";
  // The mark must not be a beginning of any string in the value, or that string would be taken for a number.
  while (decoded.includes(mark)) mark = `x${mark}`;
  let found = false;
  const marked = text.replace(STRING_OR_NUMBER, (token) => {
    if (!WHOLE.test(token) || String(Number(token)) === token) return token;
    found = true;
    return `"${mark}${token}"`;
  });
  if (!found) return plain;
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === "string" && value.startsWith(mark) ? new ExactNumber(value.slice(mark.length)) : value,
  );
}

/**
 * JSON text of a value, with the digits of every {@link ExactNumber} in it; where there is none, as fast as `JSON.stringify`, and then
 * with its `indent`.
 */
export function stringifyExact(value: unknown, indent?: number): string {
  met = false;
  const text = JSON.stringify(value, null, indent) as string | undefined;
  return (met ? write(value) : text) ?? "null";
}

function write(value: unknown): string | undefined {
  if (value instanceof ExactNumber) return value.digits;
  if (Array.isArray(value)) return `[${value.map((item) => write(item) ?? "null").join(",")}]`;
  if (typeof value === "object" && value !== null && !("toJSON" in value && typeof value.toJSON === "function")) {
    const members: string[] = [];
    for (const key of Object.keys(value)) {
      const text = write((value as Record<string, unknown>)[key]);
      if (text !== undefined) members.push(`${JSON.stringify(key)}:${text}`);
    }
    return `{${members.join(",")}}`;
  }
  return JSON.stringify(value) as string | undefined;
}

/** A copy of a value with every {@link ExactNumber} as the nearest double; the value itself where there is none. */
export function withPlainNumbers<T>(value: T): T {
  return plain(value) as T;
}

function plain(value: unknown): unknown {
  if (value instanceof ExactNumber) return value.valueOf();
  if (Array.isArray(value)) {
    const items = value.map(plain);
    return items.some((item, i) => item !== value[i]) ? items : value;
  }
  if (typeof value !== "object" || value === null) return value;
  let copy: Record<string, unknown> | undefined;
  for (const [key, child] of Object.entries(value)) {
    const next = plain(child);
    if (next === child) continue;
    copy ??= Object.defineProperties({}, Object.getOwnPropertyDescriptors(value)) as Record<string, unknown>;
    Object.defineProperty(copy, key, { value: next, enumerable: true, configurable: true, writable: true });
  }
  return copy ?? value;
}
