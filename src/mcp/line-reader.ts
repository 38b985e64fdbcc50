const NEWLINE = 10;
/** How much of an oversized line is kept from each end, to tell whose answer it was. */
const EDGE_BYTES = 512;

/** What a {@link LineReader} gives. */
export interface LineHandlers {
  /** One line without its newline. The bytes are the receiver's to keep. */
  readonly line: (line: Buffer) => void;
  /** A line over the cap ended; only its edges were kept. */
  readonly oversize: (head: Buffer, tail: Buffer, bytes: number) => void;
}

/**
 * Cuts a byte stream into lines in linear time: each byte is looked at once and copied at most once.
 * A line over `maxBytes` costs that line only, and never more than `maxBytes` of memory.
 */
export class LineReader {
  readonly #maxBytes: number;
  readonly #handlers: LineHandlers;
  #parts: Buffer[] = [];
  #bytes = 0;
  #skipped: { readonly head: Buffer; tail: Buffer; bytes: number } | null = null;

  constructor(maxBytes: number, handlers: LineHandlers) {
    this.#maxBytes = maxBytes;
    this.#handlers = handlers;
  }

  /** Takes the next chunk. */
  push(chunk: Buffer): void {
    let from = 0;
    for (let newline = chunk.indexOf(NEWLINE); newline !== -1; newline = chunk.indexOf(NEWLINE, from)) {
      this.#add(chunk.subarray(from, newline));
      this.#endLine();
      from = newline + 1;
    }
    if (from < chunk.length) this.#add(chunk.subarray(from));
  }

  /** Whether a line has begun and not ended. */
  get waiting(): boolean {
    return this.#bytes > 0;
  }

  /** Gives the line that has begun to `take`; where that says true, it counts as ended. A line that cannot end a JSON value is not looked at. */
  endIf(take: (line: Buffer) => boolean): void {
    if (this.#bytes === 0 || !mayEndValue(this.#parts.at(-1)!)) return;
    const line = Buffer.concat(this.#parts, this.#bytes);
    this.#parts = [line];
    if (!take(line)) return;
    this.#parts = [];
    this.#bytes = 0;
  }

  /** The stream has ended: what is left counts as a line. */
  end(): void {
    if (this.#bytes > 0 || this.#skipped !== null) this.#endLine();
  }

  #add(part: Buffer): void {
    if (this.#skipped !== null) {
      this.#skipped.bytes += part.length;
      this.#skipped.tail = lastBytes(this.#skipped.tail, part);
      return;
    }
    if (part.length > 0) this.#parts.push(part);
    this.#bytes += part.length;
    if (this.#bytes <= this.#maxBytes) return;
    const whole = Buffer.concat(this.#parts, this.#bytes);
    // Copies, so that the edges do not keep the whole line in memory.
    this.#skipped = { head: Buffer.from(whole.subarray(0, EDGE_BYTES)), tail: Buffer.from(whole.subarray(-EDGE_BYTES)), bytes: this.#bytes };
    this.#parts = [];
    this.#bytes = 0;
  }

  #endLine(): void {
    const skipped = this.#skipped;
    if (skipped !== null) {
      this.#skipped = null;
      this.#handlers.oversize(skipped.head, skipped.tail, skipped.bytes);
      return;
    }
    const line = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts, this.#bytes);
    this.#parts = [];
    this.#bytes = 0;
    this.#handlers.line(line);
  }
}

/** Whether bytes end with a closing bracket, white space aside. */
function mayEndValue(bytes: Buffer): boolean {
  return /[}\]]\s*$/.test(bytes.subarray(-16).toString("latin1"));
}

function lastBytes(before: Buffer, part: Buffer): Buffer {
  if (part.length >= EDGE_BYTES) return Buffer.from(part.subarray(-EDGE_BYTES));
  return Buffer.from(Buffer.concat([before, part]).subarray(-EDGE_BYTES));
}
