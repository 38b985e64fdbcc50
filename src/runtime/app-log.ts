/** Lines kept per app. */
const MAX_LINES = 1_000;
const MAX_LINE_CHARS = 4_000;

/** The last lines that an app wrote to stderr, and the kit's notes on it, all masked. */
export class AppLog {
  readonly #lines: string[] = [];
  readonly #handlers = new Set<(line: string) => void>();

  readonly #mask: (text: string) => string;

  /** `mask` takes secrets out of a text. */
  constructor(mask: (text: string) => string) {
    this.#mask = mask;
  }

  add(said: string): void {
    const line = this.#mask(said);
    const kept = line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS)}…` : line;
    this.#lines.push(kept);
    if (this.#lines.length > MAX_LINES) this.#lines.shift();
    for (const handler of this.#handlers) handler(kept);
  }

  get lines(): readonly string[] {
    return [...this.#lines];
  }

  /** Gives a function that stops the listening. */
  follow(handler: (line: string) => void): () => void {
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }
}
