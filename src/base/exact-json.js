/**
 * A whole number with more digits than a double holds. `JSON.stringify` writes the nearest double, as it would have been
 * without this class; {@link stringifyExact} writes the digits.
 */
export class ExactNumber {
    digits;
    constructor(digits) {
        this.digits = digits;
    }
    valueOf() {
        return Number(this.digits);
    }
    toJSON() {
        return Number(this.digits);
    }
    toString() {
        return this.digits;
    }
}
const SIXTEEN_DIGITS = /\d{16}/;
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const WHOLE = /^-?\d{16,}$/;
/** As `JSON.parse`, but whole numbers that a double cannot hold become {@link ExactNumber}. Throws a SyntaxError as `JSON.parse` does. */
export function parseExact(text) {
    const plain = JSON.parse(text);
    if (!SIXTEEN_DIGITS.test(text))
        return plain;
    const decoded = JSON.stringify(plain);
    let mark = "exact:";
    // The mark must not be a beginning of any string in the value, or that string would be taken for a number.
    while (decoded.includes(mark))
        mark = `x${mark}`;
    let found = false;
    const marked = text.replace(STRING_OR_NUMBER, (token) => {
        if (!WHOLE.test(token) || String(Number(token)) === token)
            return token;
        found = true;
        return `"${mark}${token}"`;
    });
    if (!found)
        return plain;
    return JSON.parse(marked, (_key, value) => (typeof value === "string" && value.startsWith(mark) ? new ExactNumber(value.slice(mark.length)) : value));
}
/** JSON text of a value, with the digits of every {@link ExactNumber} in it. */
export function stringifyExact(value) {
    return write(value) ?? "null";
}
function write(value) {
    if (value instanceof ExactNumber)
        return value.digits;
    if (Array.isArray(value))
        return `[${value.map((item) => write(item) ?? "null").join(",")}]`;
    if (typeof value === "object" && value !== null && !("toJSON" in value && typeof value.toJSON === "function")) {
        const members = [];
        for (const key of Object.keys(value)) {
            const text = write(value[key]);
            if (text !== undefined)
                members.push(`${JSON.stringify(key)}:${text}`);
        }
        return `{${members.join(",")}}`;
    }
    return JSON.stringify(value);
}
/** A copy of a value with every {@link ExactNumber} as the nearest double; the value itself where there is none. */
export function withPlainNumbers(value) {
    return plain(value);
}
function plain(value) {
    if (value instanceof ExactNumber)
        return value.valueOf();
    if (Array.isArray(value)) {
        const items = value.map(plain);
        return items.some((item, i) => item !== value[i]) ? items : value;
    }
    if (typeof value !== "object" || value === null)
        return value;
    let copy;
    for (const [key, child] of Object.entries(value)) {
        const next = plain(child);
        if (next === child)
            continue;
        copy ??= Object.defineProperties({}, Object.getOwnPropertyDescriptors(value));
        Object.defineProperty(copy, key, { value: next, enumerable: true, configurable: true, writable: true });
    }
    return copy ?? value;
}
