import { StringDecoder } from "node:string_decoder";
import type { Clock } from "../base/clock.ts";
import { LineAllowance } from "./line-allowance.ts";
import { plainLine } from "./plain-line.ts";

/** A fragment without a line break is flushed at this size. */
const FRAGMENT_CHARS = 64 * 1024;
const TAIL_LINES = 50;
const RATE = { burst: 400, perSecond: 100 };

/**
 * Reads a server's stderr for ever and remembers its last lines. Lines go to `onLine` at a bounded rate; how many were left out is said once
 * the flood is over. A carriage return counts as a line break.
 */
export class StderrLog {
  readonly #decoder = new StringDecoder("utf8");
  readonly #onLine: (line: string) => void;
  readonly #allowance: LineAllowance;
  readonly #tail: string[] = [];
  #pending = "";

  constructor(clock: Clock, onLine: (line: string) => void) {
    this.#onLine = onLine;
    this.#allowance = new LineAllowance(clock, RATE);
  }

  /** Takes the next chunk. */
  push(chunk: Buffer): void {
    const lines = (this.#pending + this.#decoder.write(chunk)).split(/[\r\n]+/);
    this.#pending = lines.pop() ?? "";
    if (this.#pending.length >= FRAGMENT_CHARS) {
      lines.push(this.#pending);
      this.#pending = "";
    }
    this.#take(lines);
  }

  /** The last lines, oldest first, free of control characters. */
  tail(): readonly string[] {
    const rest = plainLine(this.#pending);
    return rest === "" ? [...this.#tail] : [...this.#tail, rest].slice(-TAIL_LINES);
  }

  /** The stream has ended: what is left counts as a line. */
  end(): void {
    const rest = this.#pending + this.#decoder.end();
    this.#pending = "";
    this.#take([rest]);
    this.#tellHeldBack();
  }

  #take(lines: readonly string[]): void {
    lines.forEach((raw, index) => {
      if (raw.trim() === "") return;
      const told = this.#allowance.take();
      // A flood is not worth cleaning line by line: only what is told or can end in the tail.
      if (!told && index < lines.length - TAIL_LINES) return;
      const line = plainLine(raw);
      this.#tail.push(line);
      if (this.#tail.length > TAIL_LINES) this.#tail.shift();
      if (!told) return;
      this.#tellHeldBack();
      this.#onLine(line);
    });
  }

  #tellHeldBack(): void {
    const count = this.#allowance.takeHeldBack();
    if (count > 0) this.#onLine(`(${count} ${count === 1 ? "line" : "lines"} of stderr left out: more than ${RATE.perSecond} a second)`);
  }
}
